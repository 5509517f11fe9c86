"""Native applications on YARN, on the ResourceManager and NodeManagers of tests/yarn/fake_yarn.py."""
import contextlib
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import threading
import zipfile

import pytest

TESTS = pathlib.Path(__file__).resolve().parent
sys.path.append(str(TESTS / "yarn"))
import fake_yarn_web  # noqa: E402
from fake_node import wait_until  # noqa: E402
from fake_yarn import ACCEPTED, FAILED, FINAL_FAILED, FINAL_SUCCEEDED, FINISHED, KILLED, RUNNING, FakeYarn  # noqa: E402
from gated_application import Application  # noqa: E402
from sanitizers import SANITIZED  # noqa: E402
from standalone_cluster import BIN, free_port  # noqa: E402
from submitter import Submitter  # noqa: E402

PI = str(TESTS.parent / "examples" / "spark_pi.c")
UNMANAGED = "spark.yarn.unmanagedAM.enabled=true"
QUICK = ("spark.yarn.scheduler.heartbeat.interval-ms=50", "spark.yarn.scheduler.initial-allocation.interval=20ms",
         "spark.yarn.report.interval=50ms", "spark.executor.memory=200m", "spark.executor.instances=2", "spark.driver.host=127.0.0.1",
         "spark.log.level=INFO")

# Runs jobs until a file exists or a job fails. Its status is the second argument.
WAITING = """#include <firesteel/firesteel.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
        fst_context *sc = fst_context_new("waiting");
        int64_t n = 0;
        do {
                if (fst_count(fst_range_n(sc, 0, 10, 2), &n) != 0 || n != 10)
                        break;
                printf("counted\\n");
                fflush(stdout);
                usleep(50000);
        } while (access(argv[1], F_OK) != 0);
        const int status = fst_context_stop(sc);
        return status ? 1 : argc > 2 ? atoi(argv[2]) : 0;
}
"""

# Runs a job, sleeps until a file exists, and runs another one. Its status says whether the last one succeeded.
SLEEPING = """#include <firesteel/firesteel.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
        fst_context *sc = fst_context_new("sleeping");
        int64_t n = 0;
        fst_count(fst_range_n(sc, 0, 10, 2), &n);
        printf("counted\\n");
        fflush(stdout);
        while (access(argv[1], F_OK) != 0)
                usleep(20000);
        const int r = fst_count(fst_range_n(sc, 0, 10, 2), &n);
        return fst_context_stop(sc) || r ? 1 : 0;
}
"""

# Ends without a context, after a job, or with a status.
ENDING = """#include <firesteel/firesteel.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
        if (strcmp(argv[1], "none") == 0)
                return 0;
        fst_context *sc = fst_context_new("ending");
        int64_t n;
        if (strcmp(argv[1], "count") == 0 && fst_count(fst_range_n(sc, 0, 10, 2), &n) != 0)
                return 1;
        fst_context_stop(sc);
        return atoi(argv[1]);
}
"""

# Prints what the driver and a task find under "data.txt", "other.txt" (a link) and "packed" (an archive).
FILES = """#include <firesteel/firesteel.h>
#include <stdio.h>
#include <string.h>
static int read_line(const char *folder, const char *name, char line[64])
{
        char path[4096];
        snprintf(path, sizeof(path), "%s%s", folder, name);
        FILE *f = fopen(path, "r");
        const int ok = f && fgets(line, 64, f);
        if (f)
                fclose(f);
        return ok ? 0 : -1;
}
static int lines(fst_task *task, int64_t x, fst_out *out)
{
        static const char *const names[] = {"data.txt", "other.txt", "packed"};
        const char *path = fst_file(task, names[x]);
        char found[64] = "", here[64] = "", both[160];
        if (!path || read_line(path, x == 2 ? "/inner.txt" : "", found) || read_line(names[x], x == 2 ? "/inner.txt" : "", here))
                return fst_fail(task, "%s cannot be read", names[x]);
        snprintf(both, sizeof(both), "%s+%s", found, here);
        fst_emit(out, fst_bytes_of(both));
        return 0;
}
int main(void)
{
        fst_context *sc = fst_context_new("files");
        const char *names[3];
        char line[64] = "";
        const int n = fst_list_files(sc, names, 3);
        for (int i = 0; i < n; i++)
                if (fst_file(sc, names[i]) && read_line(fst_file(sc, names[i]), "", line) == 0)
                        printf("driver %s=%s\\n", names[i], line);
        if (fst_file(sc, "packed") && read_line(fst_file(sc, "packed"), "/inner.txt", line) == 0)
                printf("driver packed=%s\\n", line);
        if (fst_list_archives(sc, names, 3) != 1)
                printf("another number of archives\\n");
        fst_show(fst_flat_map(fst_range_n(sc, 0, 3, 3), lines, FST_BYTES), 3);
        return fst_context_stop(sc) ? 1 : 0;
}
"""


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """The compiled applications and the archive of Firesteel, of all tests."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def yarn(tmp_path):
    with FakeYarn(tmp_path / "yarn") as made:
        yield made


@pytest.fixture
def submit(tmp_path, cache, yarn):
    return Submit(tmp_path, cache, yarn)


class Submit:
    """spark-submit --master yarn, to its end or in the background."""

    def __init__(self, folder, cache, yarn):
        self.folder, self.cache, self.yarn, self.gate = folder, cache, yarn, folder / "gate"
        (folder / "waiting.c").write_text(WAITING)
        (folder / "sleeping.c").write_text(SLEEPING)
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK_", "MASTER", "HADOOP_", "YARN_", "_SPARK"))}
        self.environment = dict(kept, XDG_CACHE_HOME=str(cache), HOME=str(folder), HADOOP_CONF_DIR=yarn.conf,
                                HADOOP_USER_NAME="alice", SPARK_CONF_DIR=str(folder))

    def settings(self, *conf):
        return [*QUICK, f"spark.firesteel.yarn.cacheDir=file:{self.cache}", *conf]

    def command(self, *words, conf=(), cluster=False):
        out = [os.path.join(BIN, "spark-submit"), "--master", "yarn", *(["--deploy-mode", "cluster"] if cluster else [])]
        for setting in self.settings(*conf):
            out += ["--conf", setting]
        return [*out, *map(str, words)]

    def run(self, *words, conf=(), cluster=False, **more):
        return subprocess.run(self.command(*words, conf=conf, cluster=cluster), cwd=self.folder, capture_output=True, text=True,
                              env=self.environment | more, timeout=60, stdin=subprocess.DEVNULL, check=False)

    @contextlib.contextmanager
    def waiting(self, *words, conf=(), cluster=False, source="waiting.c", **more):
        """The application WAITING, or another one, which has counted; yields (process, the fake's application)."""
        command = self.command(source, self.gate, *words, conf=conf, cluster=cluster)
        log = self.folder / "log"
        with open(log, "w", encoding="utf-8") as out, subprocess.Popen(
                command, cwd=self.folder, env=self.environment | more, stdout=out, stderr=out, stdin=subprocess.DEVNULL) as process:
            try:
                wait_until(lambda: process.poll() is not None or self.yarn.submitted(), "an application")
                assert process.poll() is None, self.log()
                app = self.yarn.last()
                wait_until(lambda: process.poll() is not None or "counted" in self.printed(app, cluster),
                           lambda: f"the count: {self.log()}")
                assert process.poll() is None, self.log()
                yield process, app
            finally:
                self.gate.touch()
                try:
                    process.wait(30)
                finally:
                    process.kill()

    def printed(self, app, cluster):
        with self.yarn.lock:
            container = app.attempt.container if cluster and app.attempt else None
        return container.log("stdout") if container else "" if cluster else self.log()

    def log(self):
        return (self.folder / "log").read_text(encoding="utf-8", errors="replace")

    def logs(self, pattern):
        wait_until(lambda: re.search(pattern, self.log()), lambda: f"{pattern!r} in {self.log()[-5000:]}")

    def open(self, process):
        """Lets the application end. Returns its status."""
        self.gate.touch()
        return process.wait(30)


def gated(submit, *conf):
    """An application of gated_application.py in client mode."""
    folder = submit.folder / "gated"
    folder.mkdir()
    return Application(folder, "yarn", *submit.settings(*conf), allocation=False,
                       environment={k: submit.environment[k] for k in ("HOME", "HADOOP_CONF_DIR", "HADOOP_USER_NAME", "XDG_CACHE_HOME")})


# ------------------------------------------------------------------------------------------------------------- success

@pytest.mark.parametrize("conf", [(), (UNMANAGED,), ("spark.authenticate=true",)], ids=["managed", "unmanaged", "secret"])
def test_client_mode(submit, yarn, conf):
    done = submit.run(PI, "2", conf=(*conf, "spark.yarn.queue=default", "spark.yarn.tags=a,b", "spark.yarn.priority=3"))
    assert done.returncode == 0 and "Pi is roughly 3.1" in done.stdout, done.stderr
    app = yarn.last()
    assert (app.state, app.final_status, app.diagnostics) == (FINISHED, FINAL_SUCCEEDED, "")
    assert app.user == "alice" and app.context.application_type == "SPARK" and app.context.application_name == "Spark Pi"
    assert app.context.application_tags == ["a", "b"] and app.context.priority.priority == 3
    assert bool(app.attempt.container) == (UNMANAGED not in conf)


def test_the_queue_is_asked_at_intervals(submit, yarn):
    yarn.undecided_s = 4
    done = submit.run(PI, "2", conf=("spark.hadoop.yarn.client.application-client-protocol.poll-interval-ms=40",
                                     "spark.yarn.report.interval=10s"))
    assert done.returncode == 0, done.stderr
    assert 62 < yarn.reports <= 4000 / 40 + 20


def test_cluster_mode(submit, yarn):
    done = submit.run(PI, "2", cluster=True)
    assert done.returncode == 0, done.stderr
    app = yarn.last()
    assert (app.state, app.final_status) == (FINISHED, FINAL_SUCCEEDED)
    assert "Pi is roughly 3.1" in app.attempt.container.log("stdout")
    assert re.search(r"Application report for application_\d+_0001 \(state: FINISHED\)", done.stderr)
    assert "final status: SUCCEEDED" in done.stderr
    assert not (submit.folder / ".sparkStaging").exists(), "a plain application has no staging directory"
    files = submit.cache / "files-alice"
    assert files.stat().st_mode & 0o777 == 0o700 and any(name.endswith("-spark_pi.so") for name in os.listdir(files))
    assert not any("_COPYING_" in name for name in os.listdir(files))


def test_a_set_staging_directory_is_used(submit, yarn):
    done = submit.run(PI, "2", cluster=True, conf=[f"spark.yarn.stagingDir=file:{submit.folder}/staging"])
    assert done.returncode == 0, done.stderr
    app = yarn.last()
    folder = f"{submit.folder}/staging/alice/.sparkStaging/{app.name}"
    files = {r.key: r.value.resource.file for r in app.context.am_container_spec.local_resources}
    assert files["spark_pi.so"] == f"{folder}/spark_pi.so" and files["__spark_conf__"] == f"{folder}/__spark_conf__.zip", files
    assert "Pi is roughly 3.1" in app.attempt.container.log("stdout")
    assert os.listdir(submit.folder / "staging" / "alice" / ".sparkStaging") == [], "the staging directory stays"


def test_a_large_configuration_is_staged(submit, yarn):
    done = submit.run(PI, "2", cluster=True, conf=["spark.large=" + "x" * 70000])
    assert done.returncode == 0, done.stderr
    assert "Pi is roughly 3.1" in yarn.last().attempt.container.log("stdout")
    assert os.listdir(submit.folder / ".sparkStaging") == [], "the staging directory stays"


def test_a_directory_of_files_that_others_may_enter_is_refused(submit):
    other = submit.folder / "open"
    (other / "files-alice").mkdir(parents=True)
    (other / "files-alice").chmod(0o777)
    done = submit.run(PI, "2", cluster=True, conf=[f"spark.firesteel.yarn.cacheDir=file:{other}"])
    assert done.returncode == 1 and f"file:{other}/files-alice has the mode 777" in done.stderr, done.stderr


def test_a_driver_s_status_fails_the_application_in_cluster_mode(submit, yarn):
    submit.gate.touch()
    done = submit.run("waiting.c", submit.gate, "3", cluster=True, conf=["spark.yarn.maxAppAttempts=1"])
    assert done.returncode == 1 and "finished with failed status" in done.stderr, done.stderr
    assert yarn.last().state == FAILED or yarn.last().final_status == FINAL_FAILED
    assert "User application exited with status 3" in done.stderr


def test_heartbeats_stay_frequent_while_containers_come(submit, yarn):
    """Intervals that only doubled would be 100 ms to 102 s."""
    yarn.grants_at_once = 1
    done = submit.run(PI, "2", conf=["spark.yarn.scheduler.heartbeat.interval-ms=600s", "spark.executor.instances=11",
                                     "spark.yarn.scheduler.initial-allocation.interval=100ms", "spark.executor.memoryOverhead=1m",
                                     "spark.scheduler.minRegisteredResourcesRatio=1.0",
                                     "spark.scheduler.maxRegisteredResourcesWaitingTime=30s"])
    assert done.returncode == 0, done.stderr
    assert len(re.findall("Registered executor", done.stderr)) == 11, done.stderr


def test_the_final_message_is_limited(submit, yarn):
    submit.gate.touch()
    done = submit.run("waiting.c", submit.gate, "3", cluster=True, conf=["spark.yarn.maxAppAttempts=1",
                                                                        "spark.yarn.am.finalMessageLimit=20b"])
    assert done.returncode == 1 and yarn.last().diagnostics == "User application ...", done.stderr


@pytest.mark.parametrize("setting, message", [
    ("spark.yarn.am.waitTime=-1s", "spark.yarn.am.waitTime is -1000 ms, but must not be negative"),
    ("spark.yarn.am.finalMessageLimit=3b", "spark.yarn.am.finalMessageLimit is 3 bytes, but must be at least 4")])
def test_settings_of_the_driver_are_refused_before_the_submission(submit, yarn, setting, message):
    done = submit.run(PI, "2", cluster=True, conf=[setting])
    assert done.returncode == 1 and message in done.stderr and not yarn.submitted(), done.stderr


def files_of_an_application(folder):
    (folder / "files.c").write_text(FILES)
    (folder / "data.txt").write_text("data")
    (folder / "another-name.txt").write_text("linked")
    with zipfile.ZipFile(folder / "packed.zip", "w") as archive:
        archive.writestr("inner.txt", "inner")
    return ("--files", f"{folder}/data.txt,{folder}/another-name.txt#other.txt", "--archives", f"{folder}/packed.zip#packed")


@pytest.mark.parametrize("mode", ["client", "cluster"])
def test_files_and_archives(submit, yarn, mode):
    words = files_of_an_application(submit.folder)
    done = submit.run(*words, "files.c", cluster=mode == "cluster")
    assert done.returncode == 0, done.stderr
    printed = done.stdout if mode == "client" else yarn.last().attempts[-1].container.log("stdout")
    for line in ("driver data.txt=data", "driver other.txt=linked", "driver packed=inner", "data+data",
                 "linked+linked", "inner+inner"):
        assert line in printed, printed + done.stderr
    assert "another number" not in printed


@pytest.mark.parametrize("mode", ["client", "cluster"])
def test_a_missing_file_is_named(submit, yarn, mode):
    done = submit.run("--files", "nowhere.txt", PI, cluster=mode == "cluster")
    assert done.returncode == 1 and "nowhere.txt" in done.stderr, done.stderr
    assert mode == "client" or not yarn.submitted()


def test_submission_without_waiting(submit, yarn):
    with submit.waiting(cluster=True, conf=["spark.yarn.submit.waitAppCompletion=true"]) as (process, first):
        done = submit.run("waiting.c", submit.gate, cluster=True, conf=["spark.yarn.submit.waitAppCompletion=false"])
        app = yarn.last()
        assert done.returncode == 0 and not app.is_over and app is not first, done.stderr
        assert "Application report for " + app.name in done.stderr
        assert submit.open(process) == 0
    app.until(FINISHED)


# ---------------------------------------------------------------------------------------------------------- what is lost

@pytest.mark.parametrize("status, told, expected", [
    (-104, "Container is running beyond physical memory limits. Current usage: 1 GB of 640 MB physical memory used",
     "Container killed by YARN for exceeding physical memory limits"),
    (-103, "Container is running beyond virtual memory limits. Current usage: 3 GB of 2 GB virtual memory used",
     "Container killed by YARN for exceeding virtual memory limits"),
    (-102, "Container preempted by scheduler", "preempted"),
    (-101, "1/1 local-dirs are bad", "local-dirs are bad"),
    (-100, "Container released on a *lost* node", "lost"),
], ids=lambda value: str(value) if isinstance(value, int) else "")
def test_a_lost_container_is_explained_and_replaced(submit, yarn, status, told, expected):
    with gated(submit, "spark.executor.maxNumFailures=1") as app:  # one failure is allowed
        app.until_alive(2)
        yarn.last().executors()[0].kill(status, told, at_once=True)
        wait_until(app.removed, lambda: app.log()[-3000:])
        reason = next(iter(app.removed().values()))
        assert re.search(expected, reason), reason
        app.until_alive(2)
        app.open_gate()
        assert app.run(f"gated 4 {app.gate}")[0] == 4


def test_a_lost_node(submit, yarn):
    with gated(submit) as app:
        app.until_alive(2)
        driver_node = yarn.last().attempt.container.node
        lost = next(n for n in yarn.nodes if n is not driver_node)
        there = [c for c in yarn.last().executors() if c.node is lost]
        assert there
        yarn.lose(lost)
        wait_until(lambda: len(app.removed()) == len(there), lambda: app.log()[-3000:])
        app.until_alive(2)
        assert all(c.node is driver_node for c in yarn.last().executors())


def test_refused_starts_are_tried_again(submit, yarn):
    with gated(submit, UNMANAGED, "spark.executor.instances=1") as app:
        app.until_alive(1)
        for node in yarn.nodes:
            node.refused = 1
        yarn.last().executors()[0].kill(-100, "Container released on a *lost* node", at_once=True)
        wait_until(lambda: len(app.added()) == 2, lambda: app.log()[-3000:])
        assert "refuses it" in app.log() and sum(node.refused for node in yarn.nodes) < 2


@pytest.mark.parametrize("conf", [(), (UNMANAGED,)], ids=["managed", "unmanaged"])
def test_the_resource_manager_is_restarted(submit, yarn, conf):
    with gated(submit, *conf) as app:
        app.until_alive(2)
        yarn.restart()
        wait_until(lambda: yarn.last().attempt.registered, "a second registration")
        app.until_alive(2)
        assert not app.removed()
        yarn.last().executors()[0].kill(-100, "Container released on a *lost* node", at_once=True)
        wait_until(lambda: len(app.added()) == 3, "a replacement")
        assert any("_e01_" in c.name for c in yarn.last().executors())


def test_a_new_key_for_tokens(submit, yarn):
    with gated(submit) as app:
        app.until_alive(2)
        beats = yarn.last().attempt.heartbeats
        yarn.roll_key(yarn.last())
        wait_until(lambda: yarn.last().attempt.heartbeats > beats + 2, "heartbeats")
        yarn.restart()
        wait_until(lambda: yarn.last().attempt.registered, "a registration with the new token")


def test_a_killed_application_master_is_replaced_in_client_mode(submit, yarn):
    with gated(submit) as app:
        app.until_alive(2)
        yarn.last().attempt.container.kill(at_once=True)
        wait_until(lambda: len(yarn.last().attempts) == 2 and yarn.last().state == RUNNING, lambda: app.log()[-3000:])
        wait_until(lambda: len(app.added()) >= 4, lambda: app.log()[-3000:])
        app.until_alive(2)
        app.open_gate()
        assert app.run(f"gated 4 {app.gate}")[0] == 4
    assert yarn.last().final_status == FINAL_SUCCEEDED


def test_a_killed_driver_is_started_again_in_cluster_mode(submit, yarn):
    with submit.waiting(cluster=True) as (process, app):
        app.attempt.container.kill(at_once=True)
        wait_until(lambda: len(app.attempts) == 2, "a second attempt")
        assert submit.open(process) == 0, submit.log()
        assert (app.state, app.final_status) == (FINISHED, FINAL_SUCCEEDED)


def test_application_masters_that_die_fail_the_application(submit, yarn):
    with submit.waiting(cluster=True, conf=["spark.yarn.maxAppAttempts=1"]) as (process, app):
        app.attempt.container.kill(at_once=True)
        assert process.wait(30) == 1
        assert app.state == FAILED
        assert "exitCode: 137" in submit.log() and f"Application {app.name} finished with failed status" in submit.log()


@pytest.mark.parametrize("mode", ["managed", "unmanaged", "cluster"])
def test_too_many_failures(submit, yarn, mode):
    conf = ["spark.executor.maxNumFailures=1", "spark.yarn.maxAppAttempts=1", *([UNMANAGED] if mode == "unmanaged" else [])]
    with submit.waiting(cluster=mode == "cluster", conf=conf) as (process, app):
        first = app.executors()
        for container in first:
            container.kill(1, "Exception from container-launch.", at_once=True)
        wait_until(lambda: app.state == FINISHED, lambda: app.attempt.container.log() if mode != "unmanaged" else submit.log())
        assert app.final_status == FINAL_FAILED
        assert app.diagnostics == "Max number of executor failures (1) reached"
        if mode != "unmanaged":
            wait_until(lambda: app.attempt.container.is_complete, "the ApplicationMaster's end")
            assert app.attempt.container.status == 11, app.attempt.container.log()
        assert process.wait(30) != 0
        assert "Max number of executor failures (1) reached" in submit.log()


@pytest.mark.parametrize("mode", ["managed", "unmanaged", "cluster"])
@pytest.mark.parametrize("exits", [False, True], ids=["", "exit"])
def test_too_many_failures_while_the_driver_sleeps(submit, yarn, mode, exits):
    conf = ["spark.executor.maxNumFailures=1", "spark.yarn.maxAppAttempts=1", *([UNMANAGED] if mode == "unmanaged" else []),
            f"spark.yarn.am.clientModeExitOnError={str(exits).lower()}"]
    with submit.waiting(cluster=mode == "cluster", conf=conf, source="sleeping.c") as (process, app):
        for container in app.executors():
            container.kill(1, "Exception from container-launch.", at_once=True)
        wait_until(lambda: app.state == FINISHED, lambda: app.attempt.container.log() if mode != "unmanaged" else submit.log())
        assert (app.final_status, app.diagnostics) == (FINAL_FAILED, "Max number of executor failures (1) reached")
        if mode != "unmanaged":
            wait_until(lambda: app.attempt.container.is_complete, "the ApplicationMaster's end")
            assert app.attempt.container.status == 11, app.attempt.container.log()
        if mode == "cluster" or exits:
            assert process.wait(30) == 1
        else:
            submit.logs("Max number of executor failures")
            assert process.poll() is None, "the driver has ended, but Spark's goes on"
            assert submit.open(process) == 1
        assert "Max number of executor failures (1) reached" in submit.log()


# ApplicationMaster.EXIT_* of Spark 4.3, each as the ApplicationMaster's process ends. 11 is above, 12 in yarn/yarn_executors
# (meson test), 16 in early_end of tests/yarn/check. Nothing in Spark 4 ends with 14 (security).
@pytest.mark.parametrize("code, words, cluster, conf, message", [
    (0, ["0"], True, [], None),
    (3, ["3"], True, [], "User application exited with status 3"),  # SparkUserAppException
    (10, ["count"], False, ["spark.driver.bindAddress=127.0.0.1", "spark.driver.host=127.0.0.9"], "Failed to connect to driver at 127.0.0.9:"),
    (13, ["none"], True, [], "User did not initialize spark context!"),
    (15, ["0"], True, "--class", "nowhere"),
], ids=lambda value: str(value) if isinstance(value, int) else "")
def test_exit_codes_of_the_application_master(submit, yarn, code, words, cluster, conf, message):
    (submit.folder / "ending.c").write_text(ENDING)
    program = ["ending.c", *words]
    if conf == "--class":  # an object without the function: what a missing class is in a JVM
        built = subprocess.run([os.path.join(BIN, "firesteel"), "compile", "ending.c", "-o", "ending.so"], cwd=submit.folder,
                               env=submit.environment, capture_output=True, text=True, timeout=60, check=False)
        assert built.returncode == 0, built.stderr
        program = ["--class", "nowhere", "ending.so", *words]
    done = submit.run(*program, cluster=cluster, conf=["spark.yarn.maxAppAttempts=1", *(conf if conf != "--class" else [])])
    master = yarn.last().attempts[-1].container
    wait_until(lambda: master.is_complete, "the ApplicationMaster's end")
    assert master.status == code and (code == 10 or f"exitCode: {code}" in master.log()), master.log() + done.stderr
    assert done.returncode == (code != 0) and (message is None or message in done.stderr), done.stderr + "\n== the driver ==\n" + master.log()
    assert yarn.last().final_status == (FINAL_SUCCEEDED if code == 0 else FINAL_FAILED)


def test_a_lost_driver_ends_the_application_master_with_17(submit, yarn):
    with submit.waiting(conf=["spark.yarn.am.clientModeTreatDisconnectAsFailed=true"]) as (process, app):
        master = app.attempt.container
        process.kill()
        wait_until(lambda: master.is_complete, "the ApplicationMaster's end")
        assert master.status == 17 and app.final_status == FINAL_FAILED, master.log()
        assert app.diagnostics == "Application Master lost connection with driver! Shutting down."


def test_an_unreadable_configuration_ends_the_application_master_with_10(submit):
    done = subprocess.run([os.path.join(BIN, "firesteel"), "yarn-am", "--class", "main", "--jar", "ending.so", "--properties-file",
                           "nowhere.conf"], env=submit.environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 10 and "Uncaught exception: " in done.stderr and "nowhere.conf" in done.stderr, done.stderr


# --------------------------------------------------------------------------------------------------------------- refusals

@pytest.mark.parametrize("cluster", [False, True], ids=["client", "cluster"])
def test_a_wrong_queue(submit, yarn, cluster):
    done = submit.run("--queue", "nowhere", PI, "2", cluster=cluster)
    assert done.returncode == 1
    assert re.search(r"Failed to submit application_\d+_0001 to YARN : .*unknown queue: nowhere", done.stderr), done.stderr


@pytest.mark.parametrize("cluster", [False, True], ids=["client", "cluster"])
def test_too_much_memory(submit, yarn, cluster):
    done = submit.run("--executor-memory", "20g", PI, "2", cluster=cluster)
    assert done.returncode == 1
    assert "Required executor memory (20480 MB)" in done.stderr and "8192 MB" in done.stderr, done.stderr
    assert not yarn.submitted()


@pytest.mark.parametrize("cluster", [False, True], ids=["client", "cluster"])
def test_an_unreachable_resource_manager(submit, cluster):
    address = f"127.0.0.1:{free_port()}"
    done = submit.run(PI, "2", cluster=cluster, conf=[f"spark.hadoop.yarn.resourcemanager.address={address}",
                                                      "spark.hadoop.yarn.resourcemanager.connect.max-wait.ms=300"])
    assert done.returncode == 1
    assert f"cannot reach the ResourceManager at {address}" in done.stderr, done.stderr


@pytest.mark.parametrize("cluster", [False, True], ids=["client", "cluster"])
def test_no_configuration(submit, cluster):
    del submit.environment["HADOOP_CONF_DIR"]
    done = submit.run(PI, "2", cluster=cluster)
    assert done.returncode == 1
    assert "either HADOOP_CONF_DIR or YARN_CONF_DIR must be set in the environment." in done.stderr, done.stderr


# -------------------------------------------------------------------------------------------------------------- interruption

@pytest.mark.parametrize("mode", ["managed", "unmanaged", "cluster"])
def test_an_application_is_killed_by_its_user(submit, yarn, mode):
    conf = [UNMANAGED] if mode == "unmanaged" else []
    with submit.waiting(cluster=mode == "cluster", conf=conf) as (process, app):
        with yarn.lock:
            yarn.kill_application(app, "alice", None)
        assert app.state == KILLED
        assert process.wait(30) == 1
        if mode == "cluster":
            assert f"Application {app.name} is killed" in submit.log()
        else:
            assert re.search("killed by user alice|state KILLED|Application has been killed", submit.log()), submit.log()
        wait_until(lambda: all(c.is_complete for c in yarn.containers.values()), "the containers' end")


def test_interrupted_in_client_mode(submit, yarn):
    with submit.waiting() as (process, app):
        process.send_signal(signal.SIGINT)
        assert process.wait(30) in (130, -signal.SIGINT)
        app.until(FINISHED)
        wait_until(lambda: all(c.is_complete for c in yarn.containers.values()), "the containers' end")


def test_interrupted_in_cluster_mode_the_application_continues(submit):
    with submit.waiting(cluster=True) as (process, app):
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
        assert app.state == RUNNING
        assert f"Application {app.name} continues" in submit.log()
        submit.gate.touch()
        app.until(FINISHED)
        assert app.final_status == FINAL_SUCCEEDED


# -------------------------------------------------------------------------------------------------------------------- logs

def logs(submit, *words, **more):
    return subprocess.run([os.path.join(BIN, "firesteel"), "logs", *words], env=submit.environment | more, capture_output=True,
                          text=True, timeout=60, stdin=subprocess.DEVNULL, check=False)


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
            assert follower.wait(30) == 0
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
    (["--executor", "x", "y"], "--executor needs a number, not x", 2), (["a", "b"], "more than one application: b", 2),
    (["--file"], "a value is missing for --file", 2), (["--list", "--follow", "x"], "exclude each other", 2),
    (["spark-1"], "spark-1", 1), (["--container", "c", "application_1_0001"], '"c"', 1),
    (["application_1_0001"], "has no such logs", 1)])
def test_logs_that_do_not_exist(submit, words, message, status):
    done = logs(submit, *words)
    assert done.returncode == status and message in done.stderr, done.stderr


# -------------------------------------------------------------------------------------------------------------- launchers

# LauncherProtocol$Stop, as Java serializes it for SparkAppHandle.stop().
STOP = bytes.fromhex(
    "aced00057372002f6f72672e6170616368652e737061726b2e6c61756e636865722e4c61756e6368657250726f746f636f6c2453746f701805482f"
    "54cd2301020000787200326f72672e6170616368652e737061726b2e6c61756e636865722e4c61756e6368657250726f746f636f6c244d65737361"
    "6765ba91306956ca88350200007870")


class Launcher:
    """Spark's launcher socket: collects what an application sends."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port, self.received, self.connection = self.socket.getsockname()[1], b"", None
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        self.connection, _ = self.socket.accept()
        with self.connection:
            while True:
                data = self.connection.recv(65536)
                if not data:
                    return
                self.received += data

    def words(self):
        """States and ids, in the order of their first appearance."""
        return [w.decode() for w in re.findall(rb"application_\d+_\d+|SUBMITTED|RUNNING|FINISHED|FAILED|KILLED|LOST", self.received)]


@pytest.mark.parametrize("cluster, status, states", [
    (False, "0", ["RUNNING", "FINISHED"]), (True, "0", ["SUBMITTED", "RUNNING", "FINISHED"]), (True, "3", ["SUBMITTED", "RUNNING", "FAILED"])])
def test_the_launcher_gets_id_and_states(submit, yarn, cluster, status, states):
    launcher = Launcher()
    with submit.waiting(status, cluster=cluster, conf=["spark.yarn.maxAppAttempts=1", "spark.yarn.submit.waitAppCompletion=false"],
                        _SPARK_LAUNCHER_PORT=str(launcher.port), _SPARK_LAUNCHER_SECRET="s") as (process, app):
        wait_until(lambda: "RUNNING" in launcher.words(), launcher.words)
        submit.open(process)
        launcher.thread.join(30)
        found = [w for w in launcher.words() if w != app.name]
        assert app.name in launcher.words()
        assert [w for w in found if w != "SUBMITTED" or cluster] == states, launcher.words()


@pytest.mark.parametrize("cluster", [False, True], ids=["client", "cluster"])
def test_the_launcher_stops_the_application(submit, yarn, cluster):
    launcher = Launcher()
    with submit.waiting("0", cluster=cluster, conf=["spark.yarn.maxAppAttempts=1"], _SPARK_LAUNCHER_PORT=str(launcher.port),
                        _SPARK_LAUNCHER_SECRET="s") as (process, app):
        wait_until(lambda: "RUNNING" in launcher.words(), launcher.words)
        launcher.connection.sendall(STOP)
        assert process.wait(30) == (1 if cluster else 128 + signal.SIGTERM), submit.log()
        launcher.thread.join(30)
        if cluster:  # in client mode the driver ends by itself
            assert app.state == KILLED and f"Application {app.name} is killed" in submit.log()
            assert "KILLED" in launcher.words()


@pytest.fixture
def submitter(submit, monkeypatch):
    for name in list(os.environ):
        if name.startswith(("SPARK_", "_SPARK_", "MASTER", "DEPLOY_MODE", "HADOOP_", "YARN_")):
            monkeypatch.delenv(name)
    for name in ("XDG_CACHE_HOME", "HADOOP_CONF_DIR", "HADOOP_USER_NAME", "SPARK_CONF_DIR", "HOME"):
        monkeypatch.setenv(name, submit.environment[name])
    made = Submitter()
    yield made
    made.close()


def api_application(submit, submitter, *arguments, cluster=True, conf=()):
    words = submit.command(submit.folder / "waiting.c", submit.gate, *arguments, cluster=cluster, conf=conf)[1:]
    app = submitter.new(*words)
    assert app.parsed == 0 and app.call("set_watch", 20) == 0
    return app.listen()


@pytest.mark.skipif(SANITIZED, reason="a library with a sanitizer cannot be loaded into Python")
@pytest.mark.parametrize("status, state", [("0", "FINISHED"), ("3", "FAILED")])
def test_the_library_submits_to_a_cluster(submit, submitter, yarn, status, state):
    app = api_application(submit, submitter, status, conf=["spark.yarn.maxAppAttempts=1"])
    assert app.call("start") == 0
    submitter.dispatch_until(lambda: app.state() == "RUNNING")
    assert app.text("id") == yarn.last().name
    submit.gate.touch()
    assert app.end() == state
    assert ("User application exited with status 3" in app.text("error")) == (status == "3"), app.text("error")
    assert app.heard[-1] == state and "id" in app.heard


@pytest.mark.skipif(SANITIZED, reason="a library with a sanitizer cannot be loaded into Python")
def test_the_library_kills_and_fails(submit, submitter, yarn):
    app = api_application(submit, submitter)
    assert app.call("start") == 0
    submitter.dispatch_until(lambda: app.state() == "RUNNING")
    assert app.call("stop") == 0
    assert app.end() == "KILLED" and yarn.last().state == KILLED
    app = api_application(submit, submitter, conf=["spark.yarn.queue=nowhere"])
    assert app.call("start") == 0
    assert app.end() == "FAILED" and "unknown queue: nowhere" in app.text("error")


@pytest.mark.skipif(SANITIZED, reason="a library with a sanitizer cannot be loaded into Python")
def test_many_submissions_ask_together_whether_they_are_accepted(submit, submitter, yarn):
    yarn.undecided_s = 3600
    apps = []
    for _ in range(20):
        words = submit.command(submit.folder / "waiting.c", submit.gate, cluster=True)[1:]
        apps.append(submitter.new(*words).listen())
        assert apps[-1].call("set_watch", 0) == 0 and apps[-1].call("start") == 0
    submitter.dispatch_until(lambda: all("id" in app.heard for app in apps))
    assert all(app.state() == "UNKNOWN" for app in apps), "the ids are known before the ResourceManager has decided"
    wait_until(lambda: yarn.lists > 3, "questions for all")
    yarn.undecided_s = 0
    submitter.dispatch_until(lambda: all(app.state() == "SUBMITTED" for app in apps))
    assert {app.text("id") for app in apps} == set(yarn.applications)
    assert yarn.lists > 0 and yarn.reports <= 3 * len(apps), (yarn.lists, yarn.reports)
    submit.gate.touch()


@pytest.mark.skipif(SANITIZED, reason="a library with a sanitizer cannot be loaded into Python")
def test_the_library_runs_a_child_in_client_mode(submit, submitter, yarn):
    app = api_application(submit, submitter, cluster=False)
    assert app.call("start") == 0
    submitter.dispatch_until(lambda: app.state() == "RUNNING")
    assert app.text("id") == yarn.last().name and yarn.last().state in (ACCEPTED, RUNNING)
    submit.gate.touch()
    assert app.end() == "FINISHED" and app.call("exit_status") == 0


@pytest.mark.parametrize("cluster", [False, True], ids=["client", "cluster"])
def test_durable_logs(submit, yarn, cluster):
    """The output of driver and executors is stored by themselves, without YARN's log aggregation."""
    done = submit.run(PI, "2", cluster=cluster, conf=[f"spark.firesteel.logs.dir=file:{submit.folder}/durable"])
    assert done.returncode == 0, done.stderr
    app = yarn.last()

    def printed(*words):
        return subprocess.run([os.path.join(BIN, "firesteel"), "logs", "--dir", f"file:{submit.folder}/durable", *words, app.name],
                              env=submit.environment, capture_output=True, text=True, timeout=30, check=False).stdout
    wait_until(lambda: "Pi is roughly 3.1" in printed("--file", "stdout"), printed)
    wait_until(lambda: "Starting executor ID 1 on host" in printed("--executor", "1"), printed)
    assert "Process: driver\nLogType:stdout\n" in printed()
