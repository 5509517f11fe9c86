"""Runs PodsDriver.java with the jars of genuine Spark."""
import contextlib
import glob
import hashlib
import json
import os
import subprocess
import tempfile

from submit.genuine import LOGGING, cache_directory, jars_of, java

HERE = os.path.dirname(os.path.abspath(__file__))
VERSION = "4.3"


def compile_driver(directory):
    os.makedirs(directory, exist_ok=True)
    subprocess.run([java("javac"), "-nowarn", "-Xlint:none", "-d", directory, "-cp", os.path.join(jars_of(VERSION), "*"),
                    os.path.join(HERE, "PodsDriver.java")], check=True, stderr=subprocess.DEVNULL)
    with open(os.path.join(directory, "log4j2.properties"), "w", encoding="ascii") as file:
        file.write(LOGGING["log4j2.properties"])


# What makes answers of an API server what they are.
STORED = ("normal.py", "server.py", "sides.py", "stored.py", "../../cluster/kubernetes/control-plane/go.mod")


def kept_answers(lines, name="pods"):
    """The cache of replies to these lines, by programs, jars and lines. "stored" is for those of a server."""
    asked = hashlib.sha256()
    for source in ("PodsDriver.java", *(STORED if name == "stored" else ())):
        with open(os.path.join(HERE, source), "rb") as file:
            asked.update(file.read())
    asked.update(" ".join(sorted(os.path.basename(jar) for jar in glob.glob(os.path.join(jars_of(VERSION), "*.jar")))).encode())
    for line in lines:
        asked.update(json.dumps(line, sort_keys=True).encode())
    return os.path.join(cache_directory(), f"{name}-{asked.hexdigest()[:16]}.json")


class Machine:
    """PodsDriver in its own virtual machine below the directory, with one reply a line. `api` is its fake server."""

    def __init__(self, directory):
        directory = tempfile.mkdtemp(dir=directory)
        classes, self.world = os.path.join(directory, "classes"), os.path.join(directory, "world")
        compile_driver(classes)
        for name in ("tmp", "user"):
            os.makedirs(os.path.join(directory, name))
        os.makedirs(self.world)
        command = [java(), "-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Dlog4j2.disable.jmx=true",
                   f"-Djava.io.tmpdir={os.path.join(directory, 'tmp')}", f"-Duser.home={os.path.join(directory, 'user')}"]
        command += [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in
                    ("java.lang", "java.util", "java.net", "java.nio", "sun.nio.ch")]
        command += ["-cp", f"{classes}:{os.path.join(jars_of(VERSION), '*')}", "org.apache.spark.deploy.k8s.PodsDriver",
                    self.world]
        self.log = open(os.path.join(directory, "log"), "w+", encoding="utf-8")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log,
                                        encoding="utf-8", env=dict(os.environ, LC_ALL="C.UTF-8"))
        self.api = self.read()["api"]

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            self.log.seek(0)
            raise SystemExit("genuine Spark has ended:\n" + self.log.read()[-3000:])
        return json.loads(line)

    def answer(self, line):
        self.process.stdin.write(json.dumps(line) + "\n")
        self.process.stdin.flush()
        return self.read()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()
        self.log.close()


def ask(lines, directory):
    """Returns (address of the fake API server, directory, [reply])."""
    with Machine(directory) as machine:
        return machine.api, machine.world, [machine.answer(line) for line in lines]
