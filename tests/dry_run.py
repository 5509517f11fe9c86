"""Runs spark-submit --dry-run for tests."""
import json
import os
import subprocess
import zipfile

from folders import BIN


def environment(folder, **more):
    kept = {k: v for k, v in os.environ.items()
            if not k.startswith(("SPARK_", "MASTER", "DEPLOY_MODE", "HADOOP_", "YARN_", "AWS_"))}
    return dict(kept, XDG_CACHE_HOME=str(folder / "cache"), SPARK_CONF_DIR=str(folder / "no-conf"), **more)


def run(folder, *words, **more):
    return subprocess.run([os.path.join(BIN, "spark-submit"), "--dry-run", *words], cwd=folder,
                          env=environment(folder, **more), capture_output=True, text=True, timeout=60, check=False)


def prepare(folder, *words, **more):
    done = run(folder, "--output", "json", *words, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def refusal(folder, *words, **more):
    done = run(folder, "--output", "json", *words, **more)
    assert done.returncode == 1
    assert list(json.loads(done.stdout)) == ["error"]
    return json.loads(done.stdout)["error"]


def jar(path, manifest=None, more=()):
    with zipfile.ZipFile(path, "w") as archive:
        if manifest is not None:
            archive.writestr("META-INF/MANIFEST.MF", f"Manifest-Version: 1.0\r\n{manifest}\r\n")
        for name, text in more:
            archive.writestr(name, text)


# As Kubernetes objects.
CLUSTER = ("--output", "objects", "--master", "k8s://https://h:6443", "--deploy-mode", "cluster")
PI = ("--name", "pi", "--conf", "spark.kubernetes.container.image=spark:1", "--class", "org.example.Pi",
      "local:///opt/pi.jar", "10")


def objects(folder, *words, **more):
    done = run(folder, *CLUSTER, *words, **dict({"SPARK_USER": "me"}, **more))
    assert done.returncode == 0, done.stdout + done.stderr
    listed = json.loads(done.stdout)
    assert (listed["apiVersion"], listed["kind"]) == ("v1", "List")
    return listed["items"], done.stderr


FAKE_R = '#!/bin/sh\n[ "$1 $2 $3" = "CMD INSTALL -l" ] || exit 64\nmkdir "$4/pkg" && cp "$5/DESCRIPTION" "$4/pkg"\n'


def r_application(folder):
    """An R application, a jar with an R package, a SPARK_HOME, and an R that copies files. Returns the environment."""
    (folder / "bin").mkdir()
    (folder / "bin" / "R").write_text(FAKE_R)
    (folder / "bin" / "R").chmod(0o755)
    (folder / "home" / "R" / "lib").mkdir(parents=True)
    (folder / "home" / "R" / "lib" / "sparkr.zip").touch()
    (folder / "tmp").mkdir()
    (folder / "app.R").touch()
    jar(folder / "r.jar", "Spark-HasRPackage: true\r\n", [("R/pkg/DESCRIPTION", "Package: pkg\n")])
    return {"PATH": f"{folder}/bin:{os.environ['PATH']}", "SPARK_HOME": str(folder / "home"), "HADOOP_CONF_DIR": "/none",
            "TMPDIR": str(folder / "tmp")}
