"""The benchmarks of RDD operators beside genuine Spark, in the form of benchmarks.py.

Both sides and a plain C program compute each job from the same generated numbers (apps/generator.h). Every result is
compared with that of the C program. memory_benchmarks.py measures the memory of the same jobs.
"""
import glob
import os
import re

from benchmarks import faster_row, figure, row, seconds, timed, without_output
from harness import BenchError


# The programs of bench/reference and the flags with which harness.py compiles them.
COMPILED_AS_REFERENCE = ("--conf", "spark.firesteel.cc.flags=-O3 -march=native")


class MadeUpJob:
    """bench/apps/SOURCE.c, the same in bench/reference, and a mode of SparkBench.java."""

    def __init__(self, h, name, what, source, *sizes, mode=()):
        self.h, self.name, self.what = h, name, what
        self.source, self.arguments = f"bench/apps/{source}.c", [*mode, *sizes, h.parameters.slices]
        self.program = [h.path("bin", source), *mode, *map(str, sizes)]
        self.spark_arguments = [name, *sizes, h.parameters.slices]
        self.expected = None

    def reference(self, label):
        """Measure the C program: what others compute must be as its result."""
        results = self.h.measure(label, self.program)
        self.expected = numbers(results[-1]["output"])
        return with_times(results)

    def checked(self, label, results):
        if self.expected is None:
            self.reference(f"{self.name}: one thread of C")
        seen = numbers(results[-1]["output"])
        if not same(seen, self.expected):
            raise BenchError(f"{label}: WRONG RESULT: {seen}, expected {self.expected}")
        return with_times(results)

    def ours(self, label, **options):
        return self.checked(label, self.h.ours(label, self.source, *self.arguments, conf=COMPILED_AS_REFERENCE,
                                               **options))

    def spark(self, label, **options):
        return self.checked(label, self.h.spark(label, *self.spark_arguments, **options))


def numbers(output):
    """The result that an application printed: {"total": [texts], …}; totals are exact, the others are not."""
    found = {}
    for kind, rest in re.findall(r"^(total|ranks|centre): (.*)$", output, re.M):
        found.setdefault(kind, []).extend(rest.split())
    return found


def same(seen, expected):
    """Sums of doubles depend on their order in the last digits; a point between two centres, in more."""
    if not seen or seen.keys() != expected.keys() or seen.get("total") != expected.get("total"):
        return False
    for kind, tolerance in (("ranks", 1e-9), ("centre", 1e-5)):
        a, b = seen.get(kind, []), expected.get(kind, [])
        if len(a) != len(b) or any(not abs(float(x) - float(y)) <= tolerance * abs(float(y)) for x, y in zip(a, b)):
            return False
    return True


def with_times(results):
    """Each result with "action", the seconds of all actions, and "rounds", of the last, where they were told."""
    for result in results:
        told = dict(re.findall(r"^(links|points|job): ([\d.]+)", result["output"], re.M))
        if "job" in told:
            result["rounds"] = float(told["job"])
            result["job"] = sum(map(float, told.values()))
    return results


class TeraSort:
    """Binary records of 100 bytes sorted by their first ten: examples/terasort.c, and SparkBench.java's terasort."""

    name = "terasort"

    def __init__(self, h):
        self.h = h
        self.rows = h.parameters.tera_bytes // 100
        self.what = f"TeraSort, {self.rows / 1e4:g} MB"
        self.data = h.path("data", f"tera-{self.rows}")
        if not os.path.exists(self.data):
            h.say(f"making {self.rows} records with examples/teragen.c")
            h.ours("terasort: making records", "examples/teragen.c", self.rows, h.out("tera-made"))
            os.rename(h.path("out", "tera-made"), self.data)
        self.expected = self.records(self.data)
        if self.expected["records"] != self.rows:
            raise BenchError(f"terasort: {self.data} has {self.expected['records']} records; remove it")

    def records(self, folder):
        if not os.path.exists(os.path.join(folder, "_SUCCESS")):
            raise BenchError(f"{folder} has no _SUCCESS")
        files = sorted(glob.glob(os.path.join(folder, "part-*")))
        return self.h.told("sorted", *files)

    def run(self, label, runner, *words, **options):
        out = self.h.out("tera")
        results = runner(label, *words, self.data, out, **options)
        seen = self.records(out)
        self.h.out("tera")
        for key in ("records", "sum"):
            if seen[key] != self.expected[key]:
                raise BenchError(f"{label}: WRONG RESULT: {key} is {seen[key]}, expected {self.expected[key]}")
        if not seen["ordered"]:
            raise BenchError(f"{label}: WRONG RESULT: the records are not in order")
        return results

    def ours(self, label, **options):
        return self.run(label, self.h.ours, "examples/terasort.c", **options)

    def spark(self, label, **options):
        return self.run(label, self.h.spark, "terasort", **options)


JOBS = {
    "pagerank": lambda h, p: MadeUpJob(h, "pagerank", f"PageRank, {p.pages / 1e6:g} M pages, {p.links / 1e6:g} M links, "
                                       f"{p.iterations} rounds", "pagerank", p.pages, p.links, p.iterations),
    "kmeans": lambda h, p: MadeUpJob(h, "kmeans", f"KMeans, {p.points / 1e6:g} M points × 10, {p.iterations} rounds",
                                     "kmeans", p.points, p.iterations),
    "join": lambda h, p: MadeUpJob(h, "join", f"join of {p.join_left / 1e6:g} M with {p.join_right / 1e6:g} M pairs",
                                   "pairs", p.join_left, p.join_right, mode=["join"]),
    "group_by_key": lambda h, p: MadeUpJob(h, "group_by_key", f"group_by_key of {p.grouped / 1e6:g} M pairs, 30 % of "
                                           "them with one key", "pairs", p.grouped, p.group_keys, mode=["group_by_key"]),
    "distinct": lambda h, p: MadeUpJob(h, "distinct", f"distinct of {p.distinct / 1e6:g} M numbers, each of them twice",
                                       "pairs", p.distinct, 0, mode=["distinct"]),
    "reduce_by_key": lambda h, p: MadeUpJob(h, "reduce_by_key", f"reduce_by_key of {p.distinct / 1e6:g} M pairs, each "
                                            "key twice", "pairs", p.distinct, 0, mode=["reduce_by_key"]),
    "terasort": lambda h, p: TeraSort(h),
}


def make_job(h, name):
    return JOBS[name](h, h.parameters)


def sides(h, name):
    """The job, run on all sides in turn: (job, raw)."""
    job, raw = make_job(h, name), {"ours": [], "spark": [], "reference": []}
    for i in range(h.parameters.runs):
        of = f"{i + 1}/{h.parameters.runs}"
        if isinstance(job, MadeUpJob):
            raw["reference"] += job.reference(f"{name}: one thread of C {of}")
        if i == 0:
            job.ours(f"{name}: ours, compiling")
        raw["ours"] += job.ours(f"{name}: ours {of}")
        if h.spark_home:
            raw["spark"] += job.spark(f"{name}: Spark {of}")
    return job, raw


def rounds(h, name):
    """PageRank and KMeans: whole processes, and the rounds alone beside Spark's and a loop in C."""
    job, raw = sides(h, name)
    ours, spark, reference = (figure(raw[side], "rounds") for side in ("ours", "spark", "reference"))
    whole = figure(raw["ours"]) / figure(raw["reference"])
    rows = [faster_row(job.what + ", `local[2]`", raw["ours"], raw["spark"], 10),
            row("… the rounds alone", seconds(ours), f"Spark {seconds(spark)}" if spark else "–",
                f"{spark / ours:.1f}×" if spark else "–", "", None),
            row("… the rounds beside a loop of C", seconds(ours),
                f"one thread of C {seconds(reference)}, the whole process {timed(raw['reference'])}",
                f"takes {ours / reference:.2f}×; whole processes {whole:.2f}×", "≤ 1.5×", ours / reference <= 1.5)]
    return rows, {k: without_output(v) for k, v in raw.items()}


def one_operator(h, name):
    job, raw = sides(h, name)
    rows = [faster_row(job.what + ", `local[2]`", raw["ours"], raw["spark"], 10),
            row("… beside C that knows the keys", timed(raw["ours"]), f"one thread of C {timed(raw['reference'])}",
                f"takes {figure(raw['ours']) / figure(raw['reference']):.2f}×", "", None)]
    return rows, {k: without_output(v) for k, v in raw.items()}


def terasort(h):
    """With 4 GB on both sides; and ours with 256 MB, beside the same figure of Spark."""
    job, raw = sides(h, "terasort")
    raw["small"] = []
    for i in range(h.parameters.runs):
        raw["small"] += job.ours(f"terasort: ours 256m {i + 1}/{h.parameters.runs}", memory="256m", sample=20)
    peak = max(r["peak_anon_kb"] for r in raw["small"]) / 1024
    rows = [faster_row(job.what + ", `local[2]`", raw["ours"], raw["spark"], 7),
            faster_row("… ours with 256 MB of memory", raw["small"], raw["spark"], 7),
            row("… RssAnon + RssShmem", f"{peak:.0f} MB", "–", "", "≤ 320 MB", peak <= 320)]
    return rows, {k: without_output(v) for k, v in raw.items()}


ALL = {"pagerank": lambda h: rounds(h, "pagerank"), "kmeans": lambda h: rounds(h, "kmeans"),
       "join": lambda h: one_operator(h, "join"), "group_by_key": lambda h: one_operator(h, "group_by_key"),
       "distinct": lambda h: one_operator(h, "distinct"), "terasort": terasort}
