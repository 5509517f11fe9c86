"""Logs of native applications on YARN: `firesteel logs`, links in events and reports, event logs, durable logs."""
import json
import os
import subprocess

import pytest

from conditions import wait_until
import fake_yarn_web
from folders import BIN
from monitoring import history_server_test
from yarn_submit import PI, cache, submit, yarn  # noqa: F401


def logs(submit, *words, **more):
    return subprocess.run([os.path.join(BIN, "firesteel"), "logs", *words], env=submit.environment | more, capture_output=True,
                          text=True, timeout=120, stdin=subprocess.DEVNULL, check=False)


def container_of_executor(app, number):
    return next(c for a in app.attempts for c in a.containers if f"Starting executor ID {number} on" in c.log())


def test_logs_of_a_running_application(submit):
    with submit.waiting(cluster=True) as (_, app):
        wait_until(lambda: all("Starting executor" in c.log() for c in app.executors()), "the executors' lines")
        done = logs(submit, app.name)
        assert done.returncode == 0, done.stderr
        assert done.stdout.count("\nLogType:stderr\n") == 3 and "LogAggregationType: LOCAL" in done.stdout
        assert f"Container: {app.attempt.container.name} on " in done.stdout and "counted" in done.stdout
        second = container_of_executor(app, 2)
        done = logs(submit, "--executor", "2", "--file", "stderr", app.name)
        assert done.stdout.count("LogType:") == 2 and second.name in done.stdout and "Starting executor ID 2 on" in done.stdout
        listed = [line.split("\t") for line in logs(submit, "--list", "--container", second.name, app.name).stdout.splitlines()]
        assert {words[2] for words in listed} == {"stdout", "stderr", "prelaunch.err"} and {w[0] for w in listed} == {second.name}
        done = logs(submit, "--executor", "77", app.name)
        assert done.returncode == 1 and 'begins with "Starting executor ID 77"' in done.stderr, done.stderr
        done = logs(submit, "--executor", "driver", "--file", "stdout", app.name)
        assert done.stdout.count("LogType:") == 2 and app.attempt.container.name in done.stdout and "counted" in done.stdout


def test_logs_ask_the_next_resourcemanager(submit, yarn):
    standby = fake_yarn_web.Server("127.0.0.1", lambda *_: 503)
    ha = [word for setting in ("ha.enabled=true", "ha.rm-ids=a,b", f"webapp.address.a=127.0.0.1:{standby.port}",
                               f"webapp.address.b=127.0.0.1:{yarn.web.port}")
          for word in ("--conf", f"spark.hadoop.yarn.resourcemanager.{setting}")]
    try:
        with submit.waiting(cluster=True) as (_, app):
            done = logs(submit, *ha, app.name)
            assert done.returncode == 0 and "LogAggregationType: LOCAL" in done.stdout, done.stderr
        yarn.web.close()
        done = logs(submit, *ha, app.name)
        assert "cannot ask the ResourceManager" in done.stderr and done.returncode == 1, done.stderr
    finally:
        standby.close()


@pytest.mark.parametrize("compression", ["none", "gz"])
def test_logs_of_an_ended_application(submit, yarn, compression):
    assert submit.run(PI, "2", cluster=True).returncode == 0
    app = yarn.last()
    executor = container_of_executor(app, 1).name
    wait_until(lambda: all(c.is_complete for c in yarn.containers.values()), "the containers' end")
    yarn.aggregate(app, compression)
    done = logs(submit, app.name)
    assert done.returncode == 0 and "Pi is roughly 3.1" in done.stdout, done.stderr
    assert done.stdout.count("LogAggregationType: AGGREGATED") == done.stdout.count("End of LogType:") == 9
    done = logs(submit, "--executor", "1", "--file", "stderr", app.name)
    assert done.stdout.count("LogType:") == 2 and executor in done.stdout
    done = logs(submit, "--executor", "driver", "--list", app.name)
    assert {line.split("\t")[0] for line in done.stdout.splitlines()} == {app.attempt.container.name}
    yarn.stop_rm()
    yarn.web.close()
    done = logs(submit, app.name, HADOOP_USER_NAME="bob")
    assert done.returncode == 1 and "cannot ask the ResourceManager" in done.stderr and "--user names another" in done.stderr
    done = logs(submit, "--user", "alice", "--list", app.name, HADOOP_USER_NAME="bob")
    assert done.returncode == 0 and executor in done.stdout


def test_logs_are_followed_to_the_end(submit, yarn):
    with submit.waiting(cluster=True) as (process, app):
        with open(submit.folder / "followed", "w", encoding="utf-8") as out, subprocess.Popen(
                [os.path.join(BIN, "firesteel"), "logs", "--follow", "--file", "stdout", app.name], env=submit.environment,
                stdout=out, stdin=subprocess.DEVNULL) as follower:
            wait_until(lambda: "counted\ncounted\n" in (submit.folder / "followed").read_text(), "the first lines")
            submit.open(process)
            wait_until(lambda: all(c.is_complete for c in yarn.containers.values()), "the containers' end")
            driver = app.attempt.container.log("stdout")
            yarn.aggregate(app)
            assert follower.wait(120) == 0
        lines = (submit.folder / "followed").read_text().splitlines()
        assert lines[0] == f"==> {app.attempt.container.name} stdout <=="
        assert lines[1:] == driver.splitlines(), "lines are missing or come twice"


@pytest.mark.parametrize("cluster", [False, True], ids=["client", "cluster"])
def test_events_link_to_the_logs(submit, yarn, cluster):
    events = submit.folder / "events"
    events.mkdir()
    done = submit.run(PI, "2", cluster=cluster, conf=[
        "spark.eventLog.enabled=true", f"spark.eventLog.dir=file:{events}", "spark.eventLog.compress=false",
        "spark.eventLog.rolling.enabled=false", "spark.hadoop.yarn.resourcemanager.cluster-id=depot"])
    assert done.returncode == 0, done.stderr
    app = yarn.last()
    logged = [json.loads(line) for line in next(events.iterdir()).read_text().splitlines()]
    start = next(e for e in logged if e["Event"] == "SparkListenerApplicationStart")
    assert start.get("App Attempt ID") == ("1" if cluster else None)
    infos = [e["Executor Info"] for e in logged if e["Event"] == "SparkListenerExecutorAdded"]

    def expected(container, port):
        address = container.message.node_http_address
        base = f"http://{address}/node/containerlogs/{container.name}/alice"
        return ({name: f"{base}/{name}?start=-4096" for name in ("stdout", "stderr")},
                {"HTTP_SCHEME": "http://", "NM_HOST": container.node.host, "NM_PORT": port, "NM_HTTP_ADDRESS": address,
                 "NM_HTTP_PORT": str(container.node.http.port), "CLUSTER_ID": "depot", "CONTAINER_ID": container.name,
                 "USER": "alice", "LOG_FILES": "stderr,stdout"})
    containers = {c.name: c for c in app.attempt.containers}
    for info in infos:
        container = containers[info["Attributes"]["CONTAINER_ID"]]
        assert (info["Log Urls"], info["Attributes"]) == expected(container, "-1")
    if cluster:
        driver = app.attempt.container
        assert (start["Driver Logs"], start["Driver Attributes"]) == expected(driver, str(driver.node.server.port))
    else:
        assert "Driver Logs" not in start and "Driver Attributes" not in start
    pattern = "http://{{CLUSTER_ID}}/{{NM_HOST}}:{{NM_HTTP_PORT}}/{{CONTAINER_ID}}/{{USER}}/{{FILE_NAME}}"
    history = history_server_test.Server(submit.folder, {"spark.history.fs.logDirectory": f"file:{events}",
                                                         "spark.history.custom.executor.log.url": pattern})
    try:
        history_server_test.wait_for(lambda: history.ids() == [app.name])
        shown = {e["id"]: e["executorLogs"] for e in history.json(f"applications/{app.name}{'/1' if cluster else ''}/allexecutors")}
    finally:
        history.end()
    assert shown.keys() == {"driver", "1", "2"}
    for executor, found in shown.items():
        container = app.attempt.container if executor == "driver" else container_of_executor(app, executor)
        base = f"http://depot/{container.node.host}:{container.node.http.port}/{container.name}/alice"
        if cluster or executor != "driver":
            assert found == {name: f"{base}/{name}" for name in ("stdout", "stderr")}


@pytest.mark.parametrize("cluster, variable, expected", [(False, {}, "carol"), (False, {"SPARK_USER": "dave"}, "dave"),
                                                         (True, {}, "carol"), (True, {"SPARK_USER": "dave"}, "carol")])
def test_the_application_of_a_proxy_user_is_theirs(submit, cluster, variable, expected):
    events = submit.folder / "events"
    events.mkdir()
    done = submit.run("--proxy-user", "carol", PI, "2", cluster=cluster, conf=[
        "spark.eventLog.enabled=true", f"spark.eventLog.dir=file:{events}", "spark.eventLog.compress=false",
        "spark.eventLog.rolling.enabled=false"], **variable)
    assert done.returncode == 0, done.stderr
    logged = [json.loads(line) for line in next(events.iterdir()).read_text().splitlines()]
    start = next(e for e in logged if e["Event"] == "SparkListenerApplicationStart")
    assert start["User"] == expected


def test_attempts_have_event_logs_of_their_own(submit, yarn):
    events = submit.folder / "events"
    events.mkdir()
    with submit.waiting(cluster=True, conf=[
            "spark.eventLog.enabled=true", f"spark.eventLog.dir=file:{events}", "spark.eventLog.compress=false",
            "spark.eventLog.rolling.enabled=false"]) as (process, app):
        app.attempt.container.kill(at_once=True)
        wait_until(lambda: len(app.attempts) == 2, "a second attempt")
        assert submit.open(process) == 0, submit.log()
    found = {}
    for path in events.iterdir():
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        start = next(e for e in lines if e["Event"] == "SparkListenerApplicationStart")
        properties = next(e for e in lines if e["Event"] == "SparkListenerEnvironmentUpdate")["Spark Properties"]
        found[path.name] = (start["App Attempt ID"], properties["spark.app.attempt.id"])
    assert found == {f"{app.name}_1.inprogress": ("1", "1"), f"{app.name}_2": ("2", "2")}


@pytest.mark.parametrize("wanted", [True, False])
def test_reports_link_to_the_driver_s_logs(submit, yarn, wanted):
    done = submit.run(PI, "2", cluster=True, conf=[f"spark.yarn.includeDriverLogsLink={str(wanted).lower()}"])
    assert done.returncode == 0, done.stderr
    driver = yarn.last().attempt.container
    for name in ("stdout", "stderr"):
        line = (f"\t Driver Logs ({name}): http://{driver.message.node_http_address}/node/containerlogs/{driver.name}/alice/"
                f"{name}?start=-4096\n")
        assert (line in done.stderr) == wanted, done.stderr


@pytest.mark.parametrize("words, message, status", [
    ([], "the application's id is missing", 2), (["--nope", "x"], "unknown option --nope", 2),
    (["--executor", "x", "y"], "--executor needs a number or driver, not x", 2), (["a", "b"], "more than one application: b", 2),
    (["--file"], "a value is missing for --file", 2), (["--list", "--follow", "x"], "exclude each other", 2),
    (["spark-1"], "spark-1", 1), (["--container", "c", "application_1_0001"], '"c"', 1),
    (["application_1_0001"], "has no such logs", 1)])
def test_logs_that_do_not_exist(submit, words, message, status):
    done = logs(submit, *words)
    assert done.returncode == status and message in done.stderr, done.stderr


@pytest.mark.parametrize("cluster", [False, True], ids=["client", "cluster"])
def test_durable_logs(submit, yarn, cluster):
    """The output of driver and executors is stored by themselves, without YARN's log aggregation."""
    done = submit.run(PI, "2", cluster=cluster, conf=[f"spark.firesteel.logs.dir=file:{submit.folder}/durable"])
    assert done.returncode == 0, done.stderr
    app = yarn.last()

    def printed(*words):
        return subprocess.run([os.path.join(BIN, "firesteel"), "logs", "--dir", f"file:{submit.folder}/durable", *words, app.name],
                              env=submit.environment, capture_output=True, text=True, timeout=120, check=False).stdout
    wait_until(lambda: "Pi is roughly 3.1" in printed("--file", "stdout"), printed)
    wait_until(lambda: "Starting executor ID 1 on host" in printed("--executor", "1"), printed)
    assert "Process: driver\nLogType:stdout\n" in printed()
