"""The benchmarks. Each is a function of a Harness that returns (rows, raw): rows of the summary table, and all runs.

A row has the measurement, our value, the value compared with, and the target. `reached` follows from the medians; it is
shown, and does not fail the run. A wrong result does: BenchError.
"""
import glob
import os
import re
import subprocess

from harness import BenchError, median


def figure(results, key="wall"):
    return median([r[key] for r in results if key in r])


def seconds(value):
    return "–" if value is None else f"{value:.3g} s" if value >= 0.1 else f"{value * 1e3:.3g} ms"


def timed(results):
    """Return a wall time with its CPU seconds, because a busy machine distorts the first and hardly the second."""
    return f"{seconds(figure(results))} ({seconds(figure(results, 'cpu'))} CPU)" if results else "–"


def without_output(results):
    return [{k: v for k, v in r.items() if k != "output"} for r in results]


def row(what, ours, theirs, ratio, asked, reached):
    return {"what": what, "ours": ours, "theirs": theirs, "ratio": ratio, "asked": asked,
            "reached": None if reached is None else bool(reached)}


def faster_row(what, ours, spark, least):
    """Compare whole processes, and ours with Spark's action alone, which must reach `least`."""
    if not spark:
        return row(what, timed(ours), "–", "–", f"{least}×", None)
    whole = figure(spark) / figure(ours)
    action = figure(spark, "job") / figure(ours)
    return row(what, timed(ours), f"Spark {timed(spark)}, its action alone {seconds(figure(spark, 'job'))}",
               f"{whole:.1f}×; action alone {action:.1f}×", f"{least}×", action >= least)


def size(bytes_):
    return f"{bytes_ / (1 << 20):.0f} MiB" if bytes_ % (1 << 20) == 0 else f"{bytes_ / 1e6:.0f} MB"


def same_lines(h, what, expected, path, ordered=False):
    """Check that the lines at `path` are those of `expected`, in order if requested. Raises BenchError otherwise."""
    seen = h.lines(path)
    for key in ("lines", "bytes", "sum"):
        if seen[key] != expected[key]:
            raise BenchError(f"{what}: WRONG RESULT: {key} is {seen[key]}, expected {expected[key]} ({path})")
    if ordered and not seen["ordered"]:
        raise BenchError(f"{what}: WRONG RESULT: the lines are not in order ({path})")


# ------------------------------------------------------------------------------------------------------- start


def start(h):
    """From submit to the result of a job of one task, the whole process; and --version."""
    p, source = h.parameters, "bench/apps/one_task.c"
    h.ours("start: ours, compiling", source)
    spark, ours = [], []
    for i in range(p.runs):
        if h.spark_home:
            spark += h.spark(f"start: Spark {i + 1}/{p.runs}", "one_task")
        n = (p.start_runs + p.runs - 1) // p.runs
        ours += h.ours(f"start: ours {n} times, {i + 1}/{p.runs}", source, runs=n)
        if ours[-1]["output"].count("counted 1000\n") != n:
            raise BenchError(f"start: WRONG RESULT: {ours[-1]['output']!r}")
    version = h.measure("start: firesteel --version", [os.path.join(os.path.dirname(h.submit), "firesteel"), "--version"],
                        runs=p.start_runs)
    wall, rss = figure(ours), figure(ours, "max_rss_kb") / 1024
    ratio = figure(spark) / wall if spark else None
    rows = [row("submit → result of a one-task job", timed(ours), f"Spark {timed(spark)}" if spark else "–",
                f"{ratio:.0f}×" if spark else "–", "150×, ≤ 20 ms", wall <= 0.020 and (not spark or ratio >= 150)),
            row("… its greatest resident set", f"{rss:.1f} MB",
                f"Spark {figure(spark, 'max_rss_kb') / 1024:.0f} MB" if spark else "–", "", "≤ 20 MB", rss <= 20),
            row("`--version`", timed(version), "–", "", "≤ 3 ms", figure(version) <= 0.003)]
    return rows, {"ours": without_output(ours), "spark": without_output(spark), "version": without_output(version)}


# ------------------------------------------------------------------------------------------------- empty tasks


def rates(results, rounds):
    """Tasks a second in the rounds after the first of each process."""
    found = [float(r) for r in re.findall(r"^rate: (\d+) tasks/s", results[-1]["output"], re.M)]
    if len(found) != rounds:
        raise BenchError(f"empty tasks: {len(found)} rates where {rounds} were expected")
    results[-1]["rates"] = found
    return found[1:] or found


def check_retries(h, label, tasks, rounds):
    """Check that every failed task was reported once, and no other."""
    lost = re.findall(r"Lost task (\d+)\.(\d+) in stage (\d+)\.", h.stderr_of(label))
    expected = [(str(i), "0", str(s)) for s in range(rounds) for i in range(9999, tasks, 10000)]
    if sorted(lost) != sorted(expected):
        raise BenchError(f"{label}: WRONG RESULT: {len(lost)} lost tasks reported, {len(expected)} expected")


def check_log(folder, tasks, rounds):
    """Every attempt has its start and its end in the log; one in 10,000 failed, and was tried again once."""
    files = [f for f in glob.glob(os.path.join(folder, "**"), recursive=True)
             if os.path.isfile(f) and "appstatus" not in f]
    starts = ends = failed = second = 0
    for path in files:
        process = None
        if path.endswith(".zstd"):
            process = subprocess.Popen(["zstd", "-dc", path], stdout=subprocess.PIPE)
        with process.stdout if process else open(path, "rb") as log:
            for line in log:
                if line.startswith(b'{"Event":"SparkListenerTaskStart"'):
                    starts += 1
                elif line.startswith(b'{"Event":"SparkListenerTaskEnd"'):
                    ends += 1
                    failed += b'"Reason":"ExceptionFailure"' in line
                    second += b'"Attempt":1,' in line
        if process:
            process.wait()
    retries = rounds * (tasks // 10000)
    seen, expected = (starts, ends, failed, second), (rounds * tasks + retries,) * 2 + (retries,) * 2
    if seen != expected:
        raise BenchError(f"empty tasks: WRONG EVENT LOG: {seen} starts, ends, failures and second attempts; "
                         f"{expected} expected ({folder})")


def empty_tasks(h, logged=False):
    """Tasks a second, local[2,4]; one task in 10,000 fails and is tried again. With `logged`, event logs are on."""
    p, raw = h.parameters, {"ours": [], "spark": []}
    name = "logged_tasks" if logged else "empty_tasks"
    tasks = p.logged_tasks if logged else p.tasks
    ours, spark = [], []
    for i in range(p.runs):
        for side, n in (("spark", p.spark_tasks), ("ours", tasks)):
            if side == "spark" and not h.spark_home:
                continue
            conf, label = [], f"{name}: {side} {i + 1}/{p.runs}"
            if logged:
                folder = h.out(f"events-{side}")
                os.makedirs(folder)
                conf = ["--conf", "spark.eventLog.enabled=true", "--conf", f"spark.eventLog.dir=file://{folder}"]
            if side == "ours":
                results = h.ours(label, "examples/empty_tasks.c", n, p.rounds, master="local[2,4]", conf=conf)
                ours += rates(results, p.rounds)
                check_retries(h, label, n, p.rounds)
                if logged:
                    check_log(folder, n, p.rounds)
            else:
                results = h.spark(label, "empty_tasks", n, p.rounds, master="local[2,4]", conf=conf)
                spark += rates(results, p.rounds)
            raw[side] += without_output(results)
            if logged:
                h.out(f"events-{side}")
    least = 50 if logged else 200
    ratio = median(ours) / median(spark) if spark else None
    what = "empty tasks, `local[2]`" + (", event logs on" if logged else "")
    return [row(what, f"{median(ours):,.0f} a second", f"Spark {median(spark):,.0f} a second" if spark else "–",
                f"{ratio:.0f}×" if spark else "–", f"{least}×", ratio >= least if spark else None)], raw


def logged_tasks(h):
    return empty_tasks(h, logged=True)


# --------------------------------------------------------------------------------------------------- WordCount


def side_by_side(program, text, out):
    """The command of two processes that each count the whole text. The status is 1 if either fails."""
    os.makedirs(out)
    script = '"$1" "$2" "$3/0" & "$1" "$2" "$3/1"; own=$?; wait $!; other=$?; [ $own = 0 ] && [ $other = 0 ]'
    return ["sh", "-c", script, "sh", program, text, out]


def wordcount(h):
    """local[2] beside Spark; local[1] beside a C program of one thread."""
    p, raw = h.parameters, {"ours": [], "spark": [], "ours_1": [], "reference": [], "copies": []}
    text = h.data("text", p.text_bytes)
    out = h.out("wordcount-warm")
    h.ours("wordcount: ours, compiling", "examples/wordcount.c", text, out)
    h.out("wordcount-warm")
    for i in range(p.runs):
        of = f"{i + 1}/{p.runs}"
        reference = h.out("wordcount-reference")
        raw["reference"] += h.measure(f"wordcount: one thread of C {of}", [h.path("bin", "wordcount"), text, reference])
        copies = h.out("wordcount-copies")
        raw["copies"] += h.measure(f"wordcount: two copies of C {of}",
                                   side_by_side(h.path("bin", "wordcount"), text, copies))
        expected = h.lines(reference)
        for copy in ("0", "1"):
            same_lines(h, "wordcount: two copies of C", expected, os.path.join(copies, copy))
        for side, master in (("ours_1", "local[1]"), ("ours", "local[2]")):
            out = h.out("wordcount-ours")
            raw[side] += h.ours(f"wordcount: ours {master} {of}", "examples/wordcount.c", text, out, master=master)
            same_lines(h, f"wordcount: ours {master}", expected, out)
        if h.spark_home:
            out = h.out("wordcount-spark")
            raw["spark"] += h.spark(f"wordcount: Spark {of}", "wordcount", text, out)
            same_lines(h, "wordcount: Spark", expected, out)
    for name in ("reference", "copies", "ours", "spark"):
        h.out(f"wordcount-{name}")
    ratio = figure(raw["ours_1"]) / figure(raw["reference"])
    cpu = figure(raw["ours_1"], "cpu") / figure(raw["reference"], "cpu")
    rows = [faster_row(f"WordCount, {size(p.text_bytes)}, `local[2]`", raw["ours"], raw["spark"], 25),
            row("… on `local[1]`", timed(raw["ours_1"]), f"one thread of C {timed(raw['reference'])}",
                f"takes {ratio:.2f}× (CPU {cpu:.2f}×)", "≤ 1.3×", ratio <= 1.3),
            row("… `local[2]` beside `local[1]`", timed(raw["ours"]),
                f"two copies of C side by side {timed(raw['copies'])}, each counts all: what two cores can do here",
                f"{figure(raw['ours_1']) / figure(raw['ours']):.2f}× as fast; "
                f"C does {2 * figure(raw['reference']) / figure(raw['copies']):.2f}×", "≥ 1.85×",
                figure(raw["ours_1"]) / figure(raw["ours"]) >= 1.85)]
    return rows, {k: without_output(v) for k, v in raw.items()}


# --------------------------------------------------------------------------------------------------------- sort


def sort(h):
    """Compare local[2] with Spark and with GNU sort. All three write their output."""
    p, raw = h.parameters, {"ours": [], "spark": [], "gnu": []}
    records = h.data("records", p.record_bytes)
    expected = h.lines(records)
    h.ours("sort: ours, compiling", "examples/sort.c", records, h.out("sort-ours"))
    for i in range(p.runs):
        of = f"{i + 1}/{p.runs}"
        out = h.out("sort-gnu")
        raw["gnu"] += h.measure(f"sort: GNU sort {of}", ["env", "LC_ALL=C", "sort", "--parallel=2", "-S", "2G", "-T",
                                                         h.path("out"), "-o", out, records])
        same_lines(h, "sort: GNU sort", expected, out, ordered=True)
        h.out("sort-gnu")
        out = h.out("sort-ours")
        raw["ours"] += h.ours(f"sort: ours {of}", "examples/sort.c", records, out)
        same_lines(h, "sort: ours", expected, out, ordered=True)
        h.out("sort-ours")
        if h.spark_home:
            out = h.out("sort-spark")
            raw["spark"] += h.spark(f"sort: Spark {of}", "sort", records, out)
            # Equal keys may come in any order; with ten random bytes there are hardly any.
            same_lines(h, "sort: Spark", expected, out)
            h.out("sort-spark")
    ratio = figure(raw["ours"]) / figure(raw["gnu"])
    cpu = figure(raw["ours"], "cpu") / figure(raw["gnu"], "cpu")
    rows = [faster_row(f"sort, {size(p.record_bytes)} of 100-byte records, `local[2]`", raw["ours"], raw["spark"], 14),
            row("… beside GNU sort", timed(raw["ours"]), f"`sort --parallel=2` {timed(raw['gnu'])}",
                f"takes {ratio:.2f}× (CPU {cpu:.2f}×)", "≤ 0.6×", ratio <= 0.6)]
    return rows, {k: without_output(v) for k, v in raw.items()}


# -------------------------------------------------------------------------------------------------------- darts


def darts(h):
    p, raw = h.parameters, {"ours": [], "spark": []}
    h.ours("darts: ours, compiling", "bench/apps/darts.c", 1000, 2)

    def check(results):
        found = re.search(r"Pi is roughly ([\d.]+)", results[-1]["output"])
        if not found or abs(float(found.group(1)) - 3.14159265) > 8 / p.darts ** 0.5:
            raise BenchError(f"darts: WRONG RESULT: {results[-1]['output']!r}")
        return results

    for i in range(p.runs):
        of = f"{i + 1}/{p.runs}"
        raw["ours"] += check(h.ours(f"darts: ours {of}", "bench/apps/darts.c", p.darts, p.slices))
        if h.spark_home:
            raw["spark"] += check(h.spark(f"darts: Spark {of}", "darts", p.darts, p.slices))
    return [faster_row(f"darts, {p.darts / 1e6:g} million, `local[2]`", raw["ours"], raw["spark"], 10)], \
        {k: without_output(v) for k, v in raw.items()}


# ------------------------------------------------------------------------------------------------------- cached


def cached(h):
    """Numbers kept in memory, read and summed again and again on one core: bytes of them a second."""
    p, raw = h.parameters, {"ours": [], "spark": []}
    h.ours("cached: ours, compiling", "bench/apps/cached_sum.c", 1000, 2, 1)

    def check(results, n):
        if f"sum {3 * n * (n - 1) // 2} of {n}\n" not in results[-1]["output"]:
            raise BenchError(f"cached: WRONG RESULT: {results[-1]['output']!r}")
        times = [float(t) for t in re.findall(r"^read: ([\d.]+)", results[-1]["output"], re.M)]
        results[-1]["gigabytes"] = 8 * n / sorted(times)[len(times) // 2] / 1e9
        return results

    for i in range(p.runs):
        of = f"{i + 1}/{p.runs}"
        raw["ours"] += check(h.ours(f"cached: ours {of}", "bench/apps/cached_sum.c", p.cached, p.slices, 9,
                                    master="local[1]"), p.cached)
        if h.spark_home:    # boxed numbers: a tenth of them fills as much memory
            raw["spark"] += check(h.spark(f"cached: Spark {of}", "cached_sum", p.cached // 10, p.slices, 9,
                                          master="local[1]"), p.cached // 10)
    ours = sorted(r["gigabytes"] for r in raw["ours"])[p.runs // 2]
    spark = sorted(r["gigabytes"] for r in raw["spark"])[p.runs // 2] if raw["spark"] else None
    return [row(f"sum of {p.cached / 1e6:g} million cached numbers, `local[1]`", f"{ours:.2f} GB/s",
                f"Spark {spark:.3f} GB/s" if spark else "–", f"{ours / spark:.0f}×" if spark else "–", "≥ 2 GB/s a core",
                ours >= 2)], {k: without_output(v) for k, v in raw.items()}


# -------------------------------------------------------------------------------------------------------- large


def large_one(h, what, source, small, large, expected, ordered):
    """The small input with 4 GB, then the large one with 256 MB, each p.runs times."""
    p, raw = h.parameters, {"small": [], "large": []}
    for i in range(p.runs):
        for kind, path, memory in (("small", small, "4g"), ("large", large, "256m")):
            out = h.out("large")
            raw[kind] += h.ours(f"large {what}: {memory} {i + 1}/{p.runs}", source, path, out, memory=memory, sample=20)
            if kind == "large":
                same_lines(h, f"large {what}", expected, out, ordered)
            h.out("large")
    peak = max(r["peak_anon_kb"] for r in raw["large"]) / 1024
    small_rate = figure(raw["small"]) / os.path.getsize(small)
    large_rate = figure(raw["large"]) / os.path.getsize(large)
    cpu = figure(raw["large"], "cpu") / os.path.getsize(large) / (figure(raw["small"], "cpu") / os.path.getsize(small))
    ratio = large_rate / small_rate
    name = f"{what}, {size(os.path.getsize(large))} with 256 MB of memory"
    rows = [row(name + ": time a byte", timed(raw["large"]),
                f"{size(os.path.getsize(small))} with 4 GB {timed(raw['small'])}",
                f"takes {ratio:.2f}× a byte (CPU {cpu:.2f}×)", "≤ 2.5×", ratio <= 2.5),
            row("… RssAnon + RssShmem", f"{peak:.0f} MB", "–", "", "≤ 300 MB", peak <= 300)]
    return rows, {k: without_output(v) for k, v in raw.items()}


def large_wordcount(h):
    """2 GiB with --driver-memory 256m. The result is checked, memory is sampled every 20 ms."""
    p = h.parameters
    if p.large_bytes == 0:
        return [], {}
    text = h.data("text", p.large_bytes)
    reference = h.out("large-reference")
    subprocess.run([h.path("bin", "wordcount"), text, reference], check=True)
    rows, counts = large_one(h, "WordCount", "examples/wordcount.c", h.data("text", p.text_bytes), text,
                             h.lines(reference), ordered=False)
    h.out("large-reference")
    return rows, counts


def large_sort(h):
    p = h.parameters
    if p.large_bytes == 0:
        return [], {}
    records = h.data("records", p.large_bytes // 100 * 100)
    return large_one(h, "sort", "examples/sort.c", h.data("records", p.record_bytes), records, h.lines(records),
                     ordered=True)


ALL = {"start": start, "empty_tasks": empty_tasks, "logged_tasks": logged_tasks, "wordcount": wordcount, "sort": sort,
       "darts": darts, "cached": cached, "large_wordcount": large_wordcount, "large_sort": large_sort}
