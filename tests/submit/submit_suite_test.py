"""The cases of Spark 4's SparkSubmitSuite, in its order.

The first line of a test names the suite's case. The suite runs Scala programs in its own virtual machine. These tests run
a C program if needed, and use the dry run otherwise. They omit cases about classes in a virtual machine (--jars for
executors, a user's class path before the driver's, plugins and shuffle managers in a user's jar, a SparkApplication's
system properties), about removing the application's jar from the others, which a worker does, and cases that the suite
itself ignores (R packages of a jar: see dry_run_test.py; Connect from Python).
"""
import glob
import http.server
import os
import re
import subprocess
import threading

import pytest

from dry_run import environment, jar, prepare, refusal, run
from folders import BIN

JAVA = ["--class", "org.SomeClass", "thejar.jar"]
YARN = {"HADOOP_CONF_DIR": "/nonexistent"}


def names(where):
    """The last components of the names of a list, or of a comma-separated list."""
    return [os.path.basename(name) for name in (where.split(",") if isinstance(where, str) else where)]


def parsed(folder, *words, **more):
    """The arguments reported by --verbose: values by label."""
    done = run(folder, "--verbose", *words, **more)
    report = done.stderr.split("Parsed arguments:\n")[1].split("\n\n")[0]
    return {line.split()[0]: line[26:] for line in report.splitlines() if len(line) > 26}


def write_properties(path, **values):
    path.write_text("".join(f"{key.replace('__', '.')} {value}\n" for key, value in values.items()))
    return str(path)


class ObjectStore(http.server.ThreadingHTTPServer):
    """An anonymous S3 bucket. `conf` has its settings."""

    def __init__(self, root):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_HEAD(self):
                self.do_GET()

            def do_GET(self):
                path = root / self.path.split("?")[0].removeprefix("/bucket/")
                listing = "list-type=2" in self.path
                if not listing and not path.is_file():
                    self.send_error(404)
                    return
                body = b"<ListBucketResult></ListBucketResult>" if listing else path.read_bytes()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if self.command == "GET":
                    self.wfile.write(body)

            def log_message(self, *args):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        self.conf = ["--conf", f"spark.hadoop.fs.s3a.endpoint=http://127.0.0.1:{self.server_address[1]}",
                     "--conf", "spark.hadoop.fs.s3a.path.style.access=true", "--conf",
                     "spark.hadoop.fs.s3a.aws.credentials.provider=org.apache.hadoop.fs.s3a.AnonymousAWSCredentialsProvider"]


@pytest.fixture
def bucket(tmp_path):
    root = tmp_path / "bucket"
    root.mkdir()
    store = ObjectStore(root)
    thread = threading.Thread(target=store.serve_forever)
    thread.start()
    yield root, store.conf
    store.shutdown()
    thread.join()
    store.server_close()


@pytest.fixture
def maven(tmp_path):
    """A repository with a library and its dependency, and the options to use only this repository."""
    def module(group, artifact, dependencies=""):
        base = tmp_path / "maven" / group.replace(".", "/") / artifact / "0.1"
        base.mkdir(parents=True)
        (base / f"{artifact}-0.1.pom").write_text(
            f"<project><modelVersion>4.0.0</modelVersion><groupId>{group}</groupId><artifactId>{artifact}</artifactId>"
            f"<version>0.1</version><dependencies>{dependencies}</dependencies></project>")
        jar(base / f"{artifact}-0.1.jar", manifest="")
    module("my.great.dep", "mylib")
    module("my.great.lib", "mylib", "<dependency><groupId>my.great.dep</groupId><artifactId>mylib</artifactId>"
                                    "<version>0.1</version></dependency>")
    (tmp_path / "ivysettings.xml").write_text("<ivysettings />")
    return f"file://{tmp_path}/maven", ["--conf", f"spark.jars.ivySettings={tmp_path}/ivysettings.xml", "--conf",
                                        f"spark.jars.ivy={tmp_path}/ivy"]


# --- the command line -------------------------------------------------------------------------------------------


def test_usage_on_empty_input(tmp_path):
    """prints usage on empty input"""
    done = subprocess.run([os.path.join(BIN, "spark-submit")], env=environment(tmp_path), cwd=tmp_path,
                          capture_output=True, text=True, timeout=120, check=False)
    assert "Usage: spark-submit" in done.stderr
    assert done.returncode == 255


def test_usage_with_help_alone(tmp_path):
    """prints usage with only --help"""
    done = subprocess.run([os.path.join(BIN, "spark-submit"), "--help"], env=environment(tmp_path), cwd=tmp_path,
                          capture_output=True, text=True, timeout=120, check=False)
    assert "Usage: spark-submit" in done.stderr
    assert done.returncode == 0


@pytest.mark.parametrize("word", ["--blarg", "-bleg"])
def test_unrecognized_options(tmp_path, word):
    """prints error with unrecognized options"""
    assert refusal(tmp_path, word) == f"Unrecognized option: {word}"


def test_a_jar_without_a_class(tmp_path):
    """handle binary specified but not class"""
    jar(tmp_path / "a.jar", manifest="")
    assert refusal(tmp_path, "a.jar").startswith("No main class")


def test_key_equals_value(tmp_path):
    """handles arguments with --key=val"""
    seen = parsed(tmp_path, "--jars=one.jar,two.jar,three.jar", "--name=myApp", "--class=org.FooBar", "spark-internal")
    assert names(seen["jars"]) == ["one.jar", "two.jar", "three.jar"]
    assert seen["name"] == "myApp"


@pytest.mark.parametrize("words", [["some", "--weird", "args"], ["--master", "local", "some", "--weird", "args"]])
def test_arguments_of_the_program(tmp_path, words):
    """handles arguments to user program; … with name collision"""
    shown = prepare(tmp_path, "--name", "myApp", "--class", "Foo", "userjar.jar", *words)
    assert shown["arguments"] == words
    assert shown["conf"]["spark.app.name"] == "myApp"


def test_the_queue_is_printed(tmp_path):
    """print the right queue name"""
    seen = parsed(tmp_path, "--name", "myApp", "--class", "Foo", "--conf", "spark.yarn.queue=thequeue", "userjar.jar")
    assert seen["queue"] == "thequeue"


def test_no_executors_with_dynamic_allocation(tmp_path):
    """SPARK-24241: do not fail fast if executor num is 0 when dynamic allocation is enabled"""
    words = ["--name", "myApp", "--class", "Foo", "--num-executors", "0", "--conf"]
    prepare(tmp_path, *words, "spark.dynamicAllocation.enabled=true", "thejar.jar")
    assert refusal(tmp_path, *words, "spark.dynamicAllocation.enabled=false",
                   "thejar.jar") == "Number of executors must be a positive number"


@pytest.mark.parametrize("words, mode", [
    (["--conf", "spark.submit.deployMode=client"], "client"),
    (["--deploy-mode", "cluster", "--conf", "spark.submit.deployMode=client"], "cluster"),
    ([], "client"),
])
def test_deploy_mode_of_the_configuration(tmp_path, words, mode):
    """specify deploy mode through configuration"""
    shown = prepare(tmp_path, "--master", "yarn", *words, *JAVA, **YARN)
    assert shown["conf"]["spark.submit.deployMode"] == mode
    seen = parsed(tmp_path, "--master", "yarn", *words, *JAVA, **YARN)
    assert seen["deployMode"] == (mode if words else "null")


# --- managers and modes -----------------------------------------------------------------------------------------


FULL = ["--executor-memory", "5g", "--executor-cores", "5", "--class", "org.SomeClass", "--jars",
        "one.jar,two.jar,three.jar", "--driver-memory", "4g", "--files", "file1.txt,file2.txt", "--archives",
        "archive1.zip,archive2.jar", "--num-executors", "6", "--name", "beauty", "--conf", "spark.ui.enabled=false"]


@pytest.mark.parametrize("mode", ["cluster", "client"])
def test_yarn(tmp_path, mode):
    """handles YARN cluster mode; handles YARN client mode"""
    shown = prepare(tmp_path, "--deploy-mode", mode, "--master", "yarn", "--queue", "thequeue", *FULL, "thejar.jar",
                    "arg1", "arg2", **YARN)
    conf = shown["conf"]
    if mode == "cluster":
        assert shown["mainClass"] == "org.apache.spark.deploy.yarn.YarnClusterApplication"
        assert shown["arguments"] == ["--jar", f"file:{tmp_path}/thejar.jar", "--class", "org.SomeClass", "--arg", "arg1",
                                      "--arg", "arg2"]
        assert conf["spark.driver.memory"] == "4g"
    else:
        assert shown["mainClass"] == "org.SomeClass"
        assert shown["arguments"] == ["arg1", "arg2"]
    assert names(shown["classpath"]) == ["thejar.jar", "one.jar", "two.jar", "three.jar"]
    assert names(conf["spark.yarn.dist.jars"]) == ["one.jar", "two.jar", "three.jar"]
    assert names(conf["spark.yarn.dist.files"]) == ["file1.txt", "file2.txt"]
    assert names(conf["spark.yarn.dist.archives"]) == ["archive1.zip", "archive2.jar"]
    assert {"spark.executor.memory": "5g", "spark.executor.cores": "5", "spark.yarn.queue": "thequeue",
            "spark.executor.instances": "6", "spark.app.name": "beauty", "spark.ui.enabled": "false"}.items() <= conf.items()


def test_standalone_with_archives(tmp_path):
    """SPARK-33530: handles standalone mode with archives"""
    shown = prepare(tmp_path, "--master", "spark://localhost:1234", *FULL, "thejar.jar", "arg1", "arg2")
    conf = shown["conf"]
    assert (shown["mainClass"], shown["arguments"]) == ("org.SomeClass", ["arg1", "arg2"])
    assert names(shown["classpath"]) == ["thejar.jar", "one.jar", "two.jar", "three.jar"]
    assert names(conf["spark.jars"]) == ["one.jar", "two.jar", "three.jar", "thejar.jar"]
    assert names(conf["spark.files"]) == ["file1.txt", "file2.txt"]
    assert names(conf["spark.archives"]) == ["archive1.zip", "archive2.jar"]
    assert {"spark.executor.memory": "5g", "spark.driver.memory": "4g", "spark.executor.cores": "5",
            "spark.app.name": "beauty", "spark.ui.enabled": "false"}.items() <= conf.items()


@pytest.mark.parametrize("rest", [True, False])
def test_standalone_cluster(tmp_path, rest):
    """handles standalone cluster mode; handles legacy standalone cluster mode"""
    shown = prepare(tmp_path, "--deploy-mode", "cluster", "--master", "spark://h:1", "--class", "org.SomeClass",
                    "--supervise", "--driver-memory", "4g", "--driver-cores", "5", "--conf", "spark.ui.enabled=false",
                    "--conf", f"spark.master.rest.enabled={str(rest).lower()}", "thejar.jar", "arg1", "arg2")
    resource = f"file:{tmp_path}/thejar.jar"
    if rest:
        assert shown["mainClass"] == "org.apache.spark.deploy.rest.RestSubmissionClientApp"
        assert shown["arguments"] == [resource, "org.SomeClass", "arg1", "arg2"]
    else:
        assert shown["mainClass"] == "org.apache.spark.deploy.ClientApp"
        assert shown["arguments"] == ["--supervise", "--memory", "4g", "--cores", "5", "launch", "spark://h:1", resource,
                                      "org.SomeClass", "arg1", "arg2"]
    assert shown["classpath"] == []
    assert {"spark.master", "spark.app.name", "spark.jars", "spark.driver.memory", "spark.driver.cores",
            "spark.driver.supervise", "spark.ui.enabled", "spark.submit.deployMode"} <= shown["conf"].keys()


@pytest.mark.parametrize("master", ["spark://h:1", "mesos://h:1"])
def test_standalone_and_mesos_clients(tmp_path, master):
    """handles standalone client mode; handles mesos client mode (before Spark 4)"""
    words = ["--conf", "spark.firesteel.compat=3.5"] if master.startswith("mesos") else []
    shown = prepare(tmp_path, *words, "--deploy-mode", "client", "--master", master, "--executor-memory", "5g",
                    "--total-executor-cores", "5", "--class", "org.SomeClass", "--driver-memory", "4g", "--conf",
                    "spark.ui.enabled=false", "thejar.jar", "arg1", "arg2")
    assert (shown["mainClass"], shown["arguments"]) == ("org.SomeClass", ["arg1", "arg2"])
    assert names(shown["classpath"]) == ["thejar.jar"]
    assert {"spark.executor.memory": "5g", "spark.cores.max": "5",
            "spark.ui.enabled": "false"}.items() <= shown["conf"].items()


def test_kubernetes_cluster(tmp_path):
    """handles k8s cluster mode"""
    shown = prepare(tmp_path, "--deploy-mode", "cluster", "--proxy-user", "test.user", "--master", "k8s://host:1",
                    "--executor-memory", "5g", "--class", "org.SomeClass", "--driver-memory", "4g", "--conf",
                    "spark.kubernetes.namespace=spark", "--conf", "spark.kubernetes.driver.container.image=bar",
                    "/home/thejar.jar", "arg1")
    words = shown["arguments"]
    assert dict(zip(words[::2], words[1::2])) == {"--primary-java-resource": "file:/home/thejar.jar", "--main-class":
                                                  "org.SomeClass", "--arg": "arg1", "--proxy-user": "test.user"}
    assert shown["mainClass"] == "org.apache.spark.deploy.k8s.submit.KubernetesClientApplication"
    assert shown["classpath"] == []
    assert {"spark.master": "k8s://https://host:1", "spark.executor.memory": "5g", "spark.driver.memory": "4g",
            "spark.kubernetes.namespace": "spark",
            "spark.kubernetes.driver.container.image": "bar"}.items() <= shown["conf"].items()


# --- the driver's pod -------------------------------------------------------------------------------------------


POD = ["--deploy-mode", "client", "--proxy-user", "test.user", "--master", "k8s://host:1", "--class", "org.SomeClass",
       "--conf", "spark.kubernetes.submitInDriver=true"]


@pytest.fixture
def pod(tmp_path):
    folder = tmp_path / "pod"
    folder.mkdir()
    (tmp_path / "metrics.properties").write_text("m")
    (tmp_path / "system.properties").write_text("s")
    jar(tmp_path / "lib.jar", manifest="")
    jar(tmp_path / "log.zip", more=[("log", "x")])
    return folder


def test_packages_in_the_pod(pod, maven):
    """SPARK-35084: include jars of the --packages in k8s client mode & driver runs inside a POD"""
    repository, settings = maven
    jar(pod / "app.jar", manifest="")
    shown = prepare(pod, *POD, *settings, "--packages", "my.great.lib:mylib:0.1,my.great.dep:mylib:0.1", "--repositories",
                    repository, str(pod / "app.jar"), "x")
    assert {"my.great.lib_mylib-0.1.jar", "my.great.dep_mylib-0.1.jar"} <= set(names(shown["conf"]["spark.jars"]))
    assert (pod / "my.great.lib_mylib-0.1.jar").exists() and (pod / "my.great.dep_mylib-0.1.jar").exists()


def test_the_application_s_jar_in_the_pod(pod, tmp_path):
    """SPARK-47495: Not to add primary resource to jars again in k8s client mode & driver runs inside a POD"""
    shown = prepare(pod, *POD, "--jars", f"{tmp_path}/lib.jar", "/home/jarToIgnore.jar", "arg1")
    assert names(shown["conf"]["spark.jars"]) == ["lib.jar"]


def test_files_in_the_pod(pod, tmp_path):
    """SPARK-33782: handles k8s files download to current directory"""
    shown = prepare(pod, *POD, "--executor-memory", "5g", "--files", f"{tmp_path}/metrics.properties", "--py-files",
                    f"{tmp_path}/system.properties", "--archives", f"{tmp_path}/log.zip", "--jars", f"{tmp_path}/lib.jar",
                    "/home/thejar.jar", "arg1")
    assert shown["conf"]["spark.master"] == "k8s://https://host:1"
    assert sorted(os.listdir(pod)) == ["lib.jar", "log.zip", "metrics.properties", "system.properties"]
    assert (pod / "log.zip" / "log").read_text() == "x"


def test_jars_that_are_not_to_come_into_the_pod(pod, tmp_path, bucket):
    """SPARK-47475: Avoid jars download if scheme matches spark.kubernetes.jars.avoidDownloadSchemes"""
    root, conf = bucket
    jar(root / "remote.jar", manifest="")
    words = [*POD, *conf, "--jars", f"{tmp_path}/lib.jar,s3a://bucket/remote.jar"]
    shown = prepare(pod, *words, "--conf", "spark.kubernetes.jars.avoidDownloadSchemes=s3a", "/home/jarToIgnore.jar")
    assert "s3a://bucket/remote.jar" in shown["conf"]["spark.jars"].split(",")
    assert names(shown["conf"]["spark.jars"]) == ["lib.jar", "remote.jar"]
    assert sorted(os.listdir(pod)) == ["lib.jar"]
    prepare(pod, *words, "/home/jarToIgnore.jar")
    assert sorted(os.listdir(pod)) == ["lib.jar", "remote.jar"]


def test_submit_time(tmp_path):
    """SPARK-43014: Set `spark.app.submitTime` if missing; do not overwrite it … when … setSubmitTimeInDriver is false"""
    words = ["--deploy-mode", "client", "--master", "k8s://host:1", "--class", "org.SomeClass"]
    key = "spark.app.submitTime"
    assert re.fullmatch(r"\d{13}", prepare(tmp_path, *words, "/home/thejar.jar")["conf"][key])
    words += ["--conf", f"{key}=1234567"]
    assert prepare(tmp_path, *words, "/home/thejar.jar")["conf"][key] == "1234567"
    words += ["--conf", "spark.kubernetes.submitInDriver=true"]
    assert prepare(tmp_path, *words, "/home/thejar.jar")["conf"][key] != "1234567"
    words += ["--conf", "spark.kubernetes.setSubmitTimeInDriver=false"]
    assert prepare(tmp_path, *words, "/home/thejar.jar")["conf"][key] == "1234567"


def test_the_working_directory_of_the_pod(tmp_path):
    """SPARK-43540: Add working directory into classpath on the driver in K8S cluster mode"""
    assert "." in prepare(tmp_path, *POD, "/home/thejar.jar")["classpath"]


# --- main classes -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["client", "cluster"])
def test_main_class_of_a_remote_jar(tmp_path, bucket, mode):
    """automatically sets mainClass if primary resource is S3 JAR in client mode; … in cluster mode"""
    root, conf = bucket
    jar(root / "some.jar", manifest="Main-Class: SomeMainClass\r\n")
    shown = prepare(tmp_path, "--name", "testApp", "--master", "yarn", "--deploy-mode", mode, *conf,
                    "s3a://bucket/some.jar", "arg1", "arg2", **YARN)
    assert names(shown["classpath"]) == ["some.jar"]
    if mode == "client":
        assert (shown["mainClass"], shown["arguments"]) == ("SomeMainClass", ["arg1", "arg2"])
    else:
        assert shown["mainClass"] == "org.apache.spark.deploy.yarn.YarnClusterApplication"
        assert shown["arguments"] == ["--jar", "s3a://bucket/some.jar", "--class", "SomeMainClass", "--arg", "arg1",
                                      "--arg", "arg2"]


def test_main_class_of_a_remote_jar_that_is_not_there(tmp_path, bucket):
    """error informatively when mainClass isn't set and S3 JAR doesn't exist"""
    _, conf = bucket
    error = refusal(tmp_path, "--name", "testApp", "--master", "yarn", *conf, "s3a://bucket/does-not-exist.jar", **YARN)
    assert "No such file or directory: s3a://bucket/does-not-exist.jar" in error


# --- what wins --------------------------------------------------------------------------------------------------


def test_options_and_settings(tmp_path):
    """handles confs with flag equivalents"""
    shown = prepare(tmp_path, "--deploy-mode", "cluster", "--executor-memory", "5g", "--class", "org.SomeClass", "--conf",
                    "spark.executor.memory=4g", "--conf", "spark.master=yarn", "thejar.jar", "arg1", "arg2", **YARN)
    assert shown["mainClass"] == "org.apache.spark.deploy.yarn.YarnClusterApplication"
    assert {"spark.executor.memory": "5g", "spark.master": "yarn",
            "spark.submit.deployMode": "cluster"}.items() <= shown["conf"].items()


def test_the_progress_bar(tmp_path):
    """SPARK-21568 ConsoleProgressBar should be enabled only in shells"""
    shell = prepare(tmp_path, "--class", "org.apache.spark.repl.Main", "spark-shell")
    assert shell["conf"]["spark.ui.showConsoleProgress"] == "true"
    assert "spark.ui.showConsoleProgress" not in prepare(tmp_path, *JAVA)["conf"]


def test_conf_dir(tmp_path):
    """SPARK_CONF_DIR overrides spark-defaults.conf"""
    (tmp_path / "conf").mkdir()
    write_properties(tmp_path / "conf" / "spark-defaults.conf", spark__executor__memory="3g")
    home = {**environment(tmp_path), "SPARK_CONF_DIR": str(tmp_path / "conf")}
    done = subprocess.run([os.path.join(BIN, "spark-submit"), "--dry-run", "--verbose", "--master", "local", *JAVA],
                          env=home, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert re.search(r"\n  executorMemory +3g\n", done.stderr)


@pytest.mark.parametrize("load", [True, False])
def test_load_spark_defaults(tmp_path, load):
    """SPARK-48392: load spark-defaults.conf when --load-spark-defaults is set; should skip it when it is not"""
    (tmp_path / "no-conf").mkdir()
    write_properties(tmp_path / "no-conf" / "spark-defaults.conf", spark__executor__memory="3g", spark__driver__memory="3g")
    file = write_properties(tmp_path / "p", spark__executor__cores="16", spark__driver__memory="4g")
    seen = parsed(tmp_path, "--name", "testApp", "--master", "local", "--properties-file", file,
                  *(["--load-spark-defaults"] if load else []), *JAVA)
    assert (seen["executorCores"], seen["driverMemory"]) == ("16", "4g")
    assert seen["executorMemory"] == ("3g" if load else "null")


def test_line_ends(tmp_path):
    """handles natural line delimiters in --properties-file and --conf uniformly"""
    (tmp_path / "p").write_text("spark.my.leading=\\nblah\nspark.my.trailing=blah\\r\nspark.my.infix=\\rblah\\n\n"
                                "spark.my.space=\\ blah\\f\n")
    conf = prepare(tmp_path, "--class", "org.SomeClass", "--conf", "spark.my.line=\n", "--conf", "spark.master=yarn",
                   "--properties-file", "p", "thejar.jar", **YARN)["conf"]
    assert {"spark.my.line": "\n", "spark.my.leading": "\nblah", "spark.my.trailing": "blah\r",
            "spark.my.infix": "\rblah\n", "spark.my.space": "blah"}.items() <= conf.items()


def test_the_configuration_of_the_arguments(tmp_path):
    """get a Spark configuration from arguments"""
    conf = prepare(tmp_path, "--conf", "spark.test.hello=world", "--conf", "spark.master=yarn", "--class", "Foo", "app.jar",
                   **YARN)["conf"]
    assert (conf["spark.test.hello"], conf["spark.master"]) == ("world", "yarn")


# --- applications that run --------------------------------------------------------------------------------------


SIMPLE = r"""
#include <firesteel/firesteel.h>
#include <stdio.h>
int main(void)
{
        fst_conf *conf = fst_conf_new();
        printf("%s %s ", fst_conf_get(conf, "spark.master"), fst_conf_get(conf, "spark.app.name"));
        fst_context *sc = fst_context_new_conf(conf);
        int64_t sum = 0;
        if (fst_reduce(fst_range_n(sc, 1, 101, 10), fst_fn_sum, &sum) == 0)
                printf("%d\n", (int)sum);
        return fst_context_stop(sc);
}
"""


def submit(folder, *words):
    done = subprocess.run([os.path.join(BIN, "spark-submit"), "--name", "testApp", *words], env=environment(folder),
                          cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("master", ["local", "local-cluster[2,1,1024]"])
def test_a_simple_application(tmp_path, master):
    """launch simple application with spark-submit"""
    (tmp_path / "simple.c").write_text(SIMPLE)
    assert submit(tmp_path, "--master", master, "--conf", "spark.ui.enabled=false", "simple.c") == f"{master} testApp 5050\n"


def test_redaction_in_the_event_log(tmp_path):
    """launch simple application with spark-submit with redaction"""
    (tmp_path / "simple.c").write_text(SIMPLE)
    logs = tmp_path / "logs"
    logs.mkdir()
    submit(tmp_path, "--master", "local", "--conf", "spark.executorEnv.HADOOP_CREDSTORE_PASSWORD=secret_password", "--conf",
           "spark.eventLog.enabled=true", "--conf", "spark.eventLog.rolling.enabled=false", "--conf",
           "spark.eventLog.compress=false", "--conf", f"spark.eventLog.dir={logs}", "simple.c")
    text = "".join(path.read_text() for path in logs.iterdir())
    assert '"Event":"SparkListenerApplicationEnd"' in text and "HADOOP_CREDSTORE_PASSWORD" in text
    assert "secret_password" not in text


# --- packages, R ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [
    ["--packages", "my.great.lib:mylib:0.1,my.great.dep:mylib:0.1", "--repositories"],
    ["--conf", "spark.jars.packages=my.great.lib:mylib:0.1,my.great.dep:mylib:0.1", "--conf"],
])
def test_packages(tmp_path, maven, words):
    """includes jars passed in through --packages; … through spark.jars.packages and spark.jars.repositories"""
    repository, settings = maven
    shown = prepare(tmp_path, "--master", "local-cluster[2,1,1024]", *settings, *words,
                    repository if words[-1] == "--repositories" else f"spark.jars.repositories={repository}", *JAVA)
    libraries = ["my.great.lib_mylib-0.1.jar", "my.great.dep_mylib-0.1.jar"]
    assert names(shown["conf"]["spark.jars"]) == [*libraries, "thejar.jar"]
    assert names(shown["classpath"]) == ["thejar.jar", *libraries]


def test_a_jar_beside_r(tmp_path):
    """include an external JAR in SparkR"""
    jar(tmp_path / "external.jar", manifest="")
    shown = prepare(tmp_path, "--name", "testApp", "--master", "local", "--jars", "external.jar", "--verbose", "jarTest.R")
    assert shown["mainClass"] == "org.apache.spark.deploy.RRunner"
    assert names(shown["classpath"]) == names(shown["conf"]["spark.jars"]) == ["external.jar"]


# --- paths ------------------------------------------------------------------------------------------------------


def test_paths_of_the_command_line(tmp_path):
    """resolves command line argument paths correctly"""
    (tmp_path / "archives").mkdir()
    (tmp_path / "archives" / "single.zip").write_bytes(b"")
    here = f"file:{tmp_path}"
    conf = prepare(tmp_path, "--master", "local", "--jars", "/jar1,/jar2", "--files", "local:/file1,file2", *JAVA)["conf"]
    assert conf["spark.jars"] == f"file:/jar1,file:/jar2,{here}/thejar.jar"
    assert conf["spark.files"] == f"local:/file1,{here}/file2"
    conf = prepare(tmp_path, "--master", "yarn", "--files", "local:/file1,file2", "--archives",
                   f"file:/archive1,{tmp_path}/archives/*.zip#archive3", *JAVA, **YARN)["conf"]
    assert conf["spark.yarn.dist.files"] == f"local:/file1,{here}/file2"
    assert conf["spark.yarn.dist.archives"] == f"file:/archive1,{here}/archives/single.zip#archive3"
    conf = prepare(tmp_path, "--master", "local", "--py-files", "py-file1,py-file2", "--conf",
                   "spark.pyspark.driver.python=python3.4", "--conf", "spark.pyspark.python=python3.5", "mister.py")["conf"]
    assert conf["spark.submit.pyFiles"] == f"{tmp_path}/py-file1,{tmp_path}/py-file2"
    assert (conf["spark.pyspark.driver.python"], conf["spark.pyspark.python"]) == ("python3.4", "python3.5")


def test_an_ambiguous_archive(tmp_path):
    """ambiguous archive mapping results in error message"""
    for name in "first.zip", "second.zip":
        (tmp_path / name).write_bytes(b"")
    error = refusal(tmp_path, "--master", "yarn", "--archives", f"file:/archive1,{tmp_path}/*.zip#archive3", *JAVA, **YARN)
    assert "resolves ambiguously to multiple files" in error


def test_paths_of_the_configuration(tmp_path):
    """resolves config paths correctly"""
    here = f"file:{tmp_path}"
    file = write_properties(tmp_path / "one", spark__jars="/jar1,/jar2", spark__files="local:/file1,file2")
    conf = prepare(tmp_path, "--master", "local", "--properties-file", file, *JAVA)["conf"]
    assert conf["spark.jars"] == f"file:/jar1,file:/jar2,{here}/thejar.jar"
    assert conf["spark.files"] == f"local:/file1,{here}/file2"
    file = write_properties(tmp_path / "two", spark__yarn__dist__files="local:/file1,file2",
                            spark__yarn__dist__archives="file:/archive1,archive2")
    conf = prepare(tmp_path, "--master", "yarn", "--properties-file", file, *JAVA, **YARN)["conf"]
    assert conf["spark.yarn.dist.files"] == f"local:/file1,{here}/file2"
    assert conf["spark.yarn.dist.archives"] == f"file:/archive1,{here}/archive2"
    file = write_properties(tmp_path / "three", spark__submit__pyFiles="py-file1,py-file2")
    conf = prepare(tmp_path, "--master", "local", "--properties-file", file, "mister.py")["conf"]
    assert conf["spark.submit.pyFiles"] == f"{tmp_path}/py-file1,{tmp_path}/py-file2"


def test_remote_python_files_of_the_configuration(tmp_path, bucket):
    """resolves config paths correctly: remote ones stay URIs in a cluster"""
    root, conf = bucket
    for name in "file1.py", "file2.py":
        (root / name).write_text("")
    remote = "s3a://bucket/file1.py,s3a://bucket/file2.py"
    file = write_properties(tmp_path / "four", spark__submit__pyFiles=remote)
    shown = prepare(tmp_path, *conf, "--master", "yarn", "--deploy-mode", "cluster", "--properties-file", file,
                    "hdfs:///tmp/mister.py", **YARN)
    assert shown["conf"]["spark.submit.pyFiles"] == remote


@pytest.fixture
def patterns(tmp_path):
    """Files for patterns, the options that name them, and the expected files."""
    made = {"--jars": ["1.jar", "2.jar"], "--files": ["tmpFile1", "tmpFile2"], "--py-files": ["tmpPy1.py", "tmpPy2.egg"],
            "--archives": ["archive1.zip", "archive2.zip"]}
    words, found = [], {}
    for option, files in made.items():
        folder = tmp_path / option.strip("-")
        folder.mkdir()
        for name in files:
            (folder / name).write_bytes(b"")
        words += [option, f"{folder}/*{files[0].partition('1')[2] if option in ('--jars', '--archives') else ''}"]
        found[option] = [f"file:{folder}/{name}" for name in files]
    return words, found


DIST = {"--jars": "spark.yarn.dist.jars", "--files": "spark.yarn.dist.files", "--py-files": "spark.yarn.dist.pyFiles",
        "--archives": "spark.yarn.dist.archives"}


def test_patterns(tmp_path, patterns):
    """support glob path"""
    words, found = patterns
    conf = prepare(tmp_path, "--name", "testApp", "--master", "yarn", *words, "app.py", **YARN)["conf"]
    assert {option: conf[key].split(",") for option, key in DIST.items()} == found


def test_lists_for_yarn_are_merged(tmp_path, patterns):
    """SPARK-27575: yarn confs should merge new value with existing value"""
    words, found = patterns
    there = {option: [f"file:/there{option}{i}" for i in (1, 2)] for option in DIST}
    for option, key in DIST.items():
        words += ["--conf", f"{key}={','.join(there[option])}"]
    conf = prepare(tmp_path, "--name", "testApp", "--master", "yarn", *words, "app.py", **YARN)["conf"]
    assert {option: conf[key].split(",") for option, key in DIST.items()} == {
        option: there[option] + found[option] for option in DIST}


# --- downloads --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name, says", [("abc:/my/file", 'No FileSystem for scheme "abc"'),
                                        ("s3a://bucket/no/such/file", "No such file or directory")])
def test_downloads_that_fail(tmp_path, bucket, name, says):
    """downloadFile - invalid url; downloadFile - file doesn't exist"""
    _, conf = bucket
    assert says in refusal(tmp_path, "--master", "local", *conf, "--class", "C", name)


def test_downloads(tmp_path, bucket):
    """downloadFile does not download local file; download one file to local; download list of files to local"""
    root, conf = bucket
    (root / "test.jar").write_text("hello, world")
    (tmp_path / "tmp").mkdir()
    shown = prepare(tmp_path, *conf, "--master", "local", "--class", "C", "--jars", "/local/file,s3a://bucket/test.jar",
                    "/local/app.jar", TMPDIR=str(tmp_path / "tmp"))
    app, local, fetched = shown["classpath"]
    assert (app, local) == ("file:/local/app.jar", "file:/local/file")
    assert re.fullmatch(rf"file:{tmp_path}/tmp/spark-[^/]+/test\.jar", fetched)
    assert glob.glob(f"{tmp_path}/tmp/*") == []
    shown = prepare(tmp_path, *conf, "--master", "local", "--class", "C", "s3a://bucket/test.jar",
                    TMPDIR=str(tmp_path / "tmp"))
    assert names(shown["classpath"]) == ["test.jar"] and shown["classpath"][0].startswith("file:")


def test_remote_files_are_not_uploaded_again(tmp_path, bucket):
    """Avoid re-upload remote resources in yarn client mode"""
    root, conf = bucket
    for name in "f", "m.egg", "app.py", "l.jar":
        (root / name).write_text(name)
    conf = prepare(tmp_path, *conf, "--name", "testApp", "--master", "yarn", "--jars", "s3a://bucket/l.jar", "--files",
                   "s3a://bucket/f", "--py-files", "s3a://bucket/m.egg", "s3a://bucket/app.py", **YARN)["conf"]
    assert conf["spark.yarn.dist.jars"] == "s3a://bucket/l.jar"
    assert conf["spark.yarn.dist.files"] == "s3a://bucket/f"
    assert conf["spark.yarn.dist.pyFiles"] == "s3a://bucket/m.egg"
    assert conf["spark.repl.local.jars"].startswith("file:")
    assert conf["spark.submit.pyFiles"].startswith("/")


@pytest.mark.parametrize("words, local_http, local_s3", [
    (["spark.firesteel.compat=2.4"], True, False),  # Hadoop 2.7 has no file system for http
    (["spark.firesteel.compat=2.4", "spark.hadoop.fs.http.impl=org.example.Http"], False, False),
    ([], False, False),
    (["spark.yarn.dist.forceDownloadSchemes=http"], True, False),
    (["spark.yarn.dist.forceDownloadSchemes=*"], True, True),
])
def test_what_yarn_cannot_fetch(tmp_path, bucket, words, local_http, local_s3):
    """download remote resource if it is not supported by yarn service; avoid downloading remote resource if it is
    supported by yarn service; force download from forced schemes; force download for all the schemes"""
    root, conf = bucket
    for name in "s3.jar", "http.jar", "app.py":
        (root / name).write_text(name)
    address = conf[1].split("=")[1]
    jars = prepare(tmp_path, *conf, *[word for pair in words for word in ("--conf", pair)], "--name", "testApp", "--master",
                   "yarn", "--jars", f"s3a://bucket/s3.jar,{address}/bucket/http.jar", "s3a://bucket/app.py",
                   **YARN)["conf"]["spark.yarn.dist.jars"].split(",")
    assert names(jars) == ["s3.jar", "http.jar"]
    assert jars[0].startswith("file:" if local_s3 else "s3a:")
    assert jars[1].startswith("file:" if local_http else "http:")


@pytest.mark.parametrize("words", [["--py-files", "s3a://bucket/m.egg"],
                                   ["--conf", "spark.submit.pyFiles=s3a://bucket/m.egg"]])
def test_python_files_of_other_programs(tmp_path, bucket, words):
    """support --py-files/spark.submit.pyFiles in non pyspark application"""
    root, conf = bucket
    (root / "m.egg").write_text("")
    conf = prepare(tmp_path, *conf, "--class", "C", "--name", "testApp", "--master", "yarn", *words, "spark-internal",
                   **YARN)["conf"]
    assert conf["spark.yarn.dist.pyFiles"] == "s3a://bucket/m.egg"
    assert conf["spark.submit.pyFiles"].startswith("/")
