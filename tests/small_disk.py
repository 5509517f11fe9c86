"""A small disk."""
import contextlib
import os
import subprocess

import pytest


@contextlib.contextmanager
def mounted(path, size):
    """Mounts a disk of so many MiB on the directory. Skips the test without permission to mount."""
    done = os.geteuid() == 0 and subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}m", "tmpfs", path],
                                                stderr=subprocess.DEVNULL, check=False).returncode == 0
    if not done:
        pytest.skip("no right to mount a small disk")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", path], check=False)
