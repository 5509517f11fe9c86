"""A disk that is soon full."""
import contextlib
import os
import subprocess

import pytest


@contextlib.contextmanager
def mounted(path, size):
    """A disk of so many MiB over the directory; the test is skipped where there is no right to mount one."""
    done = os.geteuid() == 0 and subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}m", "tmpfs", path],
                                                stderr=subprocess.DEVNULL, check=False).returncode == 0
    if not done:
        pytest.skip("no right to mount a small disk")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", path], check=False)
