/*
 * Programs whose drivers are killed (tests/faults/run_resume):
 *
 *      spark-submit resumed_programs.c pagerank DIR        an iteration over cached links, an action in each round
 *      spark-submit resumed_programs.c barrier DIR         two barrier stages, one of them behind a shuffle
 *      spark-submit resumed_programs.c wordcount DIR       words of lines, counted and sorted
 *      spark-submit resumed_programs.c sort DIR            rows in random order, sorted; two saves
 *      spark-submit resumed_programs.c checkpoint DIR      a chain of RDDs, of which two are checkpointed
 *
 * Each saves its sorted rows in DIR/out, and prints sums. Tasks take some milliseconds.
 */
#include <firesteel/firesteel.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PARTS = 4, ROWS = 160 };

static void save_rows(fst_rdd *rdd, const char *dir)
{
        char out[512];
        snprintf(out, sizeof(out), "%s/out", dir);
        fst_save_as_text_file(fst_sort_by_key(rdd, FST_ASCENDING), out);
}

static int link_of(fst_task *task, int64_t i, fst_out *out)
{
        usleep(200);
        fst_emit(out, i % 20, i * i / 3 % 20);
        return 0;
}

static int64_t rank_of_one(fst_task *task, fst_bytes links)
{
        return 1;
}

static int contribute_rank(fst_task *task, int64_t page, fst_bytes links, int64_t rank, fst_out *out)
{
        fst_list pages = fst_list_of(links, FST_I64);
        usleep(500);
        for (int64_t to; fst_list_next(&pages, &to);)
                fst_emit(out, to, rank % 1000003 + 1);
        return fst_list_status(&pages);
}

static void run_pagerank(fst_context *sc, const char *dir)
{
        fst_rdd *rows = fst_range_n(sc, 0, ROWS, PARTS);
        fst_rdd *links = fst_cache(fst_group_by_key_n(fst_map(rows, link_of, FST_PAIR(I64, I64)), PARTS));
        fst_rdd *ranks = fst_map_values(links, rank_of_one, FST_I64);
        for (int round = 0; round < 4; round++) {
                int64_t sum = 0;
                ranks = fst_reduce_by_key_n(fst_join(links, ranks, contribute_rank, FST_PAIR(I64, I64)), fst_fn_sum,
                                            PARTS);
                fst_reduce(fst_values(ranks), fst_fn_sum, &sum);
                printf("round %d sum %lld\n", round, (long long)sum);
        }
        save_rows(ranks, dir);
}

static int sum_together(fst_task *task, fst_iter *rows, fst_out *out)
{
        int64_t row, n = 0, sum = 0;
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

static void run_barrier(fst_context *sc, const char *dir)
{
        int64_t sum = 0;
        fst_rdd *first = fst_barrier_map_partitions(fst_range_n(sc, 0, ROWS, 2), sum_together, FST_PAIR(I64, I64));
        fst_reduce(fst_values(first), fst_fn_sum, &sum);
        printf("first sum %lld\n", (long long)sum);
        fst_rdd *counts = fst_values(fst_reduce_by_key_n(
                fst_map(fst_range_n(sc, 0, ROWS, PARTS), link_of, FST_PAIR(I64, I64)), fst_fn_sum, 2));
        save_rows(fst_barrier_map_partitions(counts, sum_together, FST_PAIR(I64, I64)), dir);
}

static void run_checkpoint(fst_context *sc, const char *dir)
{
        char place[512];
        int64_t n = 0, sum = 0;
        snprintf(place, sizeof(place), "%s/checkpoints", dir);
        fst_set_checkpoint_dir(sc, place);
        fst_rdd *rows = fst_checkpoint(fst_map(fst_range_n(sc, 0, ROWS, PARTS), link_of, FST_PAIR(I64, I64)));
        fst_count(rows, &n);
        fst_rdd *sums = fst_checkpoint(fst_reduce_by_key_n(rows, fst_fn_sum, PARTS));
        fst_reduce(fst_values(sums), fst_fn_sum, &sum);
        printf("rows %lld sum %lld\n", (long long)n, (long long)sum);
        save_rows(sums, dir);
}

static int split_line(fst_task *task, int64_t i, fst_out *out)
{
        usleep(300);
        for (int64_t word = i; word > 0; word /= 3)
                fst_emit(out, word % 13, 1);
        return 0;
}

static void run_wordcount(fst_context *sc, const char *dir)
{
        int64_t sum = 0;
        fst_rdd *words = fst_flat_map(fst_range_n(sc, 0, ROWS, PARTS), split_line, FST_PAIR(I64, I64));
        fst_rdd *counts = fst_reduce_by_key_n(words, fst_fn_sum, PARTS);
        fst_reduce(fst_values(counts), fst_fn_sum, &sum);
        printf("words sum %lld\n", (long long)sum);
        save_rows(counts, dir);
}

static int scatter_row(fst_task *task, int64_t i, fst_out *out)
{
        usleep(300);
        fst_emit(out, i * 7919 % 1009, i);
        return 0;
}

static void run_sort(fst_context *sc, const char *dir)
{
        char plain[512];
        fst_rdd *rows = fst_map(fst_range_n(sc, 0, ROWS * 2, PARTS * 2), scatter_row, FST_PAIR(I64, I64));
        snprintf(plain, sizeof(plain), "%s/plain", dir);
        fst_save_as_text_file(rows, plain);
        save_rows(rows, dir);
}

static const struct program {
        const char *name;
        void (*run)(fst_context *sc, const char *dir);
} programs[] = {
        {"pagerank", run_pagerank}, {"barrier", run_barrier},       {"wordcount", run_wordcount},
        {"sort", run_sort},         {"checkpoint", run_checkpoint},
};

int main(int argc, char **argv)
{
        const size_t n = sizeof(programs) / sizeof(programs[0]);
        size_t i = 0;
        while (i < n && (argc != 3 || strcmp(argv[1], programs[i].name) != 0))
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
        fst_context *sc = fst_context_new("programs");
        programs[i].run(sc, argv[2]);
        fflush(stdout); /* a driver may be killed after its context has stopped */
        return fst_context_stop(sc);
}
