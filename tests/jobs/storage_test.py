"""Cached RDDs at every storage level: the locations of their blocks, and their events."""
import json
import os
import subprocess

import pytest

from folders import BIN

CLUSTER = "local-cluster[2,1,1024]"
THREE = "local-cluster[3,1,1024]"

APP = r"""
#include <firesteel/firesteel.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int64_t seen(fst_task *task, int64_t x)
{
        fst_accumulate(task, *(const fst_accumulator *)fst_captured(task), 1);
        return x;
}

static void keep(fst_context *sc, int level)
{
        fst_accumulator computed = fst_accumulator_i64(sc, "computed");
        fst_rdd *kept = fst_persist(fst_map(fst_range_n(sc, 0, 400000, 4), FST_WITH(seen, computed), FST_I64), level);
        int64_t n = 0, sum = 0;
        fst_count(kept, &n);
        fst_reduce(kept, fst_fn_sum, &sum);
        printf("%d: %lld %s, computed %lld\n", level, (long long)n, sum == 399999LL * 200000 ? "right" : "wrong",
               (long long)fst_accumulator_sum_i64(sc, computed));
        fst_unpersist(kept);
}

static int files_of(const char *dir, int rdd)
{
        char pattern[4096];
        glob_t found;
        snprintf(pattern, sizeof(pattern), "%s/blockmgr-*/*/rdd_%d_*", dir, rdd);
        int n = glob(pattern, 0, NULL, &found) ? 0 : (int)found.gl_pathc;
        if (n)
                globfree(&found);
        return n;
}

/* Files are there, and then they are not, on whatever executors they were. */
static void forget(fst_context *sc, const char *dir)
{
        for (int i = 0; i < 20; i++) {
                fst_rdd *kept = fst_persist(fst_range_n(sc, 0, 10000, 6), FST_STORAGE_DISK_ONLY_2);
                int64_t n = 0;
                fst_count(kept, &n);
                int before = files_of(dir, fst_rdd_id(kept));
                fst_unpersist_blocking(kept);
                printf("%d files, then %d\n", before, files_of(dir, fst_rdd_id(kept)));
        }
}

static int64_t pid_of(fst_task *task, int64_t x)
{
        return getpid();
}

static void kill_one(fst_context *sc)
{
        fst_iter *pids;
        if (fst_collect(fst_map(fst_range_n(sc, 0, 1, 1), pid_of, FST_I64), &pids) == 0)
                for (int64_t pid; fst_next(pids, &pid);)
                        kill((pid_t)pid, SIGKILL);
}

/* One of the directories that were there at the beginning went with its executor, and there are two of each file again. */
static int is_whole(const char *dir, int rdd, const glob_t *before)
{
        int gone = 0;
        for (size_t i = 0; i < before->gl_pathc; i++)
                gone += access(before->gl_pathv[i], F_OK) != 0;
        return gone && files_of(dir, rdd) == 12;
}

/* Two executors end, one after the other: partitions that are kept twice are there as if nothing had happened. */
static void lose(fst_context *sc, const char *dir)
{
        fst_accumulator computed = fst_accumulator_i64(sc, "computed");
        fst_rdd *kept = fst_persist(fst_map(fst_range_n(sc, 0, 10000, 6), FST_WITH(seen, computed), FST_I64), FST_STORAGE_DISK_ONLY_2);
        int64_t n = 0, sum = 0;
        char pattern[4096];
        glob_t before;
        fst_count(kept, &n);
        snprintf(pattern, sizeof(pattern), "%s/blockmgr-*/*/rdd_%d_*", dir, fst_rdd_id(kept));
        if (glob(pattern, 0, NULL, &before))
                return;
        kill_one(sc);
        int waits = 0;
        while (!is_whole(dir, fst_rdd_id(kept), &before) && waits++ < 3000)
                usleep(10000);
        globfree(&before);
        kill_one(sc);
        fst_reduce(kept, fst_fn_sum, &sum);
        printf("%s, %s, computed %lld\n", waits < 3000 ? "whole again" : "not whole", sum == 49995000 ? "right" : "wrong",
               (long long)fst_accumulator_sum_i64(sc, computed));
}

int main(int argc, char **argv)
{
        fst_context *sc = fst_context_new("storage");
        for (int i = 1; i < argc; i++)
                if (argv[i][0] == '-')
                        lose(sc, argv[i] + 1);
                else if (argv[i][0] == '/')
                        forget(sc, argv[i]);
                else
                        keep(sc, atoi(argv[i]));
        fflush(stdout);
        return fst_context_stop(sc);
}
"""

# The number of a level in our interface, and the fields that Spark 4.3 writes for it: disk, memory, off-heap, deserialized,
# copies.
LEVELS = {
    1: (False, True, False, True, 1),     # MEMORY_ONLY
    2: (True, True, False, True, 1),      # MEMORY_AND_DISK
    3: (True, False, False, False, 1),    # DISK_ONLY
    4: (False, True, False, True, 2),     # MEMORY_ONLY_2
    5: (True, True, False, True, 2),      # MEMORY_AND_DISK_2
    6: (True, False, False, False, 2),    # DISK_ONLY_2
    7: (True, False, False, False, 3),    # DISK_ONLY_3
    8: (False, True, False, False, 1),    # MEMORY_ONLY_SER
    9: (False, True, False, False, 2),    # MEMORY_ONLY_SER_2
    10: (True, True, False, False, 1),    # MEMORY_AND_DISK_SER
    11: (True, True, False, False, 2),    # MEMORY_AND_DISK_SER_2
    12: (True, True, True, False, 1),     # OFF_HEAP
}
OFF_HEAP = ["spark.memory.offHeap.enabled=true", "spark.memory.offHeap.size=64m"]


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    source = tmp_path_factory.mktemp("app") / "storage.c"
    source.write_text(APP)
    return str(source)


def run(app, *words, master="local[2]", conf=(), status=0):
    options = [word for setting in ("spark.log.level=WARN", "spark.locality.wait=0",
                                    "spark.scheduler.minRegisteredResourcesRatio=1",
                                    "spark.scheduler.maxRegisteredResourcesWaitingTime=600s", *conf)
               for word in ("--conf", setting)]
    done = subprocess.run([os.path.join(BIN, "spark-submit"), "--master", master, *options, app, *map(str, words)],
                          capture_output=True, text=True, timeout=120)
    assert (done.returncode == 0) == (status == 0), done.stderr
    return done


def logged(folder):
    """Settings for an event log there, and a function that reads it."""
    def events(name):
        path, = (os.path.join(folder, entry) for entry in os.listdir(folder))
        with open(path) as lines:
            return [event for event in map(json.loads, lines) if event["Event"] == f"SparkListener{name}"]
    return ["spark.eventLog.enabled=true", f"spark.eventLog.dir={folder}", "spark.eventLog.compress=false",
            "spark.eventLog.rolling.enabled=false", "spark.eventLog.logBlockUpdates.enabled=true"], events


def level(json_level):
    return tuple(json_level[key] for key in ("Use Disk", "Use Memory", "Use Off Heap", "Deserialized", "Replication"))


def of_blocks(events):
    """By RDD, in order: the levels of new blocks, and their sizes in memory and on disk."""
    found = {}
    for event in events("BlockUpdated"):
        info = event["Block Updated Info"]
        if info["Block ID"].startswith("rdd_") and any(level(info["Storage Level"])[:2]):
            found.setdefault(int(info["Block ID"].split("_")[1]), []).append(
                (level(info["Storage Level"]), info["Memory Size"], info["Disk Size"]))
    return [found[rdd] for rdd in sorted(found)]


@pytest.mark.parametrize("master", ["local[2]", THREE])
def test_every_level_keeps_what_was_computed_and_is_told_as_sparks(app, tmp_path, master):
    conf, events = logged(tmp_path)
    done = run(app, *LEVELS, master=master, conf=[*conf, *OFF_HEAP])
    assert done.stdout == "".join(f"{number}: 400000 right, computed 400000\n" for number in LEVELS)
    told = [level(rdd["Storage Level"]) for stage in events("StageCompleted")
            for rdd in stage["Stage Info"]["RDD Info"] if any(level(rdd["Storage Level"])[:2])]
    assert told[::2] == told[1::2] == list(LEVELS.values())    # two jobs each
    blocks = of_blocks(events)
    assert len(blocks) == len(LEVELS)
    for number, (asked, kept) in zip(LEVELS, zip(LEVELS.values(), blocks)):
        disk, memory, off_heap, deserialized, copies = asked
        place = (False, True, off_heap, deserialized, copies) if memory else (True, False, False, False, copies)
        assert {block[0] for block in kept} == {place}, number
        assert len(kept) == 4 * (1 if master != THREE else copies), number
        assert all((size > 0) == memory and (on_disk > 0) != memory for _, size, on_disk in kept), number
    added = events("BlockManagerAdded")[-1]
    assert added["Maximum Offheap Memory"] == 64 << 20
    assert added["Maximum Memory"] == added["Maximum Onheap Memory"] + (64 << 20)


def test_serialized_levels_are_compressed_where_spark_rdd_compress_says_so(app, tmp_path):
    sizes = {}
    for compress in ("true", "false"):
        folder = tmp_path / compress
        folder.mkdir()
        conf, events = logged(folder)
        run(app, 1, 8, 3, conf=[*conf, f"spark.rdd.compress={compress}"])
        sizes[compress] = [sum(memory + disk for _, memory, disk in kept) for kept in of_blocks(events)]
    whole, packed, on_disk = sizes["true"]
    assert packed < whole * 2 / 3 and on_disk < whole * 2 / 3
    whole, plain, on_disk = sizes["false"]
    assert plain == whole and on_disk >= 3200000


@pytest.mark.parametrize("master", ["local[2]", CLUSTER])
def test_off_heap_without_such_memory_is_on_disk(app, tmp_path, master):
    conf, events = logged(tmp_path)
    done = run(app, 12, master=master, conf=conf)
    assert done.stdout == "12: 400000 right, computed 400000\n"
    assert {block[0] for block in of_blocks(events)[0]} == {(True, False, True, False, 1)}
    assert "spark.memory.offHeap.enabled=true" in done.stderr or master == CLUSTER


def test_off_heap_needs_a_size(app):
    done = run(app, 12, conf=["spark.memory.offHeap.enabled=true"], status=1)
    assert "spark.memory.offHeap.size must be at least 1MiB when spark.memory.offHeap.enabled == true" in done.stderr


@pytest.mark.parametrize("master", ["local[2]", CLUSTER])
def test_who_unpersists_and_waits_finds_nothing_left(app, tmp_path, master):
    log, local = tmp_path / "log", tmp_path / "local"
    log.mkdir()
    conf, events = logged(log)
    done = run(app, local, master=master, conf=[*conf, f"spark.local.dir={local}"])
    assert done.stdout == f"{6 if master != CLUSTER else 12} files, then 0\n" * 20
    assert [event["RDD ID"] for event in events("UnpersistRDD")] == list(range(20))


def test_copies_that_were_lost_are_made_again(app, tmp_path):
    done = run(app, f"-{tmp_path}", master="local-cluster[3,1,1024]", conf=[f"spark.local.dir={tmp_path}"])
    assert done.stdout == "whole again, right, computed 10000\n", done.stderr


def test_workers_hand_over_every_level(app, tmp_path):
    conf, events = logged(tmp_path)
    done = run(app, 1, 8, 10, 12, conf=[*conf, *OFF_HEAP, "spark.firesteel.task.isolation=process"])
    assert done.stdout == "".join(f"{number}: 400000 right, computed 400000\n" for number in (1, 8, 10, 12))
    assert [{block[0] for block in kept} for kept in of_blocks(events)] == [
        {(False, True, False, True, 1)}, {(False, True, False, False, 1)}, {(False, True, False, False, 1)},
        {(False, True, True, False, 1)}]
