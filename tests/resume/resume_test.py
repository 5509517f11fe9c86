"""Another driver goes on with an application whose driver was killed or is stuck (docs/guide/resuming.md)."""
import os
import signal
import subprocess

import pytest

from conditions import wait_until
from driver_journal import FIRST_LINE, map_outputs, results
from folders import BIN, TESTS
from inherited_environment import inherited_environment
from sanitizers import SANITIZED


# Counts, sums by key, and saves four times. Each task writes its phase and partition to DIR/runs, once a row. A task of phase GATE_PHASE and
# partition 3 waits until DIR/go exists. The saves go to DIR, or to the fourth argument.
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

static int trace(fst_task *task, fst_bytes line, fst_out *out)
{
        const struct phase *p = fst_captured(task);
        char path[512], text[64];
        snprintf(path, sizeof(path), "%s/runs", p->dir);
        if (fst_task_partition(task) == 3 && p->phase == p->gated) {
                char gate[512];
                snprintf(gate, sizeof(gate), "%s/go", p->dir);
                while (access(gate, F_OK) != 0 && !fst_task_interrupted(task))
                        usleep(2000);
        }
        int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0644);
        int n = snprintf(text, sizeof(text), "%d.%d\n", p->phase, fst_task_partition(task));
        if (write(fd, text, (size_t)n) != n)
                return fst_fail(task, "cannot write");
        close(fd);
        usleep(500); /* tasks of some ms come one by one, not in batches that report together */
        fst_accumulate(task, p->rows, (int64_t)1);
        fst_emit(out, (int64_t)(line.len % 5), (int64_t)line.len);
        return 0;
}

static fst_rdd *traced(fst_context *sc, const char *input, struct phase *p, int phase)
{
        p->phase = phase;
        return fst_flat_map(fst_text_file_n(sc, input, 8), FST_WITH(trace, *p), FST_PAIR(I64, I64));
}

int main(int argc, char **argv)
{
        fst_context *sc = fst_context_new("resumed");
        struct phase p = {0};
        int64_t n = 0, sum = 0, keys = 0;
        char out[512];
        const char *target = argc > 4 ? argv[4] : argv[2];
        snprintf(p.dir, sizeof(p.dir), "%s", argv[2]);
        p.gated = atoi(argv[3]);
        p.rows = fst_accumulator_i64(sc, "rows");
        fst_count(traced(sc, argv[1], &p, 1), &n);
        fst_reduce(fst_values(traced(sc, argv[1], &p, 2)), fst_fn_sum, &sum);
        fst_count(fst_reduce_by_key_n(traced(sc, argv[1], &p, 3), fst_fn_sum, 3), &keys);
        for (int i = 4; i <= 5; i++) {
                snprintf(out, sizeof(out), "%s/out%d", target, i);
                fst_save_as_text_file(fst_sort_by_key(traced(sc, argv[1], &p, i), FST_ASCENDING), out);
                snprintf(out, sizeof(out), "%s/plain%d", target, i);
                fst_save_as_text_file(traced(sc, argv[1], &p, i + 2), out);
        }
        printf("n %ld sum %ld keys %ld rows %ld resumed %d\n", (long)n, (long)sum, (long)keys,
               (long)fst_accumulator_sum_i64(sc, p.rows), fst_is_resumed(sc));
        fflush(stdout); /* a driver may be killed after its context has stopped */
        return fst_context_stop(sc);
}
"""
PHASES = range(1, 8)
PARTITIONS = 8
LINES = [f"{'x' * (i % 23)}{i}" for i in range(160)]


def compile_application(folder):
    """Compiles the application in @folder and returns its path."""
    (folder / "resumed.c").write_text(APPLICATION)
    subprocess.run([f"{BIN}/firesteel", "compile", str(folder / "resumed.c"), "-o", str(folder / "resumed.so")],
                   check=True, timeout=120)
    return folder / "resumed.so"


@pytest.fixture(scope="module")
def application(tmp_path_factory):
    return compile_application(tmp_path_factory.mktemp("application"))


def journaled(epoch, job, maps=False):
    """How many results or map outputs of a job an epoch of the journal has."""
    return sum(of == job for of, _ in (map_outputs if maps else results)(epoch))


class Run:
    """An application with a gate, and its journal."""

    def __init__(self, folder, application, master="local[2]", phase=4, settings=()):
        self.folder, self.journals = folder, folder / "journals"
        (folder / "input").write_text("".join(line + "\n" for line in LINES))
        confs = ["spark.firesteel.resume.enabled=true", f"spark.firesteel.resume.dir={self.journals}",
                 "spark.ui.enabled=false", *settings]
        self.command = [f"{BIN}/spark-submit", "--master", master,
                        *[word for conf in confs for word in ("--conf", conf)], str(application),
                        str(folder / "input"), str(folder), str(phase)]
        self.environment = {}  # of its drivers, beside that of this process
        self.processes = []

    def start(self, command=None):
        log = open(self.folder / f"log{len(self.processes)}", "w", encoding="utf-8")
        process = subprocess.Popen(command or self.command, stdout=log, stderr=log, env={**inherited_environment(), **self.environment},
                                   cwd=self.folder, start_new_session=True)
        log.close()
        self.processes.append(process)
        return process

    def resume(self, *settings):
        return self.start([f"{BIN}/firesteel", "resume", "--dir", str(self.journals), self.id(), *settings])

    def log(self, number):
        return (self.folder / f"log{number}").read_text(encoding="utf-8")

    def id(self):
        return os.listdir(self.journals)[0]

    def epochs(self):
        """The content of the journal, by epoch."""
        return [path.read_bytes() for path in sorted(self.journals.glob("*/epoch-*"))]

    def ran(self):
        runs = self.folder / "runs"
        return runs.read_text(encoding="utf-8").split() if runs.exists() else []

    def wait_at_gate(self, phase, job, maps=False):
        """Until all tasks of the phase but the gated one have run and their results or map outputs are in the journal."""
        def ready():
            assert self.processes[-1].poll() is None, self.log(len(self.processes) - 1)
            tasks = {task for task in self.ran() if task.startswith(f"{phase}.")}
            return len(tasks) >= PARTITIONS - 1 and sum(journaled(epoch, job, maps) for epoch in self.epochs()) >= PARTITIONS - 1
        wait_until(ready, f"the gate of phase {phase}", 120)

    def open_gate(self):
        (self.folder / "go").write_text("")

    def check_adopted(self, phase, log):
        """The driver with this log has adopted the task at the gate of a phase after the first, and it has not begun again."""
        assert "1 tasks that an earlier driver launched are adopted, 0 are not needed" in log, log
        assert self.ran().count(f"{phase}.3") == self.ran().count("1.3"), self.ran()

    def check(self, number, resumed=None):
        """The results of a run without a kill, in the output of driver @number."""
        resumed = resumed or f"resumed {int(number > 0)}"
        total = sum(len(line) for line in LINES)
        keys = len({len(line) % 5 for line in LINES})
        rows = len(LINES) * (len(PHASES) + 2)  # sort_by_key reads its input twice
        expected = f"n {len(LINES)} sum {total} keys {keys} rows {rows} {resumed}\n"
        assert expected in self.log(number), self.log(number)
        pairs = sorted((len(line) % 5, len(line)) for line in LINES)
        for name in ("out4", "plain4", "out5", "plain5"):
            files = self.output(name)
            assert list(files) == ["_SUCCESS", *[f"part-{i:05}" for i in range(len(files) - 1)]], files.keys()
            text = "".join(files.values())
            found = [tuple(int(x) for x in line.strip("()").split(",")) for line in text.split()]
            assert (sorted(found) if "plain" in name else [key for key, _ in found]) == \
                (pairs if "plain" in name else [key for key, _ in pairs])
        wait_until(lambda: self.left() == [], self.left, 30)  # on YARN a driver unregisters, and removes the journal when it exits

    def output(self, name):
        """The files of an output, by name."""
        return {path.name: path.read_text() for path in sorted((self.folder / name).iterdir())}

    def left(self):
        """What is left of journals."""
        return os.listdir(self.journals)

    def end(self):
        for process in self.processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait(timeout=120)


@pytest.fixture
def run(tmp_path, application):
    made = []

    def make(**options):
        made.append(Run(tmp_path, application, **options))
        return made[-1]
    yield make
    for one in made:
        one.end()


# Jobs by number: count, reduce, count by key, the bounds of sort_by_key (sample), the sorted save, the plain save, …
@pytest.mark.parametrize("master, phase, job", [("local[2]", 1, 0), ("local[2]", 6, 5), ("local-cluster[2,1,1024]", 2, 1)])
def test_another_driver_goes_on(run, master, phase, job):
    app = run(master=master, phase=phase)
    app.start()
    app.wait_at_gate(phase, job)
    app.processes[0].kill()
    app.processes[0].wait(timeout=120)
    before = app.ran()
    app.open_gate()
    assert app.resume().wait(timeout=120) == 0, app.log(1)
    app.check(1)
    again = app.ran()[len(before):]
    done = {f"{phase}.{i}" for i in range(PARTITIONS)} - {f"{phase}.3"}
    ended = {f"{p}.{i}" for p in PHASES if p < phase for i in range(PARTITIONS)} if phase < 3 else set()
    assert not (done | ended) & set(again), (before, again)
    assert f"{phase}.3" in again
    assert f"Job {job} (" in app.log(1) and f"{PARTITIONS - 1} of {PARTITIONS} results are those of earlier" in app.log(1)


def stored(folder):
    """The settings of an application whose map outputs are in a store."""
    return [f"spark.firesteel.shuffle.store=file://{folder}/store", "spark.firesteel.shuffle.store.objectSize=1",
            "spark.firesteel.shuffle.store.wait=0ms"]


def test_map_outputs_in_a_store_outlive_drivers(run, tmp_path):
    app = run(master="local-cluster[2,1,1024]", phase=3, settings=stored(tmp_path))
    app.start()
    for driver in range(2):
        app.wait_at_gate(3, 2, maps=True)
        wait_until(lambda: driver == 0 or "7 of 7 map outputs of earlier drivers are in" in app.log(1), "the second driver", 60)
        app.processes[-1].kill()
        app.processes[-1].wait(timeout=120)
        before = app.ran()
        assert len(list((tmp_path / "store").iterdir())) == 1
        if driver == 1:
            app.open_gate()
        app.resume()
    assert app.processes[-1].wait(timeout=120) == 0, app.log(2)
    app.check(2)
    assert "7 of 7 map outputs of earlier drivers are in" in app.log(2)
    assert [task for task in app.ran()[len(before):] if task[0] in "123"] == ["3.3"] * app.ran()[len(before):].count("3.3")
    assert not list((tmp_path / "store").iterdir())


def test_map_outputs_that_are_gone_are_computed_again(run, tmp_path):
    app = run(master="local-cluster[2,1,1024]", phase=3, settings=stored(tmp_path))
    app.start()
    app.wait_at_gate(3, 2, maps=True)
    app.processes[0].kill()
    app.processes[0].wait(timeout=120)
    before = app.ran()
    for lost in sorted((tmp_path / "store").glob("*/shuffle-*/*"))[:2]:
        lost.unlink()
    app.open_gate()
    assert app.resume().wait(timeout=120) == 0, app.log(1)
    app.check(1)
    assert len({task for task in app.ran()[len(before):] if task[0] == "3"}) == 3
    assert "5 of 7 map outputs of earlier drivers are in" in app.log(1)


class InBucket(Run):
    """An application whose journal is in a bucket."""

    def __init__(self, folder, application, bucket, **options):
        super().__init__(folder, application, settings=[*bucket.conf, "spark.firesteel.resume.dir=s3a://bucket/journals",
                                                        "spark.firesteel.resume.id=app-1"], **options)
        self.bucket = bucket

    def epochs(self):
        names = sorted(key for key in self.bucket.objects if key.startswith("journals/app-1/epoch-"))
        epochs = sorted({name[:len("journals/app-1/epoch-000001")] for name in names})
        return [b"".join(self.bucket.objects[name] for name in names if name.startswith(epoch)) for epoch in epochs]

    def left(self):
        return sorted(self.bucket.objects)


@pytest.mark.parametrize("frozen", [False, True])
def test_a_journal_in_a_bucket(tmp_path, application, bucket, frozen):
    app = InBucket(tmp_path, application, bucket, phase=2)
    try:
        old = app.start()
        app.wait_at_gate(2, 1)
        old.send_signal(signal.SIGSTOP if frozen else signal.SIGKILL)
        before = app.ran()
        app.open_gate()
        assert app.start().wait(timeout=120) == 0, app.log(1)
        app.check(1)
        assert [task for task in app.ran()[len(before):] if task.startswith("2.")][0] == "2.3"
        assert not {"1.0", "2.0"} & set(app.ran()[len(before):])
        if frozen:
            old.send_signal(signal.SIGCONT)
            assert old.wait(timeout=60) == 1, app.log(0)
            assert "Another driver has taken over application" in app.log(0)
            assert app.left() == []
    finally:
        app.end()


def test_a_bucket_that_creates_what_exists_is_refused(tmp_path, application, bucket):
    bucket.conditions = False
    app = InBucket(tmp_path, application, bucket)
    assert app.start().wait(timeout=60) == 1
    assert "creates objects that exist, although it is told not to (If-None-Match)" in app.log(0)


def test_what_a_killed_driver_left_of_a_journal_is_removed(run):
    app = run(phase=0)
    (app.journals / "app-7.removed").mkdir(parents=True)
    (app.journals / "app-7.removed" / "epoch-000001").write_bytes(b"x")
    (app.journals / "app-8.removed.kept").mkdir()
    assert app.start().wait(timeout=120) == 0, app.log(0)
    assert app.left() == ["app-8.removed.kept"]


@pytest.mark.parametrize("master", ["local[2]", "local-cluster[2,1,1024]"])
def test_a_folded_journal_is_resumed(run, master):
    app = run(master=master, phase=6, settings=["spark.firesteel.resume.foldSize=1"])
    app.start()
    for driver in range(2):
        app.wait_at_gate(6, 5)
        assert "Folding the journal from" in app.log(0)
        files = sorted(path.name for path in app.journals.glob("*/epoch-*"))
        assert files[0] > "epoch-000001", files
        app.processes[-1].kill()
        app.processes[-1].wait(timeout=120)
        before = app.ran()
        if driver == 1:
            app.open_gate()
        app.resume()
        wait_until(lambda: "7 of 8 results are those of earlier" in app.log(len(app.processes) - 1), "the resumed job", 60)
    assert app.processes[-1].wait(timeout=120) == 0, app.log(2)
    app.check(2)
    assert not {"1", "2", "3", "4"} & {task[0] for task in app.ran()[len(before):app.ran().index("7.0")]}


def test_it_is_resumed_again_and_again(run):
    app = run(phase=1)
    app.start()
    app.wait_at_gate(1, 0)
    for _ in range(3):
        app.processes[-1].kill()
        app.processes[-1].wait(timeout=120)
        app.resume()
        wait_until(lambda: "7 of 8 results are those" in app.log(len(app.processes) - 1), "the resumed driver", 60)
    app.open_gate()
    assert app.processes[-1].wait(timeout=120) == 0, app.log(3)
    app.check(3)


@pytest.mark.parametrize("master, phase, job, maps", [("local[2]", 6, 5, False), ("local-cluster[2,1,1024]", 3, 2, True)])
def test_a_stuck_driver_that_wakes_up_changes_nothing(run, tmp_path, master, phase, job, maps):
    app = run(master=master, phase=phase, settings=stored(tmp_path) if maps else ())
    if maps and not SANITIZED:  # its journal is slow, so that it starts executors before a write shows the newer epoch
        subprocess.run(["cc", "-shared", "-fPIC", "-o", str(tmp_path / "slow.so"), f"{TESTS}/slow_journal.c", "-ldl"], check=True)
        app.environment = {"LD_PRELOAD": str(tmp_path / "slow.so"), "SLOW_JOURNAL": str(tmp_path / "slow")}
    old = app.start()
    app.environment = {}
    app.wait_at_gate(phase, job, maps)
    old.send_signal(signal.SIGSTOP)
    app.open_gate()
    assert app.resume().wait(timeout=120) == 0, app.log(1)
    app.check(1)
    before = {path: path.stat().st_mtime_ns for path in app.folder.glob("*/*")}
    assert not maps or not list((tmp_path / "store").iterdir())
    os.makedirs(app.journals / "x", exist_ok=True)  # the place of the journal is gone: nothing of it may come back
    os.rmdir(app.journals / "x")
    (tmp_path / "slow").touch()
    old.send_signal(signal.SIGCONT)
    assert old.wait(timeout=60) == 1, app.log(0)
    assert "Another driver has taken over application" in app.log(0)
    assert before == {path: path.stat().st_mtime_ns for path in app.folder.glob("*/*")}


def test_changed_input_is_computed_again(run):
    app = run(phase=2)
    app.start()
    app.wait_at_gate(2, 1)
    app.processes[0].kill()
    app.processes[0].wait(timeout=120)
    LINES.append("one more line")
    try:
        with open(app.folder / "input", "a", encoding="utf-8") as file:
            file.write(LINES[-1] + "\n")
        app.open_gate()
        assert app.resume().wait(timeout=120) == 0, app.log(1)
        app.check(1)
    finally:
        LINES.pop()
    assert "everything is computed again: the input files of job 0 (count at resumed.c:" in app.log(1)


def test_strict_refuses_what_differs(run):
    app = run(phase=2, settings=["spark.firesteel.resume.strict=true"])
    app.start()
    app.wait_at_gate(2, 1)
    app.processes[0].kill()
    app.processes[0].wait(timeout=120)
    os.utime(app.folder / "input", (1, 1))
    app.open_gate()
    assert app.resume().wait(timeout=120) == 1
    assert "it cannot be resumed, and spark.firesteel.resume.strict is true: the input files of job 0" in app.log(1)


# Two threads run a job each, at the same time. That of the second one waits for the file "go". The first one adds a number to its rows.
THREADS = r"""
#include <firesteel/firesteel.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static fst_context *sc;
static int64_t sums[2], added;

static int add(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, x + *(const int64_t *)fst_captured(task));
        return 0;
}

static int wait_for_go(fst_task *task, int64_t x, fst_out *out)
{
        if (fst_task_partition(task) == 1)
                while (access("go", F_OK) != 0 && !fst_task_interrupted(task))
                        usleep(2000);
        fst_emit(out, x);
        return 0;
}

static fst_rdd *numbers[2];

static void *run(void *arg)
{
        fst_reduce(numbers[arg != NULL], fst_fn_sum, &sums[arg != NULL]);
        return NULL;
}

int main(int argc, char **argv)
{
        pthread_t thread;
        sc = fst_context_new("threads");
        added = atoi(getenv("ADDED"));
        numbers[0] = fst_map(fst_range_n(sc, 0, 10, 2), FST_WITH(add, added), FST_I64);
        numbers[1] = fst_map(fst_range_n(sc, 0, 10, 2), wait_for_go, FST_I64); /* RDDs have the same ids in each run */
        pthread_create(&thread, NULL, run, &thread);
        run(NULL);
        pthread_join(thread, NULL);
        printf("sums %ld %ld\n", (long)sums[0], (long)sums[1]);
        fflush(stdout);
        return fst_context_stop(sc);
}
"""


@pytest.mark.parametrize("added, strict", [(0, True), (1, True), (1, False)])
def test_overlapping_jobs(tmp_path, added, strict):
    """Strict mode takes them in any order, and fails at the end if one of them was another one."""
    (tmp_path / "threads.c").write_text(THREADS, encoding="utf-8")
    app = Run(tmp_path, tmp_path / "threads.c", "local[4]", settings=[f"spark.firesteel.resume.strict={str(strict).lower()}"])
    app.environment["ADDED"] = "0"
    first = app.start()
    try:
        wait_until(lambda: app.journals.exists() and app.left() and len([job for epoch in app.epochs() for job in results(epoch)]) == 3,
                   "the results of three tasks", 60)
        first.kill()
        first.wait(timeout=120)
        app.open_gate()
        app.environment["ADDED"] = str(added)
        status = app.resume().wait(timeout=60)
    finally:
        app.end()
    assert f"sums {45 + 10 * added} 45\n" in app.log(1), app.log(1)
    assert (status, "has ended without job" in app.log(1), app.left() == []) == (int(strict and added), bool(added), not (strict and added))
    assert sum("of 2 results are those of earlier" in line for line in app.log(1).splitlines()) == 2 - added


# Its first save is refused. It dies after the second one.
REFUSED = r"""
#include <firesteel/firesteel.h>
#include <firesteel/resume.h>
#include <signal.h>

int main(int argc, char **argv)
{
        fst_context *sc = fst_context_new("refused");
        fst_rdd *numbers = fst_range(sc, 0, 10);

        fst_save_as_text_file(numbers, argv[1]);
        fst_save_as_text_file(numbers, argv[2]);
        if (!fst_is_resumed(sc))
                raise(SIGKILL);
        return fst_context_stop(sc);
}
"""


def test_a_save_goes_on_although_one_before_it_was_refused(tmp_path):
    for name in ("journals", "old"):
        (tmp_path / name).mkdir()
    (tmp_path / "refused.c").write_text(REFUSED, encoding="utf-8")
    command = [f"{BIN}/spark-submit", "--master", "local[1]", "--conf", "spark.ui.enabled=false", "--conf",
               "spark.firesteel.resume.enabled=true", "--conf", f"spark.firesteel.resume.dir={tmp_path}/journals",
               f"{tmp_path}/refused.c", f"{tmp_path}/old", f"{tmp_path}/new"]
    first = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert first.returncode == -signal.SIGKILL, first.stderr
    app, = os.listdir(tmp_path / "journals")
    again = subprocess.run([f"{BIN}/firesteel", "resume", "--dir", f"{tmp_path}/journals", app], capture_output=True,
                           text=True, timeout=60, check=False)
    assert again.returncode == 1 and f"{tmp_path}/old already exists" in again.stderr, again.stderr
    assert f"An earlier driver had committed the output file:{tmp_path}/new" in again.stderr, again.stderr
    assert "damaged" not in again.stderr


# Its first driver dies in the job that a save runs before it writes, for the bounds of the sort.
SAMPLED = r"""
#include <firesteel/firesteel.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

static int pair(fst_task *task, int64_t x, fst_out *out)
{
        if (access("died", F_OK) != 0 && creat("died", 0600) >= 0)
                raise(SIGKILL);
        fst_emit(out, -x, x);
        return 0;
}

int main(int argc, char **argv)
{
        fst_context *sc = fst_context_new("sampled");
        fst_rdd *pairs = fst_map(fst_range_n(sc, 0, 10, 2), pair, FST_PAIR(I64, I64));
        fst_save_as_text_file(fst_sort_by_key(pairs, FST_ASCENDING), argv[1]);
        return fst_context_stop(sc);
}
"""


def test_strict_resumes_a_save_that_had_not_come_to_its_job(tmp_path):
    (tmp_path / "journals").mkdir()
    (tmp_path / "sampled.c").write_text(SAMPLED, encoding="utf-8")
    command = [f"{BIN}/spark-submit", "--master", "local[1]", "--conf", "spark.ui.enabled=false", "--conf",
               "spark.firesteel.resume.enabled=true", "--conf", f"spark.firesteel.resume.dir={tmp_path}/journals", "--conf",
               "spark.firesteel.resume.strict=true", f"{tmp_path}/sampled.c", f"{tmp_path}/out"]
    first = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, cwd=tmp_path)
    assert first.returncode == -signal.SIGKILL, first.stderr
    app, = os.listdir(tmp_path / "journals")
    again = subprocess.run([f"{BIN}/firesteel", "resume", "--dir", f"{tmp_path}/journals", app], capture_output=True,
                           text=True, timeout=60, check=False)
    assert again.returncode == 0, again.stderr
    assert f"An earlier driver had begun the output file:{tmp_path}/out" in again.stderr
    rows = [row for part in sorted((tmp_path / "out").glob("part-*")) for row in part.read_text().splitlines()]
    assert rows == [f"({x - 9},{9 - x})" for x in range(10)]


# Its first driver dies after the context has stopped: in main, or when its process exits.
STOPPED = r"""
#include <firesteel/firesteel.h>
#include <firesteel/resume.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void die(void)
{
        raise(SIGKILL);
}

int main(int argc, char **argv)
{
        if (strcmp(argv[2], "exits last") == 0 && access(argv[1], F_OK) < 0)
                atexit(die); /* runs after the handlers that the context adds */
        fst_context *sc = fst_context_new("stopped");
        fst_save_as_text_file(fst_range(sc, 0, 10), argv[1]);
        bool resumed = fst_is_resumed(sc);
        int status = fst_context_stop(sc);
        if (!resumed && strcmp(argv[2], "exits") == 0)
                atexit(die);
        else if (!resumed && strcmp(argv[2], "exits last") != 0)
                die();
        return strcmp(argv[2], "fails") == 0 ? 7 : status;
}
"""


@pytest.mark.parametrize("how, folded", [("ends", False), ("ends", True), ("fails", False), ("exits", False),
                                         ("exits last", False)])
def test_a_driver_that_died_after_its_context_had_stopped_finds_everything_done(tmp_path, how, folded):
    (tmp_path / "stopped.c").write_text(STOPPED, encoding="utf-8")
    command = [f"{BIN}/spark-submit", "--master", "local[1]", "--conf", "spark.ui.enabled=false", "--conf",
               "spark.firesteel.resume.enabled=true", "--conf", f"spark.firesteel.resume.dir={tmp_path}/journals",
               *(["--conf", "spark.firesteel.resume.foldSize=1"] if folded else []), f"{tmp_path}/stopped.c", f"{tmp_path}/out", how]
    first = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert first.returncode == -signal.SIGKILL, first.stderr
    app, = os.listdir(tmp_path / "journals")
    again = subprocess.run([f"{BIN}/firesteel", "resume", "--dir", f"{tmp_path}/journals", app], capture_output=True,
                           text=True, timeout=60, check=False)
    assert again.returncode == (7 if how == "fails" else 0) and "had committed the output" in again.stderr, again.stderr
    assert "Starting task" not in again.stderr
    assert os.listdir(tmp_path / "journals") == ([app] if how == "fails" else [])


# Its second version counts other rows, and saves in another order. The driver dies before it has saved to the third argument.
CHANGED = r"""
#include <firesteel/firesteel.h>
#include <signal.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
        fst_context *sc = fst_context_new("changed");
        for (int i = 1; i < argc; i++) {
                const char *path = argv[VERSION == 1 ? i : argc - i];
                if (i == DIES_AT)
                        raise(SIGKILL);
                fst_save_as_text_file(fst_range_n(sc, 0, 10 * VERSION, 2), path);
        }
        return fst_context_stop(sc);
}
"""


def test_a_changed_program_writes_its_outputs_again(tmp_path):
    names, source = ("a", "b", "c"), tmp_path / "changed.c"
    (tmp_path / "journals").mkdir()

    def run(version, dies_at):
        source.write_text(f"#define VERSION {version}\n#define DIES_AT {dies_at}\n{CHANGED}", encoding="utf-8")
        command = [f"{BIN}/spark-submit", "--master", "local[1]", "--conf", "spark.ui.enabled=false", "--conf",
                   "spark.firesteel.resume.enabled=true", "--conf", f"spark.firesteel.resume.dir={tmp_path}/journals", "--conf",
                   "spark.firesteel.resume.id=app-1", str(source), *(str(tmp_path / name) for name in names)]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    def rows(name):
        return sum(len(path.read_text().split()) for path in (tmp_path / name).glob("part-*"))

    assert run(1, dies_at=3).returncode == -signal.SIGKILL and (rows("a"), rows("b")) == (10, 10)
    (tmp_path / "c").mkdir()  # another application's
    refused = run(2, dies_at=2)
    assert refused.returncode == -signal.SIGKILL and f"{tmp_path}/c already exists" in refused.stderr, refused.stderr
    (tmp_path / "c").rmdir()
    killed = run(2, dies_at=3)
    assert killed.returncode == -signal.SIGKILL and (rows("c"), rows("b"), rows("a")) == (20, 20, 10), killed.stderr
    done = run(2, dies_at=0)
    assert done.returncode == 0 and "damaged" not in done.stderr, done.stderr
    assert (rows("c"), rows("b"), rows("a")) == (20, 20, 20)
    assert not list(tmp_path.glob("*/_temporary")) and all((tmp_path / name / "_SUCCESS").exists() for name in names)


def test_refuses_wrong_use(run):
    app = run()
    plain = [word for word in app.command if "resume.dir" not in word]
    plain.pop(plain.index("--conf", plain.index("spark.firesteel.resume.enabled=true")))
    done = subprocess.run(plain, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1 and "spark.firesteel.resume.enabled is true: set spark.firesteel.resume.dir" in done.stderr
    done = subprocess.run([f"{BIN}/firesteel", "resume", f"--dir={app.folder}", "nobody"], capture_output=True, text=True, timeout=60,
                          check=False)
    assert done.returncode == 1 and f"no journal of application nobody in {app.folder}" in done.stderr, done.stderr
    for words, status, text in ((["nobody"], 1, "no journal of application nobody in"),
                                (["../x"], 1, "'../x' is not the id of an application"), ([], 2, "an application is missing"),
                                (["a", "b"], 2, "more than one application is named: b"),
                                (["a", "--conf", "k=v"], 2, "again with --conf spark.firesteel.resume.id=APPLICATION, not: --conf")):
        done = subprocess.run([f"{BIN}/firesteel", "resume", "--dir", str(app.folder), *words], capture_output=True,
                              text=True, timeout=60, check=False)
        assert done.returncode == status and text in done.stderr, done.stderr


def test_warns_of_a_journal_id_without_a_journal(run):
    app = run(phase=0, settings=["spark.firesteel.resume.enabled=false", "spark.firesteel.resume.id=app-1"])
    assert app.start().wait(timeout=120) == 0, app.log(0)
    assert app.log(0).count("WARN DriverResume: spark.firesteel.resume.id has no effect: set") == 1, app.log(0)
    assert not app.journals.exists()


def test_the_printed_command_resumes_and_leaves_the_shell(run):
    app = run(phase=1)
    app.start()
    app.wait_at_gate(1, 0)
    app.processes[0].kill()
    app.processes[0].wait(timeout=120)
    line = subprocess.run([f"{BIN}/firesteel", "resume", "--print", f"--dir={app.journals}", app.id()], capture_output=True,
                          text=True, timeout=60, check=True).stdout
    app.open_gate()
    assert app.start(["bash", "-c", f"{line}echo the shell has status $?"]).wait(timeout=120) == 0, app.log(1)
    app.check(1)
    assert app.log(1).endswith("the shell has status 0\n")


# A driver that died after it took its epoch, and before its first record was durable.
@pytest.mark.parametrize("size", [0, 20, len(FIRST_LINE), len(FIRST_LINE) + 30])
def test_a_driver_that_died_before_its_first_record_left_nothing(run, size):
    app = run(phase=0)
    place = app.journals / "app-1"
    place.mkdir(parents=True)
    (place / "epoch-000001").write_bytes((FIRST_LINE + b"\xf5fdj" + b"\0" * 100)[:size])
    done = subprocess.run([f"{BIN}/firesteel", "resume", "--dir", str(app.journals), "app-1"], capture_output=True,
                          text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"{place} is empty: the driver died before it began. Run the application again" in done.stderr
    if size == len(FIRST_LINE):  # its next driver begins the application
        again = [*app.command[:3], "--conf", "spark.firesteel.resume.id=app-1", *app.command[3:]]
        assert app.start(again).wait(timeout=120) == 0, app.log(0)
        app.check(0, "resumed 0")


def test_a_second_driver_that_died_before_its_first_record_changes_nothing(run):
    app = run(phase=1)
    app.start()
    app.wait_at_gate(1, 0)
    app.processes[0].kill()
    app.processes[0].wait(timeout=120)
    (app.journals / app.id() / "epoch-000002").write_bytes(FIRST_LINE)
    app.open_gate()
    assert app.resume().wait(timeout=120) == 0, app.log(1)
    app.check(1)
    assert "as its driver number 3: 1 jobs and 7 results of tasks" in app.log(1)


def test_arguments_with_the_path_of_a_secret_are_journaled(run, tmp_path):
    (tmp_path / "secret").write_text("0123456789abcdef" * 2)
    app = run(phase=1, settings=["spark.authenticate=true", f"spark.authenticate.secret.file={tmp_path}/secret"])
    app.start()
    app.wait_at_gate(1, 0)
    app.processes[0].kill()
    app.processes[0].wait(timeout=120)
    app.open_gate()
    assert app.resume().wait(timeout=120) == 0, app.log(1)
    app.check(1)


def test_arguments_with_a_secret_are_not_journaled(run):
    app = run(phase=1, settings=["spark.hadoop.my.password=hush"])
    app.start()
    app.wait_at_gate(1, 0)
    app.processes[0].kill()
    app.processes[0].wait(timeout=120)
    epoch = app.journals / app.id() / "epoch-000001"
    assert b"hush" not in epoch.read_bytes() and epoch.stat().st_mode & 0o777 == 0o600
    assert app.resume().wait(timeout=60) == 1
    assert f"--conf spark.firesteel.resume.id={app.id()}" in app.log(1) and "give secrets in a file" in app.log(1)
    app.open_gate()
    again = [*app.command[:3], "--conf", f"spark.firesteel.resume.id={app.id()}", *app.command[3:]]
    assert app.start(again).wait(timeout=120) == 0, app.log(2)
    app.check(2)
