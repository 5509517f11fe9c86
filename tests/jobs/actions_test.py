"""Every action on executors in their own processes: results equal those of one process."""
import os
import subprocess

import pytest

from folders import BIN


ACTIONS = r"""
#include <firesteel/firesteel.h>
#include <stdio.h>
#include <stdlib.h>

struct tally { int64_t rows; double sum; };

static int take_row(fst_task *task, void *so_far, int64_t x)
{
        struct tally *t = so_far;
        t->rows++;
        t->sum += (double)x;
        return 0;
}
static int join(fst_task *task, void *so_far, const void *other)
{
        struct tally *a = so_far;
        const struct tally *b = other;
        a->rows += b->rows;
        a->sum += b->sum;
        return 0;
}
static int append(fst_task *task, fst_bytes so_far, int64_t x, fst_out *out)
{
        char text[1000];
        int n = snprintf(text, sizeof(text), "%.*s%lld,", (int)so_far.len, so_far.data, (long long)x);
        fst_emit(out, ((fst_bytes){text, (size_t)n}));
        return 0;
}
static int concat(fst_task *task, fst_bytes a, fst_bytes b, fst_out *out)
{
        char text[1000];
        int n = snprintf(text, sizeof(text), "%.*s%.*s", (int)a.len, a.data, (int)b.len, b.data);
        fst_emit(out, ((fst_bytes){text, (size_t)n}));
        return 0;
}
static int by_digit(fst_task *task, int64_t x, fst_out *out) { fst_emit(out, x % 10, x); return 0; }
static int word(fst_task *task, int64_t x, fst_out *out) { fst_emit(out, x % 2 ? "odd" : "even"); return 0; }
static int64_t sum_of_pair(fst_task *task, int64_t key, int64_t value) { return key + value; }
static int64_t minus(fst_task *task, int64_t x) { return -x; }
static int first_two(fst_task *task, fst_iter *rows, fst_out *out)
{
        int64_t x;
        for (int i = 0; i < 2 && fst_next(rows, &x); i++)
                fst_emit(out, x);
        return 0;
}
static int ended(fst_task *task, void *accumulator)
{
        fst_accumulate(task, *(fst_accumulator *)accumulator, 1);
        free(accumulator);
        return 0;
}
static int listen(fst_task *task, fst_iter *rows)
{
        fst_accumulator *a = malloc(sizeof(*a));
        *a = *(const fst_accumulator *)fst_captured(task);
        fst_task_on_completion(task, ended, a);
        return 0;
}
static int64_t property(fst_task *task, int64_t x)
{
        const char *text = fst_task_local_property(task, "my.number");
        return text ? atoi(text) : -1;
}
static void show(const char *what, fst_iter *rows)
{
        int64_t x;
        printf("%s", what);
        while (fst_next(rows, &x))
                printf(" %lld", (long long)x);
        printf("\n");
}

int main(void)
{
        fst_context *sc = fst_context_new(NULL);
        fst_rdd *rdd = fst_range_n(sc, 0, 100, 9), *few = fst_range_n(sc, 0, 12, 5);
        fst_rdd *pairs = fst_map(rdd, by_digit, FST_PAIR(I64, I64));
        struct tally none = {0}, all = {0};
        int64_t ten = 10, n = 0;
        const int64_t ones[] = {1, 2, 3}, fours[] = {4, 5, 6};
        const int chosen[] = {4, 0};
        double mean = 0;
        bool empty = true, found;
        fst_bytes nothing = fst_bytes_of(""), text = nothing;
        fst_iter *rows;
        fst_map *map;
        struct fst_statistics stats;
        struct fst_buckets h;

        if (fst_count(rdd, &n))
                return fst_context_stop(sc);
        fst_fold(rdd, &ten, fst_fn_sum, &n);
        printf("fold %lld\n", (long long)n);
        fst_aggregate(rdd, &none, take_row, join, &all);
        printf("aggregate %lld %g\n", (long long)all.rows, all.sum);
        fst_tree_aggregate(rdd, &none, take_row, join, 2, &all);
        printf("tree_aggregate %lld %g\n", (long long)all.rows, all.sum);
        fst_tree_aggregate(few, &nothing, append, concat, 3, &text);
        printf("in order %.*s\n", (int)text.len, text.data);
        fst_tree_reduce(rdd, fst_fn_max, 3, &n);
        printf("tree_reduce %lld\n", (long long)n);
        fst_first(fst_map(rdd, minus, FST_I64), &n);
        fst_is_empty(rdd, &empty);
        printf("first %lld %d\n", (long long)n, empty);
        fst_min(fst_map(rdd, minus, FST_I64), &n);
        printf("min %lld\n", (long long)n);
        fst_sum(rdd, &n);
        fst_mean(rdd, &mean);
        printf("sum %lld %g\n", (long long)n, mean);
        fst_stats(rdd, &stats);
        printf("stats %lld %g %g %g %g\n", (long long)stats.count, stats.sum, stats.min, stats.max, stats.variance);
        fst_histogram(rdd, 4, &h);
        printf("histogram %lld %lld %lld %lld\n", (long long)h.counts[0], (long long)h.counts[1],
               (long long)h.counts[2], (long long)h.counts[3]);
        fst_top(rdd, 3, &rows);
        show("top", rows);
        fst_take_ordered_by(rdd, 3, minus, FST_I64, FST_ASCENDING, &rows);
        show("by", rows);
        fst_take_sample(rdd, false, 5, 1, &rows);
        show("sample", rows);
        fst_run_job(few, first_two, FST_I64, chosen, 2, &rows);
        show("run_job", rows);
        fst_to_local_iterator(few, &rows);
        show("local", rows);
        fst_count_by_key(pairs, &map);
        found = fst_map_get(map, 3, &n);
        printf("by key %d %lld\n", found, (long long)n);
        fst_count_by_value(fst_map(rdd, word, FST_BYTES), &map);
        found = fst_map_get(map, "odd", &n);
        printf("by value %d %lld\n", found, (long long)n);
        fst_reduce_by_key_locally(pairs, fst_fn_sum, &map);
        found = fst_map_get(map, 7, &n);
        printf("locally %d %lld\n", found, (long long)n);
        fst_collect_as_map(pairs, &map);
        found = fst_map_get(map, 4, &n);
        printf("as map %lld %d %lld\n", (long long)fst_map_count(map), found, (long long)n);
        fst_lookup(pairs, 4, &rows);
        show("lookup", rows);
        fst_lookup(fst_partition_by(pairs, 3), 4, &rows);
        show("lookup", rows);
        fst_collect(fst_map(fst_parallelize_pairs_n(sc, ones, fours, 3, 2),
                            sum_of_pair, FST_I64), &rows);
        show("pairs", rows);

        fst_accumulator listened = fst_accumulator_i64(sc, "listened");
        fst_foreach_partition(rdd, FST_WITH(listen, listened));
        printf("listeners %lld\n", (long long)fst_accumulator_sum_i64(sc, listened));
        fst_set_local_property(sc, "my.number", "7");
        fst_sum(fst_map(few, property, FST_I64), &n);
        printf("property %lld\n", (long long)n);

        fst_future *count = fst_count_async(rdd), *some = fst_take_async(rdd, 30), *more = fst_collect_async(few);
        fst_future_count(count, &n);
        printf("async %lld\n", (long long)n);
        fst_future_rows(some, &rows);
        show("async", rows);
        fst_future_rows(more, &rows);
        show("async", rows);
        return fst_context_stop(sc);
}
"""

ANSWERS = """\
fold 5050
aggregate 100 4950
tree_aggregate 100 4950
in order 0,1,2,3,4,5,6,7,8,9,10,11,
tree_reduce 99
first 0 0
min -99
sum 4950 49.5
stats 100 4950 0 99 833.25
histogram 25 25 25 25
top 99 98 97
by 99 98 97
{sample}
run_job 9 10 0 1
local 0 1 2 3 4 5 6 7 8 9 10 11
by key 1 10
by value 1 50
locally 1 520
as map 10 1 94
lookup 4 14 24 34 44 54 64 74 84 94
lookup 4 14 24 34 44 54 64 74 84 94
pairs 5 7 9
listeners 9
property 84
async 100
async 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29
async 0 1 2 3 4 5 6 7 8 9 10 11
"""


@pytest.mark.parametrize("master, conf", [
    ("local-cluster[2,1,1024]", []),
    ("local[2]", ["spark.firesteel.task.isolation=process"]),
    ("local[2]", []),
])
def test_every_action(tmp_path, master, conf):
    (tmp_path / "actions.c").write_text(ACTIONS)
    command = [os.path.join(BIN, "spark-submit"), "--master", master, "--conf", "spark.ui.showConsoleProgress=false"]
    for setting in conf:
        command += ["--conf", setting]
    run = subprocess.run([*command, "actions.c"], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    sample = [line for line in run.stdout.splitlines() if line.startswith("sample")]
    assert run.stdout == ANSWERS.format(sample=sample[0])
    assert len(set(sample[0].split())) == 6


ASKED = r"""
#include <firesteel/firesteel.h>
#include <stdio.h>

static int by_third(fst_task *task, int64_t x, fst_out *out) { fst_emit(out, x % 3, x); return 0; }
static int64_t stage_of(fst_task *task, int64_t x) { return fst_task_partitions(task) * 100 + fst_task_cpus(task); }

int main(void)
{
        static const int64_t keys[] = {0, 1, 2};
        static const double once[] = {0.1, 0.5, 0.9}, again[] = {0.3, 1.0, 2.5};
        fst_context *sc = fst_context_new(NULL);
        fst_rdd *pairs = fst_map(fst_range_n(sc, 0, 400, 4), by_third, FST_PAIR(I64, I64)), *kept;
        fst_rdd *sorted = fst_sort_by_key(fst_zip(fst_range_n(sc, 0, 400, 4), fst_range_n(sc, 0, 400, 4)),
                                          FST_ASCENDING);
        fst_rdd *counts = fst_count_approx_distinct_by_key(pairs, 0.05);
        int64_t n = 0, m = 0;
        fst_iter *rows;

        fst_count(fst_sample_by_key(pairs, false, keys, once, 3, 42), &n);
        fst_sum(fst_values(fst_sample_by_key_exact(pairs, true, keys, again, 3, 42)), &m);
        printf("sampled %lld %lld\n", (long long)n, (long long)m);
        fst_count(fst_filter_by_range(sorted, 100, 150), &n);
        printf("range %lld\n", (long long)n);
        if (fst_collect(fst_sort_by_key(counts, FST_ASCENDING), &rows) == 0)
                while (fst_next(rows, &n, &m))
                        printf("distinct %lld %d\n", (long long)n, m > 100 && m < 170);
        fst_max(fst_map(fst_range_n(sc, 0, 10, 7), stage_of, FST_I64), &n);
        printf("stage %lld\n", (long long)n);
        kept = fst_persist(pairs, FST_STORAGE_MEMORY_AND_DISK);
        fst_count(kept, &n);
        struct fst_storage_info storage;
        fst_get_storage_info(kept, &storage);
        printf("kept %d %d %d\n", fst_persisted_rdds(sc, &kept, 1), storage.cached_partitions,
               storage.memory_bytes >= 400 * 16);
        return fst_context_stop(sc);
}
"""


def test_what_programs_ask(tmp_path):
    """Samples by key are genuine Spark's: 208 pairs, and 507 with replacement."""
    (tmp_path / "asked.c").write_text(ASKED)
    run = subprocess.run([os.path.join(BIN, "spark-submit"), "--master", "local-cluster[2,1,1024]",
                          "--conf", "spark.ui.showConsoleProgress=false", "asked.c"],
                         cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    assert run.stdout == ("sampled 208 101335\nrange 51\ndistinct 0 1\ndistinct 1 1\ndistinct 2 1\nstage 701\n"
                          "kept 1 4 1\n")
