"""Scheduling that needs more than one executor: barrier stages, custom resources, speculation, exclusion."""
import glob
import json
import os
import re
import subprocess

import pytest

from folders import BIN
from sanitizers import TSAN

BOTH = ["local[2]", "local-cluster[2,1,1024]"]
ALL_REGISTERED = ["spark.scheduler.minRegisteredResourcesRatio=1",
                  "spark.scheduler.maxRegisteredResourcesWaitingTime=600s"]  # before the first task

APPLICATION = r"""
#include <firesteel/firesteel.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int meet(fst_task *task, fst_iter *rows, fst_out *out)
{
        char mine[32], address[FST_BARRIER_ADDRESS], text[512];
        fst_bytes all[16];
        int64_t x, sum = 0;
        while (fst_next(rows, &x))
                sum += x;
        int n = fst_barrier_address(task, fst_task_partition(task), address);
        if (n < 0 || fst_barrier_wait(task) < 0)
                return -1;
        snprintf(mine, sizeof(mine), "%d=%lld", fst_task_partition(task), (long long)sum);
        if (fst_barrier_all_gather(task, (fst_bytes){mine, strlen(mine)}, all, 16) != n)
                return -1;
        int at = snprintf(text, sizeof(text), "%d %s", fst_task_partition(task), strrchr(address, ':'));
        for (int i = 0; i < n; i++)
                at += snprintf(text + at, sizeof(text) - (size_t)at, " %.*s", (int)all[i].len, all[i].data);
        fst_emit(out, ((fst_bytes){text, (size_t)at}));
        return 0;
}

/* Task 1 fails at the first attempt of its stage: in task 0's words, after it has ended, or while it waits. */
static int fails_once(fst_task *task, fst_iter *rows, fst_out *out)
{
        const int *waits = fst_captured(task);
        int64_t x, n = 0;
        while (fst_next(rows, &x))
                n++;
        if (task->info.stage_attempt == 0 && fst_task_partition(task) == 1) {
                usleep(100000);
                return fst_fail(task, "not the first time");
        }
        if ((*waits || task->info.stage_attempt > 0) && fst_barrier_wait(task) < 0)
                return -1;
        fst_emit(out, n);
        return 0;
}

static int kills_once(fst_task *task, fst_iter *rows, fst_out *out)
{
        if (task->info.stage_attempt == 0 && fst_task_partition(task) == 1) {
                usleep(100000);
                abort();
        }
        if (fst_barrier_wait(task) < 0)
                return -1;
        fst_emit(out, (int64_t)1);
        return 0;
}

static int alone(fst_task *task, fst_iter *rows, fst_out *out)
{
        if (fst_task_partition(task) == 1)
                usleep(1500000);
        else if (fst_barrier_wait(task) < 0)
                return -1;
        return 0;
}

static int no_gang(fst_task *task, int64_t x) { return fst_barrier_wait(task); }

static int slow_first(fst_task *task, int64_t x, fst_out *out)
{
        if (x == 7 && fst_task_attempt(task) == 0)
                for (int i = 0; i < 2000 && !fst_task_interrupted(task); i++)
                        usleep(10000);
        usleep(20000);
        fst_emit(out, x);
        return 0;
}

static int reads(fst_task *task, fst_bytes line, fst_out *out)
{
        usleep(1000);
        fst_emit(out, line);
        return 0;
}

static int on_first(fst_task *task, int64_t x)
{
        const char *bad = getenv("GANG_BAD");
        FILE *f = fopen(bad, "r");
        int pid = 0;
        if (f && fscanf(f, "%d", &pid) != 1)
                pid = 0;
        if (f) {
                fclose(f);
        } else if (x == 0) {
                f = fopen(bad, "w");
                fprintf(f, "%d", pid = (int)getpid());
                fclose(f);
        }
        usleep(30000);
        return pid == (int)getpid() ? fst_fail(task, "this executor is bad") : 0;
}

static int64_t who(fst_task *task, int64_t x)
{
        usleep(30000);
        return (int64_t)getpid();
}

/* Jobs, until two executors run their tasks: the one that replaces another takes its time to come. */
static void until_two_work(fst_context *sc)
{
        for (bool two = false; !two;) {
                int64_t first = 0;
                fst_iter *pids;
                if (fst_collect(fst_map(fst_range_n(sc, 0, 4, 4), who, FST_I64), &pids))
                        return;
                for (int64_t pid; fst_next(pids, &pid); first = pid)
                        two |= first && pid != first;
        }
}

static int which(fst_task *task, int64_t x, fst_out *out)
{
        const char *addresses[4];
        char text[128];
        int n = fst_task_resource(task, "gpu", addresses, 4);
        int at = snprintf(text, sizeof(text), "%d:", (int)getpid());
        for (int i = 0; i < n; i++)
                at += snprintf(text + at, sizeof(text) - (size_t)at, "%s%s", i ? "," : "", addresses[i]);
        usleep(100000);
        fst_emit(out, ((fst_bytes){text, (size_t)at}));
        return 0;
}

static void print(fst_rdd *lines)
{
        fst_iter *rows;
        fst_bytes line;
        if (fst_collect(lines, &rows) == 0)
                while (fst_next(rows, &line))
                        printf("%.*s\n", (int)line.len, line.data);
}

int main(int argc, char **argv)
{
        fst_context *sc = fst_context_new("gang");
        const char *what = argv[1];
        int waits = argc > 2 && strcmp(argv[2], "waits") == 0;
        fst_rdd *numbers = fst_range_n(sc, 0, 100, 2);
        int64_t n = -1;
        if (strcmp(what, "driver") == 0) {
                const char *gpus[4];
                int found = fst_context_resource(sc, "gpu", gpus, 4);
                printf("%d", found);
                for (int i = 0; i < found; i++)
                        printf(" %s", gpus[i]);
                printf(" %d\n", fst_context_resource(sc, "fpga", gpus, 4));
        } else if (strcmp(what, "meet") == 0) {
                print(fst_barrier_map_partitions(numbers, meet, FST_BYTES));
        } else if (strcmp(what, "again") == 0) {
                fst_rdd *rdd = fst_barrier_map_partitions(numbers, FST_WITH(fails_once, waits), FST_I64);
                fst_iter *rows;
                fst_count(rdd, &n);
                printf("%lld", (long long)n);
                fst_reduce(rdd, fst_fn_sum, &n);
                printf(" %lld", (long long)n);
                if (fst_collect(rdd, &rows) == 0)
                        while (fst_next(rows, &n))
                                printf(" %lld", (long long)n);
                printf("\n");
                fst_save_as_text_file(rdd, argv[3]);
        } else if (strcmp(what, "crash") == 0) {
                fst_count(fst_barrier_map_partitions(numbers, kills_once, FST_I64), &n);
                printf("%lld\n", (long long)n);
        } else if (strcmp(what, "alone") == 0) {
                fst_count(fst_barrier_map_partitions(numbers, alone, FST_I64), &n);
        } else if (strcmp(what, "nogang") == 0) {
                fst_foreach(numbers, no_gang);
        } else if (strcmp(what, "coalesce") == 0) {
                fst_count(fst_coalesce(fst_barrier_map_partitions(numbers, meet, FST_BYTES), 1), &n);
        } else if (strcmp(what, "union") == 0) {
                fst_rdd *rdd = fst_barrier_map_partitions(numbers, meet, FST_BYTES);
                fst_count(fst_union(rdd, rdd), &n);
        } else if (strcmp(what, "large") == 0) {
                fst_count(fst_barrier_map_partitions(fst_range_n(sc, 0, 9, 3), alone, FST_I64), &n);
        } else if (strcmp(what, "slow") == 0) {
                fst_save_as_text_file(fst_flat_map(fst_range_n(sc, 0, 8, 8), slow_first, FST_I64), argv[2]);
        } else if (strcmp(what, "reads") == 0) {
                fst_count(fst_flat_map(fst_text_file(sc, argv[2]), reads, FST_BYTES), &n);
                printf("%lld\n", (long long)n);
        } else if (strcmp(what, "bad") == 0) {
                fst_foreach(fst_range_n(sc, 0, 12, 12), on_first);
                until_two_work(sc);
        } else if (strcmp(what, "which") == 0) {
                print(fst_flat_map(fst_range_n(sc, 0, 8, 8), which, FST_BYTES));
        }
        return fst_context_stop(sc) ? 1 : 0;
}
"""


@pytest.fixture(scope="module")
def gang(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gang")
    source = folder / "gang.c"
    source.write_text(APPLICATION)
    environment = dict(os.environ, TMPDIR=str(folder))

    def run(*arguments, master="local-cluster[2,1,1024]", conf=(), env=(), status=0):
        command = [os.path.join(BIN, "spark-submit"), "--master", master, "--conf", f"spark.local.dir={folder}"]
        for one in conf:
            command += ["--conf", one]
        done = subprocess.run([*command, str(source), *map(str, arguments)], capture_output=True, text=True,
                              timeout=120, env={**environment, **dict(env)})
        assert (done.returncode != 0) == (status != 0), done.stderr
        return done
    return run


def parts(folder):
    return [open(name).read().split() for name in sorted(glob.glob(f"{folder}/part-*"))]


@pytest.mark.parametrize("master", BOTH)
@pytest.mark.parametrize("isolation", ["none", "process"])
def test_a_gang_meets_and_gathers(gang, master, isolation):
    if TSAN and isolation == "process" and master.startswith("local["):
        pytest.skip("a driver has threads when it forks task processes")
    lines = gang("meet", master=master, conf=[f"spark.firesteel.task.isolation={isolation}"]).stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["0", "1"]
    assert all(line.split()[2:] == ["0=1225", "1=3725"] for line in lines)
    if master != "local[2]":
        assert lines[0].split()[1] != lines[1].split()[1]  # two executors


@pytest.mark.parametrize("master", BOTH)
@pytest.mark.parametrize("how", ["waits", "ends"])
def test_all_of_a_gang_runs_again(gang, tmp_path, master, how):
    done = gang("again", how, tmp_path / "out", master=master, conf=traced(tmp_path))
    assert_replays(tmp_path)
    assert done.stdout.split() == ["2", "100", "50", "50"]  # nothing is counted twice
    assert parts(tmp_path / "out") == [["50"], ["50"]]
    assert done.stderr.count("not the first time") >= 4


def test_a_gang_survives_its_executor(gang):
    assert gang("crash").stdout == "2\n"


@pytest.mark.parametrize("master", BOTH)
def test_what_gangs_cannot_do(gang, master):
    for chain in ("coalesce", "union"):
        assert "SPARK-24820" in gang(chain, master=master, status=1).stderr
    assert "fst_barrier_map_partitions" in gang("nogang", master=master, status=1).stderr
    few = ["spark.scheduler.barrier.maxConcurrentTasksCheck.interval=1s",
           "spark.scheduler.barrier.maxConcurrentTasksCheck.maxFailures=1"]
    assert "SPARK-24819" in gang("large", master=master, conf=few, status=1).stderr
    late = gang("alone", master=master, conf=["spark.barrier.sync.timeout=1s", "spark.stage.maxConsecutiveAttempts=1"],
                status=1)
    assert "The coordinator didn't get all barrier sync requests for barrier epoch 0" in late.stderr


def test_exclusion_needs_more_task_failures_than_attempts_on_a_node(gang):
    conf = ["spark.excludeOnFailure.enabled=true", "spark.excludeOnFailure.task.maxTaskAttemptsPerNode=3",
            "spark.task.maxFailures=3"]
    done = gang("meet", conf=conf, status=1)
    assert ("spark.excludeOnFailure.task.maxTaskAttemptsPerNode ( = 3) was >= spark.task.maxFailures ( = 3 )."
            in done.stderr)


def test_barrier_stage_with_dynamic_allocation_is_refused_at_once(gang):
    dynamic = ["spark.dynamicAllocation.enabled=true", "spark.dynamicAllocation.shuffleTracking.enabled=true"]
    done = gang("crash", conf=dynamic, status=1)
    assert "[SPARK-24942]: Barrier execution mode does not support dynamic resource allocation" in done.stderr
    assert "Will retry later" not in done.stderr
    # As in Spark, local mode ignores the key and has no dynamic allocation.
    gang("meet", master="local[2]", conf=dynamic)


def gpus(tmp_path, n):
    script = tmp_path / "gpus.sh"
    addresses = ", ".join(f'"g{i}"' for i in range(n))
    script.write_text(f"#!/bin/sh\necho '{{\"name\": \"gpu\", \"addresses\": [{addresses}]}}'\n")
    script.chmod(0o755)
    return script


def resources(worker, executor, task, script):
    return [f"spark.worker.resource.gpu.amount={worker}", f"spark.worker.resource.gpu.discoveryScript={script}",
            f"spark.executor.resource.gpu.amount={executor}", f"spark.task.resource.gpu.amount={task}"]


@pytest.mark.parametrize("isolation", ["none", "process"])
def test_tasks_have_addresses_of_their_own(gang, tmp_path, isolation):
    """Two workers of four GPUs, each with two executors of two cores and two GPUs: one for each task."""
    conf = resources(4, 2, 1, gpus(tmp_path, 4)) + ["spark.executor.cores=2", "spark.executor.memory=256m",
                                                    f"spark.firesteel.task.isolation={isolation}"]
    lines = gang("which", master="local-cluster[2,4,1024]", conf=conf).stdout.split()
    assert len(lines) == 8 and all(re.fullmatch(r"\d+:g[0-3]", line) for line in lines)
    if isolation == "none":
        of = {}
        for line in lines:
            process, gpu = line.split(":")
            of.setdefault(process, set()).add(gpu)
        assert all(seen <= {"g0", "g1"} or seen <= {"g2", "g3"} for seen in of.values())


def test_parts_of_an_address_are_shared(gang, tmp_path):
    lines = gang("which", master="local-cluster[1,4,1024]",
                 conf=resources(1, 1, 0.5, gpus(tmp_path, 1))).stdout.split()
    assert {line.split(":")[1] for line in lines} == {"g0"}


def test_resources_that_there_are_not(gang, tmp_path):
    script = gpus(tmp_path, 1)
    gang("which", conf=["spark.executor.resource.gpu.amount=0"])
    assert "each worker has 0" in gang("which", conf=["spark.executor.resource.gpu.amount=1"], status=1).stderr
    assert "less than what the user requested" in gang("which", conf=resources(2, 1, 1, script), status=1).stderr
    assert "needs to be >=" in gang("which", conf=resources(1, 1, 2, script), status=1).stderr
    assert "No executor resource configs" in gang("which", conf=["spark.task.resource.gpu.amount=1"], status=1).stderr
    assert "local master" in gang("which", master="local[2]", conf=["spark.task.resource.gpu.amount=1"],
                                  status=1).stderr
    script.write_text("#!/bin/sh\necho nothing\n")
    assert "Error parsing JSON" in gang("which", conf=resources(1, 1, 1, script), status=1).stderr


@pytest.mark.parametrize("master", ["local[2]", "local-cluster[1,1,1024]"])
def test_driver_discovers_its_resources(gang, tmp_path, master):
    amount = "spark.driver.resource.gpu.amount"
    script = gpus(tmp_path, 3)
    conf = [f"{amount}=2", f"spark.driver.resource.gpu.discoveryScript={script}"]
    done = gang("driver", master=master, conf=conf)
    assert done.stdout == "3 g0 g1 g2 0\n"
    assert "ResourceUtils: Custom resources for spark.driver:\ngpu -> [name: gpu, addresses: g0,g1,g2]\n" in done.stderr
    script.write_text(script.read_text().replace("#!/bin/sh\n", ""))  # then a shell reads it
    assert gang("driver", master=master, conf=conf).stdout == "3 g0 g1 g2 0\n"
    assert gang("driver", master=master).stdout == "0 0\n"
    assert gang("driver", master=master, conf=[f"{amount}=0"]).stdout == "0 0\n"
    file = tmp_path / "resources.json"
    file.write_text('[{"id": {"componentName": "spark.driver", "resourceName": "gpu"}, "addresses": ["7"]}]')
    assert gang("driver", master=master, conf=[f"{amount}=1", f"spark.driver.resourcesFile={file}"]).stdout == "1 7 0\n"


def test_driver_without_resources_that_it_needs_does_not_start(gang, tmp_path):
    script = gpus(tmp_path, 1)
    name = f"spark.driver.resource.gpu.discoveryScript={script}"
    for conf, message in ((["spark.driver.resource.gpu.amount=1"], "spark.driver.resource.gpu.discoveryScript"),
                          (["spark.driver.resource.gpu.amount=2", name], "less than what the user requested"),
                          (["spark.driver.resource.gpu.amount=many", name], "spark.driver.resource.gpu.amount is 'many'"),
                          (["spark.driver.resource.gpu.amount=1", f"{name}x"], "doesn't exist"),
                          (["spark.driver.resourcesFile=/nowhere"], "/nowhere")):
        assert message in gang("driver", master="local[2]", conf=conf, status=1).stderr


def events(folder):
    names = glob.glob(f"{folder}/**/*", recursive=True)
    lines = []
    for name in sorted(n for n in names if os.path.isfile(n) and "appstatus" not in n):
        lines += [json.loads(line) for line in open(name)]
    return lines


def logged(folder):
    return ["spark.eventLog.enabled=true", f"spark.eventLog.dir={folder}", "spark.eventLog.compress=false"]


def traced(folder):
    return [f"spark.firesteel.scheduler.trace={folder / 'trace'}"]


def assert_replays(folder):
    """Checks that a replay makes the same decisions."""
    told = subprocess.run([os.path.join(BIN, "firesteel"), "simulate", "--replay", folder / "trace"],
                          capture_output=True, text=True, timeout=120)
    assert told.returncode == 0 and re.search(r"diverged\s+0\n", told.stdout), told


def test_executors_tell_where_their_logs_are(gang, tmp_path):
    folder = tmp_path / "log"
    folder.mkdir()
    gang("which", conf=logged(folder) + ALL_REGISTERED,
         env=[("SPARK_LOG_URL_STDOUT", "http://there/out"), ("SPARK_EXECUTOR_ATTRIBUTE_container_id", "c1")])
    added = [e["Executor Info"] for e in events(folder) if e["Event"] == "SparkListenerExecutorAdded"]
    assert len(added) == 2
    assert all(e["Log Urls"] == {"stdout": "http://there/out"} and e["Attributes"] == {"CONTAINER_ID": "c1"} for e in added)


def test_a_slow_task_is_overtaken(gang, tmp_path):
    """Partition 7 sleeps 20 s at its first attempt: another attempt wins, the first is killed, and each part exists once."""
    folder = tmp_path / "log"
    folder.mkdir()
    conf = logged(folder) + ["spark.firesteel.localCluster.hosts=localhost,127.0.0.1", "spark.speculation=true", "spark.speculation.interval=50ms",
                             "spark.speculation.quantile=0.5", "spark.speculation.minTaskRuntime=2s"]
    gang("slow", tmp_path / "out", conf=conf + traced(tmp_path))
    assert_replays(tmp_path)
    assert parts(tmp_path / "out") == [[str(i)] for i in range(8)]
    assert sorted(os.listdir(tmp_path / "out")) == ["_SUCCESS"] + [f"part-{i:05}" for i in range(8)]
    ends = [e for e in events(folder) if e["Event"] == "SparkListenerTaskEnd"]
    slow = [e for e in ends if e["Task Info"]["Index"] == 7]
    assert {(e["Task Info"]["Speculative"], e["Task End Reason"]["Reason"]) for e in slow} == {
        (True, "Success"), (False, "TaskKilled")}
    assert len({e["Task Info"]["Executor ID"] for e in slow}) == 2
    first = [e["Task Info"]["Index"] for e in ends if not e["Task Info"]["Speculative"]]
    succeeded = [e["Task Info"]["Index"] for e in ends if e["Task End Reason"]["Reason"] == "Success"]
    assert sorted(first) == sorted(succeeded) == list(range(8))  # on a busy machine others may be slow, too


@pytest.mark.parametrize("isolation", ["none", "process"])
@pytest.mark.parametrize("efficiency", [True, False])
def test_a_long_task_that_reads_as_fast_as_others_is_not_overtaken(gang, tmp_path, isolation, efficiency):
    """One file has 40 times the lines of the others. Heartbeats tell the driver that its task reads as fast as they do."""
    (tmp_path / "in").mkdir()
    (tmp_path / "log").mkdir()
    for i in range(4):
        (tmp_path / "in" / f"{i}").write_text("x\n" * (4000 if i == 3 else 100))
    conf = logged(tmp_path / "log") + [
        "spark.firesteel.localCluster.hosts=localhost,127.0.0.1", f"spark.firesteel.task.isolation={isolation}",
        "spark.executor.heartbeatInterval=100ms", "spark.speculation=true", "spark.speculation.interval=50ms",
        "spark.speculation.quantile=0.5", "spark.speculation.multiplier=2", "spark.speculation.minTaskRuntime=1s",
        "spark.speculation.efficiency.longRunTaskFactor=100", f"spark.speculation.efficiency.enabled={str(efficiency).lower()}"]
    done = gang("reads", tmp_path / "in", conf=conf + traced(tmp_path))
    assert done.stdout == "4300\n"
    assert_replays(tmp_path)
    starts = [e["Task Info"] for e in events(tmp_path / "log") if e["Event"] == "SparkListenerTaskStart"]
    overtaken = {s["Index"] for s in starts if s["Speculative"]}
    assert not overtaken if efficiency else overtaken and overtaken <= {3, 4}  # the two splits of the long file


@pytest.mark.parametrize("prefix, kill, more, end", [
    ("excludeOnFailure", "killExcludedExecutors", [], "Executor killed by driver."),
    ("excludeOnFailure", "killExcludedExecutors", ["killExcludedExecutors.decommission=true"],
     "Executor decommission: it is excluded"),
    ("blacklist", "killBlacklistedExecutors", [], "Executor killed by driver.")])
def test_an_executor_that_fails_is_excluded_and_replaced(gang, tmp_path, prefix, kill, more, end):
    folder = tmp_path / "log"
    folder.mkdir()
    settings = ["enabled=true", f"{kill}=true", "application.maxFailedTasksPerExecutor=2",
                "application.maxFailedExecutorsPerNode=5", "stage.maxFailedExecutorsPerNode=5",
                "task.maxTaskAttemptsPerNode=5", *more]
    conf = logged(folder) + [f"spark.{prefix}.{setting}" for setting in settings] + traced(tmp_path)
    conf += ["spark.task.maxFailures=6"]  # must exceed the attempts on a node, or the settings are refused
    conf += ALL_REGISTERED  # else the stage could run nowhere, which ends the bad executor for another reason
    gang("bad", conf=conf, env=[("GANG_BAD", str(tmp_path / "bad"))])
    assert_replays(tmp_path)
    seen = events(folder)
    short = [e["Event"].rsplit(".", 1)[-1] for e in seen]
    bad = next(e for e in seen if e["Event"].endswith("SparkListenerExecutorExcludedForStage"))
    assert bad["taskFailures"] == 2 and bad["stageId"] == 0
    whole = next(e for e in seen if e["Event"].endswith("SparkListenerExecutorExcluded"))
    assert whole["executorId"] == bad["executorId"]
    assert "SparkListenerExecutorBlacklisted" in short
    removed = next(e for e in seen if e["Event"] == "SparkListenerExecutorRemoved")
    assert removed["Executor ID"] == bad["executorId"] and removed["Removed Reason"] == end
    assert "SparkListenerBlockManagerRemoved" in short
    assert short.count("SparkListenerExecutorAdded") == 3
