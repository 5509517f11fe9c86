"""Waiting for conditions."""
import time


def wait_until(condition, what, seconds=60):
    """Returns the first true result of condition(); fails with the last one after @seconds."""
    end = time.monotonic() + seconds
    while not (result := condition()):
        assert time.monotonic() < end, f"{what}: not within {seconds} s; last: {result!r}"
        time.sleep(0.02)
    return result
