"""Waiting for conditions, and the one that a process has ended."""
import os
import time

TIMEOUT = int(os.environ.get("TEST_TIMEOUT") or 120)  # seconds


def wait_until(condition, what, seconds=TIMEOUT):
    """Returns the first true result of condition(). After @seconds, fails with the last one and @what, a text or a function
    that returns one."""
    end = time.monotonic() + seconds
    while not (result := condition()):
        assert time.monotonic() < end, f"{what() if callable(what) else what}: not within {seconds} s; last: {result!r}"
        time.sleep(0.02)
    return result


def is_alive(pid):
    """False once the process has closed its files: also for a zombie that its parent has not reaped."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False
