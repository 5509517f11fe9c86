"""firesteel/submit.h as a binding sees it: through ctypes, from a program in another language."""
import ctypes
import json
import os
import select
import signal
import subprocess
import threading

import pytest

from dry_run import r_application
from folders import BIN, TESTS, TOP
from free_ports import free_port
from sanitizers import SANITIZED
from standalone_master import Master
from submitter import TIMEOUT_MS, Submitter

LAUNCHED = os.path.join(TESTS, "spark", "launched.c")
EALREADY, EINVAL, ESRCH, ENOTCONN, ENOTSUP, ENOENT = 114, 22, 3, 107, 95, 2

pytestmark = pytest.mark.skipif(SANITIZED, reason="a library with a sanitizer cannot be loaded into Python")


@pytest.fixture
def submitter(tmp_path, monkeypatch):
    for name in list(os.environ):
        if name.startswith(("SPARK_", "_SPARK_", "MASTER", "DEPLOY_MODE")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    submitter = Submitter()
    yield submitter
    submitter.close()


# ------------------------------------------------------------------------------------------------------------ clusters


@pytest.fixture
def master():
    master = Master()
    yield master
    master.stop()


def in_cluster(submitter, master, *arguments):
    app = submitter.new("--master", master.url, "--deploy-mode", "cluster", "--class", "org.example.Main", "--name", "n",
                        "--conf", "spark.master.rest.enabled=true", "http://127.0.0.1/app.jar", *arguments)
    assert app.parsed == 0 and app.call("set_watch", 20) == 0
    return app.listen()


def test_a_hundred_applications(submitter, master, capfd):
    apps = [in_cluster(submitter, master, str(i), "fail" if i % 10 == 3 else "work") for i in range(100)]
    for app in apps:
        assert app.call("start") == 0
        assert app.call("start") == -EALREADY
    submitter.dispatch_until(lambda: all(app.heard and app.heard[-1] in ("FINISHED", "FAILED") for app in apps))
    for i, app in enumerate(apps):
        end = "FAILED" if i % 10 == 3 else "FINISHED"
        # An event has the state at the time of its delivery, so a state may be reported twice if it changed meanwhile.
        assert app.heard[-1] == end and app.state() == end
        assert len(app.heard) == 4 and set(app.heard) <= {"id", "SUBMITTED", "RUNNING", end}
        assert app.threads == {threading.get_ident()}
        assert (app.text("error") == "the driver has failed") == (end == "FAILED")
        assert json.loads(app.text("answer"))["driverState"] == end
    assert len({app.text("id") for app in apps}) == 100
    assert sorted(int(r["appArgs"][0]) for r in master.requests) == list(range(100))
    assert {r["mainClass"] for r in master.requests} == {"org.example.Main"}
    for app in apps:
        app.call("free")
    assert capfd.readouterr() == ("", "")


def test_what_a_master_refuses_fails(submitter, master):
    app = in_cluster(submitter, master, "refuse")
    assert app.call("start") == 0
    assert app.end() == "FAILED"
    assert app.text("error") == "no room here"
    assert app.heard == ["FAILED"]


def test_no_master(submitter, master):
    app = in_cluster(submitter, master)
    master.server.socket.close()
    assert app.call("start") == 0
    assert app.end() == "FAILED"
    assert "127.0.0.1" in app.text("error")


def test_stop_and_kill_in_a_cluster(submitter, master):
    for how in ("stop", "kill"):
        app = in_cluster(submitter, master, "hold")
        assert app.call(how) == -ESRCH
        assert app.call("start") == 0
        submitter.dispatch_until(lambda: app.state() == "RUNNING")
        assert app.call(how) == 0
        assert app.end() == "KILLED"
        assert app.call(how) == -ESRCH
        assert app.heard[-1] == "KILLED"


def test_unwatched(submitter, master):
    app = in_cluster(submitter, master, "hold")
    assert app.call("set_watch", 0) == 0
    assert app.call("start") == 0
    submitter.dispatch_until(lambda: app.state() == "SUBMITTED")
    assert app.call("wait", 200) == 0 and app.state() == "SUBMITTED"
    assert app.call("refresh") == 0
    submitter.dispatch_until(lambda: app.state() == "RUNNING")


def test_kill_and_status_by_words(submitter, master):
    running = in_cluster(submitter, master, "hold")
    running.call("start")
    submitter.dispatch_until(lambda: running.state() == "RUNNING")
    driver = running.text("id")
    asked = submitter.new("--master", master.url, "--status", driver)
    assert asked.call("prepare") == -EINVAL and "cannot be prepared: start them with fst_submit_start" in asked.text("error")
    assert asked.call("start") == 0 and asked.end() == "FINISHED"
    assert json.loads(asked.text("answer"))["driverState"] == "RUNNING"
    killed = submitter.new("--master", master.url, "--kill", driver)
    assert killed.call("start") == 0 and killed.end() == "FINISHED"
    assert running.end() == "KILLED"
    unknown = submitter.new("--master", master.url, "--kill", "driver-0")
    assert unknown.call("start") == 0 and unknown.end() == "FAILED"
    assert unknown.text("error") == "Driver driver-0 has already finished"


def test_a_master_that_forgets(submitter, master):
    app = in_cluster(submitter, master, "hold")
    app.call("start")
    submitter.dispatch_until(lambda: app.state() == "RUNNING")
    with master.lock:
        master.drivers.clear()
    assert app.end() == "LOST"
    assert app.text("error") == "the master does not know the application"


def test_closing_with_work_underway(submitter, master):
    other = Submitter()
    apps = [in_cluster(other, master, "hold") for _ in range(20)]
    for app in apps:
        app.call("start")
    other.dispatch_until(lambda: any(app.state() == "RUNNING" for app in apps))
    other.close()


def test_freed_handles_are_silent(submitter, master):
    apps = [in_cluster(submitter, master) for _ in range(20)]
    for app in apps:
        app.on_change = lambda app=app: app.call("free")  # inside its own callback
        app.call("start")
    submitter.dispatch_until(lambda: all(app.heard for app in apps))
    submitter.dispatch(0)
    assert [len(app.heard) for app in apps] == [1] * 20


# ---------------------------------------------------------------------------------------------- without a REST server


def by_gateway(submitter, url, *arguments, rest="false", application=LAUNCHED):
    """REST is disabled, or enabled although the port is the master's own."""
    app = submitter.new("--master", url, "--deploy-mode", "cluster", "--conf", f"spark.master.rest.enabled={rest}",
                        "--driver-memory", "64m", "--executor-memory", "256m", "--conf", "spark.log.level=OFF", application, *arguments)
    assert app.parsed == 0 and app.call("set_watch", 20) == 0
    return app.listen()


@pytest.mark.parametrize("rest", ["false", "true"])
def test_drivers_by_the_legacy_gateway(submitter, cluster, capfd, rest):
    master = cluster.master()
    cluster.worker(master.url)
    app, fails = (by_gateway(submitter, master.url, word, rest=rest) for word in ("count", "quit"))
    for each, state in ((app, "FINISHED"), (fails, "FAILED")):
        assert each.call("start") == 0
        assert each.end() == state, each.text("error")
        assert each.text("id").startswith("driver-")
        assert each.heard[0] == "id" and each.heard[-1] == state
        assert json.loads(each.text("answer"))["driverState"] == state
        assert json.loads(each.text("prepared"))["mainClass"] == "org.apache.spark.deploy.ClientApp"
    assert capfd.readouterr() == ("", "")


def test_stop_and_kill_by_the_legacy_gateway(submitter, cluster, tmp_path):
    master = cluster.master()
    cluster.worker(master.url)
    for how in ("stop", "kill"):
        app = by_gateway(submitter, master.url, "wait", str(tmp_path / how))
        assert app.call("start") == 0
        submitter.dispatch_until((tmp_path / how).exists)
        submitter.dispatch_until(lambda: app.state() == "RUNNING")
        assert app.call(how) == 0
        assert app.end() == "KILLED"


def test_what_the_legacy_gateway_refuses_fails(submitter, cluster, tmp_path):
    master = cluster.master()
    (tmp_path / "a.jar").touch()
    app = submitter.new("--master", master.url, "--deploy-mode", "cluster", "--class", "A", str(tmp_path / "a.jar")).listen()
    assert app.call("start") == 0
    assert app.end() == "FAILED" and app.heard == ["FAILED"]
    assert "cannot run on this cluster" in app.text("error")


@pytest.mark.parametrize("rest", ["false", "true"])
def test_nobody_at_the_legacy_gateway(submitter, rest):
    address = f"127.0.0.1:{free_port()}"
    app = by_gateway(submitter, f"spark://{address}", rest=rest)
    assert app.call("start") == 0 and app.end() == "FAILED"
    assert app.text("error") == f"No master is available: {address}: Connection refused"


def test_a_master_by_its_gateway_that_goes_away(submitter, cluster):
    master = cluster.master()  # without workers the driver waits
    app = submitter.new("--master", master.url, "--deploy-mode", "cluster", "--conf",
                        "spark.firesteel.submit.masterTimeout=100ms", LAUNCHED, "count")
    assert app.call("set_watch", 20) == 0 and app.call("start") == 0
    submitter.dispatch_until(lambda: app.state() == "SUBMITTED")
    master.kill()
    assert app.end() == "LOST"
    assert "No master is available" in app.text("error")


# --------------------------------------------------------------------------------------------------------------- words


def test_words_that_are_wrong(submitter):
    for words, error in [(["--master"], "Missing argument for option '--master'."),
                         (["--no-such-option", "x"], "--no-such-option"),
                         (["--version"], "only print")]:
        app = submitter.new(*words)
        assert app.parsed == -EINVAL
        assert error in app.text("error")
        assert app.call("prepare") == -EINVAL and app.call("start") == -EINVAL
        app.call("free")


def test_what_is_wrong_with_the_whole_fails(submitter, capfd):
    app = submitter.new("--master", "spark://127.0.0.1:1", "--deploy-mode", "cluster", "a.py")
    assert app.parsed == 0
    assert app.call("start") == 0 and app.end() == "FAILED"
    said = app.text("error")
    assert "Cluster deploy mode is currently not supported for python applications" in said
    again = submitter.new("--master", "spark://127.0.0.1:1", "--deploy-mode", "cluster", "a.py")
    assert again.call("prepare") == -EINVAL and again.text("error") == said
    assert again.call("prepare") == -EINVAL and again.text("error") == said
    assert capfd.readouterr() == ("", "")


def test_packages_are_looked_for_in_silence(submitter, tmp_path, capfd):
    (tmp_path / "repository").mkdir()
    (tmp_path / "ivysettings.xml").write_text(
        f"""<ivysettings><settings defaultResolver="r"/><resolvers><filesystem name="r">
        <artifact pattern="{tmp_path}/repository/[artifact]-[revision].[ext]"/></filesystem></resolvers></ivysettings>""")
    app = submitter.new("--packages", "g:a:1", "--conf", f"spark.jars.ivySettings={tmp_path}/ivysettings.xml",
                        "--conf", f"spark.jars.ivy={tmp_path}/ivy", "--class", "x", "a.jar")
    assert app.call("prepare") < 0
    assert "unresolved dependency: g#a;1: not found" in app.text("error")
    assert capfd.readouterr() == ("", "")


def test_what_the_compiler_says_is_in_the_error(submitter, tmp_path, capfd):
    (tmp_path / "wrong.c").write_text("int main(void) { return nobody; }\n")
    (tmp_path / "odd.c").write_text("#warning how odd\nint main(void) { return 0; }\n")
    words = ["--master", "spark://127.0.0.1:1", "--deploy-mode", "cluster"]
    wrong, odd = (submitter.new(*words, str(tmp_path / name)) for name in ("wrong.c", "odd.c"))
    assert wrong.call("prepare") < 0
    said = wrong.text("error")
    assert said.startswith(f"{tmp_path}/wrong.c does not compile:\n") and "nobody" in said
    with open(tmp_path / "err", "wb") as err:
        assert odd.call("set_output", -1, err.fileno()) == 0
    assert odd.call("prepare") == 0, odd.text("error")
    assert "how odd" in (tmp_path / "err").read_text()
    assert capfd.readouterr() == ("", "")


def test_what_r_says_goes_where_the_application_s_errors_go(submitter, tmp_path, capfd, monkeypatch):
    for name, value in {**r_application(tmp_path), "HADOOP_CONF_DIR": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)
    words = ["--master", "yarn", "--deploy-mode", "cluster", "--jars", str(tmp_path / "r.jar"), str(tmp_path / "app.R")]
    app, silent = submitter.new(*words), submitter.new(*words)
    with open(tmp_path / "err", "wb") as err:
        assert app.call("set_output", -1, err.fileno()) == 0
    before = dict(os.environ)
    assert app.call("prepare") == 0, app.text("error")
    assert f"{tmp_path}/r.jar contains R source code. Now installing package." in (tmp_path / "err").read_text()
    assert silent.call("prepare") == 0
    assert capfd.readouterr() == ("", "")
    assert dict(os.environ) == before
    for handle in (app, silent):
        handle.call("free")
    assert os.listdir(tmp_path / "tmp") == []


def test_prepared_is_what_a_dry_run_shows(submitter, tmp_path):
    (tmp_path / "spark-defaults.conf").write_text("spark.from.file yes\nnot.spark ignored\n")
    words = ["--master", "spark://h:6066", "--deploy-mode", "cluster", "--class", "Main", "--name", "n",
             "--conf", "spark.a=b", "http://h/a.jar", "x", "y z"]
    shown = subprocess.run([os.path.join(BIN, "spark-submit"), "--dry-run", "--output", "json", *words],
                           capture_output=True, text=True, timeout=120, check=True)
    app = submitter.new(*words)
    assert app.text("prepared") == ""
    assert app.call("prepare") == 0
    ours, theirs = json.loads(app.text("prepared")), json.loads(shown.stdout)
    assert ours["conf"]["spark.from.file"] == "yes"
    for prepared in (ours, theirs):
        prepared["conf"].pop("spark.app.submitTime", None)
    assert ours == theirs
    assert app.text("warnings") in shown.stderr and "not.spark" in app.text("warnings")
    cut = ctypes.create_string_buffer(4)
    assert app.call("prepared", cut, 4) == len(app.text("prepared")) and len(cut.value) == 3


# ------------------------------------------------------------------------------------------------------ child processes


def child(submitter, *arguments, master="local[2]", conf=()):
    words = ["--master", master, "--conf", "spark.log.level=OFF"]
    for setting in conf:
        words += ["--conf", setting]
    app = submitter.new(*words, LAUNCHED, *arguments)
    assert app.parsed == 0
    return app.listen()


def test_a_child_s_states(submitter, tmp_path, capfd):
    for master, begin in (("local[2]", "local-"), ("local-cluster[1,1,1024]", "app-")):
        app = child(submitter, "count", master=master)
        with open(tmp_path / "out", "w+") as out:
            assert app.call("set_output", out.fileno(), out.fileno()) == 0
            assert app.call("start") == 0
            assert app.end() == "FINISHED", app.text("error")
            out.seek(0)
            assert sorted(out.read().splitlines()) == ["counted 1000", "said on standard error"]
        assert app.text("id").startswith(begin)
        assert app.call("exit_status") == 0
        assert app.heard[-1] == "FINISHED" and "id" in app.heard
        app.call("free")
    assert capfd.readouterr() == ("", "")


def test_states_come_in_order(submitter, tmp_path):
    app = child(submitter, "wait", str(tmp_path / "marker"))
    app.call("start")
    submitter.dispatch_until(lambda: app.state() == "RUNNING")
    assert app.heard[-1] == "RUNNING"
    assert app.call("refresh") == -ENOTSUP
    submitter.dispatch_until((tmp_path / "marker").exists)
    assert app.call("stop") == 0
    assert app.end() == "KILLED"
    assert app.call("exit_status") == 128 + signal.SIGTERM


def test_without_a_context_nobody_knows_what_became_of_it(submitter, tmp_path):
    """As with genuine SparkLauncher: LOST with status 0, FAILED with another."""
    (tmp_path / "app.c").write_text("#include <firesteel/firesteel.h>\n#include <stdlib.h>\nint main(int argc, char **argv) { return atoi(argv[1]); }\n")
    for status, state in ((0, "LOST"), (3, "FAILED")):
        app = submitter.new("--master", "local[1]", str(tmp_path / "app.c"), str(status))
        assert app.call("start") == 0
        assert (app.end(), app.call("exit_status")) == (state, status)


def test_killing_a_child(submitter, tmp_path):
    app = child(submitter, "wait", str(tmp_path / "marker"))
    app.call("start")
    submitter.dispatch_until((tmp_path / "marker").exists)
    pid = app.call("pid")
    assert pid > 0 and os.path.exists(f"/proc/{pid}")
    assert app.call("kill") == 0
    assert app.end() == "KILLED"
    assert app.call("exit_status") == 128 + signal.SIGKILL
    assert not os.path.exists(f"/proc/{pid}")
    assert app.text("error") == ""


def test_a_child_that_fails(submitter):
    app = child(submitter, "fail", conf=["spark.task.maxFailures=1"])
    app.call("start")
    assert app.end() == "FAILED"
    assert app.text("error") == "the application's process ended with status 1"
    quits = child(submitter, "quit")
    quits.call("start")
    assert quits.end() == "FAILED"
    assert quits.call("exit_status") == 3
    assert quits.heard == ["FAILED"] and quits.call("stop") == -ESRCH


def test_a_child_s_environment(submitter, tmp_path):
    (tmp_path / "show.c").write_text("""
        #include <firesteel/firesteel.h>
        #include <stdio.h>
        #include <stdlib.h>
        int main(void)
        {
                printf("%s %s %s\\n", getenv("FIRST") ? getenv("FIRST") : "none", getenv("SECOND") ? "there" : "none",
                       getenv("_SPARK_LAUNCHER_PORT") ? "told" : "none");
                return 0;
        }
    """)
    os.environ["SECOND"] = "of the parent"
    try:
        app = submitter.new("--conf", "spark.log.level=OFF", str(tmp_path / "show.c")).listen()
        assert app.call("set_env", b"FIRST", b"one") == 0 and app.call("set_env", b"FIRST", b"two") == 0
        assert app.call("set_env", b"SECOND", None) == 0 and app.call("set_env", b"A=B", b"") == -EINVAL
        with open(tmp_path / "out", "w+") as out:
            assert app.call("set_output", out.fileno(), -1) == 0
            app.call("start")
            assert app.end() == "LOST"  # it succeeded without registering as an application
            out.seek(0)
            assert out.read() == "two none told\n"
    finally:
        del os.environ["SECOND"]


def test_another_program(submitter, tmp_path):
    assert submitter.library.fst_submit_set_program(submitter.handle, b"/no/such/program") == -ENOENT
    script = tmp_path / "program"
    script.write_text("#!/bin/sh\nexit 7\n")
    script.chmod(0o755)
    assert submitter.library.fst_submit_set_program(submitter.handle, str(script).encode()) == 0
    app = child(submitter, "count")
    app.call("start")
    assert app.end() == "FAILED" and app.call("exit_status") == 7


def test_an_event_loop(submitter):
    """The descriptor is readable only while events are pending."""
    fd = submitter.library.fst_submit_fd(submitter.handle)
    assert select.select([fd], [], [], 0)[0] == []
    app = child(submitter, "count")
    with open(os.devnull, "w") as null:
        app.call("set_output", null.fileno(), null.fileno())
    app.call("start")
    while app.state() != "FINISHED":
        assert select.select([fd], [], [], TIMEOUT_MS / 1000)[0] == [fd]
        assert submitter.dispatch(0) > 0
    submitter.dispatch(0)
    assert select.select([fd], [], [], 0)[0] == []


def test_a_stranger_at_the_launcher_s_port(submitter, tmp_path):
    """A peer without the secret is disconnected, and has no effect."""
    import socket
    app = child(submitter, "wait", str(tmp_path / "marker"))
    app.call("start")
    submitter.dispatch_until((tmp_path / "marker").exists)
    variables = open(f"/proc/{app.call('pid')}/environ", "rb").read().split(b"\0")
    port = int(next(v for v in variables if v.startswith(b"_SPARK_LAUNCHER_PORT=")).split(b"=")[1])
    for words in (b"GET / HTTP/1.0\r\n\r\n", b"\xac\xed\0\5sr\0\x11java.util.HashMap", b"\0" * 100000):
        with socket.create_connection(("127.0.0.1", port)) as stranger:
            stranger.settimeout(TIMEOUT_MS / 1000)
            try:
                stranger.sendall(words)
                assert stranger.recv(1) == b""
            except ConnectionError:
                pass  # it was disconnected while it sent
    assert app.call("stop") == 0
    assert app.end() == "KILLED"


def test_the_example(submitter, master):
    """examples/submitting.c, which spark-submit can run as well: it has a main."""
    done = subprocess.run([os.path.join(BIN, "spark-submit"), "--conf", "spark.log.level=OFF",
                           os.path.join(TOP, "examples", "submitting.c"), "5", "--master", master.url,
                           "--deploy-mode", "cluster", "--class", "Main",
                           "--conf", "spark.master.rest.enabled=true", "--conf",
                           "spark.firesteel.submit.reportInterval=20ms", "http://127.0.0.1/app.jar", "work"],
                          capture_output=True, text=True, timeout=TIMEOUT_MS / 1000, check=False)
    assert done.returncode == 0, done.stderr
    ends = [line.split()[0] for line in done.stdout.splitlines() if line.split()[1] == "FINISHED"]
    assert len(set(ends)) == 5 and len(master.requests) == 5
