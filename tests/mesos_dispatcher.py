"""A Mesos dispatcher as a process, and drivers that are scripts in the place of bin/spark-submit."""
import json
import os
import signal
import urllib.error
import urllib.request

from conditions import wait_until
from folders import BIN
from standalone_cluster import Process

# Writes its words and variables beside itself, and ends as the file "end" says: a status, or "wait".
DRIVER = """#!/bin/sh
cd "$(dirname "$0")/.."
printf '%s\\n' "$@" >> "words"
echo "--" >> "words"
env > environment
case "$(cat end)" in
wait) exec sleep 100000 ;;
*) exit "$(cat end)" ;;
esac
"""


class Home:
    """An installation for agents, whose spark-submit does what a test wants."""

    def __init__(self, folder):
        self.path = str(folder)
        os.makedirs(f"{folder}/bin")
        with open(f"{folder}/bin/spark-submit", "w", encoding="utf-8") as file:
            file.write(DRIVER)
        os.chmod(f"{folder}/bin/spark-submit", 0o755)
        self.end_with("0")

    def end_with(self, what):
        """What the next drivers do: "0", "3", …: end with this status. "wait": run until they are killed."""
        with open(f"{self.path}/end", "w", encoding="utf-8") as file:
            file.write(what)

    def read(self, name):
        try:
            with open(f"{self.path}/{name}", encoding="utf-8") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def commands(self):
        """The words of each driver that was started."""
        return [c.split("\n")[:-1] for c in self.read("words").split("--\n")[:-1]]


class Dispatcher:
    def __init__(self, folder, master, home, *conf, words=(), name="dispatcher"):
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK_", "MESOS_"))}
        settings = [w for c in conf for w in ("--conf", c)]
        self.process = Process(f"{folder}/{name}.log",
                               [os.path.join(BIN, "firesteel"), "mesos-dispatcher", "--master", master, "--host", "127.0.0.1",
                                "--port", "0", "--webui-port", "0", *settings, *words],
                               dict(kept, SPARK_HOME=home.path, SPARK_CONF_DIR=str(folder)), str(folder))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill(signal.SIGTERM)

    @property
    def port(self):
        return int(self.process.says(r"Started REST server for submitting applications on \S+ with port (\d+)")[1])

    @property
    def ui(self):
        return self.process.says(r"Bound MesosClusterUI to \S+ and started at (\S+)")[1]

    def ask(self, method, path, body=None):
        """The status and the JSON of an answer."""
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/v1/submissions/{path}", method=method,
                                         data=json.dumps(body).encode() if body else b"" if method == "POST" else None,
                                         headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def page(self, path="/"):
        with urllib.request.urlopen(self.ui + path, timeout=60) as answer:
            return answer.read().decode()

    def submit(self, *arguments, environment=None, **properties):
        """Submits a driver; names of properties have _ for points. Returns its id."""
        status, answer = self.create(arguments, environment, {k.replace("_", "."): v for k, v in properties.items()})
        assert status == 200 and answer["success"], answer
        return answer["submissionId"]

    def create(self, arguments=(), environment=None, properties=None, resource="file:/etc/hostname", main_class="Main"):
        return self.ask("POST", "create", {
            "action": "CreateSubmissionRequest", "clientSparkVersion": "3.5.6", "appResource": resource,
            "mainClass": main_class, "appArgs": list(arguments), "environmentVariables": environment or {},
            "sparkProperties": {"spark.app.name": "an app", **(properties or {})}})

    def state(self, driver):
        return self.ask("GET", f"status/{driver}")[1]["driverState"]

    def reaches(self, driver, state):
        return wait_until(lambda: self.state(driver) == state, f"{driver} {state}; log: {self.process.log()[-2000:]}")
