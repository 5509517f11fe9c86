"""local-cluster as a user sees it: the results of local mode, reported failures, and no files or processes left at any end."""
import os
import re
import signal
import socket
import subprocess
import sys
import time

import pytest

from folders import BIN, TOP

CLUSTER = "local-cluster[2,1,1024]"

APPLICATION = """
#include <firesteel/firesteel.h>
#include <stdio.h>
#include <unistd.h>

static int refuse(fst_task *task, fst_bytes line, fst_out *out)
{
        return fst_fail(task, "\\"%.*s\\" will not do", (int)line.len, line.data);
}
static int wait(fst_task *task, fst_bytes line, fst_out *out)
{
        while (!fst_task_interrupted(task))
                usleep(1000);
        return 0;
}
static int hang(fst_task *task, fst_bytes line, fst_out *out)
{
        while (pause() < 0)
                continue;
        return 0;
}
static int same(fst_task *task, fst_bytes line, fst_out *out) { fst_emit(out, line); return 0; }

int main(int argc, char **argv)
{
        static const struct {
                const char *name;
                int (*f)(fst_task *, fst_bytes, fst_out *);
        } modes[] = {{"refuse", refuse}, {"wait", wait}, {"hang", hang}, {"same", same}};
        fst_context *sc = fst_context_new("cluster");
        int64_t count = -1;
        for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
                if (strcmp(argv[1], modes[i].name) == 0 &&
                    fst_count(fst_flat_map(fst_text_file_n(sc, argv[2], 2), modes[i].f, FST_BYTES), &count) == 0)
                        printf("%ld\\n", (long)count);
        return fst_context_stop(sc);
}
"""


class World:
    def __init__(self, folder):
        self.folder, self.count = folder, 0
        (folder / "conf").mkdir()
        (folder / "in.txt").write_text("one\ntwo\nthree\n")
        (folder / "app.c").write_text(APPLICATION)

    def start(self, application, *words, master=CLUSTER, conf=(), **options):
        """Starts the process. Its mark identifies its executors, and their files are below its local directory."""
        self.count += 1
        self.mark, self.local = f"mark{self.count}-{os.getpid()}", self.folder / f"local{self.count}"
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK_", "MASTER"))}
        command = [os.path.join(BIN, "spark-submit"), "--master", master, "--conf", f"spark.local.dir={self.local}"]
        for setting in conf:
            command += ["--conf", setting]
        return subprocess.Popen(
            [*command, str(application), *map(str, words)], cwd=self.folder, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
            env=dict(kept, SPARK_CONF_DIR=str(self.folder / "conf"), CLUSTER_TEST=self.mark, **options))

    def run(self, *words, timeout=120, **options):
        process = self.start(*words, **options)
        try:
            out, errors = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            for pid in self.processes():
                os.kill(pid, signal.SIGKILL)
            raise
        return subprocess.CompletedProcess(words, process.returncode, out, errors)

    def processes(self):
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ", "rb") as variables:
                    if f"CLUSTER_TEST={self.mark}".encode() in variables.read().split(b"\0"):
                        found.append(int(pid))
            except OSError:
                pass
        return found

    def assert_nothing_left(self):
        until = time.monotonic() + 60
        while self.processes() and time.monotonic() < until:
            time.sleep(0.02)
        assert self.processes() == []
        assert not self.local.exists() or list(self.local.iterdir()) == []


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return World(tmp_path_factory.mktemp("cluster"))


def links(folder):
    (folder / "links.txt").write_text("".join(f"p{i} p{i * i * k % 37}\n" for i in range(100) for k in range(1, 2 + i % 5)))
    return folder / "links.txt"


def measured(folder):
    (folder / "stations.txt").write_text("".join(f"s{i % 7};{i % 31}.5\n" for i in range(500)))
    return folder / "stations.txt"


@pytest.mark.parametrize("example, words", [
    ("pagerank", lambda folder: (links(folder), 4)),
    ("stations", lambda folder: (measured(folder), -20, 50)),
    ("spark_pi", lambda folder: (4,)),
    ("logistic_regression", lambda folder: (3,)),
    ("multi_broadcast", lambda folder: (4, 100000)),
    ("transitive_closure", lambda folder: (3,)),
    ("skewed_group_by", lambda folder: (3, 100)),  # so few random keys are hardly ever equal
])
def test_examples_print_what_they_print_locally(world, tmp_path, example, words):
    words = words(tmp_path)
    application = os.path.join(TOP, "examples", f"{example}.c")
    local = world.run(application, *words, master="local[2]")
    cluster = world.run(application, *words)
    assert local.returncode == 0 and cluster.returncode == 0, cluster.stderr
    if example == "spark_pi":
        assert re.fullmatch(r"Pi is roughly 3\.1[34]\d*\n", cluster.stdout)
    else:
        assert cluster.stdout == local.stdout
    world.assert_nothing_left()


def test_stages_that_are_broadcast_compute_the_same(world, tmp_path):
    application, words = os.path.join(TOP, "examples/pagerank.c"), (links(tmp_path), 2)
    sent = world.run(application, *words)
    broadcast = world.run(application, *words, conf=["spark.shuffle.mapOutput.minSizeForBroadcast=0"])
    assert sent.returncode == 0 and sent.stdout and broadcast.stdout == sent.stdout, broadcast.stderr
    assert "is broadcast to" in broadcast.stderr and "is broadcast to" not in sent.stderr
    world.assert_nothing_left()


def test_saved_lines_are_those_of_local_mode(world, tmp_path):
    (tmp_path / "text").write_text("".join(" ".join(f"w{i * i % n}" for n in range(2, 9)) + "\n" for i in range(300)))
    found = {}
    for master in ("local[2]", CLUSTER):
        done = world.run(os.path.join(TOP, "examples/wordcount.c"), tmp_path / "text", tmp_path / master, master=master)
        assert done.returncode == 0, done.stderr
        assert (tmp_path / master / "_SUCCESS").exists()
        found[master] = sorted(line for part in (tmp_path / master).glob("part-*") for line in part.open())
    assert found["local[2]"] == found[CLUSTER] and found[CLUSTER]


@pytest.mark.parametrize("conf, times", [((), 4), (("spark.task.maxFailures=2",), 2)])
def test_a_function_that_fails_is_tried_again_and_named(world, conf, times):
    done = world.run("app.c", "refuse", "in.txt", conf=conf)
    assert done.returncode == 1
    assert re.search(rf"failed {times} times, most recent failure: Lost task \d\.{times - 1} in stage 0\.0 .*"
                     r'executor \d\): refuse in \S+: "\w+" will not do', done.stderr), done.stderr[-1500:]
    world.assert_nothing_left()


# -------------------------------------------------------------------------------------------------- the driver's end

def wait_for_tasks(world, process):
    """Waits until a task runs on each executor, and returns the standard error so far."""
    seen, lines = 0, []
    while seen < 2:
        line = process.stderr.readline()
        assert line, "".join(lines)
        lines.append(line)
        seen += "Starting task" in line


@pytest.mark.parametrize("mode, sent, status", [
    ("wait", signal.SIGINT, 130), ("wait", signal.SIGTERM, 143), ("wait", signal.SIGKILL, -9),
    ("hang", signal.SIGINT, 130), ("hang", signal.SIGKILL, -9),
])
def test_executors_end_with_their_driver(world, mode, sent, status):
    process = world.start("app.c", mode, "in.txt")
    wait_for_tasks(world, process)
    assert len(world.processes()) >= 3
    process.send_signal(sent)
    process.communicate(timeout=60)  # their tasks run until somebody ends them
    assert process.returncode == status
    world.assert_nothing_left()


# ------------------------------------------------------------------------------------------- executors that cannot be

@pytest.mark.parametrize("conf, message", [
    ("spark.executor.memory=2g", "Asked to launch cluster with 1024 MiB/worker but requested 2048 MiB/executor"),
    ("spark.executor.cores=2", "spark.executor.cores is 2, but each worker has 1 core"),
    ("spark.executor.memory=much", "Executor memory must be a positive number"),
])
def test_what_no_worker_can_give_is_refused(world, conf, message):
    done = world.run("app.c", "same", "in.txt", conf=[conf])
    assert done.returncode == 1
    assert message in done.stderr
    world.assert_nothing_left()


def test_executors_that_cannot_start_end_the_application(world):
    with socket.socket() as taken:
        taken.bind(("0.0.0.0", 0))
        taken.listen()
        done = world.run("app.c", "same", "in.txt", conf=[
            f"spark.blockManager.port={taken.getsockname()[1]}", "spark.driver.blockManager.port=0",
            "spark.port.maxRetries=0", "spark.deploy.maxExecutorRetries=3"])
    assert done.returncode == 1
    assert re.search(r"no executor can be kept running: \d+ have ended in a row; the last one: Command exited with code 1",
                     done.stderr), done.stderr[-1500:]
    world.assert_nothing_left()


def test_an_executor_that_is_told_to_end_while_it_registers_ends_in_order(world):
    """The driver's reply arrives when the executor no longer waits for it."""
    with socket.socket(socket.AF_UNIX) as points:
        points.bind(str(world.folder / "points"))
        points.listen()
        points.settimeout(120)
        process = world.start("app.c", "same", "in.txt", master="local-cluster[1,1,1024]",
                              FIRESTEEL_FAULT_POINTS=str(world.folder / "points"))
        told = 0
        while told < 2:
            with points.accept()[0] as executor:
                _, pid, place = executor.recv(256).split()
                if place == b"register":
                    os.kill(int(pid), signal.SIGTERM)
                    told += 1
        points.close()  # the next ones stop nowhere
        out, errors = process.communicate(timeout=120)
    assert (process.returncode, out) == (0, "3\n"), errors
    assert re.findall(r"Lost executor (\d) on \S+: Command exited with code (.*)", errors) == [("0", "143"), ("1", "143")], errors
    world.assert_nothing_left()


# ------------------------------------------------------------------------------------------------------------- faults

def test_nothing_is_lost_when_executors_are():
    done = subprocess.run([sys.executable, os.path.join(TOP, "tests/faults/run"), "--quick"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False, timeout=400, env=dict(os.environ, FIRESTEEL_BIN=BIN))
    assert done.returncode == 0, done.stdout[-6000:]
