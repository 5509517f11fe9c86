"""Durable logs: the output of drivers and executors in spark.firesteel.logs.dir, and `firesteel logs`."""
import json
import os
import pathlib
import re
import signal
import subprocess
import threading
import urllib.error
import urllib.request

import pytest

from conditions import is_alive, wait_until
from executor_managers import KubernetesInMemory
from folders import BIN, TOP
from sanitizers import LINK_FLAGS
from standalone_cluster import Cluster

PODS = "/api/v1/namespaces/default/pods"

# Tasks print lines; those of partition 0 go on until the file exists or the executor is killed.
PRINTING = """#include <firesteel/firesteel.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
struct gate { char path[200]; };
static int64_t print(fst_task *task, int64_t x)
{
        const struct gate *gate = fst_captured(task);
        for (int i = 0; i < 5 || (x == 0 && *gate->path && access(gate->path, F_OK) != 0 && i < 3000); i++) {
                printf("task %d line %d db.password=hidden123\\n", (int)x, i);
                fflush(stdout);
                if (*gate->path)
                        usleep(20000);
        }
        return x;
}
int main(int argc, char **argv)
{
        struct gate gate = {{0}};
        snprintf(gate.path, sizeof(gate.path), "%s", argc > 1 ? argv[1] : "");
        fst_context *sc = fst_context_new("printing");
        printf("the driver says hello\\n");
        int64_t n = 0;
        const int r = fst_count(fst_map(fst_range_n(sc, 0, 2, 2), FST_WITH(print, gate), FST_I64), &n);
        printf("the driver has counted %d\\n", (int)n);
        return fst_context_stop(sc) || r ? 1 : 0;
}
"""


class Run:
    def __init__(self, folder, master="local-cluster[2,1,1024]"):
        self.folder, self.logs, self.master = folder, folder / "logs", master
        (folder / "printing.c").write_text(PRINTING)
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK_", "HADOOP_", "YARN_", "MASTER"))}
        self.environment = dict(kept, HOME=str(folder), SPARK_CONF_DIR=str(folder))

    def command(self, *words, conf=()):
        # Each executor gets a task: one that has not started when the application ends leaves no log.
        all_registered = ["spark.scheduler.minRegisteredResourcesRatio=1", "spark.scheduler.maxRegisteredResourcesWaitingTime=120s"]
        settings = [f"spark.firesteel.logs.dir=file:{self.logs}", "spark.log.level=INFO", *all_registered, *conf]
        return [os.path.join(BIN, "spark-submit"), "--master", self.master,
                *(w for s in settings for w in ("--conf", s)), "printing.c", *map(str, words)]

    def run(self, *words, conf=()):
        return subprocess.run(self.command(*words, conf=conf), cwd=self.folder, env=self.environment, capture_output=True,
                              text=True, timeout=120, stdin=subprocess.DEVNULL, check=False)

    def start(self, *words, conf=()):
        return subprocess.Popen(self.command(*words, conf=conf), cwd=self.folder, env=self.environment, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, stdin=subprocess.DEVNULL)

    def application(self):
        (name,) = os.listdir(self.logs)
        return name

    def until_printed(self, text, what=lambda: "output while it runs"):
        """Waits until the stored standard output has the text."""
        wait_until(lambda: self.logs.exists() and os.listdir(self.logs) and
                   text in self.print("--file", "stdout", self.application()).stdout, what)

    def ended(self, process):
        """Whether the index of the process has the time of its end."""
        try:
            return "endMs" in json.loads((self.logs / self.application() / process / "index.json").read_text())
        except (OSError, ValueError):
            return False

    def print(self, *words):
        return subprocess.run([os.path.join(BIN, "firesteel"), "logs", "--dir", f"file:{self.logs}", *words], env=self.environment,
                              capture_output=True, text=True, timeout=120, check=False)


def executor_pid(run, executor):
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            if b"executor" in words[1:2] and words[words.index(b"--executor-id") + 1] == str(executor).encode():
                environment = pathlib.Path(f"/proc/{pid}/environ").read_bytes()
                parent = int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
                # Its shipper and its task processes have the same words; their parent is the executor.
                if f"HOME={run.folder}\0".encode() in environment and b"--executor-id" not in \
                        pathlib.Path(f"/proc/{parent}/cmdline").read_bytes():
                    return int(pid)
        except (OSError, ValueError):
            pass
    return None


@pytest.fixture
def run(tmp_path):
    return Run(tmp_path)


def test_output_is_stored_and_printed(run):
    done = run.run()
    assert done.returncode == 0 and "the driver has counted 2" in done.stdout, done.stderr
    assert done.stdout.count("line 4") == 2, "output still goes where it went before"
    app = run.application()
    wait_until(lambda: all(run.ended(p) for p in ("driver", "executor-0", "executor-1")), lambda: str(list(run.logs.rglob("*"))))
    found = run.print(app)
    assert found.returncode == 0 and found.stdout.count("LogType:stdout\nLogContents:") >= 2, found.stdout + found.stderr
    assert "the driver says hello" in found.stdout and re.search(r"Starting executor ID \d on host", found.stdout), found.stdout
    assert len(re.findall(r"^task \d line \d", found.stdout, re.M)) == 10
    assert "hidden123" not in found.stdout and "db.password=*********(redacted)" in found.stdout
    number = re.search(r"Starting executor ID (\d) on host", found.stdout).group(1)
    found = run.print("--executor", number, "--file", "stderr", app)
    assert found.stdout.startswith(f"Process: executor-{number}\nLogType:stderr\n") and found.stdout.count("LogType:") == 2
    found = run.print("--executor", "driver", "--file", "stdout", app)
    assert found.stdout.startswith("Process: driver\nLogType:stdout\n") and found.stdout.count("LogType:") == 2
    listed = [line.split("\t") for line in run.print("--list", app).stdout.splitlines()]
    assert ["driver", "stderr"] in [line[:2] for line in listed] and all(int(line[2]) > 0 for line in listed)
    index = json.loads((run.logs / app / "executor-1" / "index.json").read_text())
    assert index["application"] == app and index["process"] == "executor-1" and index["host"]


def test_a_killed_executor_keeps_what_it_has_printed(run):
    gate = run.folder / "gate"
    with run.start(gate) as process:
        try:
            run.until_printed("task 0 line 20")
            found = run.print("--file", "stdout", "--list", run.application())
            (victim,) = [name for name in ("executor-0", "executor-1") if
                         "task 0 line 20" in run.print("--executor", name[-1], run.application()).stdout]
            assert found.returncode == 0
            os.kill(executor_pid(run, victim[-1]), signal.SIGKILL)
            wait_until(lambda: run.ended(victim), "the end of the killed executor's log")
            text = run.print("--executor", victim[-1], "--file", "stdout", run.application()).stdout
        finally:
            gate.touch()
            output = process.communicate(timeout=120)[0]
    lines = [int(n) for n in re.findall(r"^task 0 line (\d+) ", text, re.M)]
    assert lines == list(range(len(lines))) and len(lines) > 20
    shown = max(int(n) for n in re.findall(r"task 0 line (\d+) ", output))
    assert process.returncode == 0 and shown >= 0, output
    assert "missing" not in text and "left out" not in text


def test_a_killed_executor_keeps_lines_that_no_task_has_flushed(run):
    source = PRINTING.replace("fflush(stdout);", "")
    assert source != PRINTING
    (run.folder / "printing.c").write_text(source)
    gate = run.folder / "gate"
    with run.start(gate) as process:
        try:
            run.until_printed("task 0 line 20")
            run.until_printed("the driver says hello")
            (victim,) = [name for name in ("executor-0", "executor-1") if
                         "task 0 line 20" in run.print("--executor", name[-1], run.application()).stdout]
            os.kill(executor_pid(run, victim[-1]), signal.SIGKILL)
            wait_until(lambda: run.ended(victim), "the end of the killed executor's log")
            text = run.print("--executor", victim[-1], "--file", "stdout", run.application()).stdout
        finally:
            gate.touch()
            process.communicate(timeout=120)
    lines = [int(n) for n in re.findall(r"^task 0 line (\d+) ", text, re.M)]
    assert process.returncode == 0 and lines == list(range(len(lines))) and len(lines) > 20


def shipper_pids(run):
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if pathlib.Path(f"/proc/{pid}/comm").read_text() == "log-shipper\n" and \
                    f"HOME={run.folder}\0".encode() in pathlib.Path(f"/proc/{pid}/environ").read_bytes():
                found.append(int(pid))
        except OSError:
            pass
    return found


@pytest.mark.parametrize("master, shippers", [("local[1]", 1), ("local-cluster[2,1,1024]", 3)])
def test_a_killed_shipper_does_not_change_the_result(tmp_path, master, shippers):
    """Output goes on where it went before, with a warning."""
    run, gate = Run(tmp_path, master), tmp_path / "gate"
    with run.start(gate) as process:
        try:
            run.until_printed("task 0 line 20")
            wait_until(lambda: len(shipper_pids(run)) == shippers, lambda: f"{shippers} shippers, not {shipper_pids(run)}")
            pids = shipper_pids(run)
            for pid in pids:
                os.kill(pid, signal.SIGKILL)
            wait_until(lambda: not any(is_alive(pid) for pid in pids), "the end of the shippers")
        finally:
            gate.touch()
            output = process.communicate(timeout=120)[0]
    assert process.returncode == 0, output
    assert "the driver has counted 2" in output and "further output is not stored" in output.lower(), output


def test_executors_of_a_standalone_cluster(tmp_path):
    """One is killed, and its machine's directory is lost: its log is there."""
    cluster = Cluster(tmp_path)
    try:
        master = cluster.master()
        worker = cluster.worker(master.url, cores=2)
        run, gate = Run(tmp_path, master.url), tmp_path / "gate"
        app = cluster.submit(master.url, "printing.c", gate, conf=[f"spark.firesteel.logs.dir=file:{run.logs}", "spark.executor.cores=1",
                                                                   "spark.executor.memory=256m"])
        run.until_printed("task 0 line 20", app.log)
        (victim,) = [n for n in cluster.executors() if "task 0 line 20" in run.print("--executor", n, run.application()).stdout]
        os.kill(cluster.executors()[victim], signal.SIGKILL)
        wait_until(lambda: run.ended(f"executor-{victim}"), "the end of the killed executor's log")
        worker.work.rename(tmp_path / "lost")  # the other executor writes there meanwhile
        text = run.print("--executor", victim, "--file", "stdout", run.application()).stdout
        lines = [int(n) for n in re.findall(r"^task 0 line (\d+) ", text, re.M)]
        assert lines == list(range(len(lines))) and len(lines) > 20 and "hidden123" not in text
        gate.touch()
        assert app.end() == 0, app.log()
        wait_until(lambda: run.ended("driver"), "the end of the driver's log")
        assert "the driver has counted 2" in run.print(run.application()).stdout
    finally:
        cluster.close()


def test_a_pod_that_is_deleted_by_force(tmp_path):
    """Its processes end at once, also those that store its output: all but the last moment is there."""
    with KubernetesInMemory(tmp_path / "pods") as pods:
        run, gate = Run(tmp_path, pods.master(2)), tmp_path / "gate"
        with run.start(gate, conf=pods.conf(2)) as process:
            try:
                run.until_printed("task 0 line 20")
                app = run.application()
                (victim,) = [n for n in ("1", "2") if "task 0 line 20" in run.print("--executor", n, app).stdout]
                (name,) = [p["metadata"]["name"] for p in pods.cluster.ask(PODS)["items"] if
                           p["metadata"]["labels"]["spark-exec-id"] == victim]
                pods.kubelet.grace = 0
                pods.cluster.ask(f"{PODS}/{name}?gracePeriodSeconds=0", "DELETE")
                wait_until(lambda: name not in pods.kubelet.processes, "the end of the pod")
                text = run.print("--executor", victim, "--file", "stdout", app).stdout
            finally:
                gate.touch()
                output = process.communicate(timeout=120)[0]
        assert process.returncode == 0 and "the driver has counted 2" in output, output
        wait_until(lambda: run.ended("driver"), "the driver's log")
    lines = [int(n) for n in re.findall(r"^task 0 line (\d+) ", text, re.M)]
    assert lines == list(range(len(lines))) and len(lines) > 20 and "hidden123" not in text
    assert f"with ID {victim}" in run.print("--file", "stderr", app).stdout


def get(url, **headers):
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=120) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_pages_show_logs_of_a_lost_executor_and_after_the_end(run):
    """The driver's site while the application runs, and the history server afterwards, for those who may see it."""
    gate, events = run.folder / "gate", run.folder / "events"
    events.mkdir()
    conf = ["spark.eventLog.enabled=true", f"spark.eventLog.dir={events}", "spark.ui.port=0", "spark.ui.view.acls=ann"]
    with run.start(gate, conf=conf) as process:
        seen = threading.Thread(target=lambda: setattr(run, "seen", process.stdout.read()))
        try:
            line = ""
            while not (found := re.search(r"started at (http://\S+)", line)):
                line = process.stdout.readline()
                assert line, "the application has ended"
            seen.start()
            run.until_printed("task 0 line 20")
            (victim,) = [name[-1] for name in ("executor-0", "executor-1") if
                         "task 0 line 20" in run.print("--executor", name[-1], run.application()).stdout]
            os.kill(executor_pid(run, victim), signal.SIGKILL)
            site = found.group(1)
            wait_until(lambda: "Dead Executors (1)" in get(site + "/executors/")[1], lambda: get(site + "/executors/")[1])
            wait_until(lambda: run.ended(f"executor-{victim}"), "the end of the killed executor's log")
            (link,) = re.findall(rf'href="(/executors/logPage/\?executorId={victim}&amp;logType=stdout)"', get(site + "/executors/")[1])
            status, page = get(site + link.replace("&amp;", "&"))
            assert status == 200 and "task 0 line 20 db.password=*********(redacted)" in page and "hidden123" not in page, page
            wait_until(lambda: "INFO SparkContext: Running" in get(site + "/executors/log/?executorId=driver&logType=stderr&offset=0")[1],
                       "the driver's log on its page")
        finally:
            gate.touch()
            seen.join(120)
            process.wait(120)
    assert process.returncode == 0, run.seen
    wait_until(lambda: run.ended("driver"), "the end of the driver's log")
    properties = run.folder / "history.conf"
    for acls in ("false", "true"):
        properties.write_text(f"spark.history.ui.port 0\nspark.history.fs.logDirectory {events}\nspark.firesteel.logs.dir {run.logs}\n"
                              f"spark.history.ui.acls.enable {acls}\n")
        with subprocess.Popen([os.path.join(BIN, "firesteel"), "history-server", "--properties-file", str(properties)],
                              env=run.environment, stderr=subprocess.PIPE, text=True) as server:
            try:
                while not (found := re.search(r"on port (\d+)", server.stderr.readline())):
                    assert server.poll() is None
                site = f"http://127.0.0.1:{found.group(1)}/history/{run.application()}"
                query = f"?executorId={victim}&logType=stdout&offset=0&byteLength=25"
                if acls == "true":
                    assert get(f"{site}/executors/logPage/{query}")[0] == get(f"{site}/executors/log/{query}")[0] == 403
                else:
                    assert f"executorId={victim}&amp;logType=stderr" in get(site + "/executors/")[1]
                    status, page = get(f"{site}/executors/logPage/{query}")
                    assert status == 200 and "Showing 25 Bytes: 0 - 25 of " in page and "task 0 line 0 db.password" in page, page
                    assert "the driver has counted 2" in get(f"{site}/executors/logPage/?executorId=driver&logType=stdout")[1]
            finally:
                server.terminate()
                server.stderr.read()


def test_logs_are_followed(run):
    gate = run.folder / "gate"
    with run.start(gate) as process:
        try:
            wait_until(lambda: run.logs.exists() and os.listdir(run.logs), "the application's logs")
            with subprocess.Popen([os.path.join(BIN, "firesteel"), "logs", "--dir", f"file:{run.logs}", "--follow", "--file", "stdout",
                                   run.application()], env=run.environment, stdout=subprocess.PIPE, text=True) as follower:
                seen = ""
                while "task 0 line 10 " not in seen:
                    line = follower.stdout.readline()
                    assert line, "the follower has ended"
                    seen += line
                gate.touch()
                seen += "".join(follower.stdout)
                assert follower.wait(120) == 0
        finally:
            gate.touch()
            process.communicate(timeout=120)
    lines = [int(n) for n in re.findall(r"^task 0 line (\d+) ", seen, re.M)]
    assert lines == list(range(len(lines))) and "the driver has counted 2" in seen, seen[-2000:]
    assert "==> driver stdout <==" in seen


OWN = """#include <firesteel/firesteel.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define THREADS 0 /* a process forked beside threads inherits the locks of a sanitizer's allocator */
#else
#define THREADS 4
#endif
static volatile int ends;
static void *work(void *unused)
{
        while (!ends)
                free(strdup("busy"));
        return NULL;
}
int main(int argc, char **argv)
{
        pthread_t threads[THREADS + 1];
        for (int i = 0; i < THREADS; i++)
                pthread_create(&threads[i], NULL, work, NULL);
        printf("before the context\\n");
        fflush(stdout);
        fst_conf *conf = fst_conf_new();
        fst_conf_set(conf, "spark.app.name", "own");
        fst_conf_set(conf, "spark.master", "local[2]");
        fst_conf_set(conf, "spark.firesteel.logs.dir", argv[1]);
        fst_context *sc = fst_context_new_conf(conf);
        int64_t n = 0;
        int r = fst_count(fst_range(sc, 0, 5), &n);
        printf("counted %d token=hidden123\\n", (int)n);
        r = fst_context_stop(sc) || r;
        ends = 1;
        for (int i = 0; i < THREADS; i++)
                pthread_join(threads[i], NULL);
        printf("after the context\\n");
        return r;
}
"""


def test_a_program_linked_with_the_library(run):
    (run.folder / "own.c").write_text(OWN)
    library = BIN if os.path.exists(os.path.join(BIN, "libfiresteel.so")) else os.path.join(BIN, "..", "build", "src")
    subprocess.run(["cc", "-I", f"{TOP}/include", "-o", run.folder / "own", run.folder / "own.c", "-L", library,
                    f"-Wl,-rpath,{os.path.abspath(library)}", "-lfiresteel", "-pthread", *LINK_FLAGS], check=True)
    done = subprocess.run([run.folder / "own", f"file:{run.logs}"], env=run.environment, capture_output=True, text=True, timeout=120,
                          check=False)
    assert done.returncode == 0 and done.stdout == "before the context\ncounted 5 token=hidden123\nafter the context\n", done.stderr
    wait_until(lambda: run.ended("driver"), "the end of the driver's log")
    assert run.print("--file", "stdout", run.application()).stdout.split("LogContents:\n")[1].startswith(
        "counted 5 token=*********(redacted)\nafter the context\n")
    assert "Successfully stopped SparkContext" in run.print("--file", "stderr", run.application()).stdout


def test_a_full_or_missing_storage_does_not_stop_the_application(run):
    run.logs.write_text("not a directory")
    gate, said = run.folder / "gate", ""
    with run.start(gate) as process:
        while "cannot be stored in spark.firesteel.logs.dir" not in said:
            line = process.stdout.readline()
            assert line, said
            said += line
        gate.touch()
        said += process.communicate(timeout=120)[0]
    assert process.returncode == 0 and "the driver has counted 2" in said, said


@pytest.mark.parametrize("master", ["local[1]", "local-cluster[1,1,1024]"])
def test_a_short_application_reports_storage_that_cannot_be_opened(tmp_path, master):
    """The report comes before readers of standard error see its end, also if the application ends at once."""
    run = Run(tmp_path, master)
    (tmp_path / "printing.c").write_text("""#include <firesteel/firesteel.h>
int main(int argc, char **argv)
{
        return fst_context_stop(fst_context_new("short"));
}
""")
    run.logs.write_text("not a directory")
    done = run.run(conf=["spark.log.level=WARN"])
    assert done.returncode == 0, done.stderr
    reports = [line for line in done.stderr.splitlines() if "output of driver cannot be stored in spark.firesteel.logs.dir" in line]
    assert len(reports) == 1 and str(run.logs) in reports[0], done.stderr


def test_much_output_is_limited(run):
    source = PRINTING.replace("i < 5 ||", "i < 40000 ||")
    (run.folder / "printing.c").write_text(source)
    done = run.run(conf=["spark.firesteel.logs.maxRate=10k"])
    assert done.returncode == 0 and done.stdout.count("line 39999") == 2, done.stderr
    wait_until(lambda: run.ended("executor-1") and run.ended("executor-0"), "the end")
    text = run.print("--executor", "1", "--file", "stdout", run.application()).stdout
    assert "bytes are left out here" in text and 40000 < len(text) < 400000


@pytest.mark.parametrize("words, message, status", [
    (["app-1"], "app-1 has no logs in spark.firesteel.logs.dir", 1), (["../x"], "is not an application's id", 1),
    (["--container", "c", "app"], "durable logs have no --container", 2), (["--dir"], "a value is missing for --dir", 2)])
def test_logs_that_do_not_exist(run, words, message, status):
    done = run.print(*words)
    assert done.returncode == status and message in done.stderr, done.stderr


def test_a_missing_application_gets_the_names_of_those_that_are_there(run):
    run.logs.mkdir()
    for words in ([], ["--list"]):
        found = run.print(*words, "app-none")
        assert found.returncode == 1 and not found.stdout, found.stdout
        assert found.stderr == f"Error: app-none has no logs in spark.firesteel.logs.dir (file:{run.logs}): " \
                               "no application has stored logs there\n"
    for i in range(12):
        (run.logs / f"app-{i:02}" / "driver").mkdir(parents=True)
    (run.logs / "app-03" / "driver" / f"stderr.{0:020}-{5:020}").write_text("hello")
    found = run.print("--list", "app-none")
    assert found.returncode == 1 and "which has those of app-02, app-03, app-04" in found.stderr, found.stderr
    assert found.stderr.endswith(", app-11 and 2 older\n") and "--list" not in found.stderr, found.stderr
    found = run.print("--list", "--executor", "7", "app-03")
    assert found.returncode == 1 and "list them with --list, without --executor and --file" in found.stderr, found.stderr
    assert run.print("app-03").stdout == "Process: driver\nLogType:stderr\nLogContents:\nhello\nEnd of LogType:stderr\n\n"


def test_logs_without_any_configuration_names_both_sources(run):
    environment = {k: v for k, v in run.environment.items() if not k.startswith(("HADOOP_", "YARN_"))}
    found = subprocess.run([os.path.join(BIN, "firesteel"), "logs", "app-1"], env=environment, capture_output=True, text=True,
                           timeout=120, check=False)
    assert found.returncode == 1
    for word in ("app-1", "--dir", "spark.firesteel.logs.dir", "HADOOP_CONF_DIR", "YARN_CONF_DIR"):
        assert word in found.stderr, found.stderr


def test_following_a_misspelled_application_ends(run):
    (run.logs / "app-20261124205254-1501" / "driver").mkdir(parents=True)
    (run.logs / "app-20261124205254-1501" / "driver" / f"stderr.{0:020}-{5:020}").write_text("hello")
    found = run.print("--follow", "app-20261124205254-1510")
    assert found.returncode == 1 and found.stderr.startswith("Waiting for logs of app-20261124205254-1510 in "), found.stderr
    assert "Did you mean app-20261124205254-1501?" in found.stderr and "--wait" in found.stderr, found.stderr
    found = run.print("--list", "app-20261124205254-1510")
    assert "Did you mean app-20261124205254-1501?" in found.stderr and "--wait" not in found.stderr, found.stderr
    found = run.print("--wait", "app-20261124205254-1510")
    assert found.returncode == 2 and "--wait needs --dir and --follow" in found.stderr, found.stderr


@pytest.mark.parametrize("words, there", [((), ""), (("--wait",), "app-1/driver"), ((), "app-7/driver")])
def test_following_waits_for_an_application(run, words, there):
    """With an empty directory, with --wait, or before it has printed anything, longer than for a misspelled one."""
    (run.logs / there).mkdir(parents=True)
    with subprocess.Popen([os.path.join(BIN, "firesteel"), "logs", "--dir", f"file:{run.logs}", "--follow", *words, "app-7"],
                          env=run.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as follower:
        try:
            assert follower.stderr.readline().startswith("Waiting for logs of app-7")
            with pytest.raises(subprocess.TimeoutExpired):
                follower.wait(5)
            driver = run.logs / "app-7" / "driver"
            driver.mkdir(parents=True, exist_ok=True)
            (driver / f"stderr.{0:020}-{5:020}").write_text("hello")
            assert follower.stdout.readline() == "==> driver stderr <==\n"
            (driver / "index.json").write_text('{"endMs":1}')
            assert follower.wait(120) == 0 and follower.stdout.read() == "hello"
        finally:
            follower.kill()


def test_following_an_unknown_executor_of_an_ended_application_ends(run):
    (run.logs / "app-7" / "driver").mkdir(parents=True)
    (run.logs / "app-7" / "driver" / f"stderr.{0:020}-{5:020}").write_text("hello")
    (run.logs / "app-7" / "driver" / "index.json").write_text('{"endMs":1}')
    found = run.print("--follow", "--executor", "3", "app-7")
    assert found.returncode == 1 and "app-7 has no such logs" in found.stderr, found.stderr
