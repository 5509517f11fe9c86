"""The files of docker/ name existing files, and make the same image as firesteel image build. `make check-docker` builds them."""
import json
import os
import re
import stat
import subprocess
import tarfile

import pytest

import dockerfile
from folders import BIN, TOP
from sanitizers import SANITIZED
from unpack import unpack

FILES = sorted(name for name in os.listdir(os.path.join(TOP, "docker")) if name.startswith("Dockerfile"))
TIMEOUT = 300


def stages_of(name):
    return dockerfile.read(os.path.join(TOP, "docker", name))


def build(folder, *words):
    done = subprocess.run([os.path.join(BIN, "firesteel"), "image", "build", *words], cwd=folder, text=True,
                          capture_output=True, timeout=TIMEOUT, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    if SANITIZED:
        pytest.skip("a sanitizer's library is no part of an image")
    folder = tmp_path_factory.mktemp("image")
    build(folder, "-t", "app:1", "-o", "image.tar")
    unpack(folder / "image.tar", folder)
    return folder


def test_there_are_the_two():
    assert FILES == ["Dockerfile", "Dockerfile.scratch"]


@pytest.mark.parametrize("name", FILES)
def test_what_it_names_is_there(name):
    stages = stages_of(name)
    names = [stage.name for stage in stages]
    for stage in stages:
        for word, text in stage.steps:
            if word == "COPY":
                source, paths, _ = dockerfile.copy_of(text)
                assert source is None or source in names
                assert source or all(os.path.exists(os.path.join(TOP, path)) for path in paths)
            for path in re.findall(r"(?:^|[\s&])((?:scripts|docker|sbin)/\S+)", text) if word == "RUN" else ():
                assert os.access(os.path.join(TOP, path), os.X_OK), path
    assert stages[-1].base == {"Dockerfile": "debian:12-slim", "Dockerfile.scratch": "scratch"}[name]


@pytest.mark.parametrize("name", FILES)
def test_containers_are_what_image_build_says(name, archive):
    [listed] = json.loads((archive / "manifest.json").read_text())
    said = json.loads((archive / listed["Config"]).read_text())["config"]
    last = stages_of(name)[-1]
    assert last.entrypoint() == said["Entrypoint"]
    assert last.last("USER") == said["User"] and last.last("WORKDIR") == said["WorkingDir"]
    assert said["Env"] == [last.last("ENV")]


def test_the_small_one_holds_what_the_archive_holds(tmp_path, archive):
    """Runs the commands of its RUN."""
    run = stages_of("Dockerfile.scratch")[0].last("RUN").split()
    assert run[0].endswith("/firesteel") and run[1:3] == ["image", "build"] and run[-2:] == ["--root", "/image"]
    root = tmp_path / "root"
    build(tmp_path, *run[3:-1], str(root))
    held = {}
    for layer in json.loads((archive / "manifest.json").read_text())[0]["Layers"]:
        with tarfile.open(archive / layer) as tar:
            for entry in tar:
                held[entry.name] = (entry.mode, entry.linkname or (tar.extractfile(entry).read() if entry.isfile() else None))
    found = {}
    for folder, folders, files in os.walk(root):
        for item in folders + files:
            path = os.path.join(folder, item)
            link = os.path.islink(path)
            content = os.readlink(path) if link else None if os.path.isdir(path) else open(path, "rb").read()
            found[os.path.relpath(path, root)] = (0o777 if link else stat.S_IMODE(os.lstat(path).st_mode), content)
    assert found == held


def test_a_folder_that_is_not_empty_stays_as_it_is(tmp_path):
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "mine").write_text("mine")
    done = subprocess.run([os.path.join(BIN, "firesteel"), "image", "build", "--root", "root"], cwd=tmp_path, text=True,
                          capture_output=True, timeout=TIMEOUT, check=False)
    assert done.returncode == 1 and "root is not empty" in done.stderr
    assert os.listdir(tmp_path / "root") == ["mine"]
