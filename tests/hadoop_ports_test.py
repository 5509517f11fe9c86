"""Ports of Hadoop's daemons (tests/hdfs/hadoop.py): no two daemons of tests that run at the same time get the same one."""
import os
import subprocess
import sys

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "hdfs")
sys.path.append(FOLDER)
import hadoop  # noqa: E402

DRAW = f"""
import sys
sys.path.append({FOLDER!r})
import hadoop
hadoop.PORTS = range(int(sys.argv[1]), int(sys.argv[1]) + 100)
print(*hadoop.free_ports(10), *hadoop.free_ports(10), flush=True)
sys.stdin.read()
"""


def test_ports_are_drawn_once(monkeypatch):
    start = hadoop.free_ports(1)[0] % 22000 + 10000
    monkeypatch.setattr(hadoop, "PORTS", range(start, start + 100))
    others = [subprocess.Popen([sys.executable, "-c", DRAW, str(start)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
              for _ in range(2)]
    try:
        drawn = [int(word) for other in others for word in other.stdout.readline().split()]
        drawn += hadoop.free_ports(10) + hadoop.free_ports(10)
    finally:
        for other in others:
            other.communicate()
    assert len(drawn) == len(set(drawn)) == 60, sorted(drawn)
