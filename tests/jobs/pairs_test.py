"""Operators by key on executors, which find functions by module and symbol and get rows over the network."""
import os
import subprocess

import pytest

from folders import BIN


APP = r"""
#include <firesteel/firesteel.h>
#include <stdio.h>

struct mean { double sum; int64_t n; };

/* (x mod 97, x), and the names of the even ones of the first 60 */
static int by_modulus(fst_task *task, int64_t x, fst_out *out) { fst_emit(out, x % 97, x); return 0; }
static int name(fst_task *task, int64_t x, fst_out *out)
{
        char text[24];
        snprintf(text, sizeof(text), "name %lld", (long long)x);
        fst_emit(out, x * 2, text);
        return 0;
}

static int add(fst_task *task, void *so_far, int64_t x)
{
        struct mean *mean = so_far;
        mean->sum += x;
        mean->n++;
        return 0;
}
static int both(fst_task *task, void *a, const void *b)
{
        struct mean *mean = a;
        const struct mean *more = b;
        mean->sum += more->sum;
        mean->n += more->n;
        return 0;
}
static int first(fst_task *task, int64_t x, fst_out *out) { fst_emit(out, (&(struct mean){x, 1})); return 0; }
static double average(fst_task *task, int64_t key, const void *mean)
{
        const struct mean *m = mean;
        return m->sum / m->n;
}

static int64_t total(fst_task *task, int64_t key, fst_bytes values)
{
        int64_t sum = 0, x;
        for (fst_list list = fst_list_of(values, FST_I64); fst_list_next(&list, &x);)
                sum += x;
        return sum;
}
static int total_of_group(fst_task *task, int64_t key, fst_iter *values, fst_out *out)
{
        int64_t sum = 0, x;
        while (fst_next(values, &x))
                sum += x;
        fst_emit(out, sum);
        return fst_iter_status(values);
}
static int named(fst_task *task, int64_t key, fst_iter *values, fst_iter *names, fst_out *out)
{
        int64_t n = 0, x;
        fst_bytes text = {"", 0};
        fst_next(names, &text);
        while (fst_next(values, &x))
                n++;
        fst_emit(out, n * 100 + (int64_t)text.len);
        return 0;
}
static int if_named(fst_task *task, int64_t key, int64_t x, const fst_bytes *text, fst_out *out)
{
        if (text)
                fst_emit(out, x);
        else
                fst_emit(out, -x);
        return 0;
}

static void print_sum(const char *what, fst_rdd *rdd)
{
        int64_t sum = 0, n = 0;
        fst_reduce(rdd, fst_fn_sum, &sum);
        fst_count(rdd, &n);
        printf("%s: %lld of %lld\n", what, (long long)sum, (long long)n);
}

int main(void)
{
        fst_context *sc = fst_context_new("pairs");
        fst_rdd *pairs = fst_map(fst_range_n(sc, 0, 10000, 5), by_modulus, FST_PAIR(I64, I64));
        fst_rdd *names = fst_map(fst_range_n(sc, 0, 30, 2), name, FST_PAIR(I64, BYTES));
        struct mean none = {0};
        double sum = 0;
        print_sum("lists", fst_map(fst_group_by_key(pairs), total, FST_I64));
        print_sum("groups", fst_flat_map_groups(pairs, total_of_group, FST_I64));
        print_sum("cogroup", fst_cogroup(pairs, names, named, FST_I64));
        print_sum("outer", fst_left_outer_join(pairs, names, if_named, FST_I64));
        print_sum("subtract", fst_values(fst_subtract_by_key(pairs, names)));
        print_sum("distinct", fst_distinct(fst_keys(pairs)));
        fst_reduce(fst_map(fst_aggregate_by_key(pairs, &none, add, both), average, FST_F64), fst_fn_sum, &sum);
        printf("aggregate: %.3f\n", sum);
        fst_rdd *placed = fst_partition_by(pairs, 3);
        sum = 0;
        fst_reduce(fst_map(fst_combine_by_key(placed, first, add, both, FST_FIXED(sizeof(none))), average, FST_F64),
                   fst_fn_sum, &sum);
        printf("combine in place: %.3f\n", sum);
        return fst_context_stop(sc);
}
"""


def expected():
    rows = [(x % 97, x) for x in range(10000)]
    names = {2 * x: f"name {x}" for x in range(30)}
    keys = range(97)
    of = {key: [x for k, x in rows if k == key] for key in keys}
    total = sum(x for _, x in rows)
    averages = sum(sum(of[key]) / len(of[key]) for key in keys)
    left = [x for key, x in rows if key not in names]
    return [f"lists: {total} of 97",
            f"groups: {total} of 97",
            f"cogroup: {sum(len(of[key]) * 100 + len(names.get(key, '')) for key in keys)} of 97",
            f"outer: {sum(x if key in names else -x for key, x in rows)} of 10000",
            f"subtract: {sum(left)} of {len(left)}",
            f"distinct: {sum(keys)} of 97",
            f"aggregate: {averages:.3f}",
            f"combine in place: {averages:.3f}"]


@pytest.mark.parametrize("master", ["local[2]", "local-cluster[2,1,1024]"])
def test_operators_by_key(tmp_path, master):
    app = tmp_path / "pairs.c"
    app.write_text(APP)
    done = subprocess.run([os.path.join(BIN, "spark-submit"), "--master", master, "--conf", "spark.log.level=ERROR",
                           str(app)], capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == expected()
