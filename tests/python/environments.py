#!/usr/bin/env python3
"""Virtual environments with genuine pyspark, one for each version: those of FIRESTEEL_PYTHON_VENVS (folders separated by
colons), or BUILD/python/venv-VERSION, which pip fills.

usage: tests/python/environments.py BUILD [VERSION...]

Makes the missing ones, and ends with status 0 even if pip cannot reach its index: tests that need them are skipped then.
"""
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import programs  # noqa: E402

RELEASES = {"3.5": "3.5.9", "4.0": "4.0.5", "4.1": "4.1.4", "4.2": "4.2.1", "4.3": "4.3.0"}
CHECKED = ("3.5", "4.0", "4.3")  # by `make check-python`; each takes 500 MB
NEWEST = "4.3"
MISSING = "no Python has pyspark: set FIRESTEEL_PYTHON or FIRESTEEL_PYTHON_VENVS, or let pip reach its index"


def folder_of(build, version):
    return os.path.abspath(os.path.join(build, "python", "venv-" + version))


def given():
    """{version: python} of FIRESTEEL_PYTHON_VENVS."""
    found = {}
    for folder in filter(None, os.environ.get("FIRESTEEL_PYTHON_VENVS", "").split(":")):
        python = os.path.join(folder, "bin", "python")
        version = programs.pyspark_version(python)
        if version is None:
            sys.exit(f"{folder} of FIRESTEEL_PYTHON_VENVS has no pyspark; install it there with pip")
        found[version] = python
    return found


def install(folder, version):
    """Makes an environment, complete or not at all. Returns its Python, or None."""
    print(f"installing pyspark {RELEASES[version]} in {folder}", flush=True)
    unfinished = folder + ".unfinished"
    commands = ([sys.executable, "-m", "venv", "--clear", unfinished],
                [os.path.join(unfinished, "bin", "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check",
                 "pyspark==" + RELEASES[version]])
    if any(subprocess.run(command, check=False).returncode for command in commands):
        return None
    shutil.rmtree(folder, ignore_errors=True)
    os.rename(unfinished, folder)
    return os.path.join(folder, "bin", "python")


def environments(build, versions):
    """Finds or makes a Python with pyspark for each version: {version: python}."""
    found = given()
    for version in versions:
        python = os.path.join(folder_of(build, version), "bin", "python")
        if version not in found:
            found[version] = python if os.path.exists(python) and programs.pyspark_version(python) == version else install(
                folder_of(build, version), version)
    return {v: found[v] for v in versions if found.get(v)}


def find(build):
    """A Python that can import pyspark, and the version of pyspark, or None. Installs nothing."""
    pythons = [os.environ.get("FIRESTEEL_PYTHON"), *given().values(), os.path.join(folder_of(build, NEWEST), "bin", "python"),
               shutil.which("python3")]
    for python in filter(None, pythons):
        version = programs.pyspark_version(python) if shutil.which(python) else None
        if version is not None:
            return python, version
    return None


if __name__ == "__main__":
    environments(sys.argv[1], sys.argv[2:] or [NEWEST])
