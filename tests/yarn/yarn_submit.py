"""spark-submit on the cluster of fake_yarn.py: applications, their submission, fixtures for the test files."""
import contextlib
import os
import pathlib
import re
import subprocess

import pytest

from conditions import wait_until
from fake_yarn import FakeYarn
from gated_application import Application
from folders import BIN

TESTS = pathlib.Path(__file__).resolve().parent.parent
PI = str(TESTS.parent / "examples" / "spark_pi.c")
TIMEOUT = 120  # s for the end of a process
UNMANAGED = "spark.yarn.unmanagedAM.enabled=true"
QUICK = ("spark.yarn.scheduler.heartbeat.interval-ms=50", "spark.yarn.scheduler.initial-allocation.interval=20ms",
         "spark.yarn.report.interval=50ms", "spark.executor.memory=200m", "spark.executor.instances=2", "spark.driver.host=127.0.0.1",
         "spark.log.level=INFO")

# Runs jobs until a file exists or a job fails. Its status is the second argument.
WAITING = """#include <firesteel/firesteel.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
        fst_context *sc = fst_context_new("waiting");
        int64_t n = 0;
        do {
                if (fst_count(fst_range_n(sc, 0, 10, 2), &n) != 0 || n != 10)
                        break;
                printf("counted\\n");
                fflush(stdout);
                usleep(50000);
        } while (access(argv[1], F_OK) != 0);
        const int status = fst_context_stop(sc);
        return status ? 1 : argc > 2 ? atoi(argv[2]) : 0;
}
"""

# Runs a job, sleeps until a file exists, and runs another one. Its status says whether the last one succeeded.
SLEEPING = """#include <firesteel/firesteel.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
        fst_context *sc = fst_context_new("sleeping");
        int64_t n = 0;
        fst_count(fst_range_n(sc, 0, 10, 2), &n);
        printf("counted\\n");
        fflush(stdout);
        while (access(argv[1], F_OK) != 0)
                usleep(20000);
        const int r = fst_count(fst_range_n(sc, 0, 10, 2), &n);
        return fst_context_stop(sc) || r ? 1 : 0;
}
"""


made_caches = []


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """What applications share in the cluster, of all files of tests that a process runs."""
    if not made_caches:
        made_caches.append(tmp_path_factory.mktemp("cache"))
    return made_caches[0]


@pytest.fixture
def yarn(tmp_path):
    with FakeYarn(tmp_path / "yarn") as made:
        yield made


@pytest.fixture
def submit(tmp_path, cache, yarn):
    return Submit(tmp_path, cache, yarn)


class Submit:
    """spark-submit --master yarn, to its end or in the background."""

    def __init__(self, folder, cache, yarn):
        self.folder, self.cache, self.yarn, self.gate = folder, cache, yarn, folder / "gate"
        (folder / "waiting.c").write_text(WAITING)
        (folder / "sleeping.c").write_text(SLEEPING)
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK_", "MASTER", "HADOOP_", "YARN_", "_SPARK"))}
        self.environment = dict({"XDG_CACHE_HOME": str(cache)} | kept, HOME=str(folder), HADOOP_CONF_DIR=yarn.conf,
                                HADOOP_USER_NAME="alice", SPARK_CONF_DIR=str(folder))

    def settings(self, *conf):
        return [*QUICK, f"spark.firesteel.yarn.cacheDir=file:{self.cache}", *conf]

    def command(self, *words, conf=(), cluster=False):
        out = [os.path.join(BIN, "spark-submit"), "--master", "yarn", *(["--deploy-mode", "cluster"] if cluster else [])]
        for setting in self.settings(*conf):
            out += ["--conf", setting]
        return [*out, *map(str, words)]

    def run(self, *words, conf=(), cluster=False, **more):
        return subprocess.run(self.command(*words, conf=conf, cluster=cluster), cwd=self.folder, capture_output=True, text=True,
                              env=self.environment | more, timeout=TIMEOUT, stdin=subprocess.DEVNULL, check=False)

    @contextlib.contextmanager
    def waiting(self, *words, conf=(), cluster=False, source="waiting.c", **more):
        """The application WAITING, or another one, which has counted; yields (process, the fake's application)."""
        command = self.command(source, self.gate, *words, conf=conf, cluster=cluster)
        log = self.folder / "log"
        with open(log, "w", encoding="utf-8") as out, subprocess.Popen(
                command, cwd=self.folder, env=self.environment | more, stdout=out, stderr=out, stdin=subprocess.DEVNULL) as process:
            try:
                wait_until(lambda: process.poll() is not None or self.yarn.submitted(), "an application")
                assert process.poll() is None, self.log()
                app = self.yarn.last()
                wait_until(lambda: process.poll() is not None or "counted" in self.printed(app, cluster),
                           lambda: f"the count: {self.log()}")
                assert process.poll() is None, self.log()
                yield process, app
            finally:
                self.gate.touch()
                try:
                    process.wait(TIMEOUT)
                finally:
                    process.kill()

    def printed(self, app, cluster):
        with self.yarn.lock:
            container = app.attempt.container if cluster and app.attempt else None
        return container.log("stdout") if container else "" if cluster else self.log()

    def log(self):
        return (self.folder / "log").read_text(encoding="utf-8", errors="replace")

    def logs(self, pattern):
        wait_until(lambda: re.search(pattern, self.log()), lambda: f"{pattern!r} in {self.log()[-5000:]}")

    def open(self, process):
        """Lets the application end. Returns its status."""
        self.gate.touch()
        return process.wait(TIMEOUT)


def gated(submit, *conf):
    """An application of gated_application.py in client mode."""
    folder = submit.folder / "gated"
    folder.mkdir()
    return Application(folder, "yarn", *submit.settings(*conf), allocation=False,
                       environment={k: submit.environment[k] for k in ("HOME", "HADOOP_CONF_DIR", "HADOOP_USER_NAME", "XDG_CACHE_HOME")})
