"""Corrupt or missing input files: tasks fail, or continue with spark.files.ignoreCorruptFiles and ignoreMissingFiles."""
import gzip
import os
import subprocess

import pytest

from folders import BIN


APPLICATION = r"""
#include <firesteel/firesteel.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static fst_rdd *write_rows(fst_context *sc, const char *path)
{
        fst_rdd *rows = fst_range_n(sc, 0, 1000000, 2);
        fst_save_as_object_file(rows, path);
        return rows;
}

/* A checkpoint below @path; its first file is damaged. */
static fst_rdd *kept(fst_context *sc, const char *path)
{
        int64_t n;
        char file[4096];
        fst_set_checkpoint_dir(sc, path);
        fst_rdd *rows = fst_checkpoint(fst_range_n(sc, 0, 1000000, 2));
        fst_count(rows, &n);
        snprintf(file, sizeof(file), "%s/part-00000", fst_checkpoint_file(rows) + strlen("file:"));
        if (truncate(file, 1000) != 0)
                perror(file);
        return rows;
}

/* KIND PATH [FILE]: counts rows; with FILE twice, and removes FILE between the counts. */
int main(int argc, char **argv)
{
        fst_context *sc = fst_context_new("broken input");
        fst_rdd *rows = strcmp(argv[1], "text") == 0      ? fst_text_file(sc, argv[2])
                        : strcmp(argv[1], "whole") == 0   ? fst_whole_text_files(sc, argv[2])
                        : strcmp(argv[1], "object") == 0  ? fst_object_file(sc, argv[2], FST_I64)
                        : strcmp(argv[1], "other") == 0   ? fst_object_file(sc, argv[2], FST_F64)
                        : strcmp(argv[1], "kept") == 0    ? kept(sc, argv[2])
                        : strcmp(argv[1], "write") == 0   ? write_rows(sc, argv[2])
                                                          : fst_binary_records(sc, argv[2], 4);
        int64_t n = -1;
        if (fst_count(rows, &n) == 0)
                printf("%lld\n", (long long)n);
        if (argc > 3) {
                n = -1;
                unlink(argv[3]);
                if (fst_count(rows, &n) == 0)
                        printf("%lld\n", (long long)n);
        }
        return fst_context_stop(sc);
}
"""
CORRUPT = "spark.files.ignoreCorruptFiles=true"
MISSING = "spark.files.ignoreMissingFiles=true"


@pytest.fixture
def folder(tmp_path):
    """A folder with three valid lines, and a truncated compressed file of 200,000 lines."""
    place = tmp_path / "in"
    place.mkdir()
    (place / "a.txt").write_text("1\n2\n3\n", encoding="utf-8")
    packed = gzip.compress("".join("line %d of many\n" % i for i in range(200000)).encode())
    (place / "b.txt.gz").write_bytes(packed[:len(packed) // 2])
    (tmp_path / "app.c").write_text(APPLICATION, encoding="utf-8")
    return place


def run(folder, *words, conf=(), master="local[2]"):
    settings = [word for setting in conf for word in ("--conf", setting)]
    done = subprocess.run([os.path.join(BIN, "spark-submit"), "--master", master, *settings,
                           str(folder.parent / "app.c"), *map(str, words)],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, timeout=120)
    return done.returncode, [int(line) for line in done.stdout.split()], done.stderr


def test_corrupt_file_fails_the_job(folder):
    status, counts, log = run(folder, "text", folder)
    assert status != 0 and not counts and "b.txt.gz" in log


@pytest.mark.parametrize("master", ["local[2]", "local-cluster[1,2,1024]"])
def test_rest_of_a_corrupt_file_is_skipped(folder, master):
    status, counts, log = run(folder, "text", folder, conf=[CORRUPT], master=master)
    assert status == 0 and 3 < counts[0] < 200003, log
    assert log.count("Skipped the rest content in the corrupted file: ") == 1 and "b.txt.gz:0+" in log


def test_corrupt_whole_file_gives_no_row(folder):
    assert run(folder, "whole", folder)[0] != 0
    status, counts, log = run(folder, "whole", folder, conf=[CORRUPT])
    assert (status, counts) == (0, [1]), log
    assert "Skipped the rest content in the corrupted file: " in log


@pytest.mark.parametrize("kind,counts", [("text", [3, 0]), ("whole", [1, 0])])
def test_missing_file_gives_no_rows(folder, kind, counts):
    file = folder / "a.txt"
    status, found, log = run(folder, kind, file, file, conf=[MISSING])
    assert (status, found) == (0, counts), log
    assert "Skipped missing file: " in log


def test_missing_file_fails_the_job_without_the_key_for_missing_files(folder):
    file = folder / "a.txt"
    status, counts, log = run(folder, "text", file, file, conf=[CORRUPT])
    assert status != 0 and counts == [3], log


def test_missing_records_are_skipped(folder):
    file = folder / "r.bin"
    file.write_bytes(bytes(40))
    status, counts, log = run(folder, "binary", file, file, conf=[MISSING])
    assert (status, counts) == (0, [10, 0]), log


def test_error_of_a_function_is_not_taken_for_a_corrupt_file(folder):
    text = APPLICATION.replace("int64_t n = -1;", "rows = fst_filter(rows, bad);\n        int64_t n = -1;", 1)
    function = 'static bool bad(fst_task *task, fst_bytes line) { return fst_fail(task, "bad line"); }\n'
    (folder.parent / "app.c").write_text(text.replace("/* KIND", function + "/* KIND"), encoding="utf-8")
    status, counts, log = run(folder, "text", folder / "a.txt", conf=[CORRUPT])
    assert status != 0 and not counts and "bad line" in log


@pytest.fixture
def objects(folder):
    """A million numbers in two object files."""
    place = folder.parent / "objects"
    assert run(folder, "write", place)[:2] == (0, [1000000])
    return place


@pytest.mark.parametrize("master", ["local[2]", "local-cluster[1,2,1024]"])
@pytest.mark.parametrize("file,size,least,most", [("part-00000", 10, 500000, 500000), ("part-00001", 10, 500000, 500000),
                                                  ("part-00001", None, 500000, 999999)])
def test_rest_of_a_corrupt_object_file_is_skipped(folder, objects, file, size, least, most, master):
    """Cut after some bytes, or (None) a byte in the last page is another one."""
    part = objects / file
    data = part.read_bytes()
    part.write_bytes(data[:size] if size else data[:-20000] + bytes([data[-20000] ^ 1]) + data[-19999:])
    status, counts, log = run(folder, "object", objects, master=master)
    assert status != 0 and not counts and file in log
    status, counts, log = run(folder, "object", objects, conf=[CORRUPT], master=master)
    assert status == 0 and least <= counts[0] <= most, log
    assert "Skipped the rest content in the corrupted file: " in log and file in log


def test_missing_object_file_gives_no_rows(folder, objects):
    file = objects / "part-00001"
    assert run(folder, "object", objects, file, conf=[CORRUPT])[1] == [1000000]
    assert run(folder, "write", objects.parent / "again")[0] == 0
    status, counts, log = run(folder, "object", objects.parent / "again", objects.parent / "again/part-00001", conf=[MISSING])
    assert (status, counts) == (0, [1000000, 500000]), log


def test_object_file_of_another_type_is_not_taken_for_corrupt(folder, objects):
    status, counts, log = run(folder, "other", objects, conf=[CORRUPT, MISSING])
    assert status != 0 and not counts and "has rows of I64, not of F64" in log


@pytest.mark.parametrize("master", ["local[2]", "local-cluster[1,2,1024]"])
def test_corrupt_checkpoint_fails_the_job(folder, master):
    status, counts, log = run(folder, "kept", folder.parent / "checkpoints", conf=[CORRUPT, MISSING], master=master)
    assert status != 0 and not counts, log
