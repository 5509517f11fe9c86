"""Executor pods outlive their driver, and the next one adopts them (docs/guide/resuming.md)."""
import pathlib
import sys

import pytest

from conditions import wait_until
from folders import TESTS
from pod_api_server import PodApiServer
from resume_test import BIN, Run, compile_application

sys.path.append(f"{TESTS}/cluster/kubernetes")
from process_kubelet import ProcessKubelet  # noqa: E402

NAMESPACE = "/api/v1/namespaces/default/"
OWNER = {"apiVersion": "batch/v1", "kind": "Job", "name": "saves", "uid": "u-1"}


@pytest.fixture(scope="module")
def application(tmp_path_factory):
    return compile_application(tmp_path_factory.mktemp("application"))


@pytest.fixture
def cluster(tmp_path):
    with PodApiServer() as server, ProcessKubelet(server, str(pathlib.Path(BIN).parent), tmp_path / "pods") as kubelet:
        server.kubelet = kubelet
        yield server


class InPods(Run):
    """An application whose driver is a process of this machine. @driver_pod: the name of the pod that it says to be."""

    def __init__(self, folder, application, cluster, phase, settings=(), driver_pod=None):
        conf = ["spark.executor.instances=2", "spark.executor.memory=200m", "spark.kubernetes.container.image=x", "spark.driver.host=127.0.0.1",
                "spark.kubernetes.executor.eventProcessingInterval=100ms", "spark.firesteel.resume.id=saves", *settings,
                *([f"spark.kubernetes.driver.pod.name={driver_pod}"] if driver_pod else [])]
        super().__init__(folder, application, f"k8s://{cluster.url}", phase, conf)
        self.cluster = cluster
        if driver_pod:
            cluster.kubelet.ignored.add(driver_pod)
            cluster.ask(NAMESPACE + "pods", "POST", {"apiVersion": "v1", "kind": "Pod", "metadata": {
                "name": driver_pod, "ownerReferences": [OWNER | {"controller": True}]}})

    def pods(self):
        return {pod["metadata"]["name"]: pod for pod in self.cluster.ask(NAMESPACE + "pods?labelSelector=spark-role%3Dexecutor")["items"]}

    def labels(self):
        """The applications that the pods say to be of."""
        return {pod["metadata"]["labels"]["spark-app-selector"] for pod in self.pods().values()}

    def executors(self):
        """{pod: pid}"""
        return {name: self.cluster.kubelet.processes[name].pid for name in self.pods()}

    def kill(self, phase, job, maps=False):
        """Kills the first driver at the gate. Returns what had run, and its executors."""
        self.start()
        self.wait_at_gate(phase, job, maps)
        before, executors = self.ran(), self.executors()
        assert len(executors) == 2
        self.processes[0].kill()
        self.processes[0].wait(timeout=120)
        return before, executors

    def finish(self):
        self.open_gate()
        assert self.processes[-1].wait(timeout=120) == 0, self.log(1)
        self.check(1)
        wait_until(lambda: not self.pods(), "the end of the pods", 90)


@pytest.fixture
def start(tmp_path, application, cluster):
    made = []

    def make(*arguments, **options):
        made.append(InPods(tmp_path, application, cluster, *arguments, **options))
        return made[-1]
    yield make
    for one in made:
        one.end()


@pytest.mark.parametrize("driver_pod", [None, "saves-1"])
def test_the_next_driver_goes_on_with_the_pods_of_the_first(start, driver_pod):
    app = start(3, driver_pod=driver_pod, settings=["spark.authenticate=true", "spark.io.encryption.enabled=true"])
    before, executors = app.kill(3, 2, maps=True)
    earlier = app.labels()
    app.start()
    wait_until(lambda: app.log(1).count("of the earlier driver is back") == 2, "the executors", 60)
    assert app.executors() == executors
    wait_until(lambda: not app.labels() & earlier, "the labels of the next driver", 90)
    assert all(pod["metadata"].get("ownerReferences") == ([OWNER] if driver_pod else None) for pod in app.pods().values())
    app.finish()
    again = app.ran()[len(before):]
    assert {task for task in again if task[0] in "123"} == {"3.3"}
    app.check_adopted(3, app.log(1))
    assert {path.stem for path in (app.folder / "pods").glob("*.log")} == set(executors)


def test_pods_that_end_between_drivers_are_replaced(start):
    app = start(2)
    _, executors = app.kill(2, 1)
    lost, stray = sorted(executors)[0], "stray"
    pod = app.pods()[lost]
    app.cluster.kubelet.ignored.add(stray)
    labels = pod["metadata"]["labels"] | {"spark-exec-id": "7"}
    app.cluster.ask(NAMESPACE + "pods", "POST", pod | {"metadata": {"name": stray, "labels": labels}})
    app.cluster.ask(NAMESPACE + f"pods/{lost}", "DELETE")
    app.start()
    wait_until(lambda: app.log(1).count("of the earlier driver is back") == 1, "the executors", 60)
    wait_until(lambda: sorted(pod["metadata"]["labels"]["spark-exec-id"] for pod in app.pods().values()) == ["2", "3"],
               "another executor, and the end of the stray pod", 60)
    app.finish()


def test_executors_that_may_not_wait_end_with_their_driver(start):
    app = start(2, settings=["spark.firesteel.resume.executorTimeout=0"], driver_pod="saves-1")
    app.start()
    app.wait_at_gate(2, 1)
    pods = app.pods().values()
    assert all(pod["metadata"]["ownerReferences"][0]["name"] == "saves-1" for pod in pods)
    assert not any("firesteel-journal" in pod["metadata"]["labels"] for pod in pods)
