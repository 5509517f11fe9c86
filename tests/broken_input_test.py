"""Corrupt or missing input files: tasks fail, or continue with spark.files.ignoreCorruptFiles and ignoreMissingFiles."""
import gzip
import os
import subprocess

import pytest

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BIN = os.environ.get("FIRESTEEL_BIN") or os.path.join(TOP, "bin")

APPLICATION = r"""
#include <firesteel/firesteel.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* KIND PATH [FILE]: counts rows; with FILE twice, and removes FILE between the counts. */
int main(int argc, char **argv)
{
        fst_context *sc = fst_context_new("broken input");
        fst_rdd *rows = strcmp(argv[1], "text") == 0      ? fst_text_file(sc, argv[2])
                        : strcmp(argv[1], "whole") == 0   ? fst_whole_text_files(sc, argv[2])
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
