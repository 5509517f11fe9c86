/* For check_spark_history: an executor whose tasks fail is excluded and replaced. Then a shuffle runs between executors. */
#include <firesteel/firesteel.h>
#include <stdio.h>
#include <unistd.h>

/* The file that is captured by name keeps the process in which the first task ran: its tasks fail. */
struct where {
        char path[200];
};

static int on_first(fst_task *task, int64_t x)
{
        const struct where *where = fst_captured(task);
        int bad = 0;
        FILE *file = fopen(where->path, x == 0 && fst_task_attempt(task) == 0 ? "w+" : "r");
        if (x == 0 && fst_task_attempt(task) == 0)
                fprintf(file, "%d", bad = (int)getpid());
        else if (!file || fscanf(file, "%d", &bad) != 1)
                bad = 0;
        if (file)
                fclose(file);
        usleep(30000);
        return bad == (int)getpid() ? fst_fail(task, "this executor is bad") : 0;
}

static int by_seven(fst_task *task, int64_t i, fst_out *out)
{
        fst_emit(out, i % 7, (int64_t)1);
        return 0;
}

int main(int argc, char **argv)
{
        struct where where = {""};
        int64_t n;
        snprintf(where.path, sizeof(where.path), "%s/bad", argv[1]);
        fst_context *sc = fst_context_new("cluster jobs");
        fst_foreach(fst_range_n(sc, 0, 12, 12), FST_WITH(on_first, where));
        usleep(500000);
        fst_count(fst_reduce_by_key(fst_map(fst_range_n(sc, 0, 1000, 4), by_seven, FST_PAIR(I64, I64)), fst_fn_sum), &n);
        return fst_context_stop(sc);
}
