"""A kubelet without a node: runs each pod of a namespace as a process of this machine, `firesteel entrypoint` with the
pod's environment, and writes its status as a kubelet would.

    with ProcessKubelet(cluster, build, folder) as kubelet:
        …
        kubelet.processes["spark-pi-…-exec-1"].kill()

All pods have the address 127.0.0.1 and see this machine's files. The output of a pod is in FOLDER/PODNAME.log.
"""
import contextlib
import os
import pathlib
import signal
import subprocess
import threading
import urllib.error

PODS = "/api/v1/namespaces/default/pods"
LEFT_OUT = {"SPARK_CONF_DIR"}  # a path of the image, which does not exist here


def descendants(pid):
    """The descendants of a process."""
    try:
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    except OSError:
        return []
    return [d for child in map(int, children) for d in (child, *descendants(child))]


class ProcessKubelet:
    def __init__(self, cluster, build, folder):
        self.cluster = cluster
        self.folder = pathlib.Path(folder)
        self.processes, self.uids, self.ended = {}, {}, set()
        self.most = None  # the maximum of running pods; None: no limit
        self.ignored = set()  # names of pods that it does not run
        self.command = [f"{build}/src/firesteel", "entrypoint"]  # the entrypoint of containers
        self.grace = 10  # seconds from SIGTERM to SIGKILL
        self.broken = None
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def __enter__(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self.thread.join()
        for name in list(self.processes):
            self.end(name)
        if self.broken:
            raise self.broken

    def run(self):
        try:
            while not self.stopping.wait(0.05):
                self.look()
        except BaseException as e:  # raised by __exit__
            self.broken = e

    def look(self):
        try:
            pods = {p["metadata"]["name"]: p for p in self.cluster.ask(PODS)["items"]}
        except (OSError, urllib.error.URLError):
            return  # the API server is being restarted
        for name in list(self.processes):
            if name not in pods or pods[name]["metadata"]["uid"] != self.uids[name]:
                self.end(name)
            elif self.processes[name].poll() is not None and name not in self.ended:
                self.put_status(name, self.processes[name].returncode)
        running = sum(p.poll() is None for p in self.processes.values())
        for name, pod in sorted(pods.items()):
            if name not in self.processes and name not in self.ignored and (self.most is None or running < self.most):
                self.start(name, pod)
                running += 1

    def start(self, name, pod):
        container = pod["spec"]["containers"][-1]
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK_", "HADOOP_", "KUBECONFIG"))}
        for variable in container.get("env", ()):
            field = variable.get("valueFrom", {}).get("fieldRef", {}).get("fieldPath")
            value = {"status.podIP": "127.0.0.1", "metadata.name": name}.get(field, variable.get("value", ""))
            if variable["name"] not in LEFT_OUT:
                environment[variable["name"]] = value
        work = self.folder / name
        work.mkdir(exist_ok=True)
        environment["SPARK_LOCAL_DIRS"] = str(work)
        with open(self.folder / f"{name}.log", "wb") as log:
            self.processes[name] = subprocess.Popen([*self.command, *container.get("args", ())], cwd=work,
                                                    env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.uids[name] = pod["metadata"]["uid"]
        self.put_status(name)

    def put_status(self, name, code=None):
        container = self.cluster.found(f"{PODS}/{name}")
        if container is None:
            return
        container = container["spec"]["containers"][-1]
        now = "2026-01-01T00:00:00Z"
        state = {"running": {"startedAt": now}}
        if code is not None:
            code = code if code >= 0 else 128 - code
            state = {"terminated": {"exitCode": code, "reason": "Error" if code else "Completed", "startedAt": now,
                                    "finishedAt": now}}
            self.ended.add(name)
        phase = "Running" if code is None else "Failed" if code else "Succeeded"
        status = {"phase": phase, "podIP": "127.0.0.1", "podIPs": [{"ip": "127.0.0.1"}], "startTime": now,
                  "conditions": [{"type": "Ready", "status": "True" if code is None else "False"}],
                  "containerStatuses": [{"name": container["name"], "image": container["image"], "imageID": "",
                                         "ready": code is None, "restartCount": 0, "state": state}]}
        try:
            self.cluster.ask(f"{PODS}/{name}/status", "PATCH", {"status": status}, "application/merge-patch+json")
        except urllib.error.HTTPError as e:
            if e.code != 404:  # deleted meanwhile
                raise
        except OSError:
            self.ended.discard(name)  # the API server is being restarted: retry

    def end(self, name):
        process = self.processes.pop(name)
        self.uids.pop(name)
        self.ended.discard(name)
        process.terminate()
        try:
            process.wait(self.grace)
        except subprocess.TimeoutExpired:
            tree = descendants(process.pid)
            process.kill()
            process.wait()
            for pid in tree:  # a container ends with its first process
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def log(self, name):
        return (self.folder / f"{name}.log").read_text(errors="replace")
