"""The benchmark of spark-submit itself, in the form of benchmarks.py.

Both sides get the same command lines. Their master is the tests' REST server, in this process.
"""
import os
import subprocess
import sys
import time

from benchmarks import figure, row, timed, without_output
from harness import ROOT, BenchError
from process_benchmarks import memory_of, times

sys.path.insert(0, os.path.join(ROOT, "tests"))
from rest_server import RestServer  # noqa: E402

POLLS = 5  # after so many questions a client is one that waits


def programs(h):
    sides = [("ours", h.submit)]
    if h.spark_home:
        sides.append(("spark", os.path.join(h.spark_home, "bin", "spark-submit")))
    return sides


def to_master(server, *more):
    return ["--master", server.url, "--deploy-mode", "cluster", "--class", "Nothing", "--name", "n", "--conf",
            "spark.master.rest.enabled=true", *more, "file:/nowhere/app.jar", "one", "two"]


def waiting(h, side, program):
    """Return the memory of a client that waits for its driver; None if it does not wait."""
    with RestServer() as server, open(h.path("log", f"submit_waiting_{side}.log"), "wb") as log:
        words = to_master(server, "--conf", "spark.standalone.submit.waitAppCompletion=true")
        client = subprocess.Popen([program, *words], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                  env=h.environment())
        try:
            end = time.monotonic() + 120
            while len(server.asked("/status/")) < POLLS:
                if client.poll() is not None:
                    return None
                if time.monotonic() > end:
                    raise BenchError(f"submit: {side} neither waits nor ends; see {log.name}")
                time.sleep(0.05)
            return memory_of(client.pid)
        finally:
            client.kill()
            client.wait()


def measure_all(h, raw):
    """Make one round: all measurements, each side in turn."""
    p = h.parameters
    n = (p.start_runs + p.runs - 1) // p.runs
    application = ["--master", "local[2]", "--class", "Nothing", "--name", "n", "--conf", "spark.x=1"]
    for side, program in programs(h):
        runs = n if side == "ours" else 1
        # Spark has no dry run: it prepares, then calls a main that does nothing.
        dry = ["--dry-run"] if side == "ours" else []
        jar = h.spark_jar if h.spark_home else "file:/nowhere/app.jar"
        for name, words in (("version", ["--version"]), ("prepare", [*dry, *application, jar])):
            results = h.measure(f"submit: {name}, {side}", [program, *words], runs=runs)
            raw.setdefault(f"{name}_{side}", []).extend(without_output(results))
        with RestServer() as server:
            results = h.measure(f"submit: to a master, {side}", [program, *to_master(server)], runs=runs)
            created = server.asked("/create")
            if len(created) != runs or any(r.json()["appArgs"] != ["one", "two"] for r in created):
                raise BenchError(f"submit: the master was asked {len(created)} times, not {runs}")
            raw.setdefault(f"rest_{side}", []).extend(without_output(results))
        raw.setdefault(f"waiting_{side}", []).append(waiting(h, side, program))


def submit(h):
    """--version, preparing, submitting by REST, and the memory of a client that waits."""
    raw = {}
    for _ in range(h.parameters.runs):
        measure_all(h, raw)

    def compared(what, name, asked, most):
        ours, spark = figure(raw[f"{name}_ours"]), figure(raw.get(f"{name}_spark", []))
        return row(what, timed(raw[f"{name}_ours"]), f"Spark {timed(raw[f'{name}_spark'])}" if spark else "–",
                   times(ours, spark), asked, ours <= most if most else None)

    def resident(name, side):
        return figure(raw.get(f"{name}_{side}", []), "max_rss_kb") / 1024

    def memory(side, key):
        return max((m[key] for m in raw.get(f"waiting_{side}", []) if m), default=0) / 1024

    def told(side):
        return f"{memory(side, 'rss_kb'):.1f} MB, {memory(side, 'private_kb'):.1f} MB its own"

    spark = bool(h.spark_home)
    waits = "Spark " + (told("spark") if memory("spark", "rss_kb") else "does not wait") if spark else "–"
    if not memory("ours", "rss_kb"):
        raise BenchError("submit: our client does not wait")
    return [compared("`spark-submit --version`", "version", "≤ 3 ms", 0.003),
            compared("prepare a submission (Spark: and call an empty `main`)", "prepare", "≤ 8 ms", 0.008),
            row("… its greatest resident set", f"{resident('prepare', 'ours'):.1f} MB",
                f"Spark {resident('prepare', 'spark'):.0f} MB" if spark else "–", "", "≤ 6 MB",
                resident("prepare", "ours") <= 6),
            compared("submit to a master by REST, the whole process", "rest", "", None),
            row("memory of a client that waits for its driver", told("ours"), waits, "", "≤ 16 MB, ≤ 4 MB its own",
                memory("ours", "rss_kb") <= 16 and memory("ours", "private_kb") <= 4)], raw


ALL = {"submit": submit}
