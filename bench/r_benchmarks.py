"""Programs in R beside genuine Spark, with the same R and the same SparkR, in the form of benchmarks.py.

SparkR is in a library of R (R_LIBS) for Firesteel, and in R/lib of SPARK_HOME for genuine Spark.
"""
import re
import subprocess

from benchmarks import figure, row, timed
from harness import BenchError
from python_benchmarks import both, pss, ratio


def r(h):
    """pi, empty functions by spark.lapply, and a word count. The time of a task is R's own on both sides: its worker is forked."""
    if subprocess.run(["Rscript", "--vanilla", "-e", "find.package('SparkR')"], capture_output=True, check=False).returncode != 0:
        raise BenchError("r: R has no package SparkR; name its directory in R_LIBS")
    tasks, kibibytes = (1000, 256) if h.parameters.are_full() else (100, 64)  # R hashes each word's key by itself
    raw = {"pi": both(h, "r: pi", "python3", "examples/r/pi.R", 1, wanted="^Pi is roughly 3.1"),
           "empty_functions": both(h, "r: empty functions", "python3", "bench/r/empty_functions.R", tasks, wanted=f"^results: {tasks}"),
           "word_count": both(h, "r: word count", "python3", "bench/r/word_count.R", h.data("text", kibibytes << 10), wanted=r"^words: \d+")}
    if len({re.search(r"^words: .*", result["output"], re.M).group() for side in raw["word_count"] for result in side}) != 1:
        raise BenchError("r: WRONG RESULT: the sides counted different words")
    rows = []
    for name, what in (("pi", "`spark-submit pi.R`, one task"), ("empty_functions", f"spark.lapply of {tasks} empty functions"),
                       ("word_count", f"R word count of {kibibytes} KiB")):
        ours, genuine = raw[name]
        shares = [ratio(ours, genuine, key) for key in ("cpu", "wall", "peak_pss_kb")]
        rows.append(row(what, f"{timed(ours)}, {pss(ours):.0f} MB", f"SparkR {timed(genuine)}, {pss(genuine):.0f} MB" if genuine else "–",
                        "–" if None in shares else f"{shares[0]:.2f}× CPU, {shares[1]:.2f}× wall, {shares[2]:.2f}× memory", "–", None))
    return rows, {name: {"ours": sides[0], "spark": sides[1]} for name, sides in raw.items()}


ALL = {"r": r}
