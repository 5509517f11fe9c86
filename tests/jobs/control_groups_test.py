"""Applications in control groups that are smaller than their memory: they spill, or fail by name. The kernel kills no process.

Version 1 uses the machine's own group below that of the tests, as root. Version 2 is simulated by a tree of files.
"""
import os
import re
import subprocess
import time
import uuid

import pytest

from folders import BIN
from full_number import full_number
from sanitizers import SANITIZED
from standalone_cluster import wait_for

CLUSTER = "local-cluster[2,1,1024]"
MIB = 1 << 20

APP = r"""
#include <firesteel/firesteel.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROWS = 1600000, WIDTH = 100, KEYS = 20000, PARTS = 8 };

static int64_t shuffled(int64_t i)
{
        return i * 7919 % ROWS;
}

static int wide(fst_task *task, int64_t i, fst_out *out)
{
        char value[WIDTH];
        memset(value, 'a' + (int)(i % 26), sizeof(value));
        fst_emit(out, shuffled(i), ((fst_bytes){value, sizeof(value)}));
        return 0;
}

static int keyed(fst_task *task, int64_t i, fst_out *out)
{
        char value[WIDTH];
        memset(value, 'a' + (int)(i % 26), sizeof(value));
        fst_emit(out, i % KEYS, ((fst_bytes){value, sizeof(value)}));
        return 0;
}

static int one_key(fst_task *task, int64_t i, fst_out *out)
{
        char value[WIDTH];
        memset(value, 'a' + (int)(i % 26), sizeof(value));
        fst_emit(out, (int64_t)7, ((fst_bytes){value, sizeof(value)}));
        return 0;
}

static int in_order(fst_task *task, fst_iter *rows, fst_out *out)
{
        int64_t key, before = -1, n = 0;
        fst_bytes value;
        for (; fst_next(rows, &key, &value); before = key, n++)
                if (key <= before)
                        return fst_fail(task, "%lld comes after %lld", (long long)key, (long long)before);
        fst_emit(out, n);
        return 0;
}

static int both(fst_task *task, int64_t key, fst_bytes left, int64_t right, fst_out *out)
{
        fst_emit(out, key == right && left.len == WIDTH ? (int64_t)1 : (int64_t)1000000000);
        return 0;
}

static int same(fst_task *task, int64_t i, fst_out *out)
{
        fst_emit(out, i, i);
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

static int words(fst_task *task, int64_t i, fst_out *out)
{
        char word[40];
        snprintf(word, sizeof(word), "a word with the number %" PRId64, i % (ROWS / 2));
        fst_emit(out, word, 1);
        return 0;
}

static int64_t width(fst_task *task, int64_t key, fst_bytes value)
{
        return (int64_t)value.len;
}

static int64_t total(fst_rdd *numbers)
{
        int64_t sum = -1;
        return fst_reduce(numbers, fst_fn_sum, &sum) ? -1 : sum;
}

static fst_rdd *wide_rows(fst_context *sc)
{
        return fst_map(fst_range_n(sc, 0, ROWS, PARTS), wide, FST_PAIR(I64, BYTES));
}

static void sort(fst_context *sc)
{
        fst_rdd *sorted = fst_sort_by_key_n(wide_rows(sc), FST_ASCENDING, PARTS);
        printf("sort %" PRId64 "\n", total(fst_map_partitions(sorted, in_order, FST_I64)));
}

static void jobs(fst_context *sc)
{
        fst_type pair = FST_PAIR(I64, BYTES);
        fst_rdd *numbers = fst_range_n(sc, 0, ROWS, PARTS), *rows = wide_rows(sc);
        sort(sc);
        fst_rdd *right = fst_map(fst_range_n(sc, 0, ROWS, PARTS), same, FST_PAIR(I64, I64));
        printf("join %" PRId64 "\n", total(fst_join_n(rows, right, both, FST_I64, PARTS)));
        fst_rdd *groups = fst_group_by_key_n(fst_map(numbers, keyed, pair), PARTS);
        printf("groups %" PRId64 "\n", total(fst_map(groups, group_size, FST_I64)));
        fst_rdd *kept = fst_persist(rows, FST_STORAGE_MEMORY_AND_DISK);
        int64_t n = 0;
        fst_count(kept, &n);
        printf("kept %" PRId64 " %" PRId64 "\n", n, total(fst_map(kept, width, FST_I64)));
        fst_unpersist(kept);
        kept = fst_cache(fst_map(numbers, keyed, pair));
        fst_count(kept, &n);
        printf("cached %" PRId64 " %" PRId64 "\n", n, total(fst_map(kept, width, FST_I64)));
        fst_rdd *counts = fst_reduce_by_key_n(fst_flat_map(numbers, words, FST_PAIR(BYTES, I64)), fst_fn_sum, PARTS);
        fst_count(counts, &n);
        printf("words %" PRId64 "\n", n);
}

/* ----------------------------------------------------------------------------------------- functions that take much */

static int large(fst_task *task, int64_t i, fst_out *out)
{
        size_t n = (size_t)*(const int64_t *)fst_captured(task);
        char *row = malloc(n);
        if (!row)
                return fst_fail(task, "malloc of %zu bytes failed", n);
        memset(row, 'a', n);
        fst_emit(out, ((fst_bytes){row, n}));
        free(row);
        return 0;
}

/* A million bytes in ten rows. */
static int megabyte(fst_task *task, int64_t i, fst_out *out)
{
        static const char row[100000];
        for (int n = 0; n < 10; n++)
                fst_emit(out, ((fst_bytes){row, sizeof(row)}));
        return 0;
}

static int leak(fst_task *task, int64_t i, fst_out *out)
{
        for (int n = 0; n < 4000; n++) {
                char *lost = malloc(1 << 20);
                if (!lost)
                        return fst_fail(task, "malloc failed after %d MiB", n);
                memset(lost, 1, 1 << 20);
        }
        fst_emit(out, i);
        return 0;
}

/* Allocates first, and writes only afterwards. */
static int late(fst_task *task, int64_t i, fst_out *out)
{
        char *blocks[80];
        for (int n = 0; n < 80; n++) {
                if (!(blocks[n] = malloc(10 << 20)))
                        return fst_fail(task, "malloc failed after %d MiB", 10 * n);
                nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        }
        for (int n = 0; n < 80; n++)
                memset(blocks[n], 1, 10 << 20);
        fst_emit(out, i);
        return 0;
}

static int64_t length(fst_task *task, fst_bytes row)
{
        return (int64_t)row.len;
}

int main(int argc, char **argv)
{
        fst_context *sc = fst_context_new("groups");
        int64_t size = argc > 2 ? atoll(argv[2]) << 20 : 0, parts = size >> 20;
        fst_rdd *two = fst_range_n(sc, 0, 2, 2), *rows = fst_flat_map(two, FST_WITH(large, size), FST_BYTES);
        if (strcmp(argv[1], "jobs") == 0)
                jobs(sc);
        else if (strcmp(argv[1], "sort") == 0)
                sort(sc);
        else if (strcmp(argv[1], "rows") == 0)
                printf("rows %" PRId64 "\n", total(fst_map(rows, length, FST_I64)));
        else if (strcmp(argv[1], "sorted") == 0)
                printf("sorted %" PRId64 "\n", total(fst_map(fst_sort_by(rows, fst_fn_identity, FST_BYTES, FST_ASCENDING), length, FST_I64)));
        else if (strcmp(argv[1], "one_key") == 0)
                printf("one key %" PRId64 "\n",
                       total(fst_map(fst_group_by_key_n(fst_map(fst_range_n(sc, 0, 3 * ROWS, PARTS), one_key, FST_PAIR(I64, BYTES)),
                                                        PARTS), group_size, FST_I64)));
        else if (strcmp(argv[1], "collected") == 0) {
                fst_rdd *megabytes = fst_flat_map(fst_range_n(sc, 0, 600, (int)parts), megabyte, FST_BYTES);
                fst_iter *all;
                int64_t n = -1;
                printf("collected %d\n", fst_collect(megabytes, &all));
                fst_count(megabytes, &n);
                printf("counted %" PRId64 "\n", n);
        } else if (strcmp(argv[1], "map") == 0) {
                fst_map *map;
                printf("map %d\n", fst_count_by_value(fst_range_n(sc, 0, 9000000, 60), &map));
        } else if (strcmp(argv[1], "leak") == 0)
                printf("leak %" PRId64 "\n", total(fst_flat_map(two, leak, FST_I64)));
        else if (strcmp(argv[1], "late") == 0)
                printf("late %" PRId64 "\n", total(fst_flat_map(two, late, FST_I64)));
        else
                printf("lines %" PRId64 "\n", total(fst_map(fst_text_file(sc, argv[1]), length, FST_I64)));
        fflush(stdout);
        return fst_context_stop(sc);
}
"""

RIGHT = """\
sort 1600000
join 1600000
groups 1600000
kept 1600000 160000000
cached 1600000 160000000
words 800000
"""


def own_group():
    with open("/proc/self/cgroup", encoding="utf-8") as f:
        found = re.search(r"^\d+:(?:\w+,)*memory(?:,\w+)*:(/.*)$", f.read(), re.M)
    return "/sys/fs/cgroup/memory" + found.group(1) if found else None


class Group:
    """A memory group of version 1, below the tests' own."""

    def __init__(self, mib):
        self.path = os.path.join(own_group(), f"firesteel-test-{uuid.uuid4().hex[:8]}")
        os.mkdir(self.path)
        self.write("memory.limit_in_bytes", mib * MIB)

    def write(self, name, value):
        with open(os.path.join(self.path, name), "w", encoding="utf-8") as f:
            f.write(str(value))

    def join(self):
        self.write("cgroup.procs", 0)

    def killed(self):
        with open(os.path.join(self.path, "memory.oom_control"), encoding="utf-8") as f:
            return int(re.search(r"^oom_kill (\d+)$", f.read(), re.M).group(1))

    def remove(self):
        for _ in range(100):
            try:
                return os.rmdir(self.path)
            except OSError:
                time.sleep(0.1)


@pytest.fixture
def group():
    made = []

    def make(mib):
        try:
            made.append(Group(mib))
        except (OSError, TypeError) as e:
            pytest.skip(f"needs a control group of version 1 below its own: {e}")
        return made[-1]
    if SANITIZED:
        pytest.skip("sanitizers take more memory than the groups have")
    yield make
    for g in made:
        g.remove()


@pytest.fixture
def app(tmp_path):
    path = tmp_path / "groups.c"
    path.write_text(APP)
    return str(path)


def submit(app, *arguments, master="local[2]", options=(), **popen):
    return subprocess.run([os.path.join(BIN, "spark-submit"), "--master", master, *options, app, *map(str, arguments)],
                          text=True, capture_output=True, timeout=300, check=False, **popen)


@pytest.mark.parametrize("mib, master", full_number([(mib, master) for mib in (300, 400, 600) for master in ("local[2]", CLUSTER)],
                                                    [(300, "local[2]"), (400, CLUSTER), (600, "local[2]")]))
def test_jobs_spill(group, app, mib, master):
    g = group(mib)
    run = submit(app, "jobs", master=master, preexec_fn=g.join)
    assert run.stdout == RIGHT, run.stderr
    assert run.returncode == 0 and g.killed() == 0


def test_an_application_is_compiled_in_the_group(group, app, tmp_path):
    """No other application has its source, so no cache has it. Two executors share the group."""
    with open(app, "a", encoding="utf-8") as f:
        f.write(f"/* {uuid.uuid4()} */\n")
    g = group(300)
    run = submit(app, "jobs", master=CLUSTER, preexec_fn=g.join)
    assert run.stdout == RIGHT, run.stderr
    assert run.returncode == 0 and g.killed() == 0


def test_a_log_line_tells_what_is_used(group, app):
    g = group(300)
    run = submit(app, "rows", 1, preexec_fn=g.join)
    assert run.stdout == "rows 2097152\n"
    assert re.search(r"INFO MemoryManager: control group /\S* allows 300 MiB: 236 MiB are used instead of the 1024 MiB "
                     r"that spark.driver.memory is by default", run.stderr)


def test_memory_larger_than_the_group_is_warned_of(group, app):
    g = group(300)
    run = submit(app, "sort", options=["--driver-memory", "4g"], preexec_fn=g.join)
    assert run.stdout == RIGHT.splitlines(True)[0], run.stderr
    assert re.search(r"WARN MemoryManager: spark.driver.memory is 4096 MiB, but control group /\S* allows 300 MiB: only 236 "
                     r"MiB are used", run.stderr)
    assert g.killed() == 0


@pytest.mark.parametrize("master, what, names", [
    ("local[2]", ("rows", 500), "malloc of 524288000 bytes failed"),
    ("local[2]", ("rows", 100), "no memory to copy a row of 104857600 bytes that a function of flat_map emits: raise "
                                "spark.executor.memoryOverhead"),
    ("local[2]", ("leak",), "malloc failed after"),
    ("local[2]", ("late",), "malloc failed after"),
    (CLUSTER, ("rows", 500), "malloc of 524288000 bytes failed"),
    (CLUSTER, ("leak",), "malloc failed after"),
    (CLUSTER, ("late",), "malloc failed after"),
])
def test_functions_fail_by_name(group, app, master, what, names):
    g = group(300)
    run = submit(app, *what, master=master, preexec_fn=g.join)
    assert run.returncode != 0
    assert names in run.stderr or "Exit before the kernel kills this process" in run.stderr, run.stderr
    assert g.killed() == 0


def test_one_key_with_more_rows_than_the_group_has_room_for_fails_by_name(group, app):
    g = group(300)
    run = submit(app, "one_key", preexec_fn=g.join)
    assert run.returncode != 0
    assert re.search(r"the values of one key do not fit into memory \(there are \d+ bytes of them and more\): group_by_key makes one "
                     r"row of them; fst_flat_map_groups reads them one after another", run.stderr), run.stderr
    assert g.killed() == 0


def test_a_line_larger_than_the_group_fails_by_name(group, app, tmp_path):
    g = group(300)
    line = tmp_path / "line"
    with open(line, "wb") as f:
        for _ in range(400):
            f.write(b"x" * MIB)
    run = submit(app, line, preexec_fn=g.join)
    assert run.returncode != 0
    assert "no memory for the line at byte 0, which is longer than" in run.stderr
    assert g.killed() == 0


@pytest.fixture
def driver_in_group(group, app, cluster):
    """Runs a driver without tasks in a group of 300 MiB. Master, worker and executors are outside of it."""
    master = cluster.master()
    cluster.worker(master.url, cores=2, memory="2g")

    def run(*arguments):
        g = group(300)
        return submit(app, *arguments, master=master.url, preexec_fn=g.join), g.killed()
    return run


@pytest.mark.parametrize("parts", [2, 12, 600])
def test_a_driver_without_tasks_refuses_results_that_the_group_has_no_room_for(driver_in_group, parts):
    run, killed = driver_in_group("collected", parts)
    assert killed == 0
    assert re.search(r"ERROR SparkContext: collect at groups\.c:\d+ failed: .*no memory in the driver for (a result of \d+ "
                     r"bytes|\d+ more bytes of results): save rows instead of collecting them, or raise "
                     r"spark\.driver\.memory and the limit of its control group", run.stderr), run.stderr
    assert run.stdout.endswith("\ncounted 6000\n"), run.stderr
    assert run.returncode == 1


def test_a_map_in_a_driver_without_tasks_fails_by_name(driver_in_group):
    run, killed = driver_in_group("map")
    assert killed == 0
    assert re.search(r"ERROR SparkContext: count_by_value at groups\.c:\d+ failed: .*no memory in the driver for", run.stderr), \
        run.stderr
    assert run.returncode == 1


def test_a_driver_in_cluster_mode_refuses_results_that_the_group_has_no_room_for(group, app, cluster):
    """The worker of the driver is in the group, the one of the executors is not."""
    g = group(300)
    master = cluster.master()
    first = cluster.worker(master.url, cores=1)
    g.write("cgroup.procs", first.pid)
    submission = cluster.submit(master.url, app, "collected", 12, options=["--deploy-mode", "cluster"],
                                conf=["spark.standalone.submit.waitAppCompletion=true",
                                      "spark.firesteel.submit.reportInterval=50ms"])
    driver, = wait_for(lambda: list(first.work.glob("driver-*")), "the driver's directory")
    cluster.worker(master.url, cores=2, memory="2g")
    submission.end(120)
    said = (driver / "stderr").read_text()
    assert g.killed() == 0, said
    assert re.search(r"ERROR SparkContext: collect at groups\.c:\d+ failed: .*no memory in the driver for (a result of \d+ "
                     r"bytes|\d+ more bytes of results): save rows", said), said
    assert (driver / "stdout").read_text().endswith("\ncounted 6000\n")
    master.says(r"Removing driver: driver-\S+ \(FAILED\)")


# ----------------------------------------------------------------------------------------------------- version 2

def tree(path, limit, used):
    group = path / "groups" / "pod" / "main"
    group.mkdir(parents=True)
    (path / "groups" / "self").write_text("0::/pod/main\n")
    (group / "memory.max").write_text("max\n")
    (group.parent / "memory.max").write_text(f"{limit * MIB}\n")
    (group.parent / "memory.current").write_text(f"{used * MIB}\n")
    (group.parent / "memory.stat").write_text(f"anon 0\ninactive_file {MIB}\nactive_file 0\nslab_reclaimable 0\n")
    return {**os.environ, "FIRESTEEL_CGROUP_ROOT": str(path / "groups")}


@pytest.mark.parametrize("master, key, uses", [
    ("local[2]", "spark.driver.memory", 336),
    (CLUSTER, "spark.executor.memory", 69),
])
def test_version_2_limits_the_memory_for_rows(app, tmp_path, master, key, uses):
    run = submit(app, "rows", 1, master=master, env=tree(tmp_path, 400, 100))
    assert run.stdout == "rows 2097152\n", run.stderr
    assert re.search(rf"control group /pod allows 400 MiB.*: {uses} MiB are used instead of the 1024 MiB that {key}",
                     run.stderr)


@pytest.mark.skipif(SANITIZED, reason="sanitizers map more memory than the groups have")
def test_version_2_refuses_what_the_group_has_no_room_for(app, tmp_path):
    run = submit(app, "rows", 200, env=tree(tmp_path, 400, 300))
    assert run.returncode != 0
    assert "malloc of 209715200 bytes failed" in run.stderr
