"""Resource profiles: stages of one application with other executors and tasks (firesteel/resource.h)."""
import json
import os
import subprocess

import pytest

from folders import BIN


PROFILES = r"""
#include <firesteel/firesteel.h>
#include <stdio.h>
#include <string.h>

static int cpus(fst_task *task, int64_t i, fst_out *out) { fst_emit(out, (int64_t)fst_task_cpus(task)); return 0; }
static int by_two(fst_task *task, int64_t i, fst_out *out) { fst_emit(out, i % 2, i); return 0; }

static fst_resource_profile *tasks_of(fst_context *sc, double n)
{
        struct fst_task_amount task[] = {{"cpus", n}};
        return fst_resource_profile_new(sc, NULL, 0, task, 1);
}

static fst_resource_profile *executors_of(fst_context *sc, int64_t cores)
{
        struct fst_executor_amount executor[] = {{"cores", cores}, {"memory", 512}};
        struct fst_task_amount task[] = {{"cpus", 1}};
        return fst_resource_profile_new(sc, executor, 2, task, 1);
}

int main(int argc, char **argv)
{
        fst_context *sc = fst_context_new("profiles");
        fst_rdd *rows = fst_range_n(sc, 0, 4, 4);
        int64_t n = 0;

        if (strcmp(argv[1], "tasks") == 0) {
                fst_resource_profile *three = tasks_of(sc, 3);
                fst_rdd *used = fst_map(fst_with_resources(rows, three), cpus, FST_I64);
                fst_sum(used, &n);
                printf("%lld %d %d %d\n", (long long)n, fst_resource_profile_id(three),
                       fst_rdd_resource_profile(rows) == three, fst_rdd_resource_profile(used) == NULL);
        } else if (strcmp(argv[1], "executors") == 0) {
                fst_count(fst_with_resources(rows, executors_of(sc, 1)), &n);
                printf("%lld\n", (long long)n);
        } else if (strcmp(argv[1], "conflict") == 0) {
                fst_rdd *a = fst_with_resources(rows, tasks_of(sc, 1));
                fst_sum(fst_with_resources(fst_map(a, cpus, FST_I64), tasks_of(sc, 2)), &n);
                printf("%lld\n", (long long)n);
        } else if (strcmp(argv[1], "shuffle") == 0) {
                fst_rdd *a = fst_with_resources(fst_map(rows, by_two, FST_PAIR(I64, I64)), tasks_of(sc, 1));
                fst_count(fst_with_resources(fst_reduce_by_key(a, fst_fn_sum), tasks_of(sc, 2)), &n);
                printf("%lld\n", (long long)n);
        } else {
                printf("%d\n", tasks_of(sc, 1.5) == NULL);
        }
        return fst_context_stop(sc);
}
"""


@pytest.fixture(scope="module", name="app")
def build(tmp_path_factory):
    path = tmp_path_factory.mktemp("profiles") / "profiles.c"
    path.write_text(PROFILES)
    return path


def submit(app, mode, master, *conf, status=0):
    command = [os.path.join(BIN, "spark-submit"), "--master", master]
    for setting in ("spark.ui.enabled=false", "spark.eventLog.compress=false", *conf):
        command += ["--conf", setting]
    done = subprocess.run([*command, str(app), mode], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == status, done.stderr
    return done


def events(log):
    file, = [os.path.join(folder, name) for folder, _, names in os.walk(log) for name in names if "events" in name]
    with open(file, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def test_a_task_profile_runs_on_the_executors_of_the_application(app, tmp_path):
    done = submit(app, "tasks", "local-cluster[1,4,1024]", "spark.eventLog.enabled=true",
                  f"spark.eventLog.dir={tmp_path}")
    assert done.stdout == "12 1 1 1\n"
    log = events(tmp_path)
    added = [event for event in log if event["Event"] == "SparkListenerResourceProfileAdded"]
    assert [event["Resource Profile Id"] for event in added] == [0, 1]
    assert added[1]["Executor Resource Requests"] == {}
    assert added[1]["Task Resource Requests"] == {"cpus": {"Resource Name": "cpus", "Amount": 3.0}}
    stages = [event["Stage Info"] for event in log if event["Event"] == "SparkListenerStageCompleted"]
    assert [stage["Resource Profile Id"] for stage in stages] == [1]


def test_executors_of_a_profile_are_requested(app, tmp_path):
    done = submit(app, "executors", "local-cluster[1,2,1024]", "spark.eventLog.enabled=true",
                  f"spark.eventLog.dir={tmp_path}", "spark.dynamicAllocation.enabled=true", "spark.executor.cores=1",
                  "spark.executor.memory=512m", "spark.dynamicAllocation.initialExecutors=1",
                  "spark.dynamicAllocation.shuffleTracking.enabled=true")
    assert done.stdout == "4\n"
    log = events(tmp_path)
    executors = {event["Executor ID"]: event["Executor Info"]["Resource Profile Id"]
                 for event in log if event["Event"] == "SparkListenerExecutorAdded"}
    used = {executors[event["Task Info"]["Executor ID"]] for event in log if event["Event"] == "SparkListenerTaskEnd"}
    assert used == {1}


@pytest.mark.parametrize("mode, text", [
    ("tasks", "TaskResourceProfiles are only supported for Standalone, Yarn and Kubernetes cluster for now when dynamic "
              "allocation is disabled."),
    ("executors", "ResourceProfiles are only supported on YARN and Kubernetes and Standalone with dynamic allocation "
                  "enabled."),
])
def test_local_masters_refuse_profiles(app, mode, text):
    assert text in submit(app, mode, "local[2]", status=1).stderr


def test_profiles_of_executors_need_dynamic_allocation(app):
    done = submit(app, "executors", "local-cluster[1,1,1024]", status=1)
    assert "ResourceProfiles are only supported on YARN and Kubernetes and Standalone with dynamic" in done.stderr


def test_a_task_that_no_executor_can_run_is_refused(app):
    done = submit(app, "tasks", "local-cluster[1,2,1024]", "spark.executor.cores=2", status=1)
    assert "The number of cores per executor (=2) has to be >= the number of cpus per task = 3." in done.stderr


def test_profiles_of_one_stage_conflict_or_are_merged(app):
    done = submit(app, "conflict", "local-cluster[1,2,1024]", status=1)
    assert "Multiple ResourceProfiles specified in the RDDs for this stage" in done.stderr
    done = submit(app, "conflict", "local-cluster[1,2,1024]", "spark.scheduler.resource.profileMergeConflicts=true")
    assert done.stdout == "8\n"
    assert submit(app, "shuffle", "local-cluster[1,2,1024]").stdout == "2\n"


def test_fractions_above_one_are_refused(app):
    done = submit(app, "fraction", "local[1]", status=1)
    assert done.stdout == "1\n"
    assert "The resource amount 1.5 must be either <= 1.0, or a whole number." in done.stderr
