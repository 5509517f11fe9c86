"""The benchmarks of driver and executors as processes, in the form of benchmarks.py.

Firesteel and Spark run on local-cluster: two executor processes on this machine, with all messages over TCP.
"""
import os
import re
import signal
import socket
import subprocess
import time

from benchmarks import check_retries, figure, row, same_lines, seconds, size, timed, without_output
from harness import ROOT, BenchError, median

CLUSTER = "local-cluster[2,1,1024]"
APP = "bench/apps/cluster_jobs.c"


def numbers(pattern, output, count=None):
    """Return the first groups of all matches as numbers. Raises BenchError unless there are `count` (or at least one)."""
    found = [float(n) for n in re.findall(pattern, output, re.M)]
    if not found or (count and len(found) != count):
        raise BenchError(f"{pattern!r} is {len(found)} times in the output: {output[-500:]!r}")
    return found


def times(ours, spark):
    return f"{spark / ours:.0f}×" if spark else "–"


# ------------------------------------------------------------------------------------------------- empty tasks


def cluster_tasks(h):
    """Tasks a second over TCP to two executor processes, and CPU time a task; one in 10,000 fails once."""
    p, raw, found = h.parameters, {"ours": [], "spark": []}, {}
    for i in range(p.runs):
        for side, tasks, rounds in (("spark", p.spark_tasks, 2), ("ours", p.tasks, p.rounds)):
            if side == "spark" and not h.spark_home:
                continue
            label = f"cluster_tasks: {side} {i + 1}/{p.runs}"
            if side == "ours":
                results = h.ours(label, APP, "empty_tasks", tasks, rounds, master=CLUSTER)
            else:
                results = h.spark(label, "empty_tasks", tasks, rounds, master=CLUSTER)
            check_retries(h, label, tasks, rounds)
            result, output = results[-1], results[-1]["output"]
            result["rates"] = numbers(r"^rate: (\d+) tasks/s", output, rounds)
            result["driver_us"] = numbers(r"^driver: ([\d.]+) us/task", output, rounds)
            if side == "ours":
                result["executors_us"] = numbers(r"^executors: ([\d.]+) us/task", output, 1)
            for key in ("rates", "driver_us", "executors_us"):
                found.setdefault((side, key), []).extend(result.get(key, [])[1 if rounds > 1 else 0:]
                                                         if key != "executors_us" else result.get(key, []))
            raw[side] += without_output(results)

    def of(side, key):
        return median(found.get((side, key), []))

    rate, spark_rate = of("ours", "rates"), of("spark", "rates")
    driver, spark_driver = of("ours", "driver_us"), of("spark", "driver_us")
    rows = [row(f"empty tasks, `{CLUSTER}`", f"{rate:,.0f} a second",
                f"Spark {spark_rate:,.0f} a second" if spark_rate else "–",
                f"{rate / spark_rate:.0f}×" if spark_rate else "–", "≥ 300,000 a second", rate >= 300_000),
            row("… the driver's CPU time a task", f"{driver:.2f} µs (executors together {of('ours', 'executors_us'):.2f} µs)",
                f"Spark {spark_driver:.0f} µs, master and workers included" if spark_driver else "–",
                times(driver, spark_driver), "≤ 1.7 µs", driver <= 1.7)]
    return rows, raw


def cluster_jobs(h):
    """Jobs of one task, one after the other, the executors warm."""
    p, raw, found = h.parameters, {"ours": [], "spark": []}, {"ours": [], "spark": []}
    for i in range(p.runs):
        for side, n in (("spark", p.spark_jobs), ("ours", p.jobs)):
            if side == "spark" and not h.spark_home:
                continue
            label = f"cluster_jobs: {side} {i + 1}/{p.runs}"
            results = h.ours(label, APP, "jobs", n, master=CLUSTER) if side == "ours" \
                else h.spark(label, "jobs", n, master=CLUSTER)
            for key in ("median", "p99"):
                results[-1][key] = numbers(key + r" ([\d.]+) ms", results[-1]["output"], 1)[0] / 1e3
            found[side] += results
            raw[side] += without_output(results)
    ours, spark = ({k: figure(found[side], k) for k in ("median", "p99")} for side in ("ours", "spark"))
    rows = []
    for key, what in (("median", f"a job of one task, `{CLUSTER}`, warm: median"), ("p99", "… 99 % of them within")):
        rows.append(row(what, f"{seconds(ours[key])}", f"Spark {seconds(spark[key])}" if spark[key] else "–",
                        times(ours[key], spark[key]), "≤ 0.5 ms" if key == "p99" else "",
                        ours[key] <= 0.0005 if key == "p99" else None))
    return rows, raw


# ------------------------------------------------------------------------------------------------ start and idle


def cluster_start(h):
    """From submit until the result of the first job is there, and until all processes have ended."""
    p, raw = h.parameters, {"ours": [], "spark": []}
    h.ours("cluster_start: ours, compiling", APP, "first_result", master=CLUSTER)
    for i in range(p.runs):
        sides = [("ours", (p.start_runs + p.runs - 1) // p.runs)]
        if h.spark_home:
            sides.append(("spark", 1))
        for side, n in sides:
            label = f"cluster_start: {side} {n} times, {i + 1}/{p.runs}"
            results = h.ours(label, APP, "first_result", master=CLUSTER, runs=n) if side == "ours" \
                else h.spark(label, "first_result", master=CLUSTER, runs=n)
            for result, at in zip(results, numbers(r"^result: 1000 at ([\d.]+)", results[-1]["output"], n)):
                result["first"] = at - result["start"]
            raw[side] += without_output(results)
    first, spark = figure(raw["ours"], "first"), figure(raw["spark"], "first")
    whole, spark_whole = figure(raw["ours"]), figure(raw["spark"])
    return [row(f"submit → first result, `{CLUSTER}`", seconds(first), f"Spark {seconds(spark)}" if spark else "–",
                times(first, spark), "≤ 60 ms", first <= 0.060),
            row("… → end of the process", timed(raw["ours"]), f"Spark {timed(raw['spark'])}" if spark else "–",
                times(whole, spark_whole), "", None)], raw


class Standalone:
    """A master and a worker of two cores, ours or Spark's, for a `with` block."""

    def __init__(self, h, side):
        self.h, self.side, self.processes = h, side, []
        self.folder = h.out(f"standalone_{side}")
        os.makedirs(self.folder)

    def start(self, name, words, pattern):
        """Start a daemon; what `pattern` finds in its log."""
        log = os.path.join(self.folder, f"{name}.log")
        program = [os.path.join(ROOT, "bin", "firesteel"), name] if self.side == "ours" else \
            [os.path.join(self.h.spark_home, "bin", "spark-class"),
             f"org.apache.spark.deploy.{name}.{name.capitalize()}"]
        settings = os.path.join(self.folder, f"{name}.conf")
        with open(settings, "w", encoding="ascii") as file:
            file.write(f"spark.master.rest.enabled true\nspark.master.rest.port {self.rest_port}\n")
        with open(log, "wb") as out:
            self.processes.append(subprocess.Popen(
                [*program, "-h", "127.0.0.1", "--webui-port", "0", "--properties-file", settings, *words], stdout=out,
                stderr=out, cwd=self.folder, start_new_session=True,
                env=dict(self.h.environment(), SPARK_LOCAL_IP="127.0.0.1")))
        until = time.monotonic() + 120
        while time.monotonic() < until:
            with open(log, encoding="utf-8", errors="replace") as file:
                found = re.findall(pattern, file.read())
            if found:
                return found[-1]
            time.sleep(0.05)
        raise BenchError(f"{name} of {self.side} does not start: see {log}")

    def __enter__(self):
        try:
            with socket.socket() as free:  # Spark's server tells drivers the master's port only if it knows its own
                free.bind(("127.0.0.1", 0))
                self.rest_port = free.getsockname()[1]
            self.start("master", ["-p", "0"], r"REST server .* with port \d+")
            self.rest = f"spark://127.0.0.1:{self.rest_port}"
            with open(os.path.join(self.folder, "master.log"), encoding="utf-8", errors="replace") as file:
                self.url = re.findall(r"Starting Spark master at (spark://\S+)", file.read())[-1]
            self.start("worker", ["-c", "2", "-m", "4g", "-d", os.path.join(self.folder, "work"), self.url],
                       r"Successfully registered with master")
            return self
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_):
        for process in reversed(self.processes):
            os.killpg(process.pid, signal.SIGTERM)
            process.wait()

    def driver_output(self, known):
        """Wait for the driver that is not in `known`, and return its output. Adds its directory to `known`."""
        work, until = os.path.join(self.folder, "work"), time.monotonic() + 120
        while time.monotonic() < until:
            for name in os.listdir(work):
                path = os.path.join(work, name, "stdout")
                if name.startswith("driver-") and name not in known and os.path.exists(path):
                    with open(path, encoding="utf-8", errors="replace") as file:
                        text = file.read()
                    if "result:" in text and "main at" in text:
                        known.add(name)
                        return text
            time.sleep(0.02)
        raise BenchError(f"no driver has printed a result below {work}")


def standalone_start(h):
    """From submit until the first job's result in client mode, and until the driver's main runs in cluster mode."""
    p, raw, found = h.parameters, {"ours": [], "spark": []}, {}
    for side in ("ours", "spark") if h.spark_home else ("ours",):
        runs = p.start_runs if side == "ours" else p.runs
        command = (lambda *words, **o: h.ours_command(APP, *words, **o)) if side == "ours" else h.spark_command
        with Standalone(h, side) as cluster:
            if side == "ours":
                h.ours("standalone_start: ours, compiling", APP, "first_result", master=cluster.url)
            results = h.measure(f"standalone_start: {side}, client mode", command("first_result", master=cluster.url,
                                                                                   memory="1g"), runs=runs)
            for result, at in zip(results, numbers(r"^result: 1000 at ([\d.]+)", results[-1]["output"], runs)):
                result["first"] = at - result["start"]
            found[side, "client"] = figure(results, "first")
            raw[side] += without_output(results)
            known, delays = set(), []
            for _ in range(min(runs, 10)):
                results = h.measure(f"standalone_start: {side}, cluster mode", command(
                    "first_result", master=cluster.rest, memory="1g",
                    conf=["--deploy-mode", "cluster", "--conf", "spark.master.rest.enabled=true"]))
                text = cluster.driver_output(known)
                results[-1]["main"] = numbers(r"^main at ([\d.]+)", text, 1)[0] - results[-1]["start"]
                delays.append(results[-1]["main"])
                raw[side] += without_output(results)
            found[side, "cluster"] = median(delays)
    client, spark_client = found["ours", "client"], found.get(("spark", "client"))
    cluster_mode, spark_cluster = found["ours", "cluster"], found.get(("spark", "cluster"))
    return [row("submit → first result, standalone master", seconds(client),
                f"Spark {seconds(spark_client)}" if spark_client else "–", times(client, spark_client), "≤ 150 ms",
                client <= 0.150),
            row("submit in cluster mode → the driver's main runs", seconds(cluster_mode),
                f"Spark {seconds(spark_cluster)}" if spark_cluster else "–", times(cluster_mode, spark_cluster),
                "≤ 100 ms", cluster_mode <= 0.100)], raw


def memory_of(pid):
    """Rss, Pss and private memory in KB."""
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
        fields = dict(re.findall(r"^(\w+):\s+(\d+) kB", file.read(), re.M))
    return {"rss_kb": int(fields["Rss"]), "pss_kb": int(fields["Pss"]),
            "private_kb": int(fields["Private_Clean"]) + int(fields["Private_Dirty"])}


def children_of(pid):
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                if int(file.read().rsplit(")", 1)[1].split()[1]) == pid:
                    found.append(int(name))
        except (OSError, IndexError):
            pass  # it has just ended
    return found


def is_executor(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            command = file.read()
    except OSError:
        return False
    return command.startswith(b"firesteel\0executor\0") or b"CoarseGrainedExecutorBackend" in command


def idle_one(h, side, command):
    """Memory of the driver, of its executors, and of the executors' own children, idle for some seconds."""
    with open(h.path("log", f"idle_{side}.log"), "wb") as log, subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=log, stderr=log, env=h.environment()) as driver:
        try:
            end = time.monotonic() + 120
            while len(executors := [c for c in children_of(driver.pid) if is_executor(c)]) < 2:
                if driver.poll() is not None or time.monotonic() > end:
                    raise BenchError(f"idle: {side} has no two executors; see {log.name}")
                time.sleep(0.1)
            time.sleep(h.parameters.idle_seconds + (8 if side == "spark" else 0))
            found = {"driver": memory_of(driver.pid), "executors": [memory_of(e) for e in executors],
                     "zygotes": [memory_of(c) for e in executors for c in children_of(e)]}
            driver.stdin.close()
            driver.wait(timeout=120)
        except BaseException:
            driver.kill()
            raise
    h.say(f"idle: {side}: {found}")
    return found


def idle(h):
    """Measure the memory of an idle driver and an idle executor."""
    raw = {"ours": idle_one(h, "ours", h.ours_command(APP, "idle", master=CLUSTER, memory="1g"))}
    if h.spark_home:
        raw["spark"] = idle_one(h, "spark", h.spark_command("idle", master=CLUSTER, memory="1g"))

    def greatest(side, who, key="rss_kb"):
        return max((m[key] for m in raw[side][who]), default=0) / 1024

    def told(m):
        return f"{m['rss_kb'] / 1024:.1f} MB resident, {m['private_kb'] / 1024:.1f} MB its own"

    executor, driver = greatest("ours", "executors"), raw["ours"]["driver"]["rss_kb"] / 1024
    spark = raw.get("spark")
    return [row(f"an idle executor, `{CLUSTER}`",
                f"{told(raw['ours']['executors'][0])}; its zygote {greatest('ours', 'zygotes'):.1f} MB",
                f"Spark {greatest('spark', 'executors'):.0f} MB" if spark else "–",
                times(executor, greatest("spark", "executors") if spark else None), "≤ 12 MB", executor <= 12),
            row("an idle driver", told(raw["ours"]["driver"]),
                f"Spark {spark['driver']['rss_kb'] / 1024:.0f} MB, master and workers included" if spark else "–",
                times(driver, spark["driver"]["rss_kb"] / 1024 if spark else None), "≤ 20 MB", driver <= 20)], raw


# ---------------------------------------------------------------------------------------------- WordCount, sort


def on_cluster(h, name, source, data, expected, ordered):
    """The job on two executor processes of 2 GB beside local[2] with 4 GB, in the same run; and Spark's."""
    p, raw = h.parameters, {"local": [], "ours": [], "spark": []}
    cluster = ("local-cluster[2,1,2048]", ["--executor-memory", "2g"])
    h.ours(f"{name}: compiling", source, data, h.out(f"{name}-warm"))
    h.out(f"{name}-warm")
    for i in range(p.runs):
        for side, (master, conf) in (("local", ("local[2]", [])), ("ours", cluster), ("spark", cluster)):
            if side == "spark" and not h.spark_home:
                continue
            out, label = h.out(f"{name}-{side}"), f"{name}: {side} {master} {i + 1}/{p.runs}"
            if side == "spark":
                raw[side] += h.spark(label, name.removeprefix("cluster_"), data, out, master=master, conf=conf)
            else:
                raw[side] += h.ours(label, source, data, out, master=master, conf=conf)
            same_lines(h, label, expected, out, ordered)
    for side in raw:
        h.out(f"{name}-{side}")
    ratio = figure(raw["ours"]) / figure(raw["local"])
    cpu = figure(raw["ours"], "cpu") / figure(raw["local"], "cpu")
    what = {"cluster_wordcount": "WordCount", "cluster_sort": "sort"}[name]
    rows = [row(f"{what}, {size(os.path.getsize(data))}, `{cluster[0]}`", timed(raw["ours"]),
                f"ours on `local[2]` {timed(raw['local'])}", f"takes {ratio:.2f}× (CPU {cpu:.2f}×)", "≤ 1.25×",
                ratio <= 1.25)]
    if raw["spark"]:
        whole, action = (figure(raw["spark"], key) / figure(raw["ours"]) for key in ("wall", "job"))
        rows.append(row("… beside Spark's", timed(raw["ours"]),
                        f"Spark {timed(raw['spark'])}, its action alone {seconds(figure(raw['spark'], 'job'))}",
                        f"{whole:.1f}×; action alone {action:.1f}×", "", None))
    return rows, {k: without_output(v) for k, v in raw.items()}


def cluster_wordcount(h):
    text, reference = h.data("text", h.parameters.text_bytes), h.out("cluster-reference")
    subprocess.run([h.path("bin", "wordcount"), text, reference], check=True)
    result = on_cluster(h, "cluster_wordcount", "examples/wordcount.c", text, h.lines(reference), ordered=False)
    h.out("cluster-reference")
    return result


def cluster_sort(h):
    records = h.data("records", h.parameters.record_bytes)
    return on_cluster(h, "cluster_sort", "examples/sort.c", records, h.lines(records), ordered=True)


# ------------------------------------------------------------------------------------------- parts on their own


def micro(h, name, *arguments):
    """The output of a program of bench/micro, built now if it is not."""
    target = f"bench/micro/{name}_bench"
    subprocess.run(["ninja", "-C", os.path.join(ROOT, "build"), target], check=True, stdout=subprocess.DEVNULL)
    return h.measure(name, [os.path.join(ROOT, "build", target), *arguments])[0]["output"]


def shuffle(h):
    """Map outputs from one process to another, the CPU seconds of both added: micro/shuffle_transfer_bench.c."""
    outputs = [micro(h, "shuffle_transfer") for _ in range(h.parameters.runs)]
    rows, raw = [], {}
    for what, pattern, least in (("plain", "plain ", 2.0), ("from a file", "plain, disk", None), ("TLS", "TLS", 0.7)):
        raw[what] = [numbers(rf"^{pattern}\s+([\d.]+) GB/s", output, 1)[0] for output in outputs]
        rate = median(raw[what])
        rows.append(row(f"shuffle between two processes, {what}", f"{rate:.2f} GB a core-second of both ends", "–", "",
                        f"≥ {least:g}" if least else "", rate >= least if least else None))
    return rows, raw


def handover(h):
    """An empty task to a ready worker process and back: micro/handover_bench.c."""
    raw = [micro(h, "handover") for _ in range(h.parameters.runs)]
    one, p99, batch = (median([numbers(pattern, output, 1)[0] for output in raw]) for pattern in
                       (r"^worker process, 1 task\s+median\s+([\d.]+)", r"^worker process, 1 task\s.* 99%\s+([\d.]+)",
                        r"^worker process, 256 tasks\s.*a task\s+([\d.]+)"))
    return [row("hand-over of a task to a worker process", f"{one:.1f} µs (99 % within {p99:.1f} µs; "
                f"{batch:.2f} µs a task in runs of 256)", "–", "", "≤ 60 µs", one <= 60)], raw


def simulate(h):
    """10,000 executors and a million tasks under a virtual clock."""
    command = [os.path.join(os.path.dirname(h.submit), "firesteel"), "simulate", "--executors", "10000",
               "--tasks", str(h.parameters.simulated_tasks)]
    results = [h.measure(f"simulate {i + 1}/{h.parameters.runs}", command)[0] for i in range(h.parameters.runs)]
    for result in results:
        for key, pattern in (("rate", r"^placements/s\s+(\d+)"), ("ns", r"ns a placement\s+(\d+)"),
                             ("bytes", r"bytes an executor\s+(\d+)")):
            result[key] = numbers(pattern, result["output"], 1)[0]
    rate = figure(results, "rate")
    return [row("`simulate`, 10,000 executors", f"{rate:,.0f} placements a second ({figure(results, 'cpu'):.2f} s "
                f"CPU in all); {figure(results, 'ns'):.0f} ns a decision; {figure(results, 'bytes'):.0f} bytes an executor", "–", "", "≥ 300,000 a second",
                rate >= 300_000)], without_output(results)


ALL = {"cluster_tasks": cluster_tasks, "cluster_jobs": cluster_jobs, "cluster_start": cluster_start,
       "standalone_start": standalone_start, "idle": idle,
       "cluster_wordcount": cluster_wordcount, "cluster_sort": cluster_sort, "shuffle": shuffle, "handover": handover,
       "simulate": simulate}
