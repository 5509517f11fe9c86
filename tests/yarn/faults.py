"""What goes wrong on a genuine cluster: each failure has a clear line and an exit status, or the application goes on."""
import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

from hadoop import free_ports
from native import TOP, UNMANAGED, Application

sys.path.append(os.path.join(TOP, "tests"))

import gated_application  # noqa: E402
import shuffle_service  # noqa: E402

PI = os.path.join(TOP, "examples", "spark_pi.c")
ADMIN = "org.apache.hadoop.hdfs.tools.DFSAdmin"
SHELL = "org.apache.hadoop.fs.FsShell"

# Counts until a file exists. Its last line says how often, and whether each count was right.
COUNTING = """#include <firesteel/firesteel.h>
#include <stdio.h>
#include <unistd.h>
static int64_t kept(fst_task *task, int64_t x)
{
        return x % 10;
}
int main(int argc, char **argv)
{
        fst_context *sc = fst_context_new("counting");
        int counts = 0, wrong = 0;
        do {
                int64_t n = 0;
                if (fst_count(fst_distinct(fst_map(fst_range_n(sc, 0, 1000, 4), kept, FST_I64)), &n) != 0)
                        break;
                wrong += n != 10;
                printf("count %d\\n", ++counts);
                fflush(stdout);
                usleep(100000);
        } while (access(argv[1], F_OK) != 0);
        const int status = fst_context_stop(sc);
        printf("%s\\n", status == 0 && wrong == 0 ? "all counts are right" : "wrong");
        return status || wrong ? 1 : 0;
}
"""

GREEDY = """#include <firesteel/firesteel.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int64_t taken(fst_task *task, int64_t x)
{
        const size_t size = (size_t)400 << 20;
        char *all = malloc(size);
        memset(all, (int)x + 1, size);
        sleep(2);
        return all[x];
}
int main(void)
{
        fst_context *sc = fst_context_new("greedy");
        int64_t n;
        const int r = fst_count(fst_map(fst_range_n(sc, 0, 1, 1), taken, FST_I64), &n);
        return fst_context_stop(sc) || r ? 1 : 0;
}
"""


# Memory that is shared does not count towards the limit of a process's data, which the executor sets: only the NodeManager sees it.
SHARED = """#include <firesteel/firesteel.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static int64_t taken(fst_task *task, int64_t x)
{
        const size_t size = (size_t)400 << 20;
        char *all = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (all == MAP_FAILED)
                return -1;
        memset(all, (int)x + 1, size);
        sleep(20);
        return all[x];
}
int main(void)
{
        fst_context *sc = fst_context_new("shared");
        int64_t n;
        const int r = fst_count(fst_map(fst_range_n(sc, 0, 1, 1), taken, FST_I64), &n);
        return fst_context_stop(sc) || r ? 1 : 0;
}
"""


class Faults:
    def __init__(self, build, yarn, client, folder, expect):
        self.application, self.yarn, self.client, self.expect = Application(build, yarn, folder), yarn, client, expect
        self.folder, self.gate = folder, os.path.join(folder, "gate")
        for name, text in (("counting.c", COUNTING), ("greedy.c", GREEDY), ("shared.c", SHARED)):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text.replace("\\n", "\\n"))

    def run(self, *words, **environment):
        return self.application.run(*words, **environment)

    def hdfs(self, main, *words):
        return self.yarn.call("nn", main, *words)

    def staged(self):
        """Directories of applications in the staging directory."""
        listed = self.hdfs(SHELL, "-ls", f"/user/{self.user()}/.sparkStaging")
        return re.findall(r"application_\d+_\d+", listed)

    def user(self):
        return subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout.strip()

    @contextlib.contextmanager
    def counting(self, *words):
        """Yields (process, log, id) of an application that counts, in client mode unless @words say cluster."""
        if os.path.exists(self.gate):
            os.remove(self.gate)
        log = os.path.join(self.folder, "log")
        with open(log, "w", encoding="utf-8") as out, subprocess.Popen(
                self.application.command(*words, "counting.c", self.gate), cwd=self.folder, env=self.application.environment,
                stdout=out, stderr=out, stdin=subprocess.DEVNULL) as process:
            def text():
                with open(log, encoding="utf-8", errors="replace") as file:
                    return file.read()
            try:
                self.yarn.wait("an application", lambda: process.poll() is not None or
                               re.search(r"application_\d+_\d+ \(state: RUNNING\)", text()))
                if process.poll() is not None:
                    raise RuntimeError(f"the application has ended:\n{text()[-3000:]}")
                yield process, text, re.search(r"application_\d+_\d+", text()).group()
            finally:
                self.gate_open()
                try:
                    process.wait(60)
                finally:
                    process.kill()

    def gate_open(self):
        with open(self.gate, "w", encoding="utf-8"):
            pass

    def container_process(self, name):
        """The process id of `firesteel NAME` in a container, or None."""
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    words = file.read().split(b"\0")
                if len(words) > 1 and words[1] == name.encode() and os.readlink(f"/proc/{pid}/cwd").startswith(self.yarn.folder):
                    return int(pid)
            except OSError:
                pass
        return None

    def counts(self, text, least):
        try:
            self.yarn.wait(f"{least} counts", lambda: len(re.findall(r"^count \d+$", text(), re.M)) >= least)
        except RuntimeError as e:
            raise RuntimeError(f"{e}\n{text()[-6000:]}") from e

    def counts_on(self, text):
        """Two more counts: the application goes on."""
        self.counts(text, len(re.findall(r"^count \d+$", text(), re.M)) + 2)

    def ends_well(self, process, text, what):
        self.gate_open()
        status = process.wait(60)
        self.expect(what, text()[-6000:], status == 0 and "all counts are right" in text())


def check_configuration(f):
    done = f.run(PI, HADOOP_CONF_DIR=None)
    f.expect("no HADOOP_CONF_DIR is named", done.stderr, done.returncode == 1 and "either HADOOP_CONF_DIR or YARN_CONF_DIR must be set" in
             done.stderr)
    conf = os.path.join(f.folder, "conf")
    os.makedirs(conf)
    quick = ("--conf", "spark.hadoop.yarn.resourcemanager.connect.max-wait.ms=300",
             "--conf", "spark.hadoop.yarn.resourcemanager.connect.retry-interval.ms=100")
    for mode in ("client", "cluster"):
        done = f.run("--deploy-mode", mode, *quick, PI, HADOOP_CONF_DIR=conf)
        f.expect(f"a missing yarn-site.xml is named in {mode} mode", done.stderr, done.returncode == 1 and
                 f"Set it in yarn-site.xml in HADOOP_CONF_DIR ({conf})" in done.stderr and "cannot reach the ResourceManager at 0.0.0.0:8032" in done.stderr)
    with open(os.path.join(conf, "yarn-site.xml"), "w", encoding="utf-8") as file:
        file.write("<configuration><property><name>a</name>")
    for mode in ("client", "cluster"):
        done = f.run("--deploy-mode", mode, *quick, PI, HADOOP_CONF_DIR=conf)
        f.expect(f"a damaged yarn-site.xml is named in {mode} mode", done.stderr, done.returncode == 1 and
                 f"{conf}/yarn-site.xml" in done.stderr)
    port = free_ports(1)[0]
    for mode in ("client", "cluster"):
        start = time.monotonic()
        with subprocess.Popen(f.application.command("--deploy-mode", mode, "--conf",
                                                    f"spark.hadoop.yarn.resourcemanager.address=127.0.0.1:{port}", PI),
                              cwd=f.folder, env=f.application.environment, stderr=subprocess.PIPE, text=True,
                              stdin=subprocess.DEVNULL) as process:
            line = ""
            while "cannot reach" not in line and (line := process.stderr.readline()):
                pass
            process.send_signal(signal.SIGINT)
            rest = process.communicate(timeout=300)[1]
        f.expect(f"an unreachable ResourceManager is named at once in {mode} mode", line,
                 f"cannot reach the ResourceManager at 127.0.0.1:{port}: connection refused. Trying again for " in line)
        f.expect("… and Ctrl-C ends the waiting", rest, process.returncode in (130, -signal.SIGINT) and time.monotonic() - start < 20)


def check_sizes(f):
    done = f.run("--deploy-mode", "cluster", "--driver-memory", "900g", PI)
    f.expect("too much memory for the driver is named", done.stderr, done.returncode == 1 and
             "Required AM memory (921600+64 MB) is above the max threshold" in done.stderr)
    done = f.run("--conf", "spark.yarn.am.memory=900g", PI)
    f.expect("too much memory for the ApplicationMaster is named", done.stderr, done.returncode == 1 and
             "Required AM memory (921600+64 MB) is above the max threshold" in done.stderr)


def check_hdfs(f):
    home = f"/user/{f.user()}"
    words = ("--deploy-mode", "cluster", PI, "1")
    f.hdfs(SHELL, "-mkdir", "-p", f"{home}/.sparkStaging")
    before = f.staged()
    f.hdfs(ADMIN, "-setSpaceQuota", "1", home)
    done = f.run(*words)
    f.expect("a full file system is named", done.stderr, done.returncode == 1 and "quota" in done.stderr.lower())
    f.expect("… and nothing stays in the staging directory", f.staged(), f.staged() == before)
    f.hdfs(ADMIN, "-clrSpaceQuota", home)
    f.hdfs(ADMIN, "-safemode", "enter")
    done = f.run(*words)
    f.expect("safe mode is named", done.stderr, done.returncode == 1 and "safe mode" in done.stderr.lower())
    f.hdfs(ADMIN, "-safemode", "leave")
    f.hdfs(SHELL, "-mkdir", "/closed")
    f.hdfs(SHELL, "-chmod", "700", "/closed")
    f.hdfs(SHELL, "-chown", "somebody", "/closed")
    done = f.run(*words, HADOOP_USER_NAME="mallory")
    f.expect("a user without a home directory learns which key to set", done.stderr, done.returncode == 1 and
             "Permission denied" in done.stderr and "spark.firesteel.yarn.cacheDir" in done.stderr)
    f.hdfs(SHELL, "-mkdir", "/open")
    f.hdfs(SHELL, "-chmod", "777", "/open")
    done = f.run("--conf", "spark.yarn.stagingDir=/closed", "--conf", "spark.firesteel.yarn.cacheDir=/open", *words,
                 HADOOP_USER_NAME="mallory")
    f.expect("a staging directory without permission is named", done.stderr, done.returncode == 1 and
             "/closed" in done.stderr and "ermission denied" in done.stderr)
    done = f.run(*words)
    f.expect("… and the same application runs afterwards", done.stderr, done.returncode == 0)


def check_kills(f):
    for mode in ("client", "cluster"):
        with f.counting("--deploy-mode", mode) as (process, text, application):
            if mode == "client":
                f.counts(text, 1)
            f.client.call("kill", application)
            status = process.wait(60)
            f.expect(f"a killed application is named in {mode} mode", text()[-3000:], status == 1 and
                     ("has exited unexpectedly with state KILLED" if mode == "client" else f"Application {application} is killed") in text())
    with f.counting("--conf", "spark.yarn.maxAppAttempts=2") as (process, text, application):
        f.counts(text, 1)
        master = f.container_process("yarn-am")
        os.kill(master, signal.SIGKILL)
        f.yarn.wait("another ApplicationMaster", lambda: f.container_process("yarn-am") not in (None, master))
        f.counts_on(text)
        f.ends_well(process, text, "a killed ApplicationMaster is replaced, and the job goes on")
    with f.counting("--deploy-mode", "cluster", "--conf", "spark.yarn.maxAppAttempts=2") as (process, text, application):
        master = f.container_process("yarn-am")
        os.kill(master, signal.SIGKILL)
        f.yarn.wait("another driver", lambda: f.container_process("yarn-am") not in (None, master))
        f.gate_open()
        status = process.wait(60)
        report = f.client.call("report", application)
        f.expect("a killed driver is started again in cluster mode", text()[-3000:] + report, status == 0 and "SUCCEEDED" in report)


def check_memory(f):
    """The executor refuses it, or the NodeManager kills the container: either names the key."""
    done = f.run("--conf", "spark.task.maxFailures=1", "greedy.c")
    f.expect("a task that takes too much memory is explained, with the key to change", done.stderr[-6000:], done.returncode == 1 and
             ("memory is short" in done.stderr or "Container killed by YARN for exceeding" in done.stderr) and
             "spark.executor.memoryOverhead" in done.stderr)


def check_killed_for_memory(f):
    """The NodeManager kills the container, and the driver says why."""
    for name, words in (("a driver in client mode", ()), ("an unmanaged ApplicationMaster", UNMANAGED)):
        done = f.run("--conf", "spark.task.maxFailures=1", *words, "shared.c")
        f.expect(f"a container that YARN kills for its memory is explained by {name}, with the key to change", done.stderr[-6000:],
                 done.returncode == 1 and re.search(r"Container killed by YARN for exceeding physical memory limits\. [0-9.]+ MB of "
                                                    r"128 MB physical memory used\. Consider boosting spark\.executor\.memoryOverhead\.",
                                                    done.stderr))
        if words:
            f.expect("… with YARN's exit status -104", done.stderr[-6000:], "(state: COMPLETE, exit status: -104)" in done.stderr)


def check_lost_node(f):
    with f.counting("--num-executors", "3", "--conf", "spark.yarn.maxAppAttempts=2") as (process, text, application):
        f.counts(text, 1)
        f.yarn.kill("nm2")
        f.yarn.kill_containers("nm2")
        f.yarn.wait("the loss of a node", lambda: f.yarn.active_nodes() == 1)
        f.counts_on(text)
        f.ends_well(process, text, "the job finishes without a NodeManager that was killed, and its result is right")
    f.yarn.run("nm2")
    f.yarn.wait("the NodeManager, which was started again", lambda: f.yarn.active_nodes() == 2)


def check_shuffle_service(f):
    """The NodeManager keeps what a container wrote until the application ends, and the service on its node serves it."""
    folder = pathlib.Path(f.folder) / "shuffle"
    (folder / "app").mkdir(parents=True)
    gated_application.BIN = shuffle_service.BIN = os.path.dirname(f.application.program)
    service = shuffle_service.Service(folder)
    settings = ("spark.executor.memoryOverhead=64m", "spark.yarn.am.memory=64m", "spark.yarn.am.memoryOverhead=64m",
                "spark.dynamicAllocation.initialExecutors=2", "spark.yarn.exclude.nodes=127.0.0.2")  # the service is on localhost
    environment = {name: f.application.environment[name] for name in ("HOME", "HADOOP_CONF_DIR")}
    try:
        with gated_application.Application(folder / "app", "yarn", *settings, *service.conf(), environment=environment) as app:
            app.open_gate()
            first = app.run(f"shuffle 4 {app.gate}")[0]
            f.expect("a shuffle runs with firesteel shuffle-service", first, first == gated_application.sum_of(4))
            app.until_alive(0)
            second = app.run("shuffled")[0]
            f.expect("… whose outputs are read after their executors were removed", f"{second} {app.tasks('ShuffleMapTask')}",
                     second == first and app.tasks("ShuffleMapTask") == 4)
    finally:
        service.end()


CASES = {"configuration": check_configuration, "sizes": check_sizes, "hdfs": check_hdfs, "kills": check_kills,
         "memory": check_memory, "killed_for_memory": check_killed_for_memory, "lost_node": check_lost_node,
         "shuffle_service": check_shuffle_service}


def check(build, yarn, client, folder, cases, expect):
    faults = Faults(build, yarn, client, folder, expect)
    for name, case in CASES.items():
        if not cases or "faults" in cases or name in cases:
            case(faults)
