"""Operators that take, number, pair, place, pipe and cache rows, on threads, executors and task processes."""
import os
import subprocess

import pytest

from folders import BIN


PROGRAM = r"""
#include <firesteel/firesteel.h>
#include <stdio.h>

static int64_t half(fst_task *task, int64_t x) { return x / 2; }
static int keyed(fst_task *task, int64_t x, fst_out *out) { fst_emit(out, x % 10, x); return 0; }
static int64_t product(fst_task *task, int64_t a, int64_t b) { return a * b; }
static int64_t of_row(fst_task *task, fst_bytes row, int64_t number)
{
        int64_t x;
        memcpy(&x, row.data, 8);
        return x * number;
}
static int64_t length(fst_task *task, fst_bytes text) { return (int64_t)text.len; }
static int where(fst_task *task, int64_t key, int partitions) { return (int)(key * 3) % partitions; }
static int sizes(fst_task *task, fst_iter *a, fst_iter *b, fst_out *out)
{
        int64_t x, n = 0, m = 0;
        while (fst_next(a, &x))
                n++;
        while (fst_next(b, &x))
                m++;
        fst_emit(out, n * 1000 + m);
        return 0;
}
static int number(fst_task *task, int partition, fst_iter *rows, fst_out *out)
{
        int64_t key, value;
        while (fst_next(rows, &key, &value))
                fst_emit(out, key * 100 + partition);
        return 0;
}
static int tally(fst_task *task, fst_iter *rows, fst_out *out)
{
        int64_t x, n = 0;
        while (fst_next(rows, &x))
                n++;
        fst_emit(out, n);
        return 0;
}

/* The number of rows and the sum of (i + 1) times the i-th. */
static void show(const char *name, fst_rdd *rdd)
{
        fst_iter *rows;
        int64_t n = 0, sum = 0, x;
        if (fst_collect(rdd, &rows))
                return;
        while (fst_next(rows, &x))
                sum += ++n * x;
        printf("%s %lld %lld\n", name, (long long)n, (long long)sum);
}

int main(int argc, char **argv)
{
        fst_context *sc = fst_context_new("rearrange");
        fst_rdd *numbers = fst_range_n(sc, 0, 400, 4), *halves = fst_map(numbers, half, FST_I64);
        fst_rdd *pairs = fst_map(numbers, keyed, FST_PAIR(I64, I64));
        double weights[] = {1, 2, 3};
        fst_rdd *splits[3];
        fst_random_split(numbers, weights, 3, 99, splits);
        show("sample", fst_sample(numbers, false, 0.1, 42));
        show("replaced", fst_sample(numbers, true, 2.5, -123456789012));
        show("split", splits[1]);
        show("index", fst_map(fst_zip_with_index(halves), product, FST_I64));
        show("pairs", fst_map(fst_zip_with_index(pairs), of_row, FST_I64));
        show("unique", fst_map(fst_zip_with_unique_id(halves), product, FST_I64));
        show("zip", fst_map(fst_zip(numbers, halves), product, FST_I64));
        show("parts", fst_zip_partitions(numbers, fst_range_n(sc, 0, 30, 4), sizes, FST_I64));
        show("cartesian", fst_map(fst_cartesian(fst_range_n(sc, 0, 20, 2), halves), product, FST_I64));
        show("dealt", fst_repartition(numbers, 5));
        show("placed", fst_map_partitions_with_index(fst_partition_by_function(pairs, 4, where), number, FST_I64));
        show("ranges", fst_map_partitions_with_index(fst_partition_by_range(pairs, 3, FST_DESCENDING), number, FST_I64));
        show("sorted", fst_map(fst_repartition_and_sort_within_partitions(pairs, 3, FST_DESCENDING), product, FST_I64));
        show("pipe", fst_map(fst_pipe(pairs, "sort -r"), length, FST_I64));
        show("glom", fst_map(fst_glom(pairs), length, FST_I64));

        fst_set_checkpoint_dir(sc, argv[1]);
        fst_rdd *kept = fst_checkpoint(fst_repartition(numbers, 3)), *local = fst_local_checkpoint(fst_repartition(halves, 3));
        fst_rdd *both = fst_union(kept, local);
        show("kept", fst_map_partitions(both, tally, FST_I64));
        printf("checkpoints %d %d\n", fst_is_checkpointed(kept), fst_is_checkpointed(local));
        show("again", both);
        fst_release(both);
        fst_release(kept);
        fst_release(local);
        printf("released %d\n", fst_count(numbers, &(int64_t){0}));
        return fst_context_stop(sc);
}
"""

MASTERS = [("local[2]", "none"), ("local[2]", "process"), ("local-cluster[2,1,1024]", "none"),
           ("local-cluster[2,1,1024]", "process")]


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """The program's output by master and isolation."""
    folder = tmp_path_factory.mktemp("rearrange")
    (folder / "rearrange.c").write_text(PROGRAM)
    found = {}
    for i, (master, isolation) in enumerate(MASTERS):
        run = subprocess.run(
            [os.path.join(BIN, "spark-submit"), "--master", master, "--conf",
             f"spark.firesteel.task.isolation={isolation}", "--conf", "spark.log.level=WARN",
             str(folder / "rearrange.c"), str(folder / f"checkpoints-{i}")],
            capture_output=True, text=True, timeout=300, check=False)
        assert run.returncode == 0, run.stderr
        found[master, isolation] = run.stdout.splitlines()
    return found


def test_rows_are_sparks(said):
    lines = dict(line.split(" ", 1) for line in said["local[2]", "none"])
    assert lines["sample"] == "42 255803"  # genuine Spark's, as in src/rdd/aggregate/sampler_test.c
    assert lines["replaced"] == "991 130503943"
    assert lines["split"] == "132 2152095"
    assert lines["index"] == f"400 {sum((i + 1) * (i // 2) * i for i in range(400))}"
    assert lines["zip"] == f"400 {sum((i + 1) * (i // 2) * i for i in range(400))}"
    assert lines["parts"] == f"4 {100007 + 2 * 100008 + 3 * 100007 + 4 * 100008}"
    assert lines["glom"] == f"4 {1600 * 10}"
    assert lines["pipe"].startswith("400 ")
    assert lines["checkpoints"] == "1 1"
    assert lines["released"] == "0"


@pytest.mark.parametrize("master,isolation", MASTERS[1:])
def test_the_same_everywhere(said, master, isolation):
    assert said[master, isolation] == said["local[2]", "none"]
