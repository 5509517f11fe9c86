"""Ports for processes that bind them later: no two tests that run at the same time get the same one."""
import fcntl
import os
import random
import socket
import tempfile

PORTS = range(10000, 32768)  # below net.ipv4.ip_local_port_range
RESERVED, RESERVATIONS = set(), None  # ports of this process; the file in which a byte is locked for each of them


def reserve_port(port):
    """Whether no other test has @port. It is this process's until it ends."""
    global RESERVATIONS
    if RESERVATIONS is None:
        RESERVATIONS = open(os.path.join(tempfile.gettempdir(), f"firesteel-test-ports-{os.getuid()}"), "ab")
    try:
        fcntl.lockf(RESERVATIONS, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, port)
    except OSError:
        return False
    with socket.socket() as s:
        try:
            s.bind(("", port))
        except OSError:
            return False
    RESERVED.add(port)
    return True


def free_ports(n):
    """Ports that no process uses. The processes bind them seconds later, so they are none that the system gives to others,
    and none that this or another test has drawn."""
    ports = []
    while len(ports) < n:
        port = random.choice(PORTS)
        if port not in RESERVED and reserve_port(port):
            ports.append(port)
    return ports


def free_port():
    return free_ports(1)[0]
