"""Native applications on YARN, on the ResourceManager and NodeManagers of tests/yarn/fake_yarn.py."""
import itertools
import os
import pathlib
import re
import signal
import subprocess
import zipfile

import pytest

from conditions import wait_until
from fake_yarn import FAILED, FINAL_FAILED, FINAL_SUCCEEDED, FINISHED, KILLED, RUNNING
from folders import BIN
from free_ports import free_port
from yarn_submit import PI, UNMANAGED, gated, cache, submit, yarn  # noqa: F401

WORDS = str(pathlib.Path(PI).with_name("wordcount.c"))
TIMEOUT = 120  # s for the end of a process

# Ends without a context, at once, after a job, or with a status.
ENDING = """#include <firesteel/firesteel.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
        if (strcmp(argv[1], "none") == 0)
                return 0;
        fst_context *sc = fst_context_new("ending");
        int64_t n;
        if (strcmp(argv[1], "exit") == 0)
                exit(0);
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
    """Not more questions than intervals, and late ones as close as early ones. A busy machine makes some gaps longer."""
    yarn.undecided_s = 2
    done = submit.run(PI, "2", conf=("spark.hadoop.yarn.client.application-client-protocol.poll-interval-ms=40",
                                     "spark.yarn.report.interval=10s"))
    assert done.returncode == 0, done.stderr
    asked = [t for t in yarn.report_times if t < yarn.last().submitted + yarn.undecided_s]
    gaps = [later - earlier for earlier, later in zip(asked, asked[1:])]
    assert 8 < len(gaps) <= 2000 / 40 + 20, gaps
    assert min(gaps[-8:]) < 0.08, f"the gaps grow, or are those of another setting: {gaps}"


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


@pytest.mark.parametrize("cluster", [False, True], ids=["client", "cluster"])
def test_the_first_failure_is_named(submit, yarn, cluster):
    done = submit.run(WORDS, "nowhere.txt", "out", cluster=cluster, conf=["spark.yarn.maxAppAttempts=1"])
    assert done.returncode == 1
    assert re.search(r"save_as_text_file at wordcount.c:\d+ failed: Input path does not exist: \S*/nowhere.txt", done.stderr), done.stderr
    if cluster:
        assert yarn.last().diagnostics.startswith("User application exited with status 1: save_as_text_file at wordcount.c:")
        assert f'"firesteel logs --executor driver {yarn.last().name}" prints the log of the driver' in done.stderr


def test_heartbeats_stay_frequent_while_containers_come(submit, yarn):
    """Intervals that only doubled would be 100 ms to 102 s."""
    yarn.grants_at_once = 1
    done = submit.run(PI, "2", conf=["spark.yarn.scheduler.heartbeat.interval-ms=600s", "spark.executor.instances=11",
                                     "spark.yarn.scheduler.initial-allocation.interval=100ms", "spark.executor.memoryOverhead=1m",
                                     "spark.scheduler.minRegisteredResourcesRatio=1.0",
                                     "spark.scheduler.maxRegisteredResourcesWaitingTime=600s"])
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
        assert process.wait(TIMEOUT) == 1
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
        assert process.wait(TIMEOUT) != 0
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
            assert process.wait(TIMEOUT) == 1
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


def test_a_driver_that_exits_while_it_registers_is_unregistered(submit, yarn):
    """The driver's loop registers after the ResourceManager has refused the end, and before the end registers itself."""
    calls = itertools.count()

    def before_registration(attempt):
        first = next(calls) == 0
        wait_until(lambda: attempt.early_ends if first else attempt.registered, "the other thread")
    yarn.before_registration = before_registration
    (submit.folder / "ending.c").write_text(ENDING)
    done = submit.run("ending.c", "exit", cluster=True, conf=["spark.yarn.maxAppAttempts=1"])
    app = yarn.last()
    wait_until(lambda: app.attempt.container.is_complete, "the ApplicationMaster's end")
    assert (done.returncode, app.final_status) == (1, FINAL_FAILED), app.attempt.container.log()
    assert app.diagnostics == "Shutdown hook called before final status was reported.", app.attempt.container.log()
    assert "exitCode: 16" in app.attempt.container.log() and app.attempt.early_ends == 1


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


@pytest.mark.parametrize("mode", ["managed", "unmanaged", "cluster"])
def test_more_cores_than_a_container_may_have(submit, yarn, mode):
    """The ResourceManager refuses to allocate. As with Spark, the submission does not ask for the maximum of cores."""
    done = submit.run("--executor-cores", "33", PI, "2", cluster=mode == "cluster",
                      conf=["spark.yarn.maxAppAttempts=1", *([UNMANAGED] if mode == "unmanaged" else [])])
    assert done.returncode == 1
    assert re.search(r"Exception was thrown 5 time\(s\) from Reporter thread\. The last one: Invalid resource request!", done.stderr), done.stderr


@pytest.mark.parametrize("variable", ["HADOOP_CONF_DIR", "YARN_CONF_DIR"])
def test_a_configuration_directory_that_does_not_exist(submit, variable):
    del submit.environment["HADOOP_CONF_DIR"]
    gone = f"{submit.folder}/gone"
    done = submit.run(PI, "2", conf=["spark.hadoop.yarn.resourcemanager.connect.max-wait.ms=300"], **{variable: gone})
    assert done.returncode == 1
    assert f"Set it in yarn-site.xml in {variable} ({gone}), a directory that does not exist" in done.stderr, done.stderr


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
        assert process.wait(TIMEOUT) == 1
        if mode == "cluster":
            assert f"Application {app.name} is killed" in submit.log()
        else:
            assert re.search("killed by user alice|state KILLED|Application has been killed", submit.log()), submit.log()
        wait_until(lambda: all(c.is_complete for c in yarn.containers.values()), "the containers' end")


def test_kill_and_status_by_id(submit, yarn):
    with submit.waiting(cluster=True) as (process, app):
        told = submit.run("--status", app.name)
        assert told.returncode == 0 and f"Application report for {app.name} (state: RUNNING)\n" in told.stderr, told.stderr
        assert "\t user: alice" in told.stderr and "\t final status: UNDEFINED" in told.stderr, told.stderr
        done = submit.run("--kill", app.name)
        assert done.returncode == 0 and f"Killed application {app.name}." in done.stderr, done.stderr
        assert app.state == KILLED and process.wait(TIMEOUT) == 1
        done = submit.run("--kill", app.name)
        assert done.returncode == 0 and f"Application {app.name} has already ended (state: KILLED)." in done.stderr, done.stderr
    for option in "--kill", "--status":
        done = submit.run(option, "application_1700000000000_0099")
        assert done.returncode == 1 and "Application application_1700000000000_0099 not found" in done.stderr, done.stderr
        done = submit.run(option, "driver-1")
        assert done.returncode == 1 and "driver-1" in done.stderr and "application_" in done.stderr, done.stderr


def test_interrupted_in_client_mode(submit, yarn):
    with submit.waiting() as (process, app):
        process.send_signal(signal.SIGINT)
        assert process.wait(TIMEOUT) in (130, -signal.SIGINT)
        app.until(FINISHED)
        wait_until(lambda: all(c.is_complete for c in yarn.containers.values()), "the containers' end")


@pytest.mark.parametrize("signals", [[signal.SIGINT], [signal.SIGHUP, signal.SIGINT, signal.SIGTERM]], ids=["once", "again"])
def test_interrupted_in_cluster_mode_the_application_continues(submit, signals):
    with submit.waiting(cluster=True) as (process, app):
        for number in signals:
            process.send_signal(number)
        assert process.wait(TIMEOUT) - 128 in signals  # a thread may handle a later one first
        assert app.state == RUNNING
        assert f"Application {app.name} continues" in submit.log()
        submit.gate.touch()
        app.until(FINISHED)
        assert app.final_status == FINAL_SUCCEEDED
