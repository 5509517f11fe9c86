"""Starts run_programs.py on Firesteel or on genuine PySpark, and compares what programs printed with the recorded output.

The programs are programs/GROUP/NAME.py. expected/GROUP/NAME.out is what genuine PySpark printed, and NAME.VERSION.out what
it printed if that version's output differs from the newest version's.
"""
import difflib
import functools
import glob
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
PROGRAMS, EXPECTED = os.path.join(HERE, "programs"), os.path.join(HERE, "expected")
RUNNER = os.path.join(HERE, "run_programs.py")
LIMIT_S = 180  # for one program, on a busy machine
QUIET = ("--conf", "spark.ui.enabled=false", "--conf", "spark.ui.showConsoleProgress=false")


def names(patterns=()):
    """Names GROUP/NAME of all programs, or of those that contain one of the patterns."""
    found = sorted(os.path.relpath(p, PROGRAMS)[:-3] for p in glob.glob(os.path.join(PROGRAMS, "*", "*.py")))
    return [n for n in found if not patterns or any(p in n for p in patterns)]


# To import pyspark takes ten times as long.
VERSION = """import importlib.util, os, runpy
importlib.util.find_spec("py4j").origin
print(runpy.run_path(os.path.join(os.path.dirname(importlib.util.find_spec("pyspark").origin), "version.py"))["__version__"])"""


@functools.cache
def pyspark_version(python):
    """The major and minor version of the pyspark of a Python, or None."""
    done = subprocess.run([python, "-c", VERSION], capture_output=True, text=True)
    return ".".join(done.stdout.split(".")[:2]) if done.returncode == 0 else None


def expected(name, version):
    """The recorded output of the program with this version of pyspark, or None."""
    for path in (f"{name}.{version}.out", f"{name}.out"):
        path = os.path.join(EXPECTED, path)
        if os.path.exists(path):
            with open(path, encoding="utf-8", errors="surrogatepass", newline="") as f:
                return f.read()
    return None


def exceptions():
    """{program, test of pyspark or module of tests: reason} of the file `exceptions`."""
    with open(os.path.join(HERE, "exceptions"), encoding="utf-8") as f:
        rows = [line.split(None, 1) for line in f if line.strip() and not line.startswith("#")]
    return {name: reason.strip() for name, reason in rows}


class Sides:
    """How to start one side: its environment and its spark-submit."""

    def __init__(self, python, environment, submit):
        self.python, self.environment, self.submit = python, environment, submit

    def command(self, way, master, arguments):
        """The command and environment of `run_programs.py arguments`. Way A is `spark-submit run_programs.py`, way B is
        `python run_programs.py`, which starts the engine itself."""
        environment = dict(self.environment, PYTHONHASHSEED="0", PYSPARK_PYTHON=self.python)
        options = ["--master", master, *QUIET]
        if way == "A":
            return [self.submit, *options, RUNNER, *arguments], environment
        environment["PYSPARK_SUBMIT_ARGS"] = " ".join("'" + o + "'" for o in options + ["pyspark-shell"])
        return [self.python, RUNNER, *arguments], environment


def genuine(python):
    """The pip package of this Python with its own jars. Java has to be in PATH."""
    environment = {k: v for k, v in os.environ.items() if k not in ("SPARK_HOME", "PYTHONPATH", "PYSPARK_SUBMIT_ARGS")}
    return Sides(python, environment, os.path.join(os.path.dirname(python), "spark-submit"))


def path_without_java(folder):
    """Makes a folder with links to all programs in PATH except Java's, and returns it."""
    os.makedirs(folder, exist_ok=True)
    for place in os.environ["PATH"].split(os.pathsep):
        for program in os.listdir(place) if os.path.isdir(place) else ():
            link = os.path.join(folder, program)
            if not program.startswith(("java", "spark", "pyspark")) and not os.path.lexists(link):
                os.symlink(os.path.join(place, program), link)
    return folder


def firesteel(python, home, scratch):
    """Firesteel in @home (a folder with bin/spark-submit), with this Python's pyspark and without Java."""
    dropped = ("JAVA_HOME", "PYTHONPATH", "PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR")
    environment = {k: v for k, v in os.environ.items() if k not in dropped}
    environment.update(SPARK_HOME=home, PATH=path_without_java(os.path.join(scratch, "path")))
    return Sides(python, environment, os.path.join(home, "bin", "spark-submit"))


def home_of_build(build, scratch):
    """A Spark home whose bin/ has the links of the checkout to the program in @build."""
    binaries = os.environ.get("FIRESTEEL_BIN") or os.path.join(build, "src")
    home = os.path.join(scratch, "home")
    os.makedirs(os.path.join(home, "bin"), exist_ok=True)
    for name in ("firesteel", "spark-submit", "pyspark"):
        link = os.path.join(home, "bin", name)
        if not os.path.lexists(link):
            os.symlink(os.path.realpath(os.path.join(binaries, name)) if name == "firesteel" else os.path.abspath(os.path.join(binaries, name)), link)
    return home


def kill_session(process):
    """Kills the process and all that it started in its session."""
    for stat in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(stat) as f:
                pid, rest = int(stat.split("/")[2]), f.read().rsplit(")", 1)[1].split()
            if int(rest[3]) == process.pid:
                os.kill(pid, signal.SIGKILL)
        except (OSError, ValueError):
            pass
    process.wait()


def lines_of(stream):
    """A queue of the lines of a stream, and None at its end."""
    lines = queue.Queue()

    def read():
        for line in stream:
            lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    return lines


class Follower:
    """A process of run_programs.py. Iteration gives (name, seconds) as programs end; then `running` is the program that was
    under way when the process ended or was killed, and `why` says which."""

    def __init__(self, command, environment, log, limit_s):
        self.running, self.why, self.log, self.limit_s = None, None, log, limit_s
        self.process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True,
                                        start_new_session=True, cwd=tempfile.gettempdir())

    def __iter__(self):
        lines, end = lines_of(self.process.stdout), time.monotonic() + self.limit_s
        try:
            while True:
                line = lines.get(timeout=max(0.0, end - time.monotonic()))
                if line is None:
                    break
                self.log.write(line)
                self.log.flush()
                words = line.split()
                if len(words) == 2 and words[0] == "begin":
                    self.running, end = words[1], time.monotonic() + self.limit_s
                elif len(words) == 3 and words[0] == "end":
                    self.running, end = None, time.monotonic() + self.limit_s
                    yield words[1], float(words[2])
            self.process.wait(60)
            self.why = f"ended the process (status {self.process.returncode})"
        except (queue.Empty, subprocess.TimeoutExpired):
            self.why = f"did not end within {self.limit_s} s" if self.running else "did not end after its last program"
        finally:
            kill_session(self.process)


def run(sides, programs, output, way="B", master="local[2]", log_path=os.devnull, limit_s=LIMIT_S):
    """Runs the programs and yields (name, printed text or None, seconds, what went wrong or None) for each, as they end.

    A program that hangs or ends the process is killed with everything that it started, and the next one starts anew."""
    left = list(programs)
    with open(log_path, "a", encoding="utf-8") as log:
        while left:
            command, environment = sides.command(way, master, [output] + [os.path.join(PROGRAMS, n + ".py") for n in left])
            follower = Follower(command, environment, log, limit_s)
            for name, seconds in follower:
                left.remove(name)
                with open(os.path.join(output, name + ".out"), encoding="utf-8", errors="surrogatepass", newline="") as f:
                    yield name, f.read(), seconds, None
            if left:
                stopped = follower.running or left[0]
                left.remove(stopped)
                yield stopped, None, 0.0, follower.why
            elif follower.process.returncode != 0 or "after" in follower.why:
                yield "(the process)", None, 0.0, follower.why


def difference(wanted, printed):
    """The lines that differ, as a short text."""
    lines = difflib.unified_diff(wanted.splitlines(), printed.splitlines(), "genuine", "firesteel", lineterm="", n=0)
    return "\n".join("    " + line[:300] for line in list(lines)[2:14])


def end_on_sigterm():
    """Lets SIGTERM end this process like an exception, so that the processes it started are killed."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by SIGTERM"))


def scratch_folder(prefix):
    """A temporary folder with a short path, so that Unix sockets fit into it."""
    return tempfile.mkdtemp(prefix=prefix)


def remove(folder):
    shutil.rmtree(folder, ignore_errors=True)
