"""A part of check_node: a driver's process is killed in mid-stage, and the driver of the next pod goes on with its journal.

The SparkApplication and the Job are those of docs/guide/resuming.md.
"""
import contextlib
import json
import pathlib
import re
import shutil
import subprocess

from cluster import TIMEOUT, expect, wait_for

GUIDE = pathlib.Path(__file__).resolve().parents[3] / "docs" / "guide" / "resuming.md"
ROWS, PARTITIONS, GATED = 800, 8, 3  # of applications/saves.c


def manifest(kind, image):
    """The object of @kind that the guide shows, for @image and without its long pause between attempts."""
    blocks = re.findall(r"(?:^(?: {4}.*)?\n)+", GUIDE.read_text(), re.M)
    [text] = [block for block in blocks if f"\n    kind: {kind}\n" in block]
    for old, new in (("registry.example/team/saves:1", image), ("onFailureRetryInterval: 10", "onFailureRetryInterval: 1")):
        text = text.replace(old, new)
    return text


class Shared:
    """The volume that all pods have as /shared, with the journals, the output, and the trace of tasks."""

    def __init__(self, folder, n):
        self.folder = folder
        folder.mkdir()
        folder.chmod(0o777)
        common = {"storageClassName": "by-hand", "accessModes": ["ReadWriteMany"]}
        n.apply(json.dumps({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": f"shared-{n.name}"}, "spec": {
            **common, "capacity": {"storage": "1Gi"}, "hostPath": {"path": str(folder)},
            "claimRef": {"namespace": n.name, "name": "shared"}}}))
        n.apply(json.dumps({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "shared"}, "spec": {
            **common, "resources": {"requests": {"storage": "1Gi"}}}}))

    def runs(self):
        path = self.folder / "runs"
        return path.read_text().split() if path.exists() else []

    def committed(self):
        return {path.name for path in (self.folder / "out").glob("**/task_*/part-*")} | {p.name for p in (self.folder / "out").glob("part-*")}

    def is_at_gate(self):
        return len(self.committed()) == PARTITIONS - 1 and f"1.{GATED}" in self.runs()

    def open_gate(self):
        (self.folder / "go").write_text("")

    def clear(self):
        for path in self.folder.iterdir():
            shutil.rmtree(path, ignore_errors=True)

    def journals(self):
        return [path.name for path in (self.folder / "journals").iterdir()]

    def check(self, what, before, log):
        """The output is that of an undisturbed run, and tasks that had committed did not run again."""
        expect(f"{what} goes on: the finished job returns its journaled result", f"Saved {ROWS} rows, resumed 1\n" in log and
               "as its driver number 2" in log, f"{self.runs()}\n{log}")
        expect("… the save adopts the task that had not committed: no task begins again", self.runs() == before and
               f"{PARTITIONS - 1} of {PARTITIONS} results are those of earlier drivers" in log and
               "1 tasks that an earlier driver launched are adopted" in log, f"{self.runs()[len(before):]}\n{log}")
        found = sorted(path.name for path in (self.folder / "out").iterdir())
        parts = [f"part-{i:05}" for i in range(PARTITIONS)]
        text = "".join((self.folder / "out" / part).read_text() for part in parts if part in found)
        expect("… the output is whole, with one _SUCCESS", found == ["_SUCCESS", *parts] and
               text == "".join(f"{i}\n" for i in range(ROWS)), f"{found}\n{text[:1000]}")
        expect("… no journal is left", self.journals() == [], self.journals())


def executors(n):
    """{name: (uid, what owns it)} of the pods of executors that run."""
    return {p["metadata"]["name"]: (p["metadata"]["uid"], [o["kind"] for o in p["metadata"]["ownerReferences"]])
            for p in n.executor_pods() if p["status"]["phase"] == "Running"}


def both_executors(n):
    """They may run before the API server says so."""
    wait_for(lambda: len(executors(n)) == 2, lambda: f"two executors: {n.executor_pods()}")
    return executors(n)


def wait_for_executors(n, before, owner, log):
    """Until the next driver has those of the first one, whose log the function @log returns."""
    wait_for(lambda: log().count("of the earlier driver is back") == len(before), lambda: f"executors to return: {log()}")
    expect("… the executors of the killed driver go on with the next one, in the same pods", executors(n) == before and
           all(kinds == [owner] for _, kinds in before.values()), f"{before}\n{executors(n)}")


def executors_ended(n):
    return all(p["status"]["phase"] in ("Succeeded", "Failed") for p in n.executor_pods())


def expect_nothing(n, owner):
    kinds = ("pods", "configmaps", "services")
    wait_for(lambda: not any(n.everything(kind) for kind in kinds), lambda: f"{[n.everything(kind) for kind in kinds]} to go")
    expect(f"… executors have ended, and pods, services and config maps go with the {owner}", True)


@contextlib.contextmanager
def operator(check, *namespaces):
    """The operator as a process beside the node. Yields a function that returns its log."""
    firesteel = [check.build / "src" / "firesteel", "operator"]
    crds = subprocess.run([*firesteel, "crds"], env=check.environment(), text=True, capture_output=True, timeout=TIMEOUT, check=True).stdout
    check.kubectl("apply", "-f", "-", text=crds)
    path = check.folder / f"operator-of-{namespaces[0].name}.log"
    with open(path, "w", encoding="utf-8") as log:
        process = subprocess.Popen([*firesteel, f"--namespaces={','.join(n.name for n in namespaces)}", "--health-probe-bind-address=0"],
                                   env=check.environment(), stderr=log)
    try:
        yield lambda: path.read_text()
    finally:
        process.terminate()
        process.wait(TIMEOUT)


def application_driver(check, image):
    with check.namespace("resumed") as n, operator(check, n) as operator_log:
        shared = Shared(check.folder / "resumed", n)
        path = f"/apis/sparkoperator.k8s.io/v1beta2/namespaces/{n.name}/sparkapplications"
        wait_for(lambda: check.cluster.found(path), "the definitions")
        n.apply(manifest("SparkApplication", image))

        def status():
            return (check.cluster.found(f"{path}/saves") or {}).get("status", {})

        def state():
            return status().get("applicationState", {}).get("state")

        def situation():
            return f"{status()}\n{operator_log()}\n" + "".join(n.log(p["metadata"]["name"]) for p in n.pods("driver"))

        wait_for(shared.is_at_gate, lambda: f"all tasks but one to commit: {shared.runs()} {situation()}")
        first, before, pods = n.driver(), shared.runs(), both_executors(n)
        uid = check.cluster.found(f"{path}/saves")["metadata"]["uid"]
        expect("the operator names the journal of a SparkApplication's driver", shared.journals() == [f"saves-{uid}"], shared.journals())
        check.kill(n, first["metadata"]["name"])
        wait_for(lambda: any(p["metadata"]["uid"] != first["metadata"]["uid"] for p in n.pods("driver")), lambda: f"the next driver: {situation()}")
        wait_for_executors(n, pods, "SparkApplication", n.driver_log)
        shared.open_gate()
        wait_for(lambda: state() == "COMPLETED", lambda: f"the end: {situation()}")
        expect("… which it makes again after kill -9", n.driver()["metadata"]["uid"] != first["metadata"]["uid"] and
               status()["executionAttempts"] == 2, status())
        shared.check("the next driver", before, n.driver_log())
        wait_for(lambda: executors_ended(n), lambda: f"executors to end: {n.executor_pods()}")
        n.kubectl("delete", "sparkapplication/saves")
        expect_nothing(n, "SparkApplication")


class Job:
    """The guide's Job in the namespace @n."""

    def __init__(self, check, n, text):
        self.check, self.n = check, n
        n.apply(text)

    def drivers(self):
        """Its pods, the oldest first."""
        found = self.check.cluster.ask(f"/api/v1/namespaces/{self.n.name}/pods?labelSelector=job-name%3Dsaves")["items"]
        return [p["metadata"]["name"] for p in sorted(found, key=lambda p: p["metadata"]["creationTimestamp"])]

    def status(self):
        return self.check.cluster.ask(f"/apis/batch/v1/namespaces/{self.n.name}/jobs/saves")["status"]

    def situation(self):
        return f"{self.status()}\n" + "".join(self.n.log(name) for name in self.drivers())


def job_driver(check, image):
    with check.namespace("resumed-job") as n:
        shared = Shared(check.folder / "resumed-job", n)
        job = Job(check, n, manifest("Job", image))
        drivers, situation = job.drivers, job.situation

        wait_for(shared.is_at_gate, lambda: f"all tasks but one to commit: {shared.runs()} {situation()}")
        before, pods = shared.runs(), both_executors(n)
        check.kill(n, drivers()[0])
        wait_for(lambda: len(drivers()) == 2, lambda: f"the next driver: {situation()}")
        wait_for_executors(n, pods, "Job", lambda: n.log(drivers()[1]))
        shared.open_gate()
        wait_for(lambda: job.status().get("succeeded"), lambda: f"the end: {situation()}")
        expect("a Job makes the pod of a killed driver again", job.status()["failed"] == 1 and len(drivers()) == 2, situation())
        shared.check("the driver of a Job's next pod", before, n.log(drivers()[1]))
        wait_for(lambda: executors_ended(n), lambda: f"executors to end: {n.executor_pods()}")
        n.kubectl("delete", "job/saves")
        expect_nothing(n, "Job")


def frozen_manifest(image):
    """The guide's Job, which makes the next pod while the deleted one still ends: for five minutes the kubelet sends it no signal."""
    text = manifest("Job", image)
    for old, new in (("      podReplacementPolicy: Failed\n", ""),
                     ("          restartPolicy: Never\n", "          restartPolicy: Never\n          terminationGracePeriodSeconds: 330\n"),
                     ("          - name: driver\n", "          - name: driver\n            lifecycle: {preStop: {sleep: {seconds: 300}}}\n")):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def has_process(check, pod):
    """True while the pod's container runs. The kubelet tells the end of a deleted pod's container only after its preStop hook."""
    [status] = pod["status"]["containerStatuses"]
    container = status["containerID"].removeprefix("containerd://")
    return re.search(rf"^{container}\s+\d+\s+RUNNING", check.node.ctr("task", "ls").stdout, re.M)


def frozen_driver(check, image):
    """A driver is frozen and its pod deleted, the Job's next driver finishes, and the first one wakes."""
    with check.namespace("frozen") as n:
        shared = Shared(check.folder / "frozen", n)
        job = Job(check, n, frozen_manifest(image))

        def files():
            return {str(path): (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"") for path in shared.folder.rglob("*")}

        wait_for(shared.is_at_gate, lambda: f"all tasks but one to commit: {shared.runs()} {job.situation()}")
        before, pods = shared.runs(), both_executors(n)
        [old] = job.drivers()
        check.kill(n, old, "SIGSTOP")
        assert has_process(check, n.pod(old))
        n.kubectl("delete", "pod", old, "--wait=false")
        wait_for(lambda: len(job.drivers()) == 2, lambda: f"the next driver: {job.situation()}")
        new = job.drivers()[1]
        wait_for_executors(n, pods, "Job", lambda: n.log(new))
        shared.open_gate()
        wait_for(lambda: job.status().get("succeeded"), lambda: f"the end: {job.situation()}")
        shared.check("the driver beside a frozen one", before, n.log(new))
        wait_for(lambda: executors_ended(n), lambda: f"executors to end: {n.executor_pods()}")
        left = files()
        check.kill(n, old, "SIGCONT")
        wait_for(lambda: not has_process(check, n.pod(old)), lambda: f"the first driver to end: {n.pod(old)['status']}\n{n.log(old)}")
        expect("a frozen driver that wakes after its successor has finished ends",
               "Another driver has taken over application" in n.log(old), n.log(old))
        expect("… and has changed no file and started no executor", files() == left and
               {p["metadata"]["name"] for p in n.executor_pods()} <= pods.keys(), f"{left}\n{files()}\n{n.executor_pods()}")
        n.kubectl("delete", "pod", old, "--force", "--grace-period=0")
        n.kubectl("delete", "job/saves")
        expect_nothing(n, "Job")


def run(check, image):
    for part in (application_driver, job_driver, frozen_driver):
        part(check, image)
