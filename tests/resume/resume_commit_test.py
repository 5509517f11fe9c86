"""A driver dies after it has allowed a task to commit, and before it knows of the commit (docs/guide/resuming.md)."""
import os
import selectors
import shutil
import signal
import socket
import subprocess

import pytest

from conditions import wait_until
import resume_test

# Saves two partitions whose rows are the process that computed them. Partition 1 ends once DIR/go exists.
APPLICATION = r"""
#include <firesteel/firesteel.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct work {
        char dir[400];
        int counts;
        fst_accumulator rows;
};

static int compute(fst_task *task, int64_t row, fst_out *out)
{
        const struct work *w = fst_captured(task);
        char path[512], text[64];
        snprintf(path, sizeof(path), "%s/go", w->dir);
        while (fst_task_partition(task) == 1 && access(path, F_OK) != 0 && !fst_task_interrupted(task))
                usleep(2000);
        snprintf(path, sizeof(path), "%s/runs", w->dir);
        int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0644);
        int n = snprintf(text, sizeof(text), "1.%d\n", fst_task_partition(task));
        if (write(fd, text, (size_t)n) != n)
                return fst_fail(task, "cannot write");
        close(fd);
        if (w->counts)
                fst_accumulate(task, w->rows, (int64_t)1);
        fst_emit(out, (int64_t)getpid());
        return 0;
}

int main(int argc, char **argv)
{
        fst_context *sc = fst_context_new("commits");
        struct work w = {0};
        char out[512];
        snprintf(w.dir, sizeof(w.dir), "%s", argv[2]);
        w.counts = atoi(argv[3]);
        if (w.counts)
                w.rows = fst_accumulator_i64(sc, "rows");
        snprintf(out, sizeof(out), "%s/out", argv[2]);
        fst_save_as_text_file(fst_flat_map(fst_range_n(sc, 0, 2, 2), FST_WITH(compute, w), FST_I64), out);
        printf("rows %ld\n", w.counts ? (long)fst_accumulator_sum_i64(sc, w.rows) : 2);
        fflush(stdout);
        return fst_context_stop(sc);
}
"""


def process_has_ended(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


@pytest.fixture(scope="module")
def application(tmp_path_factory):
    folder = tmp_path_factory.mktemp("application")
    (folder / "commits.c").write_text(APPLICATION)
    subprocess.run([f"{resume_test.BIN}/firesteel", "compile", str(folder / "commits.c"), "-o", str(folder / "commits.so")],
                   check=True, timeout=120)
    return folder / "commits.so"


class Run(resume_test.Run):
    """The application, whose first driver is killed while the task of partition 0 commits."""

    def __init__(self, folder, application, version, counts=False):
        key = "spark.hadoop.mapreduce.fileoutputcommitter.algorithm.version"
        super().__init__(folder, application, "local-cluster[2,1,1024]", int(counts), [f"{key}={version}"])
        self.version = version

    def kill_at_commit(self, passage):
        """Kills driver and executors before (1) or after (2) the rename that commits partition 0."""
        executors = set()
        path = str(self.folder / "points")
        with socket.socket(socket.AF_UNIX) as listener, selectors.DefaultSelector() as selector:
            listener.bind(path)
            listener.listen()
            selector.register(listener, selectors.EVENT_READ)
            self.start(["env", f"FIRESTEEL_FAULT_POINTS={path}", *self.command])
            passed = 0
            while passed < passage:
                ready = selector.select(60)
                assert ready, self.log(0)
                for key, _ in ready:
                    if key.fileobj is listener:
                        selector.register(listener.accept()[0], selectors.EVENT_READ)
                        continue
                    line = key.fileobj.recv(256).decode().split()
                    if not line:
                        selector.unregister(key.fileobj)
                        key.fileobj.close()
                        continue
                    executors.add(int(line[1]))
                    passed += line[2] == "commit"
                    if passed == 2 and passage == 2 and not self.has_committed():
                        passed = 0  # an executor that has just registered may not take the permission: it runs again
                    if passed < passage:
                        key.fileobj.send(b".")
            self.processes[0].send_signal(signal.SIGSTOP)  # it would start other executors
            for pid in executors:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            self.processes[0].kill()
            self.processes[0].wait(timeout=120)
            wait_until(lambda: all(process_has_ended(pid) for pid in executors), "the end of the executors", 90)
            for key in list(selector.get_map().values()):
                if key.fileobj is not listener:
                    key.fileobj.close()

    def commit_late(self):
        """What an executor that was allowed to commit does, if it is only slow. Returns false if nothing is left to commit."""
        temporary = self.folder / "out" / "_temporary" / "0"
        left = [path for path in temporary.glob("_temporary/*_m_000000_*") if list(path.glob("part-*"))]
        if not left:
            return False
        for path in left:
            if self.version == 2:
                os.rename(path / "part-00000", self.folder / "out" / "part-00000")
            else:
                to = temporary / ("task_" + path.name.removeprefix("attempt_").rsplit("_", 1)[0])
                shutil.rmtree(to, ignore_errors=True)
                os.rename(path, to)
        return True

    def has_committed(self):
        out = self.folder / "out"
        return any(out.glob("part-00000")) or any(out.glob("_temporary/0/task_*_m_000000"))

    def committer(self):
        """The process that computed the committed rows of partition 0."""
        out = self.folder / "out"
        path = out / "part-00000" if self.version == 2 else next(out.glob("_temporary/0/task_*_m_000000/part-00000"))
        return int(path.read_text())

    def finish(self, number):
        """Ends the application. Returns the processes that computed the rows of its output."""
        self.open_gate()
        assert self.processes[-1].wait(timeout=120) == 0, self.log(number)
        out = self.folder / "out"
        assert sorted(os.listdir(out)) == ["_SUCCESS", "part-00000", "part-00001"]
        assert "rows 2\n" in self.log(number) and self.left() == []
        return [int((out / f"part-0000{i}").read_text()) for i in range(2)]


@pytest.fixture
def run(tmp_path, application):
    made = []

    def make(*options):
        made.append(Run(tmp_path, application, *options))
        return made[-1]
    yield make
    for one in made:
        one.end()


@pytest.mark.parametrize("version", [1, 2])
def test_a_late_commit_changes_nothing(run, version):
    app = run(version)
    app.kill_at_commit(1)
    app.resume()
    wait_until(lambda: len(app.epochs()) == 2 and resume_test.journaled(app.epochs()[1], 0) == 1, "the second commit", 60)
    assert set(app.ran()) == {"1.0"}
    committer = app.committer()
    assert not app.commit_late()
    assert app.committer() == committer
    assert app.finish(1)[0] == committer


@pytest.mark.parametrize("version", [1, 2])
def test_what_was_committed_is_not_committed_again(run, version):
    app = run(version)
    app.kill_at_commit(2)
    committer, before = app.committer(), app.ran()
    app.resume()
    wait_until(lambda: "1 of 2 results are those of earlier drivers" in app.log(1), "the resumed job", 60)
    assert app.finish(1)[0] == committer
    assert set(app.ran()[len(before):]) == {"1.1"}


@pytest.mark.parametrize("version", [1, 2])
def test_what_was_committed_runs_again_for_its_accumulators(run, version):
    app = run(version, True)
    app.kill_at_commit(2)
    committer = app.committer()
    app.resume()
    assert app.finish(1)[0] != committer
    assert app.ran().count("1.0") > 1 and set(app.ran()) == {"1.0", "1.1"}
