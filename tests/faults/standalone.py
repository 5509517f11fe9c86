"""Runs work.c twice on a standalone cluster, injects faults at chosen moments, and checks the outcome.

The cluster has two masters with one recovery directory, three workers with the shuffle service on separate addresses, an
application in client mode and a supervised driver in cluster mode. A setting replaces one of these parts (SETTINGS).
Executors stop at fault points (src/base/fault_point.h) and send their position. While one waits, the strikes of the plan
are carried out from outside: signals, descriptors taken with pidfd_getfd, a full disk. This program also acts as the
service manager: it restarts a killed master or worker.
"""
import collections
import json
import os
import pathlib
import random
import re
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

import harness
from harness import Violation

sys.path.insert(0, os.path.dirname(harness.HERE))
from folders import BIN  # noqa: E402
from standalone_cluster import Cluster, parent  # noqa: E402  (in the parent directory)

MASTERS = ("127.0.0.1", "127.0.0.4")
WORKERS = 3
CHECK_TIMEOUT = 90
TIMEOUT = 1.0  # spark.worker.timeout; connections end a little later
DAEMON = {"spark.worker.timeout": "1", "spark.deploy.recoveryTimeout": "1500ms", "spark.log.level": "INFO",
          "spark.network.timeout": "2s", "spark.firesteel.standalone.reconnectTimeout": "3s"}
APPLICATION = {"spark.cores.max": "2", "spark.executor.cores": "1", "spark.executor.memory": "256m",
               "spark.driver.memory": "256m", "spark.shuffle.service.enabled": "true", "spark.log.level": "INFO",
               "spark.executor.heartbeatInterval": "200ms", "spark.network.timeout": "2s",
               "spark.network.timeoutInterval": "200ms", "spark.shuffle.io.retryWait": "200ms",
               "spark.shuffle.registration.timeout": "500ms", "spark.task.maxFailures": "1000",
               "spark.stage.maxConsecutiveAttempts": "100", "spark.ui.enabled": "false"}
VICTIMS = ("leader", "standby", "worker", "executor", "client", "driver")
SETTINGS = {"service": "a shuffle service of its own instead of the workers'",
            "zookeeper": "records and election in a real ZooKeeper",
            "authenticated": "spark.authenticate, and thus the legacy gateway",
            "allocation": "executors come and go as there is work"}
SESSION = "2s"  # of ZooKeeper
ZOOKEEPER_JAR = "/usr/share/java/zookeeper.jar"
SECRET = {"spark.authenticate": "true", "spark.authenticate.secret": "what nobody else knows"}
ALLOCATION = {"spark.dynamicAllocation.enabled": "true", "spark.dynamicAllocation.maxExecutors": "2",
              "spark.dynamicAllocation.executorIdleTimeout": "1s", "spark.dynamicAllocation.cachedExecutorIdleTimeout": "2s",
              "spark.dynamicAllocation.schedulerBacklogTimeout": "1s"}
GATE = "127.0.0.9"
SUBMISSION = ("asked", "forwarded", "answered")  # places of Gate
KINDS = ("kill", "pause", "freeze", "cut")
EXECUTOR = re.compile(r"^firesteel executor ")
DRIVER = re.compile(r"^firesteel driver ")


class Points:
    """The server of the fault points, on its own thread. Calls @passed(pid, place) whenever an executor reaches one."""

    def __init__(self, path, passed):
        self.passed, self.problem = passed, None
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(path)
        self.listener.listen(64)
        self.ending, self.end = os.pipe()
        self.thread = threading.Thread(target=self.listen)
        self.thread.start()

    def listen(self):
        with selectors.DefaultSelector() as selector:
            selector.register(self.listener, selectors.EVENT_READ)
            selector.register(self.ending, selectors.EVENT_READ)
            while True:
                for key, _ in selector.select():
                    if key.fileobj == self.ending:
                        for each in list(selector.get_map().values()):
                            if isinstance(each.fileobj, socket.socket):
                                each.fileobj.close()
                        return
                    if key.fileobj is self.listener:
                        selector.register(self.listener.accept()[0], selectors.EVENT_READ)
                    elif not self.heard(key.fileobj):
                        selector.unregister(key.fileobj)
                        key.fileobj.close()

    def heard(self, peer):
        try:
            line = peer.recv(256).decode()
            if not line:
                return False
            _, pid, place = line.split()
            try:
                self.passed(int(pid), place)
            except Exception as problem:  # pylint: disable=broad-except  # raised again on the thread that waits for the run
                self.problem = self.problem or problem
            peer.send(b".")
            return True
        except OSError:
            return False

    def close(self):
        os.write(self.end, b".")
        self.thread.join()
        os.close(self.end)
        os.close(self.ending)


def unused_port(hosts, taken=(), rnd=random.SystemRandom()):
    """Return a port, not in @taken, that is free on all of @hosts and below the system's ephemeral ports, which begin at 32768."""
    while True:
        port = rnd.randrange(12000, 32000)
        if port in taken:
            continue
        try:
            for host in hosts:
                with socket.socket() as free:
                    free.bind((host, port))
            return port
        except OSError:
            pass


class Strike:
    """A fault @kind that hits @victim when a process reaches @place for the @moment-th time. @second follows soon."""

    def __init__(self, kind, victim, place, moment, rnd):
        self.kind, self.victim, self.place, self.moment, self.rnd = kind, victim, place, moment, rnd
        self.hit = None  # a description of the victim
        self.second = None

    def __str__(self):
        return f"{self.kind} {self.victim} at {self.place} {self.moment} ({self.hit or 'that never came'})"


class Gate:
    """A proxy between a submitting client and the REST server. The first submission passes its places:

        asked       the client has sent the request
        forwarded   the master has received it
        answered    the master has answered, and the client has not received the answer
    """

    def __init__(self, port, passed):
        self.port, self.passed, self.last = port, passed, -1
        self.listener = socket.create_server((GATE, port))
        self.ending, self.end = os.pipe()
        self.thread = threading.Thread(target=self.accept)
        self.thread.start()

    def reach(self, place):
        if SUBMISSION.index(place) > self.last:
            self.last = SUBMISSION.index(place)
            self.passed(None, place)

    def accept(self):
        pairs = {}
        with selectors.DefaultSelector() as selector:
            selector.register(self.listener, selectors.EVENT_READ)
            selector.register(self.ending, selectors.EVENT_READ)
            while True:
                for key, _ in selector.select():
                    if key.fileobj == self.ending:
                        for each in pairs:
                            each.close()
                        self.listener.close()
                        return
                    if key.fileobj is self.listener:
                        client = self.listener.accept()[0]
                        try:
                            server = socket.create_connection((MASTERS[0], self.port))
                        except OSError:
                            client.close()
                            continue
                        pairs.update({client: (server, True), server: (client, False)})
                        selector.register(client, selectors.EVENT_READ)
                        selector.register(server, selectors.EVENT_READ)
                    elif key.fileobj in pairs and not self.copy(key.fileobj, *pairs[key.fileobj]):
                        for each in (key.fileobj, pairs[key.fileobj][0]):
                            pairs.pop(each)
                            selector.unregister(each)
                            each.close()

    def copy(self, a, b, from_client):
        try:
            data = a.recv(1 << 20)
            if not data:
                return False
            if from_client and b"/create" in data[:200]:
                self.reach("asked")
                b.sendall(data)
                self.reach("forwarded")
                return True
            if not from_client and self.last == 1:
                self.reach("answered")
            b.sendall(data)
            return True
        except OSError:
            return False

    def close(self):
        os.write(self.end, b".")
        self.thread.join()
        os.close(self.end)
        os.close(self.ending)


class StandaloneRun:
    def __init__(self, folder, strikes=(), small_disk=None, setting=None):
        """@folder has the output of harness.build. @small_disk: "work", "local" (of the first worker) or "recovery"."""
        self.shared, self.strikes, self.small_disk, self.setting = folder, list(strikes), small_disk, setting
        self.service = self.zookeeper = self.gate = self.submitted = None
        self.more = dict(SECRET) if setting == "authenticated" else {}
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="run", dir=folder))
        self.passages = collections.Counter()
        self.masters, self.workers, self.client = [], [], None
        self.cures = []  # (time, function to call)
        self.stopped = set()
        self.client_may_fail = False  # true if its driver is killed or paused for too long
        self.mounted = None
        self.seconds = 0.0
        self.ports = set()

    # ------------------------------------------------------------------------------------------ starting

    def path(self, name):
        return str(self.folder / name)

    def start_master(self, host):
        settings = dict(DAEMON, **self.more, **{"spark.deploy.recoveryMode": "FILESYSTEM", "spark.master.rest.port": str(self.rest),
                                                "spark.deploy.recoveryDirectory": self.path("recovery"),
                                                "spark.master.rest.enabled": "false" if self.more else "true"})
        if self.zookeeper:
            settings.update({"spark.deploy.recoveryMode": "ZOOKEEPER", "spark.deploy.zookeeper.url": f"127.0.0.1:{self.zookeeper_port}",
                             "spark.firesteel.zookeeper.sessionTimeout": SESSION})
        m = self.cluster.daemon("master", ["-h", host, "-p", str(self.port)], settings, SPARK_LOCAL_IP=host)
        m.host = host
        m.url = m.says(r"Starting Spark master at (spark://\S+)").group(1)
        m.page = m.says(r"Bound MasterWebUI to \S+, and started at (http://\S+)").group(1)
        return m

    def start_worker(self, i):
        settings = dict(DAEMON, **self.more, **{"spark.shuffle.service.enabled": "false" if self.service else "true",
                                                "spark.shuffle.service.port": str(self.shuffle),
                                                "spark.local.dir": self.path(f"local/{i}")})
        host = f"127.0.0.{i + 1}"
        w = self.cluster.daemon("worker", ["-h", host, "-c", "2", "-m", "1g", "-d", self.path(f"work-{i}"), self.url],
                                settings, SPARK_LOCAL_IP=host)
        w.number = i
        return w

    def start_service(self):
        with open(self.path("service.conf"), "w", encoding="utf-8") as file:
            file.write(f"spark.local.dir {self.path('state')}\nspark.log.level INFO\n")
        s = self.cluster.start("service", [os.path.join(BIN, "firesteel"), "shuffle-service", "--port", str(self.shuffle),
                                           "--properties-file", self.path("service.conf")])
        s.says("Starting shuffle service on port")
        return s

    def start_zookeeper(self):
        with open(self.path("zoo.cfg"), "w", encoding="utf-8") as file:
            file.write(f"tickTime=500\ndataDir={self.path('zookeeper')}\nclientPort={self.zookeeper_port}\n"
                       "clientPortAddress=127.0.0.1\nadmin.enableServer=false\nmaxClientCnxns=0\n")
        return self.cluster.start("zookeeper", ["java", "-Xmx128m", "-cp", ZOOKEEPER_JAR,
                                                "org.apache.zookeeper.server.ZooKeeperServerMain", self.path("zoo.cfg")])

    def submit_driver(self, conf, module, given):
        """Submit in cluster mode, and wait until the client ends, also if a strike ends it."""
        rest = f":{self.rest}"
        where = self.url if self.more else self.url.replace(f":{self.port}", rest)
        if self.setting == "submission":
            self.gate = Gate(self.rest, self.passed)
            where = where.replace("spark://", f"spark://{GATE}{rest},")
        self.submitted = self.cluster.submit(where, "--deploy-mode", "cluster", "--supervise", "--class", "main", f"file:{module}",
                                             given, self.path("out-driver"), "own",
                                             conf=[*conf, f"spark.master.rest.enabled={'false' if self.more else 'true'}"])

    def close_gate(self):
        if self.gate:
            self.gate.close()
        self.gate = None

    def driver_is_known(self):
        """Return true if the submission was confirmed: the client has the answer, or the master had sent it."""
        told = self.submitted.end() == 0 and "Application submission failed" not in self.submitted.log()
        return told or any(s.hit and s.place == "answered" for s in self.strikes)

    def start(self):
        self.cluster = Cluster(self.folder)
        self.cluster.environment.update(FIRESTEEL_FAULT_POINTS=self.path("points"), TMPDIR=self.path("tmp"))
        for i in range(WORKERS):
            os.makedirs(self.path(f"local/{i}"))
        for name in ("local/client", "local/driver", "tmp", "recovery", "work-0"):
            os.mkdir(self.path(name))
        if self.small_disk:
            self.mounted = self.path({"work": "work-0", "local": "local/0", "recovery": "recovery"}[self.small_disk])
            if not harness.mount_small(self.mounted):
                raise Violation("no small disk could be mounted")
        self.points = Points(self.path("points"), self.passed)
        # A driver gets all masters with the port of the accepting one, so all masters use the same port.
        self.port = unused_port(MASTERS)
        self.rest = unused_port([*MASTERS, GATE], {self.port})
        self.shuffle = unused_port(["0.0.0.0"], {self.port, self.rest})
        if self.setting == "zookeeper":
            self.zookeeper_port = unused_port(MASTERS, {self.port, self.rest, self.shuffle})
            self.zookeeper = self.start_zookeeper()
        if self.setting == "service":
            self.service = self.start_service()
        self.masters.append(self.start_master(MASTERS[0]))
        self.masters[0].says("I have been elected leader! New state: ALIVE")
        self.masters.append(self.start_master(MASTERS[1]))
        self.url = "spark://" + ",".join(f"{host}:{self.port}" for host in MASTERS)
        self.workers = [self.start_worker(i) for i in range(WORKERS)]
        for w in self.workers:
            w.says("Successfully registered with master")
        for m in self.masters:
            if not self.more:
                m.says("Started REST server for submitting applications on")
        settings = dict(APPLICATION, **self.more, **{"spark.shuffle.service.port": str(self.shuffle)})
        if self.setting == "allocation":
            settings.update(ALLOCATION)
        conf = [f"{k}={v}" for k, v in settings.items()]
        own = {name: [*conf, f"spark.local.dir={self.path('local')}/{name}"] for name in ("client", "driver")}
        module, given = os.path.join(self.shared, "work.so"), os.path.join(self.shared, "in")
        self.submit_driver(own["driver"], module, given)
        self.client = self.cluster.submit(self.url, module, given, self.path("out"), conf=own["client"])

    # ------------------------------------------------------------------------------------------ striking

    def passed(self, pid, place):
        self.passages[place] += 1
        for strike in self.strikes:
            if not strike.hit and strike.place == place and self.passages[place] >= strike.moment:
                self.strike(strike, pid)
                if strike.hit and strike.second:
                    self.after(strike.rnd.random() * 0.3, lambda second=strike.second: self.strike(second, pid))

    def leader(self):
        """Return the master that reports itself as the leader. It may be stopped."""
        alive = [m for m in self.masters if m.process.poll() is None]
        led = [m for m in alive if "I have been elected leader" in m.log()]
        return led[-1] if led else None

    def standby(self):
        others = [m for m in self.masters if m.process.poll() is None and m is not self.leader()]
        return others[0] if others else None

    def of_kind(self, pattern):
        """Return {pid: command line} of executors or drivers, without the processes that they forked."""
        found = {pid: line for pid, line in self.cluster.marked().items() if pattern.match(line)}
        return {pid: line for pid, line in found.items() if parent(pid) not in found}

    def choose(self, victim, pid, rnd):
        """Return a pid or None."""
        if victim == "executor":
            others = sorted(self.of_kind(EXECUTOR))
            return pid if pid and (rnd.random() < 0.5 or not others) else rnd.choice(others) if others else None
        if victim == "driver":
            drivers = sorted(self.of_kind(DRIVER))
            return drivers[0] if drivers else None
        if victim == "worker":
            alive = [w for w in self.workers if w.process.poll() is None]
            return rnd.choice(alive).pid if alive else None
        found = {"leader": self.leader, "standby": self.standby, "client": lambda: self.client, "service": lambda: self.service,
                 "zookeeper": lambda: self.zookeeper, "submission": lambda: self.submitted}[victim]()
        return found.pid if found and found.process.poll() is None else None

    def strike(self, strike, pid):
        if strike.kind == "disk":
            self.fill_disk()
            strike.hit = self.mounted
            return
        whom = self.choose(strike.victim, pid, strike.rnd)
        if whom is None:
            return
        if strike.victim == "client" and strike.kind in ("kill", "freeze"):
            self.client_may_fail = True
        try:
            if strike.kind == "kill":
                os.kill(whom, signal.SIGKILL)
                for process in self.cluster.processes:
                    if process.pid == whom:
                        process.process.wait()  # from now on others see that it ended
            elif strike.kind == "cut":
                if not self.cut(whom, strike.rnd):
                    return
            else:
                os.kill(whom, signal.SIGSTOP)
                self.stopped.add(whom)
                self.after(0.2 if strike.kind == "pause" else 3.2 * TIMEOUT, lambda: self.resume(whom))
            strike.hit = f"pid {whom}"
        except ProcessLookupError:
            pass

    def resume(self, pid):
        self.stopped.discard(pid)
        try:
            os.kill(pid, signal.SIGCONT)
        except ProcessLookupError:
            pass

    def cut(self, pid, rnd):
        """Shut down all of its connections, or one."""
        found = sorted(there for _, _, there in harness.sockets_of(pid))
        if not found:
            return 0
        chosen = rnd.choice([None, rnd.choice(found)])
        for taken, _, there in harness.sockets_of(pid):
            if chosen in (None, there):
                try:
                    taken.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
        return len(found)

    def fill_disk(self):
        path = os.path.join(self.mounted, "full")
        with open(path, "wb", buffering=0) as filler:
            try:
                while filler.write(bytes(4096)) == 4096:
                    pass
            except OSError:
                pass
        self.after(0.5, lambda: os.path.exists(path) and os.remove(path))

    def after(self, seconds, what):
        self.cures.append((time.monotonic() + seconds, what))

    def resigned(self, daemon, status):
        """Return true if a master ended because it lost ZooKeeper, which may take some seconds."""
        return self.zookeeper and status == 0 and "Leadership has been revoked" in daemon.log()

    def care(self):
        """Act as the service manager, and end faults that are over."""
        if self.points.problem:
            raise self.points.problem
        for cure in [c for c in self.cures if c[0] <= time.monotonic()]:
            self.cures.remove(cure)
            cure[1]()
        if self.service and self.service.process.poll() == -signal.SIGKILL:
            self.service = self.start_service()
        if self.zookeeper and self.zookeeper.process.poll() == -signal.SIGKILL:
            self.zookeeper = self.start_zookeeper()
        for group, start in ((self.masters, lambda m: self.start_master(m.host)), (self.workers, lambda w: self.start_worker(w.number))):
            for i, daemon in enumerate(group):
                status = daemon.process.poll()
                if status is not None:
                    resigned = group is self.masters and (self.small_disk == "recovery" or self.resigned(daemon, status))
                    if status != -signal.SIGKILL and not resigned:
                        raise Violation(f"process {daemon.pid} ended with status {status}:\n{daemon.log()[-3000:]}")
                    group[i] = start(daemon)

    # ------------------------------------------------------------------------------------------ waiting

    def wait_for(self, condition, what):
        until = time.monotonic() + CHECK_TIMEOUT
        while True:
            self.care()
            if condition():
                return
            if time.monotonic() > until:
                raise Violation(f"waited in vain for {what}\n{self.state()}")
            time.sleep(0.02)

    def json(self):
        """Return the leader's /json/, or None."""
        leader = self.leader()
        try:
            with urllib.request.urlopen(leader.page + "/json/", timeout=5) as answer:
                return json.load(answer)
        except (OSError, AttributeError, ValueError):
            return None

    def at_rest(self):
        state = self.json()
        known = all("Successfully registered with master" in w.log() for w in self.workers)
        return known and state and state["status"] == "ALIVE" and state["aliveworkers"] == WORKERS and not state["activeapps"] and \
            not state["activedrivers"] and state["coresused"] == 0 and state["memoryused"] == 0

    def driver_results(self):
        folder = self.path("out-driver")
        found = [harness.results(os.path.join(folder, each)) for each in os.listdir(folder)] if os.path.exists(folder) else []
        return [each for each in found if each]

    def state(self):
        return (f"strikes: {', '.join(map(str, self.strikes))}\nmaster: {json.dumps(self.json())}\n"
                f"processes: {json.dumps(self.cluster.marked(), indent=1)}")

    def note_ports(self):
        for daemon in filter(None, (*self.masters, *self.workers, self.service)):
            for match in re.finditer(r"(?:on port |with port |at http://\S+:)(\d+)\b", daemon.log()):
                self.ports.add(int(match.group(1)))

    def run(self, expected=None):
        """Make the whole run. Returns the client's results, or raises Violation."""
        start = time.monotonic()
        try:
            self.start()
            self.wait_for(lambda: self.submitted.process.poll() is not None, "the submission's end")
            if self.submitted.end() != 0 and self.setting != "submission":
                raise Violation(f"the driver was not submitted:\n{self.submitted.log()}")
            self.wait_for(lambda: self.client.process.poll() is not None, "the application's end")
            if not self.client_may_fail and self.client.end() != 0:
                raise Violation(f"the application ended with status {self.client.end()}:\n{self.client.log()[-3000:]}")
            self.wait_for(lambda: self.at_rest() and not self.of_kind(EXECUTOR) and not self.of_kind(DRIVER),
                          "a master that has its three workers and nothing to do, and the executors' end")
            self.wait_for(lambda: not self.cures, "the end of the faults")  # no process is left that could cause another
            self.wait_for(self.at_rest, "a master that still has its three workers")
            found = harness.results(self.path("out"))
            expected = expected or found
            if not expected or found != expected and (self.client.end() == 0 or not self.client_may_fail):
                raise Violation("the application's result differs" if found else "the application's result is incomplete")
            done = self.driver_results()
            if not done and self.driver_is_known():
                raise Violation(f"the supervised driver was lost\n{self.state()}")
            if any(each != expected for each in done):
                raise Violation("the supervised driver's result differs")
            self.check_end()
            return expected
        finally:
            self.seconds = time.monotonic() - start

    def check_end(self):
        """Stop the daemons in order, and check that nothing is left."""
        if not self.wait_quietly(lambda: not self.files()):
            raise Violation(f"files are left while the workers run: {self.files()}")
        self.note_ports()
        self.close_gate()
        for daemon in filter(None, (*self.workers, *self.masters, self.service, self.zookeeper)):
            try:
                daemon.kill(signal.SIGTERM)
            except subprocess.TimeoutExpired as problem:
                raise Violation(f"process {daemon.pid} does not end:\n{daemon.log()[-3000:]}\n"
                                f"{harness.stacks(daemon.pid)}") from problem
            if daemon.end() != 128 + signal.SIGTERM and not (daemon in self.masters and self.resigned(daemon, daemon.end())):
                raise Violation(f"process {daemon.pid} ended with status {daemon.end()}:\n{daemon.log()[-3000:]}")
        if not self.wait_quietly(lambda: not self.cluster.marked()):
            raise Violation(f"processes are left: {self.cluster.marked()}")
        if self.files() or os.listdir(self.path("tmp")):
            raise Violation(f"files are left: {self.files() + os.listdir(self.path('tmp'))}")
        self.check_ports()

    def check_ports(self):
        """Check that no port is left. Other runs may use a free port for a while, so only one that is never free counts."""
        left = set(self.ports)

        def look():
            left.intersection_update([port for port in left if self.is_bound(port)])
            return not left
        if not self.wait_quietly(look):
            raise Violation(f"ports are left: {left}")

    def files(self):
        """Return the files in local directories, except those of a killed client, which no process cleans up."""
        return [os.path.join(where, name) for root in (self.folder / "local").iterdir()
                if root.name != "client" or self.client.end() >= 0
                for where, folders, names in os.walk(root) for name in folders + names]

    @staticmethod
    def wait_quietly(condition, seconds=10):
        until = time.monotonic() + seconds
        while not condition() and time.monotonic() < until:
            time.sleep(0.02)
        return condition()

    def is_bound(self, port):
        """Return true if a process other than another run's daemons listens on the port."""
        inodes = set()
        with open("/proc/net/tcp", encoding="ascii") as table:
            for line in list(table)[1:]:
                words = line.split()
                if words[3] == "0A" and int(words[1].rpartition(":")[2], 16) == port:
                    inodes.add(words[9])
        return bool(inodes) and not self.held_elsewhere(inodes)

    @staticmethod
    def held_elsewhere(inodes):
        """Return true if a live process has the listener: free ports are reused at once, so it is not a leftover."""
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                for fd in os.listdir(f"/proc/{pid}/fd"):
                    link = os.readlink(f"/proc/{pid}/fd/{fd}")
                    if link.startswith("socket:[") and link[8:-1] in inodes:
                        return True
            except OSError:
                pass
        return False

    def logs(self):
        """Return all logs, to find the reason of a violation."""
        text = []
        for path in [*sorted(self.folder.glob("*.log")), *sorted(self.folder.glob("work-*/driver-*/stderr"))]:
            text.append(f"--- {path.name if path.suffix else path.parent.name}\n{path.read_text(errors='replace')[-1500:]}")
        return "\n".join(text)

    def close(self, keep=None):
        """Kill all processes, and remove the folder or move it to @keep."""
        for pid in list(self.stopped):
            self.resume(pid)
        while left := self.cluster.marked():
            for pid in left:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            for process in self.cluster.processes:
                process.process.poll()
            time.sleep(0.01)
        for process in self.cluster.processes:
            process.process.wait()
        self.points.close()
        self.close_gate()
        if self.mounted:
            harness.unmount(self.mounted)
        if keep:
            shutil.rmtree(keep, ignore_errors=True)
            shutil.move(str(self.folder), keep)
        else:
            shutil.rmtree(self.folder, ignore_errors=True)
