"""Runs genuine Spark and Firesteel so that each leaves its objects on a real API server (server.py).

A driver's line becomes an equivalent command line of spark-submit. An executor's pod is built as without a server, and
created as by the running driver.
"""
import base64
import contextlib
import json
import os
import shutil
import subprocess

from . import normal, stored
from .server import wait_for

TIMEOUT = 120
# Says that it runs, and does so until its input ends.
APPLICATION = """#include <firesteel/firesteel.h>
#include <stdio.h>
int main(void)
{
        fst_context *sc = fst_context_new(NULL);
        puts(fst_context_app_id(sc));
        fflush(stdout);
        while (getchar() != EOF)
                ;
        return fst_context_stop(sc);
}
"""
DRIVERS = ("pods-driver", "named-driver")


def words(line, master):
    """The command line. A resource that begins with spark-internal has no application."""
    if line["kind"] == "operation":
        found = ["--master", f"k8s://{master}", "--" + line["operation"], line["submissionId"]]
    else:
        found = ["--master", f"k8s://{master}", "--deploy-mode", "cluster", "--class", line["mainClass"]]
        if line["proxyUser"]:
            found += ["--proxy-user", line["proxyUser"]]
    conf = dict(line["conf"])
    conf.pop("spark.master", None)
    if line["kind"] != "operation":
        conf["spark.kubernetes.submission.waitAppCompletion"] = "false"
    for key, value in conf.items():
        found += ["--conf", f"{key}={value}"]
    if line["kind"] != "operation":
        found += [line["resource"].get("path") or "spark-internal", *line["args"]]
    return found


class Side:
    """The common part: reads, normalizes and removes the line's objects."""

    def __init__(self, server, directory):
        self.server = server
        self.kubeconfig = server.kubeconfig(os.path.join(directory, type(self).__name__ + ".conf"))

    def filled(self, line):
        """The line with this server's values. The caller replaces {w}."""
        # Spark looks for names that match in file systems that it can list: in web servers it does not.
        line = json.loads(json.dumps(line).replace("{api}", self.server.url).replace("hdfs://n/", "https://n/"))
        if line["kind"] != "executor":
            line["environment"] = dict(line["environment"], KUBECONFIG=self.kubeconfig)
        return line

    def normalised(self, answer, line):
        return normal.answer(answer, {**line, "kind": "driver"}, self.world, self.server.url)

    def answer(self, line):
        """{"objects": […]}, {"refused": the server's message} or {"error": …}. For operations also the output."""
        ways = {"executor": self.executor, "operation": self.operation, "running": self.running}
        raw = ways.get(line["kind"], self.submission)(self.filled(line))
        self.server.clear()
        return self.normalised(raw, line)

    def submission(self, line):
        error = self.run(line, words(line, self.server.url))[1]
        if error is None:
            return {"objects": stored.objects(self.server.objects())}
        said = stored.refusal(error)
        return {"error": error} if said is None else {"refused": said}

    def driver_pods(self, namespace):
        """The owners of executors, because pods of a missing owner would be collected at once."""
        return [self.server.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": namespace},
                                    "spec": {"containers": [{"name": "c", "image": "i"}]}})[0] for name in DRIVERS]

    def executor(self, line):
        namespace = line["conf"].get("spark.kubernetes.namespace", "default")
        drivers = self.driver_pods(namespace)
        uids = {driver["metadata"]["name"]: driver["metadata"]["uid"] for driver in drivers}
        if line["driverPod"]:
            line["driverPod"]["uid"] = uids[line["driverPod"]["name"]]
        built = self.build(line)
        if "error" in built:
            return {"error": built["error"]}
        pod = {**built["pod"], "kind": "Pod", "apiVersion": "v1"}
        pod["metadata"].pop("namespace", None)
        pod.setdefault("spec", {}).setdefault("containers", []).append(built["container"])
        for each in [*built.get("resources", []), pod, *([built["configMap"]] if "configMap" in built else [])]:
            refused = self.server.create(each, namespace)[1]
            if refused:
                return {"refused": stored.parts(refused)}
        found = [one for one in self.server.objects() if one["metadata"]["uid"] not in uids.values()]
        return {"objects": stored.objects(found, drivers)}

    def running(self, line):
        """The executors' objects of a running driver, when all executors exist."""
        conf = line["conf"]
        drivers = self.driver_pods(conf.get("spark.kubernetes.namespace", "default"))
        uids = {driver["metadata"]["uid"] for driver in drivers}
        conf["spark.master"] = f"k8s://{self.server.url}"
        wanted = 2 + (conf.get("spark.kubernetes.executor.disableConfigMap") != "true")

        def created():
            return [one for one in self.server.objects() if one["metadata"]["uid"] not in uids and
                    one["kind"] in ("Pod", "ConfigMap")]

        found = []
        with self.driver(line) as error:
            if error is None:
                wait_for(lambda: len(created()) >= wanted, lambda: f"{wanted} objects of {line['id']}, not {created()}")
                found = [one for one in self.server.objects() if one["metadata"]["uid"] not in uids]
        return {"objects": stored.of_running(stored.objects(found, drivers))} if error is None else {"error": error}

    def operation(self, line):
        for pod in line["pods"]:
            made, refused = self.server.create({**pod, "metadata": {**pod["metadata"], "uid": None}})
            if refused:
                raise AssertionError(refused)
            self.server.must(self.server.path(made) + "/status", "PATCH", {"status": pod["status"]},
                             content_type="application/merge-patch+json")
        uids = {one["metadata"]["uid"]: "uid-" + one["metadata"]["name"] for one in self.server.everything()}
        printed, error = self.run(line, words(line, self.server.url))
        left = [[one["metadata"]["namespace"], one["metadata"]["name"], one["metadata"].get("deletionGracePeriodSeconds")]
                for one in self.server.everything() if one["kind"] == "Pod"]
        if error is not None:
            return {"error": error}
        for uid, name in uids.items():
            printed = printed.replace(uid, name)
        return {"printed": stored.printed(printed), "left": left}


class Genuine(Side):
    """Calls its spark-submit repeatedly in one virtual machine."""

    def __init__(self, server, directory, machine):
        super().__init__(server, directory)
        self.machine, self.world = machine, machine.world

    def build(self, line):
        return self.machine.answer(line)

    def run(self, line, command):
        """(output, error or None)"""
        answer = self.machine.answer({**line, "kind": "command", "command": command})
        return answer.get("printed"), (answer["error"] or answer["exception"]) if "error" in answer else None


    @contextlib.contextmanager
    def driver(self, line):
        answer = self.machine.answer(line)
        yield answer.get("error")
        if "running" in answer:
            self.machine.answer({})


class Ours(Side):
    """Each submission is a process. tests/pods_from_conf builds executors."""

    def __init__(self, server, directory, build):
        super().__init__(server, directory)
        self.folder, self.world = directory, os.path.join(directory, "ours")
        os.makedirs(self.world)
        self.program = os.path.join(build, "src", "spark-submit")
        self.warnings = open(os.path.join(directory, "builder.log"), "w+", encoding="utf-8")
        self.builder = subprocess.Popen([os.path.join(build, "tests", "pods_from_conf"), self.world], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self.warnings, encoding="utf-8")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.builder.stdin.close()
        self.builder.stdout.close()
        self.builder.wait()
        self.warnings.close()

    def build(self, line):
        self.builder.stdin.write(json.dumps(line) + "\n")
        self.builder.stdin.flush()
        answer = self.builder.stdout.readline()
        if not answer:
            self.warnings.seek(0)
            raise SystemExit("pods_from_conf has ended:\n" + self.warnings.read()[-3000:])
        return json.loads(answer)

    def in_world(self, text):
        return text.replace("{w}", self.world)

    def write(self, files):
        for name, content in files.items():
            path = os.path.join(self.world, name)
            if isinstance(content, dict) and content.get("directory"):
                os.makedirs(path, exist_ok=True)
                continue
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(base64.b64decode(content["base64"]) if isinstance(content, dict) else
                           self.in_world(content).encode())

    @contextlib.contextmanager
    def driver(self, line):
        self.write(line["files"])
        with open(os.path.join(self.folder, "app.c"), "w", encoding="ascii") as file:
            file.write(APPLICATION)
        command = [self.program, *(word for item in line["conf"].items() for word in ("--conf", "=".join(item))), file.name]
        environment = {**line["environment"], "XDG_CACHE_HOME": self.folder, "PATH": os.environ["PATH"]}
        with open(os.path.join(self.folder, "driver.log"), "w+", encoding="utf-8") as log:
            process = subprocess.Popen(list(map(self.in_world, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                                       env={key: self.in_world(value) for key, value in environment.items()}, cwd=self.world)
            try:
                running = process.stdout.readline()
                log.seek(0)
                yield None if running else log.read()
            finally:
                process.stdin.close()
                process.wait(TIMEOUT)
                process.stdout.close()
                self.clear_world()

    def clear_world(self):
        for name in os.listdir(self.world):
            path = os.path.join(self.world, name)
            (shutil.rmtree if os.path.isdir(path) else os.remove)(path)

    def run(self, line, command):
        self.write(line["files"])
        environment = {key: self.in_world(value) for key, value in line["environment"].items()}
        try:
            done = subprocess.run([self.program, *map(self.in_world, command)], env=environment, capture_output=True,
                                  encoding="utf-8", timeout=TIMEOUT, check=False, cwd=self.world)
        finally:
            self.clear_world()
        return done.stderr, done.stderr.rpartition("Error: ")[2].rstrip("\n") if done.returncode else None
