"""The cluster managers for tests/executor_manager_cases.py, a fixture for each.

A fixture is a context manager with

    name                  for the labels of the cases
    environment           variables for applications
    master(n)             a master URL on which n executors of one core may run
    conf(n)               settings with which an application begins with n executors
    left()                objects left by ended applications, except processes
    sweep()               removes the objects of a killed driver
    spoil_secret(env, folder)   an executor's environment with a wrong secret, or None if it has none
    cases                 names of the cases that apply, or None for all
    start(app, n)         lets n executors start, if they start for tasks only
    executor_id(pid, words, app_id)   the id of the application's executor that the process with this command is, or None

No other fixture uses its folder.
"""
import pathlib
import sys

from conditions import wait_until
from folders import BIN, TESTS
from mesos.master import Master
from pod_api_server import PodApiServer
from standalone_cluster import Cluster

sys.path += [f"{TESTS}/cluster/kubernetes", f"{TESTS}/yarn"]
from fake_yarn import FakeYarn  # noqa: E402
from process_kubelet import ProcessKubelet  # noqa: E402

SECRET = "only-executors-of-this-application-know-it"  # of all applications of the suite
NAMESPACE = "/api/v1/namespaces/default/"


class Manager:
    """The fixture of a manager that leaves no objects and passes the secret in a variable."""
    environment = {}
    cases = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def conf(self, n):
        return []

    def left(self):
        return []

    def sweep(self):
        pass

    def start(self, app, n):
        pass

    def executor_id(self, pid, words, app_id):
        is_executor = "--executor-id" in words and f"--app-id {app_id}" in " ".join(words)
        return words[words.index("--executor-id") + 1] if is_executor else None

    def spoil_secret(self, environment, folder):
        spoilt = {k: "wrong" if v == SECRET else v for k, v in environment.items()}
        return spoilt if spoilt != environment else None


class LocalCluster(Manager):
    name = "local-cluster"

    def __init__(self, folder):
        pass

    def master(self, n):
        return f"local-cluster[{n},1,512]"


class Standalone(Manager):
    name = "standalone"

    def __init__(self, folder):
        self.cluster = Cluster(folder)

    def __enter__(self):
        secret = {"spark_authenticate": "true", "spark_authenticate_secret": SECRET}
        self.daemon = self.cluster.master(**secret)
        self.cluster.worker(self.daemon.url, cores=8, memory="4g", **secret)
        return self

    def __exit__(self, *_):
        self.cluster.close()

    def master(self, n):
        return self.daemon.url

    def conf(self, n):
        return [f"spark.cores.max={n}"]


class Kubernetes(Manager):
    """On any API server with a kubelet that runs pods as processes."""
    name = "kubernetes"

    def __init__(self, cluster, kubelet):
        self.cluster, self.kubelet = cluster, kubelet
        self.kubelet.grace = 1

    def master(self, n):
        return f"k8s://{self.cluster.url}"

    def conf(self, n):
        return [f"spark.executor.instances={n}", "spark.kubernetes.container.image=x", "spark.driver.host=127.0.0.1",
                "spark.kubernetes.executor.eventProcessingInterval=100ms", "spark.kubernetes.allocation.batch.delay=150ms",
                "spark.kubernetes.dynamicAllocation.deleteGracePeriod=1s"]

    def left(self):
        kinds = ("pods", "configmaps", "services", "persistentvolumeclaims")
        return [f"{kind}/{item['metadata']['name']}" for kind in kinds for item in self.cluster.ask(NAMESPACE + kind)["items"]
                if item["metadata"]["name"] not in ("kubernetes", "kube-root-ca.crt")]

    def sweep(self):
        for kind in ("pods", "configmaps"):
            self.cluster.ask(f"{NAMESPACE}{kind}?labelSelector=spark-role%3Dexecutor", "DELETE")


class KubernetesInMemory(Kubernetes):
    """Like Kubernetes, with tests/pod_api_server.py as API server."""

    def __init__(self, folder):
        server = PodApiServer()
        super().__init__(server, ProcessKubelet(server, str(pathlib.Path(BIN).parent), folder))

    def __enter__(self):
        self.cluster.__enter__()
        self.kubelet.__enter__()
        return self

    def __exit__(self, *_):
        self.kubelet.__exit__()
        self.cluster.__exit__()


class Yarn(Manager):
    """On tests/yarn/fake_yarn.py, with an ApplicationMaster in a container."""
    name = "yarn"
    cache = None  # has the archive of Firesteel; that of the first cluster

    def __init__(self, folder):
        self.folder, self.yarn = folder, FakeYarn(folder / "yarn")
        Yarn.cache = Yarn.cache or folder / "cache"
        self.environment = {"HADOOP_CONF_DIR": self.yarn.conf}

    def __exit__(self, *_):
        self.yarn.__exit__()

    def master(self, n):
        return "yarn"

    def conf(self, n):
        return [f"spark.executor.instances={n}", "spark.driver.host=127.0.0.1",
                f"spark.firesteel.yarn.cacheDir=file:{self.cache}", "spark.yarn.scheduler.heartbeat.interval-ms=100",
                "spark.yarn.scheduler.initial-allocation.interval=50ms", "spark.yarn.report.interval=100ms"]

    def left(self):
        with self.yarn.lock:
            return [a.name for a in self.yarn.submitted() if not a.is_over] + [
                c.name for c in self.yarn.containers.values() if not c.is_complete]

    def spoil_secret(self, environment, folder):
        """The secret is in the container's credentials."""
        path = environment["HADOOP_TOKEN_FILE_LOCATION"]
        tokens = pathlib.Path(path).read_bytes()
        if SECRET.encode() not in tokens or SECRET in environment.values():
            return None
        spoilt = folder / "spoilt_tokens"
        spoilt.write_bytes(tokens.replace(SECRET.encode(), b"x" * len(SECRET)))
        return dict(environment, HADOOP_TOKEN_FILE_LOCATION=str(spoilt))


class Mesos(Manager):
    """On tests/mesos/master.py, with one agent for each executor that a case may have."""
    name = "mesos"

    def __init__(self, folder):
        self.mesos = Master(folder)

    def __enter__(self):
        self.mesos.__enter__()
        self.add_agents()
        return self

    def add_agents(self):
        for _ in range(8):
            self.mesos.add_agent("cpus:1;mem:2048")

    def __exit__(self, *_):
        self.mesos.__exit__()

    def master(self, n):
        return f"mesos://{self.mesos.address}"

    def conf(self, n):
        return [f"spark.cores.max={n}", "spark.executor.cores=1", "spark.driver.host=127.0.0.1",
                f"spark.mesos.executor.home={pathlib.Path(BIN).parent.parent}"]

    def left(self):
        with self.mesos.lock:
            return [f"{f.id}" for f in self.mesos.frameworks.values() if f.stream]


class MesosFine(Mesos):
    """In fine-grained mode an agent starts its executor for the first task there, and its id is the executor's. Each agent runs one task.
    Executors do not follow numbers, and no process but the agent's child can take the place of one."""
    name = "mesos-fine"
    cases = ("registration", "stopping", "orphans")

    def conf(self, n):
        return ["spark.mesos.coarse=false", "spark.mesos.mesosExecutor.cores=0.5", *super().conf(n)]

    def add_agents(self):
        for _ in range(2):
            self.mesos.add_agent("cpus:1.5;mem:2048")

    def start(self, app, n):
        gate = app.folder / "first"
        app.begin(f"gated {n} {gate}")
        wait_until(lambda: app.started() >= n, "a task on each executor")
        gate.touch()
        app.answer()

    def executor_id(self, pid, words, app_id):
        if "mesos-executor" not in words:
            return None
        with open(f"/proc/{pid}/environ", "rb") as file:
            variables = file.read().decode(errors="replace").split("\0")
        names = [v.partition("=")[2] for v in variables if v.startswith("MESOS_EXECUTOR_ID=")]
        return names[0] if f"MESOS_FRAMEWORK_ID={app_id}" in variables and names else None


MANAGERS = (LocalCluster, Standalone, KubernetesInMemory, Yarn, Mesos, MesosFine)
