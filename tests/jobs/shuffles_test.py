"""Shuffles between executors: written and read data, metrics, and removal of unused outputs. Includes cases of Spark's
ShuffleSuite, and those of its ContextCleanerSuite that concern several executors."""
import json
import os
import subprocess

import pytest

from folders import BIN
from shuffle_service import Service

CLUSTER = "local-cluster[2,1,1024]"

APP = r"""
#include <firesteel/firesteel.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int twice(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, x, x * 2);
        return 0;
}

static int one(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, x, 1);
        return 0;
}

static int hundred(fst_task *task, int64_t x, fst_out *out)
{
        for (int i = 0; i < 100; i++)
                fst_emit(out, x, 1);
        return 0;
}

/* 0 … 3 to key 0, 4 … 7 to key 1, and so on. */
static int by_four(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, x / 4, x);
        return 0;
}

static int64_t sum_of_list(fst_task *task, int64_t key, fst_bytes list)
{
        int64_t x, sum = key * 1000;
        for (fst_list l = fst_list_of(list, FST_I64); fst_list_next(&l, &x);)
                sum += x;
        return sum;
}

/* As many partitions as that on both sides, of which hardly any has a row. */
static void few(fst_context *sc, int partitions)
{
        int64_t n = -1;
        fst_count(fst_partition_by(fst_map(fst_range_n(sc, 1, 5, partitions), twice, FST_PAIR(I64, I64)), partitions), &n);
        printf("%lld\n", (long long)n);
}

static void groups(fst_context *sc)
{
        fst_iter *rows;
        int64_t x;
        fst_rdd *pairs = fst_map(fst_range_n(sc, 0, 10, 4), by_four, FST_PAIR(I64, I64));
        fst_rdd *sums = fst_map(fst_group_by_key_n(pairs, 4), sum_of_list, FST_I64);
        if (fst_take_ordered(sums, 10, &rows) == 0)
                while (fst_next(rows, &x))
                        printf("%lld\n", (long long)x);
}

static void count_groups(fst_context *sc)
{
        int64_t n = -1;
        fst_count(fst_group_by_key(fst_map(fst_range_n(sc, 0, 10000, 4), one, FST_PAIR(I64, I64))), &n);
        printf("%lld\n", (long long)n);
}

static void count_keys(fst_context *sc)
{
        fst_map *counts;
        if (fst_count_by_key(fst_flat_map(fst_range_n(sc, 0, 10000, 4), hundred, FST_PAIR(I64, I64)), &counts) == 0)
                printf("%lld\n", (long long)fst_map_count(counts));
}

/* ------------------------------------------------------------------------------------------- what is not needed */

static int named(fst_task *task, int64_t x, fst_out *out)
{
        char text[96];
        snprintf(text, sizeof(text), "a rather long name of many bytes, so that memory does not hold them: %lld", (long long)x);
        fst_emit(out, x, text);
        return 0;
}

static int64_t pid_of(fst_task *task, int64_t x)
{
        usleep(1000);
        return getpid();
}

/* Files that executors have open in @dir, and that have no name there any more. */
static int open_files(const int64_t *pids, int n, const char *dir)
{
        int found = 0;
        for (int i = 0; i < n; i++) {
                char pattern[64], to[4096];
                glob_t files;
                snprintf(pattern, sizeof(pattern), "/proc/%lld/fd/*", (long long)pids[i]);
                if (glob(pattern, 0, NULL, &files))
                        continue;
                for (size_t k = 0; k < files.gl_pathc; k++) {
                        ssize_t length = readlink(files.gl_pathv[k], to, sizeof(to) - 1);
                        to[length < 0 ? 0 : length] = 0;
                        found += strncmp(to, dir, strlen(dir)) == 0 && strstr(to, "(deleted)");
                }
                globfree(&files);
        }
        return found;
}

/* And those that have one, of a shuffle service. */
static int kept_files(const char *dir)
{
        char pattern[4096];
        glob_t found;
        snprintf(pattern, sizeof(pattern), "%s/*/*/shuffle_*", dir);
        int n = glob(pattern, 0, NULL, &found) ? 0 : (int)found.gl_pathc;
        if (n)
                globfree(&found);
        return n;
}

static int files(const int64_t *pids, int n, const char *dir)
{
        return open_files(pids, n, dir) + kept_files(dir);
}

/* RDDs with shuffles come and go, one that stays among them; says which files there are on the way. */
static void release(fst_context *sc, const char *dir)
{
        int64_t pids[2] = {0}, pid, n = 0;
        int executors = 0;
        fst_iter *rows;
        for (int tries = 0; tries < 100 && executors < 2; tries++) {
                if (fst_collect(fst_map(fst_range_n(sc, 0, 40, 40), pid_of, FST_I64), &rows))
                        return;
                while (fst_next(rows, &pid)) {
                        int i = 0;
                        while (i < executors && pids[i] != pid)
                                i++;
                        if (i == executors && executors < 2)
                                pids[executors++] = pid;
                }
        }
        int none = files(pids, executors, dir);
        fst_rdd *texts = fst_map(fst_range_n(sc, 0, 100000, 4), named, FST_PAIR(I64, BYTES));
        fst_rdd *stays = fst_partition_by(texts, 3);
        fst_count(stays, &n);
        int before = files(pids, executors, dir);
        for (int i = 0; i < 3; i++) {
                int scope = fst_scope_begin(sc);
                fst_rdd *sorted = fst_sort_by_key(fst_partition_by(texts, 4 + i), FST_ASCENDING);
                fst_count(sorted, &n);
                int during = files(pids, executors, dir);
                fst_scope_end(sc, scope, NULL);
                int waits = 0;
                while (files(pids, executors, dir) > before && waits++ < 3000)
                        usleep(10000);
                printf("%lld rows on %d executors, %s before, %s with it, %s left\n", (long long)n, executors,
                       before > none ? "some" : "none", during > before ? "more" : "no more",
                       files(pids, executors, dir) == before ? "as many" : "others");
        }
        fst_count(stays, &n);
        fst_release(stays);
        int waits = 0;
        while (files(pids, executors, dir) > none && waits++ < 3000)
                usleep(10000);
        printf("%lld rows, then %s\n", (long long)n, files(pids, executors, dir) == none ? "nothing" : "something");
}

int main(int argc, char **argv)
{
        fst_context *sc = fst_context_new("shuffles");
        if (strcmp(argv[1], "few") == 0)
                few(sc, atoi(argv[2]));
        else if (strcmp(argv[1], "groups") == 0)
                groups(sc);
        else if (strcmp(argv[1], "count-groups") == 0)
                count_groups(sc);
        else if (strcmp(argv[1], "count-keys") == 0)
                count_keys(sc);
        else
                release(sc, argv[2]);
        fflush(stdout);
        return fst_context_stop(sc);
}
"""


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    source = tmp_path_factory.mktemp("app") / "shuffles.c"
    source.write_text(APP)
    return str(source)


def run(app, *words, master=CLUSTER, conf=()):
    """Returns the output, and the metrics of successful tasks."""
    options = [word for setting in ("spark.log.level=WARN", "spark.locality.wait=0",
                                    "spark.scheduler.minRegisteredResourcesRatio=1",
                                    "spark.scheduler.maxRegisteredResourcesWaitingTime=600s", *conf)
               for word in ("--conf", setting)]
    done = subprocess.run([os.path.join(BIN, "spark-submit"), "--master", master, *options, app, *map(str, words)],
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def logged(folder):
    """Settings for an event log there, and a function that sums up a metric over all tasks."""
    def total(*names):
        path, = (os.path.join(folder, entry) for entry in os.listdir(folder))
        found = []
        with open(path) as lines:
            for event in map(json.loads, lines):
                if event["Event"] == "SparkListenerTaskEnd":
                    value = event["Task Metrics"]
                    for name in names:
                        value = value[name]
                    found.append(value)
        return found
    return ["spark.eventLog.enabled=true", f"spark.eventLog.dir={folder}", "spark.eventLog.compress=false",
            "spark.eventLog.rolling.enabled=false"], total


@pytest.mark.parametrize("partitions", [3, 201])    # 201: more than are written without being sorted by Spark
def test_blocks_without_rows_are_not_there(app, tmp_path, partitions):
    conf, metric = logged(tmp_path)
    assert run(app, "few", partitions, conf=conf) == "4\n"
    written = metric("Shuffle Write Metrics", "Shuffle Bytes Written")
    assert 1 <= sum(1 for size in written if size > 0) <= 4
    assert sum(metric("Shuffle Write Metrics", "Shuffle Records Written")) == 4
    fetched = metric("Shuffle Read Metrics", "Local Blocks Fetched") + metric("Shuffle Read Metrics", "Remote Blocks Fetched")
    assert 1 <= sum(fetched) <= 4


@pytest.mark.parametrize("compress", ["true", "false"])
@pytest.mark.parametrize("spill_compress", ["true", "false"])
@pytest.mark.parametrize("master", ["local[2]", CLUSTER])
def test_groups_are_the_same_however_shuffles_are_compressed(app, master, compress, spill_compress):
    conf = [f"spark.shuffle.compress={compress}", f"spark.shuffle.spill.compress={spill_compress}"]
    assert run(app, "groups", master=master, conf=conf) == "6\n1022\n2017\n"


@pytest.mark.parametrize("master", ["local[2]", CLUSTER])
@pytest.mark.parametrize("mode", ["count-groups", "count-keys"])    # without and with combining before the write
def test_what_is_written_is_what_is_read(app, tmp_path, mode, master):
    conf, metric = logged(tmp_path)
    assert run(app, mode, master=master, conf=conf) == "10000\n"
    read = "Shuffle Read Metrics"
    assert sum(metric("Shuffle Write Metrics", "Shuffle Records Written")) == 10000
    assert sum(metric(read, "Total Records Read")) == 10000
    written = sum(metric("Shuffle Write Metrics", "Shuffle Bytes Written"))
    assert written == sum(metric(read, "Local Bytes Read")) + sum(metric(read, "Remote Bytes Read")) > 0


RELEASED = "100000 rows on 2 executors, some before, more with it, as many left\n" * 3 + "100000 rows, then nothing\n"
LITTLE = ["spark.executor.memory=32m", "spark.memory.fraction=0.1", "spark.memory.storageFraction=0"]


def test_executors_forget_map_outputs_of_released_rdds(app, tmp_path):
    """Outputs on disk are unlinked files that executors have open."""
    assert run(app, "release", tmp_path, master="local-cluster[2,1,32]",
               conf=[*LITTLE, f"spark.local.dir={tmp_path}"]) == RELEASED


def test_executors_remove_files_of_a_shuffle_service(app, tmp_path):
    local = tmp_path / "local"
    local.mkdir()
    service = Service(tmp_path)
    try:
        assert run(app, "release", local, conf=[*service.conf(), f"spark.local.dir={local}"]) == RELEASED
    finally:
        service.end()


MANY = r"""
#include <firesteel/firesteel.h>
#include <stdlib.h>

static int pair(fst_task *task, int64_t i, fst_out *out)
{
        fst_emit(out, i, i);
        return 0;
}

int main(int argc, char **argv)
{
        fst_context *sc = fst_context_new("many");
        int64_t n = 0;
        fst_rdd *pairs = fst_map(fst_range_n(sc, 0, 2000, atoi(argv[1])), pair, FST_PAIR(I64, I64));
        fst_count(fst_reduce_by_key_n(pairs, fst_fn_sum, 1000), &n);
        return fst_context_stop(sc);
}
"""


@pytest.mark.parametrize("partitions, warned", [(1000, False), (1001, True)])
def test_a_shuffle_of_more_than_a_million_blocks_is_warned_of(tmp_path, partitions, warned):
    (tmp_path / "many.c").write_text(MANY)
    done = subprocess.run([os.path.join(BIN, "spark-submit"), "--master", "local[2]", str(tmp_path / "many.c"),
                           str(partitions)], text=True, capture_output=True, timeout=300, check=True)
    line = f"WARN SparkContext: reduce_by_key at many.c:16 shuffles {partitions} partitions into 1000, 1001000 blocks"
    assert (line in done.stderr) == warned, done.stderr
