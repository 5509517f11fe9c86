"""The layer check must complain: each test plants one fault in a copy of the tree."""
import os
import shutil
import subprocess

import pytest

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@pytest.fixture
def tree(tmp_path):
    for part in ("src", "include", "fuzz", "docs", "tests/api", "tests/layers", "tests/unit"):
        shutil.copytree(os.path.join(TOP, part), tmp_path / part)
    return tmp_path


def check(tree):
    done = subprocess.run([tree / "tests/layers/check"], stdout=subprocess.PIPE, text=True, check=False)
    return done.returncode, done.stdout


def append(path, line):
    with open(path, "a", encoding="utf-8") as file:
        file.write(line + "\n")


def test_tree_is_clean(tree):
    assert check(tree) == (0, "")


@pytest.mark.parametrize("file, line, words", [
    ("src/base/buf.h", '#include "sched/sched.h"', "#include only ever points down, and base"),
    ("src/store/page.h", '#include "rdd/lineage.h"', "is lower than rdd"),
    ("src/sched/sched.h", '#include "store/page.h"', "sched is pure"),
    ("src/sched/tasks/pool.h", '#include "store/page.h"', "sched is pure"),
    ("src/rdd/sort/sorter.h", '#include "rdd/aggregate/aggregate.h"', "is lower than rdd/aggregate"),
    ("src/conf/conf.h", '#include "../base/buf.h"', "never with ../"),
    ("src/conf/conf.h", '#include "units.h"', "written from the source root"),
    ("include/firesteel/types.h", '#include "base/buf.h"', "nothing of src/"),
])
def test_include_is_refused(tree, file, line, words):
    append(tree / file, line)
    code, output = check(tree)
    assert code == 1
    assert output.startswith(file + ":")
    assert words in output


def test_unknown_room_is_refused(tree):
    (tree / "src/attic").mkdir()
    (tree / "src/attic/meson.build").write_text("")
    append(tree / "src/attic/thing.h", "#pragma once")
    code, output = check(tree)
    assert code == 1
    assert "room attic is not in the table of docs/architecture.md" in output


def test_unknown_sub_room_is_refused(tree):
    (tree / "src/rdd/attic").mkdir()
    append(tree / "src/rdd/attic/thing.h", "#pragma once")
    code, output = check(tree)
    assert code == 1
    assert "room rdd/attic is not in the table of docs/architecture.md" in output


def test_directory_with_too_many_files_is_refused(tree):
    for number in range(46):
        append(tree / f"src/cmd/header_{number}.h", "#pragma once")
    code, output = check(tree)
    assert code == 1
    assert "files: split the directory, it may have 45" in output


def test_source_that_nobody_builds_is_refused(tree):
    append(tree / "src/base/forgotten_test.c", "int main(void) { return 0; }")
    code, output = check(tree)
    assert code == 1
    assert "src/base/forgotten_test.c:1: it is not in src/base/meson.build" in output


def test_fuzz_target_needs_build_and_seeds(tree):
    append(tree / "fuzz/forgotten_fuzz.c", "")
    code, output = check(tree)
    assert code == 1
    assert "add 'forgotten' to fuzz_targets" in output
    assert "fuzz/corpus/forgotten/ is missing" in output


def test_room_without_readme_is_refused(tree):
    os.remove(tree / "src/rest/README.md")
    code, output = check(tree)
    assert code == 1
    assert output.startswith("src/rest/README.md:1: it is missing")


def test_readme_that_names_a_missing_file_is_refused(tree):
    append(tree / "src/rest/README.md", "| `rest_attic` | nothing |")
    code, output = check(tree)
    assert code == 1
    assert "`rest_attic`: src/rest has no such file or directory" in output


def test_static_functions_that_share_a_name_are_refused(tree):
    for number in range(40):
        for path in (tree / "src/base").glob("*.c"):
            append(path, f"static int thing_{number}(void);")
    code, output = check(tree)
    assert code == 1
    assert "% of static functions have a unique name" in output and "rename thing_0" in output


@pytest.mark.parametrize("comment, code", [("", 1), ("/* Returns the number of bytes. */\n", 1),
                                           ("/* For tests: returns the number of bytes. */\n", 0)])
def test_function_that_only_tests_call_gives_its_reason(tree, comment, code):
    append(tree / "src/base/buf.h", "\n" + comment + "int buf_attic(void);")
    append(tree / "src/base/buf.c", "\nint buf_attic(void)\n{\n        return 0;\n}")
    append(tree / "src/base/list_test.c", "int attic = buf_attic();")
    found, output = check(tree)
    assert found == code
    assert ("only tests call buf_attic: remove it" in output) == (code == 1)


@pytest.mark.parametrize("tag, code", [("struct buf {", 1), ("enum buf_attic {", 0)])
def test_type_tags_are_unique(tree, tag, code):
    append(tree / "src/base/list_test.c", f"{tag}\n        ATTIC\n}};")
    found, output = check(tree)
    assert found == code
    assert ("struct buf is also defined in" in output) == (code == 1)
