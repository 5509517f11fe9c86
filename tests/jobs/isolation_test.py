"""User code that crashes, leaks or never ends: consequences and messages, with tasks on threads and in processes."""
import glob
import os
import re
import signal
import socket
import subprocess
import time
import uuid

import pytest

from folders import BIN
from sanitizers import SANITIZED, TSAN

CLUSTER, LOCAL = "local-cluster[2,1,1024]", "local[2,4]"
MASTERS = [CLUSTER, pytest.param(LOCAL, marks=pytest.mark.skipif(TSAN, reason="a driver has threads when it forks task processes"))]

TRIALS = """
#include <firesteel/firesteel.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { POISON = 777, TABLE = 50000 };

struct how { char mode[16], mark[200]; };
struct shared { fst_broadcast table; fst_accumulator seen; };

static int dive(int depth)
{
        volatile char frame[4096];
        frame[0] = (char)depth;
        return depth < 0 ? 0 : dive(depth + 1) + frame[0];
}

static void *grow(int64_t most)
{
        volatile char *p = NULL;
        for (int64_t mib = 0; mib < most; mib++) {
                p = malloc(1 << 20);
                for (int i = 0; i < 1 << 20; i += 4096)
                        p[i] = 1;
        }
        return (void *)p;
}

static void mark(const struct how *how)
{
        FILE *f = fopen(how->mark, "a");
        if (f) {
                fputs("x", f);
                fclose(f);
        }
}

/* Without end, once it is known who does so. A later attempt aborts. */
static void loop(const struct how *how)
{
        char path[sizeof(how->mark) + 8], partial[sizeof(path) + 8];
        snprintf(path, sizeof(path), "%s.pid", how->mark);
        if (access(path, F_OK) == 0)
                abort();
        snprintf(partial, sizeof(partial), "%s.new", path);
        FILE *f = fopen(partial, "w");
        if (!f)
                abort();
        fprintf(f, "%d", (int)getpid());
        fclose(f);
        rename(partial, path);
        for (volatile int64_t i = 0;; i++)
                ;
}

/* Until the process that loops is gone, or a minute. */
static void outlive(const struct how *how)
{
        char path[sizeof(how->mark) + 8];
        int pid = 0;
        snprintf(path, sizeof(path), "%s.pid", how->mark);
        for (int ms = 0; ms < 60000; ms++, usleep(1000)) {
                FILE *f = pid ? NULL : fopen(path, "r");
                if (f && fscanf(f, "%d", &pid) != 1)
                        abort();
                if (f)
                        fclose(f);
                if (pid && kill(pid, 0) != 0)
                        break;
        }
}

static int64_t touch(fst_task *task, int64_t x)
{
        const struct how *how = fst_captured(task);
        char mode = how->mode[0];
        if (x != POISON || mode == 'q')
                return x;
        mark(how);
        if (mode == 's')
                *(volatile int *)16 = 1;
        if (mode == 'a')
                abort();
        if (mode == 'e')
                exit(0);
        if (mode == 'd')
                return dive(0);
        if (mode == 'g')
                return grow(1 << 20) != NULL;
        if (mode == 'h' && grow(200))
                while (!fst_task_interrupted(task))
                        usleep(1000);
        if (mode == 'l')
                loop(how);
        return x;
}

static int64_t look(fst_task *task, int64_t x)
{
        const struct shared *s = fst_captured(task);
        fst_bytes table = fst_broadcast_value(task, s->table);
        const char *path = fst_file(task, "number.txt");
        char line[32] = "";
        FILE *f = path ? fopen(path, "r") : NULL;
        if (!f)
                return 0;
        if (!fgets(line, sizeof(line), f))
                line[0] = 0;
        fclose(f);
        fst_accumulate(task, s->seen, 1);
        return ((const int64_t *)(const void *)table.data)[x % TABLE] + atoi(line);
}

static int by_rest(fst_task *task, int64_t x, fst_out *out) { fst_emit(out, x % 100, x); return 0; }

/* The first time that this is called, wherever that is, it crashes. */
static int64_t stumble(fst_task *task, int64_t key, int64_t sum)
{
        const struct how *how = fst_captured(task);
        int fd = open(how->mark, O_WRONLY | O_CREAT | O_EXCL, 0600);
        if (fd >= 0) {
                if (write(fd, "x", 1) != 1)
                        abort();
                *(volatile int *)16 = 1;
        }
        return sum;
}

static int64_t announce(fst_task *task, int64_t x)
{
        mark(fst_captured(task));
        return x;
}

/* Incompressible enough: 200 bytes a row. */
static int with_text(fst_task *task, int64_t x, fst_out *out)
{
        char text[201];
        uint64_t state = (uint64_t)x * 0x9e3779b97f4a7c15u + 1;
        for (int i = 0; i < 200; i++) {
                state = state * 6364136223846793005u + 1442695040888963407u;
                text[i] = (char)('!' + (state >> 33) % 90);
        }
        fst_emit(out, x, ((fst_bytes){text, 200}));
        return 0;
}

static int length_of(fst_task *task, int64_t key, fst_bytes text, fst_out *out)
{
        fst_emit(out, (int64_t)text.len);
        return 0;
}

/* Slices, a broadcast variable, a file, an accumulator, a shuffle, and a partition that is kept. */
static void everything(fst_context *sc, const char *file, const struct how *how)
{
        static int64_t numbers[2 * TABLE];
        int64_t sum = 0, pairs = 0, again = 0;
        for (int i = 0; i < 2 * TABLE; i++)
                numbers[i] = i;
        struct shared shared = {.table = fst_broadcast_bytes(sc, numbers, sizeof(numbers) / 2),
                                .seen = fst_accumulator_i64(sc, "seen")};
        fst_add_file(sc, file);
        fst_rdd *rows = fst_map(fst_parallelize_n(sc, numbers, 2 * TABLE, 4), FST_WITH(look, shared), FST_I64);
        fst_reduce(rows, fst_fn_sum, &sum);
        fst_rdd *kept = fst_cache(fst_map(fst_range_n(sc, 0, 40, 4), FST_WITH(announce, *how), FST_I64));
        fst_count(fst_reduce_by_key(fst_map(kept, by_rest, FST_PAIR(I64, I64)), fst_fn_sum), &pairs);
        fst_reduce(kept, fst_fn_sum, &again);
        printf("%lld %lld %lld %lld\\n", (long long)sum, (long long)fst_accumulator_totals_i64(sc, shared.seen).sum,
               (long long)pairs, (long long)again);
}

static fst_context *sc;
static struct how how;

static void *cancel(void *unused)
{
        while (access(how.mark, F_OK) != 0)
                usleep(1000);
        fst_cancel_all_jobs(sc);
        return NULL;
}

int main(int argc, char **argv)
{
        int64_t n = 0;
        snprintf(how.mode, sizeof(how.mode), "%s", argv[1]);
        snprintf(how.mark, sizeof(how.mark), "%s", argv[2]);
        sc = fst_context_new("trials");
        if (how.mode[0] == 'A') {
                everything(sc, argv[3], &how);
                return fst_context_stop(sc);
        }
        if (how.mode[0] == 'B') {
                fst_rdd *rows = fst_flat_map(fst_range_n(sc, 0, 200000, 4), with_text, FST_PAIR(I64, BYTES));
                fst_rdd *lengths = fst_flat_map(fst_partition_by(rows, 3), length_of, FST_I64);
                fst_reduce(lengths, fst_fn_sum, &n);
                printf("%lld\\n", (long long)n);
                return fst_context_stop(sc);
        }
        if (how.mode[0] == 'O') {
                fst_rdd *sums = fst_reduce_by_key(fst_map(fst_range_n(sc, 0, 1000, 8), by_rest, FST_PAIR(I64, I64)), fst_fn_sum);
                fst_reduce(fst_map(sums, FST_WITH(stumble, how), FST_I64), fst_fn_sum, &n);
                printf("%lld\\n", (long long)n);
                return fst_context_stop(sc);
        }
        pthread_t thread;
        if (argc > 3)
                fst_set_interrupt_on_cancel(sc, argv[3][0] == 'i');
        if (argc > 3)
                pthread_create(&thread, NULL, cancel, NULL);
        int r = fst_count(fst_map(fst_range_n(sc, 0, 1000, 8), FST_WITH(touch, how), FST_I64), &n);
        printf("%lld\\n", r ? -1 : (long long)n);
        fflush(stdout);
        if (argc > 3)
                pthread_join(thread, NULL);
        if (argc > 3 && argv[3][0] == 'w')
                outlive(&how);
        /* The application goes on with what is left. */
        r = fst_count(fst_range_n(sc, 0, 1000, 8), &n);
        printf("%lld\\n", r ? -1 : (long long)n);
        return fst_context_stop(sc);
}
"""

REPORT = (r"task \d+ in stage 0\.0 \(partition 6, attempt {}\) crashed in touch in trials\.so: {}")
CRASHES = {
    "segfault": r"SIGSEGV, invalid memory access at address 0x10, code at trials\.so\+0x[0-9a-f]+",
    "abort": r"SIGABRT, abort\(\) was called",
    "exit": r"it called exit\(0\)",
    "deep": r"SIGSEGV, the stack is full",
}
ENDS = {
    "segfault": r"killed by signal 11 \(SIGSEGV\)",
    "abort": r"killed by signal 6 \(SIGABRT\)",
    "exit": "exited with status 50",
    "deep": r"killed by signal 11 \(SIGSEGV\)",
}


class Done:
    """The output and the remains of an ended application."""

    def __init__(self, out, err, code, marks, processes, files):
        self.out, self.err, self.code = out.split(), err, code
        self.marks, self.processes, self.files = marks, processes, files

    def lost_executors(self):
        return len(re.findall(r"TaskSchedulerImpl: Lost executor", self.err))


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("isolation")
    (folder / "trials.c").write_text(TRIALS)
    subprocess.run([os.path.join(BIN, "firesteel"), "compile", "trials.c", "-o", "trials.so"], cwd=folder, check=True,
                   env=dict(os.environ, XDG_CACHE_HOME=str(folder / "cache")))
    return folder / "trials.so"


def marked_processes(mark):
    """Processes with the mark in their environment: names by pid."""
    found = {}
    for environ in glob.glob("/proc/[0-9]*/environ"):
        try:
            with open(environ, "rb") as f:
                if mark.encode() in f.read():
                    with open(environ.replace("environ", "comm"), encoding="utf-8") as name:
                        found[int(environ.split("/")[2])] = name.read().strip()
        except OSError:
            pass
    return found


def wait_for(condition):
    end = time.time() + 120
    while not condition() and time.time() < end:
        time.sleep(0.01)
    return condition()


def submission(program, tmp_path, mode, *words, master=CLUSTER, isolation="process", **conf):
    """Returns the command, its environment, and the mark in it."""
    mark = str(uuid.uuid4())
    kept = {k: v for k, v in os.environ.items() if not k.startswith("SPARK_")}
    local = tmp_path / "local"
    local.mkdir(exist_ok=True)
    (tmp_path / "mark").unlink(missing_ok=True)
    command = [os.path.join(BIN, "spark-submit"), "--master", master]
    for key, value in {"spark.firesteel.task.isolation": isolation, "spark.local.dir": local, **conf}.items():
        command += ["--conf", f"{key}={value}"]
    return ([*command, program, mode, tmp_path / "mark", *words],
            dict(kept, SPARK_CONF_DIR=str(tmp_path), LC_ALL="C", FIRESTEEL_TRIAL=mark), mark)


@pytest.fixture
def run(program, tmp_path):
    def go(mode, *words, **options):
        command, environment, mark = submission(program, tmp_path, mode, *words, **options)
        said = tmp_path / "mark"
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False)
        wait_for(lambda: not marked_processes(mark))
        left = [os.path.join(d, f) for d, _, fs in os.walk(tmp_path / "local") for f in fs]
        return Done(done.stdout, done.stderr, done.returncode, said.read_text() if said.exists() else "",
                    list(marked_processes(mark).values()), left)
    return go


@pytest.mark.parametrize("master", MASTERS)
@pytest.mark.parametrize("mode", CRASHES)
def test_a_crash_in_a_worker_process_costs_an_attempt(run, master, mode):
    done = run(mode, master=master)
    assert done.out == ["-1", "1000"], done.err
    last = f"failed 4 times, most recent failure: Lost task 6.3 in stage 0.0 .*{REPORT.format(3, CRASHES[mode])}.*{ENDS[mode]}"
    assert re.search(last, done.err), done.err
    assert done.lost_executors() == 0
    assert done.marks == "xxxx"
    assert (done.processes, done.files) == ([], [])


@pytest.mark.parametrize("mode", CRASHES)
def test_a_crash_on_a_thread_costs_one_executor(run, mode):
    """The first attempt of the crashing row ends its executor. Its other attempts run in processes, other tasks do not."""
    done = run(mode, isolation="none")
    assert done.out == ["-1", "1000"], done.err
    assert re.search("Lost executor . on .*Command exited with code .*" + REPORT.format(0, CRASHES[mode]), done.err)
    for attempt in 1, 2, 3:
        assert re.search(REPORT.format(attempt, CRASHES[mode]) + ".*; its task process (was )?" + ENDS[mode], done.err)
    assert done.lost_executors() == 1
    assert done.marks == "xxxx"
    assert done.processes == []


@pytest.mark.parametrize("isolation", ["none", "process"])
def test_after_one_crash_the_result_is_right(run, isolation):
    """On a thread, map outputs are lost with the executor and computed again."""
    done = run("Once", isolation=isolation)
    assert (done.code, done.out) == (0, ["499500"]), done.err
    assert done.lost_executors() == (isolation == "none")
    assert done.marks == "x"
    assert done.processes == []


def test_a_crash_of_a_local_master_ends_the_application(run):
    done = run("segfault", master=LOCAL, isolation="none")
    assert (done.code, done.out) == (-11, [])
    assert re.search(REPORT.format(0, CRASHES["segfault"]), done.err)
    assert "spark.firesteel.task.isolation=process" in done.err
    assert done.processes == []


@pytest.mark.parametrize("master", MASTERS)
def test_an_endless_loop_in_a_worker_ends_when_cancelling_interrupts(run, master):
    done = run("loop", "interrupt", master=master)
    assert done.out == ["-1", "1000"], done.err
    assert done.lost_executors() == 0
    assert (done.processes, done.files) == ([], [])


REAPER = {"spark.task.reaper.enabled": "true", "spark.task.reaper.pollingInterval": "100ms", "spark.task.reaper.killTimeout": "500ms"}


@pytest.mark.parametrize("master", MASTERS)
def test_the_reaper_ends_a_worker(run, master):
    # The reaper checks thirty times before it ends the task, so that a slow machine checks at least once.
    done = run("loop", "wait", master=master, **{**REAPER, "spark.task.reaper.killTimeout": "3s"})
    assert done.out == ["-1", "1000"], done.err
    assert re.search(r"Killed task \d+ is still running after \d+ ms\. It is in touch in trials\.so, in task process \d+", done.err)
    assert "killing its task process" in done.err
    assert done.lost_executors() == 0, done.err
    assert (done.processes, done.files) == ([], [])


def test_the_reaper_ends_an_executor_whose_thread_loops(run):
    done = run("loop", "wait", isolation="none", **REAPER)
    assert done.out == ["-1", "1000"], done.err
    assert re.search(r"Lost executor . on .*: Command exited with code 50: Killing executor because killed task \d+ could not be "
                     r"stopped within 500 ms \(spark\.task\.reaper\.killTimeout\)\. It is in touch in trials\.so, on thread", done.err)
    assert done.lost_executors() == 1
    assert done.processes == []


def next_report(slot):
    """Waits until the slot of an executor with fault points is about to report a batch of tasks."""
    while slot.recv(256).split()[2] != b"reduce":
        slot.send(b".")


def test_the_reaper_forgets_a_task_that_is_killed_while_it_is_reported(program, tmp_path):
    command, environment, mark = submission(program, tmp_path, "quiet", "wait", master="local-cluster[1,1,1024]", isolation="none",
                                            **{**REAPER, "spark.task.reaper.killTimeout": "100s"})
    log = tmp_path / "log"
    with socket.socket(socket.AF_UNIX) as points, open(log, "w", encoding="utf-8") as errors:
        points.bind(str(tmp_path / "points"))
        points.listen()
        points.settimeout(120)
        with subprocess.Popen(command, cwd=tmp_path, env=dict(environment, FIRESTEEL_FAULT_POINTS=str(tmp_path / "points")), text=True,
                              stdout=subprocess.PIPE, stderr=errors) as application:
            with points.accept()[0] as loop:
                loop.recv(256)  # it registers
                loop.send(b".")
                with points.accept()[0] as slot:
                    next_report(slot)
                    (tmp_path / "mark.pid").write_text(str(2**22 + 1))  # no process has this id
                    (tmp_path / "mark").touch()  # the application cancels its job
                    assert wait_for(lambda: "Executor is trying to kill task" in log.read_text()), log.read_text()
                    slot.send(b".")
                    next_report(slot)  # of the next job, so the driver knows the outcomes of the first one
                    before = len(log.read_text())
                    time.sleep(0.5)  # the reaper looks each 100 ms
            points.close()  # the next ones stop nowhere
            out, _ = application.communicate(timeout=120)
    assert out.split() == ["-1", "1000"], log.read_text()
    assert "is still running" not in log.read_text()[before:]
    assert wait_for(lambda: not marked_processes(mark))


@pytest.mark.skipif(SANITIZED, reason="a sanitizer has memory beside what a task process may allocate")
def test_a_leak_in_a_worker_fails_the_task_by_name(run):
    done = run("grow", **{"spark.executor.memory": "64m", "spark.executor.memoryOverhead": "64m", "spark.task.maxFailures": "2"})
    assert done.out == ["-1", "1000"], done.err
    assert re.search(REPORT.format(1, "SIGSEGV") + r".*it had used \d+ MiB of the 128 MiB that a task process may allocate: raise "
                     "spark.executor.memory", done.err), done.err
    assert done.lost_executors() == 0
    assert (done.processes, done.files) == ([], [])


def test_memory_beyond_the_limit_fails_the_task_by_name(run):
    """On a thread, where the kernel would kill the executor without a message."""
    done = run("hoard", isolation="none",
               **{"spark.executor.memory": "64m", "spark.executor.memoryOverhead": "64m", "spark.task.maxFailures": "1"})
    assert done.out == ["-1", "1000"], done.err
    held = re.search(r"Task 6 in stage 0\.0 failed 1 times.*: task 6 in touch in trials\.so fails because memory is short: it holds .* and "
                     r"this executor (\d+) MiB, of the 128 MiB that spark\.executor\.memory .*allows; raise", done.err)
    assert held and 128 < int(held[1]) < 400, done.err
    assert done.lost_executors() == 0
    assert done.processes == []


def test_everything_that_tasks_use_is_there_in_workers(run, tmp_path):
    (tmp_path / "number.txt").write_text("5\n")
    expected = run("All", tmp_path / "number.txt", isolation="none", master=LOCAL)
    assert expected.out[1:] == ["100000", "40", "780"], expected.err
    for master in [CLUSTER] if TSAN else [CLUSTER, LOCAL]:
        done = run("All", tmp_path / "number.txt", master=master)
        assert (done.out, done.code) == (expected.out, 0), done.err
        assert done.marks == 40 * "x", "what one worker has kept, others read"
        assert (done.processes, done.files) == ([], [])


@pytest.mark.parametrize("master", MASTERS)
def test_map_outputs_of_workers_are_encrypted_files(run, master):
    """40 MB of rows in processes with less memory, which export the files that they spilled."""
    memory = {"spark.executor.memory": "48m", "spark.driver.memory": "48m", "spark.io.encryption.enabled": "true"}
    done = run("Big", master=master, **memory)
    assert (done.out, done.code) == (["40000000"], 0), done.err
    assert (done.processes, done.files) == ([], [])


@pytest.mark.parametrize("victim, failures", [("spark-submit", 1), ("firesteel", 1), ("firesteel-zygote", 2)])
def test_nothing_outlives_who_started_it(program, tmp_path, victim, failures):
    """Driver, executor or zygote are killed while a function loops in a task process: all descendants end at once."""
    command, environment, mark = submission(program, tmp_path, "loop", master="local-cluster[1,1,1024]",
                                            **{"spark.task.maxFailures": failures})
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as app:
        try:
            assert wait_for((tmp_path / "mark").exists)
            before = marked_processes(mark)
            assert sorted(before.values()) == ["firesteel", "firesteel-worke", "firesteel-zygot", "spark-submit"]
            os.kill(next(pid for pid, name in before.items() if name == victim[:15]), signal.SIGKILL)
            if victim == "spark-submit":
                assert wait_for(lambda: not marked_processes(mark))
            out, err = app.communicate(timeout=120)
        finally:
            app.kill()  # when an assertion fails: the function loops forever
    gone = set(before) - {app.pid}
    assert wait_for(lambda: not gone & set(marked_processes(mark)))
    if victim != "spark-submit":
        assert out.split() == ["-1", "1000"], err
    if victim == "firesteel-zygote":
        assert re.search("Lost executor 0 on .*: Command exited with code 1: Exit as process .* has ended", err), err


def test_what_isolation_cannot_be_is_refused(run):
    done = run("ok", isolation="thread")
    assert done.code != 0
    assert "spark.firesteel.task.isolation=thread is invalid: use process" in done.err
