"""`firesteel mesos-dispatcher` on a scripted Mesos master: drivers run, fail, are killed and retried; dispatchers follow one another."""
import os
import re
import signal
import subprocess

import pytest

from conditions import wait_until
from folders import BIN, TOP
from free_ports import free_port
from mesos.master import Master
from mesos_dispatcher import Dispatcher, Home


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path / "home")


@pytest.fixture
def master(tmp_path):
    with Master(tmp_path / "mesos") as mesos:
        mesos.add_agent()
        yield mesos


@pytest.fixture
def dispatcher(tmp_path, master, home):
    with Dispatcher(tmp_path, f"mesos://{master.address}", home) as d:
        yield d


def test_driver_runs_to_its_end(dispatcher, master, home):
    driver = dispatcher.submit("one", "two words", environment={"SPARK_USER": "u"}, spark_cores_max="2",
                               spark_mesos_driverEnv_COLOR="blue")
    dispatcher.reaches(driver, "FINISHED")
    assert "state: TASK_FINISHED" in dispatcher.ask("GET", f"status/{driver}")[1]["message"]
    command, = home.commands()
    assert command == ["--name", "an app", "--master", f"mesos://{master.address}", "--driver-cores", "1",
                       "--driver-memory", "1408M", "--class", "Main", "--total-executor-cores", "2",
                       "--conf", "spark.app.name=an app", "--conf", "spark.cores.max=2",
                       "--conf", "spark.mesos.driverEnv.COLOR=blue", "./hostname", "one", "two words"]
    framework, = master.frameworks.values()
    assert f"-Dspark.mesos.driver.frameworkId={framework.id}-{driver}" in home.read("environment")
    assert "COLOR=blue" in home.read("environment") and "SPARK_USER=u" in home.read("environment")
    assert framework.info["checkpoint"] and framework.info["failover_timeout"] == 2147483647
    accept, = master.calls_of("ACCEPT")
    task, = accept["accept"]["operations"][0]["launch"]["task_infos"]
    assert task["name"] == "Driver for an app" and task["task_id"]["value"] == driver
    assert [(r["name"], r["scalar"]["value"]) for r in task["resources"]] == [("cpus", 1), ("mem", 1792)]


def test_killed_driver_ends_and_page_shows_it(dispatcher, home):
    home.end_with("wait")
    driver = dispatcher.submit(spark_driver_supervise="true")
    dispatcher.reaches(driver, "RUNNING")
    wait_until(home.commands, "the driver runs")
    waiting = dispatcher.submit(spark_driver_cores="64")
    why = "1 agent offers resources: 1 has less than the 64 cpus of spark.driver.cores (the most is "
    wait_until(lambda: why in dispatcher.ask("GET", f"status/{waiting}")[1].get("message", ""), "the reason of the wait")
    page = dispatcher.page()
    assert "Spark Drivers for Mesos cluster" in page and driver in page and waiting in page
    for heading in ("Launched Drivers", "Queued Drivers"):
        assert re.search(heading + r' <span class="count">\(1\)<', page)
    wait_until(lambda: "TASK_RUNNING" in dispatcher.page(f"/driver/?id={driver}"), "the driver's page shows its state")
    assert dispatcher.ask("POST", f"kill/{waiting}")[1]["message"] == "Removed driver while it's still pending"
    assert dispatcher.ask("POST", f"kill/{driver}")[1]["message"] == "Killing running driver"
    dispatcher.reaches(driver, "FINISHED")
    assert dispatcher.state(waiting) == "NOT_FOUND"
    metrics = dispatcher.page("/metrics/json").replace(" ", "")
    for name, value in (("launchedDrivers", 0), ("retryDrivers", 0), ("waitingDrivers", 0)):
        assert f'"mesos_cluster.{name}":{{"value":{value}}}' in metrics


def test_supervised_driver_is_started_again(dispatcher, home):
    home.end_with("3")
    driver = dispatcher.submit(spark_driver_supervise="true")
    wait_until(lambda: len(home.commands()) >= 2, "the second attempt")
    home.end_with("0")
    dispatcher.reaches(driver, "FINISHED")
    assert f"{driver}-retry-1" in home.read("environment") or "-retry-2" in home.read("environment")


def test_invalid_submissions_are_refused(dispatcher):
    for properties, words in (({"spark.mesos.dispatcher.queue": "night"}, 'has no queue "night"'),
                              ({"spark.mesos.driver.constraints": "a:b:c"}, "Bad constraint string: a:b:c"),
                              ({"spark.driver.cores": "-1"}, "spark.driver.cores"),
                              ({"spark.mesos.driver.labels": "a"}, "a"),
                              ({"spark.executor.memory": "-1g"}, "spark.executor.memory"),
                              ({"spark.task.cpus": "two"}, "spark.task.cpus should be int, but was two")):
        status, answer = dispatcher.create(properties=properties)
        assert status == 400 and words in answer["message"], answer
    assert dispatcher.ask("POST", "kill/driver-x")[1]["message"] == "Cannot find driver"
    assert dispatcher.ask("GET", "status/driver-x")[1]["driverState"] == "NOT_FOUND"
    assert "/create, /kill, or /status" in dispatcher.ask("POST", "clear")[1]["message"]


def test_spark_submit_runs_a_driver(dispatcher, home):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK_", "MESOS_"))}
    done = subprocess.run([os.path.join(BIN, "spark-submit"), "--master", f"mesos://127.0.0.1:{dispatcher.port}",
                           "--deploy-mode", "cluster", "--conf", "spark.master.rest.enabled=true",
                           "--conf", "spark.firesteel.compat=3.5", "--class", "Main", "file:/etc/hostname.jar", "7"],
                          env=kept, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "Submission successfully created as driver-" in done.stderr
    assert "ERROR" not in done.stderr, "an agent has enough for the driver"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_next_dispatcher_knows_drivers(tmp_path, master, home, number):
    conf = ("spark.deploy.recoveryMode=FILESYSTEM", f"spark.deploy.recoveryDirectory={tmp_path}/records")
    home.end_with("wait")
    with Dispatcher(tmp_path, f"mesos://{master.address}", home, *conf) as first:
        driver, waiting = first.submit(), first.submit(spark_driver_cores="64")
        wait_until(home.commands, "the driver runs")
        first.reaches(driver, "RUNNING")
        with Dispatcher(tmp_path, f"mesos://{master.address}", home, *conf, name="next") as second:
            first.process.kill(number)
            assert second.state(waiting) == "QUEUED"
            second.reaches(driver, "RUNNING")
            assert len(master.frameworks) == 1 and len(home.commands()) == 1
            assert second.ask("POST", f"kill/{driver}")[1]["success"]
            second.reaches(driver, "FINISHED")


def test_wrong_words_are_refused():
    def run(*words):
        done = subprocess.run([os.path.join(BIN, "firesteel"), "mesos-dispatcher", *words], capture_output=True, text=True,
                              timeout=60, check=False)
        return done.returncode, done.stderr
    assert run("--help")[0] == 0 and "Usage: MesosClusterDispatcher" in run("--help")[1]
    assert run() == (1, run()[1]) and "--master is required" in run()[1] and "Usage" in run()[1]
    assert run("--blarg")[0] == 1 and "Unrecognized option: '--blarg'" in run("--blarg")[1]
    status, error = run("--master", "spark://h:7077")
    assert status == 1 and "Cluster dispatcher only supports mesos (uri begins with mesos://)" in error


def test_native_driver_computes_pi(tmp_path, master):
    installation = Home(tmp_path / "installation")
    os.unlink(f"{installation.path}/bin/spark-submit")
    os.rmdir(f"{installation.path}/bin")
    os.symlink(BIN, f"{installation.path}/bin")
    with Dispatcher(tmp_path, f"mesos://{master.address}", installation) as d:
        status, answer = d.create(
            ["2"], {"HOME": str(tmp_path)},
            {"spark.app.name": "pi", "spark.cores.max": "1", "spark.driver.host": "127.0.0.1", "spark.ui.enabled": "false",
             "spark.driver.memory": "300m", "spark.executor.memory": "300m"}, f"file://{TOP}/examples/spark_pi.c", "main")
        assert status == 200, answer
        driver = answer["submissionId"]
        wait_until(lambda: d.state(driver) == "FINISHED", driver)
        outputs = [os.path.join(folder, "stdout") for folder, _, names in os.walk(master.folder) if "stdout" in names]
        assert any("Pi is roughly 3." in open(path, encoding="utf-8").read() for path in outputs)
        first, second = sorted(master.frameworks, key=len)
        assert second == f"{first}-{driver}"


def test_drivers_outlive_the_connection(dispatcher, master, home):
    home.end_with("wait")
    driver = dispatcher.submit()
    wait_until(home.commands, "the driver runs")
    framework, = master.frameworks.values()
    master.cut(framework)
    dispatcher.process.says("Registered as framework ID", times=2)
    assert list(master.frameworks.values()) == [framework]
    assert dispatcher.ask("POST", f"kill/{driver}")[1]["success"]
    dispatcher.reaches(driver, "FINISHED")


def test_removed_framework_is_replaced(dispatcher, master, home):
    home.end_with("wait")
    lost, supervised = dispatcher.submit(), dispatcher.submit(spark_driver_supervise="true")
    wait_until(lambda: len(home.commands()) == 2, "two drivers run")
    home.end_with("0")
    framework, = master.frameworks.values()
    with master.lock:
        master.remove(framework)
    dispatcher.reaches(supervised, "FINISHED")
    assert dispatcher.state(lost) == "FINISHED" and len(home.commands()) == 3
    assert len(master.frameworks) == 2


def test_silent_zookeeper_is_named(tmp_path, master, home):
    servers = f"127.0.0.1:{free_port()}"
    with Dispatcher(tmp_path, f"mesos://{master.address}", home, words=("--zk", servers)) as d:
        d.process.says(rf"ZooKeeper at {servers} does not answer, trying again: check the servers of spark\.deploy\.zookeeper\.url")
