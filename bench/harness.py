"""The base of the benchmarks: parameters, tools, data, genuine Spark, and measured commands.

All temporary files are below BENCH_TMP. This module checks the output of commands and records their times. It does not
judge figures.
"""
import datetime
import glob
import json
import os
import platform
import re
import shutil
import signal
import statistics
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BENCH = os.path.join(ROOT, "bench")
PYSPARK = "pyspark>=4.0"
# For both sides: no progress bar, no web interface (the engine has none yet), and warnings only.
QUIET = ["--conf", "spark.ui.enabled=false", "--conf", "spark.ui.showConsoleProgress=false",
         "--conf", "spark.log.level=WARN"]
HUNG = 1800  # seconds after which a command is ended: a hang, not slowness


class BenchError(Exception):
    """A command failed or wrote something wrong."""


class Parameters:
    """Sizes and counts, from the environment; QUICK are those of BENCH_QUICK=1."""

    FULL = {"RUNS": 3, "TEXT_BYTES": 512 << 20, "RECORD_BYTES": 500_000_000, "LARGE_BYTES": 2 << 30,
            "DARTS": 100_000_000, "CACHED": 50_000_000, "SLICES": 8, "TASKS": 200_000, "LOGGED_TASKS": 50_000, "SPARK_TASKS": 10_000,
            "ROUNDS": 4, "START_RUNS": 20, "JOBS": 5000, "SPARK_JOBS": 500, "IDLE_SECONDS": 5,
            "SIMULATED_TASKS": 1_000_000, "PAGES": 1_000_000, "LINKS": 10_000_000, "ITERATIONS": 10,
            "POINTS": 5_000_000, "JOIN_LEFT": 5_000_000, "JOIN_RIGHT": 1_000_000, "GROUPED": 10_000_000,
            "GROUP_KEYS": 1_000_000, "DISTINCT": 20_000_000, "TERA_BYTES": 1_000_000_000,
            "HISTORY_TASKS": 660_000, "LARGE_HISTORY_TASKS": 5_000_000, "HISTORY_LOGS": 10_000}
    QUICK = {"RUNS": 1, "TEXT_BYTES": 32 << 20, "RECORD_BYTES": 20_000_000, "LARGE_BYTES": 256 << 20,
             "DARTS": 10_000_000, "CACHED": 5_000_000, "TASKS": 20_000, "LOGGED_TASKS": 10_000, "ROUNDS": 2, "JOBS": 500, "SPARK_JOBS": 50,
             "IDLE_SECONDS": 2, "SIMULATED_TASKS": 100_000, "PAGES": 200_000, "LINKS": 2_000_000,
             "POINTS": 500_000, "JOIN_LEFT": 500_000, "JOIN_RIGHT": 100_000, "GROUPED": 1_000_000,
             "GROUP_KEYS": 100_000, "DISTINCT": 2_000_000, "TERA_BYTES": 50_000_000, "HISTORY_TASKS": 10_000,
             "LARGE_HISTORY_TASKS": 40_000, "HISTORY_LOGS": 200}

    def __init__(self):
        usual = dict(self.FULL)
        if os.environ.get("BENCH_QUICK", "0") not in ("", "0"):
            usual.update(self.QUICK)
        self.values = {}
        for name, value in usual.items():
            given = os.environ.get("BENCH_" + name) or str(value)
            if not given.isdigit():
                sys.exit(f"BENCH_{name}={given} is not a whole number")
            self.values[name] = int(given)
        for name in ("RUNS", "START_RUNS", "TEXT_BYTES", "RECORD_BYTES", "ROUNDS", "TASKS", "SPARK_TASKS", "JOBS",
                     "SPARK_JOBS", "SIMULATED_TASKS"):
            if self.values[name] < 1:
                sys.exit(f"BENCH_{name} must be at least 1")

    def __getattr__(self, name):
        try:
            return self.__dict__["values"][name.upper()]
        except KeyError:
            raise AttributeError(name) from None

    def are_full(self):
        return all(self.values[name] == value for name, value in self.FULL.items() if name != "RUNS") \
            and self.values["RUNS"] >= self.FULL["RUNS"]


def median(values):
    return statistics.median(values) if values else None


class Harness:
    def __init__(self):
        self.parameters = Parameters()
        self.tmp = os.path.abspath(os.environ.get("BENCH_TMP") or os.path.join(ROOT, "build", "bench"))
        self.submit = os.path.join(ROOT, "bin", "spark-submit")
        self.start = time.monotonic()
        self.spark_home = self.spark_missing = self.spark_jar = None
        for folder in ("bin", "data", "out", "log"):
            os.makedirs(os.path.join(self.tmp, folder), exist_ok=True)

    def say(self, text):
        print(f"[{time.monotonic() - self.start:6.1f} s] {text}", flush=True)

    def path(self, *parts):
        return os.path.join(self.tmp, *parts)

    # ---------------------------------------------------------------------------------------- tools and data

    def build_tools(self):
        """Compile the small C programs for this processor: the reference may use all its instructions."""
        cc, apps = os.environ.get("CC") or "cc", os.path.join(BENCH, "apps")
        headers = max(os.path.getmtime(header) for folder in ("apps", "reference")
                      for header in glob.glob(os.path.join(BENCH, folder, "*.h")))
        for folder in ("tools", "reference"):
            beside = glob.glob(os.path.join(BENCH, folder, "*.h"))
            for source in sorted(glob.glob(os.path.join(BENCH, folder, "*.c"))):
                program = self.path("bin", os.path.basename(source)[:-2])
                newest = max(os.path.getmtime(source), headers, *map(os.path.getmtime, beside))
                if not os.path.exists(program) or os.path.getmtime(program) < newest:
                    subprocess.run([cc, "-std=gnu11", "-O3", "-march=native", "-pthread", "-Wall", "-Wextra", "-I", apps,
                                    "-o", program, source], check=True)

    def data(self, kind, size):
        """The path of `size` bytes of "text" or "records", made now if it is not there."""
        path = self.path("data", f"{kind}-{size}")
        if not os.path.exists(path):
            self.say(f"making {size / 1e6:.0f} MB of {kind}")
            with open(path + ".part", "wb") as out:
                subprocess.run([self.path("bin", kind), str(size)], stdout=out, check=True)
            os.rename(path + ".part", path)
        return path

    def out(self, name):
        """A path below BENCH_TMP/out where nothing is."""
        path = self.path("out", name)
        if os.path.isdir(path):
            shutil.rmtree(path)
        elif os.path.exists(path):
            os.remove(path)
        return path

    def lines(self, path):
        """Return the summary of the lines in a file or in the part files of a directory: see tools/lines.c."""
        files = [path]
        if os.path.isdir(path):
            if not os.path.exists(os.path.join(path, "_SUCCESS")):
                raise BenchError(f"{path} has no _SUCCESS")
            files = sorted(glob.glob(os.path.join(path, "part-*")))
        return self.told("lines", *files)

    def told(self, tool, *arguments):
        """The JSON that a program of bench/tools prints."""
        return json.loads(subprocess.run([self.path("bin", tool), *arguments], stdout=subprocess.PIPE,
                                         check=True).stdout)

    # ----------------------------------------------------------------------------------------- genuine Spark

    def find_spark(self):
        """Find SPARK_HOME, or install pyspark in a virtual environment in BENCH_TMP. Sets spark_missing if both fail."""
        if os.environ.get("BENCH_SPARK") == "no":
            self.spark_missing = "BENCH_SPARK=no"
            return
        try:
            self.spark_home = os.environ.get("SPARK_HOME") or self.install_spark()
            classes = self.path("classes")
            os.makedirs(classes, exist_ok=True)
            jar = self.path("spark_bench.jar")
            subprocess.run([self.java("javac"), "-proc:none", "-nowarn", "-cp", self.spark_home + "/jars/*",
                            "-d", classes, *glob.glob(os.path.join(BENCH, "spark", "*.java"))], check=True)
            subprocess.run([self.java("jar"), "cf", jar, "-C", classes, "."], check=True)
            self.spark_jar = jar
        except (OSError, subprocess.CalledProcessError, IndexError) as error:
            self.spark_home = None
            self.spark_missing = f"it cannot be had here ({error}); it needs Java 17's javac, and SPARK_HOME or PyPI"

    @staticmethod
    def java(tool):
        home = os.environ.get("JAVA_HOME")
        return os.path.join(home, "bin", tool) if home else tool

    def install_spark(self):
        venv = self.path("spark-venv")
        if not os.path.exists(os.path.join(venv, "done")):
            self.say("installing pyspark (once, some 450 MB)")
            subprocess.run([sys.executable, "-m", "venv", venv], check=True)
            subprocess.run([os.path.join(venv, "bin", "pip"), "install", "-q", PYSPARK], check=True)
            open(os.path.join(venv, "done"), "w", encoding="ascii").close()
        return glob.glob(os.path.join(venv, "lib", "python3*", "site-packages", "pyspark"))[0]

    # ---------------------------------------------------------------------------------------------- measuring

    def measure(self, label, command, runs=1, sample=0):
        """Run `command` and give what tools/measure.c says of each run, with the text it printed as "output".

        With several runs the output is that of all of them. Raises BenchError if it fails.
        """
        stdout, stderr = self.out("stdout"), self.path("log", re.sub(r"\W+", "_", label) + ".log")
        if os.path.exists(stderr):
            os.remove(stderr)
        arguments = [self.path("bin", "measure"), "-n", str(runs), "-o", stdout, "-e", stderr]
        if sample:
            arguments += ["-s", str(sample)]
        os.sync()
        process = subprocess.Popen(arguments + ["--"] + command, stdout=subprocess.PIPE, text=True,
                                   start_new_session=True, env=self.environment())
        try:
            text = process.communicate(timeout=HUNG)[0]
        except BaseException as error:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if isinstance(error, subprocess.TimeoutExpired):
                raise BenchError(f"{label}: no end after {HUNG} s; see {stderr}") from None
            raise
        results = [json.loads(line) for line in text.splitlines()]
        if len(results) < runs or any(r["status"] for r in results):
            raise BenchError(f"{label}: failed with {[r['status'] for r in results]}; {stderr} ends with:\n"
                             + self.tail(stderr))
        with open(stdout, encoding="utf-8", errors="replace") as file:
            output = file.read()
        for result in results:
            result["cpu"] = result["user"] + result["system"]
            result["output"] = output
        last = results[-1]
        self.say(f"{label}: {last['wall']:.3f} s, {last['cpu']:.3f} CPU s, {last['max_rss_kb'] / 1024:.0f} MB"
                 + (f" (anonymous and shared {last['peak_anon_kb'] / 1024:.0f} MB)" if sample else ""))
        return results

    @staticmethod
    def environment():
        """Ours must not find Spark's configuration, nor theirs ours."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK_", "FIRESTEEL_", "BENCH_"))}
        kept["LC_ALL"] = "C.UTF-8"
        return kept

    @staticmethod
    def tail(path, size=2000):
        with open(path, "rb") as file:
            return file.read()[-size:].decode(errors="replace")

    def stderr_of(self, label):
        with open(self.path("log", re.sub(r"\W+", "_", label) + ".log"), encoding="utf-8", errors="replace") as file:
            return file.read()

    def ours_command(self, source, *arguments, master="local[2]", memory="4g", conf=()):
        """The command line of a program of ours; `source` is below the root of the tree."""
        return [self.submit, "--master", master, "--driver-memory", memory, *QUIET, *conf, os.path.join(ROOT, source),
                *map(str, arguments)]

    def spark_command(self, *arguments, master="local[2]", memory="4g", conf=()):
        """The command line of a mode of SparkBench.java."""
        return [os.path.join(self.spark_home, "bin", "spark-submit"), "--master", master, "--driver-memory", memory,
                *QUIET, *conf, "--class", "SparkBench", self.spark_jar, *map(str, arguments)]

    def ours(self, label, source, *arguments, master="local[2]", memory="4g", conf=(), **options):
        """Measure a program of ours."""
        return self.measure(label, self.ours_command(source, *arguments, master=master, memory=memory, conf=conf),
                            **options)

    def spark(self, label, *arguments, master="local[2]", memory="4g", conf=(), **options):
        """Measure a mode of SparkBench.java. Each result also has "job": seconds of its action alone, if printed."""
        results = self.measure(label, self.spark_command(*arguments, master=master, memory=memory, conf=conf),
                               **options)
        for result, job in zip(results, re.findall(r"^job: ([\d.]+)", results[-1]["output"], re.M)):
            result["job"] = float(job)
        return results

    # --------------------------------------------------------------------------------------------- where we are

    def versions(self):
        def said(*command):
            try:
                run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
                return run.stdout.strip()
            except OSError:
                return ""

        changed = said("git", "-C", ROOT, "status", "--porcelain", "--untracked-files=no", "--", "src", "include",
                       "examples", "bench")
        versions = {"firesteel": said(os.path.join(ROOT, "bin", "firesteel"), "--version").removeprefix("firesteel "),
                    "commit": said("git", "-C", ROOT, "rev-parse", "--short", "HEAD") + (" and changes" if changed else ""),
                    "compiler": said(os.environ.get("CC") or "cc", "--version").split("\n")[0],
                    "sort": said("sort", "--version").split("\n")[0]}
        if self.spark_home:
            text = said(os.path.join(self.spark_home, "bin", "spark-submit"), "--version")
            versions["spark"] = "".join(re.findall(r"version (\d[\w.]*)", text)[:1])
            versions["java"] = said(self.java("java"), "-version").split("\n")[0]
        return versions

    @staticmethod
    def machine():
        def first(path, pattern):
            try:
                with open(path, encoding="utf-8") as file:
                    found = re.search(pattern, file.read(), re.M)
                return found.group(1) if found else ""
            except OSError:
                return ""

        return {"processor": first("/proc/cpuinfo", r"^model name\s*: (.*)"), "cores": os.cpu_count(),
                "memory_mb": int(first("/proc/meminfo", r"^MemTotal:\s*(\d+)") or 0) // 1024,
                "kernel": platform.release(), "system": first("/etc/os-release", r'^PRETTY_NAME="(.*)"'),
                "load": os.getloadavg()[0]}

    @staticmethod
    def date():
        return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
