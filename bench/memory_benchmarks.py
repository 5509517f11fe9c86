"""The benchmarks with little memory, in the form of benchmarks.py, of Firesteel alone.

`quarter_…`: a job with a quarter of the memory that it takes when it has enough. `large_…`: one operator on 2 GiB of
rows with 256 MB. The targets are two and three times the time with enough memory, and RssAnon + RssShmem of at most
1.25 times the limit.
"""
import functools
import re
import subprocess

from benchmarks import figure, row, same_lines, size, timed, without_output
from harness import BenchError
import rdd_benchmarks

ROW, SMALL_MB, ENOUGH = 96, 256, "8g"
LEAST_MB = 32  # spark.driver.memory is no less
LINES_JOBS = ("wordcount", "sort")
OPERATORS = ("cogroup", "join", "distinct", "group_by_key", "cartesian", "sort_by")


def peak_mb(results):
    return max(r["peak_anon_kb"] for r in results) / 1024


def compared(what, limit_mb, small, enough, most=3):
    ratio, peak = figure(small) / figure(enough), peak_mb(small)
    cpu = figure(small, "cpu") / figure(enough, "cpu")
    return [row(f"{what} with {limit_mb} MB of memory", timed(small),
                f"with enough {timed(enough)}, {peak_mb(enough):.0f} MB", f"takes {ratio:.2f}× (CPU {cpu:.2f}×)",
                f"≤ {most}×", ratio <= most),
            row("… RssAnon + RssShmem", f"{peak:.0f} MB", "–", "", f"≤ {1.25 * limit_mb:.0f} MB",
                peak <= 1.25 * limit_mb)]


class LinesJob:
    """An example that reads a file and saves lines: WordCount of text, or the sort of records."""

    def __init__(self, h, name):
        p = h.parameters
        self.h, self.ordered, self.source = h, name == "sort", f"examples/{name}.c"
        if self.ordered:
            self.input, self.what = h.data("records", p.record_bytes), f"sort, {size(p.record_bytes)}"
            self.expected = h.lines(self.input)
            return
        self.input, self.what = h.data("text", p.text_bytes), f"WordCount, {size(p.text_bytes)}"
        reference = h.out("quarter-reference")
        subprocess.run([h.path("bin", "wordcount"), self.input, reference], check=True)
        self.expected = h.lines(reference)
        h.out("quarter-reference")

    def ours(self, label, **options):
        out = self.h.out("quarter")
        results = self.h.ours(label, self.source, self.input, out, **options)
        same_lines(self.h, label, self.expected, out, self.ordered)
        self.h.out("quarter")
        return results


def quarter(name, h):
    """Measure the memory of the job with 4 GB, and then run the job with that and with a quarter of it in turn."""
    job = LinesJob(h, name) if name in LINES_JOBS else rdd_benchmarks.make_job(h, name)
    raw, runs = {"enough": [], "small": []}, h.parameters.runs
    job.ours(f"quarter {name}: compiling")
    needed = job.ours(f"quarter {name}: how much memory", sample=20)
    limit = max(int(peak_mb(needed) / 4), LEAST_MB)
    for i in range(runs):
        raw["enough"] += job.ours(f"quarter {name}: 4g {i + 1}/{runs}", sample=20)
        raw["small"] += job.ours(f"quarter {name}: {limit}m {i + 1}/{runs}", memory=f"{limit}m", sample=20)
    return compared(job.what, limit, raw["small"], raw["enough"], 2), {k: without_output(v) for k, v in raw.items()}


def large(operator, h):
    """Run one operator on LARGE_BYTES of rows with 256 MB, and with 8 GB."""
    p, raw = h.parameters, {"enough": [], "small": []}
    rows = p.large_bytes // ROW // 16 * 16
    if rows == 0:
        return [], {}
    expected = h.measure(f"large {operator}: what it must be", [h.path("bin", "operators"), operator, str(rows)])
    expected = expected[0]["output"]
    for i in range(p.runs):
        for kind, memory in (("enough", ENOUGH), ("small", f"{SMALL_MB}m")):
            label = f"large {operator}: {memory} {i + 1}/{p.runs}"
            raw[kind] += h.ours(label, "bench/apps/operators.c", operator, rows, p.slices, memory=memory, sample=20)
            seen = re.search(r"^total: .*\n", raw[kind][-1]["output"], re.M)
            if not seen or seen.group() != expected:
                raise BenchError(f"{label}: WRONG RESULT: {seen and seen.group()!r}, expected {expected!r}")
    what = f"{operator} of {rows * ROW / (1 << 20):.0f} MiB"
    return compared(what, SMALL_MB, raw["small"], raw["enough"]), {k: without_output(v) for k, v in raw.items()}


ALL = {**{f"quarter_{name}": functools.partial(quarter, name) for name in (*rdd_benchmarks.JOBS, *LINES_JOBS)},
       **{f"large_{operator}": functools.partial(large, operator) for operator in OPERATORS}}
