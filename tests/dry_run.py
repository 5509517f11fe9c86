"""What spark-submit --dry-run answers, for the tests that ask it."""
import json
import os
import subprocess
import zipfile

BIN = os.environ.get("FIRESTEEL_BIN") or os.path.join(os.path.dirname(__file__), "..", "build", "src")


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
