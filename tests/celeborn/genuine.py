"""Genuine Celeborn: masters and workers of a distribution on loopback, from the folder of jars that CELEBORN_JARS names."""
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from free_ports import free_ports  # noqa: E402

TIMEOUT = 400
OPENED = ["java.lang", "java.lang.invoke", "java.lang.reflect", "java.io", "java.net", "java.nio", "java.util",
          "java.util.concurrent", "java.util.concurrent.atomic", "jdk.internal.misc", "sun.nio.ch", "sun.nio.cs",
          "sun.security.action", "sun.util.calendar"]
SMALL = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx192m", "-XX:MaxDirectMemorySize=384m"]  # starts fast
LOG = """<Configuration status="WARN"><Appenders><Console name="c" target="SYSTEM_ERR"><PatternLayout
pattern="%d{HH:mm:ss.SSS} %p %c{1}: %m%n%ex"/></Console></Appenders><Loggers><Root level="INFO"><AppenderRef ref="c"/></Root>
</Loggers></Configuration>"""


def reason_to_skip():
    jars = os.environ.get("CELEBORN_JARS")
    if not jars or not os.path.isdir(jars):
        return "CELEBORN_JARS names no folder with the jars of a Celeborn distribution"
    return None if shutil.which("java") else "there is no java"


class Genuine:
    """One master, or three that elect a leader, and workers. `settings` are lines of celeborn-defaults.conf, of which the last
    counts; `java` are options of the processes' JVMs."""

    def __init__(self, folder, workers=2, masters=1, settings=(), java=SMALL):
        self.folder, self.processes, self.count, self.java = folder, {}, workers, list(java)
        self.answers = {}  # of masters, when leader() asked them last
        folder.mkdir(parents=True)
        (folder / "log4j2.xml").write_text(LOG)
        ports = free_ports(4 * masters + 6 * workers)
        self.masters = [[ports.pop() for _ in range(4)] for _ in range(masters)]  # RPC, HTTP, internal, Ratis
        self.settings = self.common() + list(settings)
        for i in range(masters):
            self.start(f"master-{i}", "master.Master", self.masters[i][0], [f"celeborn.master.port {self.masters[i][0]}",
                       f"celeborn.master.http.port {self.masters[i][1]}", f"celeborn.master.internal.port {self.masters[i][2]}",
                       *([f"celeborn.master.ha.node.id {i + 1}"] if masters > 1 else [])])
        for i in range(workers):
            self.start_worker(i, [ports.pop() for _ in range(6)])

    def start_worker(self, i, ports):
        rpc, push, fetch, replicate, http, internal = ports
        (self.folder / f"data-{i}").mkdir()
        self.start(f"worker-{i}", "worker.Worker", rpc, [
            f"celeborn.worker.storage.dirs {self.folder}/data-{i}:disktype=HDD:capacity=8G", f"celeborn.worker.rpc.port {rpc}",
            f"celeborn.worker.push.port {push}", f"celeborn.worker.fetch.port {fetch}",
            f"celeborn.worker.replicate.port {replicate}", f"celeborn.worker.http.port {http}",
            f"celeborn.worker.internal.port {internal}"])

    def add_workers(self, n):
        """Starts @n more workers, and waits until all have registered. None has been killed."""
        for i in range(self.count, self.count + n):
            self.start_worker(i, free_ports(6))
        self.count += n
        self.until_ready()

    @property
    def endpoints(self):
        return ",".join(f"127.0.0.1:{ports[0]}" for ports in self.masters)

    def common(self):
        internal = ",".join(f"127.0.0.1:{ports[2]}" for ports in self.masters)
        made = [f"celeborn.master.endpoints {self.endpoints}", f"celeborn.master.internal.endpoints {internal}",
                "celeborn.master.host 127.0.0.1",
                "celeborn.master.http.host 127.0.0.1", "celeborn.worker.http.host 127.0.0.1",
                "celeborn.network.bind.preferIpAddress true", "celeborn.master.heartbeat.worker.timeout 10s",
                "celeborn.master.heartbeat.application.timeout 30s", "celeborn.worker.heartbeat.timeout 10s",
                # A worker that waits for a master which does not answer sends no heartbeats to the next one. The default, 60 s,
                # is longer than the worker's timeout above: the next master would answer WORKER_EXCLUDED.
                "celeborn.masterClient.rpc.askTimeout 10s",
                "celeborn.worker.storage.disk.reserve.size 64m", "celeborn.worker.flusher.buffer.size 64k",
                "celeborn.worker.flusher.hdd.threads 1", "celeborn.worker.directMemoryRatioToPauseReceive 0.85",
                "celeborn.worker.directMemoryRatioForReadBuffer 0.1", "celeborn.worker.directMemoryRatioForShuffleStorage 0",
                "celeborn.rpc.dispatcher.threads 4", "celeborn.push.io.threads 2", "celeborn.fetch.io.threads 2",
                "celeborn.replicate.io.threads 2", "celeborn.worker.commitFiles.threads 4",
                "celeborn.worker.replicate.threads 4", f"celeborn.master.ha.enabled {str(len(self.masters) > 1).lower()}"]
        if len(self.masters) > 1:
            made += [f"celeborn.master.ha.ratis.raft.server.storage.dir {self.folder}/ratis"]
            for i, (rpc, _, internal, ratis) in enumerate(self.masters):
                node = f"celeborn.master.ha.node.{i + 1}"
                made += [f"{node}.host 127.0.0.1", f"{node}.port {rpc}", f"{node}.internal.port {internal}",
                         f"{node}.ratis.port {ratis}"]
        return made

    def start(self, name, main, port, own):
        conf = self.folder / f"{name}.conf"
        own = [line.replace(f"{self.folder}/ratis", f"{self.folder}/ratis-{name}") for line in self.settings] + own
        conf.write_text("\n".join(own) + "\n")
        java = ["java", *self.java,
                "-Djava.net.preferIPv4Stack=true", "-Dio.netty.tryReflectionSetAccessible=true",
                f"-Dlog4j2.configurationFile={self.folder}/log4j2.xml"]
        java += [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED]
        with open(self.folder / f"{name}.log", "w", encoding="utf-8") as log:
            self.processes[name] = subprocess.Popen(
                [*java, "-cp", os.path.join(os.environ["CELEBORN_JARS"], "*"), f"org.apache.celeborn.service.deploy.{main}",
                 "--host", "127.0.0.1", "--port", str(port), "--properties-file", str(conf)], stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, start_new_session=True, env={**os.environ, "CELEBORN_LOCAL_HOSTNAME": "127.0.0.1"})

    def leader(self):
        """The name of the leading master; None: those that live have elected none yet. `answers` then has what each said."""
        self.answers = {}
        for i, ports in enumerate(self.masters):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{ports[1]}/api/v1/masters", timeout=10) as answer:
                    name = f"master-{int(json.load(answer)['leader']['id']) - 1}"
            except (OSError, KeyError, TypeError, ValueError) as error:
                name = f"{type(error).__name__}: {error}"
            ended = self.processes[f"master-{i}"].poll()
            self.answers[f"master-{i}"] = name if ended is None else f"ended with {ended}"
            if name in self.processes and self.processes[name].poll() is None:
                return name
        return None

    def log(self, name):
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def until_ready(self):
        def ready(i):
            text = self.log(f"worker-{i}").lower()
            return "registered worker" in text or "register worker successfully" in text or "register to master succe" in text
        end = time.monotonic() + TIMEOUT
        while not all(ready(i) for i in range(self.count)):
            ended = [name for name, process in self.processes.items() if process.poll() is not None]
            if ended or time.monotonic() > end:
                raise AssertionError(f"Celeborn does not start: {ended}\n" + self.log((ended or ["worker-0"])[0])[-3000:])
            time.sleep(0.2)

    def kill(self, name):
        self.processes[name].kill()
        self.processes[name].wait()

    def __enter__(self):
        try:
            self.until_ready()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in self.processes.values():
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
