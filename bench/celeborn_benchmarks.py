"""The benchmarks of map outputs in genuine Celeborn, in the form of benchmarks.py: a master and two workers of their own.

CELEBORN_JARS names the folder with the jars of a distribution; without it the benchmark is skipped. The servers inherit the
priority of this process, and store their files below BENCH_TMP.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

from benchmarks import figure, row, same_lines, seconds, size, timed, without_output
from harness import ROOT, BenchError
from process_benchmarks import CLUSTER

sys.path.insert(0, os.path.join(ROOT, "tests"))
from celeborn import genuine  # noqa: E402

MOST = 1.5  # times the local shuffle
WARM_TURNS = 2  # which do not count: the servers compile their code
# The memory of the distribution's scripts. Java's second compiler would use half a core for some twenty turns.
USUAL_JAVA = ["-Xmx1g", "-XX:MaxDirectMemorySize=1g", "-XX:TieredStopAtLevel=1"]
USUAL_SETTINGS = ["celeborn.worker.flusher.buffer.size 256k"]
TICKS = os.sysconf("SC_CLK_TCK")
EXECUTOR = ["--conf", "spark.executor.cores=1"]
FROM_WORKERS = ["--conf", "spark.celeborn.client.readLocalShuffleFile.enabled=false"]


def cpu_of(process):
    with open(f"/proc/{process.pid}/stat", encoding="ascii") as file:
        return sum(map(int, file.read().rpartition(")")[2].split()[11:13])) / TICKS


def peak_of(process):
    with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
        return int(re.search(r"VmHWM:\s+(\d+)", file.read())[1]) / 1024


class Bench:
    def __init__(self, h, servers):
        self.h, self.servers, self.raw = h, servers, {}
        celeborn = [*EXECUTOR, "--conf", "spark.shuffle.manager=celeborn", "--conf",
                    f"spark.celeborn.master.endpoints={servers.endpoints}"]
        self.sides = {"local": EXECUTOR, "files": celeborn, "workers": celeborn + FROM_WORKERS}

    def servers_cpu(self):
        return {server: cpu_of(process) for server, process in self.servers.processes.items()}

    def run(self, name, side, source, data, expected):
        """One run of one side. The result also has the CPU seconds that Celeborn's processes used meanwhile."""
        out, label = self.h.out("celeborn"), f"celeborn: {name}, {side}"
        before = self.servers_cpu()
        result = self.h.ours(label, source, data, out, master=CLUSTER, conf=self.sides[side])[-1]
        result["servers"] = {server: round(cpu - before[server], 3) for server, cpu in self.servers_cpu().items()}
        result["servers_cpu"] = sum(result["servers"].values())
        same_lines(self.h, label, expected, out, ordered=name == "sort")
        self.h.out("celeborn")
        return result

    def job(self, name, source, data, expected):
        """By turns; what a side adds to the local shuffle."""
        runs = self.raw[name] = {side: [] for side in self.sides}
        for i in range(WARM_TURNS + self.h.parameters.runs):
            for side in self.sides:
                result = self.run(name, side, source, data, expected)
                if i >= WARM_TURNS:
                    runs[side] += without_output([result])
        rows = []
        for side, what in (("files", f"{name} of {size(os.path.getsize(data))} through Celeborn, `{CLUSTER}`, files read from their "
                            "place"), ("workers", "… sent by its workers")):
            wall, cpu = (figure(runs[side], key) / figure(runs["local"], key) for key in ("wall", "cpu"))
            rows.append(row(what, f"{timed(runs[side])}, Celeborn {seconds(figure(runs[side], 'servers_cpu'))} CPU",
                            f"local shuffle {timed(runs['local'])}", f"takes {wall:.2f}× (CPU {cpu:.2f}×)", f"≤ {MOST}×",
                            wall <= MOST))
        return rows


def celeborn(h):
    """Sort and WordCount on two executor processes: the local shuffle and Celeborn by turns, with the same results."""
    skip = genuine.reason_to_skip()
    if skip:
        h.say(f"celeborn: skipped: {skip}")
        return [], {"skipped": skip}
    folder = pathlib.Path(h.path("celeborn"))
    shutil.rmtree(folder, ignore_errors=True)
    records, text, reference = h.data("records", h.parameters.record_bytes), h.data("text", h.parameters.text_bytes), \
        h.out("celeborn-reference")
    subprocess.run([h.path("bin", "wordcount"), text, reference], check=True)
    try:
        with genuine.Genuine(folder, settings=USUAL_SETTINGS, java=USUAL_JAVA) as servers:
            bench = Bench(h, servers)
            rows = bench.job("sort", "examples/sort.c", records, h.lines(records))
            rows += bench.job("WordCount", "examples/wordcount.c", text, h.lines(reference))
            bench.raw["servers_peak_mb"] = {name: peak_of(process) for name, process in servers.processes.items()}
    except AssertionError as error:
        raise BenchError(f"celeborn: {error}") from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        h.out("celeborn-reference")
    return rows, bench.raw


ALL = {"celeborn": celeborn}
