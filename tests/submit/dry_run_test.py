"""spark-submit --dry-run: the command that would start, and the files that are fetched, compiled or read for it."""
import http.server
import json
import os
import subprocess
import threading

import pytest

from dry_run import environment, jar, prepare, r_application, refusal, run
from folders import BIN


@pytest.fixture
def site(tmp_path):
    """A folder served over HTTP: its address, and the requested paths."""
    root = tmp_path / "site"
    root.mkdir()
    asked = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args):
            super().__init__(*args, directory=str(root))

        def do_GET(self):
            asked.append(self.path)
            super().do_GET()

        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield root, f"http://127.0.0.1:{server.server_address[1]}", asked
    server.shutdown()
    thread.join()
    server.server_close()


def test_text_is_what_verbose_prints(tmp_path):
    done = run(tmp_path, "--master", "yarn", "--deploy-mode", "cluster", "--class", "C", "--conf",
               "spark.my.password=x", "--conf", "spark.app.submitTime=1", "/n/a.jar", "b c", HADOOP_CONF_DIR="/n")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == """Main class:
org.apache.spark.deploy.yarn.YarnClusterApplication
Arguments:
--jar
file:/n/a.jar
--class
C
--arg
b c
Spark config:
(spark.app.name,C)
(spark.app.submitTime,1)
(spark.master,yarn)
(spark.my.password,*********(redacted))
(spark.submit.deployMode,cluster)
(spark.submit.pyFiles,)
Classpath elements:
file:/n/a.jar


"""


def test_nothing_runs(tmp_path):
    (tmp_path / "app.c").write_text('#include <stdio.h>\nint main(void) { puts("ran"); return 0; }\n')
    done = run(tmp_path, "app.c")
    assert done.returncode == 0
    assert "ran" not in done.stdout
    assert f"file:{tmp_path}/app.c" in done.stdout


def test_errors_are_json_for_who_asked_for_it(tmp_path):
    assert refusal(tmp_path, "--master", "nope", "--class", "C", "a.jar").startswith("Master must either be yarn")
    assert refusal(tmp_path, "--master") == "Missing argument for option '--master'."
    done = run(tmp_path, "--master", "nope", "--class", "C", "a.jar")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("Error: Master must either be yarn")


def test_the_manifest_names_the_main_class(tmp_path):
    jar(tmp_path / "good.jar", "Main-Class: org.example.Main\r\n")
    jar(tmp_path / "bad.jar", "Created-By: me\r\n")
    assert prepare(tmp_path, "good.jar")["mainClass"] == "org.example.Main"
    assert refusal(tmp_path, "bad.jar") == "No main class set in JAR; please specify one with --class."
    assert refusal(tmp_path, "none.jar") == (
        f"Failed to get main class in JAR with error 'File file:{tmp_path}/none.jar does not exist'.  "
        "Please specify one with --class.")
    assert refusal(tmp_path, "spark-shell") == (
        "Failed to get main class in JAR with error 'File spark-shell does not exist'.  "
        "Please specify one with --class.")
    assert "2.4" not in refusal(tmp_path, "--conf", "spark.firesteel.compat=2.4", "none.jar")
    assert prepare(tmp_path, "--conf", "spark.firesteel.compat=2.4", "good.jar")["mainClass"] == "org.example.Main"


def test_patterns_become_files(tmp_path):
    for name in "b.jar", "a.jar", "c.txt":
        (tmp_path / name).write_text(name)
    shown = prepare(tmp_path, "--class", "C", "--jars", "*.jar,/nonexistent/*", "--files", "c.*#here", "app.jar")
    assert shown["classpath"] == [f"file:{tmp_path}/{name}" for name in ("app.jar", "a.jar", "b.jar")]
    assert shown["conf"]["spark.files"] == f"file:{tmp_path}/c.txt#here"  # file:///… for a plain name
    assert "resolves ambiguously to multiple files" in refusal(tmp_path, "--class", "C", "--files", "*.jar#x", "a.jar")


def test_client_mode_downloads(tmp_path, site):
    root, address, asked = site
    jar(root / "app.jar", "Main-Class: Far\r\n")
    (root / "lib.py").write_text("x = 1")
    shown = prepare(tmp_path, "--py-files", f"{address}/lib.py", f"{address}/app.jar")
    assert shown["mainClass"] == "Far"
    assert shown["classpath"][0].startswith("file:/") and shown["classpath"][0].endswith("/app.jar")
    assert shown["conf"]["spark.jars"] == f"{address}/app.jar"
    assert shown["conf"]["spark.files"] == f"{address}/lib.py"
    assert shown["conf"]["spark.submit.pyFiles"].endswith("/lib.py")
    assert sorted(set(asked)) == ["/app.jar", "/lib.py"]
    assert not os.path.exists(shown["classpath"][0].removeprefix("file:"))  # a dry run leaves no files


def test_the_cluster_downloads_for_itself(tmp_path, site):
    _, address, asked = site
    shown = prepare(tmp_path, "--master", "k8s://h", "--deploy-mode", "cluster", "--class", "C", "--jars",
                    f"{address}/b.jar", f"{address}/app.jar")
    assert shown["conf"]["spark.jars"] == f"{address}/b.jar,{address}/app.jar"
    assert asked == []


def test_yarn_gets_local_copies_of_what_it_cannot_fetch(tmp_path, site):
    root, address, _ = site
    (root / "a.jar").write_text("a")
    words = ["--master", "yarn", "--deploy-mode", "cluster", "--class", "C", "--jars", f"{address}/a.jar", "app.jar"]
    plain = prepare(tmp_path, *words, HADOOP_CONF_DIR=str(tmp_path))
    assert plain["conf"]["spark.yarn.dist.jars"] == f"{address}/a.jar"  # Hadoop reads http itself
    forced = prepare(tmp_path, "--conf", "spark.yarn.dist.forceDownloadSchemes=http", *words,
                     HADOOP_CONF_DIR=str(tmp_path))
    assert forced["conf"]["spark.yarn.dist.jars"].startswith("file:/")
    assert forced["classpath"][1] == forced["conf"]["spark.yarn.dist.jars"]


def test_the_driver_s_pod_has_all_in_its_working_directory(tmp_path, site):
    root, address, _ = site
    pod = tmp_path / "pod"
    pod.mkdir()
    for name in "a.jar", "f.txt", "l.py":
        (root / name).write_text(name)
    jar(root / "z.zip", more=[("inner/x", "y")])
    shown = prepare(pod, "--master", "k8s://h", "--conf", "spark.kubernetes.submitInDriver=true", "--class", "C",
                    "--jars", f"{address}/a.jar", "--files", f"{address}/f.txt#renamed", "--py-files",
                    f"{address}/l.py", "--archives", f"{address}/z.zip#dir", "local:///opt/app.jar")
    assert shown["classpath"][:2] == [".", "local:///opt/app.jar"]
    assert (pod / "a.jar").read_text() == "a.jar"
    assert (pod / "renamed").read_text() == "f.txt"
    assert (pod / "l.py").read_text() == "l.py"
    assert (pod / "dir" / "inner" / "x").read_text() == "y"
    assert shown["conf"]["spark.jars"].startswith("file:/")


def test_c_goes_into_a_cluster_compiled(tmp_path):
    (tmp_path / "app.c").write_text("int main(void) { return 0; }\n")
    (tmp_path / "bad.c").write_text("int main(void) { return }\n")
    words = ["--master", "spark://h:1", "--deploy-mode", "cluster"]
    shown = prepare(tmp_path, *words, "app.c", "x")
    launch, master, resource, entry, argument = shown["arguments"]
    assert (launch, master, entry, argument) == ("launch", "spark://h:1", "main", "x")
    assert resource == shown["conf"]["spark.jars"]
    with open(resource.removeprefix("file:"), "rb") as file:
        assert file.read(4) == b"\x7fELF"
    assert shown["conf"]["spark.app.name"] == "app.c"
    assert refusal(tmp_path, *words, "bad.c")
    assert refusal(tmp_path, *words, "none.c")


def test_r_on_yarn_ships_sparkr(tmp_path):
    home = tmp_path / "home"
    words = ["--master", "yarn", "--deploy-mode", "cluster", "--archives", "/n/z.zip", "x.R", "a"]
    more = {"HADOOP_CONF_DIR": "/n", "SPARK_HOME": str(home)}
    assert refusal(tmp_path, *words, **more) == "sparkr.zip does not exist for R application in YARN mode."
    (home / "R" / "lib").mkdir(parents=True)
    jar(home / "R" / "lib" / "sparkr.zip")
    shown = prepare(tmp_path, *words, **more)
    assert shown["conf"]["spark.yarn.dist.archives"] == f"file:/n/z.zip,file:{home}/R/lib/sparkr.zip#sparkr"
    assert shown["conf"]["spark.yarn.dist.files"] == f"file:{tmp_path}/x.R"
    assert shown["arguments"] == ["--primary-r-file", "x.R", "--class", "org.apache.spark.deploy.RRunner", "--arg", "a"]


def test_r_packages_travel_to_yarn(tmp_path):
    there = {**environment(tmp_path), **r_application(tmp_path)}
    words = [os.path.join(BIN, "spark-submit"), "--dry-run", "--output", "json", "--jars", "r.jar"]
    done = subprocess.run([*words, "--master", "yarn", "app.R"], cwd=tmp_path, env=there, capture_output=True, text=True,
                          timeout=120, check=True)
    sparkr, packages = json.loads(done.stdout)["conf"]["spark.yarn.dist.archives"].split(",")
    assert sparkr == f"file:{tmp_path}/home/R/lib/sparkr.zip#sparkr"
    assert packages.startswith(f"file:{tmp_path}/tmp/") and packages.endswith("/rpkg.zip#rpkg")
    assert f"{tmp_path}/r.jar contains R source code. Now installing package.\n" in done.stderr
    assert os.listdir(tmp_path / "tmp") == []  # it was a dry run

    refused = subprocess.run([*words, "--master", "spark://h:7077", "app.R"], cwd=tmp_path, env=there, capture_output=True,
                             text=True, timeout=120, check=False)
    assert refused.returncode == 1
    assert json.loads(refused.stdout)["error"] == "Distributing R packages with standalone cluster is not supported."
    assert os.listdir(tmp_path / "tmp") == []


def test_r_packages_of_a_hostile_jar(tmp_path):
    there = {**environment(tmp_path), **r_application(tmp_path)}
    jar(tmp_path / "evil.jar", "Spark-HasRPackage: true\r\n", [("R/pkg/../../../evil", "x")])
    done = subprocess.run([os.path.join(BIN, "spark-submit"), "--dry-run", "--output", "json", "--jars", "r.jar,evil.jar",
                           "app.R"], cwd=tmp_path, env=there, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1
    assert json.loads(done.stdout)["error"] == "Malicious zip entry escaping target dir: R/pkg/../../../evil"
    assert not (tmp_path / "evil").exists() and os.listdir(tmp_path / "tmp") == []
