"""spark-submit from outside: what it prints, where, and how it ends."""
import json
import os
import re
import signal
import subprocess

import pytest

BIN = os.environ.get("FIRESTEEL_BIN") or os.path.join(os.path.dirname(__file__), "..", "build", "src")

ECHO = """
#include <firesteel/firesteel.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int other(int argc, char **argv);
int other(int argc, char **argv) { puts("other"); return 5; }
int main(int argc, char **argv)
{
        fst_conf *conf = fst_conf_new();
        for (int i = 1; i < argc; i++)
                printf("[%s]", argv[i]);
        const char *name = fst_conf_get(conf, "spark.app.name"), *x = fst_conf_get(conf, "spark.x");
        printf("\\nname=%s x=%s\\n", name, x ? x : "none");
        fst_conf_free(conf);
        if (argc > 1 && strcmp(argv[1], "crash") == 0)
                *(volatile int *)0 = 1;
        if (argc > 1 && strcmp(argv[1], "wait") == 0) {
                fflush(stdout);
                pause();
        }
        return argc > 1 ? atoi(argv[1]) : 0;
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("submit")
    (path / "echo.c").write_text(ECHO)
    return path


def environment(folder, **more):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK_", "MASTER", "DEPLOY_MODE"))}
    return dict(kept, XDG_CACHE_HOME=str(folder / "cache"), **more)


def submit(folder, *words, program="spark-submit", env=None):
    return subprocess.run([os.path.join(BIN, program), *words], cwd=folder, env=env or environment(folder),
                          capture_output=True, text=True, timeout=60, check=False)


def test_arguments_and_status_are_the_application_s(folder):
    done = submit(folder, "--master", "local[2]", "--conf", "spark.x=y", "echo.c", "3", "--name", "a b")
    assert done.stdout == "[3][--name][a b]\nname=echo.c x=y\n"
    assert done.returncode == 3


def test_class_names_the_entry(folder):
    assert submit(folder, "--class", "other", "echo.c").returncode == 5
    done = submit(folder, "--class", "nobody", "echo.c")
    assert done.returncode == 101
    assert "no such function in echo.so: nobody; it has: main, other" in done.stderr


def test_compiled_by_hand_runs(folder):
    done = submit(folder, "compile", "echo.c", "-o", "by-hand.so", "--", "-O1", program="firesteel")
    assert done.returncode == 0, done.stderr
    assert submit(folder, "by-hand.so", "4").returncode == 4
    assert submit(folder, "submit", "by-hand.so", "4", program="firesteel").returncode == 4


def test_a_crash_is_told_and_keeps_its_signal(folder):
    done = submit(folder, "echo.c", "crash", env=environment(folder, ASAN_OPTIONS="handle_segv=0"))
    assert done.returncode == -signal.SIGSEGV
    assert "the application crashed in main in echo.so: SIGSEGV, invalid memory access at address 0x0" in done.stderr
    assert ", code at echo.so+0x" in done.stderr


@pytest.mark.parametrize("sent, status", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_end_with_the_status_of_a_shell(folder, sent, status):
    with subprocess.Popen([os.path.join(BIN, "spark-submit"), "echo.c", "wait"], cwd=folder, env=environment(folder),
                          stdout=subprocess.PIPE, restore_signals=True) as process:
        assert process.stdout.readline() == b"[wait]\n"
        process.send_signal(sent)
        assert process.wait(timeout=30) == status


def test_defaults_and_spark_env(folder):
    conf = folder / "conf"
    conf.mkdir()
    (conf / "spark-defaults.conf").write_text("spark.x  from-file\nother 1\n")
    (conf / "spark-env.sh").write_text("echo noise\nMASTER='local[0]'\n")
    done = submit(folder, "echo.c", env=environment(folder, SPARK_CONF_DIR=str(conf), SPARK_ENV_LOADED="1"))
    assert "x=from-file" in done.stdout
    assert "Warning: Ignoring non-Spark config property: other" in done.stderr
    done = submit(folder, "echo.c", env=environment(folder, SPARK_CONF_DIR=str(conf)))
    assert done.returncode == 1
    assert "master 'local[0]'" in done.stderr


def test_what_spark_env_leaves_running_is_not_waited_for(folder):
    conf = folder / "conf"
    conf.mkdir(exist_ok=True)
    (conf / "spark-env.sh").write_text("sleep 600 >/dev/null 2>&1 & echo $! >left\n")
    try:
        assert submit(folder, "echo.c", "4", env=environment(folder, SPARK_CONF_DIR=str(conf))).returncode == 4
    finally:
        os.kill(int((folder / "left").read_text()), signal.SIGKILL)


@pytest.mark.parametrize("words, message", [
    (["--nope"], "Error: Unrecognized option: --nope\n\nUsage: spark-submit"),
    (["--version", "--nope"], "Error: Unrecognized option: --nope\n\nUsage: spark-submit"),
    (["--master", "local"], "Error: Missing application resource.\n\nUsage: spark-submit"),
    (["--properties-file", "nothing", "x.so"], "Error: Invalid properties file 'nothing'.\n\nUsage: spark-submit"),
    (["--executor-cores", "0", "x.so"], "Error: Executor cores must be a positive number\n"),
    (["--master", "yarn-client", "x.so"], "either HADOOP_CONF_DIR or YARN_CONF_DIR must be set"),
    (["--master", "spark://h:7077", "x.so"], "master 'spark://h:7077': this version of Firesteel runs applications on local masters only"),
    (["--master", "local", "--deploy-mode", "cluster", "x.so"],
     "Cluster deploy mode is not compatible with master \"local\""),
    (["--master", "foo", "x.so"], "Master must either be yarn or start with spark, k8s, or local"),
    (["nonexistent.so"], "nonexistent.so: No such file or directory"),
    (["x.jar"], "is a Java archive"),
    (["s3x://b/x.so"], "No FileSystem for scheme \"s3x\""),
    (["--kill", "driver-1", "--master", "local"],
     "No external SparkSubmitOperations clients found for master url: 'local'"),
])
def test_bad_input_is_one_clear_error(folder, words, message):
    done = submit(folder, *words)
    assert message in done.stderr
    assert done.stdout == ""
    assert done.returncode == 1


def test_the_rest_of_the_front(folder):
    assert submit(folder).returncode == 255
    assert submit(folder, "--help").returncode == 0
    done = submit(folder, "--version")
    assert done.returncode == 0 and done.stdout == ""
    assert re.search(r"version 4\.\d\.\d\n", done.stderr) and " 0." in done.stderr
    assert submit(folder, "--version", program="firesteel").stdout.startswith("firesteel 0.")
    done = submit(folder, "nope", program="firesteel")
    assert done.returncode == 2 and "no command 'nope'" in done.stderr
    assert submit(folder, "help", "compile", program="firesteel").stdout.startswith("Usage: firesteel compile")


def test_help_has_spark_s_groups(folder):
    done = submit(folder, "--help")
    assert done.returncode == 0 and done.stdout == ""
    assert re.findall(r"^ ?(\w.*):$", done.stderr, re.M) == [
        "Options", "Spark Connect only", "Cluster deploy mode only", "Spark standalone with cluster deploy mode only",
        "Spark standalone or K8s with cluster deploy mode only", "Spark standalone only",
        "Spark standalone, YARN and Kubernetes only", "Spark on YARN and Kubernetes only", "Spark on YARN only"]
    assert submit(folder, "--usage-error").returncode == 1
    done = submit(folder, "--class", "org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver", "--help",
                  env=environment(folder, _SPARK_CMD_USAGE="Usage: ./bin/spark-sql [options] [cli option]"))
    assert done.stderr.startswith("Usage: ./bin/spark-sql [options] [cli option]\n\nOptions:\n")
    assert "\nCLI options:\n -d,--define <key=value> " in done.stderr


def test_verbose_tells_what_was_understood(folder, tmp_path):
    (tmp_path / "spark-defaults.conf").write_text("spark.some.token  abc\nspark.a  1\nother 1\n")
    done = submit(folder, "--verbose", "--version", env=environment(folder, SPARK_CONF_DIR=str(tmp_path)))
    assert done.returncode == 0
    assert done.stderr.startswith(f"Using properties file: {tmp_path}/spark-defaults.conf\n"
                                  "Adding default property: spark.some.token=*********(redacted)\n"
                                  "Adding default property: spark.a=1\n"
                                  "Adding default property: other=1\n"
                                  "Warning: Ignoring non-Spark config property: other\n"
                                  "Parsed arguments:\n  master                  local[*]\n")
    assert "\n  (spark.a,1)\n  (spark.some.token,*********(redacted))\n\n    \nWelcome to\n" in done.stderr


def test_dry_run_errors_are_json_too(folder):
    done = submit(folder, "--dry-run", "--output", "json", "--executor-cores", "0", "x.so")
    assert done.returncode == 1
    assert json.loads(done.stdout) == {"error": "Executor cores must be a positive number"}
