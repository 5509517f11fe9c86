"""firesteel simulate as a program: simulations, reports, and replays of traces of real runs."""
import json
import os
import resource
import subprocess

import pytest

from folders import BIN
from sanitizers import SANITIZED


APPLICATION = r"""
#include <firesteel/firesteel.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static fst_context *sc;

static int by_seven(fst_task *task, int64_t i, fst_out *out)
{
        if (i % 500 == 3 && fst_task_attempt(task) == 0)
                return fst_fail(task, "not at the first attempt");
        fst_emit(out, i % 7, 1);
        return 0;
}

static int nap(fst_task *task, int64_t i)
{
        usleep(2000);
        return i == 11 ? fst_fail(task, "never") : 0;
}

static void *in_background(void *unused)
{
        fst_foreach(fst_range_n(sc, 0, 40, 40), nap);
        return NULL;
}

int main(int argc, char **argv)
{
        pthread_t thread;
        int64_t n, m, rows;

        sc = fst_context_new("traced");
        fst_rdd *numbers = fst_persist(fst_map(fst_range_n(sc, 0, 4000, 16), by_seven, FST_PAIR(I64, I64)),
                                       FST_STORAGE_MEMORY_ONLY);
        fst_rdd *counts = fst_reduce_by_key(numbers, fst_fn_sum);
        pthread_create(&thread, NULL, in_background, NULL);
        fst_count(counts, &n);
        fst_count(counts, &m);
        fst_count(numbers, &rows);
        pthread_join(thread, NULL);
        fst_count(fst_sort_by_key(counts, FST_ASCENDING), &m);
        printf("%lld %lld %lld\n", (long long)n, (long long)m, (long long)rows);
        fst_context_stop(sc);
        return 0;
}
"""


def firesteel(*words, status=0):
    done = subprocess.run([os.path.join(BIN, "firesteel"), *map(str, words)], capture_output=True, text=True, timeout=120,
                          check=False)
    assert done.returncode == status, done.stderr
    return done


def simulate(*words, **more):
    return firesteel("simulate", *words, **more)


def report(*words):
    return json.loads(simulate(*words, "--output", "json").stdout)


@pytest.fixture(scope="module")
def traced(tmp_path_factory):
    """A job on local[4] whose tasks fail, with the trace of its scheduler."""
    folder = tmp_path_factory.mktemp("traced")
    (folder / "app.c").write_text(APPLICATION)
    trace = folder / "trace"
    done = subprocess.run([os.path.join(BIN, "spark-submit"), "--master", "local[4,3]",
                           "--conf", f"spark.firesteel.scheduler.trace={trace}", str(folder / "app.c")],
                          capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "7 7 4000\n", done.stderr
    return trace


def test_a_real_run_replays_to_the_same_decisions(traced):
    text = traced.read_text()
    assert text.startswith("firesteel-scheduler-trace 1\n") and text.endswith("\n")
    assert "not%20at%20the%20first%20attempt" in text and "\n= job_ended " in text and "\nend\n" in text
    again = report("--replay", traced)
    assert again["diverged"] == 0 and again["lines"] == text.count("\n")
    assert again["jobs"] >= 5 and again["placements"] > 80


def test_a_trace_that_was_changed_does_not_replay(traced, tmp_path):
    lines = traced.read_text().splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if line.startswith("= launch"))
    changed = tmp_path / "changed"
    changed.write_text("".join(lines[:at] + lines[at + 1:]))
    done = simulate("--replay", changed, status=1)
    assert f"line {at + 1}: the trace has " in done.stderr and f'the replay "{lines[at].strip()}"' in done.stderr
    (tmp_path / "none").write_text("hello\n")
    assert "not a scheduler trace" in simulate("--replay", tmp_path / "none", status=1).stderr
    assert "cannot read" in simulate("--replay", tmp_path / "missing", status=1).stderr
    assert f"cannot read {tmp_path}: Is a directory" in simulate("--replay", tmp_path, status=1).stderr


def test_a_trace_that_was_cut_off_replays_as_far_as_it_goes(traced, tmp_path):
    lines = traced.read_text().splitlines(keepends=True)
    (tmp_path / "cut").write_text("".join(lines[:len(lines) // 2]))
    assert report("--replay", tmp_path / "cut")["diverged"] == 0


def test_a_world_ends_and_is_reported():
    seen = report("--executors", 50, "--cores", 2, "--tasks", 5000, "--jobs", 3, "--stages", 4)
    assert seen["jobsSucceeded"] == 3 and seen["accepted"] == seen["placements"] == 5000
    assert seen["stageAttempts"] == 12 and seen["placementsPerSecond"] > 0
    assert SANITIZED or seen["bytesPerExecutor"] > 0  # a sanitizer's allocator does not say how much it has given
    assert "tasks placed                       1000\n" in simulate().stdout


def test_a_seed_is_a_run(tmp_path):
    for name in "ab":
        simulate("--seed", 5, "--task-failures", 0.1, "--death=0.5", "--trace", tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert report("--replay", tmp_path / "a")["placements"] >= 1000


def test_slow_tasks_get_a_second_attempt():
    plain = ("--stragglers", "0.05x20")
    assert report(*plain)["speculative"] == 0
    seen = report(*plain, "--speculation")
    assert seen["speculative"] > 10 and seen["jobsSucceeded"] == 1
    assert report(*plain, "--speculation", "--conf", "spark.speculation.quantile=1")["speculative"] == 0


def test_what_fails_too_often_is_excluded():
    failing = ("--executors", 20, "--task-failures", 0.05)
    assert report(*failing)["excluded"] == 0
    assert report(*failing, "--exclusion")["excluded"] > 0


def test_tasks_run_where_they_prefer_to():
    world = ("--locality", 0.8, "--hosts", 5, "--racks", 3)
    waits = report(*world)
    hurries = report(*world, "--conf", "spark.locality.wait.process=0", "--conf", "spark.locality.wait.node=0",
                     "--conf", "spark.locality.wait.rack=0")
    assert min(waits["processLocal"], waits["nodeLocal"], waits["rackLocal"]) > 0
    assert hurries["anywhere"] > waits["anywhere"]


def test_barrier_stages_are_launched_whole():
    seen = report("--barrier", 1, "--tasks", 80, "--stages", 4)
    assert seen["gangs"] == 4 and seen["jobsSucceeded"] == 1
    assert report("--barrier", 1, "--tasks", 400, "--stages", 4)["jobsFailed"] == 1


def test_what_is_saved_is_committed_once():
    seen = report("--saves", 1, "--speculation", "--stragglers", "0.05x20", "--stages", 1)
    assert seen["commits"] == 1000 and seen["jobsSucceeded"] == 1


def test_executors_that_die_lose_nothing_in_celeborn():
    seen = report("--celeborn", 4, "--stages", 4, "--death", 1, "--seeds", "1..3")
    assert seen["jobsSucceeded"] == 3 and seen["executorsLost"] > 5
    assert seen["shufflesCommitted"] > 6 and seen["filesCommitted"] == 250 * seen["shufflesCommitted"]
    assert seen["fetchFailures"] == seen["shufflesLost"] == seen["mapsAgain"] == 0


def test_workers_that_are_lost_make_maps_run_again_unless_files_are_replicated():
    world = ("--celeborn", 5, "--stages", 4, "--lost-workers", 0.2, "--seeds", "1..5")
    plain, copied = report(*world), report(*world, "--replication")
    assert plain["workersLost"] > 1 and plain["shufflesLost"] > 1 and plain["mapsAgain"] == 250 * plain["shufflesLost"]
    assert copied["workersLost"] > 0 and copied["revives"] > 0 and copied["mapsAgain"] == 0
    assert plain["accepted"] - plain["mapsAgain"] == copied["accepted"]
    assert plain["jobsSucceeded"] == copied["jobsSucceeded"] == 5


def test_map_tasks_fail_when_all_workers_of_their_shuffle_are_lost_unless_they_get_others():
    world = ("--celeborn", 3, "--stages", 2, "--tasks", 4000, "--lost-workers", 1, "--seeds", "1..2")
    assert report(*world)["taskFailures"] > 0
    seen = report(*world, "--conf", "spark.celeborn.client.shuffle.dynamicResourceEnabled=true")
    assert seen["workersLost"] > 6 and seen["taskFailures"] == 0


def test_random_worlds_with_celeborn():
    seen = report("--random", "--celeborn", 4, "--seeds", "1..300")
    assert min(seen[k] for k in ("workersLost", "revives", "shufflesLost", "mapsAgain", "jobsSucceeded", "kills")) > 10


def test_map_outputs_in_celeborn_outlive_their_driver():
    world = ("--executors", 8, "--stages", 4, "--tasks", 400, "--celeborn", 4, "--seeds", "1..5")
    plain, seen = report(*world), report(*world, "--driver-deaths", 3)
    assert plain["jobsSucceeded"] == 5 <= seen["jobsSucceeded"]
    assert seen["shufflesLost"] == seen["mapsAgain"] == 0 and seen["shufflesCommitted"] >= plain["shufflesCommitted"]
    assert seen["accepted"] < 1.3 * plain["accepted"]  # without outputs of earlier drivers, stages would run again


def test_messages_do_not_change_a_run():
    faults = ("--executors", 30, "--tasks", 2000, "--jobs", 2, "--stages", 3, "--death", 0.3, "--loss", 0.003,
              "--task-failures", 0.01, "--speculation", "--stragglers", "0.02x10")
    plain, seen = report(*faults), report(*faults, "--messages")
    same = ("jobsSucceeded", "jobsFailed", "placements", "accepted", "kills", "tasksLost", "stageAttempts", "virtualSeconds")
    assert {key: seen[key] for key in same} == {key: plain[key] for key in same}
    assert seen["tasksLost"] > 0 and seen["kills"] > 0
    assert "driverNsPerTask" not in plain and seen["driverNsPerTask"] > 0
    assert seen["stageBytesPerExecutor"] > 500 and seen["stagesBroadcast"] == 0


def test_large_stages_are_broadcast_and_outboxes_stay_small():
    seen = report("--executors", 2000, "--tasks", 4000, "--cores", 1, "--messages")
    assert seen["stageBytes"] > 20000 and seen["stagesBroadcast"] == 1
    assert seen["stageBytesPerExecutor"] < 1000  # of both stages, with questions for the places of pieces
    assert 10 < seen["launchBytesPerTask"] < 40 and 30 < seen["statusBytesPerTask"] < 110
    assert seen["peakOutboxesKiB"] < 2000 * 4


def test_random_worlds():
    seen = report("--random", "--seeds", "1..300")
    assert seen["runs"] == 300 and min(seen[kind] for kind in ("jobsSucceeded", "jobsFailed", "jobsCancelled")) > 10


@pytest.mark.parametrize("words, expected", [
    (["--executors", "0"], "--executors takes a whole number from 1 to 1000000, not '0'"),
    (["--loss", "2"], "--loss takes a number from 0 to 1, not '2'"),
    (["--stragglers", "0.1"], "like 0.01x20, not '0.1'"),
    (["--seeds", "5..1"], "the second not smaller"),
    (["--seed", "x"], "--seed takes a whole number, not 'x'"),
    (["--task-time", "fast"], "--task-time takes a time"),
    (["--conf", "spark.nothing=1"], "spark.nothing: unknown key"),
    (["--conf", "spark.task.cpus=8"], "spark.task.cpus is 8, but an executor has 4 cores"),
    (["--conf", "spark.scheduler.mode=LIFO"], "Unrecognized spark.scheduler.mode: LIFO"),
    (["--wrong"], "unknown option '--wrong'"),
    (["extra"], "'extra' is not an option"),
    (["--tasks"], "--tasks needs a value"),
    (["--random", "--tasks", "5"], "--random draws the world"),
    (["--seeds", "1..2", "--trace", "x"], "use --seed, not --seeds"),
    (["--locality", "2"], "--locality takes a number from 0 to 1, not '2'"),
    (["--speculation=yes"], "--speculation takes no value"),
    (["--random", "--barrier", "1"], "--trace, --output, --driver-deaths and --celeborn go with it"),
    (["--messages", "--driver-deaths", "1"], "--messages measures one driver"),
    (["--messages=yes"], "--messages takes no value"),
    (["--messages", "--conf", "spark.firesteel.shuffle.store=/tmp"], "leave out spark.firesteel.shuffle.store"),
    (["--lost-workers", "0.1"], "add --celeborn WORKERS"),
    (["--replication"], "add --celeborn WORKERS"),
    (["--celeborn", "0"], "--celeborn"),
    (["--celeborn", "1", "--replication"], "--replication needs two workers"),
    (["--celeborn", "4", "--conf", "spark.firesteel.shuffle.store=/tmp"], "leave out one"),
    (["--celeborn", "4", "--messages"], "--celeborn does not go with --messages"),
    (["--celeborn", "4", "--driver-deaths", "1", "--messages"], "--messages measures one driver"),
    (["--celeborn", "4", "-c", "spark.celeborn.client.shuffle.dynamicResourceFactor=2"], "set it to a share from 0 to 1"),
    (["--output", "xml"], "--output takes text or json, not 'xml'"),
])
def test_what_was_asked_wrongly_is_named(words, expected):
    assert expected in simulate(*words, status=2).stderr


def test_help_names_every_option():
    text = simulate("--help").stdout
    assert text == firesteel("help", "simulate").stdout
    for option in ("--executors", "--loss", "--death", "--stragglers", "--seeds", "--trace", "--replay",
                   "--locality", "--racks", "--barrier", "--saves", "--speculation", "--exclusion",
                   "--celeborn", "--replication", "--lost-workers"):
        assert f"  {option} " in text


def simulate_yarn(*words):
    return subprocess.run([os.path.join(BIN, "firesteel"), "simulate", "--yarn", *words], capture_output=True, text=True,
                          timeout=120, check=False)


def test_yarn_reaches_its_target_through_failures():
    faults = ("--failures", "0.1", "--launch-failures", "0.1", "--lost-nodes", "0.5", "--leaving-nodes", "0.3",
              "--exclusions", "0.5", "--restarts", "0.2", "--profiles", "3")
    done = simulate_yarn("--containers", "100", "--hosts", "10", "--rounds", "30", *faults, "--seeds", "1..20", "--output",
                         "json")
    assert done.returncode == 0, done.stderr
    runs = [json.loads(line) for line in done.stdout.splitlines()]
    assert [run["seed"] for run in runs] == list(range(1, 21))
    assert all(run["violation"] is None and run["containers"] >= 100 for run in runs)
    for fault in ("failed", "refused", "lostNodes", "leavingNodes", "exclusions", "restarts"):
        assert sum(run[fault] for run in runs) > 20, fault
    again = simulate_yarn("--containers", "100", "--hosts", "10", "--rounds", "30", *faults, "--seed", "7", "--output", "json")
    same = json.loads(again.stdout)
    assert {**same, "seconds": 0} == {**runs[6], "seconds": 0}


def test_yarn_allocates_ten_thousand_containers():
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = simulate_yarn("--output", "json")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0 and json.loads(done.stdout)["containers"] == 10000
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 1  # s of a processor


@pytest.mark.parametrize("words, problem", [(("--hosts", "0"), "invalid value: '0'"), (("--nope", "1"), "unknown option"), (("--profiles", "0"), "invalid value"),
                                            (("--seed",), "a value is missing"), (("--seeds", "5..2"), "invalid value"),
                                            (("--failures", "nan"), "invalid value"), (("--output", "x"), "invalid value")])
def test_yarn_refuses_wrong_options(words, problem):
    done = simulate_yarn(*words)
    assert done.returncode == 2 and problem in done.stderr


def simulate_mesos(*words):
    return subprocess.run([os.path.join(BIN, "firesteel"), "simulate", "--mesos", *words], capture_output=True, text=True,
                          timeout=120, check=False)


MESOS_FAULTS = [word for fault in ("failures=0.05", "lost-agents=0.3", "rescinds=0.1", "splits=0.3", "targets=0.3", "kills=0.3",
                                   "exclusions=0.3", "restarts=0.1", "constraints=0.2") for word in f"--{fault}".split("=")]


@pytest.mark.parametrize("mode", [("--executors", "30", "--agents", "40"), ("--executors", "30", "--agents", "40", "--executor-cores", "0"),
                                  ("--fine", "1", "--executors", "1000", "--agents", "20")], ids=["coarse", "whole_offers", "fine"])
def test_mesos_reaches_its_target_through_faults(mode):
    done = simulate_mesos(*mode, "--rounds", "60", *MESOS_FAULTS, "--seeds", "1..100", "--output", "json")
    assert done.returncode == 0, done.stderr
    runs = [json.loads(line) for line in done.stdout.splitlines()]
    assert [run["seed"] for run in runs] == list(range(1, 101))
    assert all(run["violation"] is None and run["offers"] == run["accepted"] + run["declined"] for run in runs)
    for fault in ("failed", "lostAgents", "rescinded", "restarts"):
        assert sum(run[fault] for run in runs) > 100, fault
    again = json.loads(simulate_mesos(*mode, "--rounds", "60", *MESOS_FAULTS, "--seed", "7", "--output", "json").stdout)
    timeless = {"seconds": 0, "longestEventMs": 0}
    assert {**again, **timeless} == {**runs[6], **timeless}


def test_mesos_answers_ten_thousand_offers_within_20_ms():
    done = simulate_mesos("--seeds", "1..3", "--output", "json")
    runs = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0 and all(run["launched"] == 1001 for run in runs)  # one was killed
    assert min(run["longestEventMs"] for run in runs) < 20


@pytest.mark.parametrize("words, problem", [(("--agents", "0"), "invalid value: '0'"), (("--nope", "1"), "unknown option"), (("--seed",), "a value is missing"),
                                            (("--kills", "2"), "invalid value"), (("--agents", "5", "--executors", "6"), "raise '--agents'")])
def test_mesos_refuses_wrong_options(words, problem):
    done = simulate_mesos(*words)
    assert done.returncode == 2 and problem in done.stderr


def simulate_operator(*words):
    return subprocess.run([os.path.join(BIN, "firesteel"), "simulate", "--operator", *words], capture_output=True, text=True,
                          timeout=120, check=False)


def test_operator_brings_applications_to_rest_through_faults():
    done = simulate_operator("--seeds", "1..20", "--steps", "500", "--output", "json")
    assert done.returncode == 0, done.stderr
    runs = [json.loads(line) for line in done.stdout.splitlines()]
    assert [run["seed"] for run in runs] == list(range(1, 21))
    assert all(run["violation"] is None and run["submissions"] >= 3 for run in runs)
    assert sum(run["crashes"] for run in runs) > 20
    again = json.loads(simulate_operator("--seed", "7", "--steps", "500", "--output", "json").stdout)
    assert {**again, "seconds": 0} == {**runs[6], "seconds": 0}


def test_operator_submits_each_application_once_without_faults():
    none = [word for fault in ("failed-requests", "lost-answers", "refused-services", "late-events", "repeated-events", "crashes",
                               "clock-jumps", "times-to-live", "changes", "failed-drivers") for word in (f"--{fault}", "0")]
    run = json.loads(simulate_operator("--applications", "1000", "--steps", "100", *none, "--output", "json").stdout)
    assert (run["submissions"], run["violation"]) == (1000, None)
    assert run["requests"] == run["submissions"] + run["statusWrites"]


@pytest.mark.parametrize("words, problem", [(("--applications", "0"), "invalid value: '0'"), (("--nope", "1"), "unknown option"),
                                            (("--seed",), "a value is missing"), (("--crashes", "2"), "invalid value")])
def test_operator_refuses_wrong_options(words, problem):
    done = simulate_operator(*words)
    assert done.returncode == 2 and problem in done.stderr
