"""Dynamic allocation on local-cluster: the number of executors follows the load, and data that may be needed stays."""
import errno
import os
import random
import signal
import subprocess
import time

import pytest

from conditions import TIMEOUT, wait_until
from folders import BIN
from gated_application import Application, kill, sum_of


@pytest.fixture
def folder(tmp_path_factory, request):
    return tmp_path_factory.mktemp("allocation")


def test_executors_come_as_tasks_wait_and_go_when_idle(folder):
    with Application(folder, "local-cluster[8,1,1024]", "spark.dynamicAllocation.maxExecutors=7",
                     "spark.starvation.timeout=100ms") as app:
        app.begin(f"gated 8 {app.gate}")
        app.until_alive(7)
        log = app.log()
        app.open_gate()
        assert app.answer()[0] == 8
        app.until_alive(0)
        assert set(app.removed().values()) == {"Executor killed by driver."}
        wait_until(lambda: app.executors() == {}, "executors stay")
        # Once more: the growth restarts.
        app.close_gate()
        app.begin(f"gated 2 {app.gate}")
        wait_until(lambda: len(app.alive()) >= 1, "no executor comes again")
        app.open_gate()
        assert app.answer()[0] == 2
    grown = [line.split("ExecutorAllocationManager: ")[1] for line in log.splitlines() if "Requesting" in line]
    assert [line.split()[1] for line in grown] == ["1", "2", "4"]
    assert grown[2] == ("Requesting 4 new executors because tasks are backlogged (new desired total will be 7 for "
                        "resource profile id: 0)")
    warnings = log.count("WARN TaskSchedulerImpl: Initial job has not accepted any resources; check your cluster UI to "
                         "ensure that workers are registered and have sufficient resources")
    assert warnings >= 3
    assert log.rfind("Initial job has not") < log.find("Registered executor")


def test_the_least_and_the_first_number_are_kept(folder):
    with Application(folder, "local-cluster[6,1,1024]", "spark.dynamicAllocation.minExecutors=2",
                     "spark.dynamicAllocation.initialExecutors=3", "spark.executor.instances=4") as app:
        app.until_added(4)
        app.until_alive(2)
        # One that ends is replaced, to keep the minimum.
        wait_until(lambda: app.executors().keys() == app.alive(), "executors that were removed stay")
        victim = random.choice(sorted(app.executors().items()))
        os.kill(victim[1], signal.SIGKILL)
        wait_until(lambda: victim[0] in app.removed(), "its end is not told")
        app.until_alive(2)
        app.open_gate()
        assert app.run(f"gated 20 {app.gate}")[0] == 20


def test_executors_with_cached_blocks_stay(folder):
    with Application(folder, "local-cluster[4,1,1024]", "spark.dynamicAllocation.initialExecutors=3") as app:
        app.until_added(3)
        app.begin(f"cache 2 {app.gate}")
        wait_until(lambda: app.started() == 2, "the tasks do not start")
        app.open_gate()
        assert app.answer()[0] == 1999000
        holders = {e["Task Info"]["Executor ID"] for e in app.logged("TaskEnd")}
        wait_until(lambda: app.alive() == holders, lambda: f"{app.alive()} are there, {holders} hold blocks")
        assert app.run("cached") == (1999000, 2000)
        assert app.run("uncache")[0] == 0
        app.until_alive(0)


@pytest.mark.parametrize("timeout", [None, "1s"])
def test_executors_with_map_outputs_stay(folder, timeout):
    conf = [f"spark.dynamicAllocation.shuffleTracking.timeout={timeout}"] if timeout else []
    with Application(folder, "local-cluster[4,1,1024]", "spark.dynamicAllocation.initialExecutors=3", *conf) as app:
        app.until_added(3)
        app.open_gate()
        assert app.run(f"shuffle 4 {app.gate}")[0] == sum_of(4)
        holders = {e["Task Info"]["Executor ID"] for e in app.logged("TaskEnd") if e["Task Type"] == "ShuffleMapTask"}
        if timeout:
            app.until_alive(0)
        else:
            wait_until(lambda: app.alive() == holders, lambda: f"{app.alive()} are there, {holders} have outputs")
        assert app.run("shuffled")[0] == sum_of(4)
        assert app.tasks("ShuffleMapTask") == (8 if timeout else 4)


DECOMMISSION = ["spark.decommission.enabled=true", "spark.storage.decommission.enabled=true",
                "spark.storage.decommission.replicationReattemptInterval=100ms"]


def test_idle_executors_are_decommissioned_and_leave_what_they_have_to_others(folder):
    with Application(folder, "local-cluster[4,1,1024]", "spark.dynamicAllocation.initialExecutors=3",
                     "spark.dynamicAllocation.minExecutors=1", "spark.dynamicAllocation.shuffleTracking.enabled=false",
                     "spark.dynamicAllocation.cachedExecutorIdleTimeout=1s", *DECOMMISSION) as app:
        app.until_added(3)
        app.open_gate()
        assert app.run(f"shuffle 6 {app.gate}")[0] == sum_of(6)
        assert app.run(f"cache 6 {app.gate}")[0] == 17997000
        computed = app.run("cached")[1]
        app.until_alive(1)
        assert set(app.removed().values()) == {"Executor decommission: spark scale down"}
        assert app.run("cached") == (17997000, computed)
        assert app.run("shuffled")[0] == sum_of(6)
        assert app.tasks("ShuffleMapTask") == 6
        wait_until(lambda: len(app.executors()) == 1, "processes of executors stay")


@pytest.mark.parametrize("codec", ["lz4", "zstd"])
def test_a_signal_decommissions_an_executor_while_a_job_runs(folder, codec):
    """Its running tasks end, its data moves, and nothing is computed twice."""
    with Application(folder, "local-cluster[3,2,1024]", f"spark.io.compression.codec={codec}", *DECOMMISSION,
                     allocation=False) as app:
        app.until_alive(6)
        app.open_gate()
        assert app.run(f"cache 12 {app.gate}")[0] == 71994000
        assert app.run(f"shuffle 12 {app.gate}")[0] == sum_of(12)
        computed = app.run("cached")[1]
        before, mine = app.executors(), app.started()
        app.close_gate()
        app.begin(f"gated 12 {app.gate}")
        wait_until(lambda: app.started() >= mine + 6, "the tasks do not start")
        victims = random.sample(sorted(before), 2)
        kill([before[v] for v in victims], signal.SIGPWR)
        wait_until(lambda: app.log().count("Decommission executor") >= 4, "nobody is decommissioned")
        # It gets no new task, but waits for its running one.
        assert set(victims) & set(app.removed()) == set()
        app.open_gate()
        assert app.answer()[0] == 12
        wait_until(lambda: set(victims) <= set(app.removed()), "they do not end")
        assert {app.removed()[v] for v in victims} == {"Executor decommission: requested"}
        assert app.run("cached") == (71994000, computed + 12)
        assert app.run("shuffled")[0] == sum_of(12)
        assert app.tasks("ShuffleMapTask") == 12
        assert "ERROR TaskSchedulerImpl: Lost executor" not in app.log()


def test_a_decommissioned_executor_has_only_so_much_time(folder):
    with Application(folder, "local-cluster[2,1,1024]", "spark.executor.decommission.forceKillTimeout=1s", *DECOMMISSION,
                     allocation=False) as app:
        app.until_alive(2)
        app.begin(f"gated 2 {app.gate}")
        wait_until(lambda: app.started() == 2, "the tasks do not start")
        victim = random.choice(sorted(app.executors().items()))
        kill([victim[1]], signal.SIGPWR)
        wait_until(lambda: victim[0] in app.removed(), "it stays forever")
        assert app.removed()[victim[0]] == "Executor killed by driver."
        app.open_gate()
        assert app.answer()[0] == 2


def test_decommissioned_executors_that_are_killed_cost_only_time(folder):
    """kill -9 of some senders and some receivers at random moments: results are the same."""
    seed = int(os.environ.get("ALLOCATION_SEED") or random.randrange(1 << 30))
    print("ALLOCATION_SEED", seed)
    chance = random.Random(seed)
    with Application(folder, "local-cluster[3,2,1024]", *DECOMMISSION, "spark.task.maxFailures=50",
                     "spark.stage.maxConsecutiveAttempts=50", allocation=False) as app:
        app.until_alive(6)
        app.open_gate()
        assert app.run(f"cache 40 {app.gate}")[0] == 799980000
        assert app.run(f"shuffle 40 {app.gate}")[0] == sum_of(40)
        for _ in range(4):
            alive = app.executors()
            going = chance.sample(sorted(alive), 2)
            kill([alive[e] for e in going], signal.SIGPWR)
            app.begin("shuffled")
            time.sleep(chance.random() * 0.03)
            victim = chance.choice(sorted(alive))
            kill([alive[victim]])
            assert app.answer()[0] == sum_of(40)
            assert app.run("cached")[0] == 799980000
            wait_until(lambda: {*going, victim} <= set(app.removed()), lambda: f"{going}, {victim}: {app.removed()}")
            app.until_alive(6)
        assert app.run("shuffled")[0] == sum_of(40)


def test_an_application_says_how_many_executors_it_wants(folder):
    """The numbers of Spark's StandaloneDynamicAllocationSuite."""
    with Application(folder, "local-cluster[4,1,1024]", allocation=False) as app:
        app.until_alive(4)
        for expected in (3, 2):
            assert app.run(f"kill 1 {min(app.alive())}")[0] == 1
            app.until_alive(expected)
        assert app.run("more 1")[0] == 0
        app.until_alive(3)
        assert app.run("total 99")[0] == 0
        app.until_alive(4)
        assert app.run("total 0")[0] == 0
        assert app.run("more -1")[0] == -errno.EINVAL
        wait_until(lambda: app.executors().keys() == app.alive(), "executors that were removed stay")
        victim = random.choice(sorted(app.executors().items()))
        kill([victim[1]])
        app.until_alive(3)  # the number of executors does not change
        app.open_gate()
        assert app.run(f"gated 6 {app.gate}")[0] == 6
        for expected in (2, 1, 0):
            assert app.run(f"kill 1 {min(app.alive())}")[0] == 1
            app.until_alive(expected)


def test_settings_that_cannot_be_are_refused(folder):
    def refused(*conf):
        (folder / "one.c").write_text('#include <firesteel/firesteel.h>\n'
                                      'int main(void) { return fst_context_stop(fst_context_new("refused")); }\n')
        command = [os.path.join(BIN, "spark-submit"), "--master", "local-cluster[1,1,1024]", "--conf",
                   "spark.dynamicAllocation.enabled=true"]
        for setting in conf:
            command += ["--conf", setting]
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK_", "MASTER"))}
        done = subprocess.run([*command, "one.c"], cwd=folder, capture_output=True, text=True, check=False,
                              timeout=TIMEOUT, env=kept)
        assert done.returncode != 0
        return done.stderr

    assert "spark.dynamicAllocation.maxExecutors cannot be 0!" in refused("spark.dynamicAllocation.maxExecutors=0")
    assert ("spark.dynamicAllocation.minExecutors (3) must be less than or equal to "
            "spark.dynamicAllocation.maxExecutors (2)!") in refused(
                "spark.dynamicAllocation.minExecutors=3", "spark.dynamicAllocation.maxExecutors=2")
    assert "Dynamic allocation of executors requires one of the following conditions: 1)" in refused(
        "spark.dynamicAllocation.shuffleTracking.enabled=false")
