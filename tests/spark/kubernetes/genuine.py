"""PodsDriver.java running with the jars of genuine Spark."""
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


def kept_answers(lines):
    """Where the answers to these lines are kept: by the program, the jars and what is asked."""
    asked = hashlib.sha256()
    with open(os.path.join(HERE, "PodsDriver.java"), "rb") as file:
        asked.update(file.read())
    asked.update(" ".join(sorted(os.path.basename(jar) for jar in glob.glob(os.path.join(jars_of(VERSION), "*.jar")))).encode())
    for line in lines:
        asked.update(json.dumps(line, sort_keys=True).encode())
    return os.path.join(cache_directory(), f"pods-{asked.hexdigest()[:16]}.json")


def ask(lines, directory):
    """(address of the scripted API server, world, [answer])."""
    directory = tempfile.mkdtemp(dir=directory)
    classes, world = os.path.join(directory, "classes"), os.path.join(directory, "world")
    compile_driver(classes)
    for name in ("tmp", "user"):
        os.makedirs(os.path.join(directory, name))
    os.makedirs(world)
    command = [java(), "-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Dlog4j2.disable.jmx=true",
               f"-Djava.io.tmpdir={os.path.join(directory, 'tmp')}", f"-Duser.home={os.path.join(directory, 'user')}"]
    command += [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in
                ("java.lang", "java.util", "java.net", "java.nio", "sun.nio.ch")]
    command += ["-cp", f"{classes}:{os.path.join(jars_of(VERSION), '*')}", "org.apache.spark.deploy.k8s.PodsDriver", world]
    with open(os.path.join(directory, "log"), "w+", encoding="utf-8") as log:
        process = subprocess.run(command, input="".join(json.dumps(line) + "\n" for line in lines), stdout=subprocess.PIPE,
                                 stderr=log, encoding="utf-8", env=dict(os.environ, LC_ALL="C.UTF-8"))
        answers = [json.loads(line) for line in process.stdout.splitlines()]
        if len(answers) != len(lines) + 1:
            log.seek(0)
            raise SystemExit("genuine Spark has ended:\n" + log.read()[-3000:])
    return answers[0]["api"], world, answers[1:]
