"""spark.firesteel.check: a local master runs its tasks in another process, where captured pointers and changed globals fail."""
import os
import subprocess

import pytest

from folders import BIN
from sanitizers import SANITIZED


PROGRAM = r"""
#include <firesteel/firesteel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int64_t factor = 1;
int64_t offset = 2;
static int64_t table[100];
static const char *name = "x";
static int32_t below = 1, compared = 2, above = 3; /* beside each other, in either order */
static int64_t runs;

struct captured { const int64_t *values; int64_t by; };

static int order(const void *a, const void *b) { return (int)(*(const int64_t *)a - *(const int64_t *)b + factor); }
static int64_t scale(fst_task *task, int64_t x) { return x * factor; }
static int64_t shift(fst_task *task, int64_t x) { return x + offset; }
static int64_t __attribute__((noinline)) look(int64_t x) { return table[x % 100]; }
static int64_t lookup(fst_task *task, int64_t x) { return look(x) + 1; }
static int64_t named(fst_task *task, int64_t x) { return x + (int64_t)strlen(name); }
static int64_t sorted(fst_task *task, int64_t x)
{
        int64_t two[] = {x, 1};
        qsort(two, 2, sizeof(two[0]), order);
        return two[0];
}
static int64_t neighbour(fst_task *task, int64_t x)
{
        if (*(volatile int32_t *)&compared == 1000000)
                abort();
        return x;
}
static int64_t by_pointer(fst_task *task, int64_t x)
{
        const struct captured *c = fst_captured(task);
        return x * c->values[x % 3];
}
static int64_t by_value(fst_task *task, int64_t x)
{
        const struct captured *c = fst_captured(task);
        return x * c->by + factor;
}
static int64_t process(fst_task *task, int64_t x) { return getpid(); }
static int64_t add(fst_task *task, int64_t x, int64_t y) { return x + y * factor; }
static int64_t fail_twice(fst_task *task, int64_t x)
{
        if (fst_task_attempt(task) < 2)
                fst_fail(task, "attempt %d", fst_task_attempt(task));
        return x;
}

static fst_rdd *mapped(fst_rdd *rows, const char *mode)
{
        struct captured c = {.by = 3};
        runs++;
        below++;
        above++;
        if (strcmp(mode, "static") == 0) {
                factor = 7;
                return fst_map(rows, scale, FST_I64); /* static */
        }
        if (strcmp(mode, "exported") == 0) {
                offset = 7;
                return fst_map(rows, shift, FST_I64); /* exported */
        }
        if (strcmp(mode, "callee") == 0) {
                table[4] = 7;
                return fst_map(rows, lookup, FST_I64); /* callee */
        }
        if (strcmp(mode, "pointed") == 0) {
                name = mode;
                return fst_map(rows, named, FST_I64); /* pointed */
        }
        if (strcmp(mode, "callback") == 0) {
                factor = 7;
                return fst_map(rows, sorted, FST_I64); /* callback */
        }
        if (strcmp(mode, "shuffled") == 0) {
                factor = 7;
                return fst_keys(fst_reduce_by_key(fst_zip_with_index(rows), add)); /* shuffled */
        }
        if (strcmp(mode, "pointer") == 0) {
                int64_t *values = calloc(3, sizeof(*values));
                c.values = values;
                return fst_map(rows, FST_WITH(by_pointer, c), FST_I64);
        }
        if (strcmp(mode, "process") == 0)
                return fst_map(rows, process, FST_I64);
        if (strcmp(mode, "fail") == 0)
                return fst_map(rows, fail_twice, FST_I64);
        if (strcmp(mode, "neighbour") == 0)
                return fst_map(rows, neighbour, FST_I64);
        return fst_map(rows, FST_WITH(by_value, c), FST_I64);
}

int main(int argc, char **argv)
{
        fst_context *sc = fst_context_new("check");
        fst_rdd *rows = mapped(fst_range_n(sc, 0, 100, 4), argv[1]);
        int64_t most;
        if (fst_max(rows, &most) == 0)
                printf("%lld of %lld, %s\n", (long long)most, (long long)runs, most == getpid() ? "the driver" : "another process");
        return fst_context_stop(sc);
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    path = tmp_path_factory.mktemp("check") / "check.c"
    path.write_text(PROGRAM)
    return path


def run(program, mode, master="local[2]", *conf):
    words = [word for one in ["spark.log.level=WARN", *conf] for word in ("--conf", one)]
    return subprocess.run([os.path.join(BIN, "spark-submit"), "--master", master, *words, program, mode],
                          capture_output=True, text=True, timeout=120, check=False)


def checked(program, mode, master="local[2]", *conf):
    return run(program, mode, master, "spark.firesteel.check=true", *conf)


@pytest.mark.parametrize("mode, operation, function, variable", [
    ("static", "map", "scale", "factor"), ("exported", "map", "shift", "offset"), ("callee", "map", "look", "table"),
    ("pointed", "map", "named", "name"), ("callback", "map", "order", "factor"),
    ("shuffled", "reduce_by_key", "add", "factor")])
def test_a_changed_global_fails_the_first_attempt(program, mode, operation, function, variable):
    done = checked(program, mode)
    line = 1 + PROGRAM[:PROGRAM.index(f"/* {mode} */")].count("\n")
    [said] = [one for one in done.stderr.splitlines() if " ERROR " in one]
    assert done.returncode == 1 and done.stdout == ""
    assert f"{operation} at check.c:{line}: spark.firesteel.check: {function} uses the global variable {variable}, " \
        "which the driver has changed, but executors have its initial value: capture the value (FST_WITH), or share it " \
        "(fst_broadcast_bytes)" in said
    assert "failed 1 times" in said
    assert run(program, mode).returncode == 0  # on threads it works, hence the key


@pytest.mark.skipif(SANITIZED, reason="a sanitizer's heap has the same addresses in each process, so the pointer is valid")
def test_a_captured_pointer_fails_the_first_attempt(program):
    done = checked(program, "pointer")
    line = 1 + PROGRAM[:PROGRAM.index("return x * c->values")].count("\n")
    [said] = [one for one in done.stderr.splitlines() if " ERROR SparkContext" in one]
    assert done.returncode == 1 and done.stdout == ""
    assert "failed 1 times" in said and "crashed in by_pointer in check.so: SIGSEGV" in said
    assert f"(check.c:{line}: addr2line" in said
    assert "spark.firesteel.check runs tasks in another process, in which pointers of the driver are invalid" in said
    assert done.stderr.count("pointers of the driver are invalid") == 1, done.stderr


@pytest.mark.parametrize("mode, most", [("value", 298), ("neighbour", 99)])
def test_unchanged_globals_and_captured_values_do_no_harm(program, mode, most):
    """main changes other globals, one of them beside a global that tasks compare with a constant."""
    done = checked(program, mode)
    assert (done.returncode, done.stdout) == (0, f"{most} of 1, another process\n"), done.stderr


def test_without_the_key_tasks_run_in_the_driver(program):
    assert run(program, "process").stdout.endswith("the driver\n")
    assert checked(program, "process").stdout.endswith("another process\n")


def test_failures_count_as_the_master_url_says(program):
    assert "failed 1 times" in checked(program, "fail").stderr
    assert checked(program, "fail", "local[2,3]").returncode == 0


def test_other_masters_are_as_ever(program):
    done = checked(program, "value", "local-cluster[2,1,1024]")
    assert (done.returncode, done.stdout) == (0, "298 of 1, another process\n"), done.stderr


def test_settings_that_a_local_master_ignores_stay_without_effect(program):
    done = checked(program, "value", "local[2]", "spark.executor.memory=4g", "spark.executor.cores=8", "spark.cores.max=1",
                   "spark.dynamicAllocation.enabled=true", "spark.shuffle.service.enabled=true")
    assert (done.returncode, done.stdout) == (0, "298 of 1, another process\n"), done.stderr
