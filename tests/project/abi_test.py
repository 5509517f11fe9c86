"""The binary interface (docs/abi.md): the library's exports, compared with the committed description."""
import os
import re
import shutil
import subprocess

import pytest

from folders import BUILD, TOP

LIBRARY = os.path.join(BUILD, "src/libfiresteel.so")


def run(*command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options)


def defined(name):
    with open(os.path.join(TOP, "include/firesteel/types.h"), encoding="utf-8") as file:
        return int(re.search(rf"^#define {name} (\d+)$", file.read(), re.MULTILINE).group(1))


def test_exported_symbols_have_the_prefix_and_the_version():
    done = run("nm", "-D", "--defined-only", "--with-symbol-versions", LIBRARY)
    assert done.returncode == 0, done.stdout
    node = f"FIRESTEEL_{defined('FST_ABI')}"
    names = [line.split()[-1] for line in done.stdout.splitlines()]
    assert f"fst_context_new_at@@{node}" in names
    # The node itself is a symbol, and firesteel_main is for the program alone.
    assert [name for name in names if not re.fullmatch(rf"fst_[a-z0-9_]+@@{node}", name)
            and name not in (node, f"{node}@@{node}", f"firesteel_main@@{node}")] == []


def test_one_number_names_the_file_and_the_interface():
    done = run("readelf", "-d", LIBRARY)
    assert f"[libfiresteel.so.{defined('FST_ABI')}]" in done.stdout
    with open(os.path.join(TOP, "meson.build"), encoding="utf-8") as file:
        version = re.search(r"version: '([^']*)'", file.read()).group(1)
    assert version == ".".join(str(defined("FST_VERSION_" + part)) for part in ("MAJOR", "MINOR", "PATCH"))


def compare(top, build):
    done = run(os.path.join(top, "scripts/abi"), "compare", build)
    if done.returncode == 77:
        pytest.skip(done.stdout.strip())
    return done


def test_interface_is_the_described_one():
    done = compare(TOP, BUILD)
    assert done.returncode == 0, done.stdout


@pytest.fixture
def tree(tmp_path):
    """A copy of the files that scripts/abi reads, for the test to change."""
    for part in ("scripts/abi", "docs/firesteel.abi"):
        os.makedirs(tmp_path / os.path.dirname(part), exist_ok=True)
        shutil.copy(os.path.join(TOP, part), tmp_path / part)
    shutil.copytree(os.path.join(TOP, "include"), tmp_path / "include")
    return tmp_path


@pytest.mark.parametrize("header, old, new", (
    ("action.h", "int fst_count_at(fst_rdd *rdd, int64_t *count,", "int fst_count_at(fst_rdd *rdd, int *count,"),
    ("action.h", "struct fst_statistics {\n", "struct fst_statistics {\n        int first;\n"),
    ("types.h", "FST_KIND_I64 = 1", "FST_KIND_I64 = 7"),
    ("task.h", "uint64_t random_state;", "uint32_t random_state;"),
    ("types.h", "#define FST_ABI ", "#define FST_ABI 1"),
))
def test_a_changed_interface_is_found(tree, header, old, new):
    compare(TOP, BUILD)
    path = tree / "include/firesteel" / header
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    build = BUILD
    if "FST_ABI" in old:
        build = tree / "build"
        os.makedirs(build / "src")
        assert run("cc", "-shared", "-fPIC", "-x", "c", "/dev/null", "-Wl,-soname,libfiresteel.so.999",
                   "-o", build / "src/libfiresteel.so").returncode == 0
    done = compare(tree, build)
    assert done.returncode == 1, done.stdout
    assert "make abi" in done.stdout
