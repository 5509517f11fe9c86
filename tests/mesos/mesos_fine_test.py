"""The fine-grained mode of Mesos on a scripted master: each task is a Mesos task, executors come and go with their agents."""
import glob
import pathlib
import re
import signal
import subprocess

import pytest

from conditions import wait_until
from folders import BIN
from inherited_environment import inherited_environment
from mesos.master import Master

CONF = ("spark.mesos.coarse=false", "spark.mesos.mesosExecutor.cores=0.5", "spark.driver.host=127.0.0.1", "spark.executor.memory=256m",
        "spark.mesos.executor.memoryOverhead=64", f"spark.mesos.executor.home={pathlib.Path(BIN).parent.parent}")

# The tasks of the first job wait for a file.
PROGRAM = r"""
#include <firesteel/firesteel.h>
#include <stdio.h>
#include <unistd.h>

struct gate {
        char path[256];
};

static int64_t square(fst_task *task, int64_t x)
{
        const struct gate *gate = fst_captured(task);
        while (!fst_task_interrupted(task) && access(gate->path, F_OK) != 0)
                usleep(5000);
        return x * x;
}

int main(int argc, char **argv)
{
        fst_context *sc = fst_context_new("fine");
        struct gate gate;
        int64_t sum = 0;
        snprintf(gate.path, sizeof(gate.path), "%s", argv[1]);
        fst_reduce(fst_map(fst_range_n(sc, 0, 12, 12), FST_WITH(square, gate), FST_I64), fst_fn_sum, &sum);
        printf("sum %lld\n", (long long)sum);
        return fst_context_stop(sc);
}
"""
BARRIER = r"""
#include <firesteel/firesteel.h>

static int meet(fst_task *task, fst_iter *rows, fst_out *out)
{
        return fst_barrier_wait(task);
}

int main(void)
{
        fst_context *sc = fst_context_new("barrier");
        int64_t n;
        fst_count(fst_barrier_map_partitions(fst_range_n(sc, 0, 2, 2), meet, FST_I64), &n);
        return fst_context_stop(sc);
}
"""
EXPECTED = f"sum {sum(x * x for x in range(12))}\n"


@pytest.fixture(name="mesos")
def scripted_master(tmp_path):
    with Master(tmp_path) as master:
        for _ in range(2):
            master.add_agent("cpus:3;mem:2048")
        yield master


class Run:
    """The program on a master; `gate` lets its tasks end."""

    def __init__(self, mesos, folder, conf=()):
        source = folder / "fine.c"
        source.write_text(PROGRAM)
        self.gate = folder / "gate"
        command = [f"{BIN}/spark-submit", "--master", f"mesos://{mesos.address}"]
        for setting in (*CONF, *conf):
            command += ["--conf", setting]
        self.process = subprocess.Popen([*command, str(source), str(self.gate)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        env=inherited_environment("SPARK_"))

    def finish(self):
        self.gate.touch()
        out, err = self.process.communicate(timeout=60)
        assert self.process.returncode == 0 and out == EXPECTED, err[-4000:]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


def running(mesos):
    """The tasks of Spark that run now."""
    with mesos.lock:
        return [task for agent in mesos.agents for task in agent.tasks.values() if task.state == "TASK_RUNNING" and int(task.id) >= 0]


def test_each_task_is_a_task_of_mesos(mesos, tmp_path):
    with Run(mesos, tmp_path) as run:
        wait_until(lambda: len(running(mesos)) == 4, "four tasks: 2.5 cores on each agent")
        run.finish()
    tasks = mesos.tasks()
    spark, starters = [t for t in tasks if int(t["task_id"]["value"]) >= 0], [t for t in tasks if int(t["task_id"]["value"]) < 0]
    assert sorted(int(t["task_id"]["value"]) for t in spark) == list(range(12))
    assert all(re.fullmatch(r"task \d+\.0 in stage 0\.0 \(TID \d+\)", t["name"]) for t in spark), spark
    assert len(starters) == 2 and all("data" in t["executor"] for t in tasks)
    for task in spark:
        assert [(r["name"], r["scalar"]["value"]) for r in task["resources"]] == [("cpus", 1)]
        assert [(r["name"], r["scalar"]["value"]) for r in task["executor"]["resources"]] == [("cpus", 0.5), ("mem", 320)]
    for task in tasks:
        assert mesos.states(task["task_id"]["value"]) == ["TASK_RUNNING", "TASK_FINISHED"], task
    assert mesos.calls_of("TEARDOWN")


def test_a_barrier_stage_is_refused(mesos, tmp_path):
    source = tmp_path / "barrier.c"
    source.write_text(BARRIER)
    command = [f"{BIN}/spark-submit", "--master", f"mesos://{mesos.address}"]
    for setting in CONF:
        command += ["--conf", setting]
    done = subprocess.run([*command, str(source)], capture_output=True, text=True, timeout=60, check=False,
                          env=inherited_environment("SPARK_"))
    assert done.returncode != 0 and "SPARK-24819" in done.stderr and "spark.mesos.coarse=true" in done.stderr, done.stderr[-4000:]
    assert not mesos.tasks() and mesos.calls_of("TEARDOWN")


def test_a_killed_executor_starts_again(mesos, tmp_path):
    with Run(mesos, tmp_path) as run:
        wait_until(lambda: len(running(mesos)) == 4, "four tasks")
        mesos.agents[0].processes()[0].signal(signal.SIGKILL)
        wait_until(lambda: mesos.calls_of("SHUTDOWN") and len(running(mesos)) == 4, "tasks on a new executor")
        run.finish()


def test_agents_without_firesteel_are_excluded(mesos, tmp_path):
    home = f"spark.mesos.executor.home={tmp_path}/nowhere"
    with Run(mesos, tmp_path, [home, "spark.starvation.timeout=200ms"]) as run:
        said = ""
        while said.count("Excluding Mesos agent") < 2 or "two failures" not in said:
            line = run.process.stderr.readline()
            assert line, said
            said += line
        assert f"Is {home} right on the agents?" in said and len(mesos.tasks()) == 4, said
        assert "2 have enough" in said and "Lower what an executor needs" not in said, said
        run.process.terminate()
        run.process.communicate(timeout=120)


def test_a_lost_agent_gives_its_tasks_to_others(mesos, tmp_path):
    with Run(mesos, tmp_path) as run:
        wait_until(lambda: len(running(mesos)) == 4, "four tasks")
        mesos.lose(mesos.agents[0])
        wait_until(lambda: len(running(mesos)) == 2, "two tasks on the other agent")
        run.finish()


def test_tasks_go_on_while_their_agents_restart(mesos, tmp_path):
    with Run(mesos, tmp_path, ["spark.firesteel.mesos.checkpoint=true"]) as run:
        wait_until(lambda: len(running(mesos)) == 4, "four tasks")
        for agent in mesos.agents:
            agent.stop()
        run.gate.touch()
        for agent in mesos.agents:
            agent.start()
        run.finish()
    assert len(mesos.tasks()) == 14, "12 tasks and two starters: none was lost"


def test_a_task_that_the_driver_never_sends_can_be_killed(mesos, tmp_path):
    with Run(mesos, tmp_path) as run:
        wait_until(lambda: len(running(mesos)) == 4, "four tasks")
        with mesos.lock:
            agent = mesos.agents[0]
            like = next(task for task in agent.tasks.values() if task.state == "TASK_RUNNING" and int(task.id) >= 0)
            agent.launch(like.framework, dict(like.info, task_id={"value": "7777"}))
        task = agent.tasks[like.framework.id, "7777"]
        wait_until(lambda: task.state == "TASK_RUNNING", "the task to be open")
        with mesos.lock:
            agent.kill(like.framework, "7777")
        wait_until(lambda: task.state == "TASK_KILLED", "the end of the task")
        run.finish()


def test_an_executor_ends_when_its_agent_does_not_answer(tmp_path):
    with Master(tmp_path) as mesos:
        agent = mesos.add_agent("cpus:3;mem:2048", recovery="1secs")
        with Run(mesos, tmp_path, ["spark.firesteel.mesos.checkpoint=true"]) as run:
            wait_until(lambda: len(running(mesos)) == 2, "two tasks")
            process = agent.processes()[0].process
            agent.answers.clear()
            agent.cut()
            wait_until(lambda: process.poll() is not None, "the end of the executor")
            agent.answers.set()
            run.finish()


def test_an_executor_ends_when_its_agent_refuses_updates(tmp_path):
    with Master(tmp_path) as mesos:
        agent = mesos.add_agent("cpus:3;mem:2048")
        with Run(mesos, tmp_path) as run:
            wait_until(lambda: len(running(mesos)) == 2, "two tasks")
            process, = agent.processes()
            agent.refused = {"UPDATE"}
            run.gate.touch()
            wait_until(lambda: process.process.poll() is not None, "the end of the executor")
            agent.refused = set()
            run.finish()
        logs = "".join(pathlib.Path(path).read_text() for path in glob.glob(f"{tmp_path}/agent*/**/stderr", recursive=True))
        assert "refuses status updates with HTTP status 400, so the executor ends: No UPDATE is taken" in logs


def test_executors_reach_their_agent_by_its_socket(tmp_path):
    with Master(tmp_path) as mesos:
        mesos.add_agent("cpus:3;mem:2048", domain_socket=True)
        with Run(mesos, tmp_path) as run:
            wait_until(lambda: len(running(mesos)) == 2, "two tasks")
            run.finish()
