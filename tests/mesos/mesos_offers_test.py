"""What an application on Mesos does with offers: constraints, roles, ports, tasks, dynamic allocation, a thousand executors."""
import os
import time

import pytest

from conditions import wait_until
from mesos.master import Master
from mesos_client_test import Application


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "mesos").mkdir()
    return tmp_path


@pytest.fixture
def start(folder):
    """Starts applications, and ends those that a failed test leaves."""
    started = []

    def start_one(master, *conf, **environment):
        started.append(Application(folder / f"app{len(started)}", f"mesos://{master.address}", *conf, **environment))
        return started[-1]
    yield start_one
    for application in started:
        if application.process.poll() is None:
            print(application.log())
            application.process.kill()
            application.process.wait()


def declined(master):
    """{seconds (None: the default): agents whose offers were declined for that time}"""
    result = {}
    for call in master.calls_of("DECLINE"):
        seconds = call["decline"].get("filters", {}).get("refuse_seconds")
        result[seconds] = result.get(seconds, 0) + len(call["decline"]["offer_ids"])
    return result


def test_only_agents_that_meet_the_constraints_run_executors(folder, start):
    with Master(folder / "mesos") as master:
        master.add_agent("cpus:2;mem:2048", "os:debian;rack:3")
        good = master.add_agent("cpus:2;mem:2048", "os:debian;rack:12")
        application = start(master, "spark.mesos.constraints=os:debian,ubuntu;rack:10", "spark.mesos.rejectOfferDuration=77s")
        application.run()
        assert application.end() == 0, application.log()
        assert {task["agent_id"]["value"] for task in master.tasks()} == {good.id}
        assert declined(master)[77.0] >= 1


def test_tasks_say_what_the_settings_say(folder, start):
    with Master(folder / "mesos") as master:
        master.add_agent("cpus:1;cpus(dev):1;mem:600;mem(dev):424;ports:[31000-31009]")
        application = start(
            master, "spark.mesos.role=dev", "spark.executor.cores=2", "spark.blockManager.port=31007", "spark.mesos.task.labels=a:b,c\\:d:e",
            "spark.executorEnv.FOO=two words", "spark.mesos.extra.cores=1", "spark.executor.extraJavaOptions=-Dx={{EXECUTOR_ID}}",
            "spark.executor.extraLibraryPath=/nowhere")
        application.run()
        assert application.end() == 0, application.log()
        task, = master.tasks()
        assert (task["name"], task["task_id"]["value"]) == ("a job per line 0", "0")
        assert [(r["name"], r["role"], r.get("scalar", r.get("ranges"))) for r in task["resources"]] == [
            ("cpus", "*", {"value": 1.0}), ("cpus", "dev", {"value": 1.0}), ("mem", "*", {"value": 584.0}),
            ("ports", "*", {"range": [{"begin": 31007, "end": 31007}]})]
        assert task["labels"] == {"labels": [{"key": "a", "value": "b"}, {"key": "c:d", "value": "e"}]}
        variables = {v["name"]: v["value"] for v in task["command"]["environment"]["variables"]}
        assert variables["FOO"] == "two words" and variables["SPARK_EXECUTOR_OPTS"] == "-Dx=0"
        assert variables["SPARK_EXECUTOR_MEMORY"] == "200m" and variables["SPARK_USER"]
        assert task["command"]["value"].startswith('LD_LIBRARY_PATH="/nowhere:$LD_LIBRARY_PATH" "')
        assert " --executor-id 0 --cores 3 " in task["command"]["value"]
        assert task["container"] == {"type": "MESOS"}


def test_executors_on_a_network_advertise_their_own_address(folder, start):
    with Master(folder / "mesos") as master:
        master.add_agent("cpus:2;mem:2048", pretend_containers=True)
        application = start(master, "spark.mesos.network.name=net", "spark.mesos.network.labels=k:v",
                            "spark.executorEnv.SPARK_LOCAL_HOSTNAME=127.0.0.1")
        application.run()
        assert application.end() == 0, application.log()
        task = master.tasks()[0]
        assert "--hostname" not in task["command"]["value"]
        assert task["container"]["network_infos"] == [{"name": "net", "labels": {"labels": [{"key": "k", "value": "v"}]}}]


def test_idle_executors_end_and_come_back(folder, start):
    with Master(folder / "mesos") as master:
        master.add_agent("cpus:1;mem:1024")
        master.add_agent("cpus:1;mem:1024")
        application = start(
            master, "spark.dynamicAllocation.enabled=true", "spark.dynamicAllocation.shuffleTracking.enabled=true",
            "spark.dynamicAllocation.executorIdleTimeout=1s")
        framework = master.wait_for_framework()
        wait_until(lambda: framework.suppressed, "offers are suppressed while no executor is wanted")
        application.run()
        assert master.calls_of("REVIVE")
        before = len(master.tasks())
        wait_until(lambda: len(master.calls_of("KILL")) >= before, "idle executors are killed")
        wait_until(lambda: all("TASK_KILLED" in master.states(task["task_id"]["value"]) or "TASK_FINISHED" in master.states(
            task["task_id"]["value"]) for task in master.tasks()), "they end")
        application.run()
        assert len(master.tasks()) > before
        assert application.end() == 0, application.log()
        ids = [task["task_id"]["value"] for task in master.tasks()]
        assert ids == [str(i) for i in range(len(ids))]


class CountingMaster(Master):
    """Counts launches, and starts nothing."""
    launched, last = 0, 0.0

    def on_accept(self, framework, accept):
        self.launched += sum(len(operation["launch"]["task_infos"]) for operation in accept["operations"])
        self.last = time.monotonic()


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_one_event_of_a_thousand_offers_launches_a_thousand_executors(folder, start):
    with CountingMaster(folder / "mesos") as master:
        application = start(master, "spark.cores.max=1000")
        framework = master.wait_for_framework()
        offers = [{"id": {"value": f"o{i}"}, "framework_id": {"value": framework.id}, "agent_id": {"value": f"a{i}"}, "hostname": f"h{i}",
                   "resources": [{"name": name, "type": "SCALAR", "role": "*", "scalar": {"value": amount}}
                                 for name, amount in (("cpus", 1.0), ("mem", 1024.0))]} for i in range(1000)]
        pid = application.process.pid
        begin, cpu = time.monotonic(), cpu_seconds(pid)
        master.send(framework, {"type": "OFFERS", "offers": {"offers": offers}})
        wait_until(lambda: master.launched == 1000, "all are launched")
        used = cpu_seconds(pid) - cpu
        print(f"1,000 executors launched in {master.last - begin:.2f} s, {used:.2f} s of the driver's CPU")
        assert used < 1
        application.process.kill()
        application.process.wait()


def test_tasks_wait_for_the_registered_share(folder, start):
    """MesosCoarseGrainedSchedulerBackendSuite: tasks start when executors with minRegisteredResourcesRatio of spark.cores.max are registered."""
    with Master(folder / "mesos") as master:
        master.add_agent("cpus:1;mem:1024")
        application = start(master, "spark.scheduler.minRegisteredResourcesRatio=1.0", "spark.scheduler.maxRegisteredResourcesWaitingTime=600s")
        application.process.stdin.write("\n")
        application.process.stdin.flush()
        wait_until(lambda: "Registered executor" in application.log(), "the first executor")
        wait_until(lambda: "Adding task set" in application.log(), "the job")
        master.add_agent("cpus:1;mem:1024")
        assert application.process.stdout.readline() == "6\n", application.log()
        log = application.log()
        assert log.count("Registered executor") == 2 and log.rindex("Registered executor") < log.index("Starting task"), log
        assert application.end() == 0
