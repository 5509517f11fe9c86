"""Genuine HDFS for as long as a test runs: two NameNodes of one nameservice and a DataNode, on loopback.

The jars are those of Maven Central, resolved with our own --packages, which verifies their checksums, and kept in
~/.cache/firesteel-check-hdfs.
"""
import json
import os
import shutil
import signal
import string
import subprocess
import sys
import time
import urllib.parse
import urllib.request

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from download_cache import download_cache  # noqa: E402
from free_ports import free_ports  # noqa: E402

VERSION = "3.4.3"
MODULES = ("hadoop-common", "hadoop-hdfs", "hadoop-hdfs-client")
NAMENODE = "org.apache.hadoop.hdfs.server.namenode.NameNode"
DATANODE = "org.apache.hadoop.hdfs.server.datanode.DataNode"
HA_ADMIN = "org.apache.hadoop.hdfs.tools.DFSHAAdmin"
JAVA_OPTIONS = ["--add-opens", "java.base/java.lang=ALL-UNNAMED", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx256m",
                "-Djava.net.preferIPv4Stack=true"]
LOG4J = """log4j.rootLogger=WARN, err
log4j.appender.err=org.apache.log4j.ConsoleAppender
log4j.appender.err.target=System.err
log4j.appender.err.layout=org.apache.log4j.PatternLayout
log4j.appender.err.layout.ConversionPattern=%p %c{1}: %m%n
"""
NAMESERVICE = "depot"
TIMEOUT = 600  # seconds: beside thirty busy processes, five virtual machines need three minutes to start

# No proxy stands before loopback.
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def jars(build, cache="check-hdfs", modules=MODULES):
    """The class path of Hadoop's @modules, downloaded to the @cache when it is not there."""
    folder = download_cache(cache)
    done = os.path.join(folder, f"jars-{VERSION}")
    if not os.path.exists(done):
        os.makedirs(folder, exist_ok=True)
        print("getting Hadoop (once, some 70 to 90 MB)", flush=True)
        packages = ",".join(f"org.apache.hadoop:{module}:{VERSION}" for module in modules)
        found = subprocess.run([os.path.join(build, "tests", "resolve_packages"), f"ivy_path={folder}",
                                f"packages={packages}"], capture_output=True, text=True, check=False)
        if found.returncode != 0:
            raise RuntimeError(f"Hadoop cannot be had:\n{found.stderr[-3000:]}")
        with open(done, "w", encoding="utf-8") as file:
            file.write(found.stdout)
    with open(done, encoding="utf-8") as file:
        return file.read().split()


def settings(values):
    return "<configuration>" + "".join(f"<property><name>{k}</name><value>{v}</value></property>"
                                       for k, v in values.items()) + "</configuration>\n"


def wait_until(what, condition):
    end = time.monotonic() + TIMEOUT
    while not condition():
        if time.monotonic() > end:
            raise RuntimeError(f"not within {TIMEOUT} s: {what}")
        time.sleep(0.1)


class Daemons:
    """Hadoop's daemons in @folder, for as long as a `with` statement runs. Subclasses start them."""

    def __init__(self, folder):
        self.folder, self.conf, self.processes = folder, os.path.join(folder, "conf"), {}

    def make_folders(self, *pages):
        """Hadoop's servers do not start without the folders of their @pages."""
        for name in ("conf", "log", *(f"web/webapps/{page}" for page in pages)):
            os.makedirs(os.path.join(self.folder, name))

    @staticmethod
    def write(folder, name, values):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(settings(values))

    @staticmethod
    def write_log_settings(folder):
        with open(os.path.join(folder, "log4j.properties"), "w", encoding="utf-8") as file:
            file.write(LOG4J)

    @staticmethod
    def run_tool(words, environment):
        """Run one of Hadoop's tools, and return its output."""
        done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=TIMEOUT, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{words[-4:]}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done.stdout

    def start_daemon(self, name, words, environment):
        with open(os.path.join(self.folder, "log", f"{name}.log"), "ab") as log:
            self.processes[name] = subprocess.Popen(words, env=environment, stdout=log, stderr=log, cwd=self.folder,
                                                    stdin=subprocess.DEVNULL)

    def log(self, name):
        with open(os.path.join(self.folder, "log", f"{name}.log"), encoding="utf-8", errors="replace") as log:
            return log.read()

    def check_alive(self):
        for name, process in self.processes.items():
            if process.poll() is not None:
                raise RuntimeError(f"{name} has ended:\n{self.log(name)[-3000:]}")

    @staticmethod
    def bean(address, query):
        """A bean of a daemon's pages; None until it has one."""
        try:
            with OPENER.open(f"http://{address}/jmx?qry={query}", timeout=10) as answer:
                beans = json.load(answer)["beans"]
            return beans[0] if beans else None
        except (OSError, ValueError):
            return None

    def kill(self, *names):
        for name in names or list(self.processes):
            process = self.processes.pop(name)
            process.send_signal(signal.SIGKILL)
            process.wait()

    def start(self):
        raise NotImplementedError

    def stop(self, *names):
        self.kill(*names)

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()


class Hdfs(Daemons):
    """`conf` is the folder for HADOOP_CONF_DIR, `rpc` and `web` are the addresses of nn1 and nn2, `data_web` a port.
    `more`: settings in place of those here."""

    def __init__(self, build, folder, more=None):
        super().__init__(folder)
        *ports, data, self.data_web, data_ipc = free_ports(7)
        addresses = [f"127.0.0.1:{port}" for port in ports]
        self.rpc, self.web = addresses[:2], addresses[2:]
        self.make_folders("hdfs", "datanode", "secondary", "static")
        self.write_log_settings(self.conf)
        self.class_path = os.pathsep.join([self.conf, os.path.join(folder, "web"), *jars(build)])
        self.write(self.conf, "core-site.xml", {"fs.defaultFS": f"hdfs://{NAMESERVICE}", "hadoop.tmp.dir": f"{folder}/tmp"})
        self.write(self.conf, "hdfs-site.xml", {
            "dfs.nameservices": NAMESERVICE,
            f"dfs.ha.namenodes.{NAMESERVICE}": "nn1,nn2",
            f"dfs.namenode.rpc-address.{NAMESERVICE}.nn1": self.rpc[0],
            f"dfs.namenode.rpc-address.{NAMESERVICE}.nn2": self.rpc[1],
            f"dfs.namenode.http-address.{NAMESERVICE}.nn1": self.web[0],
            f"dfs.namenode.http-address.{NAMESERVICE}.nn2": self.web[1],
            f"dfs.client.failover.proxy.provider.{NAMESERVICE}":
                "org.apache.hadoop.hdfs.server.namenode.ha.ConfiguredFailoverProxyProvider",
            "dfs.ha.namenode.id": "${name.of.node}",
            "dfs.ha.fencing.methods": "shell(true)",
            "dfs.namenode.shared.edits.dir": f"file://{folder}/shared",
            "dfs.namenode.name.dir": f"file://{folder}/${{name.of.node}}",
            "dfs.datanode.data.dir": f"file://{folder}/data",
            "dfs.datanode.address": f"127.0.0.1:{data}",
            "dfs.datanode.http.address": f"127.0.0.1:{self.data_web}",
            "dfs.datanode.ipc.address": f"127.0.0.1:{data_ipc}",
            "dfs.datanode.hostname": "127.0.0.1",
            "dfs.namenode.datanode.registration.ip-hostname-check": "false",
            "dfs.replication": "1",
            "dfs.namenode.fs-limits.min-block-size": "65536",
            "dfs.blocksize": "1048576",
            "dfs.namenode.safemode.extension": "0",
            "dfs.ha.tail-edits.period": "1",
            "dfs.namenode.redundancy.considerLoad": "false", **(more or {})})

    def java(self, name, main, *words):
        return ["java", *JAVA_OPTIONS, f"-Dname.of.node={name}", f"-Dhadoop.home.dir={self.folder}",
                f"-Dhadoop.log.dir={self.folder}/log", "-cp", self.class_path, main, *words]

    def environment(self):
        return dict(os.environ, HADOOP_CONF_DIR=self.conf, HADOOP_USER_NAME="hdfs")

    def call(self, name, main, *words):
        self.run_tool(self.java(name, main, *words), self.environment())

    def run(self, name, main):
        self.start_daemon(name, self.java(name, main), self.environment())

    def is_up(self, address):
        self.check_alive()
        return bool(self.node_bean(address, "NameNodeStatus"))

    def node_bean(self, address, name):
        return self.bean(address, f"Hadoop:service=NameNode,name={name}")

    def state(self, node):
        return (self.node_bean(self.web[node], "NameNodeStatus") or {}).get("State")

    def make_active(self, node):
        """nn1 is 0. The other one becomes the standby first, if it is active and alive."""
        other = 1 - node
        if self.state(other) == "active":
            self.call("admin", HA_ADMIN, "-transitionToStandby", f"nn{other + 1}")
        self.call("admin", HA_ADMIN, "-transitionToActive", f"nn{node + 1}")
        wait_until("an active namenode that may be written to", lambda: self.is_ready(node))

    def is_ready(self, node):
        system = self.node_bean(self.web[node], "FSNamesystemState") or {}
        return (self.state(node) == "active" and system.get("NumLiveDataNodes") == 1
                and system.get("FSState") == "Operational")

    def start(self):
        self.call("nn1", NAMENODE, "-format", "-nonInteractive")
        self.run("nn1", NAMENODE)
        wait_until("nn1", lambda: self.is_up(self.web[0]))
        self.call("nn2", NAMENODE, "-bootstrapStandby", "-nonInteractive")
        self.run("nn2", NAMENODE)
        self.run("dn", DATANODE)
        wait_until("nn2", lambda: self.is_up(self.web[1]))
        self.make_active(0)

    def put(self, path, content, node=0, user="hdfs", mode=None):
        """Write a file through the active namenode: what WebHDFS redirects to a datanode."""
        quoted = urllib.parse.quote(path)
        url = f"http://{self.web[node]}/webhdfs/v1{quoted}?user.name={user}"
        more = f"&permission={mode}" if mode else ""
        request = urllib.request.Request(f"{url}&op=CREATE&overwrite=true&noredirect=true{more}", method="PUT")
        self.send(request, content)

    def append(self, path, content, node=0, user="hdfs"):
        """Append to a file."""
        url = f"http://{self.web[node]}/webhdfs/v1{urllib.parse.quote(path)}?user.name={user}"
        self.send(urllib.request.Request(f"{url}&op=APPEND&noredirect=true", method="POST"), content)

    @staticmethod
    def send(request, content):
        """Send the content to the datanode that the namenode's answer names."""
        with OPENER.open(request, timeout=60) as answer:
            where = urllib.parse.quote(json.load(answer)["Location"], safe=string.punctuation)  # not all of it is
        OPENER.open(urllib.request.Request(where, data=content, method=request.get_method()), timeout=60).close()


def missing():
    """Return the missing tools; None if all exist."""
    return None if shutil.which("java") else "there is no java; apt-get install openjdk-17-jre-headless"
