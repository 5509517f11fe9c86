"""The benchmark of the history server: large logs, plain and compressed, and many small ones.

The logs are written once into BENCH_TMP/history and removed at the end, because they take up to 16 GB. The server has a
store. A log is in the page cache of the system when it is read: what is measured is the server, not the disk.
"""
import json
import os
import re
import shutil
import subprocess
import time
import urllib.error
import urllib.request

import event_log
from benchmarks import row
from harness import ROOT, BenchError

PAGE = "/history/{}/stages/"


class Server:
    def __init__(self, h, logs, store, **conf):
        conf = {"spark.history.ui.port": 0, "spark.history.fs.logDirectory": "file://" + logs,
                "spark.history.store.path": store, **conf}
        self.log = h.path("log", "history-server")
        self.begin = time.monotonic()
        with open(self.log, "w") as err:
            self.process = subprocess.Popen(
                [os.path.join(ROOT, "bin", "firesteel"), "history-server"], stderr=err,
                env=dict(os.environ, SPARK_HISTORY_OPTS=" ".join(f"-D{k}={v}" for k, v in conf.items())))
        while not (found := re.search(r" on port (\d+)", open(self.log).read())):
            if self.process.poll() is not None:
                raise BenchError("the history server ended: " + open(self.log).read())
            time.sleep(0.005)
        self.url = f"http://127.0.0.1:{found[1]}"

    def get(self, path):
        with urllib.request.urlopen(self.url + path, timeout=600) as answer:
            return answer.read()

    def timed(self, path):
        """Returns the body, and the wall and CPU seconds until it was there."""
        begin, cpu = time.monotonic(), self.cpu()
        body = self.get(path)
        return body, time.monotonic() - begin, self.cpu() - cpu

    def cpu(self):
        with open(f"/proc/{self.process.pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def peak_mib(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            return int(re.search(r"VmHWM:\s+(\d+)", status.read())[1]) / 1024

    def wait_listed(self, n):
        while len(json.loads(self.get("/api/v1/applications"))) < n:
            if time.monotonic() - self.begin > 600:
                raise BenchError(f"{n} applications are not listed")
            time.sleep(0.005)

    def stop(self):
        self.process.terminate()
        self.process.wait(120)


def wait_stored(store, quiet=5):
    """The application is stored after the first answer: waits until the files of the store do not grow any more."""
    last, since = -1, time.monotonic()
    while time.monotonic() - since < quiet:
        size = sum(os.path.getsize(os.path.join(store, name)) for name in os.listdir(store))
        if size != last:
            last, since = size, time.monotonic()
        time.sleep(0.1)


def large_log(h, folder, name, size, tasks):
    """Measures the log in @folder. Returns (rows, raw)."""
    store = h.path("history", "store")
    shutil.rmtree(store, ignore_errors=True)
    raw = {"bytes": size, "tasks": tasks}
    page = PAGE.format("bench-1")
    server = Server(h, folder, store)
    try:
        server.wait_listed(1)
        body, raw["cold"], raw["cold_cpu"] = server.timed(page)
        if b"Completed Stages (" not in body:
            raise BenchError("the page of the stages has no completed stages")
        raw["warm"] = min(server.timed(page)[1] for _ in range(5))
        raw["peak_mib"] = server.peak_mib()
        wait_stored(store)
    finally:
        server.stop()
    server = Server(h, folder, store)
    try:
        server.wait_listed(1)
        _, raw["restarted"], raw["restarted_cpu"] = server.timed(page)
        raw["restarted_peak_mib"] = server.peak_mib()
    finally:
        server.stop()
    asked = 4 * max(size / 2e9, 1)
    rows = [row(f"History server, {name}, first page", f"{raw['cold']:.2f} s ({raw['cold_cpu']:.2f} s CPU)",
                f"{size / 1e6 / raw['cold']:.0f} MB/s of text", f"{raw['peak_mib']:.0f} MiB",
                f"≤ {asked:.0f} s, ≤ 200 MiB", raw["cold"] <= asked and raw["peak_mib"] <= 200),
            row(f"History server, {name}, page again; after a restart",
                f"{raw['warm'] * 1e3:.0f} ms; {raw['restarted'] * 1e3:.0f} ms", "–", "–", "≤ 200 ms",
                max(raw["warm"], raw["restarted"]) <= 0.2)]
    return rows, raw


def many_logs(h, n):
    folder, store = h.path("history", "many"), h.path("history", "store")
    shutil.rmtree(store, ignore_errors=True)
    os.makedirs(folder)
    event_log.write_log(os.path.join(folder, ".one"), "bench-@", 2)
    with open(os.path.join(folder, ".one")) as file:
        lines = file.read()
    for i in range(n):
        with open(os.path.join(folder, f"bench-{i}"), "w") as file:
            file.write(lines.replace("bench-@", f"bench-{i}"))
    raw = {"logs": n, "bytes": len(lines)}
    server = Server(h, folder, store)
    try:
        server.wait_listed(n)
        raw["listed"], raw["listed_cpu"], raw["peak_mib"] = time.monotonic() - server.begin, server.cpu(), server.peak_mib()
        with open(os.path.join(folder, ".new"), "w") as file:
            file.write(lines.replace("bench-@", "bench-new"))
        os.rename(os.path.join(folder, ".new"), os.path.join(folder, "bench-new"))
        begin = time.monotonic()
        while True:
            try:
                server.get("/api/v1/applications/bench-new")
                break
            except urllib.error.HTTPError:
                time.sleep(0.01)
        raw["new"] = time.monotonic() - begin
    finally:
        server.stop()
    server = Server(h, folder, store)
    try:
        server.wait_listed(n)
        raw["restarted"], raw["restarted_cpu"] = time.monotonic() - server.begin, server.cpu()
    finally:
        server.stop()
    shutil.rmtree(folder)
    return [row(f"History server, {n:,} logs of {len(lines) / 1000:.0f} KB, complete list",
                f"{raw['listed']:.2f} s ({raw['listed_cpu']:.2f} s CPU), {raw['peak_mib']:.0f} MiB",
                f"after a restart {raw['restarted']:.2f} s", "–", "≤ 5 s", raw["listed"] <= 5),
            row("History server, a new log is listed after", f"{raw['new'] * 1e3:.0f} ms", "–", "–", "≤ 1 s",
                raw["new"] <= 1)], raw


def history(h):
    rows, raw = [], {}
    top = h.path("history")
    shutil.rmtree(top, ignore_errors=True)
    try:
        for tasks in (h.parameters.history_tasks, h.parameters.large_history_tasks):
            folder = os.path.join(top, "logs")
            os.makedirs(folder)
            plain = os.path.join(folder, "bench-1")
            size = event_log.write_log(plain, "bench-1", tasks)
            name = f"{size / 1e9:.2g} GB with {tasks:,} tasks"
            for form in ("plain", "zstd"):
                if form == "zstd":
                    if not shutil.which("zstd"):
                        raise BenchError("zstd is missing: apt install zstd")
                    subprocess.run(["zstd", "-q", "-1", "-T0", "--rm", plain, "-o", plain + ".zstd"], check=True)
                h.say(f"{name}, {form}")
                more, raw[f"{tasks} {form}"] = large_log(h, folder, f"{name}, {form}", size, tasks)
                rows += more
            shutil.rmtree(folder)
        more, raw["many"] = many_logs(h, h.parameters.history_logs)
    finally:
        shutil.rmtree(top, ignore_errors=True)
    return rows + more, raw


ALL = {"history": history}
