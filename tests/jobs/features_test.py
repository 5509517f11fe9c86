"""Features beyond results: pools, retries, reuse, spilling, logs and event logs."""
import collections
import fcntl
import gzip
import json
import os
import pty
import re
import shutil
import struct
import subprocess
import termios

import pytest

from folders import BIN


FEATURES = r"""
#include <firesteel/firesteel.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static fst_context *sc;

static int nap(fst_task *task, int64_t i) { usleep(10000); return 0; }
static int long_nap(fst_task *task, int64_t i) { usleep(450000); return 0; }
static int third_time(fst_task *task, int64_t i)
{
        return i == 1 && fst_task_attempt(task) < 2 ? fst_fail(task, "not at attempt %d", fst_task_attempt(task)) : 0;
}
static int by_seven(fst_task *task, int64_t i, fst_out *out) { fst_emit(out, i % 7, 1); return 0; }
static int same(fst_task *task, fst_bytes line, fst_out *out) { fst_emit(out, line); return 0; }

static void *in_background(void *unused)
{
        fst_set_local_property(sc, "spark.scheduler.pool", "quick");
        fst_foreach(fst_range_n(sc, 0, 6, 6), nap);
        return NULL;
}

static void pools(void)
{
        pthread_t thread;
        pthread_create(&thread, NULL, in_background, NULL);
        fst_set_local_property(sc, "spark.scheduler.pool", "slow");
        fst_foreach(fst_range_n(sc, 0, 30, 30), nap);
        pthread_join(thread, NULL);
}

static void skip(void)
{
        int64_t n;
        fst_rdd *counts = fst_reduce_by_key(fst_map(fst_range_n(sc, 0, 100, 3), by_seven, FST_PAIR(I64, I64)), fst_fn_sum);
        fst_count(counts, &n);
        fst_count(counts, &n);
        printf("%lld\n", (long long)n);
}

/* The second count succeeds only if it does not need the file any more. */
static void persist(const char *path, bool keep)
{
        int64_t a = 0, b = 0;
        fst_rdd *lines = fst_flat_map(fst_text_file(sc, path), same, FST_BYTES);
        if (keep)
                fst_persist(lines, FST_STORAGE_MEMORY_AND_DISK);
        fst_count(lines, &a);
        unlink(path);
        fst_count(lines, &b);
        printf("%lld %lld\n", (long long)a, (long long)b);
}

static int scattered(fst_task *task, int64_t i, fst_out *out)
{
        char text[64];
        int len = snprintf(text, sizeof(text), "%010llu and so on", (unsigned long long)(i * 2654435761u % 4294967296u));
        fst_emit(out, ((fst_bytes){text, (size_t)len}), i);
        return 0;
}
static int64_t value(fst_task *task, fst_bytes key, int64_t i) { return i; }

/* One row a partition: how many rows it had, or -1 if they were not in order. */
static int in_order(fst_task *task, fst_iter *rows, fst_out *out)
{
        int64_t n = 0, i;
        char last[64] = "", now[64];
        for (fst_bytes key; fst_next(rows, &key, &i); n++) {
                snprintf(now, sizeof(now), "%.*s", (int)key.len, key.data);
                if (strcmp(last, now) > 0)
                        n = INT64_MIN / 2;
                memcpy(last, now, sizeof(now));
        }
        fst_emit(out, n);
        return fst_iter_status(rows);
}

static void spill(bool sort)
{
        int64_t n = 0;
        fst_rdd *rows = fst_map(fst_range_n(sc, 0, 1000000, 2), scattered, FST_PAIR(BYTES, I64));
        if (sort)
                fst_reduce(fst_map_partitions(fst_sort_by_key_n(rows, FST_ASCENDING, 2), in_order, FST_I64), fst_fn_sum, &n);
        else
                fst_reduce(fst_map(fst_reduce_by_key_n(rows, fst_fn_sum, 2), value, FST_I64), fst_fn_sum, &n);
        printf("%lld\n", (long long)n);
}

static void numbers(const char *out)
{
        double d[] = {0.1, 100, 1e7, 12345678.9, 1e-3, 1e-5, 1e300, NAN, INFINITY, -INFINITY, -0.0, 1.0 / 3, 5e-324};
        char path[4096];
        snprintf(path, sizeof(path), "%s/f64", out);
        fst_save_as_text_file(fst_parallelize_n(sc, d, sizeof(d) / sizeof(d[0]), 1), path);
        int64_t i[] = {0, -1, INT64_MAX, INT64_MIN};
        snprintf(path, sizeof(path), "%s/i64", out);
        fst_save_as_text_file(fst_parallelize_n(sc, i, 4, 1), path);
}

static void call_sites(void)
{
        int64_t n = 0;
        fst_set_local_property(sc, "callSite.short", "numbers of the report");
        fst_set_local_property(sc, "callSite.long", "numbers\nof the report");
        fst_rdd *spread = fst_repartition(fst_range_n(sc, 0, 10, 2), 3);
        fst_set_local_property(sc, "callSite.short", "sum of the report");
        fst_set_local_property(sc, "callSite.long", NULL);
        fst_count(spread, &n);
        fst_set_local_property(sc, "callSite.short", NULL);
        fst_count(spread, &n);
}

int main(int argc, char **argv)
{
        const char *mode = argv[1];
        int64_t n = -1;
        sc = fst_context_new("features");
        if (strcmp(mode, "pools") == 0)
                pools();
        else if (strcmp(mode, "skip") == 0)
                skip();
        else if (strcmp(mode, "persist") == 0 || strcmp(mode, "forget") == 0)
                persist(argv[2], mode[0] == 'p');
        else if (strcmp(mode, "sort") == 0 || strcmp(mode, "reduce") == 0)
                spill(mode[0] == 's');
        else if (strcmp(mode, "call sites") == 0)
                call_sites();
        else if (strcmp(mode, "numbers") == 0)
                numbers(argv[2]);
        else if (strcmp(mode, "retry") == 0)
                fst_foreach(fst_range_n(sc, 0, 3, 3), third_time);
        else if (strcmp(mode, "nap") == 0)
                fst_foreach(fst_range_n(sc, 0, 4, 4), long_nap);
        else if (strcmp(mode, "nap and report") == 0 && fst_foreach(fst_range_n(sc, 0, 4, 4), long_nap) == 0)
                fputs("over\n", stderr);
        else if (strcmp(mode, "count") == 0 && fst_count(fst_text_file(sc, argv[2]), &n) == 0)
                printf("%lld\n", (long long)n);
        return fst_context_stop(sc);
}
"""


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("features")
    (folder / "features.c").write_text(FEATURES)
    (folder / "conf").mkdir()
    done = subprocess.run([os.path.join(BIN, "firesteel"), "compile", "features.c", "-o", "features.so", "--", "-pthread"],
                          cwd=folder, env=environment(folder), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def environment(folder, conf="conf"):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK_", "MASTER", "DEPLOY_MODE"))}
    return dict(kept, XDG_CACHE_HOME=str(folder / "cache"), SPARK_CONF_DIR=str(folder / conf), LC_ALL="C")


def command(*words, master="local[2]", conf=(), level="WARN"):
    options = [word for setting in conf for word in ("--conf", setting)]
    level = ["--conf", f"spark.log.level={level}"] if level else []
    return [os.path.join(BIN, "spark-submit"), "--master", master, *level, *options, "features.so", *map(str, words)]


def submit(shared, *words, status=0, environ=None, **options):
    done = subprocess.run(command(*words, **options), cwd=shared, env=environ or environment(shared), text=True,
                          capture_output=True, timeout=120, check=False)
    assert done.returncode == status, done.stderr
    return done


def logged(tmp_path, *more):
    return ["spark.eventLog.enabled=true", f"spark.eventLog.dir={tmp_path}", "spark.eventLog.compress=false",
            "spark.eventLog.rolling.enabled=false", *more]


def events(tmp_path):
    """The events by name, in the order of the log."""
    log, = tmp_path.glob("local-*")
    found = collections.defaultdict(list)
    for line in log.read_text().splitlines():
        event = json.loads(line)
        found[event["Event"].replace("SparkListener", "")].append(event)
    return found


# --------------------------------------------------------------------------------------------------- scheduling

ALLOCATIONS = """<?xml version="1.0"?>
<allocations>
  <pool name="quick"><schedulingMode>FIFO</schedulingMode><weight>1</weight><minShare>1</minShare></pool>
  <pool name="slow"><schedulingMode>FIFO</schedulingMode><weight>1</weight><minShare>0</minShare></pool>
</allocations>
"""


@pytest.mark.parametrize("mode", ["FAIR", "FIFO"])
def test_pools_decide_whose_task_is_next(shared, tmp_path, mode):
    (tmp_path / "pools.xml").write_text(ALLOCATIONS)
    (tmp_path / "log").mkdir()
    submit(shared, "pools", master="local[1]", conf=logged(
        tmp_path / "log", f"spark.scheduler.mode={mode}", f"spark.scheduler.allocation.file={tmp_path}/pools.xml"))
    seen = events(tmp_path / "log")
    pool_of = {event["Stage IDs"][0]: event["Properties"]["spark.scheduler.pool"] for event in seen["JobStart"]}
    assert sorted(pool_of.values()) == ["quick", "slow"]
    order = [pool_of[event["Stage ID"]] for event in seen["TaskStart"]]
    assert collections.Counter(order) == {"quick": 6, "slow": 30}
    first = pool_of[seen["JobStart"][0]["Stage IDs"][0]]
    if mode == "FIFO":      # one job after another, in the order of submission
        assert order == sorted(order, key=lambda pool: pool != first)
    else:                   # the quick pool is served first as soon as it exists, so the slow one ends much later
        last_quick = len(order) - 1 - order[::-1].index("quick")
        assert order[last_quick:].count("slow") >= 15


def test_a_task_is_tried_again(shared, tmp_path):
    submit(shared, "retry", master="local[2,3]", conf=logged(tmp_path))
    ends = [(end["Task Info"]["Index"], end["Task Info"]["Attempt"], end["Task End Reason"]["Reason"])
            for end in events(tmp_path)["TaskEnd"]]
    assert sorted(end for end in ends if end[0] == 1) == [
        (1, 0, "ExceptionFailure"), (1, 1, "ExceptionFailure"), (1, 2, "Success")]
    assert len(ends) == 5
    done = submit(shared, "retry", master="local[2,2]", status=1)
    assert "Task 1 in stage 0.0 failed 2 times" in done.stderr and "not at attempt 1" in done.stderr


# ---------------------------------------------------------------------------------------------------- event log

@pytest.mark.parametrize("limit, status", [(2, 1), (3, 0)])
def test_event_log_has_environment_profile_and_exit_code(shared, tmp_path, limit, status):
    """As genuine logs, except for the properties of a JVM. Secrets of Hadoop's settings are hidden too."""
    conf = logged(tmp_path, "spark.executor.memory=2g", "spark.executor.cores=3", "spark.files=/etc/hostname",
                  "spark.hadoop.fs.s3a.endpoint=http://s3", "spark.hadoop.fs.s3a.secret.key=hush")
    submit(shared, "retry", master=f"local[2,{limit}]", conf=conf, status=status)
    seen = events(tmp_path)
    environment_update, = seen["EnvironmentUpdate"]
    assert environment_update["Spark Properties"]["spark.scheduler.mode"] == "FIFO"
    assert environment_update["Hadoop Properties"]["fs.s3a.endpoint"] == "http://s3"
    assert environment_update["Hadoop Properties"]["fs.s3a.secret.key"] == "*********(redacted)"
    assert environment_update["System Properties"]["os.name"] == "Linux"
    assert {path.split("/")[-1] for path, how in environment_update["Classpath Entries"].items()
            if how == "Added By User"} >= {"hostname"}
    assert environment_update["JVM Information"]["Scala Version"] == "none"
    profile, = seen["ResourceProfileAdded"]
    requests = {name: request["Amount"] for name, request in profile["Executor Resource Requests"].items()}
    assert requests == {"cores": 3, "memory": 2048, "offHeap": 0}
    assert profile["Task Resource Requests"]["cpus"]["Amount"] == 1.0
    assert [event["ExitCode"] for event in seen["ApplicationEnd"]] == [status]


def test_call_sites_of_local_properties_name_stages(shared, tmp_path):
    submit(shared, "call sites", conf=logged(tmp_path))
    stages = [event["Stage Info"] for event in events(tmp_path)["StageCompleted"]]
    assert [(stage["Stage Name"], stage["Details"]) for stage in stages[:2]] == [
        ("numbers of the report", "numbers\nof the report"), ("sum of the report", "sum of the report")]
    assert stages[2]["Stage Name"].startswith("count at features.c:")
    assert {rdd["Callsite"] for rdd in stages[0]["RDD Info"]} == {"numbers of the report"}


# -------------------------------------------------------------------------------------------------------- reuse

def test_a_shuffle_that_exists_is_not_computed_again(shared, tmp_path):
    assert submit(shared, "skip", conf=logged(tmp_path)).stdout == "7\n"
    seen = events(tmp_path)
    assert [len(event["Stage IDs"]) for event in seen["JobStart"]] == [2, 2]
    run = [event["Stage Info"]["Stage ID"] for event in seen["StageSubmitted"]]
    assert len(run) == 3 and len(set(run)) == 3
    assert len([stage for stage in seen["JobStart"][1]["Stage IDs"] if stage in run]) == 1


def test_a_persisted_rdd_is_not_read_again(shared, tmp_path):
    for mode in ("persist", "forget"):
        (tmp_path / f"{mode}.txt").write_text("a line\n" * 1000)
    assert submit(shared, "persist", tmp_path / "persist.txt", conf=logged(tmp_path)).stdout == "1000 1000\n"
    second = {event["Stage Info"]["Stage ID"] for event in events(tmp_path)["StageSubmitted"][1:]}
    assert len(second) == 1
    done = submit(shared, "forget", tmp_path / "forget.txt", status=1)
    assert done.stdout == "1000 0\n" and "forget.txt" in done.stderr


@pytest.mark.parametrize("codec", ["lz4", "zstd", "none"])
@pytest.mark.parametrize("mode, result", [("sort", "1000000\n"), ("reduce", f"{999999 * 500000}\n")])
def test_little_memory_means_spilling(shared, tmp_path, mode, result, codec):
    codec = ["spark.shuffle.compress=false", "spark.shuffle.spill.compress=false"] if codec == "none" else \
        [f"spark.io.compression.codec={codec}"]
    done = submit(shared, mode, conf=logged(tmp_path, "spark.driver.memory=64m", "spark.memory.fraction=0.3", *codec))
    assert done.stdout == result
    metrics = [end["Task Metrics"] for end in events(tmp_path)["TaskEnd"]]
    assert sum(m["Disk Bytes Spilled"] for m in metrics) > 0
    assert sum(m["Memory Bytes Spilled"] for m in metrics) >= sum(m["Disk Bytes Spilled"] for m in metrics) / 4


# ------------------------------------------------------------------------------------------------ input, output

@pytest.mark.parametrize("packer", ["gzip", "zstd", "lz4"])
def test_packed_input(shared, tmp_path, packer):
    text = "".join(f"line {i}\n" for i in range(30000))
    if packer == "gzip":    # two members, as from `cat a.gz b.gz`
        path = tmp_path / "in.gz"
        path.write_bytes(gzip.compress(text[:1000].encode()) + gzip.compress(text[1000:].encode()))
    else:
        if not shutil.which(packer):
            pytest.skip(f"the {packer} tool is not here")
        (tmp_path / "in").write_text(text)
        path = tmp_path / ("in.zst" if packer == "zstd" else "in.lz4")
        subprocess.run([packer, "-q", str(tmp_path / "in"), "-o" if packer == "zstd" else str(path)] +
                       ([str(path)] if packer == "zstd" else []), check=True)
    assert submit(shared, "count", path).stdout == "30000\n"


def test_numbers_are_printed_as_java_prints_them(shared, tmp_path):
    submit(shared, "numbers", tmp_path)
    assert (tmp_path / "f64/part-00000").read_text().split("\n") == [
        "0.1", "100.0", "1.0E7", "1.23456789E7", "0.001", "1.0E-5", "1.0E300", "NaN", "Infinity", "-Infinity", "-0.0",
        "0.3333333333333333", "4.9E-324", ""]
    assert (tmp_path / "i64/part-00000").read_text() == "0\n-1\n9223372036854775807\n-9223372036854775808\n"


# ---------------------------------------------------------------------------------------------------------- logs

def test_the_event_log_tells_the_whole_story(shared, tmp_path):
    submit(shared, "skip", conf=logged(tmp_path))
    seen = events(tmp_path)
    counts = {name: len(found) for name, found in seen.items()}
    assert counts["LogStart"] == counts["ApplicationStart"] == counts["ApplicationEnd"] == counts["EnvironmentUpdate"] == 1
    assert counts["JobStart"] == counts["JobEnd"] == 2
    assert counts["StageSubmitted"] == counts["StageCompleted"] == 3
    assert counts["TaskStart"] == counts["TaskEnd"] == 9
    assert [end["Job Result"]["Result"] for end in seen["JobEnd"]] == ["JobSucceeded"] * 2
    assert seen["ApplicationStart"][0]["App Name"] == "features"
    assert seen["EnvironmentUpdate"][0]["Spark Properties"]["spark.master"] == "local[2]"
    stage = seen["StageSubmitted"][0]["Stage Info"]
    assert re.fullmatch(r"reduce_by_key at features\.c:\d+|map at features\.c:\d+", stage["Stage Name"])
    for end in seen["TaskEnd"]:
        info, metrics = end["Task Info"], end["Task Metrics"]
        assert info["Launch Time"] <= info["Finish Time"] and not info["Failed"]
        assert {"Executor Run Time", "Shuffle Read Metrics", "Shuffle Write Metrics", "Input Metrics"} <= metrics.keys()


def test_the_event_log_may_roll(shared, tmp_path):
    submit(shared, "skip", conf=logged(tmp_path, "spark.eventLog.rolling.enabled=true"))
    folder, = tmp_path.iterdir()
    assert folder.name.startswith("eventlog_v2_local-")
    names = sorted(path.name for path in folder.iterdir())
    assert names[0].startswith("appstatus_local-") and names[1].startswith("events_1_local-") and len(names) == 2


def test_structured_lines_are_json(shared):
    lines = submit(shared, "skip", level="INFO", conf=["spark.log.structuredLogging.enabled=true", "spark.ui.enabled=false"]).stderr.splitlines()
    objects = [json.loads(line) for line in lines]
    assert len(objects) > 20
    assert all({"ts", "level", "msg", "logger"} <= entry.keys() for entry in objects)
    assert {"INFO"} == {entry["level"] for entry in objects}
    assert any(entry["logger"].endswith("DAGScheduler") for entry in objects)
    assert all(entry["context"]["app_id"].startswith("local-") for entry in objects[2:-1])  # the first two are logged before it has an id
    starts = [entry["context"] for entry in objects if entry["msg"].startswith(("Starting task", "Finished task"))]
    assert collections.Counter(entry["task_id"] for entry in starts) == {str(task): 2 for task in range(9)}
    assert all(entry["stage_id"].isdigit() for entry in starts)


def test_log4j2_sets_levels(shared):
    (shared / "quiet").mkdir()
    (shared / "quiet/log4j2.properties").write_text(
        "rootLogger.level = error\nlogger.sets.name = org.apache.spark.scheduler.TaskSetManager\n"
        "logger.sets.level = info\n")
    lines = submit(shared, "skip", level=None, environ=environment(shared, "quiet")).stderr.splitlines()
    assert len(lines) == 18     # starting and finishing each of 9 tasks
    assert all(" INFO TaskSetManager: " in line for line in lines)


def terminal_of(shared, mode):
    """What an application with a progress bar writes to its terminal."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    bar = ["spark.ui.showConsoleProgress=true"]
    with subprocess.Popen(command(mode, conf=bar), cwd=shared, env=environment(shared), stderr=theirs,
                          stdin=subprocess.DEVNULL) as process:
        os.close(theirs)
        seen = b""
        while True:
            try:
                more = os.read(ours, 4096)
            except OSError:     # the terminal's other end is closed
                break
            if not more:
                break
            seen += more
    os.close(ours)
    assert process.returncode == 0
    return seen


def test_a_terminal_has_a_progress_bar(shared):
    seen = terminal_of(shared, "nap")
    assert re.search(rb"\[Stage 0:=*>? *\(\d \+ 2\) / 4\]", seen), seen
    assert seen.split(b"\r")[-1] == b"\x1b[K"     # no trace of it remains


def test_the_progress_bar_is_erased_when_an_action_returns(shared):
    seen = terminal_of(shared, "nap and report")
    assert b"[Stage 0:" in seen
    assert seen.split(b"\r\x1b[K")[-1] == b"over\r\n", seen
