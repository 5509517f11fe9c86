"""spark.extraListeners: shared objects get events of jobs, stages, tasks and executors, and other files are refused."""
import os
import signal
import subprocess
import time

import pytest

from folders import BIN, TOP


LISTENER = r"""
#include <firesteel/listener.h>
#include <stdio.h>
#include <stdlib.h>

#define TEXT(s) ((s) ? (s) : "-")
static int stopped;

static void app_start(struct fst_listener *self, const struct fst_event_application *e)
{ fprintf(self->state, "application_start %s %d\n", e->name, e->time_ms > 0 && FST_EVENT_HAS(e, time_ms)); }
static void app_end(struct fst_listener *self, const struct fst_event_application *e)
{ fprintf(self->state, "application_end %d\n", e->time_ms > 0); }
static void job_start(struct fst_listener *self, const struct fst_event_job *e)
{ fprintf(self->state, "job_start %d stages=%zu group=%s description=%s\n", e->id, e->n_stages, TEXT(e->group),
          TEXT(e->description)); }
static void job_end(struct fst_listener *self, const struct fst_event_job *e)
{ fprintf(self->state, "job_end %d %s\n", e->id, e->failure ? "failed" : "succeeded"); }
static void stage_submitted(struct fst_listener *self, const struct fst_event_stage *e)
{ fprintf(self->state, "stage_submitted %d.%d tasks=%d\n", e->id, e->attempt, e->tasks); }
static void stage_completed(struct fst_listener *self, const struct fst_event_stage *e)
{ fprintf(self->state, "stage_completed %d.%d %s\n", e->id, e->attempt, e->failure ? "failed" : "succeeded"); }
static void task_start(struct fst_listener *self, const struct fst_event_task *e)
{ fprintf(self->state, "task_start stage=%d index=%d executor=%s\n", e->stage_id, e->index, e->executor_id); }
static void task_end(struct fst_listener *self, const struct fst_event_task *e)
{ fprintf(self->state, "task_end stage=%d index=%d %s %s read=%d finished=%d\n", e->stage_id, e->index, e->result,
          TEXT(e->message), e->metrics->shuffle_read_records > 0, e->finish_ms >= e->launch_ms); }
static void added(struct fst_listener *self, const struct fst_event_executor *e)
{ fprintf(self->state, "executor_added %s cores=%d\n", e->id, e->cores); }
static void removed(struct fst_listener *self, const struct fst_event_executor *e)
{ fprintf(self->state, "executor_removed %s %s\n", e->id, TEXT(e->reason)); }
static void stop(struct fst_listener *self)
{ fprintf(self->state, "stop %d\n", ++stopped); fclose(self->state); }

int fst_listener_start(struct fst_listener *l)
{
        const char *path = l->setting(l, "spark.my.listener.output");
        if (!path || l->size < sizeof(*l) || l->setting(l, "spark.no.such.key"))
                return 7;
        l->state = fopen(path, "w");
        l->on_application_start = app_start;
        l->on_application_end = app_end;
        l->on_job_start = job_start;
        l->on_job_end = job_end;
        l->on_stage_submitted = stage_submitted;
        l->on_stage_completed = stage_completed;
        l->on_task_start = task_start;
        l->on_task_end = task_end;
        l->on_executor_added = added;
        l->on_executor_removed = removed;
        l->on_stop = stop;
        return 0;
}
"""

APPLICATION = r"""
#include <firesteel/firesteel.h>

static int parity(fst_task *task, int64_t i, fst_out *out) { fst_emit(out, i % 2, i); return 0; }
static int broken(fst_task *task, int64_t i) { return i == 3 ? fst_fail(task, "three is bad") : 0; }

int main(int argc, char **argv)
{
        fst_context *sc = fst_context_new("heard");
        int64_t n;
        fst_set_job_group(sc, "evens", "even and odd", 0);
        fst_count(fst_reduce_by_key(fst_flat_map(fst_range(sc, 0, 100), parity, FST_PAIR(I64, I64)), fst_fn_sum), &n);
        fst_foreach(fst_range(sc, 0, 10), broken);
        fst_context_stop(sc);
        return 0;
}
"""


def compile_object(tmp_path, name, text):
    (tmp_path / (name + ".c")).write_text(text, encoding="utf-8")
    subprocess.run(["cc", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-shared", "-fPIC", "-I",
                    os.path.join(TOP, "include"), "-o", tmp_path / (name + ".so"), tmp_path / (name + ".c")], check=True)
    return str(tmp_path / (name + ".so"))


def submit(tmp_path, listeners, *words, master="local[2]"):
    (tmp_path / "app.c").write_text(APPLICATION, encoding="utf-8")
    return subprocess.run([os.path.join(BIN, "spark-submit"), "--master", master, "--conf",
                           "spark.extraListeners=" + listeners, "--conf", "spark.default.parallelism=2", *words,
                           str(tmp_path / "app.c")], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, check=False, timeout=120)


def heard(tmp_path, master="local[2]", prefix=""):
    path = compile_object(tmp_path, "all", LISTENER)
    done = submit(tmp_path, prefix + path, "--conf", "spark.my.listener.output=%s/out" % tmp_path, "--conf",
                  "spark.scheduler.minRegisteredResourcesRatio=1", "--conf",
                  "spark.scheduler.maxRegisteredResourcesWaitingTime=600s", master=master)
    assert done.returncode == 0, done.stderr
    assert "Registered listener " + path in done.stderr
    return (tmp_path / "out").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("prefix", ["", "file://", "local://"])
def test_events_are_heard_in_order(tmp_path, prefix):
    lines = heard(tmp_path, prefix=prefix)
    assert lines[:2] == ["executor_added driver cores=2", "application_start heard 1"]  # Spark's order
    assert lines[-2:] == ["application_end 1", "stop 1"]
    first = lines[:lines.index("job_end 0 succeeded")]
    assert "job_start 0 stages=2 group=evens description=even and odd" in first
    assert first.index("stage_submitted 0.0 tasks=2") < first.index("stage_completed 0.0 succeeded") < \
        first.index("stage_submitted 1.0 tasks=2") < first.index("stage_completed 1.0 succeeded")
    assert "task_start stage=0 index=1 executor=driver" in first
    assert "task_end stage=0 index=1 Success - read=0 finished=1" in first
    assert "task_end stage=1 index=0 Success - read=1 finished=1" in first
    assert "job_end 1 failed" in lines and "stage_completed 2.0 failed" in lines
    assert [line for line in lines if "stage=2" in line and "ExceptionFailure" in line and "three is bad" in line]


def test_executors_are_heard_of(tmp_path):
    lines = heard(tmp_path, master="local-cluster[2,1,1024]")
    assert {"executor_added 0 cores=1", "executor_added 1 cores=1"} <= set(lines)


def test_several_listeners_hear_each_event(tmp_path):
    one = compile_object(tmp_path, "one", LISTENER)
    two = compile_object(tmp_path, "two", LISTENER.replace('"spark.my.listener.output"', '"spark.my.other.output"'))
    done = submit(tmp_path, "%s, %s" % (one, two), "--conf", "spark.my.listener.output=%s/1" % tmp_path, "--conf",
                  "spark.my.other.output=%s/2" % tmp_path)
    assert done.returncode == 0, done.stderr
    texts = [(tmp_path / name).read_text(encoding="utf-8") for name in "12"]
    assert texts[0] == texts[1] and texts[0].count("task_end") >= 6


@pytest.mark.parametrize("text,sentence", [
    ("int other(void) { return 0; }", 'one.so" has no function fst_listener_start: define it as firesteel/listener.h says'),
    ("int fst_listener_start(void *l) { return 7; }", 'fst_listener_start of "'),
])
def test_object_that_is_no_listener_is_refused(tmp_path, text, sentence):
    done = submit(tmp_path, compile_object(tmp_path, "one", text.replace("int ", "int x; int ", 1)))
    assert "Error initializing SparkContext: spark.extraListeners: " in done.stderr and sentence in done.stderr


def test_class_name_is_refused_with_the_remedy(tmp_path):
    done = submit(tmp_path, "org.example.MyListener")
    assert 'spark.extraListeners: cannot load "org.example.MyListener"' in done.stderr
    assert "the driver has no JVM to load a class" in done.stderr


def test_listener_that_started_is_told_to_stop_when_another_is_refused(tmp_path):
    good = compile_object(tmp_path, "good", LISTENER)
    done = submit(tmp_path, good + ",/nonexistent.so", "--conf", "spark.my.listener.output=%s/out" % tmp_path)
    assert "nonexistent.so" in done.stderr
    assert (tmp_path / "out").read_text(encoding="utf-8").splitlines() == ["stop 1"]


HOLDING = r"""
#include <firesteel/listener.h>
#include <stdio.h>
#include <unistd.h>
static void app_end(struct fst_listener *self, const struct fst_event_application *e)
{
        fclose(fopen("ending", "w"));
        while (access("go", F_OK) != 0)
                usleep(10000);
}
int fst_listener_start(struct fst_listener *l)
{
        l->on_application_end = app_end;
        return 0;
}
"""


@pytest.mark.parametrize("end", ["return fst_context_stop(sc);", "return sc == 0;"], ids=["stop", "main-returns"])
def test_a_signal_while_the_context_stops_waits_for_the_event_log(tmp_path, end):
    path = compile_object(tmp_path, "holding", HOLDING)
    (tmp_path / "app.c").write_text("#include <firesteel/firesteel.h>\nint main(void) { fst_context *sc = fst_context_new(\"held\"); "
                                    + end + " }\n", encoding="utf-8")
    (tmp_path / "events").mkdir()
    words = [os.path.join(BIN, "spark-submit"), "--master", "local[1]", "--conf", "spark.extraListeners=" + path, "--conf",
             "spark.eventLog.enabled=true", "--conf", f"spark.eventLog.dir={tmp_path}/events", "--conf", "spark.eventLog.rolling.enabled=false",
             "--conf", "spark.eventLog.compress=false", "app.c"]
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            deadline = time.monotonic() + 60
            while not (tmp_path / "ending").exists():
                assert time.monotonic() < deadline and process.poll() is None
                time.sleep(0.01)
            process.send_signal(signal.SIGTERM)
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.5)
            (tmp_path / "go").touch()
            assert process.wait(60) == 128 + signal.SIGTERM, process.stdout.read()
        finally:
            process.kill()
    (log,) = (tmp_path / "events").iterdir()
    assert not log.name.endswith(".inprogress") and '"SparkListenerApplicationEnd"' in log.read_text(encoding="utf-8")
