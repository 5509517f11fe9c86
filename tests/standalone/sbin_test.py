"""sbin/: the scripts start and stop a whole cluster, with an ssh that runs commands on this machine."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time
import urllib.request

import pytest

from conditions import is_alive
from folders import BIN, BUILD, TOP
from free_ports import free_port
from sanitizers import SANITIZED

MASTER = "org.apache.spark.deploy.master.Master"
WORKER = "org.apache.spark.deploy.worker.Worker"
TIMEOUT = 120

SSH = """#!/bin/bash
while [ "${1#-}" != "$1" ]; do shift 2; done
echo "$1" >>"$SSH_HOSTS"
shift
exec bash -c "$*"
"""


class Home:
    """An installation in its own folder, which may exist already."""

    def __init__(self, folder, installed=False):
        self.folder = folder
        if not installed:
            shutil.copytree(os.path.join(TOP, "sbin"), folder / "sbin")
            (folder / "bin").symlink_to(BIN)
            (folder / "conf").mkdir()
        (folder / "path").mkdir()
        (folder / "path" / "ssh").write_text(SSH)
        (folder / "path" / "ssh").chmod(0o755)
        (folder / "conf" / "workers").write_text("# where workers run\n\nfirst.example  # the first\n")
        (folder / "conf" / "spark-defaults.conf").write_text("spark.master.rest.enabled false\nspark.decommission.enabled true\n")
        self.port = free_port()
        (folder / "conf" / "spark-env.sh").write_text(
            f"SPARK_MASTER_HOST=127.0.0.1\nSPARK_MASTER_PORT=${{TEST_PORT-{self.port}}}\nSPARK_MASTER_WEBUI_PORT=0\n"
            f"SPARK_WORKER_WEBUI_PORT=0\nSPARK_WORKER_DIR={folder}/work\nSPARK_WORKER_CORES=1\n"
            f"SPARK_WORKER_MEMORY=1g\nSPARK_LOCAL_IP=127.0.0.1\nSPARK_PID_DIR={folder}/pids\nSPARK_IDENT_STRING=me\n")

    def run(self, script, *words, **variables):
        env = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK_", "_SPARK_", "FIRESTEEL_"))}
        env |= {"PATH": f"{self.folder}/path:{env['PATH']}", "SSH_HOSTS": str(self.folder / "hosts")} | variables
        done = subprocess.run([self.folder / "sbin" / script, *words], env=env, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=TIMEOUT, check=False)
        return done.returncode, done.stdout

    def log(self, daemon):
        return self.folder / "logs" / f"spark-me-{daemon}-1-{os.uname().nodename}.out"

    def pid(self, daemon):
        return int((self.folder / "pids" / f"spark-me-{daemon}-1.pid").read_text())

    def wait_for(self, daemon, pattern):
        end = time.monotonic() + TIMEOUT
        while not re.search(pattern, self.log(daemon).read_text()):
            assert time.monotonic() < end, f"no {pattern} in: {self.log(daemon).read_text()}"
            time.sleep(0.05)

    def kill(self):
        for file in (self.folder / "pids").glob("*.pid"):
            try:
                os.kill(int(file.read_text()), signal.SIGKILL)
            except ProcessLookupError:
                pass


@pytest.fixture
def home(tmp_path):
    home = Home(tmp_path)
    yield home
    home.kill()


def test_a_cluster_comes_and_goes(home):
    status, said = home.run("start-all.sh")
    assert status == 0, said
    assert f"starting {MASTER}, logging to {home.log(MASTER)}" in said
    assert f"first.example: starting {WORKER}, logging to {home.log(WORKER)}" in said
    assert (home.folder / "hosts").read_text() == "first.example\n"
    home.wait_for(MASTER, f"Starting Spark master at spark://127.0.0.1:{home.port}\n")
    home.wait_for(WORKER, f"Successfully registered with master spark://127.0.0.1:{home.port}\n")
    assert home.run("spark-daemon.sh", "status", MASTER, "1") == (0, f"{MASTER} is running.\n")
    for daemon, ui, sentence in ((MASTER, "MasterUI", "Starting Spark master at"),
                                 (WORKER, "WorkerUI", "Successfully registered with master")):
        port = re.search(rf"service '{ui}' on port (\d+)", home.log(daemon).read_text())[1]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/log/?self&logType=out", timeout=TIMEOUT) as answer:
            own = answer.read().decode()  # of the two that are in the folder
        assert sentence in own and f" of {home.folder}/logs/out ====\n" in own, own
    pids = home.pid(MASTER), home.pid(WORKER)
    assert home.run("start-master.sh") == (1, f"{MASTER} running as process {pids[0]}.  Stop it first.\n")
    status, said = home.run("decommission-worker.sh")
    assert (status, said) == (0, f"decommissioning {WORKER}\n")
    home.wait_for(MASTER, "Decommissioning worker ")
    status, said = home.run("stop-all.sh")
    assert status == 0 and f"first.example: stopping {WORKER}\n" in said and f"\nstopping {MASTER}\n" in "\n" + said, said
    assert all(not is_alive(pid) for pid in pids)
    assert home.run("spark-daemon.sh", "status", MASTER, "1") == (2, f"{MASTER} not running.\n")
    assert home.run("stop-master.sh")[1] == f"no {MASTER} to stop\n"
    assert home.run("stop-worker.sh")[1] == f"no {WORKER} to stop\n"


def test_the_history_server_comes_and_goes(home, tmp_path):
    daemon = "org.apache.spark.deploy.history.HistoryServer"
    (tmp_path / "events").mkdir()
    options = f"-Dspark.history.ui.port=0 -Dspark.history.fs.logDirectory={tmp_path}/events"
    status, said = home.run("start-history-server.sh", SPARK_HISTORY_OPTS=options)
    assert status == 0 and said.startswith(f"starting {daemon}, logging to"), said
    home.wait_for(daemon, "Successfully started service 'HistoryServerUI' on port")
    pid = home.pid(daemon)
    assert home.run("stop-history-server.sh") == (0, f"stopping {daemon}\n")
    assert not is_alive(pid)


@pytest.fixture
def installed(tmp_path):
    """An installation by `meson install`, moved to another prefix."""
    if SANITIZED:
        pytest.skip("what is linked to a sanitizer is not installed")
    subprocess.run(["meson", "install", "-C", BUILD, "--no-rebuild", "--quiet"], check=True,
                   env=dict(os.environ, DESTDIR=str(tmp_path / "stage")))
    header, = (tmp_path / "stage").rglob("include/firesteel/firesteel.h")
    shutil.move(header.parents[2], tmp_path / "firesteel")
    home = Home(tmp_path / "firesteel", installed=True)
    yield home
    home.kill()


def test_an_installed_cluster_runs(installed):
    home = installed
    for pattern in ("sbin/*.sh", "conf/*.template", "examples/*.c"):
        ours = {f.name for f in pathlib.Path(TOP).glob(pattern)}
        assert ours and {f.name for f in home.folder.glob(pattern)} == ours, pattern
    units = home.folder / "share" / "firesteel" / "systemd"
    assert {f.name for f in units.iterdir()} == {"firesteel-master.service", "firesteel-shuffle.service", "firesteel-worker.service",
                                            "worker.env"}
    status, said = home.run("start-all.sh")
    assert status == 0, said
    home.wait_for(WORKER, f"Successfully registered with master spark://127.0.0.1:{home.port}\n")
    (home.folder / "in.txt").write_text("to be or\nnot to be\n")
    env = {"HOME": str(home.folder), "PATH": os.environ["PATH"], "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run([home.folder / "bin" / "spark-submit", "--master", f"spark://127.0.0.1:{home.port}",
                           "--executor-memory", "300m", home.folder / "examples" / "wordcount.c", "in.txt", "out"],
                          cwd=home.folder, env=env, text=True, capture_output=True, timeout=TIMEOUT, check=False)
    assert done.returncode == 0, done.stderr
    lines = sorted(line for part in (home.folder / "out").glob("part-*") for line in part.read_text().split())
    assert lines == ["(be,2)", "(not,1)", "(or,1)", "(to,2)"]
    assert home.run("stop-all.sh")[0] == 0


def test_who_does_not_start_says_why(home):
    status, said = home.run("start-master.sh", TEST_PORT="nonsense")
    assert status == 1 and "failed to launch: nice -n 0 " in said, said
    assert "\n  Usage: Master [options]\n" in said or "nonsense" in said
    assert f"full log in {home.log(MASTER)}\n" in said
    assert "grep:" not in said, said
    status, said = home.run("spark-daemon.sh", "status", MASTER, "1")
    assert (status, said) == (1, f"{home.folder}/pids/spark-me-{MASTER}-1.pid file is present but {MASTER} not running\n")
    home.run("start-master.sh", TEST_PORT="nonsense")
    assert (home.folder / "logs" / f"{home.log(MASTER).name}.1").exists()
    status, said = home.run("start-master.sh", SPARK_LOG_MAX_FILES="none")
    assert (status, said) == (255, "Error: SPARK_LOG_MAX_FILES must be a positive number, but got none\n")


def test_in_the_foreground(home):
    status, said = home.run("start-master.sh", "--properties-file", "/nowhere", SPARK_NO_DAEMONIZE="1")
    assert status == 1 and "/nowhere" in said and not (home.folder / "logs").exists()


@pytest.mark.parametrize("words, status, said", [
    (["start-worker.sh"], 1, "Usage: ./sbin/start-worker.sh <master> [options]"),
    (["start-slave.sh"], 1, "This script is deprecated, use start-worker.sh"),
    (["start-master.sh", "--help"], 1, "Usage: ./sbin/start-master.sh [options]"),
    (["spark-daemon.sh", "start"], 1, "Usage: spark-daemon.sh [--config <conf-dir>]"),
    (["spark-daemon.sh", "--config", "/nowhere", "start"], 1, "ERROR : /nowhere is not a directory"),
    (["spark-daemons.sh"], 1, "Usage: spark-daemons.sh "),
    (["workers.sh"], 1, "Usage: workers.sh [--config confdir] command..."),
    (["workers.sh", "echo", "a  b", ";", "echo", "$HOME"], 0, "first.example: a  b\nfirst.example: $HOME\n"),
    (["stop-history-server.sh"], 0, "no org.apache.spark.deploy.history.HistoryServer to stop"),
])
def test_words(home, words, status, said):
    done = home.run(*words)
    assert done[0] == status and said in done[1], done
