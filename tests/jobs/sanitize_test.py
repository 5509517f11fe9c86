"""spark.firesteel.cc.sanitize: applications compiled with sanitizers, drivers and executors that run under their libraries."""
import os
import re
import subprocess

import pytest

from folders import BIN
from sanitizers import ASAN, SANITIZED, TSAN

CLUSTER = "local-cluster[2,1,1024]"
ASAN_SETTINGS = ("detect_leaks=0:abort_on_error=1:disable_coredump=0:handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0:"
                 "handle_abort=0:use_sigaltstack=0:allocator_may_return_null=1")
UBSAN_SETTINGS = "print_stacktrace=1:abort_on_error=1:disable_coredump=0:handle_segv=0:handle_abort=0:use_sigaltstack=0"
not_preloaded = pytest.mark.skipif(SANITIZED, reason="the tested product has a sanitizer, so it preloads none")
loads_asan = pytest.mark.skipif(TSAN, reason="a process with ThreadSanitizer's library cannot have AddressSanitizer's")

PROGRAM = r"""
#include <firesteel/firesteel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t beyond(fst_task *task, int64_t x)
{
        int64_t *three = calloc(3, sizeof(*three));
        int64_t y = three[x % 4]; /* beyond */
        free(three);
        return y;
}
static int64_t overflow(fst_task *task, int64_t x)
{
        int y = 2147483600;
        y += (int)x; /* overflow */
        return y;
}
static int64_t null(fst_task *task, int64_t x) { return x + *(volatile int *)0; }
static int64_t good(fst_task *task, int64_t x) { return x; }

int main(int argc, char **argv)
{
        fst_context *sc = fst_context_new("sanitized");
        fst_rdd *rows = fst_range_n(sc, 0, 100, 4);
        double sum;
        if (strcmp(argv[1], "main") == 0) {
                volatile int64_t *one = malloc(8);
                printf("%d\n", (int)one[argc]);
        }
        if (strcmp(argv[1], "environment") == 0)
                printf("%s %s\n", getenv("LD_PRELOAD") ? getenv("LD_PRELOAD") : "none",
                       fst_context_conf(sc, "spark.executorEnv.LD_PRELOAD"));
        rows = fst_map(rows, strcmp(argv[1], "beyond") == 0 ? beyond : strcmp(argv[1], "overflow") == 0 ? overflow :
                       strcmp(argv[1], "null") == 0 ? null : good, FST_I64);
        if (fst_sum(fst_values(fst_reduce_by_key(fst_key_by(rows, good, FST_I64), fst_fn_sum)), &sum) == 0)
                printf("%.0f\n", sum);
        return fst_context_stop(sc);
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    path = tmp_path_factory.mktemp("sanitize") / "sanitized.c"
    path.write_text(PROGRAM)
    return path


def run(program, mode, sanitizers, master="local[2]", *conf, **environment):
    if sanitizers is not None and "CC" not in environment and \
            "/" not in subprocess.run(["cc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True).stdout:
        pytest.skip("the compiler has no libasan.so")
    if ASAN:  # the product has the libraries already, and these are the options that it gives them otherwise
        environment["ASAN_OPTIONS"] = f"{ASAN_SETTINGS}:{environment.get('ASAN_OPTIONS', '')}"
        environment["UBSAN_OPTIONS"] = UBSAN_SETTINGS
    words = ["spark.log.level=WARN", *conf] + ([] if sanitizers is None else [f"spark.firesteel.cc.sanitize={sanitizers}"])
    return subprocess.run([os.path.join(BIN, "spark-submit"), "--master", master,
                           *(word for one in words for word in ("--conf", one)), program, mode],
                          env=dict(os.environ, **environment), capture_output=True, text=True, timeout=120, check=False)


def line_of(mark):
    return 1 + PROGRAM[:PROGRAM.index(mark)].count("\n")


@loads_asan
@pytest.mark.parametrize("sanitizers", ["address", "address,undefined"])
def test_access_beyond_an_array_ends_a_local_application(program, sanitizers):
    done = run(program, "beyond", sanitizers)
    assert (done.returncode, done.stdout) == (-6, "")
    assert "ERROR: AddressSanitizer: heap-buffer-overflow" in done.stderr
    assert re.search(r"ERROR Executor: task \d in stage 0.0 .* crashed in beyond in sanitized.so: SIGABRT, "
                     fr"AddressSanitizer: heap-buffer-overflow .*sanitized.c:{line_of('/* beyond */')} in beyond", done.stderr)
    assert run(program, "beyond", None).returncode == 0  # not detected without a sanitizer


@loads_asan
def test_access_beyond_an_array_fails_the_job_on_executors(program):
    done = run(program, "beyond", "address", CLUSTER, "spark.task.maxFailures=1")
    assert (done.returncode, done.stdout) == (1, "")
    [said] = [line for line in done.stderr.splitlines() if " ERROR SparkContext" in line]
    assert f"AddressSanitizer: heap-buffer-overflow" in said and f"sanitized.c:{line_of('/* beyond */')} in beyond" in said


@pytest.mark.parametrize("master, status", [("local[2]", -6), (CLUSTER, 1)])
def test_integer_overflow_ends_the_application(program, master, status):
    done = run(program, "overflow", "undefined", master)
    assert (done.returncode, done.stdout) == (status, "")
    assert re.search(fr"sanitized.c:{line_of('/* overflow */')}:\d+: runtime error: signed integer overflow", done.stderr)
    assert "crashed in overflow in sanitized.so: SIGABRT" in done.stderr
    assert "a sanitizer has written a report to standard error" in done.stderr


@loads_asan
@pytest.mark.parametrize("conf", [[], ["spark.firesteel.task.isolation=process"], ["spark.firesteel.check=true"]])
@pytest.mark.parametrize("master", ["local[2]", CLUSTER])
def test_a_correct_application_runs_as_ever(program, master, conf):
    done = run(program, "good", "address,undefined", master, *conf)
    assert (done.returncode, done.stdout) == (0, "4950\n"), done.stderr


@loads_asan
def test_a_crash_is_reported_as_without(program):
    done = run(program, "null", "address")
    assert done.returncode == -11 and "crashed in null in sanitized.so: SIGSEGV, invalid memory access at address 0x0" in done.stderr


@loads_asan
def test_main_is_checked_too(program):
    done = run(program, "main", "address")
    assert done.returncode == -6 and "the application crashed in main in sanitized.so: SIGABRT, AddressSanitizer" in done.stderr


@not_preloaded
def test_executors_elsewhere_get_the_libraries_and_other_children_do_not(program):
    done = run(program, "environment", "address,undefined")
    assert re.match(r"none libasan\.so\.\d+:libubsan\.so\.\d+\n", done.stdout), done.stderr


@loads_asan
def test_settings_of_the_user_overrule(program):
    done = run(program, "beyond", "address", "local[2]", ASAN_OPTIONS="abort_on_error=0:exitcode=7")
    assert done.returncode == 7 and "AddressSanitizer: heap-buffer-overflow" in done.stderr


def test_an_unknown_sanitizer_is_refused(program):
    done = run(program, "good", "address,thread")
    assert done.returncode == 1 and 'spark.firesteel.cc.sanitize=address,thread: "thread" is not a supported sanitizer ' \
        "(address, undefined, or both with a comma)" in done.stderr


@not_preloaded
def test_a_missing_library_is_named(program, tmp_path):
    compiler = tmp_path / "cc"
    compiler.write_text('#!/bin/sh\ncase $1 in -print-file-name=*) echo "${1#*=}"; exit 0;; esac\nexec cc "$@"\n')
    compiler.chmod(0o755)
    done = run(program, "good", "address", CC=str(compiler))
    assert done.returncode == 1 and done.stdout == ""
    assert "spark.firesteel.cc.sanitize=address needs libasan.so (Debian, Ubuntu: apt install libasan8): " \
        f"the compiler {compiler} has no libasan.so" in done.stderr
