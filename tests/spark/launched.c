/*
 * For check_launcher, what SparkLauncher launches: "count" counts, "fail" fails, "wait FILE" makes FILE once a task
 * runs and goes on until it is ended, "quit" ends without a context.
 */
#include <firesteel/firesteel.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct where {
        char path[200];
};

static int wait_for_the_end(fst_task *task, int64_t i)
{
        const struct where *where = fst_captured(task);
        FILE *file = fopen(where->path, "w");
        if (file)
                fclose(file);
        while (!fst_task_interrupted(task))
                usleep(10000);
        return 0;
}

static int fail(fst_task *task, int64_t i)
{
        return fst_fail(task, "on purpose");
}

int main(int argc, char **argv)
{
        const char *what = argc > 1 ? argv[1] : "";
        int64_t n = 0;
        if (strcmp(what, "quit") == 0)
                return 3;
        fst_context *sc = fst_context_new("launched");
        if (strcmp(what, "count") == 0 && fst_count(fst_range_n(sc, 0, 1000, 4), &n) == 0) {
                printf("counted %lld\n", (long long)n);
                fprintf(stderr, "said on standard error\n");
        }
        if (strcmp(what, "fail") == 0)
                fst_foreach(fst_range_n(sc, 0, 1, 1), fail);
        if (strcmp(what, "wait") == 0 && argc > 2) {
                struct where where = {""};
                snprintf(where.path, sizeof(where.path), "%s", argv[2]);
                fst_foreach(fst_range_n(sc, 0, 1, 1), FST_WITH(wait_for_the_end, where));
        }
        return fst_context_stop(sc);
}
