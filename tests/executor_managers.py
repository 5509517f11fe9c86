"""The cluster managers for tests/executor_manager_cases.py, a fixture for each.

A fixture is a context manager with

    name                  for the labels of the cases
    master(n)             a master URL on which n executors of one core may run
    conf(n)               settings with which an application begins with n executors
    left()                objects left by ended applications, except processes
    sweep()               removes the objects of a killed driver

No other fixture uses its folder.
"""
import pathlib
import sys

from pod_api_server import PodApiServer
from standalone_cluster import BIN, Cluster

sys.path.append(str(pathlib.Path(__file__).resolve().parent / "cluster" / "kubernetes"))
from process_kubelet import ProcessKubelet  # noqa: E402

SECRET = "only-executors-of-this-application-know-it"  # of all applications of the suite
NAMESPACE = "/api/v1/namespaces/default/"


class LocalCluster:
    name = "local-cluster"

    def __init__(self, folder):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def master(self, n):
        return f"local-cluster[{n},1,512]"

    def conf(self, n):
        return []

    def left(self):
        return []

    def sweep(self):
        pass


class Standalone:
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

    def left(self):
        return []

    def sweep(self):
        pass


class Kubernetes:
    """On any API server with a kubelet that runs pods as processes."""
    name = "kubernetes"

    def __init__(self, cluster, kubelet):
        self.cluster, self.kubelet = cluster, kubelet
        self.kubelet.grace = 1

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

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


MANAGERS = (LocalCluster, Standalone, KubernetesInMemory)
