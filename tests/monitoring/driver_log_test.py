"""spark.driver.log.*: the driver's log as a file, and its copy in a persistent file system."""
import os
import re
import subprocess
import time

from folders import BIN


APPLICATION = r"""
#include <firesteel/firesteel.h>
#include <stdio.h>
#include <unistd.h>

/* [FILE]: counts, waits for the file, counts again; prints the application's id. */
int main(int argc, char **argv)
{
        fst_context *sc = fst_context_new("logged");
        int64_t n;
        fst_count(fst_range(sc, 0, 10), &n);
        printf("%s\n", fst_context_app_id(sc));
        fflush(stdout);
        while (argc > 1 && access(argv[1], F_OK) != 0)
                usleep(10000);
        fst_count(fst_range(sc, 0, 10), &n);
        return fst_context_stop(sc);
}
"""
LINE = r"\d\d/\d\d/\d\d \d\d:\d\d:\d\d\.\d\d\d \S+ (?:INFO|WARN|ERROR) \w+: .*"


def start(tmp_path, *settings, words=(), level="INFO"):
    (tmp_path / "app.c").write_text(APPLICATION, encoding="utf-8")
    (tmp_path / "local").mkdir(exist_ok=True)
    options = [word for setting in settings for word in ("--conf", setting)]
    return subprocess.Popen([os.path.join(BIN, "spark-submit"), "--master", "local[2]", "--conf",
                             "spark.log.level=" + level, "--conf", "spark.local.dir=%s/local" % tmp_path, *options,
                             str(tmp_path / "app.c"), *words],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def run(tmp_path, *settings, level="INFO"):
    process = start(tmp_path, *settings, level=level)
    out, log = process.communicate(timeout=120)
    assert process.returncode == 0, log
    return out.strip(), log


def test_log_is_written_to_the_local_directory(tmp_path):
    _, log = run(tmp_path, "spark.driver.log.localDir=%s/a/b" % tmp_path)
    lines = (tmp_path / "a/b/driver.log").read_text(encoding="utf-8").splitlines()
    assert all(re.fullmatch(LINE, line) for line in lines), lines
    assert "Added a local log appender at: %s/a/b/driver.log" % tmp_path in log
    assert [line for line in lines if " INFO SparkContext: Submitted application: logged" in line]
    assert [line for line in lines if " INFO DAGScheduler: " in line]


def test_levels_hold_for_the_file(tmp_path):
    run(tmp_path, "spark.driver.log.localDir=%s/a" % tmp_path, level="WARN")
    assert "INFO" not in (tmp_path / "a/driver.log").read_text(encoding="utf-8")


def test_layout(tmp_path):
    run(tmp_path, "spark.driver.log.localDir=%s/a" % tmp_path, "spark.driver.log.layout=%d{yyyy'T'HH} %-5p|%c|%msg%%%n")
    lines = (tmp_path / "a/driver.log").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if re.fullmatch(
        r"20\d\dT\d\d INFO \|org\.apache\.spark\.SparkContext\|Submitted application: logged%", line)], lines


def test_layout_that_is_not_known_is_logged_and_the_application_runs(tmp_path):
    _, log = run(tmp_path, "spark.driver.log.localDir=%s/a" % tmp_path, "spark.driver.log.layout=%d %X{taskId} %m%n")
    assert "ERROR DriverLogger: Could not add driver logger: spark.driver.log.layout: %X is not known" in log
    assert not (tmp_path / "a").exists()


def test_log_is_copied_at_the_end(tmp_path):
    (tmp_path / "dfs").mkdir()
    app, log = run(tmp_path, "spark.driver.log.persistToDfs.enabled=true",
                   "spark.driver.log.dfsDir=file:%s/dfs" % tmp_path)
    assert os.listdir(tmp_path / "dfs") == [app + "_driver.log"]
    lines = (tmp_path / "dfs" / (app + "_driver.log")).read_text(encoding="utf-8").splitlines()
    assert all(re.fullmatch(LINE, line) for line in lines), lines
    assert "Persisting driver logs to dfs at: file:%s/dfs/%s_driver.log" % (tmp_path, app) in log
    assert sum(" DAGScheduler: " in line for line in lines) == log.count(" DAGScheduler: ") > 4
    assert not os.listdir(tmp_path / "local")


def test_log_is_copied_while_the_application_runs(tmp_path):
    (tmp_path / "dfs").mkdir()
    process = start(tmp_path, "spark.driver.log.persistToDfs.enabled=true",
                    "spark.driver.log.dfsDir=%s/dfs" % tmp_path, words=[str(tmp_path / "go")])
    app = process.stdout.readline().strip()
    copy, seen, end = tmp_path / "dfs" / (app + "_driver.log"), "", time.monotonic() + 120
    while "DAGScheduler" not in seen and process.poll() is None and time.monotonic() < end:
        time.sleep(0.05)
        seen = copy.read_text(encoding="utf-8") if copy.exists() else ""
    (tmp_path / "go").touch()
    _, log = process.communicate(timeout=120)
    assert "DAGScheduler" in seen and process.returncode == 0, log
    assert copy.read_text(encoding="utf-8").startswith(seen)


def test_copy_needs_its_directory(tmp_path):
    _, log = run(tmp_path, "spark.driver.log.persistToDfs.enabled=true",
                 "spark.driver.log.dfsDir=file:%s/none" % tmp_path)
    assert "Could not persist driver logs to dfs: file:%s/none does not exist. Please create this dir" % tmp_path in log
    assert not (tmp_path / "none").exists()


def test_copy_without_a_directory_is_warned_of(tmp_path):
    _, log = run(tmp_path, "spark.driver.log.persistToDfs.enabled=true")
    assert "Driver logs are not persisted because spark.driver.log.dfsDir is not configured" in log
    assert "local log appender" not in log


def test_no_file_is_written_by_default(tmp_path):
    _, log = run(tmp_path, "spark.driver.log.dfsDir=%s/dfs" % tmp_path)
    assert "DriverLogger" not in log and not (tmp_path / "dfs").exists()
