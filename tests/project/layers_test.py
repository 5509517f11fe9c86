"""The layer check must complain: each test plants one fault in a copy of the tree."""
import importlib.machinery
import importlib.util
import os
import shutil
import subprocess

import pytest

from folders import TOP


class Tree:
    """A copy of the tree with changes that undo() takes back. The check is loaded once and reads unchanged files once."""

    def __init__(self, folder):
        self.folder, self.before = folder, {}
        for part in ("src", "include", "fuzz", "docs", "tests/api", "tests/layers", "tests/unit"):
            shutil.copytree(os.path.join(TOP, part), folder / part)
        loader = importlib.machinery.SourceFileLoader("layer_check", str(folder / "tests/layers/check"))
        self.module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
        loader.exec_module(self.module)

    def change(self, name, text):
        """Writes a file; None removes it."""
        path = self.folder / name
        self.before.setdefault(path, path.read_text(encoding="utf-8") if path.exists() else None)
        if text is None:
            path.unlink()
        else:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def append(self, name, line):
        path = self.folder / name
        self.change(name, (path.read_text(encoding="utf-8") if path.exists() else "") + line + "\n")

    def undo(self):
        for path, text in self.before.items():
            if text is not None:
                path.write_text(text, encoding="utf-8")
                continue
            path.unlink()
            if not any(path.parent.iterdir()):
                path.parent.rmdir()
        self.before = {}


@pytest.fixture(scope="module")
def copied_tree(tmp_path_factory):
    return Tree(tmp_path_factory.mktemp("tree"))


@pytest.fixture
def tree(copied_tree):
    yield copied_tree
    copied_tree.undo()


@pytest.fixture
def check(tree, capsys):
    """Returns the status and the output of the check."""
    return lambda: (tree.module.main(), capsys.readouterr().out)


def test_program_fails_if_the_check_does(tree):
    """That it ends with 0 otherwise is the test `layers` of Meson."""
    tree.change("src/rest/README.md", None)
    done = subprocess.run([tree.folder / "tests/layers/check"], stdout=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1 and done.stdout.startswith("src/rest/README.md:1: it is missing"), done.stdout


def test_tree_is_clean(check):
    assert check() == (0, "")


@pytest.mark.parametrize("file, line, words", [
    ("src/base/buf.h", '#include "sched/sched.h"', "#include only ever points down, and base"),
    ("src/store/page.h", '#include "rdd/lineage.h"', "is lower than rdd"),
    ("src/sched/sched.h", '#include "store/page.h"', "sched is pure"),
    ("src/sched/tasks/pool.h", '#include "store/page.h"', "sched is pure"),
    ("src/sched/sched.h", '#include "celeborn/lifecycle/lifecycle.h"', "sched is pure"),
    ("src/sched/simulator/simulator.h", '#include "celeborn/lifecycle/celeborn_driver.h"', "sched is pure"),
    ("src/rdd/sort/sorter.h", '#include "rdd/aggregate/aggregate.h"', "is lower than rdd/aggregate"),
    ("src/conf/conf.h", '#include "../base/buf.h"', "never with ../"),
    ("src/conf/conf.h", '#include "units.h"', "written from the source root"),
    ("include/firesteel/types.h", '#include "base/buf.h"', "nothing of src/"),
])
def test_include_is_refused(tree, check, file, line, words):
    tree.append(file, line)
    code, output = check()
    assert code == 1
    assert output.startswith(file + ":")
    assert words in output


def test_unknown_room_is_refused(tree, check):
    tree.change("src/attic/meson.build", "")
    tree.append("src/attic/thing.h", "#pragma once")
    code, output = check()
    assert code == 1
    assert "room attic is not in the table of docs/rooms.md" in output


def test_unknown_sub_room_is_refused(tree, check):
    tree.append("src/rdd/attic/thing.h", "#pragma once")
    code, output = check()
    assert code == 1
    assert "room rdd/attic is not in the table of docs/rooms.md" in output


def test_directory_with_too_many_files_is_refused(tree, check):
    for number in range(46):
        tree.append(f"src/cmd/header_{number}.h", "#pragma once")
    code, output = check()
    assert code == 1
    assert "files: split the directory, it may have 45" in output


def test_file_with_too_many_lines_is_refused(tree, check):
    tree.append("src/cmd/command.h", "\n" * 800)
    code, output = check()
    assert code == 1
    assert "lines: split the file, it may have 800" in output


def test_source_that_nobody_builds_is_refused(tree, check):
    tree.append("src/base/forgotten_test.c", "int main(void) { return 0; }")
    code, output = check()
    assert code == 1
    assert "src/base/forgotten_test.c:1: it is not in src/base/meson.build" in output


def test_fuzz_target_needs_build_and_seeds(tree, check):
    tree.append("fuzz/formats/forgotten_fuzz.c", "")
    code, output = check()
    assert code == 1
    assert "add 'forgotten' to its folder" in output
    assert "fuzz/corpus/forgotten/ is missing" in output


def test_room_without_readme_is_refused(tree, check):
    tree.change("src/rest/README.md", None)
    code, output = check()
    assert code == 1
    assert output.startswith("src/rest/README.md:1: it is missing")


def test_readme_that_names_a_missing_file_is_refused(tree, check):
    tree.append("src/rest/README.md", "| `rest_attic` | nothing |")
    code, output = check()
    assert code == 1
    assert "`rest_attic`: src/rest has no such file or directory" in output


def test_static_functions_that_share_a_name_are_refused(tree, check):
    lines = "".join(f"static int thing_{number}(void);\n" for number in range(40))
    for path in sorted((tree.folder / "src/base").glob("*.c")):
        tree.append(path.relative_to(tree.folder), lines)
    code, output = check()
    assert code == 1
    assert "% of static functions have a unique name" in output and "rename thing_0" in output


@pytest.mark.parametrize("comment, code", [("", 1), ("/* Returns the number of bytes. */\n", 1),
                                           ("/* For tests: returns the number of bytes. */\n", 0)])
def test_function_that_only_tests_call_gives_its_reason(tree, check, comment, code):
    tree.append("src/base/buf.h", "\n" + comment + "int buf_attic(void);")
    tree.append("src/base/buf.c", "\nint buf_attic(void)\n{\n        return 0;\n}")
    tree.append("src/base/list_test.c", "int attic = buf_attic();")
    found, output = check()
    assert found == code
    assert ("only tests call buf_attic: remove it" in output) == (code == 1)


@pytest.mark.parametrize("tag, code", [("struct buf {", 1), ("enum buf_attic {", 0)])
def test_type_tags_are_unique(tree, check, tag, code):
    tree.append("src/base/list_test.c", f"{tag}\n        ATTIC\n}};")
    found, output = check()
    assert found == code
    assert ("struct buf is also defined in" in output) == (code == 1)
