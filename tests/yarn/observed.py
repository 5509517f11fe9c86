"""What is seen of native applications on genuine YARN: pages through the ResourceManager's proxy, durable logs on HDFS."""
import contextlib
import http.client
import json
import os
import re
import signal
import subprocess
import urllib.parse

import native
from yarn_cluster import hadoop, wait_until

# Counts until a file exists. Each task prints its number on its executor.
COUNTING = """#include <firesteel/firesteel.h>
#include <stdio.h>
#include <unistd.h>
static int task(fst_task *t, int64_t i, fst_out *out)
{
        printf("task %lld runs\\n", (long long)i);
        fflush(stdout);
        fst_emit(out, i);
        return 0;
}
int main(int argc, char **argv)
{
        fst_context *sc = fst_context_new("counting");
        int64_t n = 0;
        do {
                if (fst_count(fst_flat_map(fst_range_n(sc, 0, 4, 4), task, FST_I64), &n) != 0)
                        break;
                printf("counted\\n");
                fflush(stdout);
                usleep(100000);
        } while (access(argv[1], F_OK) != 0);
        return fst_context_stop(sc) ? 1 : 0;
}
"""
# The ResourceManager is on loopback, so its proxy asks from there only if the driver is there, too.
MODES = {"client mode": ("--conf", "spark.driver.host=127.0.0.1"),
         "cluster mode": ("--deploy-mode", "cluster", "--conf", "spark.yarn.appMasterEnv.SPARK_PUBLIC_DNS=127.0.0.1")}


class Counting(native.Application):
    """The application COUNTING, until `gate` exists."""

    def __init__(self, build, yarn, folder):
        super().__init__(build, yarn, folder)
        self.yarn, self.gate, self.firesteel = yarn, os.path.join(folder, "gate"), os.path.join(build, "src", "firesteel")
        with open(os.path.join(folder, "counting.c"), "w", encoding="utf-8") as file:
            file.write(COUNTING)

    def log(self):
        with open(os.path.join(self.folder, "log"), encoding="utf-8", errors="replace") as file:
            return file.read()

    @contextlib.contextmanager
    def running(self, *words):
        """Yields (process, the application's id) once it runs."""
        with open(os.path.join(self.folder, "log"), "w", encoding="utf-8") as log, subprocess.Popen(
                self.command(*words, "--num-executors", "2", "counting.c", self.gate), cwd=self.folder, env=self.environment,
                stdout=log, stderr=log, stdin=subprocess.DEVNULL) as process:
            try:
                wait_until("a running application", lambda: process.poll() is not None or "(state: RUNNING)" in self.log())
                found = re.search(r"application_\d+_\d+", self.log())
                assert process.poll() is None and found, self.log()
                yield process, found.group()
            finally:
                process.kill()

    def end(self, process):
        with open(self.gate, "w", encoding="utf-8"):
            pass
        status = process.wait(90)
        os.unlink(self.gate)
        return status

    def executor_pids(self, app):
        """{executor: process} of those in the application's containers, without their children."""
        found = {}
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    words = file.read().decode().split("\0")
                with open(f"/proc/{pid}/stat", encoding="ascii") as file:
                    parent = file.read().rpartition(")")[2].split()[1]
                if "--executor-id" in words and f"/{app}/" in os.readlink(f"/proc/{pid}/cwd"):
                    found[pid] = (words[words.index("--executor-id") + 1], parent)
            except OSError:
                pass
        return {executor: int(pid) for pid, (executor, parent) in found.items() if parent not in found}

    def stored(self, *words):
        return subprocess.run([self.firesteel, "logs", "--dir", self.logs, *words], env=self.environment, text=True,
                              capture_output=True, timeout=60, check=False)

    @property
    def logs(self):
        return f"{self.yarn.core['fs.defaultFS']}/durable-logs"


def fetch(url):
    with hadoop.OPENER.open(url, timeout=30) as answer:
        return answer.read().decode()


def fetch_from(address, url):
    """(status, Location) of an answer to another @address of this machine."""
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=30, source_address=(address, 0))
    with contextlib.closing(connection):
        connection.request("GET", parts.path)
        answer = connection.getresponse()
        return answer.status, answer.headers["Location"]


def check_pages(yarn, app, mode, expect):
    proxy = f"http://{yarn.web[0]}"
    report = json.loads(fetch(f"{proxy}/ws/v1/cluster/apps/{app}"))["app"]
    page = fetch(f"{proxy}/proxy/{app}/")
    links = set(re.findall(r'(?:href|src)="(/[^"]*)"', page))
    expect(f"the pages of an application in {mode} are behind the ResourceManager's proxy", (report, page[:2000]),
           report["trackingUI"] == "ApplicationMaster" and "<title>Spark Jobs</title>" in page and
           all(link.startswith(f"/proxy/{app}/") for link in links) and f"/proxy/{app}/stages/" in links)
    pages = [fetch(proxy + link.replace("&amp;", "&")) for link in sorted(links)]
    expect("… with all their links", links, all(pages))
    found = json.loads(fetch(f"{proxy}/proxy/{app}/api/v1/applications"))
    expect("… and the REST API", found, [a["id"] for a in found] == [app])
    expect("… for the user whom the proxy names", page[-500:], "you are <strong>dr.who</strong>" in page)


def pages_address(log):
    """The address of a driver's pages, which it logs."""
    def found():
        return re.search(r"Bound SparkUI to 0.0.0.0, and started at (http://\S+)", log())
    wait_until("the address of the pages in the log", found)
    return found().group(1)


def check_redirect(yarn, app, log, expect):
    status, location = fetch_from("127.0.0.5", f"{pages_address(log)}/stages/")
    expect("a browser at the driver is sent to the proxy", (status, location),
           status == 302 and location.endswith(f"/proxy/{app}/stages/") and yarn.web[0] in location)


def check_active_redirect(yarn, active, app, log, mode, expect):
    """The other ResourceManager is gone, or a standby."""
    proxy = f"http://{yarn.web[yarn.masters.index(active)]}"
    url, answer = f"{pages_address(log)}/stages/", []

    def is_sent():
        answer[:] = fetch_from("127.0.0.5", url)
        return answer == [302, f"{proxy}/proxy/{app}/stages/"]
    wait_until(f"a redirect to {active}", is_sent)
    expect(f"a browser at the driver with {mode} is sent to the active ResourceManager, {active}", answer, answer[0] == 302)
    page = fetch(answer[1])
    expect("… whose proxy shows the page", page[:2000], f'href="/proxy/{app}/' in page and "<title>Stages for All Jobs" in page)


def check_durable_logs(application, process, app, mode, expect):
    def printed(*words):
        return application.stored(*words, app).stdout
    wait_until("output of executor 1", lambda: " runs" in printed("--executor", "1", "--file", "stdout"))
    os.kill(application.executor_pids(app)["1"], signal.SIGKILL)
    before = printed("--executor", "1", "--file", "stdout")
    wait_until("another executor", lambda: "3" in application.executor_pids(app))
    wait_until("output of executor 3", lambda: " runs" in printed("--executor", "3", "--file", "stdout"))
    expect(f"an application in {mode} survives a killed executor", application.log(), application.end(process) == 0)
    after = printed("--executor", "1", "--file", "stdout")
    expect("… whose output stays on HDFS", after, before.count(" runs") <= after.count(" runs") and " runs" in before)
    wanted = {(name, output) for name in ("driver", "executor-1", "executor-2", "executor-3") for output in ("stdout", "stderr")}

    def listed():
        return {tuple(line.split("\t")[:2]) for line in printed("--list").splitlines()}
    wait_until(f"all outputs of an application in {mode}", lambda: listed() >= wanted)
    expect("… to the end", printed("--file", "stderr")[-3000:], "Successfully stopped SparkContext" in printed("--file", "stderr"))


def check(build, yarn, folder, expect):
    application = Counting(build, yarn, folder)
    for mode, words in MODES.items():
        with application.running("--conf", f"spark.firesteel.logs.dir={application.logs}", "--conf", "spark.log.level=INFO",
                                 *words) as (process, app):
            check_pages(yarn, app, mode, expect)
            def log(app=app, mode=mode):
                return application.stored("--file", "stderr", app).stdout if "cluster" in mode else application.log()
            check_redirect(yarn, app, log, expect)
            check_durable_logs(application, process, app, mode, expect)
