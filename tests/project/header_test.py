"""The public header: wrong programs get one compiler error, and C++ programs can link the functions."""
import os
import re
import shutil
import subprocess

import pytest

from folders import BIN, TOP
from sanitizers import SANITIZED

INCLUDE = os.path.join(TOP, "include")

FRAME = """
#include <firesteel/firesteel.h>

struct point { double x, y; };

static int narrow(fst_task *task, int x) { (void)task; return x; }
static int64_t square(fst_task *task, int64_t x) { (void)task; return x * x; }
static int64_t take_two(fst_task *task, int64_t x, float y) { (void)task; return x + (int64_t)y; }

int main(void)
{
        fst_context *sc = fst_context_new("wrong");
        fst_rdd *rdd = fst_map(fst_range(sc, 0, 10), square, FST_I64), *pairs = rdd;
        fst_iter *rows = NULL;
        fst_map *map = NULL;
        int64_t limit = 1;
        (void)narrow, (void)take_two, (void)pairs, (void)rows, (void)map, (void)limit;
%s
        return fst_context_stop(sc);
}
"""

FUNCTION = "a function for an operator has a form of firesteel/function.h"
NUMBER = "is int64_t, double, fst_bytes or a struct, and no other type of number: see firesteel/types.h"
TEXT = "is fst_bytes and not char *"
COUNT = "writes a number of rows, to an int64_t: see firesteel/action.h"
ROWS = "writes to an iterator: fst_iter *rows; fst_collect(rdd, &rows); see firesteel/action.h"

WRONG = {
    "a function of int": ("fst_map(rdd, narrow, FST_I64);", FUNCTION),
    "a function of float": ("fst_map(pairs, take_two, FST_I64);", FUNCTION),
    "a wrong function with a captured struct": ("fst_map(rdd, FST_WITH(narrow, limit), FST_I64);", FUNCTION),
    "no function": ("fst_filter(rdd, NULL);", FUNCTION),
    "a number for a function": ("fst_reduce(rdd, 1, &limit);", FUNCTION),
    "a misspelt function": ("fst_map(rdd, squre, FST_I64);", "squre"),
    "an int for a sum": ("int x; fst_sum(rdd, &x);", NUMBER),
    "a float for a maximum": ("float x; fst_max(rdd, &x);", NUMBER),
    "an unsigned for a first row": ("uint64_t x; fst_first(rdd, &x);", NUMBER),
    "text for a first row": ("const char *x; fst_first(rdd, &x);", TEXT),
    "an int as zero": ("int zero = 0; fst_fold(rdd, &zero, fst_fn_sum, &limit);", NUMBER),
    "an int for a map's value": ("int x; fst_map_get(map, 1, &x);", NUMBER),
    "an array of int": ("int x[3] = {0}; fst_parallelize(sc, x, 3);", NUMBER),
    "an array of strings": ("const char *x[] = {\"a\"}; fst_parallelize(sc, x, 1);", TEXT),
    "an int for a count": ("int x; fst_count(rdd, &x);", COUNT),
    "a double for a count": ("double x; fst_count_approx_distinct(rdd, 0.1, &x);", COUNT),
    "a float for a mean": ("float x; fst_mean(rdd, &x);", "writes its result to a double"),
    "an int for a bool": ("int x; fst_is_empty(rdd, &x);", "writes its result to a bool"),
    "an iterator for a pointer to one": ("fst_collect(rdd, rows);", ROWS),
    "a map for a pointer to one": ("fst_count_by_value(rdd, map);", "writes to a map"),
    "another struct for stats": ("struct fst_buckets x; fst_stats(rdd, &x);", "fst_stats writes to a struct fst_statistics"),
    "another struct for a histogram": ("struct point x; fst_histogram(rdd, 2, &x);",
                                       "fst_histogram writes to a struct fst_buckets"),
    "another struct for a job": ("struct point x; fst_get_job_info(sc, 0, &x);",
                                 "fst_get_job_info writes to a struct fst_job_info"),
    "another struct for a stage": ("struct fst_job_info x; fst_get_stage_info(sc, 0, &x);",
                                   "fst_get_stage_info writes to a struct fst_stage_info"),
    "another struct for storage": ("struct point x; fst_get_storage_info(rdd, &x);",
                                   "fst_get_storage_info writes to a struct fst_storage_info"),
    "an int for a row": ("int x; while (fst_next(rows, &x)) {}", "rows are read into int64_t, double, fst_bytes"),
    "a struct for a row": ("struct point x; while (fst_next(rows, &x)) {}", "rows are read into int64_t, double, fst_bytes"),
    "an int for a list's element": ("fst_list list = fst_list_of(*(fst_bytes *)(void *)rdd, FST_I64); int x; while (fst_list_next(&list, &x)) {}",
                                    "elements of a list are read into"),
    "a broadcast from an RDD": ("fst_broadcast_value(rdd, (fst_broadcast){0});", "takes an fst_task or an fst_context"),
    "a file from an RDD": ("fst_file(rdd, \"name\");", "takes an fst_task or an fst_context"),
}

RIGHT = """
        struct point p, *points = &p;
        struct fst_statistics stats;
        double sums[4];
        long long n;
        fst_bytes b;
        uint64_t big = 1;
        fst_count(rdd, NULL);
        fst_count(rdd, &n);
        fst_sum(rdd, &n);
        fst_max(rdd, &p);
        fst_max(rdd, points);
        fst_max(rdd, &b);
        fst_reduce(rdd, FST_WITH(fst_sum_vectors, limit), &sums);
        fst_fold(rdd, &(const int64_t){3}, fst_fn_sum, &limit);
        fst_stats(rdd, &stats);
        fst_map_get(map, big, &limit);
"""


def compile_c(compiler, path, body, *flags):
    path.write_text(FRAME % body)
    return subprocess.run([compiler, "-std=gnu11", "-fPIC", "-I", INCLUDE, *flags, "-c", path, "-o", str(path) + ".o"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


@pytest.fixture(params=("gcc", "clang"))
def compiler(request):
    if not shutil.which(request.param):
        pytest.skip(request.param + " is not installed")
    return request.param


@pytest.mark.parametrize("case", WRONG)
def test_wrong_program_gets_one_error(case, compiler, tmp_path):
    body, sentence = WRONG[case]
    done = compile_c(compiler, tmp_path / "wrong.c", body, "-O2" if compiler == "gcc" else "-O0")
    assert done.returncode != 0
    # clang reports an unknown name twice with the same text, because the macro has it twice.
    errors = {re.sub(r"^.*? error: ", "", line) for line in done.stdout.splitlines() if re.search(r" error: ", line)}
    assert len(errors) == 1, done.stdout
    assert sentence in errors.pop(), done.stdout


@pytest.mark.parametrize("columns", (32, 33, 120))
def test_struct_of_too_many_columns_gets_one_error(columns, compiler, tmp_path):
    names = ", ".join(f"m{i}" for i in range(columns))
    (tmp_path / "wide.c").write_text(f"#include <firesteel/firesteel.h>\nstruct wide {{ int64_t {names}; }};\nFST_FIELDS(wide, {names});\n")
    done = subprocess.run([compiler, "-std=gnu11", "-I", INCLUDE, "-Wall", "-Wextra", "-fsyntax-only", tmp_path / "wide.c"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    errors = re.findall(r" error: (.*)", done.stdout)
    assert len(errors) == (columns > 32), done.stdout
    assert columns == 32 or "names more than 32 members: a row has at most 32 columns" in errors[0]


@pytest.mark.parametrize("standard", ["-std=gnu11", "-std=c11"])
def test_rows_print_without_casts(compiler, standard, tmp_path):
    body = r'''        fst_count(rdd, &limit);
        printf("%" PRId64 " rows of %" PRId64 "\n", limit, fst_map_count(map));'''
    path = tmp_path / "print.c"
    path.write_text("#include <stdio.h>\n" + FRAME % body)
    done = subprocess.run([compiler, standard, "-I", INCLUDE, "-O2", "-Wall", "-Wextra", "-Werror", "-c", path, "-o", str(path) + ".o"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_right_program_compiles(compiler, tmp_path):
    done = compile_c(compiler, tmp_path / "right.c", RIGHT, "-O2", "-Wall", "-Wextra", "-Wshadow", "-Werror")
    assert done.returncode == 0, done.stdout


CPP = """
#include <firesteel/firesteel.h>
#include <firesteel/frames.h>
#include <firesteel/python.h>
#include <firesteel/pod_step.h>
#include <firesteel/submit.h>

#include <cstdio>
#include <cstring>

static bool even(fst_task *, int64_t x) { return x % 2 == 0; }

int main()
{
        fst_context *sc = fst_context_new("c++");
        const fst_fn function = {(void (*)())even, FST_SHAPE(FST_FORM_BOOL, FST_KIND_I64, FST_KIND_NONE), 0, nullptr, "even"};
        fst_rdd *evens = fst_filter_at(fst_range_at(sc, 0, 100, 4, FST_HERE("range")), function, FST_HERE("filter"));
        int64_t count = 0, sum = 0;
        struct fst_statistics stats;
        fst_iter *rows = nullptr;
        int counted = fst_count_at(evens, &count, FST_HERE("count"));
        int summed = fst_sum_at(evens, {&sum, sizeof(sum), FST_KIND_I64}, FST_HERE("sum"));
        std::printf("count %d %ld\\n", counted, (long)count);
        std::printf("sum %d %ld\\n", summed, (long)sum);
        fst_stats_at(evens, &stats, sizeof(stats), FST_HERE("stats"));
        std::printf("stats %ld %g\\n", (long)stats.count, stats.max);
        if (fst_take_at(evens, 3, &rows, FST_HERE("take")) == 0)
                for (const fst_batch *batch; fst_next_batch(rows, &batch);)
                        for (uint32_t i = 0; i < batch->rows; i++)
                                std::printf("row %ld\\n", (long)batch->key.i64[i]);
        std::printf("%s %s\\n", fst_version(), fst_submit_state_name(FST_SUBMIT_RUNNING));
        return fst_context_stop(sc);
}
"""


@pytest.mark.skipif(bool(SANITIZED), reason="a C++ program has no sanitizer's runtime")
@pytest.mark.parametrize("name", ("g++", "clang++"))
def test_cpp_program_links_the_functions(name, tmp_path):
    if not shutil.which(name):
        pytest.skip(name + " is not installed")
    (tmp_path / "app.cc").write_text(CPP)
    for standard in ("c++11", "c++17"):
        done = subprocess.run([name, "-std=" + standard, "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-Wl,--build-id=sha1",
                               "-I", INCLUDE, "-o", tmp_path / "app.so", tmp_path / "app.cc", "-L", BIN, "-lfiresteel"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        assert done.returncode == 0, done.stdout
    done = subprocess.run([os.path.join(BIN, "spark-submit"), "--master", "local[2]", tmp_path / "app.so"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    with open(os.path.join(TOP, "meson.build"), encoding="utf-8") as file:
        version = re.search(r"version: '([^']*)'", file.read()).group(1)
    assert done.stdout.splitlines() == ["count 0 50", "sum 0 2450", "stats 50 98", "row 0", "row 2", "row 4", version + " RUNNING"]
