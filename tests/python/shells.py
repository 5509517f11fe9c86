"""The interactive shell and notebooks with genuine pyspark: python, IPython, Jupyter, the progress bar.

`make check-python` runs this file by check_shells, which installs IPython, nbconvert and ipykernel with pip in an environment
of its own (FIRESTEEL_SHELLS), and names those with pyspark in FIRESTEEL_PYTHON_VENVS. Without them the tests are skipped.
"""
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import environments  # noqa: E402
import programs  # noqa: E402

BUILD = os.environ.get("FIRESTEEL_BUILD", os.path.join(programs.TOP, "build"))
SHELLS = os.environ.get("FIRESTEEL_SHELLS", os.path.join(BUILD, "python", "venv-shells"))
VERSIONS = environments.given() if os.path.exists(SHELLS) else {}
PROMPT_LIMIT_S = 180

pytestmark = pytest.mark.skipif(not VERSIONS, reason=f"{SHELLS} has no IPython: tests/python/check_shells makes it")


@pytest.fixture(name="home", scope="module")
def make_home(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    (home / "bin").mkdir()
    for name in ("spark-submit", "pyspark"):
        (home / "bin" / name).symlink_to(os.path.join(BUILD, "src", name))
    return home


@pytest.fixture(name="environment", params=VERSIONS or ["none"])
def make_environment(request, home, tmp_path):
    """The variables of a user whose Python is that of SHELLS with one version of pyspark."""
    packages, = {path for path in [os.path.join(os.path.dirname(os.path.dirname(VERSIONS[request.param])), "lib")]}
    folder, = [os.path.join(packages, name, "site-packages") for name in os.listdir(packages) if name.startswith("python")]
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("SPARK_", "PYSPARK_", "JAVA_", "IPYTHON"))}
    return kept | {"SPARK_HOME": str(home), "PYTHONPATH": folder, "PATH": f"{SHELLS}/bin:/usr/bin:/bin", "TERM": "dumb",
                   "IPYTHONDIR": str(tmp_path / "ipython"), "JUPYTER_CONFIG_DIR": str(tmp_path / "jupyter"),
                   "PYSPARK_PYTHON": f"{SHELLS}/bin/python"}


class Terminal:
    """A program under a pseudo-terminal."""

    def __init__(self, command, **options):
        self.shown = ""
        self.child, self.fd = pty.fork()
        if self.child == 0:
            os.chdir(options["cwd"])
            os.execvpe(command[0], command, options["env"])

    def wait(self, pattern, seconds=PROMPT_LIMIT_S):
        """Waits until @pattern is shown after what was matched before, and returns what was shown up to its end."""
        end = time.monotonic() + seconds
        while not (found := re.search(pattern, self.shown, re.DOTALL)):
            left = end - time.monotonic()
            assert left > 0 and select.select([self.fd], [], [], left)[0], f"{pattern!r} is not in {self.shown!r}"
            try:
                self.shown += os.read(self.fd, 65536).decode(errors="replace")
            except OSError:
                raise AssertionError(f"the program ended without {pattern!r}: {self.shown!r}") from None
        text, self.shown = self.shown[:found.end()], self.shown[found.end():]
        return text

    def type(self, text):
        os.write(self.fd, text.encode())

    def close(self):
        """Sends the end of input. Returns the status of the program."""
        self.type("\x04")
        end = time.monotonic() + PROMPT_LIMIT_S
        while time.monotonic() < end:
            try:
                if not select.select([self.fd], [], [], 1)[0]:
                    continue
                self.shown += os.read(self.fd, 65536).decode(errors="replace")
            except OSError:
                break
        return os.waitstatus_to_exitcode(os.waitpid(self.child, 0)[1])

    def kill(self):
        try:
            os.kill(self.child, signal.SIGKILL)
            os.waitpid(self.child, 0)
        except (ChildProcessError, ProcessLookupError):
            pass
        os.close(self.fd)


@pytest.fixture(name="terminal")
def open_terminals(environment, home, tmp_path):
    opened = []

    def start(*words, **changes):
        opened.append(Terminal([f"{home}/bin/pyspark", *words], env=environment | changes, cwd=tmp_path))
        return opened[-1]

    yield start
    for terminal in opened:
        terminal.kill()


WAIT = "import time"

def test_shell_shows_its_banner(terminal):
    shell = terminal("--master", "local[2]")
    banner = shell.wait(r">>> ")
    assert "Spark context available as 'sc' (master = local[2], app id = local-" in banner
    assert re.search(r"Using Python version 3\.\d+", banner)
    shell.type("sc.parallelize(range(5)).sum()\n")
    shell.wait(r"10\r?\n>>> ")
    assert shell.close() == 0


# Both tasks run when Ctrl-C comes, so that the next job needs their cores.
def test_shell_survives_an_interrupt(terminal):
    shell = terminal("--master", "local[2]")
    shell.wait(r">>> ")
    shell.type(WAIT + "\n")
    shell.wait(r">>> ")
    shell.type("sc.parallelize(range(2), 2).foreach(lambda i: time.sleep(600))\n")
    shell.wait(r"\(0 \+ 2\) / 2\]")
    shell.type("\x03")
    # with pyspark 3.5 and 4.0 an error of Py4J replaces KeyboardInterrupt
    shell.wait(r"(KeyboardInterrupt|Py4JError: [^\r\n]*)(\r?\n)+>>> ")
    shell.type("sc.parallelize(range(6), 2).sum()\n")
    shell.wait(r"15\r?\n>>> ")
    shell.type("sc.statusTracker().getActiveJobsIds()\n")
    shell.wait(r"\[\]\r?\n>>> ")
    assert shell.close() == 0


def test_shell_shows_progress(terminal):
    shell = terminal("--master", "local[2]")
    shell.wait(r">>> ")
    shell.type(WAIT + "\n")
    shell.wait(r">>> ")
    shell.type("sc.parallelize(range(8), 8).map(lambda i: time.sleep(0.5)).count()\n")
    shell.wait(r"\[Stage 0:=*>? *\(\d \+ 2\) / 8\]")
    shell.wait(r"8\r?\n>>> ")
    assert shell.close() == 0


def test_ipython_has_a_context(terminal):
    shell = terminal("--master", "local[2]", PYSPARK_DRIVER_PYTHON="ipython",
                     PYSPARK_DRIVER_PYTHON_OPTS="--simple-prompt --no-banner --no-confirm-exit --colors=NoColor")
    banner = shell.wait(r"In \[1\]: ")
    assert "Spark context available as 'sc' (master = local[2]" in banner
    shell.type("sc.parallelize(range(5)).map(lambda x: x * x).sum()\n")
    shell.wait(r"Out\[1\]: 30")
    assert shell.close() == 0


def notebook(path, *cells):
    path.write_text(json.dumps({
        "nbformat": 4, "nbformat_minor": 4,
        "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
        "cells": [{"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [], "source": text} for text in cells]}))


def outputs(path):
    """The text that each cell printed or returned."""
    shown = []
    for cell in json.loads(path.read_text())["cells"]:
        parts = [part.get("text") or part.get("data", {}).get("text/plain", "") for part in cell["outputs"]]
        shown.append("".join(text if isinstance(text, str) else "".join(text) for text in parts).strip())
    return shown


def execute(command, environment, tmp_path):
    done = subprocess.run([*command, "--execute", "--to", "notebook", "--output", "done.ipynb", "notebook.ipynb"], env=environment, cwd=tmp_path,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout
    return outputs(tmp_path / "done.ipynb")


def test_notebook_makes_a_context(environment, tmp_path):
    notebook(tmp_path / "notebook.ipynb", "from pyspark import SparkContext\nsc = SparkContext('local[2]', 'notebook')",
             "sorted(sc.parallelize('a b a'.split()).countByValue().items())", "sc.stop()")
    assert execute(["jupyter", "nbconvert"], environment, tmp_path)[1] == "[('a', 2), ('b', 1)]"
