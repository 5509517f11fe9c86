"""Where executors of native applications run on genuine YARN, and how applications fare there.

Racks, block locations, node labels, resource types, GPUs, excluded hosts, nodes that leave; containers that YARN kills;
exit codes of the ApplicationMaster; ResourceManagers that are started again or replaced.
"""
import glob
import json
import os
import re
import subprocess
import time

import native
import observed
from yarn_cluster import RM_ADMIN, Yarn, hadoop, wait_until

HERE = os.path.dirname(os.path.abspath(__file__))
WHERE = os.path.join(HERE, "where.c")
HISTORY = "http://${hadoopconf-test.history.host}:18080"
NEAR, FAR = "localhost", "127.0.0.2"  # the hosts of the NodeManagers nm1 and nm2
UNMANAGED = {"spark.yarn.unmanagedAM.enabled": "true"}
DYNAMIC = {"spark.dynamicAllocation.enabled": "true", "spark.dynamicAllocation.shuffleTracking.enabled": "true",
           "spark.dynamicAllocation.minExecutors": "0", "spark.executor.instances": "0", "spark.dynamicAllocation.schedulerBacklogTimeout": "1s"}
SITES = {
    "resource-types.xml": {"yarn.resource-types": "widget,yarn.io/gpu"},
    "node-resources.xml": {"yarn.nodemanager.resource-type.widget": "3", "yarn.nodemanager.resource-type.yarn.io/gpu": "2"},
    "capacity-scheduler.xml": {
        "yarn.scheduler.capacity.root.queues": "default",
        "yarn.scheduler.capacity.root.default.capacity": "100",
        "yarn.scheduler.capacity.maximum-am-resource-percent": "1.0",
        "yarn.scheduler.capacity.node-locality-delay": "40",
        "yarn.scheduler.capacity.rack-locality-additional-delay": "40",
        "yarn.scheduler.capacity.resource-calculator": "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator",
        "yarn.scheduler.capacity.root.accessible-node-labels": "*",
        "yarn.scheduler.capacity.root.accessible-node-labels.fast.capacity": "100",
        "yarn.scheduler.capacity.root.default.accessible-node-labels": "*",
        "yarn.scheduler.capacity.root.default.accessible-node-labels.fast.capacity": "100"},
}
# The urgent queue takes its half back at once; the patient one may have the whole cluster until then.
QUEUES = {"capacity-scheduler.xml": {
    "yarn.scheduler.capacity.root.queues": "patient,urgent",
    "yarn.scheduler.capacity.resource-calculator": SITES["capacity-scheduler.xml"]["yarn.scheduler.capacity.resource-calculator"],
    "yarn.scheduler.capacity.maximum-am-resource-percent": "1.0",
    **{f"yarn.scheduler.capacity.root.{queue}.{key}": value for queue in ("patient", "urgent")
       for key, value in (("capacity", "50"), ("maximum-capacity", "100"), ("user-limit-factor", "2"))}}}
PREEMPTION = {"yarn.node-labels.enabled": "false", "yarn.resourcemanager.scheduler.monitor.enable": "true",
              **{f"yarn.resourcemanager.monitor.capacity.preemption.{key}": value for key, value in (
                  ("monitoring_interval", "200"), ("max_wait_before_kill", "400"), ("total_preemption_per_round", "1.0"),
                  ("natural_termination_factor", "1.0"))}}


class Cluster(Yarn):
    """A cluster with racks, labels, resource types and a list of nodes that leave. The DataNode is on FAR."""

    def __init__(self, build, folder, more_yarn=None, more_sites=None, **more):
        os.makedirs(folder)
        self.leaving, script = os.path.join(folder, "leaving"), os.path.join(folder, "topology")
        with open(self.leaving, "w", encoding="utf-8"):
            pass
        with open(script, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\nfor x; do case $x in 127.0.0.2) echo /west;; *) echo /east;; esac; done\n")
        os.chmod(script, 0o755)
        yarn = {"yarn.node-labels.enabled": "true", "yarn.node-labels.fs-store.root-dir": f"file://{folder}/labels",
                "yarn.resourcemanager.nodes.exclude-path": self.leaving, **(more_yarn or {})}
        super().__init__(build, folder, core={"net.topology.script.file.name": script, "test.history.host": "history.example"},
                         yarn=yarn, sites={**SITES, **(more_sites or {})}, **more)

    def hdfs_settings(self, more):
        rpc = super().hdfs_settings(more)
        values = self.sites["hdfs-site.xml"]
        for name in ("address", "http.address", "ipc.address"):
            values[f"dfs.datanode.{name}"] = values[f"dfs.datanode.{name}"].replace("127.0.0.1", "0.0.0.0")
        values["dfs.datanode.hostname"] = FAR
        return rpc

    def staged(self):
        """Settings for applications on a cluster without HDFS."""
        return {"spark.yarn.stagingDir": f"file:{self.folder}/staging", "spark.firesteel.yarn.cacheDir": f"file:{self.folder}/cache"}

    def node_settings(self, node):
        return {**super().node_settings(node), "yarn.nodemanager.pmem-check-enabled": "true",
                "yarn.nodemanager.container-monitor.interval-ms": "300"}

    def admin(self, *words):
        return self.call(self.masters[0], RM_ADMIN, *words)

    def container_log(self, container, name="stderr"):
        texts = []
        for path in glob.glob(os.path.join(self.folder, "nm*", "log", "*", container, name)):
            with open(path, encoding="utf-8", errors="replace") as file:
                texts.append(file.read())
        return "\n".join(texts)

    def am_log(self, app, attempt=1):
        return self.container_log(f"container*_{app.removeprefix('application_')}_{attempt:02d}_000001")

    def report(self, app, master="rm1"):
        """The ResourceManager's report; empty before the application is submitted."""
        web = self.web[self.masters.index(master)]
        try:
            with hadoop.OPENER.open(f"http://{web}/ws/v1/cluster/apps/{app}", timeout=10) as answer:
                return json.load(answer)["app"]
        except hadoop.urllib.request.HTTPError:
            return {}

    def resource_seconds(self, app, name):
        """How much of a resource an application used that ends now. The report has a key "entry" for each resource."""
        self.end_of(app)
        with hadoop.OPENER.open(f"http://{self.web[0]}/ws/v1/cluster/apps/{app}", timeout=10) as answer:
            found = re.search(f'"key":"{name}","value":"?([0-9]+)', answer.read().decode())
        return int(found.group(1)) if found else 0

    def end_of(self, app, master="rm1"):
        """The report of an application that ends now."""
        wait_until(f"the end of {app}", lambda: self.report(app, master).get("state") in ("FINISHED", "FAILED", "KILLED"))
        return self.report(app, master)

    def history_link(self, app):
        """Where the proxy of the ResourceManager sends a browser for an application that has ended."""
        class Stay(hadoop.urllib.request.HTTPRedirectHandler):
            def redirect_request(self, *_):
                return None
        opener = hadoop.urllib.request.build_opener(hadoop.urllib.request.ProxyHandler({}), Stay)
        try:
            with opener.open(f"http://{self.web[0]}/proxy/{app}/", timeout=10) as answer:
                return answer.read().decode()
        except hadoop.urllib.request.HTTPError as error:
            return error.headers.get("Location", str(error))


class Where(native.Application):
    """Runs where.c: `run(mode, tasks, file, conf)`."""

    def words(self, mode, tasks, file="", conf=None, options=()):
        conf = {"spark.executor.memoryOverhead": "64m", "spark.yarn.report.interval": "100ms", "spark.yarn.am.memory": "64m",
                "spark.yarn.am.memoryOverhead": "64m", "spark.driver.memoryOverhead": "64m",
                "spark.yarn.maxAppAttempts": "1", "spark.executor.instances": "2", **(conf or {})}
        pairs = [word for key, value in conf.items() for word in ("--conf", f"{key}={value}")]
        return [self.program, "--master", "yarn", "--executor-memory", "64m", "--driver-memory", "64m", *pairs, *options, WHERE,
                mode, str(tasks), file]

    def run(self, mode, tasks=4, file="", conf=None, options=()):
        return subprocess.run(self.words(mode, tasks, file, conf, options), cwd=self.folder, env=self.environment, text=True,
                              capture_output=True, timeout=120, stdin=subprocess.DEVNULL, check=False)

    def start(self, mode, tasks=4, file="", conf=None, options=()):
        return subprocess.Popen(self.words(mode, tasks, file, conf, options), cwd=self.folder, env=self.environment, text=True,
                                stdout=subprocess.PIPE, stderr=open(os.path.join(self.folder, "log"), "w", encoding="utf-8"),
                                stdin=subprocess.DEVNULL)

    def log(self):
        with open(os.path.join(self.folder, "log"), encoding="utf-8") as file:
            return file.read()

    def wait_log(self, text):
        wait_until(f"\"{text}\" in the log", lambda: text in self.log())


def hosts_of(done):
    return set(re.findall(r"^host (\S+)", done.stdout, re.M))


def check_resources(yarn, where, expect):
    done = where.run("where", 2, conf={"spark.yarn.executor.resource.widget.amount": "1", "spark.executor.instances": "2"})
    app = native.id_of(done)
    expect("executors get a custom resource", done.stderr + yarn.am_log(app), done.returncode == 0 and
           "with custom resources: widget: 1" in yarn.am_log(app))
    for role, options in (("am", ()), ("driver", ("--deploy-mode", "cluster"))):
        done = where.run("where", 2, conf={f"spark.yarn.{role}.resource.widget.amount": "3"}, options=options)
        used = yarn.resource_seconds(native.id_of(done), "widget")
        expect(f"… the ApplicationMaster, too, with spark.yarn.{role}.resource.*", done.stderr, done.returncode == 0 and used > 0)
    done = where.run("where", 2, conf={"spark.yarn.executor.resource.widget.amount": "9", **UNMANAGED})
    expect("… more than a node has is refused with YARN's sentence", done.stderr, done.returncode == 1 and
           "widget" in done.stderr and "greater than maximum allowed allocation" in done.stderr)
    done = where.run("where", 2, conf={"spark.yarn.executor.resource.gadget.amount": "1", **UNMANAGED})
    expect("… one that the cluster does not know is ignored, as YARN does, with a warning", done.stderr,
           done.returncode == 0 and "YARN doesn't know about resource gadget" in done.stderr)
    script = os.path.join(where.folder, "gpus")
    with open(script, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\necho '{\"name\": \"gpu\", \"addresses\": [\"7\"]}'\n")
    os.chmod(script, 0o755)
    done = where.run("where", 2, conf={"spark.executor.resource.gpu.amount": "1", "spark.task.resource.gpu.amount": "1",
                                       "spark.executor.resource.gpu.discoveryScript": script})
    log = yarn.am_log(native.id_of(done))
    expect("executors get a GPU from YARN, and tasks its address", done.stdout + done.stderr + log, done.returncode == 0 and
           "with custom resources: yarn.io/gpu: 1" in log and "gpu 7" in done.stdout)


def check_labels(yarn, where, expect):
    yarn.admin("-addToClusterNodeLabels", "fast(exclusive=true)")
    yarn.admin("-replaceLabelsOnNode", f"{FAR}=fast")
    done = where.run("where", 4, conf={"spark.yarn.executor.nodeLabelExpression": "fast"})
    expect("executors run on the nodes with the label", done.stdout + done.stderr, done.returncode == 0 and
           hosts_of(done) == {FAR})
    done = where.run("where", 4)
    expect("… and those without one elsewhere", done.stdout + done.stderr, done.returncode == 0 and FAR not in hosts_of(done))
    done = where.run("where", 2, conf={"spark.yarn.am.nodeLabelExpression": "fast"})
    report = yarn.end_of(native.id_of(done))
    expect("… an ApplicationMaster on a node with its own label", (done.stdout + done.stderr, report), done.returncode == 0 and
           FAR not in hosts_of(done) and report["amHostHttpAddress"].startswith(f"{FAR}:"))
    done = where.run("where", 2, conf={"spark.yarn.executor.nodeLabelExpression": "slow", **UNMANAGED})
    expect("… an unknown label fails the application", done.stderr, done.returncode == 1 and "slow" in done.stderr)
    yarn.admin("-replaceLabelsOnNode", f"{FAR}=")
    yarn.admin("-removeFromClusterNodeLabels", "fast")


def check_locality(yarn, where, expect):
    """The only DataNode is on FAR: containers are asked for there, and in its rack."""
    path = "/where.txt"
    yarn.write_file(path, b"one\n" * 3)
    done = where.run("lines", 1, yarn.core["fs.defaultFS"] + path, conf=DYNAMIC)
    log = yarn.am_log(native.id_of(done))
    expect("executors are asked for where the blocks are", done.stdout + done.stderr + log, done.returncode == 0 and
           f"Submitted container request for host {FAR}." in log and hosts_of(done) == {FAR})
    script = os.path.join(where.folder, "one rack")
    with open(script, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\nfor x; do echo /one; done\n")
    os.chmod(script, 0o755)
    done = where.run("lines", 1, yarn.core["fs.defaultFS"] + path,
                     conf={"spark.yarn.exclude.nodes": FAR, "spark.locality.wait.node": "0",
                           "spark.hadoop.net.topology.script.file.name": script})
    expect("tasks run in the rack of their blocks", done.stderr, done.returncode == 0 and "RACK_LOCAL" in done.stderr and
           hosts_of(done) == {NEAR})


def check_exclusion(yarn, where, expect):
    conf = {"spark.excludeOnFailure.enabled": "true", "spark.excludeOnFailure.application.maxFailedTasksPerExecutor": "1",
            "spark.excludeOnFailure.application.maxFailedExecutorsPerNode": "1", "spark.task.maxFailures": "9",
            "spark.excludeOnFailure.killExcludedExecutors": "true", "spark.executor.instances": "4"}
    line = f"adding nodes to YARN application master's excluded node list: List({FAR})"
    for name, more in (("an ApplicationMaster in a container", {}), ("the driver", UNMANAGED)):
        done = where.run("fail", 12, conf={**conf, **more})
        log = yarn.am_log(native.id_of(done)) if not more else done.stderr
        expect(f"a host that the scheduler excludes is reported to YARN by {name}", done.stderr + log, done.returncode == 0 and
               line in log and FAR not in hosts_of(done))


def check_failures(yarn, where, expect):
    done = where.run("crash", 2, conf={"spark.yarn.max.executor.failures": "2", "spark.task.maxFailures": "50"})
    app = native.id_of(done)
    expect("too many failed executors fail the application", done.stderr, done.returncode == 1 and
           "Max number of executor failures (2) reached" in done.stderr)
    expect("… with the exit code 11", yarn.am_log(app), "exitCode: 11" in yarn.am_log(app))
    expect("… and FAILED", yarn.report(app), yarn.end_of(app)["finalStatus"] == "FAILED")


def check_early_end(yarn, where, expect):
    done = where.run("sleep", 1, conf={"spark.yarn.am.waitTime": "1s"}, options=("--deploy-mode", "cluster"))
    app = native.id_of(done)
    log = yarn.am_log(app)
    expect("a driver without a context fails after spark.yarn.am.waitTime", done.stderr + log, done.returncode == 1 and
           "SparkContext did not initialize after waiting for 1000 ms." in log and "exitCode: 13" in log and
           "Timed out waiting for SparkContext." in done.stderr)
    done = where.run("leave", 1, options=("--deploy-mode", "cluster"))
    log = yarn.am_log(native.id_of(done))
    expect("a driver that calls exit() fails the application", done.stderr + log, done.returncode == 1 and
           "exitCode: 16" in log and "Shutdown hook called before final status was reported." in done.stderr)


def check_history(yarn, where, expect):
    for mode, conf, options in (("client mode", {}, ()), ("client mode, unmanaged", UNMANAGED, ()),
                                ("cluster mode", {}, ("--deploy-mode", "cluster"))):
        done = where.run("where", 1, conf={"spark.yarn.historyServer.address": HISTORY, **conf}, options=options)
        app = native.id_of(done)
        report = yarn.end_of(app)
        expect(f"YARN links the application's history in {mode}", f"{report}\n{done.stderr}", done.returncode == 0 and
               report["finalStatus"] == "SUCCEEDED" and
               f"http://history.example:18080/history/{app}/1" in yarn.history_link(app))


def check_leaving(yarn, where, expect):
    """Executors on a node that is decommissioned gracefully finish their tasks and are replaced elsewhere."""
    gate = os.path.join(where.folder, "gate")
    conf = {"spark.decommission.enabled": "true", "spark.executor.instances": "4"}
    process = where.start("wait", 8, gate, conf={**conf, **UNMANAGED})
    wait_until("executors on both nodes", lambda: len(set(re.findall(r"on host (\S+) for executor", where.log()))) == 2 and
               where.log().count("Registered executor") == 4)
    with open(yarn.leaving, "w", encoding="utf-8") as file:
        file.write(f"{FAR}\n")
    yarn.admin("-refreshNodes", "-g", "3600", "-server")
    where.wait_log(f"YARN is decommissioning the node {FAR}")
    with open(gate, "w", encoding="utf-8"):
        pass
    output, _ = process.communicate(timeout=300)
    expect("executors on a node that is being decommissioned finish", where.log(), process.returncode == 0 and
           len(re.findall(r"^host ", output, re.M)) == 8)
    with open(yarn.leaving, "w", encoding="utf-8"):
        pass
    yarn.admin("-refreshNodes")
    wait_until("the end of the NodeManager", lambda: yarn.processes["nm2"].poll() is not None)
    yarn.run("nm2")
    yarn.wait("the NodeManager, which was started again", lambda: yarn.active_nodes() == 2)


def check_restart(yarn, where, expect):
    """The ResourceManager is started again while a native application runs, in both modes."""
    for mode, options in (("client mode", ()), ("cluster mode", ("--deploy-mode", "cluster"))):
        gate = os.path.join(where.folder, f"gate {mode}")
        process = where.start("wait", 4, gate, options=options)
        where.wait_log("application_")
        app = re.search(r"application_\d+_\d+", where.log()).group()
        wait_until("two executors", lambda app=app: yarn.report(app).get("runningContainers") == 3)
        time.sleep(1)  # until the NodeManagers have reported them
        yarn.kill("rm1")
        time.sleep(1)
        yarn.run("rm1")
        yarn.wait("the NodeManagers at the new ResourceManager", lambda: yarn.active_nodes() == yarn.nodes)
        with open(gate, "w", encoding="utf-8"):
            pass
        output, _ = process.communicate(timeout=90)
        log = where.log() + yarn.am_log(app)
        expect(f"an application in {mode} survives a restart of the ResourceManager", output + log, process.returncode == 0)
        expect("… registers again and loses no executor", log, "registering again" in log and "Lost executor" not in log)
        expect("… and has succeeded", yarn.report(app), yarn.end_of(app)["finalStatus"] == "SUCCEEDED")


CASES = {"resources": check_resources, "labels": check_labels, "locality": check_locality, "exclusion": check_exclusion,
         "failures": check_failures, "early_end": check_early_end, "history": check_history, "job_restart": check_restart, "leaving": check_leaving}


def check(build, folder, cases, expect):
    with Cluster(build, os.path.join(folder, "allocation")) as yarn:
        for name, case in CASES.items():
            if not cases or name in cases:
                case(yarn, Where(build, yarn, os.path.join(folder, f"where {name}")), expect)


def check_failover(build, folder, expect):
    """Another ResourceManager becomes active while a native application runs: with the driver here, and in a container."""
    with Cluster(build, os.path.join(folder, "native-pair"), masters=2, hdfs=False) as yarn:
        where = Where(build, yarn, os.path.join(folder, "where failover"))
        active, standby = "rm1", "rm2"
        # The proxies ask from loopback, so the drivers' pages must be there, too.
        for mode, conf, options in (
                ("an unmanaged ApplicationMaster", {**UNMANAGED, "spark.driver.host": "127.0.0.1"}, ()),
                ("cluster mode", {"spark.yarn.appMasterEnv.SPARK_PUBLIC_DNS": "127.0.0.1"}, ("--deploy-mode", "cluster"))):
            gate = os.path.join(folder, f"gate {mode}")
            process = where.start("wait", 4, gate, conf={**yarn.staged(), **conf}, options=options)
            where.wait_log("application_")
            app = re.search(r"application_\d+_\d+", where.log()).group()

            def log(app=app):
                return where.log() + yarn.am_log(app)
            wait_until("two executors", lambda: log().count("Registered executor") == 2)
            time.sleep(1)
            observed.check_active_redirect(yarn, active, app, log, mode, expect)
            yarn.kill(active)
            yarn.make_active(standby, "--forceactive")
            wait_until("the second registration", lambda: "registering again" in log())
            observed.check_active_redirect(yarn, standby, app, log, mode, expect)
            with open(gate, "w", encoding="utf-8"):
                pass
            output, _ = process.communicate(timeout=90)
            rows = output + yarn.container_log(f"container*_{app.removeprefix('application_')}_01_000001", "stdout")
            expect(f"an application with {mode} goes on with another ResourceManager, and loses no row", rows + log(),
                   process.returncode == 0 and "Lost executor" not in log() and len(re.findall(r"^host ", rows, re.M)) == 4)
            expect("… and has succeeded", yarn.report(app, standby), yarn.end_of(app, standby)["finalStatus"] == "SUCCEEDED")
            yarn.run(active)
            yarn.wait("the ResourceManager, which was started again", lambda name=active: yarn.state_of(name) == "standby")
            active, standby = standby, active
        expect("… which the client of cluster mode has reported", where.log(), "final status: SUCCEEDED" in where.log())


def check_preemption(build, folder, expect):
    """A queue takes its share back from an application that has the whole cluster: with one failure allowed, no task fails."""
    with Cluster(build, os.path.join(folder, "queues"), hdfs=False, nodes=1, more_yarn=PREEMPTION, more_sites=QUEUES) as yarn:
        where = Where(build, yarn, os.path.join(folder, "where preempted"))
        gate = os.path.join(folder, "gate preempted")
        process = where.start("wait", 14, gate, conf={**yarn.staged(), **UNMANAGED, "spark.executor.instances": "7", "spark.task.maxFailures": "1"},
                              options=("--queue", "patient"))
        wait_until("seven executors", lambda: where.log().count("Registered executor") == 7)
        other = Where(build, yarn, os.path.join(folder, "where urgent"))
        done = other.run("where", 3, conf={**yarn.staged(), **UNMANAGED, "spark.executor.instances": "3"}, options=("--queue", "urgent"))
        expect("a queue gets its share of the cluster", done.stderr, done.returncode == 0)
        expect("preempted executors are explained", where.log(), re.search(r"Container container\S* on host: \S+ was preempted\.",
                                                                           where.log()) and "exit status: -102" in where.log())
        with open(gate, "w", encoding="utf-8"):
            pass
        output, _ = process.communicate(timeout=90)
        expect("… their tasks run elsewhere, and count no failure", output + where.log(), process.returncode == 0 and
               len(re.findall(r"^host ", output, re.M)) == 14)
