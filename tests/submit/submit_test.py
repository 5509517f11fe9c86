"""spark-submit as a program: output and exit status."""
import contextlib
import http.server
import json
import os
import queue
import re
import select
import signal
import subprocess
import threading
import urllib.parse

import pytest

from dry_run import r_application
from folders import BIN


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
    (path / "known.txt").write_text("neither an object nor an archive\n")
    return path


def environment(folder, **more):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK_", "MASTER", "DEPLOY_MODE"))}
    return dict(kept, XDG_CACHE_HOME=str(folder / "cache"), **more)


def submit(folder, *words, program="spark-submit", env=None):
    return subprocess.run([os.path.join(BIN, program), *words], cwd=folder, env=env or environment(folder),
                          capture_output=True, text=True, timeout=120, check=False)


def test_arguments_and_status_are_the_application_s(folder):
    done = submit(folder, "--master", "local[2]", "--conf", "spark.x=y", "echo.c", "3", "--name", "a b")
    assert done.stdout == "[3][--name][a b]\nname=echo.c x=y\n"
    assert done.returncode == 3


def test_class_names_the_entry(folder):
    assert submit(folder, "--class", "other", "echo.c").returncode == 5
    done = submit(folder, "--class", "nobody", "echo.c")
    assert done.returncode == 101
    assert "no such function in echo.c: nobody; it has: main, other" in done.stderr


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
        assert process.wait(timeout=120) == status


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


@pytest.mark.parametrize("words, ending", [
    (["--drivr-memory", "1g", "x.so"], "\nError: Unrecognized option: --drivr-memory\nDid you mean --driver-memory?\n"),
    (["--mastr=local", "x.so"], "\nError: Unrecognized option: --mastr\nDid you mean --master?\n"),
    (["--nope"], "\nError: Unrecognized option: --nope\n"),
    (["--master", "local"], "\nError: Missing application resource.\n"),
    (["--driver-memory", "lots", "x.so"], "Error: Driver memory must be a positive number\n"
     "spark.driver.memory (--driver-memory) is 'lots': use a size such as 512m or 4g\n"),
    (["--conf", "spark.executor.memory=1x", "x.so"], "Error: Executor memory must be a positive number\n"
     "spark.executor.memory (--executor-memory) is '1x': use a size such as 512m or 4g\n"),
    (["--num-executors", "few", "x.so"], "Error: Number of executors must be a positive number\n"
     "spark.executor.instances (--num-executors) is 'few': use a whole number of at least 1, such as 2\n"),
])
def test_refused_command_line_ends_with_the_remedy(folder, words, ending):
    done = submit(folder, *words)
    assert done.returncode == 1
    assert done.stderr.endswith(ending), done.stderr[-500:]


@pytest.mark.parametrize("words, message", [
    (["--nope"], "Error: Unrecognized option: --nope\n\nUsage: spark-submit"),
    (["--version", "--nope"], "Error: Unrecognized option: --nope\n\nUsage: spark-submit"),
    (["--master", "local"], "Error: Missing application resource.\n\nUsage: spark-submit"),
    (["--properties-file", "nothing", "x.so"], "Error: Invalid properties file 'nothing'.\n\nUsage: spark-submit"),
    (["--executor-cores", "0", "x.so"], "Error: Executor cores must be a positive number\n"),
    (["--master", "yarn-client", "x.so"], "either HADOOP_CONF_DIR or YARN_CONF_DIR must be set"),
    (["--master", "local", "--deploy-mode", "cluster", "x.so"],
     "Cluster deploy mode is not compatible with master \"local\""),
    (["--master", "foo", "x.so"], "Master must either be yarn or start with spark, k8s, or local"),
    (["nonexistent.so"], "nonexistent.so: No such file or directory"),
    (["local:///opt/app/nonexistent.so"], "application /opt/app/nonexistent.so: No such file or directory"),
    (["x.jar"], "is a Java archive"),
    (["known.txt"], "application known.txt is not a jar, and its name does not end in .so, .c, .jar, .py or .R"),
    (["unknown.txt"], "unknown.txt does not exist"),
    (["--master", "yarn", "x.so"],
     "When running with master 'yarn' either HADOOP_CONF_DIR or YARN_CONF_DIR must be set in the environment."),
    (["--master", "spark:127.0.0.1", "echo.c"], "Could not parse Master URL: 'spark:127.0.0.1' (as in spark://host:port"),
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
    assert done.returncode == 2 and "'nope' is not a firesteel command" in done.stderr
    assert submit(folder, "help", "compile", program="firesteel").stdout.startswith("Usage: firesteel compile")


def test_help_has_spark_s_groups(folder):
    done = submit(folder, "--help")
    assert done.returncode == 0 and done.stdout == ""
    assert re.findall(r"^ ?(\w.*):$", done.stderr, re.M) == [
        "Options", "Spark Connect only", "Cluster deploy mode only", "Spark standalone or Mesos with cluster deploy mode only",
        "Spark standalone, Mesos or K8s with cluster deploy mode only", "Spark standalone and Mesos only",
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


# --------------------------------------------------------------------------------------------- prepared submissions


SHOW = """
#include <firesteel/firesteel.h>
#include <stdio.h>
int main(int argc, char **argv)
{
        fst_context *sc = fst_context_new("show");
        for (int i = 1; i < argc; i++) {
                const char *value = fst_context_conf(sc, argv[i]);
                printf("%s=%s\\n", argv[i], value ? value : "none");
        }
        char line[100] = "";
        const char *path = fst_context_file(sc, "far file.txt");
        FILE *f = path ? fopen(path, "r") : NULL;
        if (f && fgets(line, sizeof(line), f))
                printf("%s\\n", line);
        if (f)
                fclose(f);
        return fst_context_stop(sc);
}
"""


@contextlib.contextmanager
def site(files, stalls=()):
    """Serves files over HTTP. Stalling paths send only a first part. Their names go to the returned queue."""
    begun, ended = queue.Queue(), threading.Event()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            name = urllib.parse.unquote(self.path[1:])
            self.send_response(200 if name in files else 404)
            self.send_header("Content-Length", str(len(files.get(name, b"")) + (name in stalls)))
            self.end_headers()
            self.wfile.write(files.get(name, b""))
            self.wfile.flush()
            if name in stalls:
                begun.put(name)
                ended.wait(60)

        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", begun
    finally:
        ended.set()
        server.shutdown()
        thread.join()
        server.server_close()


def test_the_driver_has_what_was_prepared(tmp_path):
    """Application and files are remote, and the configuration is that of --dry-run."""
    (tmp_path / "tmp").mkdir()
    with site({"app.c": SHOW.encode(), "far file.txt": b"from far"}) as (url, _):
        words = ["--master", "local[1]", "--jars", "a.jar", "--conf", "spark.x=1", "--files",
                 f"{url}/far%20file.txt", f"{url}/app.c"]
        keys = ["spark.jars", "spark.repl.local.jars", "spark.x", "spark.submit.pyFiles"]
        env = environment(tmp_path, TMPDIR=str(tmp_path / "tmp"), SPARK_LOCAL_DIRS=str(tmp_path))
        (tmp_path / "a.jar").write_bytes(b"")
        shown = json.loads(submit(tmp_path, "--dry-run", "--output", "json", *words, env=env).stdout)["conf"]
        done = submit(tmp_path, *words, *keys, env=env)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"{key}={shown.get(key, 'none')}" for key in keys] + ["from far"]
    assert os.listdir(tmp_path / "tmp") == []


def test_a_file_that_is_not_there_is_named(tmp_path):
    (tmp_path / "app.c").write_text(SHOW)
    with site({}) as (url, _):
        done = submit(tmp_path, "--master", "local[1]", "--files", f"{url}/none.txt", "app.c")
        assert done.returncode == 1 and "/none.txt" in done.stderr
        done = submit(tmp_path, "--master", "local[1]", f"{url}/none.c")
        assert done.returncode == 1 and "/none.c" in done.stderr


@pytest.mark.parametrize("sent, status", [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_while_preparing_leaves_nothing(tmp_path, sent, status):
    temporary, ivy = tmp_path / "tmp", tmp_path / "ivy"
    temporary.mkdir()
    pom = b"<project><groupId>g</groupId><artifactId>a</artifactId><version>1</version></project>"
    files = {"one.jar": b"x", "two.jar": b"y", "g/a/1/a-1.pom": pom, "g/a/1/a-1.jar": b"z"}
    env = environment(tmp_path, TMPDIR=str(temporary), HOME=str(tmp_path))
    with site(files, stalls=("two.jar", "g/a/1/a-1.jar")) as (url, begun):
        env["DEFAULT_ARTIFACT_REPOSITORY"] = url
        for more in (["--jars", f"{url}/one.jar,{url}/two.jar"],
                     ["--packages", "g:a:1", "--conf", f"spark.jars.ivy={ivy}"]):
            words = ["--master", "local[1]", "--dry-run", *more, "app.c"]
            process = subprocess.Popen([os.path.join(BIN, "spark-submit"), *words], cwd=tmp_path, env=env,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                       preexec_fn=lambda: signal.signal(sent, signal.SIG_DFL))  # nohup ignores one
            begun.get(timeout=120)
            process.send_signal(sent)
            assert process.wait(60) == status
            assert os.listdir(temporary) == []
    assert [p for p in ivy.rglob("*") if p.suffix == ".part"] == []


def test_a_signal_ends_r_and_what_r_has_started(tmp_path):
    there = environment(tmp_path, **r_application(tmp_path))
    os.mkfifo(tmp_path / "held")
    held = os.open(tmp_path / "held", os.O_RDONLY | os.O_NONBLOCK)
    (tmp_path / "bin" / "R").write_text(f"""#!/bin/sh
        trap '' INT TERM HUP
        exec 9>{tmp_path}/held  # it reaches its end when none of them runs any more
        sleep 1000 &
        echo begun >&9
        wait
    """)
    process = subprocess.Popen([os.path.join(BIN, "spark-submit"), "--dry-run", "--master", "yarn", "--jars", "r.jar", "app.R"],
                               cwd=tmp_path, env=there, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    said = b""
    while not said:  # it is at its end before R has opened it
        assert process.poll() is None
        said = os.read(held, 100) if select.select([held], [], [], 0.01)[0] else b""
    process.terminate()
    assert process.wait(60) == 143
    assert select.select([held], [], [], 60)[0] and (said, os.read(held, 100)) == (b"begun\n", b"")
    os.close(held)
    assert os.listdir(tmp_path / "tmp") == []


def test_a_signal_while_the_application_runs_leaves_nothing(tmp_path):
    (tmp_path / "tmp").mkdir()
    with site({"echo.c": ECHO.encode()}) as (url, _):
        process = subprocess.Popen([os.path.join(BIN, "spark-submit"), "--master", "local[1]", f"{url}/echo.c", "wait"],
                                   cwd=tmp_path, env=environment(tmp_path, TMPDIR=str(tmp_path / "tmp")),
                                   stdout=subprocess.PIPE, text=True)
        assert process.stdout.readline() == "[wait]\n"
        assert os.listdir(tmp_path / "tmp") != []
        process.terminate()
        process.communicate(timeout=120)
    assert process.returncode == 143
    assert os.listdir(tmp_path / "tmp") == []
