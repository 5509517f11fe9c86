"""firesteel image build: reproducible bytes, and everything that a driver needs in an otherwise empty system."""
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile

import pytest

from folders import BIN, TOP
from sanitizers import SANITIZED
from unpack import unpack

TIMEOUT = 300
MOST = 15_000_000  # compressed bytes

pytestmark = pytest.mark.skipif(bool(SANITIZED), reason="a sanitizer's library is no part of an image")


def build(folder, *words):
    return subprocess.run([os.path.join(BIN, "firesteel"), "image", "build", *words], cwd=folder, text=True,
                          capture_output=True, timeout=TIMEOUT, check=False)


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    folder = tmp_path_factory.mktemp("image")
    done = build(folder, "--tag", "test.local/fire:1", "--add", f"{TOP}/examples/spark_pi.c",
                 "--add", f"{TOP}/examples/wordcount.c:/opt/wordcount.so", "--add", f"{TOP}/conf:/opt/more")
    assert done.returncode == 0, done.stderr
    (folder / "said").write_text(done.stdout)
    unpack(folder / "fire-1.tar", folder / "layout")
    return folder


def blob(image, digest):
    data = (image / "layout" / "blobs" / "sha256" / digest.removeprefix("sha256:")).read_bytes()
    assert hashlib.sha256(data).hexdigest() == digest.removeprefix("sha256:")
    return data


def test_it_is_a_layout_whose_digests_hold(image):
    index = json.loads((image / "layout" / "index.json").read_text())
    [entry] = index["manifests"]
    assert entry["annotations"] == {"io.containerd.image.name": "test.local/fire:1", "org.opencontainers.image.ref.name": "1"}
    assert entry["digest"] in (image / "said").read_text()
    manifest = json.loads(blob(image, entry["digest"]))
    config = json.loads(blob(image, manifest["config"]["digest"]))
    assert sum(layer["size"] for layer in manifest["layers"]) <= MOST
    assert config["config"]["Entrypoint"] == ["/opt/entrypoint.sh"] and config["config"]["User"] == "185"
    names = []
    for layer, diff_id in zip(manifest["layers"], config["rootfs"]["diff_ids"], strict=True):
        plain = subprocess.run(["gzip", "-dc"], input=blob(image, layer["digest"]), capture_output=True, check=True).stdout
        assert "sha256:" + hashlib.sha256(plain).hexdigest() == diff_id
        assert len(plain) >= layer["size"]
        names.append(len(plain))
    assert len(names) == 3
    [docker] = json.loads((image / "layout" / "manifest.json").read_text())
    assert docker["RepoTags"] == ["test.local/fire:1"]
    assert docker["Config"] == "blobs/sha256/" + manifest["config"]["digest"].removeprefix("sha256:")
    assert docker["Layers"] == ["blobs/sha256/" + x["digest"].removeprefix("sha256:") for x in manifest["layers"]]


def test_it_has_no_modules_of_the_history_server(image):
    names = set()
    for layer in json.loads((image / "layout" / "manifest.json").read_text())[0]["Layers"]:
        with tarfile.open(image / "layout" / layer) as tar:
            names |= {os.path.basename(name) for name in tar.getnames()}
    assert "libfiresteel-http.so" in names
    assert not names & {"libfiresteel-sqlite.so", "libfiresteel-snappy.so"}
    assert not [name for name in names if name.startswith(("libsqlite3", "libsnappy", "libstdc++"))]


def test_the_same_files_make_the_same_bytes(image, tmp_path):
    more = ["--add", f"{TOP}/examples/spark_pi.c", "--add", f"{TOP}/examples/wordcount.c:/opt/wordcount.so",
            "--add", f"{TOP}/conf:/opt/more"]
    assert build(tmp_path, "-t", "test.local/fire:1", "-o", "again.tar", *more).returncode == 0
    assert (tmp_path / "again.tar").read_bytes() == (image / "fire-1.tar").read_bytes()


@pytest.fixture(scope="module")
def root(image):
    """The image's files as in a container, and a command prefix to run in them as process 1 with /proc."""
    folder = image / "root"
    folder.mkdir()
    for layer in json.loads((image / "layout" / "manifest.json").read_text())[0]["Layers"]:
        unpack(image / "layout" / layer, folder, trusted=True)
    (folder / "proc").mkdir()
    (folder / "dev").mkdir()
    (folder / "dev" / "null").touch()
    isolate = ["unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", f"--mount-proc={folder}/proc",
               "chroot", str(folder)]
    if subprocess.run([*isolate, "/opt/spark/bin/firesteel", "--version"], capture_output=True, check=False).returncode:
        pytest.skip("this machine lets nobody make a user namespace with a /proc of its own")
    yield isolate
    shutil.rmtree(folder)


def run(root, *words, **variables):
    environment = {"PATH": f"/nowhere:{os.environ['PATH']}"} | variables
    return subprocess.run([*root, "/opt/entrypoint.sh", *words], env=environment, text=True, capture_output=True,
                          timeout=TIMEOUT, check=False)


def test_a_driver_runs_where_nothing_else_is(root):
    done = run(root, "driver", "--master", "local-cluster[1,1,1024]", "--conf", "spark.driver.host=127.0.0.1",
               "/opt/app/spark_pi.so", "4", SPARK_DRIVER_BIND_ADDRESS="127.0.0.1")
    assert done.returncode == 0, done.stderr
    assert "Pi is roughly 3.1" in done.stdout


@pytest.mark.skipif(not os.path.exists("/usr/share/zoneinfo/Asia/Kolkata"), reason="this machine has no tz database")
def test_schedules_have_zones(root):
    # Asia/Calcutta is another name of Asia/Kolkata, half an hour off whole hours, without daylight saving.
    for zone in ("Asia/Kolkata", "Asia/Calcutta"):
        done = subprocess.run([*root, "/opt/spark/bin/firesteel", "operator", "schedule", "--time-zone", zone, "--count", "1", "0 9 * * *"],
                              text=True, capture_output=True, timeout=TIMEOUT, check=False)
        assert done.returncode == 0, done.stderr
        assert "03:30:00Z" in done.stdout or "09:00:00+05:30" in done.stdout, done.stdout


def test_a_driver_of_spark_2_3_runs_by_its_environment(root):
    done = run(root, "driver", SPARK_DRIVER_BIND_ADDRESS="127.0.0.1", SPARK_DRIVER_CLASS="main", SPARK_DRIVER_ARGS="3",
               SPARK_MOUNTED_CLASSPATH="/opt/app/*", SPARK_JAVA_OPT_0="-Dspark.master=local[2]")
    assert done.returncode == 0, done.stderr
    assert "Pi is roughly 3.1" in done.stdout


def test_what_is_missing_is_named(root):
    done = run(root, "executor")
    assert done.returncode == 1 and "SPARK_DRIVER_URL is not set" in done.stderr
    done = run(root, "sh")
    assert done.returncode == 127 and "pass-through mode" in done.stdout and "cannot start sh" in done.stderr
    assert run(root).returncode == 1


@pytest.fixture
def environment(tmp_path):
    """A virtual environment with packages of the names that PySpark needs, and their folder."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    [folder] = (tmp_path / "venv" / "lib").glob("python3.*/site-packages")
    for name in "pyspark", "py4j":
        (folder / name / "jars").mkdir(parents=True)
        (folder / name / "__init__.py").write_text("def where():\n    raise KeyError\n")
        (folder / name / "jars" / "large.jar").write_text("jar")
    return folder


def isolated(root):
    """A command's words that run a program in the directory, with a /proc of its own."""
    (root / "proc").mkdir()
    words = ["unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", f"--mount-proc={root}/proc", "chroot", str(root)]
    if subprocess.run([*words, "/opt/spark/bin/firesteel", "--version"], capture_output=True, check=False).returncode:
        pytest.skip("this machine lets nobody make a user namespace with a /proc of its own")
    return words


def test_an_image_with_python_runs_its_packages_where_nothing_else_is(environment, tmp_path):
    done = build(tmp_path, "--python=venv/bin/python", "--root", "root")
    assert done.returncode == 0, done.stderr
    inside = f"/opt/python/lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
    there = tmp_path / "root" / inside[1:]
    assert not (there / "pyspark" / "jars").exists() and (there / "py4j" / "jars" / "large.jar").exists()
    assert not (there / "pip").exists()
    code = ("import bz2, ctypes, hashlib, json, lzma, multiprocessing, os, sqlite3, ssl, pyspark, traceback\n"
            "ctypes.CDLL('libgcc_s.so.1')\n"  # glibc needs it when a thread ends early
            "print(pyspark.__file__, os.path.exists(pyspark.__cached__), end=' ')\n"
            "try: pyspark.where()\nexcept KeyError: print(traceback.format_exc())")
    ran = subprocess.run([*isolated(tmp_path / "root"), "/usr/local/bin/python3", "-c", code], env={"PATH": os.environ["PATH"], "PYTHONPATH": inside}, text=True,
                         capture_output=True, timeout=TIMEOUT, check=False)
    assert ran.stdout.startswith(f"{inside}/pyspark/__init__.py True "), ran.stderr
    assert f'File "{inside}/pyspark/__init__.py", line 2, in where' in ran.stdout


def test_an_image_with_python_names_what_is_missing(environment, tmp_path):
    shutil.rmtree(environment / "py4j")
    done = build(tmp_path, "--python=venv/bin/python", "--root", "root")
    assert "it has no py4j: install pyspark for it" in done.stderr
    assert done.returncode == 1 and not (tmp_path / "root").exists()
    done = build(tmp_path, "--python=/nowhere/python", "--root", "root")
    assert done.returncode == 1 and "/nowhere/python cannot be the Python of the image" in done.stderr
    done = build(tmp_path, "--python=", "--root", "root")
    assert done.returncode == 1 and "needs an interpreter" in done.stderr


@pytest.mark.skipif(not shutil.which("Rscript"), reason="this machine has no R")
def test_an_image_with_r_runs_its_packages_where_nothing_else_is(tmp_path, monkeypatch):
    package = tmp_path / "library" / "SparkR"
    (package / "help").mkdir(parents=True)
    (package / "DESCRIPTION").write_text("Package: SparkR\nVersion: 1.0\n")
    (package / "help" / "large").write_text("help")
    monkeypatch.setenv("R_LIBS", str(package.parent))
    done = build(tmp_path, "--r", "--root", "root")
    assert done.returncode == 0, done.stderr
    code = ("print(lm(mpg ~ wt, mtcars)$rank); print(format(.POSIXct(0), tz = 'Asia/Kolkata', '%H:%M'));"
            "cat(system('echo a shell', intern = TRUE), nchar('\u00e9'), find.package('SparkR'), dir(find.package('SparkR')))")
    ran = subprocess.run([*isolated(tmp_path / "root"), "/usr/local/bin/Rscript", "--vanilla", "-e", code], text=True, capture_output=True,
                         env={"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin", "LANG": "C.UTF-8"}, timeout=TIMEOUT, check=False)
    assert ran.stdout.splitlines()[:2] == ["[1] 2", '[1] "05:30"'], ran.stderr
    assert ran.stdout.splitlines()[2].startswith("a shell 1 /") and ran.stdout.endswith("/site-library/SparkR DESCRIPTION"), ran.stdout


@pytest.mark.skipif(not shutil.which("Rscript"), reason="this machine has no R")
def test_an_image_with_r_names_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.setenv("R_LIBS", str(tmp_path))
    for words, message in ((["--r=/nowhere/Rscript"], "/nowhere/Rscript cannot be the R of the image"), (["--r="], "--r= needs a program")):
        done = build(tmp_path, *words, "--root", "root")
        assert done.returncode == 1 and message in done.stderr and list(tmp_path.iterdir()) == []
    done = build(tmp_path, "--r", "--root", "root")
    if done.returncode:  # else R has the package
        assert "it has no package SparkR: install it" in done.stderr and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words, message", [
    (["--tag", "Upper"], "'Upper' is not a valid image name"),
    (["--add", "/nowhere"], "/nowhere: No such file"),
    (["--add", f"{TOP}/LICENSE:/opt/spark/../x"], "write an absolute path"),
    (["--add", f"{TOP}/LICENSE:/x", "--add", f"{TOP}/README.md:/x"], "two files have the path /x in the image"),
    (["--output", "/nowhere/x.tar"], "cannot write /nowhere/x.tar"),
])
def test_invalid_options_leave_no_image(tmp_path, words, message):
    done = build(tmp_path, *words)
    assert done.returncode == 1 and message in done.stderr, done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words, message", [
    (["--user", "me"], "--user needs a user id, not me"), (["--tag"], "a value is missing after --tag"),
    (["--colour", "red"], "unknown option --colour")])
def test_wrong_words_ask_for_the_usage(tmp_path, words, message):
    done = build(tmp_path, *words)
    assert done.returncode == 2 and message in done.stderr and "Usage:" in done.stderr
