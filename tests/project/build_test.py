"""The build's products: a library that exports only its interface, and trees that can be moved."""
import json
import os
import shutil
import subprocess

import pytest

from folders import BUILD, TOP
from sanitizers import SANITIZED


def run(*command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, **options)


def test_product_is_what_is_installed_without_tests():
    # One tool lists the alias, the other its dependencies.
    inputs = {word for tool in ("query", "inputs") for word in run("ninja", "-C", BUILD, "-t", tool, "product").stdout.split()}
    targets = json.loads(run("meson", "introspect", "--targets", BUILD).stdout)
    installed = [os.path.relpath(file, os.path.realpath(BUILD)) for target in targets if target["installed"] for file in target["filename"]]
    assert "src/firesteel" in installed
    assert [file for file in installed if file not in inputs] == []
    assert [file for file in inputs if "cmocka" in file or "_test.c" in file or file.startswith("tests/")] == []


def test_header_compiles_alone(tmp_path):
    source = tmp_path / "app.c"
    source.write_text("#include <firesteel/firesteel.h>\nint main(void) { return 0; }\n")
    for standard in ("gnu11", "gnu17", "gnu2x"):
        done = run("cc", "-std=" + standard, "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror", "-I", os.path.join(TOP, "include"),
                   "-fsyntax-only", source)
        assert done.returncode == 0, done.stderr


@pytest.fixture
def moved(tmp_path):
    """An installed tree, moved to another path."""
    if SANITIZED:
        pytest.skip("what is linked to a sanitizer is not installed")
    done = run("meson", "install", "-C", BUILD, "--no-rebuild", "--quiet",
               env=dict(os.environ, DESTDIR=str(tmp_path / "stage")))
    assert done.returncode == 0, done.stderr
    include, = (tmp_path / "stage").rglob("include/firesteel/firesteel.h")
    return shutil.move(include.parents[2], tmp_path / "elsewhere")


def test_installed_tree_can_be_moved(moved, tmp_path):
    source = tmp_path / "app.c"
    source.write_text("#include <firesteel/firesteel.h>\n"
                      "int main(void) { return fst_conf_get(fst_conf_new(), \"spark.no.such.key\") != NULL; }\n")
    flags = run("pkg-config", "--cflags", "--libs", "firesteel",
                env=dict(os.environ, PKG_CONFIG_PATH=str(moved / "lib/pkgconfig"))).stdout.split()
    done = run("cc", "-o", tmp_path / "app", source, *flags, "-Wl,-rpath," + str(moved / "lib"))
    assert done.returncode == 0, done.stderr
    assert run(tmp_path / "app").returncode == 0
    assert "firesteel" in run(moved / "bin/firesteel", "--version").stdout


def test_moved_program_compiles_with_the_header_beside_it(moved, tmp_path):
    source = tmp_path / "app.c"
    source.write_text("#include <firesteel/firesteel.h>\n#include <stdio.h>\n"
                      "int main(int argc, char **argv) { return printf(\"%s\\n\", argv[1]) < 0; }\n")
    done = run(moved / "bin/spark-submit", "--master", "local", source, "moved",
               env=dict(os.environ, HOME=str(tmp_path), XDG_CACHE_HOME=str(tmp_path / "cache")))
    assert (done.returncode, done.stdout) == (0, "moved\n"), done.stderr


def test_moved_library_finds_the_program_for_what_it_submits(moved, tmp_path):
    flags = run("pkg-config", "--cflags", "--libs", "firesteel",
                env=dict(os.environ, PKG_CONFIG_PATH=str(moved / "lib/pkgconfig"))).stdout.split()
    done = run("cc", "-o", tmp_path / "submitting", os.path.join(TOP, "examples/submitting.c"), *flags,
               "-Wl,-rpath," + str(moved / "lib"))
    assert done.returncode == 0, done.stderr
    done = run(tmp_path / "submitting", "1", "--master", "local", os.path.join(TOP, "examples/spark_pi.c"),
               env=dict(os.environ, HOME=str(tmp_path), XDG_CACHE_HOME=str(tmp_path / "cache")))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Pi is roughly" in done.stdout and "FINISHED" in done.stdout


def test_nothing_to_install_is_quick_and_silent():
    listed = run("dpkg-query", "-W", "libcmocka-dev")
    if listed.returncode != 0:
        pytest.skip("this machine's packages are not Debian's")
    done = run("scripts/install-deps.sh", cwd=TOP, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
