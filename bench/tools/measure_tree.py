"""Runs a command and prints what it and all processes below it used, as JSON.

    python3 measure_tree.py OUTPUT ERRORS COMMAND...

Wall time, CPU time of the whole tree, and the greatest sums of resident and of proportional set sizes, sampled five times a
second.

The CPU time is that of a control group, where there is one that this process may make ("cpu_of": "group"). Otherwise it is what
parents reaped, this process being that of orphans ("cpu_of": "reaped"): it lacks the processes whose parent ignores their end, and
those are the workers of pyspark if their daemon is killed together with them.
"""
import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time

GROUPS_V1, GROUPS_V2 = "/sys/fs/cgroup/cpuacct", "/sys/fs/cgroup"
PR_SET_CHILD_SUBREAPER = 36
INTERVAL_S = 0.2


def descendants():
    """The pids of all processes below this one."""
    children = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as f:
                    children.setdefault(int(f.read().rsplit(")", 1)[1].split()[1]), []).append(int(name))
            except OSError:
                pass
    found, left = [], list(children.get(os.getpid(), ()))
    while left:
        found.append(left.pop())
        left += children.get(found[-1], ())
    return found


def memory():
    """Sums of Rss and Pss in KiB."""
    rss = pss = 0
    for pid in descendants():
        try:
            with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as f:
                for line in f:
                    if line.startswith("Rss:"):
                        rss += int(line.split()[1])
                    elif line.startswith("Pss:"):
                        pss += int(line.split()[1])
        except OSError:
            pass
    return rss, pss


def make_group():
    """A new control group that counts CPU time, or None."""
    parent = GROUPS_V1 if os.path.isdir(GROUPS_V1) else GROUPS_V2
    group = os.path.join(parent, f"bench-{os.getpid()}")
    try:
        os.mkdir(group)
    except OSError:
        return None
    if os.path.exists(os.path.join(group, "cgroup.procs")):
        return group
    os.rmdir(group)
    return None


def times_of_group(group):
    """CPU, user and system time in seconds. The kernel samples the latter two."""
    def values(name):
        with open(os.path.join(group, name), encoding="ascii") as f:
            return f.read().split()

    if group.startswith(GROUPS_V1):
        _, user, _, system = values("cpuacct.stat")
        tick_s = 1 / os.sysconf("SC_CLK_TCK")
        return int(values("cpuacct.usage")[0]) / 1e9, int(user) * tick_s, int(system) * tick_s
    words = values("cpu.stat")
    counts = dict(zip(words[::2], map(int, words[1::2])))
    return tuple(counts[name] / 1e6 for name in ("usage_usec", "user_usec", "system_usec"))


def main():
    group = make_group()

    def enter_group():
        if group:
            with open(os.path.join(group, "cgroup.procs"), "w", encoding="ascii") as f:
                f.write("0")

    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    ended, most = threading.Event(), [0, 0]

    def sample():
        while not ended.wait(INTERVAL_S):
            now = memory()
            most[:] = map(max, most, now)

    start = time.monotonic()
    with open(sys.argv[1], "wb") as out, open(sys.argv[2], "wb") as errors:
        process = subprocess.Popen(sys.argv[3:], stdin=subprocess.DEVNULL, stdout=out, stderr=errors, preexec_fn=enter_group)
        thread = threading.Thread(target=sample)
        thread.start()
        status = process.wait()
        wall = time.monotonic() - start
        ended.set()
        thread.join()
    for pid in descendants():  # workers that outlive their driver by a moment
        try:
            os.kill(pid, signal.SIGTERM)
        except OSError:
            pass
    try:
        while True:
            os.waitpid(-1, 0)
    except ChildProcessError:
        pass
    reaped = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu, user, system = times_of_group(group) if group else (reaped.ru_utime + reaped.ru_stime, reaped.ru_utime, reaped.ru_stime)
    if group:
        os.rmdir(group)
    print(json.dumps({"wall": wall, "cpu": cpu, "cpu_of": "group" if group else "reaped", "user": user, "system": system,
                      "status": status, "peak_rss_kb": most[0], "peak_pss_kb": most[1]}))


if __name__ == "__main__":
    main()
