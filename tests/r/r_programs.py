"""Starts run_programs.R on Firesteel or on genuine Spark, and compares what programs printed with the recorded output.

The programs are programs/GROUP/NAME.R; expected/GROUP/NAME.out is what they printed on genuine Spark with Apache's SparkR.
"""
import glob
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "python"))
import programs as python_programs  # noqa: E402

TOP = os.path.dirname(os.path.dirname(HERE))
PROGRAMS, EXPECTED = os.path.join(HERE, "programs"), os.path.join(HERE, "expected")
RUNNER = os.path.join(HERE, "run_programs.R")
MISSING = "R has no package SparkR: FIRESTEEL_SPARKR_LIB names the directory that contains it"


def names(patterns=()):
    """Names GROUP/NAME of all programs, or of those that contain one of the patterns."""
    found = sorted(os.path.relpath(p, PROGRAMS)[:-2] for p in glob.glob(os.path.join(PROGRAMS, "*", "*.R")))
    return [n for n in found if not patterns or any(p in n for p in patterns)]


def library():
    """The directory that contains SparkR, or None."""
    named = os.environ.get("FIRESTEEL_SPARKR_LIB")
    if named:
        return named
    try:
        asked = subprocess.run(["Rscript", "--vanilla", "-e", "cat(dirname(find.package('SparkR')))"], capture_output=True, text=True)
    except FileNotFoundError:
        return None
    return asked.stdout if asked.returncode == 0 else None


def version(folder):
    """The version of SparkR in a library."""
    with open(os.path.join(folder, "SparkR", "DESCRIPTION"), encoding="utf-8") as f:
        return next(line.split()[1] for line in f if line.startswith("Version:"))


def expected(name):
    """The recorded output of the program, or None."""
    path = os.path.join(EXPECTED, name + ".out")
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8", newline="") as f:
        return f.read()


class Side:
    """How to start one side: spark-submit, its options and its environment."""

    def __init__(self, submit, options, environment):
        self.submit, self.options = submit, options
        self.environment = dict(environment, LC_ALL="C.UTF-8", SPARK_LOCAL_IP="127.0.0.1", TZ="UTC")

    def command(self, master, arguments):
        return [self.submit, "--master", master, "--conf", "spark.ui.enabled=false", *self.options, RUNNER, *arguments]


def genuine(home):
    """Genuine Spark in @home, with SparkR in its R/lib. Java has to be in PATH."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK", "R_LIBS"))}
    return Side(os.path.join(home, "bin", "spark-submit"), [], dict(kept, SPARK_HOME=home))


def firesteel(binaries, folder, scratch):
    """Firesteel's programs in @binaries with the SparkR in @folder, without Java."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK", "R_LIBS", "JAVA"))}
    kept["PATH"] = python_programs.path_without_java(os.path.join(scratch, "path"))
    return Side(os.path.join(binaries, "spark-submit"), ["--conf", f"spark.firesteel.r.library={folder}"], kept)


def run(side, wanted, output, log_path, master="local[2]", limit_s=180):
    """Runs the programs and yields (name, printed text or None, seconds, what went wrong or None) for each, as they end.

    A program that hangs or ends the process is killed with everything that it started, and the next one starts anew."""
    left = list(wanted)
    with open(log_path, "a", encoding="utf-8") as log:
        while left:
            command = side.command(master, [output] + [os.path.join(PROGRAMS, n + ".R") for n in left])
            follower = python_programs.Follower(command, side.environment, log, limit_s)
            for name, seconds in follower:
                left.remove(name)
                with open(os.path.join(output, name + ".out"), encoding="utf-8", errors="surrogateescape", newline="") as f:
                    yield name, f.read(), seconds, None
            if left:
                stopped = follower.running or left[0]
                left.remove(stopped)
                yield stopped, None, 0.0, follower.why
            elif follower.process.returncode != 0 or "after" in follower.why:
                yield "(the process)", None, 0.0, follower.why
