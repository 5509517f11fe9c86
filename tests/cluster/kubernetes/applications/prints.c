/*
 * Prints lines with a secret from its driver and its tasks.   prints
 *
 * The first attempt of the first partition goes on for ever: the test deletes its executor.
 */
#include <firesteel/firesteel.h>

#include <stdio.h>
#include <unistd.h>

static int64_t print_number(fst_task *task, int64_t x)
{
        const bool endless = task->info.attempt == 0 && fst_task_partition(task) == 0;
        for (int i = 0; i < 5 || (endless && !fst_task_interrupted(task)); i++) {
                printf("task %d line %d db.password=hidden123\n", fst_task_partition(task), i);
                fflush(stdout);
                usleep(endless ? 20000 : 0);
        }
        return x;
}

int main(void)
{
        int64_t n = 0;
        fst_context *sc = fst_context_new("prints");
        fst_count(fst_map(fst_range_n(sc, 0, 2, 2), print_number, FST_I64), &n);
        printf("The driver has counted %d\n", (int)n);
        return fst_context_stop(sc);
}
