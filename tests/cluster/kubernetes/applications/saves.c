/*
 * Counts numbers, then saves them.   saves DIR
 *
 * Each task appends the number of its job and its partition to DIR/runs. The task that saves partition 3 waits until
 * the test creates DIR/go: the test kills the driver before.
 */
#include <firesteel/firesteel.h>
#include <firesteel/resume.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ROWS 800
#define PARTITIONS 8
#define GATED 3

struct traced_job {
        char dir[200];
        int job;
};

static int trace_run(fst_task *task, const struct traced_job *traced)
{
        char path[256], line[32];
        snprintf(path, sizeof(path), "%s/runs", traced->dir);
        int n = snprintf(line, sizeof(line), "%d.%d\n", traced->job, fst_task_partition(task));
        int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0666);
        bool written = fd >= 0 && write(fd, line, (size_t)n) == n;
        if (fd >= 0)
                close(fd);
        return written ? 0 : fst_fail(task, "cannot write to \"%s\"", path);
}

static int pass_row(fst_task *task, int64_t row, fst_out *out)
{
        const struct traced_job *traced = fst_captured(task);
        char gate[256];
        snprintf(gate, sizeof(gate), "%s/go", traced->dir);
        if (row % (ROWS / PARTITIONS) == 0 && trace_run(task, traced))
                return -1;
        while (traced->job == 1 && fst_task_partition(task) == GATED && access(gate, F_OK) != 0 &&
               !fst_task_interrupted(task))
                usleep(10000);
        fst_emit(out, row);
        return 0;
}

static fst_rdd *traced_rows(fst_context *sc, struct traced_job *traced, int job)
{
        traced->job = job;
        return fst_flat_map(fst_range_n(sc, 0, ROWS, PARTITIONS), FST_WITH(pass_row, *traced), FST_I64);
}

int main(int argc, char **argv)
{
        struct traced_job traced = {0};
        int64_t n = 0;
        char out[256];
        if (argc != 2 || strlen(argv[1]) >= sizeof(traced.dir)) {
                fprintf(stderr, "usage: saves DIR\n");
                return 2;
        }
        fst_context *sc = fst_context_new("saves");
        snprintf(traced.dir, sizeof(traced.dir), "%s", argv[1]);
        snprintf(out, sizeof(out), "%s/out", argv[1]);
        if (fst_count(traced_rows(sc, &traced, 0), &n) == 0 &&
            fst_save_as_text_file(traced_rows(sc, &traced, 1), out) == 0)
                printf("Saved %lld rows, resumed %d\n", (long long)n, fst_is_resumed(sc));
        return fst_context_stop(sc);
}
