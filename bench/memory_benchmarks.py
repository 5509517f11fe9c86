"""The benchmarks with little memory, in the form of benchmarks.py, of Firesteel alone.

`quarter_…`: a job of rdd_benchmarks.py with a quarter of the memory that it takes when it has enough. `large_…`: one
operator on 2 GiB of rows with 256 MB. The target of both is three times the time with enough memory, and RssAnon +
RssShmem of at most 1.25 times the limit.
"""
import functools
import re

from benchmarks import figure, row, timed, without_output
from harness import BenchError
import rdd_benchmarks

ROW, SMALL_MB, ENOUGH = 96, 256, "8g"
LEAST_MB = 32  # spark.driver.memory is no less
OPERATORS = ("cogroup", "join", "distinct", "group_by_key", "cartesian", "sort_by")


def peak_mb(results):
    return max(r["peak_anon_kb"] for r in results) / 1024


def compared(what, limit_mb, small, enough):
    ratio, peak = figure(small) / figure(enough), peak_mb(small)
    cpu = figure(small, "cpu") / figure(enough, "cpu")
    return [row(f"{what} with {limit_mb} MB of memory", timed(small),
                f"with enough {timed(enough)}, {peak_mb(enough):.0f} MB", f"takes {ratio:.2f}× (CPU {cpu:.2f}×)", "≤ 3×",
                ratio <= 3),
            row("… RssAnon + RssShmem", f"{peak:.0f} MB", "–", "", f"≤ {1.25 * limit_mb:.0f} MB",
                peak <= 1.25 * limit_mb)]


def quarter(name, h):
    """Measure the memory of the job with 4 GB, and then run the job with a quarter of that."""
    job, raw = rdd_benchmarks.make_job(h, name), {"enough": [], "small": []}
    job.ours(f"quarter {name}: compiling")
    for i in range(h.parameters.runs):
        raw["enough"] += job.ours(f"quarter {name}: 4g {i + 1}/{h.parameters.runs}", sample=20)
    limit = max(int(peak_mb(raw["enough"]) / 4), LEAST_MB)
    for i in range(h.parameters.runs):
        raw["small"] += job.ours(f"quarter {name}: {limit}m {i + 1}/{h.parameters.runs}", memory=f"{limit}m", sample=20)
    return compared(job.what, limit, raw["small"], raw["enough"]), {k: without_output(v) for k, v in raw.items()}


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


ALL = {**{f"quarter_{name}": functools.partial(quarter, name) for name in rdd_benchmarks.JOBS},
       **{f"large_{operator}": functools.partial(large, operator) for operator in OPERATORS}}
