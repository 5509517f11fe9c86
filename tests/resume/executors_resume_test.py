"""Executors outlive their driver: the next one adopts them, with their map outputs and cached blocks (docs/guide/resuming.md)."""
import os
import re
import signal
import socket
import subprocess

import pytest

from conditions import wait_until
from resume_test import BIN, PARTITIONS, Run, stored

# A cached RDD is counted twice; a map stage of it is summed by key; it is saved. Each computed partition writes a line to DIR/runs: its stage, its
# partition and its process. Partition 3 of the gated phase waits for DIR/go. Phase 1: the cached RDD; 2: the map stage; 3: the saved stage.
APPLICATION = r"""
#include <firesteel/firesteel.h>
#include <firesteel/resume.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct phase {
        char dir[400];
        int phase, gated;
        fst_accumulator rows;
};

static int trace_begin(fst_task *task, const struct phase *p)
{
        char path[512], text[64];
        if (fst_task_partition(task) == 3 && p->phase == p->gated) {
                char gate[512];
                snprintf(gate, sizeof(gate), "%s/go", p->dir);
                while (access(gate, F_OK) != 0 && !fst_task_interrupted(task))
                        usleep(2000);
                if (fst_task_interrupted(task))
                        return fst_fail(task, "interrupted");
        }
        snprintf(path, sizeof(path), "%s/runs", p->dir);
        int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0644);
        int n = snprintf(text, sizeof(text), "%d.%d.%d\n", p->phase, fst_task_partition(task), (int)getpid());
        if (write(fd, text, (size_t)n) != n)
                return fst_fail(task, "cannot write");
        close(fd);
        return 0;
}

static int read_line(fst_task *task, fst_bytes line, fst_out *out)
{
        const struct phase *p = fst_captured(task);
        if (trace_begin(task, p))
                return -1;
        fst_accumulate(task, p->rows, (int64_t)1);
        usleep(500); /* tasks of some ms come one by one, not in batches that wait together */
        fst_emit(out, (int64_t)(line.len % 5), (int64_t)line.len);
        return 0;
}

static int pass(fst_task *task, int64_t key, int64_t value, fst_out *out)
{
        const struct phase *p = fst_captured(task);
        if (trace_begin(task, p))
                return -1;
        fst_accumulate(task, p->rows, (int64_t)1);
        usleep(500);
        fst_emit(out, key, value);
        return 0;
}

int main(int argc, char **argv)
{
        fst_context *sc = fst_context_new("adopted");
        struct phase p = {0};
        int64_t n = 0, again = 0, keys = 0;
        char out[512];
        snprintf(p.dir, sizeof(p.dir), "%s", argv[2]);
        p.gated = atoi(argv[3]);
        p.rows = fst_accumulator_i64(sc, "rows");
        p.phase = 1;
        fst_rdd *cached = fst_persist(fst_flat_map(fst_text_file_n(sc, argv[1], 8), FST_WITH(read_line, p), FST_PAIR(I64, I64)),
                                      FST_STORAGE_MEMORY_ONLY);
        fst_count(cached, &n);
        p.phase = 2;
        fst_rdd *sums = fst_reduce_by_key_n(fst_flat_map(cached, FST_WITH(pass, p), FST_PAIR(I64, I64)), fst_fn_sum, 8);
        fst_count(sums, &keys);
        p.phase = 3;
        snprintf(out, sizeof(out), "%s/out", argv[2]);
        fst_save_as_text_file(fst_flat_map(cached, FST_WITH(pass, p), FST_PAIR(I64, I64)), out);
        fst_count(cached, &again);
        printf("n %ld again %ld keys %ld rows %ld resumed %d\n", (long)n, (long)again, (long)keys,
               (long)fst_accumulator_sum_i64(sc, p.rows), fst_is_resumed(sc));
        fflush(stdout);
        return fst_context_stop(sc);
}
"""
MASTER = "local-cluster[2,2,1024]"
ROWS = 160


def compile_adopted(folder):
    """Compiles the application in @folder and returns its path."""
    (folder / "adopted.c").write_text(APPLICATION)
    subprocess.run([f"{BIN}/firesteel", "compile", str(folder / "adopted.c"), "-o", str(folder / "adopted.so")], check=True, timeout=120)
    return folder / "adopted.so"


@pytest.fixture(scope="module")
def application(tmp_path_factory):
    return compile_adopted(tmp_path_factory.mktemp("application"))


class Adopted(Run):
    """An application whose executors outlive its driver."""

    def __init__(self, folder, application, phase, settings=()):
        super().__init__(folder, application, MASTER, phase, ["spark.local.dir=" + str(folder / "local"), *settings])

    def computed(self, since=0):
        """The partitions that were computed, "PHASE.PARTITION", each once."""
        return {line.rsplit(".", 1)[0] for line in self.ran()[since:]}

    def rows(self, task):
        """How many rows the runs of a task, "PHASE.PARTITION", have computed."""
        return sum(line.rsplit(".", 1)[0] == task for line in self.ran())

    def processes_of_tasks(self, since=0):
        return {int(line.rsplit(".", 1)[1]) for line in self.ran()[since:]}

    def executors(self):
        """The executors of this application that run, without the processes that they have forked."""
        found = {}
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                words = open(f"/proc/{pid}/cmdline", "rb").read().split(b"\0")
                parent = int(open(f"/proc/{pid}/stat", "rb").read().rsplit(b")", 1)[1].split()[1])
            except OSError:
                continue
            if words[:2] == [b"firesteel", b"executor"] and self.id().encode() in words:
                found[int(pid)] = parent
        return [pid for pid, parent in found.items() if parent not in found]

    def resuming(self):
        """The command of the application that names its journal."""
        at = self.command.index("--master")
        return [*self.command[:at], "--conf", f"spark.firesteel.resume.id={self.id()}", *self.command[at:]]

    def kill(self):
        """Kills the driver and returns the number of lines of the tasks so far."""
        self.processes[-1].kill()
        self.processes[-1].wait(timeout=120)
        return len(self.ran())

    def check(self, number, again=False):
        """@again: cached partitions were lost, and their rows count twice."""
        found = re.search(r"^n (\d+) again (\d+) keys 5 rows (\d+) resumed (\d)$", self.log(number), re.M)
        assert found, self.log(number)
        n, count, rows, resumed = map(int, found.groups())
        assert (n, count, resumed) == (ROWS, ROWS, number > 0)
        assert 3 * ROWS <= rows <= (4 if again else 3) * ROWS
        parts = sorted(os.listdir(self.folder / "out"))
        assert parts == ["_SUCCESS", *[f"part-{i:05}" for i in range(PARTITIONS)]], parts
        rows = "".join((self.folder / "out" / part).read_text() for part in parts[1:]).split()
        lengths = [len(line) for line in (self.folder / "input").read_text().splitlines()]
        assert sorted(rows) == sorted(f"({n % 5},{n})" for n in lengths)
        assert self.left() == []

    def end(self):
        super().end()
        for pid in self.executors() if self.journals.exists() and self.left() else []:
            os.kill(pid, signal.SIGKILL)


@pytest.fixture
def run(tmp_path, application):
    made = []

    def make(phase, settings=()):
        made.append(Adopted(tmp_path, application, phase, settings))
        return made[-1]
    yield make
    for one in made:
        one.end()


# The phase that is gated, its job, and whether its tasks write map outputs.
PHASES = [(1, 0, False), (2, 1, True), (3, 2, False)]


@pytest.mark.parametrize("phase, job, maps", PHASES)
def test_executors_outlive_their_driver(run, phase, job, maps):
    app = run(phase)
    app.start()
    app.wait_at_gate(phase, job, maps)
    name = app.id()
    executors = set(app.executors())
    before = app.kill()
    assert len(executors) == 2
    resumed = app.resume()
    wait_until(lambda: app.log(1).count("of the earlier driver is back") == 2, "the executors", 60)
    app.open_gate()
    assert resumed.wait(timeout=120) == 0, app.log(1)
    app.check(1)
    later = {f"{p}.{i}" for p in range(phase + 1, 4) for i in range(PARTITIONS)}
    assert app.computed(before) <= {f"{phase}.3"} | later, app.ran()[before:]
    assert app.rows(f"{phase}.3") == app.rows("1.3")  # the task that ran when its driver died has not begun again
    assert "1 tasks that an earlier driver launched are adopted, 0 are not needed" in app.log(1)
    assert app.processes_of_tasks(before) <= executors
    wait_until(lambda: not [pid for pid in executors if os.path.exists(f"/proc/{pid}")], "the end of the executors", 90)
    assert not name or not os.listdir(app.folder / "local"), os.listdir(app.folder / "local")


def executor_ids(app):
    words = [open(f"/proc/{pid}/cmdline", encoding="utf-8").read().split("\0") for pid in app.executors()]
    return sorted(line[line.index("--executor-id") + 1] for line in words)


def test_executor_ids_are_given_once(run, tmp_path):
    """The first driver dies before its executors register: those of the second have other ids, and the first ones are refused."""
    app = run(1)
    app.open_gate()
    path = str(tmp_path / "points")
    app.environment["FIRESTEEL_FAULT_POINTS"] = path
    with socket.socket(socket.AF_UNIX) as unanswered:  # executors wait before they register
        unanswered.bind(path)
        unanswered.listen(8)
        app.start()
        unanswered.settimeout(120)
        waiting = [unanswered.accept()[0] for _ in range(2)]  # before that an executor would end with its driver
        wait_until(lambda: app.journals.exists() and app.left() and executor_ids(app) == ["0", "1"], "the executors", 90)
        app.kill()
        resumed = app.resume()
        wait_until(lambda: len(executor_ids(app)) == 4, "the executors of the second driver", 90)
        assert executor_ids(app) == ["0", "1", "2", "3"]
        for executor in waiting:
            executor.close()
    assert resumed.wait(timeout=120) == 0, app.log(1)
    assert re.findall(r"Registered executor \S+ .* with ID (\d+)", app.log(1)) in (["2", "3"], ["3", "2"])
    assert app.left() == []


ENCRYPTED = ["spark.authenticate=true", "spark.io.encryption.enabled=true"]


@pytest.mark.parametrize("name", ["stored", "encrypted", "encrypted and stored"])
def test_executors_keep_what_is_outside_or_encrypted(run, tmp_path, name):
    """Two drivers die; the third has the executors of the first, with their key and the numbers with which they write to the store."""
    app = run(2, (stored(tmp_path) if "stored" in name else []) + (ENCRYPTED if "encrypted" in name else []))
    app.start()
    app.wait_at_gate(2, 1, True)
    executors, command = set(app.executors()), app.resuming()
    before = app.kill()
    for driver in (1, 2):
        app.start(command)
        wait_until(lambda: app.log(driver).count("of the earlier driver is back") == 2, "the executors", 60)
        app.kill() if driver == 1 else app.open_gate()
    assert app.processes[-1].wait(timeout=120) == 0, app.log(2)
    app.check(2)
    assert app.computed(before) <= {"2.3", *(f"3.{i}" for i in range(PARTITIONS))}, app.ran()[before:]
    assert app.processes_of_tasks(before) <= executors
    assert app.rows("2.3") == app.rows("1.3")
    assert "stored" not in name or "7 of 7 map outputs of earlier drivers are in" in app.log(2)


def test_a_new_executor_gets_the_key_of_the_earlier_ones(run, tmp_path):
    """One executor dies with the driver: its successor reads the encrypted map outputs."""
    app = run(2, stored(tmp_path) + ENCRYPTED)
    app.start()
    app.wait_at_gate(2, 1, True)
    executors = app.executors()
    before = app.kill()
    os.kill(executors[0], signal.SIGKILL)
    resumed = app.start(app.resuming())
    wait_until(lambda: app.log(1).count("Registered executor") == 2, "another executor", 60)
    app.open_gate()
    assert resumed.wait(timeout=120) == 0, app.log(1)
    app.check(1, again=True)
    assert "7 of 7 map outputs of earlier drivers are in" in app.log(1)
    assert {task for task in app.computed(before) if task[0] == "2"} <= {"2.3"}, app.ran()[before:]
    assert len(app.processes_of_tasks(before)) == 2


def test_executors_whose_files_are_encrypted_end_without_a_proof_of_the_driver(run):
    app = run(1, ["spark.io.encryption.enabled=true"])
    app.start()
    app.wait_at_gate(1, 0)
    app.kill()
    wait_until(lambda: not app.executors(), "the end of the executors", 90)
    assert "Looking for the next one" not in app.log(0)


def test_executors_end_if_no_driver_comes(run):
    app = run(2, ["spark.firesteel.resume.executorTimeout=1s"])
    app.start()
    app.wait_at_gate(2, 1, True)
    assert len(app.executors()) == 2
    app.kill()
    wait_until(lambda: not app.executors(), "the end of the executors", 90)
    assert "No driver goes on with the application" in app.log(0)
    app.open_gate()
    assert app.resume().wait(timeout=120) == 0, app.log(1)
    assert "rows" in app.log(1)
    assert app.left() == []


def test_executors_end_with_their_driver_if_they_may_not_wait(run):
    app = run(1, ["spark.firesteel.resume.executorTimeout=0"])
    app.start()
    app.wait_at_gate(1, 0)
    app.kill()
    wait_until(lambda: not app.executors(), "the end of the executors", 90)
    assert "Looking for the next one" not in app.log(0)


def test_a_task_that_asks_to_commit_without_a_driver_is_held(run):
    app = run(3)
    app.start()
    app.wait_at_gate(3, 2)
    executors = set(app.executors())
    before = app.kill()
    app.open_gate()
    wait_until(lambda: app.computed(before) == {"3.3"}, "the task's rows", 60)
    assert set(app.executors()) == executors
    assert not (app.folder / "out" / "_SUCCESS").exists()
    assert app.resume().wait(timeout=120) == 0, app.log(1)
    app.check(1)
    assert app.computed(before) == {"3.3"}
    assert app.rows("3.3") == app.rows("1.3")
    assert app.processes_of_tasks(before) <= executors


@pytest.mark.parametrize("settings, adopted", [((), True), (["spark.driver.maxResultSize=1k"], False)])
def test_the_outcome_of_a_task_that_ended_without_a_driver_is_held(run, settings, adopted):
    """Its outcome counts, unless it is larger than a share of spark.driver.maxResultSize: then the task runs again."""
    app = run(2, settings)
    app.start()
    app.wait_at_gate(2, 1, True)
    executors = set(app.executors())
    before = app.kill()
    app.open_gate()
    wait_until(lambda: app.rows("2.3") == app.rows("1.3"), "the end of the task", 60)
    assert app.resume().wait(timeout=120) == 0, app.log(1)
    app.check(1)
    assert app.computed(before) == {"2.3", *(f"3.{i}" for i in range(PARTITIONS))}
    assert app.rows("2.3") == app.rows("1.3") * (1 if adopted else 2)
    assert app.processes_of_tasks(before) <= executors


def test_executors_leave_a_stuck_driver(run):
    app = run(2, ["spark.executor.heartbeatInterval=200ms"])
    stuck = app.start()
    app.wait_at_gate(2, 1, True)
    executors = set(app.executors())
    os.kill(stuck.pid, signal.SIGSTOP)
    before = len(app.ran())
    resumed = app.resume()
    wait_until(lambda: app.log(1).count("of the earlier driver is back") == 2, "the executors", 60)
    os.kill(stuck.pid, signal.SIGCONT)
    assert stuck.wait(timeout=60) == 1
    assert "Another driver has taken over application" in app.log(0)
    app.open_gate()
    assert resumed.wait(timeout=120) == 0, app.log(1)
    app.check(1)
    assert app.processes_of_tasks(before) <= executors
    assert not {task for task in app.computed(before) if task.startswith("1.")}


def test_what_differs_is_not_taken_from_executors(run):
    """The input has changed: cached blocks and map outputs of the earlier driver do not count."""
    app = run(2)
    app.start()
    app.wait_at_gate(2, 1, True)
    before = app.kill()
    lines = (app.folder / "input").read_text().splitlines()
    (app.folder / "input").write_text("".join(line + "y\n" for line in lines))
    resumed = app.resume()
    wait_until(lambda: "0 tasks that an earlier driver launched are adopted, 1 are not needed" in app.log(1), "the end of the task", 60)
    app.open_gate()
    assert resumed.wait(timeout=120) == 0, app.log(1)
    assert "nothing of earlier drivers is used" in app.log(1)
    app.check(1)
    assert {f"1.{i}" for i in range(PARTITIONS)} <= app.computed(before)


def test_a_generated_secret_is_kept(run):
    app = run(2, ["spark.authenticate=true"])
    app.start()
    app.wait_at_gate(2, 1, True)
    secret = app.journals / app.id() / "secret"
    assert secret.stat().st_mode & 0o777 == 0o600
    executors = set(app.executors())
    before = app.kill()
    resumed = app.start(app.resuming())
    app.open_gate()
    assert resumed.wait(timeout=120) == 0, app.log(1)
    app.check(1)
    assert app.processes_of_tasks(before) <= executors
