"""A standalone cluster with faults of masters, workers, drivers and connections while jobs run: a few of the faults of
tests/faults/run_standalone (`make check-faults`)."""
import os
import signal
import subprocess
import sys
import tempfile

from folders import BIN, TOP
from standalone_cluster import wait_for

RUN = [sys.executable, os.path.join(TOP, "tests/faults/run_standalone")]


def test_nothing_is_lost_but_time():
    done = subprocess.run([*RUN, "--quick"], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                          timeout=400, env=dict(os.environ, FIRESTEEL_BIN=BIN))
    assert done.returncode == 0, done.stdout[-12000:]
    assert "7 passed, 0 failed" in done.stdout


def test_an_interrupted_run_leaves_nothing():
    with tempfile.TemporaryDirectory(prefix="fst-", dir="/tmp") as folder:  # the path of a socket below it has at most 107 bytes
        interrupt_run(folder)


def interrupt_run(folder):
    def daemons():
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ", "rb") as variables, open(f"/proc/{pid}/cmdline", "rb") as line:
                    if f"{folder}/firesteel-faults-".encode() in variables.read():
                        found.append(line.read())
            except OSError:
                pass
        return found
    with subprocess.Popen([*RUN, "--seeds", "0", "kill-worker"], env=dict(os.environ, FIRESTEEL_BIN=BIN, TMPDIR=folder),
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as run:
        wait_for(lambda: any(b"worker" in line for line in daemons()) or run.poll() is not None, "a worker")
        run.send_signal(signal.SIGTERM)
        assert run.wait(120) == 128 + signal.SIGTERM, run.stdout.read()
    wait_for(lambda: not daemons(), daemons)
    assert not os.listdir(folder)
