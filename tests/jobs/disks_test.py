"""spark.local.dir over several disks, some of which are full, fail, or may only be read."""
import errno
import os
import subprocess

import pytest

from folders import BIN, TOP
from sanitizers import SANITIZED
from shuffle_service import Service
from small_disk import mounted

CLUSTER = "local-cluster[2,1,1024]"

APP = r"""
#include <firesteel/firesteel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 1500000 };

static int scattered(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, x * 7919 % ROWS, x);
        return 0;
}

/* A row for each that is not larger than the one before it. */
static int disorder(fst_task *task, fst_iter *rows, fst_out *out)
{
        int64_t key, value, before = -1, n = 0, wrong = 0;
        for (; fst_next(rows, &key, &value); before = key, n++)
                wrong += key <= before;
        fst_emit(out, wrong * 1000000000 + n);
        return 0;
}

static int64_t counted(fst_task *task, int64_t x)
{
        fst_accumulate(task, *(const fst_accumulator *)fst_captured(task), 1);
        return x;
}

static int64_t byte_at(fst_task *task, int64_t x)
{
        fst_bytes value = fst_broadcast_value(task, *(const fst_broadcast *)fst_captured(task));
        return value.data ? (unsigned char)value.data[(size_t)x * 7919 % value.len] : -1;
}

static int sort(fst_context *sc)
{
        fst_rdd *pairs = fst_map(fst_range_n(sc, 0, ROWS, 4), scattered, FST_PAIR(I64, I64));
        int64_t sum = 0;
        int r = fst_reduce(fst_map_partitions(fst_sort_by_key_n(pairs, FST_ASCENDING, 3), disorder, FST_I64), fst_fn_sum, &sum);
        printf("sorted %lld\n", (long long)sum);
        return r;
}

static int keep(fst_context *sc, int level)
{
        fst_accumulator computed = fst_accumulator_i64(sc, "computed");
        fst_rdd *kept = fst_persist(fst_map(fst_range_n(sc, 0, ROWS, 6), FST_WITH(counted, computed), FST_I64), level);
        int64_t n = 0, sum = 0;
        int r = 0;
        for (int i = 0; i < 3 && r == 0; i++) {
                r = fst_count(kept, &n);
                if (r == 0)
                        r = fst_reduce(kept, fst_fn_sum, &sum);
        }
        int64_t before = fst_accumulator_sum_i64(sc, computed);
        fst_count(kept, &n);
        printf("kept %lld, %s, then computed %lld\n", (long long)n, sum == (ROWS - 1LL) * (ROWS / 2) ? "right" : "wrong",
               (long long)(fst_accumulator_sum_i64(sc, computed) - before));
        return r;
}

static int broadcast(fst_context *sc)
{
        size_t size = 24 << 20;
        unsigned char *bytes = malloc(size);
        int64_t sum = 0, right = 0;
        for (size_t i = 0; i < size; i++)
                bytes[i] = (unsigned char)(i * 2654435761u >> 11);
        fst_broadcast value = fst_broadcast_bytes(sc, bytes, size);
        int r = fst_reduce(fst_map(fst_range_n(sc, 0, 8000, 4), FST_WITH(byte_at, value), FST_I64), fst_fn_sum, &sum);
        for (int64_t x = 0; x < 8000; x++)
                right += bytes[(size_t)x * 7919 % size];
        printf("broadcast %s\n", sum == right ? "right" : "wrong");
        free(bytes);
        return r;
}

int main(int argc, char **argv)
{
        fst_context *sc = fst_context_new("disks");
        int r = !strcmp(argv[1], "sort") ? sort(sc)
                : !strcmp(argv[1], "broadcast") ? broadcast(sc) : keep(sc, atoi(argv[1]));
        fflush(stdout);
        int e = fst_context_stop(sc);
        return r ? r : e;
}
"""

SORTED, KEPT = "sorted 1500000\n", "kept 1500000, right, then computed 0\n"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    if SANITIZED:
        pytest.skip("nothing can be loaded before the sanitizer")
    folder = tmp_path_factory.mktemp("app")
    (folder / "disks.c").write_text(APP)
    shim = folder / "failing_disk.so"
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", str(shim), os.path.join(TOP, "tests/failing_disk.c"), "-ldl"],
                   check=True)
    return str(folder / "disks.c"), str(shim)


@pytest.fixture
def disks(tmp_path):
    made = [tmp_path / name for name in ("first", "second")]
    for disk in made:
        disk.mkdir()
    yield made
    for disk in made:
        assert os.listdir(disk) == []


def run(built, what, disks, faults=None, after=0, master=CLUSTER, conf=(), preload=True):
    app, shim = built
    env = dict(os.environ)
    if preload:
        env |= {"LD_PRELOAD": shim, "FAILING_AFTER": str(after),
                "FAILING_DISKS": ",".join(f"{disk}:{number}" for disk, number in (faults or {}).items())}
    options = [word for setting in (
        f"spark.local.dir={','.join(map(str, disks))}", "spark.log.level=WARN", "spark.executor.memory=32m",
        "spark.driver.memory=32m", "spark.shuffle.compress=false", "spark.shuffle.spill.compress=false",
        "spark.rdd.compress=false", *conf) for word in ("--conf", setting)]
    return subprocess.run([os.path.join(BIN, "spark-submit"), "--master", master, *options, app, what], env=env,
                          capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("fault", [errno.ENOSPC, errno.EIO, errno.EROFS])
@pytest.mark.parametrize("what, expected", [("sort", SORTED), ("3", KEPT), ("2", KEPT), ("broadcast", "broadcast right\n")])
def test_one_of_two_disks_fails(built, disks, what, expected, fault):
    done = run(built, what, disks, {disks[0]: fault}, conf=[] if what == "broadcast" else ["spark.memory.fraction=0.1"])
    assert done.returncode == 0, done.stderr
    assert done.stdout == expected
    if what in "32":    # other files have random names and may all be on the other disk
        assert f"{disks[0]}/blockmgr-" in done.stderr
        assert f"is not used for new files any more: {os.strerror(fault)}" in done.stderr


def test_a_disk_that_fills_up_costs_an_attempt(built, disks):
    for _ in range(10):    # random names of files mean random disks
        done = run(built, "sort", disks, {disks[1]: errno.ENOSPC}, after=1 << 20, conf=["spark.memory.fraction=0.1"])
        assert done.returncode == 0, done.stderr
        assert done.stdout == SORTED
        if "Lost task" in done.stderr:
            break
    assert f"{disks[1]}/blockmgr-" in done.stderr
    assert "No space left on device; the next attempt uses another directory of spark.local.dir" in done.stderr


@pytest.mark.parametrize("what", ["sort", "broadcast"])
def test_all_disks_fail(built, disks, what):
    # The driver has memory for the value of the broadcast variable, executors do not.
    done = run(built, what, disks, {disks[0]: errno.ENOSPC, disks[1]: errno.EIO}, conf=["spark.driver.memory=256m"])
    assert done.returncode != 0
    aborted, = (line for line in done.stderr.splitlines() if "Job aborted due to stage failure" in line)
    assert f"{disks[0]} (No space left on device), {disks[1]} (Input/output error); make room there or set " \
           "spark.local.dir to larger disks" in aborted


def test_local_threads_use_the_disk_that_works(built, disks):
    done = run(built, "sort", disks, {disks[0]: errno.EIO}, master="local[2,4]")
    assert done.returncode == 0, done.stderr
    assert done.stdout == SORTED


def test_workers_use_the_disk_that_works(built, disks):
    done = run(built, "sort", disks, {disks[0]: errno.ENOSPC}, conf=["spark.firesteel.task.isolation=process"])
    assert done.returncode == 0, done.stderr
    assert done.stdout == SORTED


def test_map_outputs_of_a_shuffle_service_go_to_the_disk_that_works(built, disks, tmp_path):
    service = Service(tmp_path)
    try:    # nothing else is written with so much memory
        done = run(built, "sort", disks, {disks[0]: errno.ENOSPC}, conf=[*service.conf(), "spark.executor.memory=512m"])
        assert done.returncode == 0, done.stderr
        assert done.stdout == SORTED
        assert "is not used for new files any more" in done.stderr and "Lost task" not in done.stderr
    finally:
        service.end()


@pytest.fixture
def small_disk(disks):
    """The first of the disks is really one, of 3 MiB."""
    with mounted(disks[0], 3):
        yield disks[0]


@pytest.mark.parametrize("full", [True, False])
def test_a_real_disk_of_two_is_full_or_fills_up(built, disks, small_disk, full):
    if full:
        (small_disk / "others").write_bytes(bytes((2 << 20) + (300 << 10)))
    for _ in range(20):    # the disk of a file depends on its random name
        done = run(built, "sort", disks, preload=False)
        assert done.returncode == 0, done.stderr
        assert done.stdout == SORTED
        if not full or "has little room left" in done.stderr:
            break
    if full:    # no attempt failed to detect it
        assert "has little room left" in done.stderr and "Lost task" not in done.stderr
        (small_disk / "others").unlink()
