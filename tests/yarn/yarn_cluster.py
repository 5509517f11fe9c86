"""Genuine YARN and HDFS for as long as a test runs: ResourceManagers, NodeManagers, a NameNode and a DataNode, on loopback.

Every port is ephemeral, so that it runs beside other clusters. The jars are those of Maven Central, resolved with our
own --packages, which verifies their checksums, and kept in ~/.cache/firesteel-check-yarn.
"""
import json
import os
import signal
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "hdfs"))

import hadoop  # noqa: E402
from hadoop import free_ports, wait_until  # noqa: E402

MODULES = (*hadoop.MODULES, "hadoop-yarn-server-resourcemanager", "hadoop-yarn-server-nodemanager", "hadoop-yarn-client",
           "hadoop-yarn-server-timelineservice")
SERVER = "org.apache.hadoop.yarn.server"
MAIN_CLASSES = {"nn": hadoop.NAMENODE, "dn": hadoop.DATANODE, "rm": f"{SERVER}.resourcemanager.ResourceManager",
                "nm": f"{SERVER}.nodemanager.NodeManager"}
RM_ADMIN = "org.apache.hadoop.yarn.client.cli.RMAdminCLI"
RM_SERVICES = ("address", "scheduler.address", "resource-tracker.address", "admin.address", "webapp.address")
NODE_MEMORY_MB = 1024
NODE_EXPIRY_MS = 3000  # after which a NodeManager that is silent is lost


class Yarn(hadoop.Daemons):
    """`conf` is the folder for HADOOP_CONF_DIR. Nodes have the hosts localhost and 127.0.0.2.

    @core and @yarn are more settings, @node those of NodeManagers, @sites more files with settings; with @hdfs there are a
    NameNode and a DataNode; with two @masters they are a pair of which the first becomes active; @environment is for the
    daemons.
    """

    def __init__(self, build, folder, nodes=2, masters=1, hdfs=True, core=None, yarn=None, more_hdfs=None, environment=None,
                 java_options=(), sites=None, node=None):
        super().__init__(folder)
        self.nodes, self.hdfs = nodes, hdfs
        self.more_environment, self.java_options = environment or {}, java_options
        self.masters = [f"rm{i + 1}" for i in range(masters)]
        self.make_folders("hdfs", "datanode", "static", "cluster", "node")
        os.makedirs(os.path.join(folder, "store"))
        self.class_path = os.pathsep.join([os.path.join(folder, "web"), *hadoop.jars(build, "check-yarn", MODULES)])
        self.core = {"hadoop.tmp.dir": f"{folder}/tmp", "hadoop.security.token.service.use_ip": "true", **(core or {})}
        self.sites = {**(sites or {}), "yarn-site.xml": {**self.master_settings(), **(yarn or {})}}
        if hdfs:
            self.core["fs.defaultFS"] = f"hdfs://127.0.0.1:{self.hdfs_settings(more_hdfs or {})}"
        self.sites["core-site.xml"] = self.core
        self.write_conf(self.conf, self.sites)
        for number in range(nodes):
            sites = dict(self.sites)
            sites["yarn-site.xml"] = {**sites["yarn-site.xml"], **self.node_settings(number), **(node or {})}
            self.write_conf(self.conf_of(f"nm{number + 1}"), sites)
        for master in self.masters if masters > 1 else ():
            sites = dict(self.sites)
            sites["yarn-site.xml"] = {**sites["yarn-site.xml"], "yarn.resourcemanager.ha.id": master}
            self.write_conf(self.conf_of(master), sites)

    def conf_of(self, name):
        special = os.path.join(self.folder, f"conf-{name}")
        return special if name.startswith("nm") or len(self.masters) > 1 and name.startswith("rm") else self.conf

    def write_conf(self, conf, sites):
        os.makedirs(conf, exist_ok=True)
        self.write_log_settings(conf)
        self.write(conf, "capacity-scheduler.xml", {"yarn.scheduler.capacity.root.queues": "default",
                                                    "yarn.scheduler.capacity.root.default.capacity": "100",
                                                    "yarn.scheduler.capacity.maximum-am-resource-percent": "1.0"})
        for name, values in sites.items():
            self.write(conf, name, values)

    def master_settings(self):
        values = {"yarn.resourcemanager.bind-host": "127.0.0.1",
                  "yarn.resourcemanager.recovery.enabled": "true",
                  "yarn.resourcemanager.store.class": f"{SERVER}.resourcemanager.recovery.FileSystemRMStateStore",
                  "yarn.resourcemanager.fs.state-store.uri": f"file://{self.folder}/store",
                  "yarn.resourcemanager.work-preserving-recovery.scheduling-wait-ms": "0",
                  "yarn.resourcemanager.nodemanagers.heartbeat-interval-ms": "200",
                  "yarn.nm.liveness-monitor.expiry-interval-ms": str(NODE_EXPIRY_MS),
                  "yarn.resourcemanager.connect.retry-interval.ms": "300",
                  "yarn.client.failover-sleep-base-ms": "100",
                  "yarn.scheduler.minimum-allocation-mb": "64",
                  "yarn.timeline-service.enabled": "false",
                  "yarn.webapp.ui2.enable": "false"}
        self.web = []
        for master in self.masters:
            suffix = f".{master}" if len(self.masters) > 1 else ""
            ports = dict(zip(RM_SERVICES, free_ports(len(RM_SERVICES))))
            values.update({f"yarn.resourcemanager.{name}{suffix}": f"127.0.0.1:{port}" for name, port in ports.items()})
            values[f"yarn.resourcemanager.hostname{suffix}"] = "127.0.0.1"
            self.web.append(f"127.0.0.1:{ports['webapp.address']}")
        if len(self.masters) > 1:
            values.update({"yarn.resourcemanager.ha.enabled": "true",
                           "yarn.resourcemanager.ha.rm-ids": ",".join(self.masters),
                           "yarn.resourcemanager.cluster-id": "check",
                           "yarn.resourcemanager.ha.automatic-failover.enabled": "false"})
        return values

    def node_settings(self, node):
        host, (address, localizer, web) = f"127.0.0.{node + 1}", free_ports(3)
        data = f"{self.folder}/nm{node + 1}"
        return {"yarn.nodemanager.hostname": host, "yarn.nodemanager.bind-host": host,
                "yarn.nodemanager.address": f"{host}:{address}", "yarn.nodemanager.localizer.address": f"{host}:{localizer}",
                "yarn.nodemanager.webapp.address": f"{host}:{web}",
                "yarn.nodemanager.local-dirs": f"{data}/local", "yarn.nodemanager.log-dirs": f"{data}/log",
                "yarn.nodemanager.resource.memory-mb": str(NODE_MEMORY_MB), "yarn.nodemanager.resource.cpu-vcores": "8",
                "yarn.nodemanager.vmem-check-enabled": "false", "yarn.nodemanager.pmem-check-enabled": "false",
                "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage": "100",
                "yarn.nodemanager.sleep-delay-before-sigkill.ms": "100"}

    def hdfs_settings(self, more):
        rpc, self.hdfs_web, data, data_web, data_ipc = free_ports(5)
        self.sites["hdfs-site.xml"] = {
            "dfs.namenode.rpc-address": f"127.0.0.1:{rpc}", "dfs.namenode.http-address": f"127.0.0.1:{self.hdfs_web}",
            "dfs.namenode.name.dir": f"file://{self.folder}/nn", "dfs.datanode.data.dir": f"file://{self.folder}/dn",
            "dfs.datanode.address": f"127.0.0.1:{data}", "dfs.datanode.http.address": f"127.0.0.1:{data_web}",
            "dfs.datanode.ipc.address": f"127.0.0.1:{data_ipc}", "dfs.datanode.hostname": "127.0.0.1",
            "dfs.namenode.datanode.registration.ip-hostname-check": "false", "dfs.replication": "1",
            "dfs.namenode.safemode.extension": "0", "dfs.namenode.redundancy.considerLoad": "false", **more}
        return rpc

    # ------------------------------------------------------------------------------------------------ daemons

    def java(self, name, main, *words, memory="256m"):
        return ["java", *hadoop.JAVA_OPTIONS, f"-Xmx{memory}", *self.java_options, f"-Dhadoop.home.dir={self.folder}",
                f"-Dhadoop.log.dir={self.folder}/log", f"-Dyarn.log.dir={self.folder}/log",
                "-cp", f"{self.conf_of(name)}{os.pathsep}{self.class_path}", main, *words]

    def environment(self, name):
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("HADOOP_", "YARN_"))}
        return dict(kept, HADOOP_CONF_DIR=self.conf_of(name), **self.more_environment)

    def call(self, name, main, *words):
        return self.run_tool(self.java(name, main, *words), self.environment(name))

    def run(self, *names):
        for name in names:
            self.start_daemon(name, self.java(name, MAIN_CLASSES[name[:2]], memory="384m"), self.environment(name))

    def wait(self, what, condition):
        def is_so():
            self.check_alive()
            return condition()
        try:
            wait_until(what, is_so)
        except RuntimeError as e:
            logs = "".join(f"\n{name}:\n{self.log(name)[-2000:]}" for name in self.processes)
            raise RuntimeError(f"{e}{logs}") from e

    def active_nodes(self, master=0):
        metrics = self.bean(self.web[master], "Hadoop:service=ResourceManager,name=ClusterMetrics") or {}
        return metrics.get("NumActiveNMs")

    def start(self):
        names = [f"nm{i + 1}" for i in range(self.nodes)]
        if self.hdfs:
            self.call("nn", hadoop.NAMENODE, "-format", "-force", "-nonInteractive")
            self.run("nn", "dn")
        self.run(*self.masters, *names)
        if len(self.masters) > 1:
            for master in self.masters:
                self.wait(f"{master} as standby", lambda m=master: self.state_of(m) == "standby")
            self.make_active("rm1")
        self.wait("the NodeManagers at the ResourceManager", lambda: self.active_nodes() == self.nodes)
        if self.hdfs:
            self.wait("a NameNode with a DataNode", self.hdfs_is_up)

    def hdfs_is_up(self):
        system = self.bean(f"127.0.0.1:{self.hdfs_web}", "Hadoop:service=NameNode,name=FSNamesystemState") or {}
        return system.get("NumLiveDataNodes") == 1 and system.get("FSState") == "Operational"

    def write_file(self, path, content, user="root"):
        """A file of HDFS."""
        url = f"http://127.0.0.1:{self.hdfs_web}/webhdfs/v1{path}?op=CREATE&overwrite=true&user.name={user}&noredirect=true"
        with hadoop.OPENER.open(hadoop.urllib.request.Request(url, method="PUT"), timeout=30) as answer:
            location = json.load(answer)["Location"]
        hadoop.OPENER.open(hadoop.urllib.request.Request(location, data=content, method="PUT"), timeout=30).close()

    def list_folder(self, path):
        """The names in a folder of HDFS."""
        url = f"http://127.0.0.1:{self.hdfs_web}/webhdfs/v1{path}?op=LISTSTATUS"
        with hadoop.OPENER.open(url, timeout=30) as answer:
            return [row["pathSuffix"] for row in json.load(answer)["FileStatuses"]["FileStatus"]]

    def read_folder(self, path):
        """{name: content} of the files in a folder of HDFS."""
        url = f"http://127.0.0.1:{self.hdfs_web}/webhdfs/v1{path}"
        contents = {}
        for name in self.list_folder(path):
            with hadoop.OPENER.open(f"{url}/{name}?op=OPEN", timeout=30) as answer:
                contents[name] = answer.read()
        return contents

    def state_of(self, master):
        try:
            with hadoop.OPENER.open(f"http://{self.web[self.masters.index(master)]}/ws/v1/cluster/info", timeout=10) as answer:
                return json.load(answer)["clusterInfo"]["haState"].lower()
        except (OSError, ValueError, KeyError):
            return None

    def make_active(self, master, *options):
        self.call(master, RM_ADMIN, "-transitionToActive", *options, master)

    def kill_containers(self, name):
        """What a NodeManager that was killed has left: its containers lead sessions of their own."""
        private = os.path.join(self.folder, name, "local", "nmPrivate")
        for folder, _, files in os.walk(private):
            for file in files:
                if not file.endswith(".pid"):
                    continue
                with open(os.path.join(folder, file), encoding="ascii") as content:
                    pid = content.read().strip()
                try:
                    os.killpg(int(pid), signal.SIGKILL)
                except (ValueError, ProcessLookupError):
                    pass

    def stop(self, *names):
        super().stop(*names)
        for node in range(self.nodes):
            self.kill_containers(f"nm{node + 1}")
