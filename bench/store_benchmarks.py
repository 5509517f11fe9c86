"""Map outputs in a store (`spark.firesteel.shuffle.store`) beside those that executors serve, of Firesteel alone.

`shuffle_store`: a sort, all of whose rows pass the shuffle, and WordCount, most of which does not, on two executors, with
each store by turns: local disk, Versity's S3 gateway (tests/s3_server.py), genuine HDFS (tests/hdfs). The servers run on
the machine's own cores, at the priority of bench/run. Their CPU seconds are measured beside those of driver and executors.

Before each run the page cache is filled. Otherwise a virtual machine whose host takes back free memory would spend up to
3.5 s of CPU on the first use of a gigabyte, so that what ran before would decide the figures.
"""
import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile

from benchmarks import figure, row, same_lines, seconds, size, timed, without_output
from harness import ROOT

sys.path[:0] = [os.path.join(ROOT, "tests"), os.path.join(ROOT, "tests", "hdfs")]
import hadoop  # noqa: E402
from s3_server import REGION, ROOT as OWNER, Store  # noqa: E402

MASTER, MEMORY, MOST = "local-cluster[2,1,2048]", "2g", 2.0
STORE = "spark.firesteel.shuffle.store"
TICKS = os.sysconf("SC_CLK_TCK")


class Memory:
    """Fills free memory with the page cache of a file that has only a hole."""

    LEFT_KB, PIECE, SIZE = 300 << 10, 8 << 20, 1 << 42

    def __init__(self, path):
        self.file, self.at = os.open(path, os.O_RDWR | os.O_CREAT, 0o600), 0
        os.unlink(path)
        os.ftruncate(self.file, self.SIZE)

    @staticmethod
    def free_kb():
        with open("/proc/meminfo", encoding="ascii") as file:
            return int(re.search(r"^MemFree:\s+(\d+)", file.read(), re.M).group(1))

    def fill(self, data, most):
        """Reads at most `most` bytes of the hole, and then `data`, which the cache may have lost."""
        buffer, end = bytearray(self.PIECE), min(self.at + most, self.SIZE - self.PIECE)
        while self.free_kb() > self.LEFT_KB and self.at < end:
            self.at += os.preadv(self.file, [buffer], self.at)
        with open(data, "rb") as file:
            while file.readinto(buffer):
                pass


class Site:
    """A store: its settings, and the processes that serve it."""

    def __init__(self, name, settings, processes=()):
        self.name, self.pids = name, [process.pid for process in processes]
        self.conf = [word for setting in settings for word in ("--conf", setting)]

    def cpu(self):
        """CPU seconds of the servers until now."""
        total = 0
        for pid in self.pids:
            with open(f"/proc/{pid}/stat", encoding="ascii") as file:
                total += sum(map(int, file.read().rpartition(")")[2].split()[11:13]))
        return total / TICKS


def s3_site(stack, name, folder, *flags):
    """A gateway over a folder. `flags`: of its posix backend."""
    os.mkdir(folder)
    server = stack.enter_context(Store(folder, *flags))
    s3a = {"endpoint": server.url, "endpoint.region": REGION, "path.style.access": "true", "access.key": OWNER[0],
           "secret.key": OWNER[1]}
    return Site(name, [f"{STORE}=s3a://depot/shuffles", *(f"spark.hadoop.fs.s3a.{key}={value}" for key, value in s3a.items())],
                [server.process])


def hdfs_site(stack, folder):
    build = os.path.join(ROOT, "build")
    subprocess.run(["ninja", "-C", build, "tests/resolve_packages"], check=True, stdout=subprocess.DEVNULL)
    server = stack.enter_context(hadoop.Hdfs(build, folder, {"dfs.blocksize": "128m"}))
    server.put("/shuffles/first", b"", mode="1777")
    nodes = {f"dfs.namenode.http-address.{hadoop.NAMESERVICE}.nn{i + 1}": address for i, address in enumerate(server.web)}
    nodes |= {"dfs.nameservices": hadoop.NAMESERVICE, f"dfs.ha.namenodes.{hadoop.NAMESERVICE}": "nn1,nn2"}
    return Site("hdfs", [f"{STORE}=hdfs://{hadoop.NAMESERVICE}/shuffles", "spark.executorEnv.HADOOP_USER_NAME=hdfs",
                         *(f"spark.hadoop.{key}={value}" for key, value in nodes.items())], server.processes.values())


def open_sites(h, stack):
    """The stores that can be started here, or those of them that BENCH_STORES names. Says which cannot, and why."""
    folder = stack.enter_context(tempfile.TemporaryDirectory(dir=h.path("out")))
    os.mkdir(os.path.join(folder, "files"))
    wanted = os.environ.get("BENCH_STORES", "file s3a s3a_without_md5 hdfs").split()
    sites, missing = [Site("local", [])], hadoop.missing()
    if "file" in wanted:
        sites.append(Site("file", [f"{STORE}=file://{folder}/files"]))
    if not shutil.which("go"):
        h.say("without s3a: there is no go; see https://go.dev/dl/")
    else:
        sites += [s3_site(stack, name, os.path.join(folder, name), *flags)
                  for name, flags in (("s3a", ()), ("s3a_without_md5", ("--data-integrity-etag",))) if name in wanted]
    if missing:
        h.say(f"without hdfs: {missing}")
    elif "hdfs" in wanted:
        os.environ["HADOOP_USER_NAME"] = "hdfs"  # of the drivers, which write leases
        stack.callback(os.environ.pop, "HADOOP_USER_NAME")
        sites.append(hdfs_site(stack, os.path.join(folder, "hdfs")))
    return sites


def measure_one(h, what, source, data, expected, ordered, sites):
    """One program on all sites by turns, after a turn that is not counted."""
    raw, memory = {site.name: [] for site in sites}, Memory(h.path("out", "hole"))
    memory.fill(data, 50 * os.path.getsize(data))
    for i in range(h.parameters.runs + 1):
        for site in sites:
            label, out = f"{what}: {site.name} {i}/{h.parameters.runs}", h.out("shuffle-store")
            memory.fill(data, 5 * os.path.getsize(data))  # some more than a run frees
            before = site.cpu()
            result = h.ours(label, source, data, out, master=MASTER, conf=["--executor-memory", MEMORY, *site.conf])[-1]
            result["server_cpu"] = site.cpu() - before
            same_lines(h, label, expected, out, ordered=ordered)
            raw[site.name] += without_output([result]) if i else []
    h.out("shuffle-store")
    os.close(memory.file)
    rows = []
    for site in sites[1:]:
        ours, local = raw[site.name], raw["local"]
        ratio = figure(ours) / figure(local)
        servers = f", servers {seconds(figure(ours, 'server_cpu'))} CPU" if site.pids else ""
        rows.append(row(f"{what} of {size(os.path.getsize(data))}, shuffle in {site.name}", timed(ours) + servers,
                        f"served by executors {timed(local)}", f"takes {ratio:.2f}×", f"≤ {MOST:g}×", ratio <= MOST))
    return rows, raw


def shuffle_store(h):
    records, text, reference = h.data("records", h.parameters.record_bytes), h.data("text", h.parameters.text_bytes), h.out("counts")
    subprocess.run([h.path("bin", "wordcount"), text, reference], check=True)
    counts, rows, raw = h.lines(reference), [], {}
    h.out("counts")
    with contextlib.ExitStack() as stack:
        sites = open_sites(h, stack)
        for what, source, data, expected, ordered in (("sort", "examples/sort.c", records, h.lines(records), True),
                                                      ("WordCount", "examples/wordcount.c", text, counts, False)):
            more, raw[what] = measure_one(h, what, source, data, expected, ordered, sites)
            rows += more
    return rows, raw


ALL = {"shuffle_store": shuffle_store}
