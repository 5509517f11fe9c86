"""Ports that tests draw for processes (free_ports.py): no two tests that run at the same time get the same one."""
import subprocess
import sys

from folders import TESTS
import free_ports

DRAW = f"""
import sys
sys.path.append({TESTS!r})
import free_ports
free_ports.PORTS = range(int(sys.argv[1]), int(sys.argv[1]) + 100)
print(*free_ports.free_ports(10), *free_ports.free_ports(10), flush=True)
sys.stdin.read()
"""


def test_ports_are_drawn_once(monkeypatch):
    start = free_ports.free_ports(1)[0] % 22000 + 10000
    monkeypatch.setattr(free_ports, "PORTS", range(start, start + 100))
    others = [subprocess.Popen([sys.executable, "-c", DRAW, str(start)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
              for _ in range(2)]
    try:
        drawn = [int(word) for other in others for word in other.stdout.readline().split()]
        drawn += free_ports.free_ports(10) + free_ports.free_ports(10)
    finally:
        for other in others:
            other.communicate()
    assert len(drawn) == len(set(drawn)) == 60, sorted(drawn)
