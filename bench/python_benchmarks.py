"""Python programs beside genuine PySpark, with the same Python and the same pyspark, in the form of benchmarks.py.

CPU time and memory are those of all processes: driver, engine, daemon, workers (tools/measure_tree.py).
"""
import json
import os
import re
import signal
import subprocess
import sys
from statistics import median

from benchmarks import figure, row, seconds, timed
from harness import BENCH, HUNG, QUIET, ROOT, BenchError

WORDS_BYTES = 64 << 20


def interpreter(h):
    """The Python that has pyspark: BENCH_PYTHON, or that of the environment in which genuine Spark lies."""
    given = os.environ.get("BENCH_PYTHON")
    if given is None and h.spark_home:
        given = os.path.join(os.path.abspath(h.spark_home).split("/lib/python")[0], "bin", "python")
    if given is None or subprocess.run([given, "-c", "import pyspark"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
        raise BenchError("python: no Python with pyspark; set BENCH_PYTHON to one")
    return given


def measure(h, label, python, submit, program, *arguments, memory="4g"):
    """Runs a program on one side and returns what it used, with its output and the figures that it printed."""
    out, log = h.out("python.out"), h.path("log", re.sub(r"\W+", "_", label) + ".log")
    command = [submit, "--master", "local[2]", "--driver-memory", memory, *QUIET, "--conf", "spark.driver.maxResultSize=0",
               os.path.join(ROOT, program), *map(str, arguments)]
    environment = dict(h.environment(), PYSPARK_PYTHON=python, PYSPARK_DRIVER_PYTHON=python)
    environment.pop("PYTHONPATH", None)
    process = subprocess.Popen([sys.executable, os.path.join(BENCH, "tools", "measure_tree.py"), out, log, *command], stdout=subprocess.PIPE,
                               text=True, start_new_session=True, env=environment)
    try:
        text = process.communicate(timeout=HUNG)[0]
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise
    result = json.loads(text)
    with open(out, encoding="utf-8") as f:
        output = f.read()
    if result["status"] != 0:
        raise BenchError(f"{label}: failed with {result['status']}; {log} ends with:\n{h.tail(log)}{output[-1000:]}")
    result["output"] = output
    job = re.search(r"^job: ([\d.]+)", output, re.M)
    if job:
        result["job"] = float(job.group(1))
    h.say(f"{label}: {result['wall']:.3f} s, {result['cpu']:.3f} CPU s, {result['peak_pss_kb'] / 1024:.0f} MB Pss, {result['peak_rss_kb'] / 1024:.0f} MB Rss"
          + (f", action {result['job']:.3f} s" if job else ""))
    return result


def both(h, label, python, program, *arguments, wanted, memory="4g"):
    """Runs a program RUNS times on each side in turn; returns (ours, genuine). Checks that each prints `wanted`."""
    ours, genuine = [], []
    for i in range(h.parameters.runs):
        for results, side, submit in ((genuine, "genuine", h.spark_home and os.path.join(h.spark_home, "bin", "spark-submit")),
                                      (ours, "ours", h.submit)):
            if submit:
                results.append(measure(h, f"{label}: {side} {i + 1}", python, submit, program, *arguments, memory=memory))
                if not re.search(wanted, results[-1]["output"], re.M):
                    raise BenchError(f"{label}: WRONG RESULT of {side}: {results[-1]['output'][-300:]!r}")
    return ours, genuine


def pss(results):
    return figure(results, "peak_pss_kb") / 1024


def ratio(ours, genuine, key):
    return figure(ours, key) / figure(genuine, key) if genuine else None


def against(genuine):
    return f"PySpark {timed(genuine)}, {pss(genuine):.0f} MB" if genuine else "–"


def rates(results):
    """The rates of all rounds after the first of each run."""
    return [float(r) for result in results for r in re.findall(r"^rate: ([\d.]+)", result["output"], re.M)[1:]]


def transfer_row(what, ours, genuine):
    faster = figure(genuine, "job") / figure(ours, "job") if genuine else None
    return row(what, f"{seconds(figure(ours, 'job'))}, {pss(ours):.0f} MB", f"PySpark {seconds(figure(genuine, 'job'))}, {pss(genuine):.0f} MB" if genuine else "–",
               f"{faster:.1f}×" if faster else "–", "2×", faster >= 2 if faster else None)


def python(h):
    """pi, a word count, empty tasks, collect and parallelize of large rows."""
    found = interpreter(h)
    full = os.environ.get("BENCH_QUICK", "0") in ("", "0")
    rows_of_a_mebibyte, tasks = (1000, 504) if full else (100, 200)
    raw = {}
    raw["pi"] = pi, pi_spark = both(h, "python: pi", found, "examples/python/pi.py", 1, wanted="^Pi is roughly 3.1")
    text = h.data("text", WORDS_BYTES if full else 8 << 20)
    raw["word_count"] = words, words_spark = both(h, "python: word count", found, "bench/python/word_count.py", text, wanted=r"^words: \d+")
    if len({re.search(r"^words: .*", r["output"], re.M).group() for r in words + words_spark}) != 1:
        raise BenchError("python: WRONG RESULT: the sides counted different words")
    raw["empty_tasks"] = empty, empty_spark = both(h, "python: empty tasks", found, "bench/python/empty_tasks.py", tasks, 3, wanted="^rate: ")
    bytes_ = rows_of_a_mebibyte << 20
    raw["collect"] = collect, collect_spark = both(h, "python: collect", found, "bench/python/collect.py", rows_of_a_mebibyte, wanted=f"^bytes: {bytes_}$",
                                                   memory="6g")
    raw["parallelize"] = made, made_spark = both(h, "python: parallelize", found, "bench/python/parallelize.py", rows_of_a_mebibyte,
                                                 wanted=f"^rows: {rows_of_a_mebibyte}$", memory="6g")
    shares = [ratio(words, words_spark, key) for key in ("cpu", "wall", "peak_pss_kb")]
    rate, rate_spark = (median(r) if r else None for r in (rates(empty), rates(empty_spark)))
    rows = [row("`spark-submit pi.py`, one task", f"{timed(pi)}, {pss(pi):.0f} MB", against(pi_spark),
                f"{figure(pi_spark) / figure(pi):.1f}×" if pi_spark else "–", "≤ 0.8 s, ≤ 0.5 s CPU, ≤ 125 MB",
                figure(pi) <= 0.8 and figure(pi, "cpu") <= 0.5 and pss(pi) <= 125),
            row(f"Python word count of {WORDS_BYTES >> 20 if full else 8} MiB", f"{timed(words)}, {pss(words):.0f} MB", against(words_spark),
                "–" if None in shares else f"{shares[0]:.2f}× CPU, {shares[1]:.2f}× wall, {shares[2]:.2f}× memory", "0.6× CPU and wall, 0.25× memory",
                None if None in shares else shares[0] <= 0.6 and shares[1] <= 0.6 and shares[2] <= 0.25),
            row("empty Python tasks, reused workers", f"{rate:.0f}/s", f"PySpark {rate_spark:.0f}/s" if rate_spark else "–",
                f"{rate / rate_spark:.1f}×" if rate_spark else "–", "250/s", rate >= 250),
            transfer_row(f"collect of {rows_of_a_mebibyte} rows of a mebibyte, the action", collect, collect_spark),
            transfer_row(f"parallelize and count {rows_of_a_mebibyte} rows of a mebibyte", made, made_spark)]
    return rows, {name: {"ours": sides[0], "spark": sides[1]} for name, sides in raw.items()}


ALL = {"python": python}
