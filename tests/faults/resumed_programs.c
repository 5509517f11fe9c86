/*
 * Programs whose drivers, executors and shuffle servers are killed (tests/faults/run_resume):
 *
 *      spark-submit resumed_programs.c wordcount DIR       words of lines, counted and sorted
 *      spark-submit resumed_programs.c sort DIR            rows in random order, sorted
 *      spark-submit resumed_programs.c pagerank DIR        an iteration over cached links, an action in each round
 *      spark-submit resumed_programs.c saves DIR           two saves of map outputs, and one without a shuffle
 *      spark-submit resumed_programs.c accumulators DIR    counters in map and result tasks of several jobs
 *      spark-submit resumed_programs.c barrier DIR         two barrier stages, one of them behind a shuffle
 *      spark-submit resumed_programs.c skewed DIR          a skewed join, whose keys a job of its own samples
 *      spark-submit resumed_programs.c checkpoint DIR      a chain of RDDs, of which two are checkpointed
 *
 * Each saves its sorted rows in DIR/out, and prints sums. A row takes 300 microseconds, or as many as an argument
 * behind DIR says, and a task has some 20 rows. Tasks append to DIR/runs
 *
 *      B NAME STAGE PARTITION TASK HOST PID NANOSECONDS
 *                                                          a task of the executor or driver PID begins a step of this
 *                                                          name
 *      E TASK NANOSECONDS                                  its functions have ended
 *      F TASK NANOSECONDS                                  it has failed
 */
#include <firesteel/firesteel.h>

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PARTS = 8, ROWS = 160 };

/* A step that writes its tasks to DIR/runs. */
struct step {
        char dir[400];
        char name[16];
        int row_us;
};

static int row_us = 300;

/* A line is one write, so that lines of several processes do not mix. The last number is the time. */
static void step_write(const struct step *s, const char *format, ...)
{
        char path[512], line[256];
        struct timespec now;
        va_list arguments;
        va_start(arguments, format);
        int n = vsnprintf(line, sizeof(line), format, arguments);
        va_end(arguments);
        clock_gettime(CLOCK_REALTIME, &now);
        n += snprintf(line + n, sizeof(line) - (size_t)n, " %lld%09ld\n", (long long)now.tv_sec, now.tv_nsec);
        snprintf(path, sizeof(path), "%s/runs", s->dir);
        int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0666);
        if (write(fd, line, (size_t)n) != n)
                perror(path);
        close(fd);
}

static int step_ended(fst_task *task, void *data)
{
        if (!fst_task_interrupted(task))
                step_write(data, "E %lld", (long long)fst_task_id(task));
        return 0;
}

static int step_failed(fst_task *task, void *data, const char *message)
{
        step_write(data, "F %lld", (long long)fst_task_id(task));
        return 0;
}

/* The command line of a process, up to its second argument, and its parent. */
static pid_t process_describe(pid_t pid, char *command, size_t size)
{
        char path[64], stat[256] = "";
        int parent = 0;
        snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
        FILE *file = fopen(path, "r");
        size_t n = file ? fread(command, 1, size - 1, file) : 0;
        command[n] = '\0';
        if (strlen(command) < n)
                command[strlen(command)] = ' ';
        if (file)
                fclose(file);
        snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
        file = fopen(path, "r");
        if (file && fgets(stat, sizeof(stat), file) && strrchr(stat, ')'))
                sscanf(strrchr(stat, ')') + 1, " %*c %d", &parent);
        if (file)
                fclose(file);
        return parent;
}

/* The executor or driver of this process, which it may have forked for tasks. */
static pid_t process_of_tasks(void)
{
        char mine[256], above[256];
        pid_t pid = getpid(), parent = process_describe(pid, mine, sizeof(mine));
        while (parent > 1) {
                pid_t next = process_describe(parent, above, sizeof(above));
                if (strcmp(mine, above) != 0)
                        return pid;
                pid = parent;
                parent = next;
        }
        return pid;
}

static void step_begin(fst_task *task)
{
        const struct step *s = fst_captured(task);
        char host[65] = "";
        gethostname(host, sizeof(host) - 1);
        fst_task_on_completion(task, step_ended, (void *)s);
        fst_task_on_failure(task, step_failed, (void *)s);
        step_write(s, "B %s %d %d %lld %s %d", s->name, fst_task_stage(task), fst_task_partition(task),
                   (long long)fst_task_id(task), host, (int)process_of_tasks());
}

static struct step step_of(const char *dir, const char *name)
{
        struct step s = {.row_us = row_us};
        snprintf(s.dir, sizeof(s.dir), "%s", dir);
        snprintf(s.name, sizeof(s.name), "%s", name);
        return s;
}

static int pass_rows(fst_task *task, fst_iter *rows, fst_out *out)
{
        const struct step *s = fst_captured(task);
        step_begin(task);
        for (int64_t row; fst_next(rows, &row);) {
                usleep((useconds_t)s->row_us);
                fst_emit(out, row);
        }
        return 0;
}

static int pass_pairs(fst_task *task, fst_iter *rows, fst_out *out)
{
        const struct step *s = fst_captured(task);
        step_begin(task);
        for (int64_t key, value; fst_next(rows, &key, &value);) {
                usleep((useconds_t)s->row_us);
                fst_emit(out, key, value);
        }
        return 0;
}

static fst_rdd *traced_rows(fst_context *sc, const char *dir, const char *name, int64_t rows)
{
        struct step s = step_of(dir, name);
        return fst_map_partitions(fst_range_n(sc, 0, rows, PARTS), FST_WITH(pass_rows, s), FST_I64);
}

static fst_rdd *traced_pairs(fst_rdd *pairs, const char *dir, const char *name)
{
        struct step s = step_of(dir, name);
        return fst_map_partitions(pairs, FST_WITH(pass_pairs, s), FST_PAIR(I64, I64));
}

static void save_rows(fst_rdd *pairs, const char *dir, const char *name)
{
        char out[512];
        snprintf(out, sizeof(out), "%s/%s", dir, name);
        fst_save_as_text_file(traced_pairs(fst_sort_by_key(pairs, FST_ASCENDING), dir, name), out);
}

static int pair_of(fst_task *task, int64_t i, fst_out *out)
{
        fst_emit(out, i % 20, i * i / 3 % 20);
        return 0;
}

static int split_line(fst_task *task, int64_t i, fst_out *out)
{
        for (int64_t word = i; word > 0; word /= 3)
                fst_emit(out, word % 13, 1);
        return 0;
}

static void run_wordcount(fst_context *sc, const char *dir)
{
        int64_t sum = 0;
        fst_rdd *words = fst_flat_map(traced_rows(sc, dir, "lines", ROWS), split_line, FST_PAIR(I64, I64));
        fst_rdd *counts = traced_pairs(fst_reduce_by_key_n(words, fst_fn_sum, PARTS), dir, "counts");
        fst_reduce(fst_values(counts), fst_fn_sum, &sum);
        printf("words sum %lld\n", (long long)sum);
        save_rows(counts, dir, "out");
}

static int scatter_row(fst_task *task, int64_t i, fst_out *out)
{
        fst_emit(out, i * 7919 % 1009, i);
        return 0;
}

static void run_sort(fst_context *sc, const char *dir)
{
        save_rows(fst_map(traced_rows(sc, dir, "rows", ROWS * 2), scatter_row, FST_PAIR(I64, I64)), dir, "out");
}

static int64_t rank_of_one(fst_task *task, fst_bytes links)
{
        return 1;
}

static int contribute_rank(fst_task *task, int64_t page, fst_bytes links, int64_t rank, fst_out *out)
{
        fst_list pages = fst_list_of(links, FST_I64);
        for (int64_t to; fst_list_next(&pages, &to);)
                fst_emit(out, to, rank % 1000003 + 1);
        return fst_list_status(&pages);
}

static void run_pagerank(fst_context *sc, const char *dir)
{
        fst_rdd *rows = fst_map(traced_rows(sc, dir, "rows", ROWS), pair_of, FST_PAIR(I64, I64));
        fst_rdd *links = fst_cache(fst_group_by_key_n(rows, PARTS));
        fst_rdd *ranks = fst_map_values(links, rank_of_one, FST_I64);
        for (int round = 0; round < 4; round++) {
                int64_t sum = 0;
                char name[16];
                snprintf(name, sizeof(name), "round%d", round);
                fst_rdd *sent = fst_join(links, ranks, contribute_rank, FST_PAIR(I64, I64));
                ranks = fst_reduce_by_key_n(traced_pairs(sent, dir, name), fst_fn_sum, PARTS);
                fst_reduce(fst_values(ranks), fst_fn_sum, &sum);
                printf("round %d sum %lld\n", round, (long long)sum);
        }
        save_rows(ranks, dir, "out");
}

static void run_saves(fst_context *sc, const char *dir)
{
        char plain[512];
        fst_rdd *rows = fst_map(traced_rows(sc, dir, "first", ROWS), scatter_row, FST_PAIR(I64, I64));
        save_rows(rows, dir, "out1");
        snprintf(plain, sizeof(plain), "%s/plain", dir);
        fst_save_as_text_file(traced_pairs(rows, dir, "plain"), plain);
        save_rows(fst_map(traced_rows(sc, dir, "second", ROWS), scatter_row, FST_PAIR(I64, I64)), dir, "out");
}

/* Two steps of the same task append to the same two counters. */
struct counting {
        fst_accumulator rows, values;
};

static int count_row(fst_task *task, int64_t i, fst_out *out)
{
        const struct counting *c = fst_captured(task);
        fst_accumulate(task, c->rows, (int64_t)1);
        fst_accumulate(task, c->values, i);
        fst_emit(out, i % 20, i);
        return 0;
}

static void run_accumulators(fst_context *sc, const char *dir)
{
        struct counting c = {fst_accumulator_i64(sc, "rows"), fst_accumulator_i64(sc, "values")};
        int64_t n = 0, sum = 0;
        fst_rdd *first = fst_map(traced_rows(sc, dir, "first", ROWS), FST_WITH(count_row, c), FST_PAIR(I64, I64));
        fst_rdd *second = fst_map(traced_rows(sc, dir, "second", ROWS), FST_WITH(count_row, c), FST_PAIR(I64, I64));
        fst_count(first, &n);
        fst_rdd *sums = traced_pairs(fst_reduce_by_key_n(second, fst_fn_sum, PARTS), dir, "sums");
        fst_reduce(fst_values(sums), fst_fn_sum, &sum);
        save_rows(sums, dir, "out");
        printf("n %lld sum %lld rows sum %lld values sum %lld\n", (long long)n, (long long)sum,
               (long long)fst_accumulator_sum_i64(sc, c.rows), (long long)fst_accumulator_sum_i64(sc, c.values));
}

static int sum_together(fst_task *task, fst_iter *rows, fst_out *out)
{
        int64_t row, n = 0, sum = 0;
        step_begin(task);
        for (; fst_next(rows, &row); n++)
                sum += row;
        usleep(5000 * (fst_task_partition(task) + 1));
        if (fst_barrier_wait(task) < 0)
                return -1;
        usleep(5000);
        if (fst_barrier_wait(task) < 0)
                return -1;
        fst_emit(out, sum % 7, n);
        return 0;
}

static fst_rdd *summed_together(fst_rdd *rows, const char *dir, const char *name)
{
        struct step s = step_of(dir, name);
        return fst_barrier_map_partitions(rows, FST_WITH(sum_together, s), FST_PAIR(I64, I64));
}

static void run_barrier(fst_context *sc, const char *dir)
{
        int64_t sum = 0;
        fst_rdd *first = summed_together(fst_range_n(sc, 0, ROWS, 2), dir, "barrier1");
        fst_reduce(fst_values(first), fst_fn_sum, &sum);
        printf("first sum %lld\n", (long long)sum);
        fst_rdd *rows = fst_map(traced_rows(sc, dir, "rows", ROWS), pair_of, FST_PAIR(I64, I64));
        fst_rdd *counts = fst_values(fst_reduce_by_key_n(rows, fst_fn_sum, 2));
        save_rows(summed_together(counts, dir, "barrier2"), dir, "out");
}

/* Three of four rows have one key. */
static int skewed_pair_of(fst_task *task, int64_t i, fst_out *out)
{
        fst_emit(out, i % 4 ? 7 : i % 20, i);
        return 0;
}

static int multiply_pair(fst_task *task, int64_t key, int64_t left, int64_t right, fst_out *out)
{
        fst_emit(out, key, left * right % 1009);
        return 0;
}

static void run_skewed(fst_context *sc, const char *dir)
{
        int64_t sum = 0;
        fst_rdd *left = fst_map(traced_rows(sc, dir, "left", ROWS * 2), skewed_pair_of, FST_PAIR(I64, I64));
        fst_rdd *right = fst_map(traced_rows(sc, dir, "right", ROWS), pair_of, FST_PAIR(I64, I64));
        fst_rdd *joined = fst_skewed_join_n(left, right, multiply_pair, FST_PAIR(I64, I64), PARTS);
        fst_rdd *sums = fst_reduce_by_key_n(traced_pairs(joined, dir, "joined"), fst_fn_sum, PARTS);
        fst_reduce(fst_values(sums), fst_fn_sum, &sum);
        printf("joined sum %lld\n", (long long)sum);
        save_rows(sums, dir, "out");
}

static void run_checkpoint(fst_context *sc, const char *dir)
{
        char place[512];
        int64_t n = 0, sum = 0;
        snprintf(place, sizeof(place), "%s/checkpoints", dir);
        fst_set_checkpoint_dir(sc, place);
        fst_rdd *rows = fst_checkpoint(fst_map(traced_rows(sc, dir, "rows", ROWS), pair_of, FST_PAIR(I64, I64)));
        fst_count(rows, &n);
        fst_rdd *sums = fst_checkpoint(traced_pairs(fst_reduce_by_key_n(rows, fst_fn_sum, PARTS), dir, "sums"));
        fst_reduce(fst_values(sums), fst_fn_sum, &sum);
        printf("rows %lld sum %lld\n", (long long)n, (long long)sum);
        save_rows(sums, dir, "out");
}

static const struct program {
        const char *name;
        void (*run)(fst_context *sc, const char *dir);
} programs[] = {
        {"wordcount", run_wordcount},
        {"sort", run_sort},
        {"pagerank", run_pagerank},
        {"saves", run_saves},
        {"accumulators", run_accumulators},
        {"barrier", run_barrier},
        {"skewed", run_skewed},
        {"checkpoint", run_checkpoint},
};

int main(int argc, char **argv)
{
        const size_t n = sizeof(programs) / sizeof(programs[0]);
        size_t i = 0;
        while (i < n && (argc < 3 || argc > 4 || strcmp(argv[1], programs[i].name) != 0))
                i++;
        if (i == n) {
                fprintf(stderr,
                        "resumed_programs: '%s' is not a program of it: give PROGRAM and DIR, and as PROGRAM one of",
                        argc > 1 ? argv[1] : "");
                for (i = 0; i < n; i++)
                        fprintf(stderr, " %s", programs[i].name);
                fprintf(stderr, "\n");
                return 2;
        }
        if (argc == 4)
                row_us = atoi(argv[3]);
        fst_context *sc = fst_context_new("programs");
        programs[i].run(sc, argv[2]);
        fflush(stdout); /* a driver may be killed after its context has stopped */
        return fst_context_stop(sc);
}
