"""The files, homes, servers and directories for the command lines of cases.py.

Everything lies below one temporary directory and has fixed names there, so that a case reads the same in every run:
paths are written {w}/… in the cases and filled in when they run. Both sides run in {w}/cwd. Downloads and other files
made on the way go to {w}/tmp (genuine) and {w}/tmp-ours: see normalised() in compare.py.
"""
import functools
import http.server
import os
import shutil
import threading
import zipfile

DEFAULTS = {
    "none": {},
    "plain": {"spark-defaults.conf": "spark.executor.memory 3g\nspark.executor.cores=3\nspark.eventLog.enabled : false\n"
                                     "notspark.key value\n"},
    "master": {"spark-defaults.conf": "spark.master spark://defaults:7077\nspark.submit.deployMode cluster\n"
                                      "spark.app.name from defaults\nspark.driver.memory 700m\n"},
    "yarn": {"spark-defaults.conf": "spark.master yarn\nspark.yarn.queue defaults\nspark.executor.instances 4\n"
                                    "spark.yarn.dist.files {w}/files/a.txt\nspark.yarn.dist.jars {w}/files/one.jar\n"
                                    "spark.yarn.dist.archives {w}/files/x.zip\n"
                                    "spark.yarn.dist.pyFiles {w}/files/lib.py\n"},
    "lists": {"spark-defaults.conf": "spark.jars {w}/files/one.jar,{w}/files/two.jar\nspark.files data.txt\n"
                                     "spark.archives x.zip#here\nspark.submit.pyFiles lib.py\n"
                                     "spark.cores.max 11\nspark.driver.cores 2\n"},
    "extra": {"spark-defaults.conf": "spark.driver.extraClassPath /opt/first\nspark.driver.extraJavaOptions -Dx=1 -Dy=2\n"
                                     "spark.driver.extraLibraryPath /opt/lib\nspark.driver.host 10.0.0.1\n"
                                     "spark.my.password secret\nspark.master.rest.enabled true\n"
                                     "spark.dynamicAllocation.enabled true\n"},
    "odd": {"spark-defaults.conf": "# comment\n! comment\n\n  spark.odd.a   1  \nspark.odd.b:2\nspark.odd.c = 3\t\n"
                                   "spark.odd.long one,\\\n   two,\\\n\tthree\nspark.odd.escape a\\tb\\u00e9\\\\c\n"
                                   "spark.odd.empty\nspark.odd\\ key x\nspark.odd.nl \\n\nsparkle.x 1\nspark. y\n"},
    "ivy": {"spark-defaults.conf": "spark.jars.ivy {w}/ivy-defaults\nspark.jars.repositories file://{w}/maven\n"
                                   "spark.jars.excludes org.none:none\n"},
    "kerberos": {"spark-defaults.conf": "spark.kerberos.principal me@REALM\nspark.kerberos.keytab {w}/files/keytab\n"},
    "environment": {"spark-defaults.conf": "spark.executor.memory 1g\n",
                    "spark-env.sh": "SPARK_EXECUTOR_CORES=5\nexport MASTER=spark://from-env:7077\n"
                                    "SPARK_DRIVER_MEMORY=$((600 + 8))m\n"},
}

PROPERTIES = {
    "one": "spark.master local[3]\nspark.app.name one of properties\nspark.executor.memory 5g\nother.key 1\n",
    "yarn": "spark.master=yarn\nspark.submit.deployMode=cluster\nspark.yarn.queue=fast\nspark.driver.memory=900m\n"
            "spark.executor.instances=0\n",
    "k8s": "spark.master=k8s://https://kube:6443\nspark.kubernetes.namespace=jobs\nspark.executor.instances=7\n"
           "spark.kubernetes.submitInDriver=true\nspark.driver.host=10.1.1.1\n",
    "lists": "spark.jars={w}/files/two.jar\nspark.files={w}/files/a.txt#renamed\nspark.submit.pyFiles={w}/files/lib.zip\n"
             "spark.archives={w}/files/x.zip\nspark.jars.packages=\n",
    "xmx": "spark.driver.extraJavaOptions=-Xmx3g -Dz=1\n",
    "malformed": "spark.a=\\u12\n",
    "empty": "",
}

CORE_SITE = """<?xml version="1.0"?>
<configuration>
  <property><name>fs.defaultFS</name><value>file:///</value></property>
  <property><name>test.from.core.site</name><value>yes</value></property>
</configuration>
"""

# An R that installs a package by copying it, so that R packages can be built without R.
FAKE_R = """#!/bin/sh
[ "$1 $2" = "CMD INSTALL" ] || exit 64
shift 2
while [ $# -gt 1 ]; do
    case $1 in
    -l) library=$2; shift 2;;
    *) shift;;
    esac
done
grep -q '^Broken' "$1/DESCRIPTION" && { echo "broken package"; exit 3; }
mkdir -p "$library/$(basename "$1")"
cp "$1/DESCRIPTION" "$library/$(basename "$1")/"
"""

EPOCH = (2020, 1, 1, 0, 0, 0)


def write(path, content):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)


def write_zip(path, entries):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in entries.items():
            archive.writestr(zipfile.ZipInfo(name, EPOCH), content)


def manifest(*lines):
    return "\r\n".join(("Manifest-Version: 1.0",) + lines) + "\r\n\r\n"


def pom(group, artifact, version, dependencies=()):
    listed = "".join(f"<dependency><groupId>{g}</groupId><artifactId>{a}</artifactId><version>{v}</version></dependency>"
                     for g, a, v in dependencies)
    return (f'<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>{group}'
            f"</groupId><artifactId>{artifact}</artifactId><version>{version}</version><dependencies>{listed}"
            "</dependencies></project>")


class Server(http.server.ThreadingHTTPServer):
    """Serves {w}/http on loopback."""
    daemon_threads = True

    def __init__(self, directory):
        class Handler(http.server.SimpleHTTPRequestHandler):
            def log_message(self, *arguments):
                pass
        super().__init__(("127.0.0.1", 0), functools.partial(Handler, directory=directory))
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_port}"


class World:
    def __init__(self, directory):
        self.w = directory
        self.make_files()
        self.make_homes()
        self.make_maven()
        self.server = Server(os.path.join(directory, "http"))

    def restore(self):
        """Restores the working directory, into which a driver's pod copies files and unpacks archives."""
        for name in os.listdir(self.path("cwd")):
            path = self.path("cwd", name)
            shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
        shutil.copytree(self.path("http"), self.path("cwd"), dirs_exist_ok=True)

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def fill(self, text):
        return text.replace("{w}", self.w).replace("{http}", self.server.address)

    def path(self, *parts):
        return os.path.join(self.w, *parts)

    def make_files(self):
        jar = {"META-INF/MANIFEST.MF": manifest("Main-Class: of.the.Manifest"), "A.class": b"\xca\xfe"}
        plain = {"META-INF/MANIFEST.MF": manifest(), "B.class": b"\xca\xfe"}
        r_jar = {"META-INF/MANIFEST.MF": manifest("Spark-HasRPackage: true"),
                 "R/pkg/DESCRIPTION": "Package: pkg\nVersion: 1\n", "R/pkg/R/f.R": "f <- function() 1\n"}
        for base in ("files", "cwd", "http"):
            write_zip(self.path(base, "app.jar"), jar)
            write_zip(self.path(base, "nomain.jar"), plain)
            for name in ("one.jar", "two.jar", "dep-1.jar", "dep-2.jar"):
                write_zip(self.path(base, name), {**plain, name: name})
            write(self.path(base, "app.py"), "print(1)\n")
            write(self.path(base, "lib.py"), "x = 1\n")
            write(self.path(base, "app.R"), "1\n")
            write(self.path(base, "app.r"), "1\n")
            write(self.path(base, "app.so"), "")
            write_zip(self.path(base, "lib.zip"), {"m.py": "x = 1\n"})
            write_zip(self.path(base, "lib.egg"), {"e.py": "x = 1\n"})
            write_zip(self.path(base, "x.zip"), {"x": "x"})
            for name in ("data.txt", "a.txt", "b.txt", "with space.txt"):
                write(self.path(base, name), name)
        write_zip(self.path("files", "r.jar"), r_jar)
        write_zip(self.path("files", "r-broken.jar"),
                  {**r_jar, "R/pkg/DESCRIPTION": "Broken: yes\n"})
        write(self.path("files", "notajar.jar"), "this is no zip file\n")
        write(self.path("files", "keytab"), b"\x05\x02")
        write(self.path("files", "ivysettings.xml"),
              '<ivysettings><settings defaultResolver="here"/><resolvers><ibiblio name="here" m2compatible="true" '
              f'root="file://{self.w}/maven/"/></resolvers></ivysettings>')
        write(self.path("files", "broken.xml"), "<ivysettings>")
        write(self.path("bin", "R"), FAKE_R)
        os.chmod(self.path("bin", "R"), 0o755)
        write(self.path("hadoop", "core-site.xml"), CORE_SITE)
        for name in ("tmp", "tmp-ours", "user"):
            os.makedirs(self.path(name))

    def make_homes(self):
        for home in ("home", "bare"):
            os.makedirs(self.path(home, "jars"))
            write(self.path(home, "RELEASE"), "")
        write_zip(self.path("home", "R", "lib", "sparkr.zip"), {"SparkR/DESCRIPTION": "Package: SparkR\n"})
        write_zip(self.path("home", "python", "lib", "pyspark.zip"), {"pyspark/__init__.py": ""})
        write_zip(self.path("home", "python", "lib", "py4j-0.10.9.9-src.zip"), {"py4j/__init__.py": ""})
        write(self.path("home", "conf", "spark-defaults.conf"), "spark.of.home yes\n")
        for name, files in DEFAULTS.items():
            os.makedirs(self.path("conf", name))
            for file, text in files.items():
                write(self.path("conf", name, file), text.replace("{w}", self.w))
        for name, text in PROPERTIES.items():
            write(self.path("properties", name + ".conf"), text.replace("{w}", self.w))

    def make_maven(self):
        def module(group, artifact, version, dependencies=()):
            base = self.path("maven", group.replace(".", "/"), artifact, version, f"{artifact}-{version}")
            write(base + ".pom", pom(group, artifact, version, dependencies))
            write_zip(base + ".jar", {artifact: version})
        module("org.test", "leaf", "1.0")
        module("org.test", "leaf", "1.1")
        module("org.test", "middle", "2.0", [("org.test", "leaf", "1.0")])
        module("org.test", "top", "3.0", [("org.test", "middle", "2.0"), ("org.test", "leaf", "1.1")])
