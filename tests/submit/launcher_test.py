"""Programs that Spark must run: the started commands, recorded by scripts named java, python3 and R."""
import os
import re
import subprocess

import pytest

from folders import BIN


# Prints its arguments and some variables, then ends as the application would.
TELL = """#!/bin/sh
for word in "$0" "$@"; do printf '%s\\n' "$word"; done
for name in PYTHONHASHSEED SPARK_SCALA_VERSION SPARK_CONF_DIR FROM_ENV_SH PYSPARK_SUBMIT_ARGS SPARKR_SUBMIT_ARGS \
        _SPARK_CMD_USAGE SPARK_SUBMIT_OPTS SPARK_SCALA_SHELL SPARK_CONNECT_MODE PYTHONSTARTUP PYTHONPATH; do
        eval "value=\\$$name"
        [ -z "$value" ] || printf '%s=%s\\n' "$name" "$value"
done
exit 37
"""


@pytest.fixture
def home(tmp_path):
    spark = tmp_path / "spark"
    for name in ("jars/spark-launcher_2.13-4.3.0.jar", "jars/slf4j-api-2.jar", "examples/jars/spark-examples.jar",
                 "RELEASE", "python/lib/py4j-1-src.zip"):
        (spark / name).parent.mkdir(parents=True, exist_ok=True)
        (spark / name).touch()
    (spark / "conf").mkdir()
    (spark / "conf" / "spark-env.sh").write_text("FROM_ENV_SH=yes\n")
    for name in ("java/bin/java", "bin/python3", "bin/R"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(TELL)
        (tmp_path / name).chmod(0o755)
    return tmp_path


def environment(home, **more):
    kept = {k: v for k, v in os.environ.items()
            if not k.startswith(("SPARK", "PYSPARK", "PYTHON", "MASTER", "DEPLOY_MODE", "_SPARK", "HADOOP", "YARN"))}
    return dict(kept, SPARK_HOME=str(home / "spark"), JAVA_HOME=str(home / "java"),
                PATH=f"{home}/bin:{os.environ['PATH']}", **more)


def run(home, program, *words, env=None, **options):
    return subprocess.run([os.path.join(BIN, program), *words], env=env or environment(home), capture_output=True,
                          text=True, timeout=120, check=False, cwd=home, stdin=subprocess.DEVNULL, **options)


def without_home(home):
    env = environment(home)
    del env["SPARK_HOME"]
    return env


def test_a_jar_goes_to_java_and_its_status_is_ours(home):
    done = run(home, "spark-submit", "--master", "local[2]", "--class", "x.Y", "--driver-memory", "2g", "app.jar", "a b")
    lines = done.stdout.splitlines()
    assert done.returncode == 37
    assert lines[0] == f"{home}/java/bin/java"
    assert lines[1:3] == ["-cp", f"{home}/spark/conf/:{home}/spark/jars/slf4j-api-2.jar:{home}/spark/jars/*"]
    assert "-Xmx2g" in lines
    at = lines.index("org.apache.spark.deploy.SparkSubmit")
    assert lines[at + 1:at + 9] == ["--master", "local[2]", "--conf", "spark.driver.memory=2g", "--class", "x.Y",
                                    "app.jar", "a b"]
    for line in ("PYTHONHASHSEED=0", "SPARK_SCALA_VERSION=2.13", f"SPARK_CONF_DIR={home}/spark/conf", "FROM_ENV_SH=yes"):
        assert line in lines


def test_a_misspelled_key_of_a_jar_is_warned_of_and_passed_on(home):
    done = run(home, "spark-submit", "--class", "x.Y", "--conf", "spark.executor.memmory=2g", "app.jar")
    assert done.returncode == 37 and "spark.executor.memmory=2g" in done.stdout.splitlines()
    assert [line.partition(" WARN ")[2] for line in done.stderr.splitlines()] == [
        "SparkConf: spark.executor.memmory is not a known key. Did you mean spark.executor.memory?"]


@pytest.mark.parametrize("application", ["x.py", "x.R", "spark-internal", "pyspark-shell", "http://h/x"])
def test_what_is_not_native_goes_to_java(home, application):
    done = run(home, "spark-submit", "--class", "x.Y", application)
    assert done.returncode == 37, done.stderr
    assert application in done.stdout.splitlines()


def test_warnings_and_reports_are_left_to_spark(home):
    words = ["--verbose", "--conf", "other=1", "--class", "x.Y"]
    done = run(home, "spark-submit", *words, "x.jar")
    assert done.returncode == 37
    assert done.stderr == ""
    done = run(home, "spark-submit", *words, "nowhere.so")
    assert "Warning: Ignoring non-Spark config property: other" in done.stderr
    assert "Parsed arguments:" in done.stderr


def test_spark_s_own_spark_submit_is_not_asked(home):
    (home / "spark" / "bin").mkdir()
    os.symlink(os.path.abspath(os.path.join(BIN, "spark-submit")), home / "spark" / "bin" / "spark-submit")
    assert run(home, "spark-submit", "x.jar").returncode == 37


def test_errors_of_the_command_line_need_no_java(home):
    done = run(home, "spark-submit", "--nope", "x.jar")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("Error: Unrecognized option: --nope\n")


def test_spark_class_starts_and_tells(home):
    done = run(home, "spark-class", "x.Main", "1", env=environment(home, SPARK_PRINT_LAUNCH_COMMAND="1"))
    assert done.returncode == 37
    assert done.stdout.splitlines()[0] == f"{home}/java/bin/java"
    assert done.stderr.startswith(f"Spark Command: {home}/java/bin/java -cp ")
    assert done.stderr.endswith(f" x.Main 1\n{'=' * 40}\n")
    done = run(home, "firesteel", "class", "--print-launch-command", "x.Main", "1")
    assert done.returncode == 0
    assert done.stdout.startswith(f"\0\n{home}/java/bin/java\0-cp\0")
    assert done.stdout.endswith("\0x.Main\0001\0")


@pytest.mark.parametrize("words, message, status", [
    ([], "Error: Not enough arguments: missing class name.\n", 1),
    (["x.Main"], "cannot start", 127),
])
def test_spark_class_fails_in_one_line(home, words, message, status):
    done = run(home, "spark-class", *words, env=environment(home) | {"JAVA_HOME": str(home / "nowhere")})
    assert done.returncode == status
    assert message in done.stderr and done.stderr.count("\n") == 1


def test_no_jars(home):
    env = environment(home)
    env["SPARK_HOME"] = str(home)
    done = run(home, "spark-class", "x.Main", env=env)
    assert done.returncode == 1
    assert done.stderr == (f"Error: Failed to find Spark jars directory ({home}/assembly/target/scala-2.13/jars).\n"
                           'You need to build Spark with the target "package" before running this program.\n')


def test_spark_shell(home):
    done = run(home, "spark-shell", "--master", "local[1]", "-I", "file")
    lines = done.stdout.splitlines()
    assert done.returncode == 37
    at = lines.index("org.apache.spark.deploy.SparkSubmit")
    assert lines[at + 1:at + 10] == ["--master", "local[1]", "--class", "org.apache.spark.repl.Main", "--name",
                                     "Spark shell", "spark-shell", "-I", "file"]
    assert "-Dscala.usejavacp=true" in lines[:at]
    assert "SPARK_SCALA_SHELL=1" in lines
    assert "_SPARK_CMD_USAGE=Usage: ./bin/spark-shell [options]" in lines


def test_pyspark(home):
    done = run(home, "pyspark", "--master", "local[1]", env=environment(home, SPARK_CONNECT_MODE="0"))
    lines = done.stdout.splitlines()
    assert done.returncode == 37
    assert lines[0].endswith("/bin/python3")
    assert 'PYSPARK_SUBMIT_ARGS="--master" "local[1]" "--name" "PySparkShell" "pyspark-shell"' in lines
    assert f"PYTHONSTARTUP={home}/spark/python/pyspark/shell.py" in lines
    assert f"PYTHONPATH={home}/spark/python/lib/py4j-1-src.zip:{home}/spark/python/:" in lines
    done = run(home, "pyspark", "x.py", env=environment(home, SPARK_CONNECT_MODE="0"))
    assert done.returncode == 255
    assert "Use ./bin/spark-submit <python file>" in done.stderr


def test_other_shells(home):
    lines = run(home, "sparkR", "--master", "local").stdout.splitlines()
    assert lines[0].endswith("/bin/R")
    assert 'SPARKR_SUBMIT_ARGS="--master" "local" "sparkr-shell"' in lines
    lines = run(home, "spark-sql", "-e", "select 1").stdout.splitlines()
    at = lines.index("--class")
    assert lines[at:at + 5] == ["--class", "org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver", "spark-internal",
                                "-e", "select 1"]
    assert "SPARK_CONNECT_MODE=0" in lines
    done = run(home, "run-example", "SparkPi", "10")
    jar = f"{home}/spark/examples/jars/spark-examples.jar"
    lines = done.stdout.splitlines()
    at = lines.index("--jars")
    assert lines[at:at + 6] == ["--jars", jar, "--class", "org.apache.spark.examples.SparkPi", jar, "10"]
    assert done.returncode == 37


@pytest.mark.parametrize("program, words", [
    ("spark-shell", []), ("spark-sql", []), ("run-example", ["SparkALS"]),
    ("spark-class", ["x.Main"]), ("spark-submit", ["x.jar"]),
    ("spark-submit", ["run-example", "SparkALS"]), ("spark-submit", ["--class", "org.apache.spark.repl.Main"]),
])
def test_without_spark_home_there_is_one_clear_line(home, program, words):
    done = run(home, program, *words, env=without_home(home))
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert re.search("needs? Spark itself: set SPARK_HOME to where Spark is installed", done.stderr)


@pytest.mark.parametrize("program, words", [
    ("run-example", ["pi"]), ("run-example", ["SparkPi", "--master", "local[1]", "3"]),
    ("run-example", ["--conf", "spark.log.level=WARN", "org.apache.spark.examples.SparkPi"]), ("run-example", ["spark_pi.c", "3"]),
    ("spark-submit", ["run-example", "--master=local[2]", "pi", "2"])])
def test_example_in_c_runs_without_spark_home(home, program, words):
    done = run(home, program, *words, env=without_home(home))
    assert done.returncode == 0, done.stderr
    assert re.search(r"^Pi is roughly 3\.1", done.stdout, re.M), done.stdout


def test_example_in_c_runs_beside_spark_home_by_its_own_name(home):
    done = run(home, "run-example", "pi")
    assert done.returncode == 0 and "Pi is roughly" in done.stdout, done.stderr


@pytest.mark.parametrize("words, message", [
    ([], "the name of an example is missing, such as run-example pi. The examples are broadcast_test, "),
    (["../examples/spark_pi"], "'../examples/spark_pi' is not an example of Firesteel. The examples are broadcast_test, "),
    (["--drivr-memory", "1g", "pi"], "Unrecognized option: --drivr-memory"), (["pi", "--master"], "Missing argument for option '--master'."),
])
def test_example_that_does_not_exist_is_refused(home, words, message):
    done = run(home, "run-example", *words, env=without_home(home))
    assert done.returncode == 1
    assert "Error: " + message in done.stderr


def test_help_of_run_example_needs_no_spark_home(home):
    done = run(home, "run-example", "--help", env=without_home(home))
    assert done.returncode == 0
    assert done.stderr.startswith("Usage: ./bin/run-example [options] example-class [example args]\n")


@pytest.mark.parametrize("mode", ["client", "cluster"])
def test_yarn_names_a_resource_manager_that_does_not_answer(home, mode):
    (home / "x.c").write_text('#include <firesteel/firesteel.h>\n'
                              'int main(void) { return fst_context_stop(fst_context_new("x")); }\n')
    done = run(home, "spark-submit", "--master", "yarn", "--deploy-mode", mode,
               "--conf", "spark.hadoop.yarn.resourcemanager.address=127.0.0.1:1",
               "--conf", "spark.hadoop.yarn.resourcemanager.connect.max-wait.ms=1", "x.c",
               env=environment(home, HADOOP_CONF_DIR="/nowhere"))
    assert done.returncode != 0
    assert "cannot reach the ResourceManager at 127.0.0.1:1" in done.stderr
