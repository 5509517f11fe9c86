"""A standalone cluster with faults of masters, workers, drivers and connections while jobs run: a few of the faults of
tests/faults/run_standalone (`make check-faults`)."""
import os
import subprocess
import sys

from standalone_cluster import BIN, TOP


def test_nothing_is_lost_but_time():
    done = subprocess.run([sys.executable, os.path.join(TOP, "tests/faults/run_standalone"), "--quick"], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=400,
                          env=dict(os.environ, FIRESTEEL_BIN=BIN))
    assert done.returncode == 0, done.stdout[-12000:]
    assert "7 passed, 0 failed" in done.stdout
