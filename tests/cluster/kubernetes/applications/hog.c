/*
 * The sum of 0 … N-1.   hog driver|task|collect N
 *
 * With "driver" main takes memory until it is killed. With "task" the first attempt of the first partition does. The
 * memory is shared, because malloc returns NULL before a container's limit is reached. With "collect" the driver first
 * collects N MB.
 */
#include <firesteel/firesteel.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/mman.h>

static void take_all(void)
{
        for (;;) {
                char *more = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
                if (more != MAP_FAILED)
                        memset(more, 1, 1 << 20);
        }
}

static int64_t take(fst_task *task, int64_t i)
{
        if (fst_task_attempt(task) == 0 && fst_task_partition(task) == 0)
                take_all();
        return i;
}

/* A million bytes in ten rows. */
static int megabyte_emit(fst_task *task, int64_t i, fst_out *out)
{
        static const char row[100000];
        for (int n = 0; n < 10; n++)
                fst_emit(out, ((fst_bytes){row, sizeof(row)}));
        return 0;
}

int main(int argc, char **argv)
{
        int64_t sum;
        if (argc != 3) {
                fprintf(stderr, "usage: hog driver|task|collect N\n");
                return 2;
        }
        if (strcmp(argv[1], "driver") == 0)
                take_all();
        fst_context *sc = fst_context_new("hog");
        fst_iter *rows;
        if (strcmp(argv[1], "collect") == 0)
                fst_collect(fst_flat_map(fst_range_n(sc, 0, atoll(argv[2]), 12), megabyte_emit, FST_BYTES), &rows);
        if (fst_reduce(fst_map(fst_range_n(sc, 0, atoll(argv[2]), 4), take, FST_I64), fst_fn_sum, &sum) == 0)
                printf("The sum is %lld\n", (long long)sum);
        return fst_context_stop(sc);
}
