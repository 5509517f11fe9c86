"""The benchmarks of YARN: a ResourceManager, two NodeManagers, a NameNode and a DataNode of their own, from tests/yarn.

The NodeManagers claim far more memory and cores than the machine has, and beat every 200 ms.
"""
import datetime
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time

from benchmarks import figure, row, without_output
from harness import ROOT, BenchError, median
from process_benchmarks import numbers, times

sys.path.insert(0, os.path.join(ROOT, "tests", "yarn"))
import yarn_cluster  # noqa: E402

EXECUTORS, APPLICATIONS, CONNECTIONS = 200, 500, 4  # connections: the threads of a submitter
CREDENTIALS = 5000  # bytes: a submission is then as large as one of ours
SMALL = ["--executor-memory", "64m", "--driver-memory", "64m", "--conf", "spark.executor.memoryOverhead=64m", "--conf",
         "spark.driver.memoryOverhead=64m", "--conf", "spark.yarn.am.memory=64m", "--conf", "spark.yarn.am.memoryOverhead=64m",
         "--conf", "spark.yarn.report.interval=100ms", "--conf", "spark.log.level=INFO"]
ONE_TASK = os.path.join(ROOT, "examples", "spark_pi.c")


class LargeNodes(yarn_cluster.Yarn):
    def node_settings(self, node):
        return {**super().node_settings(node), "yarn.nodemanager.resource.memory-mb": "262144",
                "yarn.nodemanager.resource.cpu-vcores": "1000"}


def put(yarn, name, content):
    """Writes a small file to the root of HDFS."""
    url = f"http://127.0.0.1:{yarn.hdfs_web}/webhdfs/v1/{name}?op=CREATE&overwrite=true&user.name={os.environ.get('USER', 'root')}" \
          "&noredirect=true"
    with yarn_cluster.hadoop.OPENER.open(yarn_cluster.hadoop.urllib.request.Request(url, method="PUT"), timeout=60) as answer:
        location = json.load(answer)["Location"]
    request = yarn_cluster.hadoop.urllib.request.Request(location, data=content, method="PUT")
    with yarn_cluster.hadoop.OPENER.open(request, timeout=60):
        pass


class Containers(threading.Thread):
    """Watches the processes of Firesteel in containers: CPU seconds and greatest resident set of each, by its command."""

    TICKS = os.sysconf("SC_CLK_TCK")

    def __init__(self, folder):
        super().__init__(daemon=True)
        self.folder, self.seen, self.over = folder, {}, False
        self.start()

    def look(self, pid):
        cwd = os.readlink(f"/proc/{pid}/cwd")
        if not cwd.startswith(self.folder):
            return
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            words = file.read().split(b"\0")
        if not words[0].endswith(b"bin/firesteel"):
            return
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            fields = file.read().rpartition(")")[2].split()
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            peak = re.search(r"VmHWM:\s+(\d+)", file.read())
        self.seen[pid] = {"command": words[1].decode(), "cpu": sum(map(int, fields[11:15])) / self.TICKS,
                          "peak_kb": int(peak.group(1)) if peak else 0}

    def run(self):
        while not self.over:
            for pid in filter(str.isdigit, os.listdir("/proc")):
                try:
                    self.look(int(pid))
                except OSError:
                    pass
            time.sleep(0.02)

    def end(self):
        self.over = True
        self.join()
        return list(self.seen.values())


class Bench:
    def __init__(self, h, yarn):
        self.h, self.yarn, self.raw = h, yarn, {}
        self.home = h.path("yarn-home")
        os.makedirs(self.home, exist_ok=True)
        self.variables = {"HADOOP_CONF_DIR": yarn.conf, "HOME": self.home}
        if h.spark_home:
            self.variables["SPARK_HOME"] = h.spark_home

    def measure(self, label, words, runs=1):
        return self.h.measure(label, ["env", *(f"{k}={v}" for k, v in self.variables.items()), *words], runs=runs)

    def submit_words(self):
        return ["--master", "yarn", "--deploy-mode", "cluster", "--class", "Nothing", "--conf", "spark.yarn.archive=hdfs:///libs.zip",
                "--conf", "spark.yarn.submit.waitAppCompletion=false", "hdfs:///app.jar"]

    def accepted(self):
        """A JVM application is submitted; Spark's libraries are in HDFS. Its containers fail, which is not measured."""
        rows, h = [], self.h
        self.raw["accepted_ours"] = without_output(self.measure("yarn: accepted, ours", [h.submit, *self.submit_words()],
                                                                runs=h.parameters.runs))
        theirs = None
        if h.spark_home:
            program = os.path.join(h.spark_home, "bin", "spark-submit")
            self.raw["accepted_spark"] = without_output(self.measure("yarn: accepted, Spark", [program, *self.submit_words()]))
            theirs = self.raw["accepted_spark"]
        ours = self.raw["accepted_ours"]
        for what, key, unit, scale, most in (("exec to accepted", "wall", "s", 1, 0.4), ("… CPU", "cpu", "s", 1, 0.06),
                                             ("… greatest resident set", "max_rss_kb", "MB", 1024, 20)):
            value, other = figure(ours, key) / scale, figure(theirs, key) / scale if theirs else None
            rows.append(row(f"submission of a jar, {what}", f"{value:.3g} {unit}", f"Spark {other:.3g} {unit}" if theirs else "–",
                            times(value, other) if theirs else "", f"≤ {most:g} {unit}", value <= most))
        return rows

    def one_task(self):
        """Cluster mode, from exec to the exit of spark-submit, the second run; our share is CPU time of our processes."""
        words = [self.h.submit, "--master", "yarn", "--deploy-mode", "cluster", *SMALL, "--num-executors", "1", ONE_TASK, "1"]
        self.measure("yarn: one task, first run", words)
        walls, shares = [], []
        for i in range(self.h.parameters.runs):
            watch = Containers(self.yarn.folder)
            result = self.measure(f"yarn: one task {i + 1}", words)[0]
            processes = watch.end()
            walls.append(result["wall"])
            shares.append(result["cpu"] + sum(p["cpu"] for p in processes))
            self.raw.setdefault("one_task", []).append({"wall": result["wall"], "client_cpu": result["cpu"],
                                                        "containers": processes})
        return [row("job of one task in cluster mode, submit to finished", f"{median(walls):.2f} s", "–", "", "≤ 3 s",
                    median(walls) <= 3),
                row("… CPU time of our processes (client, driver, executor)", f"{median(shares) * 1000:.0f} ms", "–", "",
                    "≤ 100 ms", median(shares) <= 0.1)]

    def resident(self):
        watch = Containers(self.yarn.folder)
        self.measure("yarn: client mode", [self.h.submit, "--master", "yarn", *SMALL, "--num-executors", "2", ONE_TASK, "20"])
        processes = watch.end()
        peak = max((p["peak_kb"] for p in processes if p["command"] == "yarn-am"), default=0) / 1024
        if not peak:
            raise BenchError("yarn: no ApplicationMaster was seen")
        self.raw["client_mode"] = processes
        return [row("ApplicationMaster in client mode, greatest resident set", f"{peak:.1f} MB", "–", "", "≤ 12 MB", peak <= 12)]

    def executors(self):
        """The driver is the ApplicationMaster, so its log has the times of grants and registrations."""
        ratios, told = [], []
        for i in range(self.h.parameters.runs):
            label = f"yarn: {EXECUTORS} executors {i + 1}"
            self.measure(label, [self.h.submit, "--master", "yarn", *SMALL, "--num-executors", str(EXECUTORS), "--conf",
                                 "spark.yarn.unmanagedAM.enabled=true", "--conf",
                                 "spark.scheduler.minRegisteredResourcesRatio=1.0", "--conf",
                                 "spark.scheduler.maxRegisteredResourcesWaitingTime=600s", "--conf",
                                 "spark.log.structuredLogging.enabled=true", ONE_TASK, str(EXECUTORS)])
            lines = [json.loads(line) for line in self.h.stderr_of(label).splitlines() if line.startswith("{")]
            asked, granted, registered = (
                [datetime.datetime.fromisoformat(line["ts"]).timestamp() for line in lines if re.match(pattern, line["msg"])]
                for pattern in ("Will request", r"Received \d+ containers", "Registered executor"))
            if len(registered) < EXECUTORS or not asked:
                raise BenchError(f"yarn: {len(registered)} of {EXECUTORS} executors have registered")
            grant, whole = granted[-1] - asked[0], registered[EXECUTORS - 1] - asked[0]
            told.append((grant, whole))
            ratios.append(whole / max(grant, 0.001))
        self.raw["executors"] = told
        grant, whole = told[ratios.index(sorted(ratios)[len(ratios) // 2])]
        return [row(f"{EXECUTORS} executors, requested to registered", f"{whole:.2f} s", f"granted {grant:.2f} s",
                    f"{whole / max(grant, 0.001):.1f}", "≤ 1.2×", whole <= 1.2 * grant)]

    def allocator(self):
        command = [os.path.join(os.path.dirname(self.h.submit), "firesteel"), "simulate", "--yarn", "--output", "json"]
        results = self.h.measure("yarn: allocator", command, runs=self.h.parameters.runs)
        seconds = figure(results, "wall")
        self.raw["allocator"] = without_output(results)
        return [row("allocator, 10,000 containers (`simulate --yarn`)", f"{seconds:.2f} s", "–", "", "≤ 1 s", seconds <= 1)]

    def applications(self):
        """Rates of one process: bare RPC and fst_submit_* with native applications, in turn. No NodeManager runs, so that
        nothing is started. Submitted: each submitApplication has returned. Accepted: the ResourceManager has also stored
        each application, and a client that asked for its state knows it."""
        targets = {name: f"bench/micro/yarn_{name}_bench" for name in ("rpc", "submit")}
        subprocess.run(["ninja", "-C", os.path.join(ROOT, "build"), *targets.values()], check=True, stdout=subprocess.DEVNULL)
        program = self.h.path("one-task.so")
        self.measure("yarn: compile", [os.path.join(os.path.dirname(self.h.submit), "firesteel"), "compile", ONE_TASK, "-o", program])
        for node in ("nm1", "nm2"):
            self.yarn.kill(node)

        def rate(name, *words, kept=True):
            output = self.measure(f"yarn: {name}", [os.path.join(ROOT, "build", targets[name]), *map(str, words)])[0]["output"]
            rates = {what: APPLICATIONS / numbers(what + r" in ([\d.]+) s", output, 1)[0] for what in ("submitted", "accepted")}
            if kept:
                self.raw.setdefault(name, []).append(rates)
            if kept and name == "submit":
                self.raw.setdefault("submit_cpu_ms", []).append(numbers(r"CPU time of each: ([\d.]+) ms", output, 1)[0])
        bare = (APPLICATIONS, CONNECTIONS, CREDENTIALS)
        words = (APPLICATIONS, "--master", "yarn", "--deploy-mode", "cluster", *SMALL, program, "1")
        for kept in (False, *[True] * self.h.parameters.runs):
            rate("rpc", *bare, kept=kept)
            rate("submit", *words, kept=kept)
        rows = []
        for what in ("submitted", "accepted"):
            rpc, submit = (median([rates[what] for rates in self.raw[name]]) for name in ("rpc", "submit"))
            rows.append(row(f"{APPLICATIONS} native applications {what} by one process", f"{submit:.0f} a second",
                            f"bare RPC {rpc:.0f} a second", f"{submit / rpc:.2f}", "≥ 0.8", submit >= 0.8 * rpc))
        return rows


def yarn(h):
    """Submissions, applications and executors on YARN."""
    missing = yarn_cluster.hadoop.missing()
    if missing:
        raise BenchError(f"yarn: {missing}")
    with tempfile.TemporaryDirectory() as folder:
        with LargeNodes(os.path.join(ROOT, "build"), os.path.join(folder, "cluster")) as cluster:
            put(cluster, "libs.zip", b"PK\x05\x06" + bytes(18))
            put(cluster, "app.jar", b"PK\x05\x06" + bytes(18))
            bench = Bench(h, cluster)
            rows = [found for part in (bench.accepted, bench.one_task, bench.resident, bench.executors, bench.allocator,
                                       bench.applications) for found in part()]
    return rows, bench.raw


ALL = {"yarn": yarn}
