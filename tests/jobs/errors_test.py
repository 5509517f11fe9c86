"""Errors as a user sees them: one clear message, an exit status other than 0, and no output that looks complete."""
import gzip
import json
import os
import re
import resource
import signal
import subprocess
import time

import pytest

from folders import BIN
from small_disk import mounted


FAULTY = """
#include <firesteel/firesteel.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct size { int64_t bytes; };

static int same(fst_task *task, fst_bytes line, fst_out *out) { fst_emit(out, line); return 0; }
static int refuse(fst_task *task, fst_bytes line, fst_out *out)
{
        return fst_fail(task, "line \\"%.*s\\" is no number", (int)line.len, line.data);
}
static int silent(fst_task *task, fst_bytes line, fst_out *out) { return -7; }
static int scribble(fst_task *task, fst_bytes line, fst_out *out) { *(volatile int *)16 = 1; return 0; }
static int give_up(fst_task *task, fst_bytes line, fst_out *out) { abort(); }
static int leave(fst_task *task, fst_bytes line, fst_out *out) { exit(0); }
static int wrong(fst_task *task, fst_bytes line, fst_out *out) { fst_emit(out, 1); return 0; }
static int huge(fst_task *task, fst_bytes line, fst_out *out)
{
        size_t size = 1ul << 28;
        char *record = malloc(size);
        memset(record, 'x', size);
        fst_emit(out, ((fst_bytes){record, size}), 1);
        free(record);
        return 0;
}
static int slow(fst_task *task, fst_bytes line, fst_out *out)
{
        puts("started");
        fflush(stdout);
        while (!fst_task_interrupted(task))
                usleep(1000);
        return 0;
}

int main(int argc, char **argv)
{
        static const struct {
                const char *name;
                int (*f)(fst_task *, fst_bytes, fst_out *);
        } modes[] = {{"same", same},   {"refuse", refuse}, {"silent", silent}, {"scribble", scribble},
                     {"abort", give_up}, {"leave", leave},   {"wrong", wrong},   {"slow", slow}};
        fst_context *sc = fst_context_new("faulty");
        fst_rdd *lines = fst_text_file_n(sc, argv[2], 2);
        for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
                if (strcmp(argv[1], modes[i].name) == 0)
                        lines = fst_flat_map(lines, modes[i].f, FST_BYTES);
        if (strcmp(argv[1], "sort") == 0)
                lines = fst_sort_by(lines, fst_fn_identity, FST_BYTES, FST_ASCENDING);
        if (strcmp(argv[1], "huge") == 0)
                lines = fst_reduce_by_key(fst_flat_map(lines, huge, FST_PAIR(BYTES, I64)), fst_fn_sum);
        fst_save_as_text_file(lines, argv[3]);
        return fst_context_stop(sc);
}
"""


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """The application, compiled once, and the input of most tests."""
    folder = tmp_path_factory.mktemp("errors")
    (folder / "faulty.c").write_text(FAULTY)
    (folder / "in.txt").write_text("one\ntwo\n")
    (folder / "conf").mkdir()
    done = run(folder, [os.path.join(BIN, "firesteel"), "compile", "faulty.c", "-o", "faulty.so", "--", "-O1"])
    assert done.returncode == 0, done.stderr
    return folder


def environment(shared):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK_", "MASTER", "DEPLOY_MODE"))}
    return dict(kept, XDG_CACHE_HOME=str(shared / "cache"), SPARK_CONF_DIR=str(shared / "conf"), LC_ALL="C",
                ASAN_OPTIONS="handle_segv=0:handle_abort=0:allocator_may_return_null=1:detect_leaks=0")


def no_core():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(shared, command):
    return subprocess.run(list(map(str, command)), cwd=shared, env=environment(shared), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, errors="replace", check=False, timeout=120,
                          preexec_fn=no_core)


def submit(shared, mode, source, out, *options, master="local[2]"):
    return run(shared, [os.path.join(BIN, "spark-submit"), "--master", master, "--conf", "spark.log.level=WARN",
                        *options, "faulty.so", mode, source, out])


def last_line(done):
    return done.stderr.strip().splitlines()[-1]


def assert_incomplete(out):
    """Checks that there is neither _SUCCESS nor a part file under its final name."""
    found = [os.path.join(where, name) for where, _, names in os.walk(out) for name in names]
    assert not [f for f in found if os.path.basename(f) == "_SUCCESS"]
    assert not [f for f in found if os.path.dirname(f) == str(out)]


def test_it_works_when_nothing_is_wrong(shared, tmp_path):
    done = submit(shared, "same", "in.txt", tmp_path / "out")
    assert done.returncode == 0 and done.stderr == ""
    assert (tmp_path / "out/_SUCCESS").exists()


# ------------------------------------------------------------------------------------------------------ input

def bad_inputs(tmp_path):
    text = "\n".join(f"line {i * i}" for i in range(20000)).encode()
    packed = gzip.compress(text)
    (tmp_path / "folder/inner").mkdir(parents=True)
    (tmp_path / "folder/plain").write_text("x\n")
    (tmp_path / "short.gz").write_bytes(packed[:len(packed) // 2])
    (tmp_path / "spoilt.gz").write_bytes(packed[:5000] + b"zzzz" + packed[5004:])
    (tmp_path / "spoilt.zst").write_bytes(b"this was never packed by zstd")
    (tmp_path / "spoilt.lz4").write_bytes(b"this was never packed by lz4")


@pytest.mark.parametrize("name, message", [
    ("nowhere", "Input path does not exist: file:{path} (text_file at faulty.c:"),
    ("none-*", "Input Pattern file:{path} matches 0 files"),
    ("folder", "{path}/inner is a directory, which is not supported"),
    ("short.gz", "file:{path}: corrupt gzip data at byte "),
    ("spoilt.gz", "file:{path}: corrupt gzip data at byte "),
    ("spoilt.zst", "file:{path}: corrupt zstd data at byte 0"),
    ("spoilt.lz4", "file:{path}: corrupt lz4 data at byte 8: a chunk of 544694643 bytes is not valid"),
])
def test_input_that_cannot_be_read_is_named(shared, tmp_path, name, message):
    bad_inputs(tmp_path)
    done = submit(shared, "same", tmp_path / name, tmp_path / "out")
    assert done.returncode == 1
    assert message.format(path=tmp_path / name) in last_line(done)
    assert last_line(done).split(" ", 2)[2].startswith("ERROR SparkContext: save_as_text_file at faulty.c:")
    assert_incomplete(tmp_path / "out")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_input_without_permission_is_named(shared, tmp_path):
    (tmp_path / "secret").write_text("x\n")
    (tmp_path / "secret").chmod(0)
    done = submit(shared, "same", tmp_path / "secret", tmp_path / "out")
    assert done.returncode == 1
    assert f"{tmp_path}/secret: Permission denied" in last_line(done)
    assert_incomplete(tmp_path / "out")


# ---------------------------------------------------------------------------------------------- the application

def test_an_unknown_class_names_what_there_is(shared, tmp_path):
    done = submit(shared, "same", "in.txt", tmp_path / "out", "--class", "Main")
    assert done.returncode == 101
    assert done.stderr == "Error: no such function in faulty.so: Main; it has: main\n"


def test_another_interface_is_refused(shared, tmp_path):
    module = (shared / "faulty.so").read_bytes()
    at = module.index(b"Firesteel\0")
    abi = module[at + 12]
    (shared / "old.so").write_bytes(module[:at + 12] + b"\x63" + module[at + 13:])
    done = run(shared, [os.path.join(BIN, "spark-submit"), "old.so"])
    assert done.returncode == 1
    assert f"old.so was built against interface 99 of Firesteel, this is interface {abi}: compile it again" in done.stderr


def test_a_module_without_build_id_is_refused(shared):
    done = run(shared, [os.path.join(BIN, "firesteel"), "compile", "faulty.c", "-o", "anonymous.so", "--",
                        "-Wl,--build-id=none"])
    if done.returncode == 0:
        done = run(shared, [os.path.join(BIN, "spark-submit"), "anonymous.so"])
    assert done.returncode == 1
    assert "anonymous.so has no build-id" in done.stderr


def test_a_python_without_pyspark_is_named(shared, tmp_path):
    """The interpreter has no packages at all, whatever this machine's Python has."""
    python = tmp_path / "bare-python"
    python.write_text('#!/bin/sh\nexec python3 -I -S "$@"\n')
    python.chmod(0o755)
    program = tmp_path / "program.py"
    program.write_text("import pyspark\n")
    done = run(shared, [f"{BIN}/spark-submit", "--master", "local[1]", "--conf", f"spark.pyspark.python={python}",
                        str(program)])
    assert done.returncode == 1
    assert "No module named 'pyspark'" in done.stdout
    assert f"{python} has no package pyspark" in last_line(done), done.stderr


def test_what_does_not_compile_shows_the_compiler_s_words(shared):
    (shared / "bad.c").write_text("#include <firesteel/firesteel.h>\nint main(void) { return missing; }\n")
    done = run(shared, [os.path.join(BIN, "spark-submit"), "bad.c"])
    assert done.returncode == 1
    assert "bad.c:2:" in done.stderr and "missing" in done.stderr
    assert re.fullmatch(r"Error: bad\.c does not compile: see the messages of \S+ above", last_line(done))


@pytest.mark.parametrize("array, told", [
    ("int rows[] = {1, 2}", "is int64_t, double, fst_bytes or a struct, and no other type of number"),
    ('const char *rows[] = {"to", "be"}', "is fst_bytes and not char *")])
def test_an_array_of_what_rows_cannot_be_does_not_compile(shared, array, told):
    (shared / "array.c").write_text("#include <firesteel/firesteel.h>\nint main(void)\n{\n"
                                    f"        fst_context *sc = fst_context_new(NULL);\n        {array};\n"
                                    "        fst_parallelize(sc, rows, 2);\n        return fst_context_stop(sc);\n}\n")
    done = run(shared, [os.path.join(BIN, "spark-submit"), "array.c"])
    assert done.returncode == 1
    assert "array.c:6:" in done.stderr and told in done.stderr


def test_a_crash_of_main_does_not_speak_of_tasks(shared):
    (shared / "careless.c").write_text("#include <firesteel/firesteel.h>\nint main(void)\n{\n"
                                       "        fst_context *sc = fst_context_new(NULL);\n"
                                       "        char *volatile nothing = NULL;\n"
                                       "        return *(volatile char *)nothing ? 1 : fst_context_stop(sc);\n}\n")
    done = run(shared, [os.path.join(BIN, "spark-submit"), "careless.c"])
    assert done.returncode == -signal.SIGSEGV
    assert "the application crashed in main in careless.so: SIGSEGV" in done.stderr
    assert "A failed action leaves its output arguments unchanged" in done.stderr
    assert "isolation" not in done.stderr


FORGETFUL = """
#include <firesteel/firesteel.h>
#include <stdlib.h>

static int fail(fst_task *task, int64_t n) { return fst_fail(task, "no"); }

int main(int argc, char **argv)
{
        fst_conf *conf = fst_conf_new();
        if (argv[2][0] == 'b')
                fst_conf_set(conf, "spark.task.cpus", "x");
        fst_context *sc = fst_context_new_conf(conf);
        fst_rdd *numbers = fst_range_n(sc, 0, 10, 2);
        int r = argv[2][0] == 'f' ? fst_foreach(numbers, fail) : fst_count(numbers, &(int64_t){0});
        if (argv[1][0] == 's')
                return fst_context_stop(sc) && r ? 0 : 4;
        if (argv[1][0] == 'e')
                exit(argv[1][1] - '0');
        return argv[1][1] - '0';
}
"""


@pytest.mark.parametrize("way, what, status", [
    ("m0", "works", 0), ("e0", "works", 0), ("m3", "works", 3),
    ("m0", "fails", 1), ("e0", "fails", 1), ("m3", "fails", 3), ("e3", "fails", 3), ("stop", "fails", 0),
    ("m0", "begins", 1), ("e0", "begins", 1), ("m3", "begins", 3), ("stop", "begins", 0)])
def test_main_that_forgets_to_stop_its_context(shared, tmp_path, way, what, status):
    """The exit status is 1 after a failure that main ignores, and the event log is complete in any case."""
    (shared / "forgetful.c").write_text(FORGETFUL)
    done = run(shared, [os.path.join(BIN, "spark-submit"), "--master", "local[2]", "--conf", "spark.log.level=WARN", "--conf",
                        "spark.eventLog.enabled=true", "--conf", "spark.eventLog.compress=false", "--conf",
                        f"spark.eventLog.dir={tmp_path}", "forgetful.c", way, what])
    assert done.returncode == status, done.stderr
    failure = {"fails": r"foreach at forgetful\.c:\d+", "begins": "starting the context"}.get(what)
    told = [line for line in done.stderr.splitlines() if "without fst_context_stop" in line]
    assert len(told) == (way[1] == "0" and failure is not None)
    if told:
        assert re.search(rf"ERROR SparkContext: {failure} failed, and main ended with status 0 without fst_context_stop", told[0])
        assert told[0] == last_line(done)
    assert len(list(tmp_path.iterdir())) == (what != "begins")
    assert not list(tmp_path.rglob("*.inprogress"))
    assert all('"SparkListenerApplicationEnd"' in log.read_text().splitlines()[-1] for log in tmp_path.rglob("events_*"))


# ------------------------------------------------------------------------------------------------ configuration

@pytest.mark.parametrize("setting, message", [
    ("spark.driver.memory=12parsecs", "Driver memory must be a positive number"),  # Spark's sentence
    ("spark.task.cpus=x", "spark.task.cpus should be int, but was x"),
    ("spark.task.cpus=9", "spark.task.cpus is 9, but the master has 2 cores"),
    ("spark.io.compression.codec=snappy", "spark.io.compression.codec=lz4 or zstd"),
    ("spark.log.level=LOUD", "spark.log.level: unknown log level 'LOUD': use one of ALL, TRACE, DEBUG"),
    ("spark.shuffle.compress=maybe", "spark.shuffle.compress should be boolean, but was maybe"),
    ("spark.memory.fraction=2", "spark.memory.fraction is 2: it must be above 0 and at most 1"),
    ("spark.local.dir=/proc/nowhere", "spark.local.dir: Failed to create any local dir in \"/proc/nowhere\""),
    ("spark.eventLog.buffer.kb=12parsecs", "spark.eventLog.buffer.kb"),
])
def test_a_bad_value_is_named_with_its_key(shared, tmp_path, setting, message):
    done = submit(shared, "same", "in.txt", tmp_path / "out", "--conf", "spark.eventLog.enabled=true",
                  "--conf", f"spark.eventLog.dir={tmp_path}", "--conf", setting)
    assert done.returncode == 1, done.stderr
    assert message in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_master_without_threads_is_refused(shared, tmp_path):
    done = submit(shared, "same", "in.txt", tmp_path / "out", master="local[0]")
    assert done.returncode == 1
    assert done.stderr == "Error: Asked to run locally with 0 threads (master 'local[0]'): at least 1 is needed\n"


# ------------------------------------------------------------------------------------------------------- output

def test_an_output_that_exists_stays(shared, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out/mine").write_text("precious")
    done = submit(shared, "same", "in.txt", tmp_path / "out")
    assert done.returncode == 1
    assert last_line(done).endswith(f"Output directory file:{tmp_path}/out already exists")
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["mine"]


@pytest.fixture
def small_disk(tmp_path):
    path = tmp_path / "disk"
    path.mkdir()
    with mounted(path, 1):
        yield path


def much_text(tmp_path):
    (tmp_path / "much.txt").write_text("".join(f"{i * 2654435761 % 2**32:010} and so on\n" for i in range(400000)))
    return tmp_path / "much.txt"


def test_a_full_disk_fails_the_job(shared, tmp_path, small_disk):
    done = submit(shared, "same", much_text(tmp_path), small_disk / "out")
    assert done.returncode == 1
    assert "Job aborted" in last_line(done) and last_line(done).endswith("No space left on device")
    assert_incomplete(small_disk / "out")
    assert not (small_disk / "out/_temporary").exists()


def test_a_full_local_dir_fails_the_sort_that_spills(shared, tmp_path, small_disk):
    done = submit(shared, "sort", much_text(tmp_path), tmp_path / "out", "--driver-memory", "32m",
                  "--conf", f"spark.local.dir={small_disk}", "--conf", "spark.shuffle.compress=false",
                  "--conf", "spark.shuffle.spill.compress=false")
    assert done.returncode == 1
    assert "No space left on device; make room there or set spark.local.dir to a larger disk" in last_line(done)
    assert_incomplete(tmp_path / "out")
    assert list(small_disk.iterdir()) == []


# ------------------------------------------------------------------------------------------------ user functions

def test_a_function_that_fails_is_named_with_its_message(shared, tmp_path):
    done = submit(shared, "refuse", "in.txt", tmp_path / "out")
    assert done.returncode == 1
    assert re.search(r"Job aborted due to stage failure: Task \d in stage 0\.0 failed 1 times, most recent failure: "
                     r'Lost task \d\.0 in stage 0\.0 .*refuse in faulty\.so: line "(one|two)" is no number$',
                     last_line(done))
    assert_incomplete(tmp_path / "out")


def test_a_function_that_fails_silently_is_named(shared, tmp_path):
    done = submit(shared, "silent", "in.txt", tmp_path / "out")
    assert done.returncode == 1
    assert last_line(done).endswith("function silent in faulty.so returned -7")


def test_a_function_that_emits_another_type_is_told(shared, tmp_path):
    done = submit(shared, "wrong", "in.txt", tmp_path / "out")
    assert done.returncode == 1
    assert "emits I64 where its operator declares BYTES" in last_line(done)


def test_retries_are_counted(shared, tmp_path):
    done = submit(shared, "refuse", "in.txt", tmp_path / "out", master="local[1,3]")
    assert done.returncode == 1
    assert "failed 3 times, most recent failure: Lost task 0.2 in stage 0.0" in last_line(done)


@pytest.mark.parametrize("mode, function, what, status", [
    ("scribble", "scribble", "SIGSEGV, invalid memory access at address 0x10", -signal.SIGSEGV),
    ("abort", "give_up", "SIGABRT, abort() was called", -signal.SIGABRT),
    ("leave", "leave", "it called exit(0)", 50),
])
def test_a_crash_names_signal_function_and_task(shared, tmp_path, mode, function, what, status):
    done = submit(shared, mode, "in.txt", tmp_path / "out", "--conf", f"spark.local.dir={tmp_path}")
    assert done.returncode == status
    assert re.search(r"ERROR Executor: task \d in stage 0\.0 \(partition \d, attempt 0\) crashed in "
                     rf"{function} in faulty\.so: {re.escape(what)}", done.stderr)
    assert_incomplete(tmp_path / "out")


def test_a_crash_on_executors_is_one_error_line_and_the_last(shared, tmp_path):
    """Attempts and lost executors are warnings, and the driver's own SIGTERM is not an error."""
    done = submit(shared, "scribble", "in.txt", tmp_path / "out", "--conf", f"spark.local.dir={tmp_path}",
                  master="local-cluster[2,1,1024]")
    assert done.returncode == 1
    errors = [line for line in done.stderr.splitlines() if " ERROR " in re.sub(r": ERROR Executor: ", ": ", line)]
    # A task of the other partition may fail after the job: its directory goes while it commits.
    lines = [line for line in done.stderr.splitlines() if "WARN TaskSetManager: Lost task 1." not in line]
    assert errors == [lines[-1]], done.stderr
    assert re.search(r" ERROR SparkContext: save_as_text_file at faulty\.c:\d+ failed: .* failed 4 times, .* crashed in scribble in "
                     r"faulty\.so: SIGSEGV", errors[0])
    assert errors[0].endswith("with --master local[2] --conf spark.firesteel.check=true")
    assert done.stderr.count("spark.firesteel.check=true") == 1, done.stderr
    line = 1 + [i for i, text in enumerate(FAULTY.splitlines()) if "static int scribble" in text][0]
    assert re.search(rf"code at faulty\.so\+(0x[0-9a-f]+) \(faulty\.c:{line}: addr2line -e /\S+/faulty\.so \1\)", errors[0]), errors[0]
    assert len(re.findall(r"WARN TaskSetManager: Lost task \d\.\d in stage", done.stderr)) >= 4
    assert_incomplete(tmp_path / "out")


def test_a_record_beyond_memory_fails_its_task(shared, tmp_path):
    done = submit(shared, "huge", "in.txt", tmp_path / "out", "--driver-memory", "64m")
    assert done.returncode == 1, done.stderr[-2000:]
    assert "memory" in last_line(done)
    assert_incomplete(tmp_path / "out")


# ------------------------------------------------------------------------------------------------------ signals

@pytest.mark.parametrize("sent", [[signal.SIGINT], [signal.SIGTERM], [signal.SIGTERM, signal.SIGTERM, signal.SIGHUP]])
def test_a_signal_ends_in_order(shared, tmp_path, sent):
    """timeout(1) sends SIGTERM to its child and then to the group, so the child receives it twice."""
    for name in ("local", "events"):
        (tmp_path / name).mkdir()
    command = [os.path.join(BIN, "spark-submit"), "--master", "local[2]", "--conf", f"spark.local.dir={tmp_path}/local",
               "--conf", "spark.eventLog.enabled=true", "--conf", f"spark.eventLog.dir={tmp_path}/events",
               "--conf", "spark.eventLog.rolling.enabled=false", "--conf", "spark.eventLog.compress=false",
               "faulty.so", "slow", "in.txt", str(tmp_path / "out")]
    with subprocess.Popen(command, cwd=shared, env=environment(shared), stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.DEVNULL) as process:
        assert process.stdout.readline() == "started\n"
        for number in sent:
            process.send_signal(number)
            time.sleep(0.002)  # equal signals that wait for delivery are one
        status = process.wait(timeout=60)  # the tasks run until somebody ends them
        assert status - 128 in sent  # Linux delivers the lowest number first of those that wait for a busy processor
    assert list((tmp_path / "local").iterdir()) == []
    log, = (tmp_path / "events").iterdir()
    assert not log.name.endswith(".inprogress")
    end = json.loads(log.read_text().splitlines()[-1])
    assert (end["Event"], end["ExitCode"]) == ("SparkListenerApplicationEnd", status)
    assert_incomplete(tmp_path / "out")


NESTED = """
#include <firesteel/firesteel.h>

static fst_rdd *other;

static int global(fst_task *task, int64_t x) { int64_t n; return fst_count(other, &n); }
static int captured(fst_task *task, int64_t x) { int64_t n; return fst_count(*(fst_rdd *const *)fst_captured(task), &n); }

int main(int argc, char **argv)
{
        fst_context *sc = fst_context_new("nested");
        fst_rdd *rows = fst_range(sc, 0, 4), *mine = other = fst_range(sc, 0, 10);
        if (argc == 1)
                fst_foreach(rows, global);
        else
                fst_foreach(rows, FST_WITH(captured, mine));
        return fst_context_stop(sc);
}
"""


@pytest.mark.parametrize("master", ["local[2]", "local-cluster[1,1,1024]"])
@pytest.mark.parametrize("way", [[], ["captured"]])
def test_action_inside_of_a_task_is_named_not_crashed(shared, tmp_path, master, way):
    (tmp_path / "nested.c").write_text(NESTED)
    done = run(shared, [os.path.join(BIN, "spark-submit"), "--master", master, "--conf", "spark.log.level=WARN",
                        tmp_path / "nested.c", *way])
    assert done.returncode == 1
    assert "count at nested.c:" in last_line(done)
    assert "can only be invoked by the driver, not inside of other transformations (SPARK-5063)" in last_line(done)
    assert "crashed" not in done.stderr


WARNED = """
#include <firesteel/firesteel.h>

int main(void)
{
        int unused;
        return fst_context_stop(fst_context_new("warned"));
}
"""


def test_warnings_are_shown_at_each_run(shared, tmp_path):
    (tmp_path / "warned.c").write_text(WARNED)
    command = [os.path.join(BIN, "spark-submit"), "--master", "local[1]", "--conf", "spark.log.level=WARN"]
    for _ in range(2):
        done = run(shared, [*command, tmp_path / "warned.c"])
        assert done.returncode == 0
        assert done.stderr.count("warning: unused variable") == 1
    done = run(shared, [*command, "--conf", "spark.firesteel.cc.flags=-Wno-unused-variable", tmp_path / "warned.c"])
    assert done.returncode == 0 and done.stderr == ""


@pytest.mark.parametrize("line, message", [
    ("char *p = memrchr_of_nobody(text, 1); (void)p;", "implicit declaration"),
    ("char *p = 5; (void)p;", "makes pointer from integer"),
    ("double *p = &n; (void)p;", "incompatible pointer type"),
    ("} static int forgotten(void) {", "no return statement"),
])
def test_what_compiles_and_cannot_be_meant_is_refused(shared, tmp_path, line, message):
    (tmp_path / "careless.c").write_text(
        "#include <firesteel/firesteel.h>\nstatic char text[8]; static int64_t n;\n"
        f"int main(void) {{ (void)text; (void)n; return 0; {line} }}\n")
    done = run(shared, [os.path.join(BIN, "spark-submit"), "--master", "local[1]", tmp_path / "careless.c"])
    assert done.returncode == 1
    assert message in done.stderr and "does not compile" in last_line(done)


MISREAD = """
#include <firesteel/firesteel.h>

int main(void)
{
        fst_context *sc = fst_context_new("misread");
        fst_iter *rows;
        double x;
        if (fst_collect(fst_range(sc, 0, 4), &rows) == 0)
                fst_next(rows, &x);
        return fst_context_stop(sc);
}
"""


def test_rows_read_as_another_type_end_the_program_with_status_and_line(shared, tmp_path):
    (tmp_path / "misread.c").write_text(MISREAD)
    done = run(shared, [os.path.join(BIN, "spark-submit"), "--master", "local[2]", "--conf", "spark.log.level=WARN",
                        tmp_path / "misread.c"])
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert "the rows are I64, but fst_next was given variables for F64 (misread.c:10)" in done.stderr
