"""Runs SubmitDriver.java with the jars of one version of genuine Spark from PyPI."""
import glob
import json
import os
import shutil
import subprocess
import sys
import tarfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.dirname(os.path.dirname(HERE)))

from download_cache import download_cache  # noqa: E402

PACKAGES = {"4.3": "pyspark>=4.3,<4.4", "3.5": "pyspark>=3.5,<3.6", "2.4": "pyspark==2.4.0"}
build = "build"
LOGGING = {
    "log4j2.properties": "rootLogger.level = off\nrootLogger.appenderRef.none.ref = none\nappender.none.type = Null\n"
                         "appender.none.name = none\n",
    "log4j.properties": "log4j.rootLogger=OFF, none\nlog4j.appender.none=org.apache.log4j.varia.NullAppender\n",
}


def java(program="java"):
    home = os.environ.get("JAVA_HOME")
    found = os.path.join(home, "bin", program) if home else shutil.which(program)
    if not found or not os.path.exists(found):
        sys.exit(f"{program} is missing: apt install openjdk-17-jdk-headless")
    return found


def cache_directory():
    return download_cache("check-spark")


def download(version, directory):
    """Only the archive: nothing of pyspark is installed or run. 2.4 is 2.4.0, whose table of options is what compat 2.4
    means; its archive's setup wants an old pypandoc."""
    environment = dict(os.environ)
    if version == "2.4":
        constraints = os.path.join(directory, "constraints.txt")
        with open(constraints, "w") as file:
            file.write("pypandoc<1.8\n")
        environment["PIP_CONSTRAINT"] = constraints
    pip = [sys.executable, "-m", "pip"]
    if subprocess.run(pip + ["--version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
        venv = os.path.join(directory, "venv")
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        pip = [os.path.join(venv, "bin", "pip")]
    subprocess.run(pip + ["download", "-q", "--no-deps", "--no-binary=pyspark", "-d", directory, PACKAGES[version]],
                   check=True, env=environment)
    return glob.glob(os.path.join(directory, "pyspark-*.tar.gz"))[0]


def jars_of(version):
    """The directory of its jars: FIRESTEEL_SPARK_4_3 and so on, what check_spark_history has installed below the build
    directory, or the cache, which is filled if need be."""
    given = os.environ.get("FIRESTEEL_SPARK_" + version.replace(".", "_"))
    if given:
        return given
    for core in glob.glob(os.path.join(build, "spark-venv/lib/python3*/site-packages/pyspark/jars/spark-core_*.jar")):
        if f"-{version}." in os.path.basename(core):
            return os.path.dirname(core)
    directory = os.path.join(cache_directory(), "spark-" + {"2.4": "2.4.0"}.get(version, version))
    jars = os.path.join(directory, "jars")
    if os.path.isdir(jars):
        return jars
    print(f"downloading pyspark {version} (once)", flush=True)
    partial = directory + ".partial"
    shutil.rmtree(partial, ignore_errors=True)
    os.makedirs(os.path.join(partial, "jars"))
    archive = download(version, partial)
    with tarfile.open(archive) as tar:
        for member in tar:
            if "/deps/jars/" in member.name and member.isfile():
                with open(os.path.join(partial, "jars", os.path.basename(member.name)), "wb") as out:
                    shutil.copyfileobj(tar.extractfile(member), out)
    os.remove(archive)
    shutil.rmtree(os.path.join(partial, "venv"), ignore_errors=True)
    shutil.rmtree(directory, ignore_errors=True)
    os.rename(partial, directory)
    return jars


def compile_driver(jars, directory):
    os.makedirs(directory, exist_ok=True)
    subprocess.run([java("javac"), "-nowarn", "-Xlint:none", "-d", directory, "-cp", os.path.join(jars, "*")] +
                   sorted(glob.glob(os.path.join(HERE, "*.java"))), check=True, stderr=subprocess.DEVNULL)
    for name, text in LOGGING.items():
        with open(os.path.join(directory, name), "w") as file:
            file.write(text)


class Genuine:
    """One virtual machine. ask() runs a command line. `options` and `switches` are those of this Spark."""

    def __init__(self, version, world, classes, java_options=()):
        self.version, self.world = version, world
        self.errors = open(world.path(f"driver-{version}.log"), "w+")
        options = ["-Xmx768m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Dlog4j2.disable.jmx=true",
                   f"-Djava.io.tmpdir={world.path('tmp')}", f"-Duser.home={world.path('user')}",
                   "-Dhttps.proxyHost=127.0.0.1", "-Dhttps.proxyPort=1", "-Dhttp.proxyHost=127.0.0.1", "-Dhttp.proxyPort=1",
                   "-Djava.net.preferIPv4Stack=true"]
        options += [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in
                    ("java.lang", "java.util", "java.net", "java.nio", "sun.nio.ch", "sun.security.action")]
        options += java_options
        environment = dict(os.environ, LC_ALL="C.UTF-8", PATH=world.path("bin") + ":" + os.environ["PATH"])
        self.process = subprocess.Popen(
            [java()] + options + ["-cp", f"{classes}:{os.path.join(jars_of(version), '*')}",
                                  "org.apache.spark.deploy.SubmitDriver"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, cwd=world.path("cwd"), env=environment,
            encoding="utf-8")
        hello = self.answer()
        self.options, self.switches = hello["options"], hello["switches"]

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            self.errors.seek(0)
            raise SystemExit(f"Spark {self.version}'s driver has ended:\n" + self.errors.read()[-3000:])
        return json.loads(line)

    def ask(self, words, env, directories, **more):
        """@directories are in front of the class path. @more: trace, start."""
        question = {"words": words, "env": env, "classpath": directories,
                    "launcher": {"SPARK_HOME": self.world.path("home"), "SPARK_SCALA_VERSION": "2.13"}}
        question.update({name: True for name, is_set in more.items() if is_set})
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        return self.answer()

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.errors.close()
