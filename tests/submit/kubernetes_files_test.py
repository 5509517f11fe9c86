"""Remote files of a submission to Kubernetes: fetched templates and uploaded files, with fake HDFS and S3 servers.
`make check-hdfs` and `make check-s3` use real ones."""
import os
import subprocess

import pytest

from dry_run import CLUSTER, PI, environment, objects, run
from fake_registry import Depot, s3_settings
from folders import BIN
from recording_api_server import RecordingApiServer

TEMPLATE = b"apiVersion: v1\nkind: Pod\nspec:\n  priorityClassName: high\n  containers:\n  - name: main\n"
PART = 5 << 20


@pytest.fixture
def depot():
    with Depot() as server:
        yield server


@pytest.fixture
def api():
    with RecordingApiServer() as server:
        yield server


def s3(depot):
    return [word for setting in s3_settings(depot) for word in ("--conf", setting)]


def submit(folder, api, *words):
    return subprocess.run([os.path.join(BIN, "spark-submit"), *api.words(*words)], cwd=folder,
                          env=environment(folder, TMPDIR=str(folder / "tmp")), capture_output=True, text=True, timeout=120,
                          check=False)


def upload(folder, api, content, where, *words):
    (folder / "tmp").mkdir(exist_ok=True)
    (folder / "x y.txt").write_bytes(content)
    done = submit(folder, api, "--files", str(folder / "x y.txt"), "--conf", f"spark.kubernetes.file.upload.path={where}",
                  *words)
    assert not os.listdir(folder / "tmp")
    return done


@pytest.mark.parametrize("where", ["http", "webhdfs", "s3a"])
def test_a_driver_s_template_is_fetched(tmp_path, depot, where):
    path = {"http": "/t/pod.yaml", "webhdfs": "/webhdfs/v1/t/pod.yaml", "s3a": "/bucket/t/pod.yaml"}[where]
    depot.files[path] = TEMPLATE
    uri = {"http": depot.url, "webhdfs": f"webhdfs://127.0.0.1:{depot.server_port}", "s3a": "s3a://bucket"}[where]
    (tmp_path / "tmp").mkdir()
    items, _ = objects(tmp_path, "--conf", f"spark.kubernetes.driver.podTemplateFile={uri}/t/pod.yaml", *s3(depot), *PI,
                       TMPDIR=str(tmp_path / "tmp"))
    assert items[0]["spec"]["priorityClassName"] == "high"
    assert not os.listdir(tmp_path / "tmp")


def test_an_executor_s_template_travels_with_the_driver(tmp_path, depot):
    depot.files["/t/pod.yaml"] = TEMPLATE
    items, _ = objects(tmp_path, "--conf", f"spark.kubernetes.executor.podTemplateFile={depot.url}/t/pod.yaml", *PI)
    maps = {item["metadata"]["name"].split("-driver-")[-1]: item["data"] for item in items if item["kind"] == "ConfigMap"}
    assert maps["podspec-conf-map"] == {"podspec-configmap-key": TEMPLATE.decode()}
    told = next(data["spark.properties"] for data in maps.values() if "spark.properties" in data)
    assert "spark.kubernetes.executor.podTemplateFile=/opt/spark/pod-template/pod-spec-template.yml" in told


def test_a_template_that_is_not_there_is_named(tmp_path, depot):
    done = run(tmp_path, *CLUSTER, "--conf", f"spark.kubernetes.driver.podTemplateFile={depot.url}/t/none.yaml", *PI)
    assert done.returncode == 1
    assert f"Could not load pod from template file. {depot.url}/t/none.yaml" in done.stdout + done.stderr


@pytest.mark.parametrize("size", [0, 5, 3 << 20])
def test_files_are_uploaded_to_hdfs(tmp_path, depot, api, size):
    content = os.urandom(size)
    done = upload(tmp_path, api, content, f"webhdfs://127.0.0.1:{depot.server_port}/up")
    assert done.returncode == 0, done.stderr
    (path, there), = depot.files.items()
    assert there == content
    assert path.startswith("/webhdfs/v1/up/spark-upload-") and path.endswith("/x%20y.txt")
    assert api.properties()["spark.files"].startswith(f"webhdfs://127.0.0.1:{depot.server_port}/up/spark-upload-")


@pytest.mark.parametrize("size,parts", [(0, 0), (5, 0), (PART, 0), (PART + 1, 2), (2 * PART, 2), (2 * PART + 7, 3)])
def test_files_are_uploaded_to_s3(tmp_path, depot, api, size, parts):
    content = os.urandom(size)
    depot.busy = 2
    done = upload(tmp_path, api, content, "s3a://bucket/up", *s3(depot))
    assert done.returncode == 0, done.stderr
    (path, there), = depot.files.items()
    assert there == content and len(depot.parts) == parts
    assert path.startswith("/bucket/up/spark-upload-") and path.endswith("/x%20y.txt")
    assert api.properties()["spark.files"].startswith("s3a://bucket/up/spark-upload-")


@pytest.mark.parametrize("name", ["app.so", "app.c"])
def test_a_native_application_is_uploaded_and_named_to_the_driver(tmp_path, depot, api, name):
    (tmp_path / "tmp").mkdir()
    (tmp_path / name).write_text("int main(void) { return 0; }")
    where = f"webhdfs://127.0.0.1:{depot.server_port}/up"
    words = [word for word in api.words("--conf", f"spark.kubernetes.file.upload.path={where}") if not word.startswith("local:")]
    done = subprocess.run([os.path.join(BIN, "spark-submit"), *words, str(tmp_path / name), "7"], cwd=tmp_path,
                          env=environment(tmp_path, TMPDIR=str(tmp_path / "tmp")), capture_output=True, text=True, timeout=120,
                          check=False)
    assert done.returncode == 0, done.stderr
    arguments = api.of_kind("Pod")[0]["spec"]["containers"][0]["args"]
    assert arguments[-1] == "7" and arguments[-2].endswith(".so")
    assert arguments[-2] in api.properties()["spark.jars"].split(",")
    assert [path for path in depot.files] == ["/webhdfs/v1" + arguments[-2].removeprefix(where[:where.index("/up")])]


def test_failed_upload_is_named_and_leaves_nothing(tmp_path, depot, api):
    depot.broken = True
    for where, words, reason in ((f"webhdfs://127.0.0.1:{depot.server_port}/up", (), "disk is full"),
                                 ("s3a://bucket/up", s3(depot), "the object store answers 403: Access Denied"),
                                 ("hdfs://127.0.0.1:1/up", ("--conf", "spark.hadoop.dfs.namenode.http-address=127.0.0.1:1"),
                                  "127.0.0.1 port 1"),
                                 ("gs://bucket/up", (), 'cannot write to "gs:" (supported: file:')):
        done = upload(tmp_path, api, b"content", where, *words)
        assert done.returncode == 1
        assert f"Uploading file {tmp_path}/x y.txt failed..." in done.stderr, done.stderr
        assert reason in done.stderr, done.stderr
        assert "set spark.kubernetes.file.upload.path to a directory that you may write to" in done.stderr
        assert not api.objects
    removed = [path for method, path in depot.asked if method == "DELETE"]
    assert any("op=DELETE" in path for path in removed)


def test_a_file_that_is_not_there_is_named(tmp_path, depot, api):
    done = submit(tmp_path, api, "--files", str(tmp_path / "none.txt"), "--conf",
                  f"spark.kubernetes.file.upload.path=webhdfs://127.0.0.1:{depot.server_port}/up")
    assert done.returncode == 1 and "none.txt" in done.stderr and not depot.asked
