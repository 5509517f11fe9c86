"""Dynamic allocation on local-cluster: executors come with the load and go without it; what somebody may need stays."""
import errno
import json
import os
import random
import signal
import subprocess
import threading
import time

import pytest

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BIN = os.path.abspath(os.environ.get("FIRESTEEL_BIN") or os.path.join(TOP, "bin"))
PATIENCE = 90

# It does what it reads, a line at a time. Tasks wait until the gate, a file, is there.
APPLICATION = r"""
#include <firesteel/firesteel.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct gate {
        char path[256];
        fst_accumulator computed;
};

static int64_t gated(fst_task *task, int64_t x)
{
        const struct gate *gate = fst_captured(task);
        while (!fst_task_interrupted(task) && access(gate->path, F_OK) != 0)
                usleep(5000);
        fst_accumulate(task, gate->computed, (int64_t)1);
        return x;
}

static int spread(fst_task *task, int64_t x, fst_out *out)
{
        const struct gate *gate = fst_captured(task);
        while (!fst_task_interrupted(task) && access(gate->path, F_OK) != 0)
                usleep(5000);
        fst_accumulate(task, gate->computed, (int64_t)1);
        for (int64_t i = 0; i < 1000; i++)
                fst_emit(out, i % 97, x * i);
        return 0;
}

int main(int argc, char **argv)
{
        fst_context *sc = fst_context_new("allocation");
        struct gate gate = {.computed = fst_accumulator_i64(sc, "computed")};
        fst_rdd *kept = NULL, *summed = NULL;
        char line[512], word[32];
        int n;
        while (fgets(line, sizeof(line), stdin) && sscanf(line, "%31s %d %255s", word, &n, gate.path) >= 1) {
                int64_t result = -1;
                fst_iter *rows;
                if (strcmp(word, "gated") == 0)
                        fst_count(fst_map(fst_range_n(sc, 0, n, n), FST_WITH(gated, gate), FST_I64), &result);
                else if (strcmp(word, "cache") == 0)
                        fst_reduce(kept = fst_cache(fst_map(fst_range_n(sc, 0, 1000 * n, n), FST_WITH(gated, gate), FST_I64)),
                                   fst_sum, &result);
                else if (strcmp(word, "uncache") == 0)
                        result = fst_unpersist(kept) ? 0 : -1;
                else if (strcmp(word, "cached") == 0)
                        fst_reduce(kept, fst_sum, &result);
                else if (strcmp(word, "total") == 0)
                        result = fst_request_total_executors(sc, n);
                else if (strcmp(word, "more") == 0)
                        result = fst_request_executors(sc, n);
                else if (strcmp(word, "kill") == 0)
                        result = fst_kill_executors(sc, (const char *const[]){gate.path, "no such"}, 2);
                else if (strcmp(word, "shuffle") == 0)
                        summed = fst_reduce_by_key_n(fst_flat_map(fst_range_n(sc, 0, n, n), FST_WITH(spread, gate),
                                                                 FST_PAIR(I64, I64)), fst_sum, 3);
                if (strncmp(word, "shuffle", 7) == 0 && fst_collect(summed, &rows) == 0) {
                        result = 0;
                        for (int64_t key, value; fst_next(rows, &key, &value);)
                                result += value * (key + 1);
                }
                printf("%s %lld %lld\n", word, (long long)result, (long long)fst_accumulator_sum_i64(sc, gate.computed));
                fflush(stdout);
        }
        return fst_context_stop(sc);
}
"""


class Application:
    """One application, driven by lines; `conf` on top of dynamic allocation with the shortest times."""

    def __init__(self, folder, master, *conf, allocation=True):
        self.jobs, self.folder, self.mark = 0, folder, f"{folder.name}-{os.getpid()}"
        self.events, self.local, self.gate = folder / "events", folder / "local", folder / "gate"
        self.events.mkdir()
        (folder / "conf").mkdir()
        (folder / "app.c").write_text(APPLICATION)
        settings = [f"spark.local.dir={self.local}", "spark.eventLog.enabled=true", f"spark.eventLog.dir={self.events}",
                    "spark.eventLog.compress=false", "spark.eventLog.rolling.enabled=false", "spark.log.level=INFO",
                    "spark.executor.memory=200m", "spark.executor.cores=1"]
        if allocation:
            settings += ["spark.dynamicAllocation.enabled=true", "spark.dynamicAllocation.executorIdleTimeout=1s"]
        command = [os.path.join(BIN, "spark-submit"), "--master", master]
        for setting in [*settings, *conf]:
            command += ["--conf", setting]
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK_", "MASTER"))}
        cache = os.environ.get("ALLOCATION_CACHE") or str(folder.parent / "cache")
        with open(folder / "log", "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [*command, "app.c"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
                start_new_session=True, env=dict(kept, XDG_CACHE_HOME=cache, SPARK_CONF_DIR=str(folder / "conf"),
                                                 ALLOCATION_TEST=self.mark))

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind:
            print(self.log()[-20000:])
            kill(self.processes())
        self.process.stdin.close()
        status = self.process.wait(timeout=PATIENCE)
        self.process.stdout.close()
        if kind:
            return
        assert status == 0, self.log()
        until(lambda: not self.processes(), "processes stay")
        assert not self.local.exists() or list(self.local.iterdir()) == []

    def log(self):
        return (self.folder / "log").read_text(errors="replace")

    def begin(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def answer(self):
        """(result, tasks that computed something so far) of what was begun first."""
        timer = threading.Timer(PATIENCE, self.process.kill)
        timer.start()
        words = self.process.stdout.readline().split()
        timer.cancel()
        assert len(words) == 3, self.log()
        self.jobs += words[0] not in ("uncache", "total", "more", "kill")
        until(lambda: len(self.logged("JobEnd")) == self.jobs, "the job's end is not in the event log")
        return int(words[1]), int(words[2])

    def run(self, line):
        self.begin(line)
        return self.answer()

    def open_gate(self):
        self.gate.touch()

    def close_gate(self):
        self.gate.unlink(missing_ok=True)

    def processes(self):
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ", "rb") as variables:
                    if f"ALLOCATION_TEST={self.mark}".encode() in variables.read().split(b"\0"):
                        found.append(int(pid))
            except OSError:
                pass
        return found

    def executors(self):
        """Process ids of the executors that live, by their id."""
        found = {}
        for pid in self.processes():
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as line:
                    words = line.read().decode().split("\0")
                with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
                    parent = int(stat.read().rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
            if "--executor-id" in words and parent == self.process.pid:
                found[words[words.index("--executor-id") + 1]] = pid
        return found

    def logged(self, *kinds):
        """Events so far, of these kinds."""
        assert self.process.poll() is None, "the application has ended"
        files = list(self.events.iterdir())
        text = files[0].read_text() if files else ""
        events = [json.loads(line) for line in text[:text.rfind("\n") + 1].splitlines()]
        return [e for e in events if e["Event"].removeprefix("SparkListener") in kinds]

    def started(self):
        """How many tasks have been launched."""
        return self.log().count(" Starting task ")

    def added(self):
        return [e["Executor ID"] for e in self.logged("ExecutorAdded")]

    def removed(self):
        return {e["Executor ID"]: e["Removed Reason"] for e in self.logged("ExecutorRemoved")}

    def alive(self):
        return set(self.added()) - set(self.removed())

    def tasks(self, kind):
        """How many tasks of this kind have been successful."""
        return sum(e["Task Type"] == kind and e["Task End Reason"]["Reason"] == "Success" for e in self.logged("TaskEnd"))

    def until_alive(self, count):
        until(lambda: len(self.alive()) == count, lambda: f"{sorted(self.alive())}, not {count} executors")


def kill(pids, number=signal.SIGKILL):
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


def until(condition, what):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, what() if callable(what) else what
        time.sleep(0.02)


def sum_of(n):
    """What `shuffle n` answers."""
    sums = [0] * 97
    for i in range(1000):
        sums[i % 97] += i * n * (n - 1) // 2
    return sum(value * (key + 1) for key, value in enumerate(sums))


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
        until(lambda: app.executors() == {}, "executors stay")
        # Once more: the growth begins anew.
        app.close_gate()
        app.begin(f"gated 2 {app.gate}")
        until(lambda: len(app.alive()) >= 1, "no executor comes again")
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
        app.until_alive(4)
        app.until_alive(2)
        # One that ends is replaced: as many as the least number.
        victim = random.choice(sorted(app.executors().items()))
        os.kill(victim[1], signal.SIGKILL)
        until(lambda: victim[0] in app.removed(), "its end is not told")
        app.until_alive(2)
        app.open_gate()
        assert app.run(f"gated 20 {app.gate}")[0] == 20


def test_executors_with_cached_blocks_stay(folder):
    with Application(folder, "local-cluster[4,1,1024]", "spark.dynamicAllocation.initialExecutors=3") as app:
        app.until_alive(3)
        app.begin(f"cache 2 {app.gate}")
        until(lambda: app.started() == 2, "the tasks do not start")
        app.open_gate()
        assert app.answer()[0] == 1999000
        holders = {e["Task Info"]["Executor ID"] for e in app.logged("TaskEnd")}
        until(lambda: app.alive() == holders, lambda: f"{app.alive()} are there, {holders} hold blocks")
        assert app.run("cached") == (1999000, 2000)
        assert app.run("uncache")[0] == 0
        app.until_alive(0)


@pytest.mark.parametrize("timeout", [None, "1s"])
def test_executors_with_map_outputs_stay(folder, timeout):
    conf = [f"spark.dynamicAllocation.shuffleTracking.timeout={timeout}"] if timeout else []
    with Application(folder, "local-cluster[4,1,1024]", "spark.dynamicAllocation.initialExecutors=3", *conf) as app:
        app.until_alive(3)
        app.open_gate()
        assert app.run(f"shuffle 4 {app.gate}")[0] == sum_of(4)
        holders = {e["Task Info"]["Executor ID"] for e in app.logged("TaskEnd") if e["Task Type"] == "ShuffleMapTask"}
        if timeout:
            app.until_alive(0)
        else:
            until(lambda: app.alive() == holders, lambda: f"{app.alive()} are there, {holders} have outputs")
        assert app.run("shuffled")[0] == sum_of(4)
        assert app.tasks("ShuffleMapTask") == (8 if timeout else 4)


DECOMMISSION = ["spark.decommission.enabled=true", "spark.storage.decommission.enabled=true",
                "spark.storage.decommission.replicationReattemptInterval=100ms"]


def test_idle_executors_are_decommissioned_and_leave_what_they_have_to_others(folder):
    with Application(folder, "local-cluster[4,1,1024]", "spark.dynamicAllocation.initialExecutors=3",
                     "spark.dynamicAllocation.minExecutors=1", "spark.dynamicAllocation.shuffleTracking.enabled=false",
                     "spark.dynamicAllocation.cachedExecutorIdleTimeout=1s", *DECOMMISSION) as app:
        app.until_alive(3)
        app.open_gate()
        assert app.run(f"shuffle 6 {app.gate}")[0] == sum_of(6)
        assert app.run(f"cache 6 {app.gate}")[0] == 17997000
        computed = app.run("cached")[1]
        app.until_alive(1)
        assert set(app.removed().values()) == {"Executor decommission: spark scale down"}
        assert app.run("cached") == (17997000, computed)
        assert app.run("shuffled")[0] == sum_of(6)
        assert app.tasks("ShuffleMapTask") == 6
        until(lambda: len(app.executors()) == 1, "processes of executors stay")


@pytest.mark.parametrize("codec", ["lz4", "zstd"])
def test_a_signal_decommissions_an_executor_while_a_job_runs(folder, codec):
    """Its running tasks end, what it has moves, and nothing is computed twice."""
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
        until(lambda: app.started() >= mine + 6, "the tasks do not start")
        victims = random.sample(sorted(before), 2)
        kill([before[v] for v in victims], signal.SIGPWR)
        until(lambda: app.log().count("Decommission executor") >= 4, "nobody is decommissioned")
        # It gets no new task, but waits for the one that it has.
        assert set(victims) & set(app.removed()) == set()
        app.open_gate()
        assert app.answer()[0] == 12
        until(lambda: set(victims) <= set(app.removed()), "they do not end")
        assert {app.removed()[v] for v in victims} == {"Executor decommission: it was asked for"}
        assert app.run("cached") == (71994000, computed + 12)
        assert app.run("shuffled")[0] == sum_of(12)
        assert app.tasks("ShuffleMapTask") == 12
        assert "ERROR TaskSchedulerImpl: Lost executor" not in app.log()


def test_a_decommissioned_executor_has_only_so_much_time(folder):
    with Application(folder, "local-cluster[2,1,1024]", "spark.executor.decommission.forceKillTimeout=1s", *DECOMMISSION,
                     allocation=False) as app:
        app.until_alive(2)
        app.begin(f"gated 2 {app.gate}")
        until(lambda: app.started() == 2, "the tasks do not start")
        victim = random.choice(sorted(app.executors().items()))
        kill([victim[1]], signal.SIGPWR)
        until(lambda: victim[0] in app.removed(), "it stays for ever")
        assert app.removed()[victim[0]] == "Executor killed by driver."
        app.open_gate()
        assert app.answer()[0] == 2


def test_decommissioned_executors_that_are_killed_cost_only_time(folder):
    """kill -9 of some that give and of some that take, at random moments: results are the same."""
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
            until(lambda: {*going, victim} <= set(app.removed()), lambda: f"{going}, {victim}: {app.removed()}")
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
        victim = random.choice(sorted(app.executors().items()))
        kill([victim[1]])
        app.until_alive(3)  # none ends because fewer are wanted, and none comes
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
                              timeout=PATIENCE, env=dict(kept, XDG_CACHE_HOME=str(folder / "cache")))
        assert done.returncode != 0
        return done.stderr

    assert "spark.dynamicAllocation.maxExecutors cannot be 0!" in refused("spark.dynamicAllocation.maxExecutors=0")
    assert ("spark.dynamicAllocation.minExecutors (3) must be less than or equal to "
            "spark.dynamicAllocation.maxExecutors (2)!") in refused(
                "spark.dynamicAllocation.minExecutors=3", "spark.dynamicAllocation.maxExecutors=2")
    assert "spark.storage.decommission.fallbackStorage.path: blocks of decommissioned executors move" in refused(
        "spark.storage.decommission.fallbackStorage.path=/tmp/fallback")
    assert "Dynamic allocation of executors requires one of the following conditions: 1)" in refused(
        "spark.dynamicAllocation.shuffleTracking.enabled=false")
