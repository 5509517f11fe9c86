/*
 * Prints how many allocations and locks a row and a task cost, in processes with count_calls.c.
 *                                                    spark-submit costs.c rows | tasks
 *
 * Each job runs first with few rows or tasks, which pays for what is made once, then with few and with many. The
 * difference of the last two, divided by that of their sizes, is the cost of one. A line is "NAME SIZE SLOT_ALLOCATIONS
 * SLOT_LOCKS OTHER_ALLOCATIONS OTHER_LOCKS SLOT_16", with the costs of one. All processes of the folder COUNTED_CALLS count.
 */
#include <firesteel/firesteel.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct counts {
        int64_t of[5]; /* as struct counted_calls of counted_calls.h */
};

static struct counts counts_now(void)
{
        struct counts sum = {{0}}, one;
        char path[4096];
        const char *folder = getenv("COUNTED_CALLS");
        DIR *dir = folder ? opendir(folder) : NULL;
        for (struct dirent *e; dir && (e = readdir(dir));) {
                snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
                FILE *f = e->d_name[0] == '.' ? NULL : fopen(path, "re");
                if (f && fread(&one, sizeof(one), 1, f) == 1)
                        for (int i = 0; i < 5; i++)
                                sum.of[i] += one.of[i];
                if (f)
                        fclose(f);
        }
        if (dir)
                closedir(dir);
        return sum;
}

static int plus_one(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, x + 1);
        return 0;
}

static bool is_even(fst_task *task, int64_t x)
{
        return x % 2 == 0;
}

static int keyed(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, x * 7919 % 1000, 1);
        return 0;
}

static int scattered(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, (int64_t)((uint64_t)x * 0x9E3779B97F4A7C15u >> 20), x);
        return 0;
}

static int word(fst_task *task, int64_t x, fst_out *out)
{
        char text[32];
        int n = snprintf(text, sizeof(text), "a word, number %d", (int)(x * 7919 % 1000));
        fst_emit(out, ((fst_bytes){text, (size_t)n}), 1);
        return 0;
}

static int nothing(fst_task *task, int64_t x)
{
        return 0;
}

/* The RDD of a job over @n rows in one partition. */
static fst_rdd *rows_of(fst_context *sc, const char *name, int64_t n)
{
        fst_rdd *range = fst_range_n(sc, 0, n, 1);
        if (strcmp(name, "map") == 0)
                return fst_map(range, plus_one, FST_I64);
        if (strcmp(name, "filter") == 0)
                return fst_filter(range, is_even);
        if (strcmp(name, "reduce_by_key") == 0)
                return fst_reduce_by_key(fst_map(range, keyed, FST_PAIR(I64, I64)), fst_fn_sum);
        if (strcmp(name, "reduce_by_text") == 0)
                return fst_reduce_by_key(fst_map(range, word, FST_PAIR(BYTES, I64)), fst_fn_sum);
        return fst_sort_by_key(fst_map(range, scattered, FST_PAIR(I64, I64)), FST_ASCENDING);
}

static int run(fst_context *sc, const char *name, int64_t n)
{
        int64_t count;
        if (strcmp(name, "task") == 0)
                return fst_foreach(fst_range_n(sc, 0, n, (int)n), nothing);
        if (strcmp(name, "map_task") == 0)
                return fst_count(fst_reduce_by_key_n(fst_map(fst_range_n(sc, 0, n, (int)n), keyed, FST_PAIR(I64, I64)),
                                                     fst_fn_sum, 1),
                                 &count);
        return fst_count(rows_of(sc, name, n), &count);
}

static int measure(fst_context *sc, const char *name, int64_t few, int64_t many)
{
        struct counts at[3];
        int r = run(sc, name, few);
        at[0] = counts_now();
        r = r ? r : run(sc, name, few);
        at[1] = counts_now();
        r = r ? r : run(sc, name, many);
        at[2] = counts_now();
        if (r)
                return r;
        printf("%s %lld", name, (long long)many);
        for (int i = 0; i < 5; i++) {
                int64_t more = at[2].of[i] - 2 * at[1].of[i] + at[0].of[i];
                printf(" %.4f", (double)more / (double)(many - few));
        }
        printf("\n");
        return 0;
}

int main(int argc, char **argv)
{
        static const char *const rows[] = {"map", "filter", "reduce_by_key", "reduce_by_text", "sort"};
        static const char *const tasks[] = {"task", "map_task"};
        fst_context *sc = fst_context_new("costs");
        bool of_rows = argc > 1 && strcmp(argv[1], "rows") == 0;
        int r = 0;
        for (size_t i = 0; i < (of_rows ? sizeof(rows) : sizeof(tasks)) / sizeof(*rows) && r == 0; i++)
                r = of_rows ? measure(sc, rows[i], 100000, 1000000) : measure(sc, tasks[i], 1000, 11000);
        int stopped = fst_context_stop(sc);
        return r ? r : stopped;
}
