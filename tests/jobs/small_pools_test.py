"""Memory pools of a few MiB: tasks share them, wait for each other or spill, and end."""
import os
import subprocess

import pytest

from folders import BIN
from full_number import full_number
from sanitizers import SANITIZED


APP = r"""
#include <firesteel/firesteel.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
enum { ROWS = 400000, WIDTH = 100, KEYS = 20000, PARTS = 8 };
static int wide(fst_task *task, int64_t i, fst_out *out)
{
        char value[WIDTH];
        memset(value, 'a' + (int)(i % 26), sizeof(value));
        fst_emit(out, i * 7919 % ROWS, ((fst_bytes){value, sizeof(value)}));
        return 0;
}
static int keyed(fst_task *task, int64_t i, fst_out *out)
{
        char value[WIDTH];
        memset(value, 'a' + (int)(i % 26), sizeof(value));
        fst_emit(out, i % KEYS, ((fst_bytes){value, sizeof(value)}));
        return 0;
}
static int in_order(fst_task *task, fst_iter *rows, fst_out *out)
{
        int64_t key, before = -1, n = 0;
        fst_bytes value;
        for (; fst_next(rows, &key, &value); before = key, n++)
                if (key <= before)
                        return fst_fail(task, "order");
        fst_emit(out, n);
        return 0;
}
static int barrier(fst_task *task, fst_iter *rows, fst_out *out)
{
        if (fst_barrier_wait(task)) return -1;
        int64_t n = 0, key; fst_bytes value;
        for (; fst_next(rows, &key, &value); n++) ;
        if (fst_barrier_wait(task)) return -1;
        fst_emit(out, n);
        return 0;
}
static int wait_for_file(fst_task *task, const char *path)
{
        for (int i = 0; i < 4500 && access(path, F_OK) && !fst_task_interrupted(task); i++)
                usleep(10000);
        return 0;
}
/*
 * Partition 0 holds memory for key 0 while it waits for a file that the function of partition 1 makes for key 4. Its rows
 * are larger than the share of a task, and come when partition 0 waits.
 */
static int waits_for_file(fst_task *task, fst_iter *rows, fst_out *out)
{
        const char *dir = getenv("POOLS_DIR");
        char started[512], done[512];
        int64_t key, n = 0;
        fst_bytes values;
        snprintf(started, sizeof(started), "%s/started", dir);
        snprintf(done, sizeof(done), "%s/done", dir);
        for (; fst_next(rows, &key, &values); n++) {
                if (key != 1)
                        fclose(fopen(key ? done : started, "w"));
                if (key != 4)
                        wait_for_file(task, key ? started : done);
        }
        fst_emit(out, n);
        return 0;
}
static int three_groups(fst_task *task, int64_t i, fst_out *out)
{
        static const int64_t keys[] = {0, 1, 4}, rows[] = {900, 1, 1800};
        static const char value[1000];
        for (int64_t n = 0; n < rows[i]; n++)
                fst_emit(out, keys[i], ((fst_bytes){value, sizeof(value)}));
        return 0;
}
static int64_t group_size(fst_task *task, int64_t key, fst_bytes values)
{
        fst_list list = fst_list_of(values, FST_BYTES);
        int64_t n = 0;
        for (fst_bytes value; fst_list_next(&list, &value);)
                n++;
        return n;
}
static int64_t total(fst_rdd *numbers)
{
        int64_t sum = -1;
        return fst_reduce(numbers, fst_fn_sum, &sum) ? -1 : sum;
}
int main(int argc, char **argv)
{
        fst_context *sc = fst_context_new("small");
        fst_type pair = FST_PAIR(I64, BYTES);
        if (argc > 1) {
                fst_rdd *groups = fst_group_by_key_n(fst_flat_map(fst_range_n(sc, 0, 3, 1), three_groups, pair), 2);
                printf("waits %" PRId64 "\n", total(fst_barrier_map_partitions(groups, waits_for_file, FST_I64)));
                return fst_context_stop(sc);
        }
        fst_rdd *numbers = fst_range_n(sc, 0, ROWS, PARTS);
        fst_rdd *rows = fst_map(numbers, wide, pair);
        printf("sort %" PRId64 "\n", total(fst_map_partitions(fst_sort_by_key_n(rows, FST_ASCENDING, PARTS), in_order, FST_I64)));
        printf("barrier %" PRId64 "\n", total(fst_barrier_map_partitions(fst_sort_by_key_n(rows, FST_ASCENDING, 4), barrier, FST_I64)));
        fst_rdd *groups = fst_group_by_key_n(fst_map(numbers, keyed, pair), PARTS);
        printf("groups %" PRId64 "\n", total(fst_map(groups, group_size, FST_I64)));
        fflush(stdout);
        return fst_context_stop(sc);
}
"""

RIGHT = """\
sort 400000
barrier 400000
groups 400000
"""


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    path = tmp_path_factory.mktemp("pools") / "pools.c"
    path.write_text(APP)
    return str(path)


def submit(app, master, fraction, *arguments, **env):
    return subprocess.run([os.path.join(BIN, "spark-submit"), "--master", master, "--driver-memory", "236m",
                           "--executor-memory", "236m", "--conf", f"spark.memory.fraction={fraction}", app,
                           *arguments], text=True, capture_output=True, timeout=300, check=False, env={**os.environ, **env})


@pytest.mark.parametrize("turn", range(1 if SANITIZED else full_number(3, 1)))  # the order of requests for memory differs
@pytest.mark.parametrize("fraction", ["0.01", "0.013", "0.02"])
@pytest.mark.parametrize("master", ["local[4]", "local-cluster[2,2,1024]"])
def test_tasks_end_in_small_pools(app, master, fraction, turn):
    run = submit(app, master, fraction)
    assert run.stdout == RIGHT, run.stderr
    assert run.returncode == 0


def test_a_pool_with_less_than_a_page_for_each_task_is_raised(app):
    run = submit(app, "local[4]", "0.0001")
    assert run.stdout == RIGHT, run.stderr
    assert run.returncode == 0
    assert ("spark.driver.memory and spark.memory.fraction leave 24 KiB for the rows of 4 running tasks, which get 4096 KiB: "
            "raise spark.driver.memory or spark.memory.fraction, or run fewer tasks at a time") in run.stderr


def test_a_barrier_task_that_others_wait_for_does_not_wait_for_their_memory(app, tmp_path):
    """The waiting task cannot see that the other one waits for it by a file."""
    run = submit(app, "local[2]", "0.01", "waits", POOLS_DIR=str(tmp_path))
    assert run.returncode != 0
    assert "WARN TaskMemoryManager: No task has released memory for 10 s" in run.stderr
    assert "the values of one key do not fit into memory" in run.stderr, run.stderr
