"""Operators on rows in memory, beside DuckDB, Polars and C programs with two threads, in the form of benchmarks.py."""
import os
import re
import subprocess
import sys

from benchmarks import row
from harness import BenchError, median

ENGINES = ("duckdb", "polars")
PACKAGES = ("duckdb", "polars", "numpy", "pyarrow")
ROUNDS = 3
GENERIC = {"sum": "generic_sum", "join": "generic_parallel_join", "words": "generic_words"}  # of bench/reference


def python(h):
    """The Python that has the engines, installed once below the benchmarks' directory."""
    venv = h.path("engines-venv")
    if not os.path.exists(os.path.join(venv, "done")):
        h.say(f"installing {' '.join(PACKAGES)} (once)")
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([os.path.join(venv, "bin", "pip"), "install", "-q", *PACKAGES], check=True)
        open(os.path.join(venv, "done"), "w", encoding="ascii").close()
    return os.path.join(venv, "bin", "python")


def result_of(run):
    rounds = [float(x) for x in re.findall(r"^round: ([\d.]+)", run["output"], re.M)]
    total = re.search(r"^total: (.*)", run["output"], re.M)
    if len(rounds) < ROUNDS or not total:
        raise BenchError(f"engines: no result in {run['output']!r}")
    return {"rounds": rounds, "total": total.group(1)}


def compare(h, what, mode, rows, keys, most):
    """The rows of the table for one operator, and what each side said."""
    sides = {"ours": result_of(h.ours(f"{mode}: ours", "bench/apps/in_memory.c", mode, rows, keys, ROUNDS, memory="12g")[-1])}
    for engine in ENGINES:
        command = [python(h), os.path.join("bench", "engines", "columns.py"), engine, mode, str(rows), str(keys), str(ROUNDS)]
        sides[engine] = result_of(h.measure(f"{mode}: {engine}", command)[-1])
    if mode in GENERIC:
        command = [h.path("bin", GENERIC[mode]), str(rows), str(keys), str(ROUNDS)]
        sides["c"] = result_of(h.measure(f"{mode}: C that knows no more", command)[-1])
    if len({side["total"] for side in sides.values()}) != 1:
        raise BenchError(f"{mode}: WRONG RESULT: {sides}")
    took = {side: median(result["rounds"]) for side, result in sides.items()}
    ours, theirs = took["ours"], min(took[engine] for engine in ENGINES)
    told = ", ".join(f"{engine} {took[engine]:.2f} s" for engine in ENGINES)
    made = [row(what, f"{ours:.2f} s", told, f"{ours / theirs:.2f}×", f"≤ {most}×", ours <= most * theirs)]
    if "c" in took:
        made.append(row("… beside C that knows no more", f"{ours:.2f} s", f"two threads of C {took['c']:.2f} s",
                        f"{ours / took['c']:.2f}×", "≤ 2×", ours <= 2 * took["c"]))
    return made, sides


def engines(h):
    """Rows are in each engine's memory before a round, and its result is afterwards; the figure is the median of three rounds."""
    small = 1 if h.parameters.are_full() else 50
    wanted = (("sum of {0:g} M rows by {1:g} M keys", "sum", 100_000_000, 1_000_000, 0.5),
              ("join of {0:g} M rows with {1:g} M", "join", 20_000_000, 20_000_000, 0.5),
              ("sort of {0:g} M numbers", "sort", 100_000_000, 0, 0.9),
              ("count of {0:g} M words", "words", 50_000_000, 200_000, 0.7))
    rows, raw = [], {}
    for what, mode, n, keys, most in wanted:
        told, raw[mode] = compare(h, what.format(n / small / 1e6, keys / small / 1e6), mode, n // small, keys // small, most)
        rows += told
    return rows, raw


ALL = {"engines": engines}
