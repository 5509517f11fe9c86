"""Durable logs in a remote file system, for `make check-hdfs` and `make check-s3`: stored while an application runs, followed,
kept from an executor that is killed, and removed when they are old."""
import os
import pathlib
import re
import signal
import subprocess
import time

APPLICATION = """
#include <firesteel/firesteel.h>
#include <stdio.h>
#include <unistd.h>
static int64_t print(fst_task *task, int64_t x)
{
        for (int i = 0; i < 5 || (x == 0 && access("%(gate)s", F_OK) != 0 && i < 3000); i++) {
                printf("task %%d line %%d db.password=hidden123\\n", (int)x, i);
                fflush(stdout);
                usleep(20000);
        }
        return x;
}
int main(void)
{
        fst_context *sc = fst_context_new("prints");
        int64_t n = 0;
        const int r = fst_count(fst_map(fst_range_n(sc, 0, 2, 2), print, FST_I64), &n);
        printf("the driver has counted %%d\\n", (int)n);
        return fst_context_stop(sc) || r;
}
"""


class Logs:
    """@directory is the path of a directory that does not exist below @root; names(path) lists a directory, and put(path, content)
    writes a file. Applications have @environment and @settings, which may contain @secrets."""

    def __init__(self, expect, build, folder, root, directory, environment, settings, names, put, secrets=()):
        self.expect, self.programs, self.root, self.directory, self.environment = expect, f"{build}/src", root, directory, environment
        self.settings, self.names, self.put, self.secrets = list(settings), names, put, secrets
        self.gate, self.source = pathlib.Path(folder, "logs.gate"), pathlib.Path(folder, "prints.c")
        self.source.write_text(APPLICATION % {"gate": self.gate}, encoding="utf-8")

    def submit(self, *conf):
        conf = [f"spark.firesteel.logs.dir={self.root}{self.directory}", *conf]
        return subprocess.Popen([f"{self.programs}/spark-submit", "--master", "local-cluster[2,1,1024]",
                                 *(word for one in conf for word in ("--conf", one)), *self.settings, str(self.source)],
                                env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def command(self, *words):
        return [f"{self.programs}/firesteel", "logs", "--dir", self.root + self.directory, *self.settings, *words]

    def print(self, *words):
        return subprocess.run(self.command(*words), env=self.environment, capture_output=True, text=True, timeout=120, check=False)

    def wait(self, condition, what):
        end = time.monotonic() + 120
        while not condition():
            if time.monotonic() > end:
                self.expect(what, "it does not happen", False)
            time.sleep(0.1)

    def executor(self, app, number):
        """The process of an executor: those that it forks have its command line, too."""
        found = {}
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
                parent = int(pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
            if app in words and "--executor-id" in words and words[words.index("--executor-id") + 1] == number:
                found[int(pid)] = parent
        (pid,) = [pid for pid, parent in found.items() if parent not in found]
        return pid

    def check(self):
        output = lambda *words: self.print("--file", "stdout", *words).stdout  # noqa: E731
        with self.submit() as process:
            try:
                self.wait(lambda: process.poll() is not None or self.names(self.directory), "logs are stored while an application runs")
                (app,) = self.names(self.directory) or [""]
                self.expect("logs are stored while an application runs", process.poll() is not None and process.stdout.read(), app)
                with subprocess.Popen(self.command("--follow", "--file", "stdout", app), env=self.environment, stdout=subprocess.PIPE,
                                      text=True) as follower:
                    seen = ""
                    while "task 0 line 20 " not in seen:
                        line = follower.stdout.readline()
                        if not line:
                            self.expect("the follower reads on", seen, False)
                        seen += line
                    (victim,) = [n for n in "01" if "task 0 line 20 " in output("--executor", n, app)]
                    os.kill(self.executor(app, victim), signal.SIGKILL)
                    self.gate.touch()
                    seen += follower.stdout.read()
                    status = follower.wait(60)
            finally:
                self.gate.touch()
                said = process.communicate(timeout=120)[0]
        self.expect("… and the application is not disturbed", said, process.returncode == 0 and "the driver has counted 2" in said)
        found = [line for line in output("--executor", victim, app).splitlines() if line.startswith("task 0 ")]
        lines = [int(re.match(r"task 0 line (\d+) ", line)[1]) for line in found]
        self.expect("an executor that is killed leaves its log, without gaps", found, len(lines) > 20 and lines == list(range(len(lines))))
        self.expect("… without secrets", found, all("*********(redacted)" in line for line in found))
        self.expect("firesteel logs --follow reads all of it, and ends with the application", seen, status == 0 and
                    "the driver has counted 2" in seen and all(line in seen for line in found))
        text = self.print(app).stdout
        self.expect("executors get the settings that they need, and no log has them", text, "Starting executor ID" in text and
                    not any(secret in text for secret in self.secrets))
        listed = self.print("--list", app).stdout
        self.expect("logs are listed", listed, re.search(r"^driver\tstderr\t[1-9]", listed, re.M) and
                    re.search(rf"^executor-{victim}\tstdout\t[1-9]", listed, re.M))
        self.check_retention(app)

    def check_retention(self, old):
        self.put(f"{self.directory}/others/file", b"not a log")
        time.sleep(3)  # the age of the first application's logs
        with self.submit("spark.firesteel.logs.maxAge=1s") as process:
            said = process.communicate(timeout=120)[0]
        self.wait(lambda: old not in self.names(self.directory), f"the logs of {old} are removed")
        left = self.names(self.directory)
        self.expect("old logs are removed by the next driver, and nothing else is", (left, said), process.returncode == 0 and
                    old not in left and "others" in left and len(left) == 2)
