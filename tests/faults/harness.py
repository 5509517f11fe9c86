"""Runs work.c on a local cluster, injects a fault at a chosen moment, and checks the outcome.

Executors stop at fault points (src/base/fault_point.h) and send their position to this process. A plan names the fault
point, the passage (how often executors have reached it), the fault, the victim, and whether the job must succeed. All
faults come from outside the victim: signals, descriptors taken with pidfd_getfd, limits, files.
"""
import collections
import contextlib
import ctypes
import json
import os
import random
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
BIN = os.path.abspath(os.environ.get("FIRESTEEL_BIN") or os.path.join(TOP, "bin"))
PLACES = ("map", "fetch", "reduce", "commit", "cached_read")
RESULTS = ("counts", "sums", "ranks")
EXECUTORS = 3
SYS_pidfd_getfd = 438

libc = ctypes.CDLL(None, use_errno=True)


def build(folder):
    """Build work.so and write its input, both in @folder."""
    module = os.path.join(folder, "work.so")
    subprocess.run([os.path.join(BIN, "firesteel"), "compile", os.path.join(HERE, "work.c"), "-o", module], check=True)
    r = random.Random(7)
    os.mkdir(os.path.join(folder, "in"))

    def write(name, lines):
        with open(os.path.join(folder, "in", name), "w", encoding="ascii") as out:
            out.writelines(line + "\n" for line in lines)
    write("text", (" ".join(f"w{int(r.random() ** 2 * 3000)}" for _ in range(8)) for _ in range(2000)))
    write("classes", (f"w{i} c{i % 97}" for i in range(3000)))
    write("links", (f"p{i} p{r.randrange(600)}" for i in range(600) for _ in range(4)))
    os.mkdir(os.path.join(folder, "conf"))


def results(out, exact=False):
    """Return the sorted lines of each part, because the order of a hash table is undefined; its bytes if @exact. None: output
    incomplete."""
    found = {}
    for name in RESULTS:
        folder = os.path.join(out, name)
        if not os.path.exists(os.path.join(folder, "_SUCCESS")):
            return None
        for part in sorted(os.listdir(folder)):
            if part.startswith("part-"):
                with open(os.path.join(folder, part), "rb") as lines:
                    found[name, part] = lines.read() if exact else sorted(lines)
            elif part != "_SUCCESS":
                found[name, part] = "should not be here"
    return found


class Violation(Exception):
    """A run violated an invariant."""


def stacks(pid):
    """Return the stacks of process @pid."""
    done = subprocess.run(["gdb", "-p", str(pid), "-batch", "-ex", "thread apply all bt"], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, stdin=subprocess.DEVNULL)
    return f"--- {pid}\n{done.stdout}\n"


class Run:
    """A job that is watched. Calls @strike(run, who, pid, place) when executors reach @place for the @moment-th time."""

    def __init__(self, folder, place=None, moment=0, strike=None, conf=(), master=None, timeout=30, arguments=(), stored=False):
        self.shared, self.place, self.moment, self.strike = folder, place, moment, strike
        self.conf, self.timeout = dict(conf), timeout
        self.master = master or f"local-cluster[{EXECUTORS},1,512]"
        self.arguments = arguments
        self.folder = tempfile.mkdtemp(prefix="run", dir=folder)
        self.store = os.path.join(self.folder, "store") if stored else None
        self.out = os.path.join(self.folder, "out")
        self.local = os.path.join(self.folder, "local")
        self.passages = collections.Counter()
        self.executors = {}  # id → pid, of all executors that ever started
        self.struck = []     # ids of the executors that the fault hit
        self.hit_at = None   # the fault point
        self.later = []      # (time, function to call)
        self.status, self.seconds, self.hung = None, 0.0, False
        self.stderr = ""
        self.stacks = ""

    # ------------------------------------------------------------------------------------------ running

    def command(self):
        conf = {"spark.executor.memory": "512m", "spark.local.dir": self.local, "spark.log.level": "INFO",
                "spark.eventLog.enabled": "true", "spark.eventLog.dir": os.path.join(self.folder, "events"),
                "spark.eventLog.rolling.enabled": "false", "spark.eventLog.compress": "false", "spark.ui.enabled": "false"}
        if self.store:
            conf["spark.firesteel.shuffle.store"] = f"file://{self.store}"
        conf.update(self.conf)
        words = [os.path.join(BIN, "spark-submit"), "--master", self.master]
        for key, value in conf.items():
            words += ["--conf", f"{key}={value}"]
        return words + [os.path.join(self.shared, "work.so"), os.path.join(self.shared, "in"), self.out, *self.arguments]

    def run(self):
        os.mkdir(os.path.join(self.folder, "events"))
        os.makedirs(self.local, exist_ok=True)
        path = os.path.join(self.folder, "points")
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK_", "MASTER"))}
        self.environment = dict(kept, FIRESTEEL_FAULT_POINTS=path, SPARK_CONF_DIR=os.path.join(self.shared, "conf"))
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener, \
                open(os.path.join(self.folder, "stderr"), "wb") as log:
            listener.bind(path)
            listener.listen(64)
            start = time.monotonic()
            self.driver = subprocess.Popen(self.command(), env=self.environment, stdout=log, stderr=log, cwd=self.folder,
                                           stdin=subprocess.DEVNULL, start_new_session=True)
            self.watch(listener, start + self.timeout)
            self.seconds = time.monotonic() - start
        self.status = self.driver.wait()
        for _, what in self.later:
            what()
        with open(os.path.join(self.folder, "stderr"), encoding="utf-8", errors="replace") as log:
            self.stderr = log.read()
        return self

    def watch(self, listener, deadline):
        pidfd = os.pidfd_open(self.driver.pid)
        with selectors.DefaultSelector() as selector:
            selector.register(listener, selectors.EVENT_READ)
            selector.register(pidfd, selectors.EVENT_READ)
            try:
                while True:
                    now = time.monotonic()
                    for what in [w for w in self.later if w[0] <= now]:
                        self.later.remove(what)
                        what[1]()
                    if now > deadline:
                        self.hang()
                        return
                    until = min([deadline] + [w[0] for w in self.later]) - now
                    for key, _ in selector.select(max(until, 0) + 0.001):
                        if key.fileobj is listener:
                            selector.register(listener.accept()[0], selectors.EVENT_READ)
                        elif key.fileobj == pidfd:
                            return
                        elif not self.heard(key.fileobj):
                            selector.unregister(key.fileobj)
                            key.fileobj.close()
            finally:
                os.close(pidfd)
                for key in list(selector.get_map().values()):
                    if isinstance(key.fileobj, socket.socket) and key.fileobj is not listener:
                        key.fileobj.close()

    def heard(self, peer):
        try:
            line = peer.recv(256).decode()
            if not line:
                return False
            who, pid, place = line.split()
            if place == "register":
                self.executors[who] = int(pid)
            self.passages[place] += 1
            if self.strike and place == self.place and self.passages[place] == self.moment:
                self.hit_at = place
                self.strike(self, who, int(pid), place)
            peer.send(b".")
            return True
        except (ConnectionError, BrokenPipeError):
            return False

    def after(self, seconds, what):
        self.later.append((time.monotonic() + seconds, what))

    def hang(self):
        """The run timed out: collect the stacks of its processes, and end them."""
        self.hung = True
        for pid in [self.driver.pid] + self.left_processes():
            self.stacks += stacks(pid)
        self.end_all()

    def end_all(self):
        for pid in [self.driver.pid] + self.left_processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def close(self):
        self.end_all()
        shutil.rmtree(self.folder, ignore_errors=True)

    def driver_port(self):
        for pid in self.executors.values():
            try:
                with open(f"/proc/{pid}/cmdline", encoding="utf-8") as words:
                    words = words.read().split("\0")
                    return int(words[words.index("--driver-url") + 1].rpartition(":")[2])
            except (OSError, ValueError):
                pass
        raise Violation("no executor knows the driver")

    # ---------------------------------------------------------------------------------------------------- leftovers

    def left_processes(self):
        mark = b"FIRESTEEL_FAULT_POINTS=" + os.path.join(self.folder, "points").encode()
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ", "rb") as variables:
                    if mark in variables.read().split(b"\0") and int(pid) != self.driver.pid:
                        found.append(int(pid))
            except OSError:
                pass
        return found

    def left_files(self):
        stored = os.listdir(self.store) if self.store else []
        return stored + [os.path.join(where, name) for where, folders, names in os.walk(self.local) for name in folders + names]

    # -------------------------------------------------------------------------------------------------- recomputation

    def events(self):
        folder = os.path.join(self.folder, "events")
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), encoding="utf-8") as lines:
                yield from map(json.loads, lines)

    def attempts(self):
        """Return (map output or result, partition) → [(executor, reason)] of the ended attempts, in order."""
        stages, ended = {}, collections.defaultdict(list)
        for event in self.events():
            if event["Event"] == "SparkListenerStageSubmitted":
                info = event["Stage Info"]
                stages[info["Stage ID"]] = max(rdd["RDD ID"] for rdd in info["RDD Info"])
            elif event["Event"] == "SparkListenerTaskEnd":
                info = event["Task Info"]
                what = ("map", stages[event["Stage ID"]]) if event["Task Type"] == "ShuffleMapTask" else \
                    ("result", event["Stage ID"])
                ended[what, info["Partition ID"]].append((info["Executor ID"], event["Task End Reason"]["Reason"]))
        return ended

    def check_attempts(self):
        """Check that a partition was recomputed only if its executor was hit, and in no case if its output is stored."""
        for (what, partition), ends in self.attempts().items():
            done_on = None
            for executor, reason in ends:
                if reason == "Success":
                    if done_on is not None and (what[0] == "result" or self.store or done_on not in self.struck):
                        why = "whose output is stored" if self.store else "which nothing had happened to"
                        raise Violation(f"{what} {partition} was complete on executor {done_on}, {why}, and was "
                                        f"computed again")
                    done_on = executor
            if done_on is None:
                raise Violation(f"{what} {partition} never succeeded: {ends}")

    def check(self, expected):
        if self.hung:
            raise Violation(f"it hung\n{self.stacks}")
        if self.status != 0:
            raise Violation(f"it ended with status {self.status}")
        found = results(self.out, self.store is not None)
        if found != expected:
            raise Violation("the result differs" if found else "the result is not complete")
        if "did not stop cleanly" in self.stderr:
            raise Violation("an executor crashed at its end")
        self.check_attempts()
        self.check_nothing_left()

    def check_nothing_left(self):
        until = time.monotonic() + 5
        while self.left_processes() and time.monotonic() < until:
            time.sleep(0.02)
        if self.left_processes():
            raise Violation(f"processes are left: {self.left_processes()}")
        if self.left_files():
            raise Violation(f"files are left: {self.left_files()}")


# ------------------------------------------------------------------------------------------------------------- faults

def kill(run, who, sent=signal.SIGKILL):
    run.struck.append(who)
    os.kill(run.executors[who], sent)


def alive(run):
    """Return the executors that were not hit and whose process exists."""
    return [who for who, pid in run.executors.items() if who not in run.struck and os.path.exists(f"/proc/{pid}")]


def sockets_of(pid):
    """Duplicate the TCP sockets of process @pid. Returns (socket, local port, remote port)."""
    pidfd = os.pidfd_open(pid)
    try:
        for name in os.listdir(f"/proc/{pid}/fd"):
            try:
                if not os.readlink(f"/proc/{pid}/fd/{name}").startswith("socket:"):
                    continue
            except OSError:
                continue
            fd = libc.syscall(SYS_pidfd_getfd, pidfd, int(name), 0)
            if fd < 0:
                continue
            taken = socket.socket(fileno=fd)
            try:
                if taken.family in (socket.AF_INET, socket.AF_INET6):
                    yield taken, taken.getsockname()[1], taken.getpeername()[1]
            except OSError:
                pass  # a listening socket
            finally:
                taken.close()
    finally:
        os.close(pidfd)


def cut(run, who, driver):
    """Shut down the connection to the driver, or those to other executors. Returns their number."""
    count = 0
    port = run.driver_port()
    for taken, _, there in sockets_of(run.executors[who]):
        if (there == port) == driver:
            taken.shutdown(socket.SHUT_RDWR)
            count += 1
    return count


def mount_small(path):
    """Mount a file system of 4 MiB. Returns false if that is not possible."""
    os.makedirs(path, exist_ok=True)
    return os.geteuid() == 0 and subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", path],
                                                stderr=subprocess.DEVNULL, check=False).returncode == 0


def unmount(path):
    subprocess.run(["umount", "-l", path], check=False)


def can_mount(folder):
    path = os.path.join(folder, "mounted")
    if not mount_small(path):
        return False
    unmount(path)
    return True


def supervise(campaign):
    """Run campaign(folder) in a child process, and return its status, or 128 + the number of a signal that interrupts it. At
    either end, no process whose environment names the folder, no file system mounted in it, and no file of it is left."""
    folder = tempfile.mkdtemp(prefix="firesteel-faults-")
    ends = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ends | {signal.SIGCHLD})
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.setsid()  # a terminal's Ctrl-C interrupts only the parent
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            status = campaign(folder)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(status)
    try:
        number = signal.sigwait(ends | {signal.SIGCHLD})
        if number in ends:
            os.kill(child, signal.SIGKILL)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        return 128 + number if number in ends else status if status >= 0 else 128 - status
    finally:
        while left := processes_of(folder):
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)
        with open("/proc/mounts", encoding="utf-8") as mounts:
            for path in [line.split()[1] for line in mounts if line.split()[1].startswith(f"{folder}/")]:
                unmount(path)
        shutil.rmtree(folder, ignore_errors=True)


def processes_of(folder):
    """The processes with a variable of the environment that begins with the path of @folder or of a file in it."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            with open(f"/proc/{pid}/environ", "rb") as variables:
                values = (variable.partition(b"=")[2] for variable in variables.read().split(b"\0"))
                if int(pid) != os.getpid() and any(value.startswith(f"{folder}/".encode()) for value in values):
                    found.append(int(pid))
    return found


def spoil_files(pid):
    """Flip bits in each open file without a name (the spill files) of the process. Returns their number."""
    count = 0
    for name in os.listdir(f"/proc/{pid}/fd"):
        path = f"/proc/{pid}/fd/{name}"
        try:
            if not os.readlink(path).endswith("(deleted)"):
                continue
            with open(path, "r+b", buffering=0) as spill:
                size = os.fstat(spill.fileno()).st_size
                for at in range(40, size, 512):
                    byte = os.pread(spill.fileno(), 1, at)
                    os.pwrite(spill.fileno(), bytes([byte[0] ^ 0x55]), at)
                count += size > 40
        except OSError:
            pass
    return count
