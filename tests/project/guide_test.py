"""Compiles and runs the programs of the guide (docs/guide/), and compares their output with the guide.

In a page, a block of C whose first line is a comment "/* name.c: … */" is a whole program, which is written to name.c. A
block of console has commands after "$ ", run in a folder with these programs, and their standard output ("…" matches
anything). Every other block of C is a fragment. Those of a page are compiled together, definitions as they are and
statements in a function, with the names below for variables that the text introduces.
"""
import os
import re
import subprocess

import pytest

from folders import BIN, TOP

GUIDE = os.path.join(TOP, "docs/guide")
HEADERS = os.path.join(TOP, "include/firesteel")
PAGES = sorted(name for name in os.listdir(GUIDE) if name.endswith(".md"))

# Variables that fragments may use without a declaration.
NAMES = """
#include <firesteel/firesteel.h>
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
extern fst_context *sc;
extern fst_rdd *lines;          /* BYTES */
extern fst_rdd *numbers, *more; /* I64 */
extern fst_rdd *words, *pairs;  /* pairs */
extern fst_rdd *rdd;
extern int64_t n;
extern int status;
"""


# Functions called only by macros and inline functions, which the guide names instead.
BEHIND_MACROS = {
    "fst_accumulate_f64", "fst_accumulate_i64", "fst_accumulator_own_of", "fst_context_broadcast", "fst_context_file",
    "fst_iter_more", "fst_likely", "fst_out_copy", "fst_out_more", "fst_out_pieces", "fst_out_struct", "fst_task_broadcast",
    "fst_task_file", "fst_type_pair",
}


def read(page):
    with open(os.path.join(GUIDE, page), encoding="utf-8") as file:
        return file.read()


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", read(page), re.M | re.S)


def programs(page):
    found = {}
    for text in blocks(page, "c"):
        name = re.match(r"/\* (\w+\.c): ", text)
        if name:
            assert "int main(" in text, f"{page}: {name[1]} is no program"
            found[name[1]] = text
    return found


def fragments(page):
    return [text for text in blocks(page, "c") if not re.match(r"/\* (\w+\.c): ", text)]


def sessions(page):
    """(command, expected output) of all blocks of console."""
    steps = []
    for text in blocks(page, "console"):
        command, more = None, False
        for line in text.splitlines():
            if more:
                command += "\n" + line
                steps[-1][0] = command
            elif line.startswith("$ "):
                command = line[2:]
                steps.append([command, []])
            else:
                assert steps, f"{page}: output without a command: {line}"
                steps[-1][1].append(line)
                continue
            more = command.endswith("\\")
    return steps


def matches(expected, line):
    return re.fullmatch(".*".join(map(re.escape, expected.split("…"))), line)


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    nothing = tmp_path_factory.mktemp("conf")
    return dict(os.environ, PATH=f"{BIN}:{os.environ['PATH']}", XDG_CACHE_HOME=str(tmp_path_factory.mktemp("cache")),
                SPARK_CONF_DIR=str(nothing), LC_ALL="C.UTF-8")


@pytest.mark.parametrize("page", [page for page in PAGES if sessions(page)])
def test_programs_print_what_the_guide_shows(page, environment, tmp_path):
    for name, text in programs(page).items():
        (tmp_path / name).write_text(text)
    for command, shown in sessions(page):
        done = subprocess.run(["bash", "-c", command], cwd=tmp_path, env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False, timeout=100)
        printed = done.stdout.splitlines()
        assert len(printed) == len(shown) and all(map(matches, shown, printed)), (
            f"{page}: $ {command}\nprints\n{done.stdout}and not\n" + "\n".join(shown) + f"\n\n{done.stderr[-3000:]}")


@pytest.mark.parametrize("page", PAGES)
def test_every_program_is_run(page):
    typed = "\n".join(command for command, _ in sessions(page))
    assert [name for name in programs(page) if name not in typed] == []


def with_warnings(source):
    return subprocess.run(["cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-Wno-unused", "-Wno-unused-parameter",
                           "-Wno-missing-field-initializers", "-fsyntax-only", f"-I{os.path.join(TOP, 'include')}",
                           str(source)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


def is_definitions(text):
    """Whether a fragment stands by itself, outside of functions."""
    return re.match(r"(/\*.*?\*/\s*)?(static |struct \w+ \{|int main\()", text, re.S) is not None


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "c")])
def test_fragments_compile(page, tmp_path):
    source = NAMES
    for number, text in enumerate(fragments(page)):
        source += text if is_definitions(text) else f"static void fragment_{number}(void)\n{{\n{text}}}\n"
    (tmp_path / "fragments.c").write_text(source)
    done = with_warnings(tmp_path / "fragments.c")
    assert done.returncode == 0, done.stdout
    for name, text in programs(page).items():
        (tmp_path / name).write_text(text)
        done = with_warnings(tmp_path / name)
        assert done.returncode == 0, done.stdout


def declared():
    """Names in the public headers, and the functions and macros among them that an application calls."""
    names, calls = set(), set()
    for folder, _, files in os.walk(HEADERS):
        for header in files:
            with open(os.path.join(folder, header), encoding="utf-8") as file:
                text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
            names.update(re.findall(r"\b(?:fst|FST)_\w+", text))
            # Programs do not call detail/ by name. Submitting, pods and listeners have their own chapters.
            if os.path.basename(folder) == "detail" or header in ("submit.h", "pod_step.h", "listener.h"):
                continue
            calls.update(re.findall(r"^FST_API [\w \*]*?\b(fst_\w+)\(", text, re.M))
            calls.update(re.findall(r"^static inline [\w \*]*?\b(fst_\w+)\(", text, re.M))
            calls.update(re.findall(r"^#define (fst_\w+)\(", text, re.M))
    return names, calls


def test_names_are_those_of_the_headers():
    names, _ = declared()
    for page in PAGES:
        own = set(re.findall(r"\b(?:fst|FST)_\w+", read(page)))
        unknown = {name for name in own if name not in names and not name.endswith("_")}
        assert unknown == set(), page


def test_every_function_is_in_the_guide():
    _, calls = declared()
    text = "\n".join(read(page) for page in PAGES)
    told = set(re.findall(r"\bfst_\w+", text))
    # The macro fst_map calls fst_map_at, and fst_reduce_by_key_n is the variant of fst_reduce_by_key with a number.
    missing = {name for name in calls if not told & {name, re.sub("_(at|n|n_at)$", "", name)}}
    assert missing - BEHIND_MACROS == set(), "say what these are for in docs/guide/, where a reader would look for them"


def test_links_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", read(page)):
            assert os.path.exists(os.path.join(GUIDE, target)), f"{page}: {target}"


# They take no pointer, or only one from the engine.
WITHOUT_NULL = {"fst_conf_new", "fst_context_new_at", "fst_fail", "fst_iter_more", "fst_last_failure", "fst_list_bad", "fst_out_copy",
                "fst_out_more", "fst_out_pieces", "fst_out_struct", "fst_parse_f64", "fst_parse_f64s", "fst_parse_i64",
                "fst_version"}


def test_every_function_is_tried_with_null():
    """tests/api/null_api_test.c calls every function of the headers, except those of submit.h and pod_step.h."""
    declared = set()
    for folder, _, names in os.walk(HEADERS):
        for name in set(names) - {"submit.h", "pod_step.h"}:
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                declared |= set(re.findall(r"^FST_API [^;(]*?\b(fst_\w+)\(", file.read(), re.M))
    with open(os.path.join(TOP, "tests/api/null_api_test.c"), encoding="utf-8") as file:
        tried = set(re.findall(r"(?:NOTHING|QUIET)\((fst_\w+)\(", file.read()))
    assert declared - tried == WITHOUT_NULL
    assert not tried - declared
