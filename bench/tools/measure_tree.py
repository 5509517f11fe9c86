"""Runs a command and prints what it and all processes below it used, as JSON.

    python3 measure_tree.py OUTPUT ERRORS COMMAND...

Wall time, CPU time of the whole tree (this process adopts and reaps orphans, so that nobody's time is lost), and the greatest
sums of resident and of proportional set sizes, sampled five times a second. The CPU time lacks that of processes whose parent
ignores their end.
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


def main():
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    ended, most = threading.Event(), [0, 0]

    def sample():
        while not ended.wait(INTERVAL_S):
            now = memory()
            most[:] = map(max, most, now)

    start = time.monotonic()
    with open(sys.argv[1], "wb") as out, open(sys.argv[2], "wb") as errors:
        process = subprocess.Popen(sys.argv[3:], stdin=subprocess.DEVNULL, stdout=out, stderr=errors)
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
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(json.dumps({"wall": wall, "cpu": used.ru_utime + used.ru_stime, "user": used.ru_utime, "system": used.ru_stime, "status": status,
                      "peak_rss_kb": most[0], "peak_pss_kb": most[1]}))


if __name__ == "__main__":
    main()
