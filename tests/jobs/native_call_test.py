"""fst_native_call: an application calls functions of another C file by name, here and on executors."""
import os
import subprocess

import pytest

from folders import BIN


NATIVE = """
#include <firesteel/firesteel.h>
#include <stdlib.h>

static int64_t times(fst_task *task, int64_t x) { return x * *(const int64_t *)fst_captured(task); }

fst_rdd *multiply(fst_rdd *numbers, int argc, char **argv)
{
        int64_t factor = argc > 0 ? atoll(argv[0]) : 2;
        return fst_map(numbers, FST_WITH(times, factor), FST_I64);
}

fst_rdd *nothing(fst_rdd *numbers, int argc, char **argv) { return NULL; }
fst_rdd *wrong(fst_rdd *numbers, int argc, char **argv) { return fst_values(numbers); }
"""

APP = """
#include <firesteel/firesteel.h>
#include <firesteel/frames.h>
#include <stdio.h>

int main(int argc, char **argv)
{
        fst_context *sc = fst_context_new("native");
        fst_rdd *packed = fst_frames_from_elements(fst_range_n(sc, 0, 1000, 4));
        fst_rdd *made = fst_native_call(fst_frames_to_elements(packed, FST_I64), argv[1], argv[2], argc - 3, argv + 3);
        int64_t sum = 0;
        int status = fst_sum(fst_frames_to_elements(fst_frames_from_elements(made), FST_I64), &sum);
        if (status == 0)
                printf("%" PRId64 "\\n", sum);
        fst_context_stop(sc);
        return status != 0;
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("native")
    (path / "native.c").write_text(NATIVE)
    (path / "damaged.c").write_text("int x = ;\n")
    (path / "app.c").write_text(APP)
    return path


def call(folder, *arguments, master="local[2]"):
    return subprocess.run([os.path.join(BIN, "spark-submit"), "--master", master, "--conf", "spark.ui.enabled=false", "app.c",
                           *arguments], cwd=folder, capture_output=True, text=True, timeout=120,
                          env=dict(os.environ, XDG_CACHE_HOME=str(folder / "cache")))


@pytest.mark.parametrize("master", ["local[2]", "local-cluster[2,1,1024]"])
def test_calls_a_function_with_arguments(folder, master):
    done = call(folder, "native.c", "multiply", "5", master=master)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{5 * sum(range(1000))}\n"


def test_calls_a_function_without_arguments(folder):
    assert call(folder, "native.c", "multiply").stdout == f"{2 * sum(range(1000))}\n"


@pytest.mark.parametrize("file, function, message", [
    ("native.c", "absent", "native.c has no function absent"),
    ("native.c", "times", "native.c has no function times"),
    ("native.c", "nothing", "returned NULL instead of an RDD"),
    ("native.c", "wrong", "values needs pairs"),
    ("damaged.c", "f", "damaged.c"),
    ("absent.c", "f", "absent.c"),
])
def test_reports_what_cannot_be_called(folder, file, function, message):
    done = call(folder, file, function)
    assert done.returncode != 0
    assert message in done.stderr
    assert ("values at native.c:" if function == "wrong" else "native_call at app.c:") in done.stderr
