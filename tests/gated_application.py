"""An application that tests control by lines, on any master, with or without dynamic allocation. Its tasks wait at a gate,
its event log records its actions, and a mark in the environment identifies its processes."""
import json
import os
import re
import signal
import subprocess
import threading

from conditions import TIMEOUT, wait_until
from folders import BIN
from inherited_environment import inherited_environment

# It runs commands, one a line. Tasks wait until the gate, a file, exists.
APPLICATION = r"""
#include <firesteel/firesteel.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct gate {
        char path[256];
        fst_accumulator computed;
};

static int64_t gated(fst_task *task, int64_t x)
{
        const struct gate *gate = fst_captured(task);
        while (!fst_task_interrupted(task) && access(gate->path, F_OK) != 0)
                usleep(5000);
        fst_accumulate(task, gate->computed, (int64_t)1);
        return x;
}

static int spread(fst_task *task, int64_t x, fst_out *out)
{
        const struct gate *gate = fst_captured(task);
        while (!fst_task_interrupted(task) && access(gate->path, F_OK) != 0)
                usleep(5000);
        fst_accumulate(task, gate->computed, (int64_t)1);
        for (int64_t i = 0; i < 1000; i++)
                fst_emit(out, i % 97, x * i);
        return 0;
}

int main(int argc, char **argv)
{
        fst_context *sc = fst_context_new("allocation");
        struct gate gate = {.computed = fst_accumulator_i64(sc, "computed")};
        fst_rdd *kept = NULL, *summed = NULL;
        char line[512], word[32];
        int n;
        while (fgets(line, sizeof(line), stdin) && sscanf(line, "%31s %d %255s", word, &n, gate.path) >= 1) {
                int64_t result = -1;
                fst_iter *rows;
                if (strcmp(word, "gated") == 0)
                        fst_count(fst_map(fst_range_n(sc, 0, n, n), FST_WITH(gated, gate), FST_I64), &result);
                else if (strcmp(word, "cache") == 0)
                        fst_reduce(kept = fst_cache(fst_map(fst_range_n(sc, 0, 1000 * n, n), FST_WITH(gated, gate), FST_I64)),
                                   fst_fn_sum, &result);
                else if (strcmp(word, "uncache") == 0)
                        result = fst_unpersist(kept) ? 0 : -1;
                else if (strcmp(word, "cached") == 0)
                        fst_reduce(kept, fst_fn_sum, &result);
                else if (strcmp(word, "total") == 0)
                        result = fst_request_total_executors(sc, n);
                else if (strcmp(word, "more") == 0)
                        result = fst_request_executors(sc, n);
                else if (strcmp(word, "kill") == 0)
                        result = fst_kill_executors(sc, (const char *const[]){gate.path, "no such"}, 2);
                else if (strcmp(word, "shuffle") == 0)
                        summed = fst_reduce_by_key_n(fst_flat_map(fst_range_n(sc, 0, n, n), FST_WITH(spread, gate),
                                                                 FST_PAIR(I64, I64)), fst_fn_sum, 3);
                if (strncmp(word, "shuffle", 7) == 0 && fst_collect(summed, &rows) == 0) {
                        result = 0;
                        for (int64_t key, value; fst_next(rows, &key, &value);)
                                result += value * (key + 1);
                }
                printf("%s %lld %lld\n", word, (long long)result, (long long)fst_accumulator_sum_i64(sc, gate.computed));
                fflush(stdout);
        }
        return fst_context_stop(sc);
}
"""


class Application:
    """One application, controlled by lines. `conf` adds to dynamic allocation with the shortest timeouts."""

    def __init__(self, folder, master, *conf, allocation=True, environment=None):
        self.jobs, self.folder, self.mark = 0, folder, f"{folder.name}-{os.getpid()}"
        self.events, self.local, self.gate = folder / "events", folder / "local", folder / "gate"
        self.events.mkdir()
        (folder / "conf").mkdir()
        (folder / "app.c").write_text(APPLICATION)
        settings = [f"spark.local.dir={self.local}", "spark.eventLog.enabled=true", f"spark.eventLog.dir={self.events}",
                    "spark.eventLog.compress=false", "spark.eventLog.rolling.enabled=false", "spark.log.level=INFO",
                    "spark.executor.memory=200m", "spark.executor.cores=1"]
        if allocation:
            settings += ["spark.dynamicAllocation.enabled=true", "spark.dynamicAllocation.executorIdleTimeout=1s"]
        command = [os.path.join(BIN, "spark-submit"), "--master", master]
        for setting in [*settings, *conf]:
            command += ["--conf", setting]
        kept = inherited_environment("SPARK_", "MASTER")
        cache = os.environ.get("ALLOCATION_CACHE") or os.environ.get("XDG_CACHE_HOME") or str(folder.parent / "cache")
        with open(folder / "log", "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [*command, "app.c"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
                start_new_session=True, env={**kept, "XDG_CACHE_HOME": cache, "SPARK_CONF_DIR": str(folder / "conf"),
                                             "ALLOCATION_TEST": self.mark, **(environment or {})})

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind:
            print(self.log()[-20000:])
            kill(self.processes())
        self.process.stdin.close()
        status = self.process.wait(timeout=TIMEOUT)
        self.process.stdout.close()
        if kind:
            return
        assert status == 0, self.log()
        wait_until(lambda: not self.processes(), "processes stay")
        assert not self.local.exists() or list(self.local.iterdir()) == []

    def log(self):
        return (self.folder / "log").read_text(errors="replace")

    def begin(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def answer(self):
        """Returns (result, number of tasks that computed so far) of the oldest command."""
        timer = threading.Timer(TIMEOUT, self.process.kill)
        timer.start()
        words = self.process.stdout.readline().split()
        timer.cancel()
        assert len(words) == 3, self.log()
        self.jobs += words[0] not in ("uncache", "total", "more", "kill")
        wait_until(lambda: len(self.logged("JobEnd")) == self.jobs, "the job's end is not in the event log")
        return int(words[1]), int(words[2])

    def run(self, line):
        self.begin(line)
        return self.answer()

    def open_gate(self):
        self.gate.touch()

    def close_gate(self):
        self.gate.unlink(missing_ok=True)

    def processes(self):
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ", "rb") as variables:
                    if f"ALLOCATION_TEST={self.mark}".encode() in variables.read().split(b"\0"):
                        found.append(int(pid))
            except OSError:
                pass
        return found

    def executors(self):
        """Process ids of the live executors, by executor id."""
        found = {}
        for pid in self.processes():
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as line:
                    words = line.read().decode().split("\0")
                with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
                    parent = int(stat.read().rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
            if "--executor-id" in words and parent == self.process.pid:
                found[words[words.index("--executor-id") + 1]] = pid
        return found

    def logged(self, *kinds):
        """The events of these kinds so far."""
        assert self.process.poll() is None, "the application has ended"
        files = list(self.events.iterdir())
        text = files[0].read_text() if files else ""
        events = [json.loads(line) for line in text[:text.rfind("\n") + 1].splitlines()]
        return [e for e in events if e["Event"].removeprefix("SparkListener") in kinds]

    def started(self):
        """The number of launched tasks."""
        return self.log().count(" Starting task ")

    def added(self):
        return [e["Executor ID"] for e in self.logged("ExecutorAdded")]

    def removed(self):
        return {e["Executor ID"]: e["Removed Reason"] for e in self.logged("ExecutorRemoved")}

    def alive(self):
        return set(self.added()) - set(self.removed())

    def tasks(self, kind):
        """The number of successful tasks of this kind."""
        return sum(e["Task Type"] == kind and e["Task End Reason"]["Reason"] == "Success" for e in self.logged("TaskEnd"))

    def until_added(self, count):
        """Waits until so many executors have registered. An idle one may be removed before the last one registers."""
        wait_until(lambda: len(self.added()) == count, lambda: f"{self.added()}, not {count} executors")

    def until_alive(self, count):
        wait_until(lambda: len(self.alive()) == count, lambda: f"{sorted(self.alive())}, not {count} executors")


def map_outputs(folder):
    """The names of their files below @folder. Some may be removed concurrently."""
    return sorted(name for _, _, names in os.walk(folder) for name in names if re.match(r"shuffle_.*_", name))


def kill(pids, number=signal.SIGKILL):
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


def sum_of(n):
    """The expected result of `shuffle n`."""
    sums = [0] * 97
    for i in range(1000):
        sums[i % 97] += i * n * (n - 1) // 2
    return sum(value * (key + 1) for key, value in enumerate(sums))
