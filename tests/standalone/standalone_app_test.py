"""Native applications on a standalone cluster, as a user sees them: masters and workers are real processes, some of which
die."""
import json
import os
import re
import signal
import socket
import subprocess
import urllib.request

import pytest

from blocking_job import finish, hold, pids, running
from folders import BIN, TOP
from free_ports import free_port
from slow_relay import SlowRelay
from standalone_cluster import wait_for


def test_an_application_hears_why_no_executor_can_be_had(cluster, blocking_job):
    master = cluster.master()
    cluster.worker(master.url, cores=2, memory="1g")
    app = hold(cluster, blocking_job, master.url, "large", 2, ["spark.executor.cores=64", "spark.executor.memory=4g"])
    app.says(r"WARN .*No worker can ever hold an executor of 64 cores and 4096 MiB of memory: the only worker, worker-\S+, "
             r"has 2 cores and 1024 MiB of memory\. Set spark\.executor\.cores to at most 2 and spark\.executor\.memory to "
             r"at most 1024m, or start a larger worker\.")
    cluster.worker(master.url, cores=64, memory="4g")
    wait_for(lambda: pids(app), "an executor on the larger worker")
    app.release()
    finish(app, 2)
    assert app.log().count("No worker can ever hold") == 1


def test_words_are_counted(cluster):
    (cluster.folder / "in.txt").write_text("a b a\nc a\n" * 50)
    master = cluster.master()
    workers = [cluster.worker(master.url, cores=1), cluster.worker(master.url, cores=1)]
    app = cluster.submit(master.url, f"{TOP}/examples/wordcount.c", "in.txt", "out")
    assert app.end() == 0, app.log()
    lines = [line for part in (cluster.folder / "out").glob("part-*") for line in part.read_text().split()]
    assert sorted(lines) == ["(a,150)", "(b,50)", "(c,50)"]
    app_id = app.says(r"Connected to Spark cluster with app ID (app-\d{14}-\d{4})").group(1)
    master.says(f"Removing app {app_id}")
    wait_for(lambda: not cluster.executors(), "the executors' end")
    assert [len(list((w.work / app_id).iterdir())) for w in workers] == [1, 1]
    assert " ERROR " not in app.log()


def test_no_executor_replaces_one_that_stops_with_the_application(cluster):
    """The master hears late from the driver: executors have ended before the application is unregistered."""
    (cluster.folder / "in.txt").write_text("a b a\nc a\n" * 50)
    master = cluster.master()
    worker = cluster.worker(master.url, cores=1)
    with SlowRelay(master.port, 0.3) as relay:
        app = cluster.submit(f"spark://127.0.0.1:{relay.port}", f"{TOP}/examples/wordcount.c", "in.txt", "out")
        assert app.end() == 0, app.log()
        master.says("Removing app app-")
    app_id = app.says(r"Connected to Spark cluster with app ID (app-\d{14}-\d{4})").group(1)
    assert re.findall(rf"Launching executor {app_id}/(\d+) on", master.log()) == ["0"], master.log()
    assert [path.name for path in (worker.work / app_id).iterdir()] == ["0"]


READS_WHERE_IT_RUNS = """
#include <firesteel/firesteel.h>
#include <stdio.h>
#include <stdlib.h>

static int64_t size(fst_task *task, int64_t i)
{
        char text[100] = "";
        FILE *file = fopen(i ? "packed/inner.txt" : "words.txt", "r");
        if (!file)
                return fst_fail(task, "%s is not where the executor runs", i ? "packed" : "words.txt");
        size_t n = fread(text, 1, sizeof(text), file);
        fclose(file);
        return (int64_t)n;
}

int main(void)
{
        fst_context *sc = fst_context_new("reads");
        int64_t sum = 0;
        if (fst_sum(fst_map(fst_range_n(sc, 0, 2, 2), size, FST_I64), &sum) == 0)
                printf("read %lld bytes\\n", (long long)sum);
        return fst_context_stop(sc);
}
"""


def test_files_and_archives_lie_where_executors_run(cluster):
    (cluster.folder / "reads.c").write_text(READS_WHERE_IT_RUNS)
    (cluster.folder / "words.txt").write_text("a b\n")
    (cluster.folder / "inner.txt").write_text("inner\n")
    subprocess.run(["tar", "czf", "some.tar.gz", "inner.txt"], cwd=cluster.folder, check=True)
    master = cluster.master()
    cluster.worker(master.url, cores=1)
    app = cluster.submit(master.url, "reads.c", options=["--files", "words.txt", "--archives", "some.tar.gz#packed"])
    assert app.end() == 0, app.log()
    assert "read 10 bytes\n" in app.log()
    assert not (cluster.folder / "packed").exists()


def test_several_applications_share_the_workers(cluster, blocking_job):
    master = cluster.master()
    cluster.worker(master.url, cores=3, memory="4g")
    apps = [hold(cluster, blocking_job, master.url, f"app{i}", 1, conf=["spark.cores.max=1"]) for i in range(3)]
    for app in apps:
        wait_for(lambda app=app: running(app), lambda app=app: f"a task in\n{app.log()[-2000:]}")
    assert len({app.says(r"application (app-\S+)").group(1) for app in apps}) == 3
    for app in apps:
        app.release()
    for app in apps:
        finish(app, 1)


def test_cores_and_memory_are_what_was_asked_for(cluster, blocking_job):
    master = cluster.master()
    cluster.worker(master.url, cores=4, memory="1g")
    app = hold(cluster, blocking_job, master.url, "app", 8,
               conf=["spark.cores.max=3", "spark.executor.cores=1", "spark.executor.memory=300m"])
    wait_for(lambda: len(running(app)) == 3, "three tasks")
    assert len(pids(app)) == 3
    assert app.says(r"Granted executor ID \S+ on hostPort \S+ with 1 core\(s\), 300.0 MiB RAM", times=3)
    app.release()
    finish(app, 8)


def test_an_application_waits_for_a_worker_that_is_large_enough(cluster, blocking_job):
    master = cluster.master()
    cluster.worker(master.url, cores=1, memory="512m")
    app = hold(cluster, blocking_job, master.url, "app", 1, conf=["spark.executor.memory=600m", "spark.starvation.timeout=100ms"])
    app.says("Initial job has not accepted any resources")
    assert not running(app)
    cluster.worker(master.url, cores=1, memory="2g")
    app.release()
    finish(app, 1)


def test_a_killed_executor_is_replaced(cluster, blocking_job):
    master = cluster.master()
    cluster.worker(master.url, cores=2)
    app = hold(cluster, blocking_job, master.url, "app", 2)
    wait_for(lambda: len(running(app)) == 2, "two tasks")
    (first,) = pids(app)
    os.kill(first, signal.SIGKILL)
    wait_for(lambda: len({part for pid, part in running(app) if pid != first}) == 2, "tasks of another executor")
    app.release()
    finish(app, 2)
    assert re.search(r"Executor updated: app-\S+/0 is now EXITED \(Command exited with code 137", app.log())
    assert re.search(r"Lost executor 0 on 127.0.0.1: Command exited with code 137 \((died from signal )?SIGKILL", app.log())


@pytest.mark.parametrize("number, status", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted_driver_unregisters_at_once(cluster, blocking_job, number, status):
    master = cluster.master(**{"spark.firesteel.standalone.reconnectTimeout": "10min"})
    cluster.worker(master.url, cores=2)
    app = hold(cluster, blocking_job, master.url, "app", 2)
    (executor,) = wait_for(lambda: len(running(app)) == 2 and pids(app), "two tasks")
    app_id = app.says(r"Connected to Spark cluster with app ID (\S+)")[1]
    os.kill(app.pid, number)
    assert app.end() == status
    master.says(f"Received unregister request from application {app_id}\n(.*\n)*.*Removing app {app_id}")
    wait_for(lambda: not os.path.exists(f"/proc/{executor}"), "the executor's end")
    page = master.says(r"Bound MasterWebUI to .* and started at (http://\S+)")[1]
    with urllib.request.urlopen(f"{page}/json/") as answer:
        state = json.load(answer)
    assert not state["activeapps"]
    assert [(done["id"], done["state"]) for done in state["completedapps"]] == [(app_id, "FINISHED")]
    assert "got disassociated" not in master.log()
    assert "Application has been killed" not in app.log()


def test_a_killed_worker_takes_its_executors_with_it(cluster, blocking_job):
    master = cluster.master()
    first = cluster.worker(master.url, cores=1)
    app = hold(cluster, blocking_job, master.url, "app", 1)
    (pid,) = wait_for(lambda: pids(app), "a task")
    first.kill()
    wait_for(lambda: not os.path.exists(f"/proc/{pid}"), "the executor's end")
    cluster.worker(master.url, cores=1)
    wait_for(lambda: pids(app) - {pid}, lambda: f"a task elsewhere:\n{app.log()[-2000:]}")
    app.release()
    finish(app, 1)
    assert re.search(r"Executor updated: app-\S+/0 is now LOST \(worker lost", app.log())
    assert re.search(r"Master removed worker worker-\S+", app.log())


def recovery(cluster):
    (cluster.folder / "recovery").mkdir(exist_ok=True)
    return {"spark_deploy_recoveryMode": "FILESYSTEM", "spark_deploy_recoveryDirectory": str(cluster.folder / "recovery")}


def steps(cluster, blocking_job, master, n):
    folder = cluster.folder / "steps"
    folder.mkdir()
    app = cluster.submit(master, blocking_job, "steps", folder, n)
    app.step = lambda i: (folder / str(i)).touch()
    return app


def replace_executor(cluster):
    """Kills the only executor, and waits for a replacement, which only a master that knows the application can start."""
    ((number, pid),) = wait_for(cluster.executors, "an executor").items()
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: cluster.executors().keys() - {number}, "another executor")


def test_an_application_does_not_notice_that_its_master_was_restarted(cluster, blocking_job):
    master = cluster.master(free_port(), **recovery(cluster))
    cluster.worker(master.url, cores=2)
    app = steps(cluster, blocking_job, master.url, 3)
    app.step(0)
    app.says("counted 4 in job 0")
    master.kill()
    app.says("Disconnected from Spark cluster! Waiting for reconnection")
    app.step(1)
    app.says("counted 4 in job 1")
    second = cluster.master(master.port, **recovery(cluster))
    second.says("Recovery complete")
    replace_executor(cluster)
    app.step(2)
    assert app.end() == 0, app.log()
    app.says("counted 4 in job 2")
    second.says("Received unregister request from application app-")


def test_another_master_takes_over(cluster, blocking_job):
    port = free_port()
    first = cluster.master(**recovery(cluster))
    both = f"{first.url},127.0.0.1:{port}"
    cluster.worker(both, cores=2)
    app = steps(cluster, blocking_job, both, 3)
    app.step(0)
    app.says("counted 4 in job 0")
    first.kill()
    app.step(1)
    app.says("counted 4 in job 1")
    second = cluster.master(port, **recovery(cluster))
    second.says("Recovery complete")
    app.says(f"Master has changed, new master is at spark://127.0.0.1:{port}")
    replace_executor(cluster)
    app.step(2)
    assert app.end() == 0, app.log()
    app.says("counted 4 in job 2")
    second.says("Received unregister request from application app-")


def test_an_application_that_came_while_masters_stood_by_is_called(cluster, blocking_job):
    first = cluster.master(**recovery(cluster))
    second = cluster.master(**recovery(cluster))
    both = f"{first.url},127.0.0.1:{second.port}"
    first.process.send_signal(signal.SIGSTOP)
    # By itself it would retry only after minutes.
    app = hold(cluster, blocking_job, both, "app", 1, conf=["spark.firesteel.standalone.registrationTimeout=1h"])
    app.says(f"Connecting to master spark://127.0.0.1:{second.port}")
    app.release()
    first.kill()
    second.says("I have been elected leader! New state: ALIVE")
    cluster.worker(both)
    finish(app, 1)


def test_executors_that_cannot_start_end_the_application(cluster, blocking_job):
    master = cluster.master(spark_deploy_maxExecutorRetries=2)
    cluster.worker(master.url, cores=1)
    with socket.socket() as taken:
        taken.bind(("0.0.0.0", 0))
        taken.listen()
        app = hold(cluster, blocking_job, master.url, "app", 1, conf=[
            f"spark.blockManager.port={taken.getsockname()[1]}", "spark.driver.blockManager.port=0",
            "spark.port.maxRetries=0"])
        assert app.end() == 1, app.log()
    app.says(r"no executor can be kept running: \d+ have ended in a row; the last one: Command exited with code 1")
    app.says("Command exited with code 1: it could not start, was refused, or lost its driver")
    assert "counted" not in app.log()


SECRET = {"spark.authenticate": "true", "spark.authenticate.secret": "0123456789abcdef" * 4}


def as_conf(settings):
    return [f"{key}={value}" for key, value in settings.items()]


def test_a_secret_is_shared_by_the_cluster(cluster, blocking_job):
    wrong = dict(SECRET, **{"spark.authenticate.secret": "f" * 64})
    master = cluster.master(**SECRET)
    cluster.worker(master.url, cores=1, **SECRET)
    right = hold(cluster, blocking_job, master.url, "right", 1, conf=as_conf(SECRET))
    right.release()
    finish(right, 1)
    assert "counted 1 in job 0" in right.log()
    for name, conf in (("wrong", wrong), ("none", {})):
        app = hold(cluster, blocking_job, master.url, name, 1, conf=[*as_conf(conf), "spark.firesteel.standalone.registrationTimeout=2s"])
        assert app.end() == 1
        assert "or has another spark.authenticate.secret" in app.log(), app.log()


def test_drivers_and_workers_need_the_secret(cluster, blocking_job):
    (cluster.folder / "in.txt").write_text("a b a\n")
    right, wrong = SECRET, dict(SECRET, **{"spark.authenticate.secret": "f" * 64})
    master = cluster.master(**right)
    strangers = [cluster.daemon("worker", ["-c", "8", "-m", "8g", "-d", str(cluster.folder / f"other{i}"), master.url], settings)
                 for i, settings in enumerate((wrong, {}))]
    for stranger in strangers:
        stranger.says("Failed to connect to master")
    cluster.worker(master.url, cores=2, memory="3g", **right)
    for name, conf, status in (("right", right, 0), ("wrong", wrong, 1), ("none", {}, 1)):
        submit = cluster_mode(cluster, master.url, False, f"{TOP}/examples/wordcount.c", cluster.folder / "in.txt",
                              cluster.folder / f"out-{name}", conf=as_conf(conf))
        assert submit.end() == status, submit.log()
        assert ("State of driver" in submit.log() or "successfully" in submit.log()) == (status == 0), submit.log()
    wait_for((cluster.folder / "out-right" / "_SUCCESS").exists, "the driver's output")
    assert not (cluster.folder / "out-wrong").exists() and not (cluster.folder / "out-none").exists()
    for stranger in strangers:
        assert "Successfully registered" not in stranger.log()
        stranger.kill()


@pytest.mark.parametrize("conf, message", [
    ([], "All masters are unresponsive! Giving up."),
    (["spark.executor.cores=3", "spark.cores.max=2"], "spark.executor.cores (3) is more than spark.cores.max (2)"),
    (["spark.cores.max=none"], "Total executor cores must be a positive number"),
])
def test_rejects_unreachable_masters_and_invalid_cores(cluster, blocking_job, conf, message):
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        url = f"spark://127.0.0.1:{nobody.getsockname()[1]}"
        app = hold(cluster, blocking_job, url, "app", 1,
                   conf=["spark.firesteel.standalone.registrationTimeout=300ms", *conf])
        assert app.end() == 1
    assert message in app.log()
    if not conf:
        assert f"Reason: {message}\n" in app.log()
        assert f"from cluster scheduler: {message} No master answers at {url}: start one there" in app.log()


# ----------------------------------------------------------------------------------------------------- in the cluster

def cluster_mode(cluster, master, rest, *words, conf=(), wait=True):
    return cluster.submit(master, *words, conf=[f"spark.master.rest.enabled={str(rest).lower()}",
                                                f"spark.standalone.submit.waitAppCompletion={str(wait).lower()}",
                                                "spark.firesteel.submit.reportInterval=50ms", *conf],
                          options=["--deploy-mode", "cluster"])


@pytest.mark.parametrize("way", ["rest", "gateway", "fallback"])
def test_a_driver_runs_in_the_cluster(cluster, way):
    (cluster.folder / "in.txt").write_text("a b a\n")
    master = cluster.master(spark_master_rest_enabled=str(way == "rest").lower(), spark_master_rest_port=0)
    cluster.worker(master.url, cores=2, memory="3g")
    port = int(master.says(r"REST server .* port (\d+)").group(1)) if way == "rest" else master.port
    url = f"spark://127.0.0.1:{port}"
    submit = cluster_mode(cluster, url, way != "gateway", f"{TOP}/examples/wordcount.c", cluster.folder / "in.txt",
                          cluster.folder / "out")
    assert submit.end() == 0, submit.log()
    lines = [line for part in (cluster.folder / "out").glob("part-*") for line in part.read_text().split()]
    assert sorted(lines) == ["(a,2)", "(b,1)"]
    assert ("Falling back to legacy submission gateway" in submit.log()) == (way == "fallback")
    assert ("ClientEndpoint: Driver successfully submitted as driver-" in submit.log()) == (way != "rest")
    master.says(r"Removing driver: driver-\d{14}-\d{4} \(FINISHED\)")


def driver_process(cluster):
    """The process of the only running driver."""
    found = [pid for pid, line in cluster.marked().items() if line.startswith("firesteel driver ")]
    return found[0] if len(found) == 1 else None


def test_a_driver_that_begins_again_finds_the_master_that_follows(cluster, blocking_job):
    # The submission does not name the second master, whose ports differ from the first one's.
    port = free_port()
    first = cluster.master(spark_master_rest_enabled="true", spark_master_rest_port=0, **recovery(cluster))
    rest = first.says(r"REST server .* port (\d+)").group(1)
    worker = cluster.worker(f"{first.url},127.0.0.1:{port}", cores=3, memory="3g")
    folder = cluster.folder / "steps"
    folder.mkdir()
    submit = cluster_mode(cluster, f"spark://127.0.0.1:{rest}", True, "--supervise", blocking_job, "steps", folder, 2,
                          wait=False, conf=["spark.driver.memory=300m"])
    assert submit.end() == 0, submit.log()
    (folder / "0").touch()
    said = lambda: "".join(path.read_text() for path in worker.work.glob("driver-*/stdout"))
    wait_for(lambda: said().count("counted 4 in job 0") == 1, "the first job")
    first.kill()
    second = cluster.master(port, **recovery(cluster))
    second.says("Recovery complete")
    os.kill(wait_for(lambda: driver_process(cluster), "the driver's process"), signal.SIGKILL)
    wait_for(lambda: said().count("counted 4 in job 0") == 2, "the first job, again")
    (folder / "1").touch()
    second.says(r"Removing driver: driver-\d{14}-\d{4} \(FINISHED\)")
    assert said().count("counted 4 in job 1") == 1


def test_a_driver_that_ends_while_its_master_is_frozen_is_not_run_again(cluster, blocking_job):
    port = free_port()
    first = cluster.master(**recovery(cluster))
    worker = cluster.worker(f"{first.url},127.0.0.1:{port}", cores=3, memory="3g")
    folder = cluster.folder / "tasks"
    folder.mkdir()
    submit = cluster_mode(cluster, first.url, False, "--supervise", blocking_job, "hold", folder, 1, wait=False,
                          conf=["spark.driver.memory=300m"])
    driver = submit.says(r"Driver successfully submitted as (driver-\S+)").group(1)
    wait_for(lambda: list(folder.iterdir()), "a task")
    first.process.send_signal(signal.SIGSTOP)
    (folder / "go").touch()
    worker.says(f"Driver {driver} exited successfully")
    first.kill()
    second = cluster.master(port, spark_deploy_recoveryTimeout="1s", **recovery(cluster))
    second.says("Recovery complete")
    second.says(rf"Removing driver: {driver} \(FINISHED\)")
    assert "Re-launching" not in second.log()
    assert [path.name for path in worker.work.glob("driver-*")] == [driver]


def test_a_driver_is_killed_by_the_gateway(cluster, blocking_job):
    master = cluster.master()
    cluster.worker(master.url, cores=2, memory="3g")
    tasks = cluster.folder / "tasks"
    tasks.mkdir()
    submit = cluster_mode(cluster, master.url, False, blocking_job, "hold", tasks, 1)
    driver = submit.says(r"Driver successfully submitted as (driver-\S+)").group(1)
    wait_for(lambda: list(tasks.iterdir()), lambda: f"a task:\n{master.log()}")
    client = [os.path.join(BIN, "firesteel"), "class", "org.apache.spark.deploy.Client"]
    assert cluster.start("client", [*client, "kill", master.url, driver]).end() == 0
    assert submit.end() == 1
    assert f"State of driver {driver} is KILLED" in submit.log()
    again = cluster.start("client", [*client, "kill", master.url, driver])
    assert again.end() == 255, again.log()


def test_a_driver_that_cannot_be_is_refused(cluster, blocking_job):
    master = cluster.master()
    jar = cluster_mode(cluster, master.url, False, "file:/nowhere/app.jar", conf=["spark.app.name=x"])
    assert jar.end() != 0
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        alone = cluster_mode(cluster, f"spark://127.0.0.1:{nobody.getsockname()[1]}", False, blocking_job, "hold", "x", 1)
        assert alone.end() == 1
    assert "No master is available: " in alone.log() and ", exiting." in alone.log()
