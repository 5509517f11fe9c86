"""Data between a driver and its executors: values, files, results, blocks, map outputs; plain, authenticated, encrypted."""
import contextlib
import os
import re
import subprocess
import tarfile

import pytest

from folders import BIN

CLUSTER = "local-cluster[2,1,1024]"

APP = r"""
#include <firesteel/firesteel.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MIB = 1 << 20 };

struct shared { fst_broadcast table; fst_accumulator seen, computed; };

/* Adds, fails once in each partition, and reads the whole of the broadcast variable. */
static int64_t look(fst_task *task, int64_t x)
{
        const struct shared *shared = fst_captured(task);
        fst_bytes table = fst_broadcast_value(task, shared->table);
        if (!table.data)
                return 0;
        fst_accumulate(task, shared->seen, 1);
        if (x % 1000 == 999 && fst_task_attempt(task) == 0)
                fst_fail(task, "once, on purpose");
        return x + (unsigned char)table.data[(size_t)x * 7919 % table.len];
}

static int64_t computed(fst_task *task, int64_t x)
{
        const struct shared *shared = fst_captured(task);
        fst_accumulate(task, shared->computed, 1);
        return x;
}

static int length_of(fst_task *task, int64_t x, fst_out *out)
{
        char line[64] = "";
        const char *file = fst_file(task, x % 2 ? "words.txt" : "packed");
        if (!file)
                return -1;
        char path[4096];
        snprintf(path, sizeof(path), "%s%s", file, x % 2 ? "" : "/inner.txt");
        FILE *f = fopen(path, "r");
        if (!f || !fgets(line, sizeof(line), f))
                return fst_fail(task, "%s cannot be read", path);
        fclose(f);
        fst_emit(out, fst_bytes_of(line));
        return 0;
}

static int64_t pid_of(fst_task *task, int64_t x)
{
        return getpid();
}

static int64_t sleepy(fst_task *task, int64_t x)
{
        while (!fst_task_interrupted(task))
                usleep(1000);
        return x;
}

static void values(fst_context *sc)
{
        unsigned char *table = malloc(20 * MIB);
        for (size_t i = 0; i < 20 * MIB; i++)
                table[i] = (unsigned char)(i * 2654435761u >> 11);
        struct shared shared = {.table = fst_broadcast_bytes(sc, table, 20 * MIB),
                                .seen = fst_accumulator_i64(sc, "seen")};
        int64_t sum = 0, expected = 0;
        fst_reduce(fst_map(fst_range_n(sc, 0, 8000, 8), FST_WITH(look, shared), FST_I64), fst_fn_sum, &sum);
        for (int64_t x = 0; x < 8000; x++)
                expected += x + table[(size_t)x * 7919 % (20 * MIB)];
        printf("broadcast %s, accumulated %lld\n", sum == expected ? "right" : "wrong",
               (long long)fst_accumulator_sum_i64(sc, shared.seen));
        free(table);
}

static void results(fst_context *sc)
{
        fst_iter *rows;
        int64_t sum = 0, n = 0;
        if (fst_collect(fst_range_n(sc, 0, 1000000, 3), &rows) == 0)
                for (int64_t x; fst_next(rows, &x); n++)
                        sum += x;
        printf("collected %lld, %s\n", (long long)n, sum == 499999500000 ? "right" : "wrong");
}

static void slices(fst_context *sc)
{
        static double numbers[MIB];
        double sum = 0;
        for (int i = 0; i < MIB; i++)
                numbers[i] = i;
        fst_reduce(fst_parallelize_n(sc, numbers, MIB, 5), fst_fn_sum, &sum);
        printf("parallelized %s\n", sum == (double)MIB * (MIB - 1) / 2 ? "right" : "wrong");
}

/* Partitions are cached on both executors; one task reads all of them, without computing any again. */
static void remote(fst_context *sc)
{
        struct shared shared = {.computed = fst_accumulator_i64(sc, "computed")};
        fst_rdd *kept = fst_cache(fst_map(fst_range_n(sc, 0, 100000, 8), FST_WITH(computed, shared), FST_I64));
        int64_t n = 0, sum = 0;
        fst_count(kept, &n);
        fst_reduce(fst_coalesce(kept, 1), fst_fn_sum, &sum);
        printf("remote reads %s, computed %lld\n", sum == 4999950000 ? "right" : "wrong",
               (long long)fst_accumulator_sum_i64(sc, shared.computed));
}

/* Each partition is kept twice: the end of one executor costs none. */
static void replicas(fst_context *sc, int level)
{
        struct shared shared = {.computed = fst_accumulator_i64(sc, "computed")};
        fst_rdd *kept = fst_persist(fst_map(fst_range_n(sc, 0, 100000, 8), FST_WITH(computed, shared), FST_I64), level);
        int64_t n = 0, sum = 0;
        fst_iter *pids;
        fst_count(kept, &n);
        if (fst_collect(fst_map(fst_range_n(sc, 0, 1, 1), pid_of, FST_I64), &pids) == 0)
                for (int64_t pid; fst_next(pids, &pid);)
                        kill((pid_t)pid, SIGKILL);
        fst_reduce(kept, fst_fn_sum, &sum);
        printf("replicas %s, computed %lld\n", sum == 4999950000 ? "right" : "wrong",
               (long long)fst_accumulator_sum_i64(sc, shared.computed));
}

static void files(fst_context *sc)
{
        fst_iter *rows;
        if (fst_collect(fst_map(fst_range_n(sc, 0, 4, 4), length_of, FST_BYTES), &rows))
                return;
        for (fst_bytes line; fst_next(rows, &line);)
                printf("%.*s\n", (int)line.len, line.data);
}

static volatile int ended;

static void *cancel_tagged(void *sc)
{
        for (; !ended; usleep(10000))
                fst_cancel_jobs_with_tag(sc, "tagged");
        return NULL;
}

static void cancelled(fst_context *sc)
{
        pthread_t thread;
        int64_t n = 0;
        fst_add_job_tag(sc, "tagged");
        pthread_create(&thread, NULL, cancel_tagged, sc);
        int r = fst_count(fst_map(fst_range_n(sc, 0, 4, 4), sleepy, FST_I64), &n);
        ended = 1;
        pthread_join(thread, NULL);
        fst_clear_job_tags(sc);
        printf("cancelled %d, then %d\n", r < 0, fst_count(fst_range_n(sc, 0, 4, 4), &n));
}

static int needle(fst_task *task, int64_t x, fst_out *out)
{
        char text[64];
        snprintf(text, sizeof(text), "needle-%lld-in-the-haystack", (long long)x * 7919 % 1000003);
        fst_emit(out, fst_bytes_of(text));
        return 0;
}

static void encrypted(fst_context *sc)
{
        fst_rdd *kept = fst_persist(fst_map(fst_range_n(sc, 0, 20000, 4), needle, FST_BYTES), FST_STORAGE_DISK_ONLY);
        int64_t n = 0;
        fst_count(kept, &n);
        printf("kept %lld\n", (long long)n);
        fflush(stdout);
        getchar();
        fst_count(kept, &n);
        printf("read again %lld\n", (long long)n);
}

int main(int argc, char **argv)
{
        fst_context *sc = fst_context_new("data");
        switch (argv[1][0]) {
        case 'v':
                values(sc);
                break;
        case 'r':
                results(sc);
                break;
        case 's':
                slices(sc);
                break;
        case 'c':
                remote(sc);
                break;
        case '2':
                replicas(sc, FST_STORAGE_MEMORY_ONLY_2);
                break;
        case 'd':
                replicas(sc, FST_STORAGE_DISK_ONLY_2);
                break;
        case 'f':
                files(sc);
                break;
        case 't':
                cancelled(sc);
                break;
        case 'e':
                encrypted(sc);
                break;
        }
        fflush(stdout);
        return fst_context_stop(sc);
}
"""


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    source = tmp_path_factory.mktemp("app") / "data.c"
    source.write_text(APP)
    return str(source)


def submit(app, what, *options, master=CLUSTER, env=None):
    local = os.path.dirname(app)
    result = subprocess.run(
        [os.path.join(BIN, "spark-submit"), "--master", master, "--conf", f"spark.local.dir={local}",
         "--conf", "spark.log.level=WARN", "--conf", "spark.locality.wait=0",
         # The first task waits for every executor, because a second replica needs a second executor.
         "--conf", "spark.scheduler.minRegisteredResourcesRatio=1",
         "--conf", "spark.scheduler.maxRegisteredResourcesWaitingTime=600s", *options, app, what],
        capture_output=True, text=True, timeout=120, env={**os.environ, **(env or {})})
    left = [name for name in os.listdir(local) if name.startswith(("blockmgr-", "firesteel-files"))]
    assert not left, left
    return result


def printed(app, what, *options, **more):
    result = submit(app, what, *options, **more)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.parametrize("master", ["local[2,2]", CLUSTER])
def test_broadcast_and_accumulators(app, master):
    assert printed(app, "values", master=master) == "broadcast right, accumulated 8000\n"


def test_broadcast_pieces_and_no_compression(app):
    out = printed(app, "values", "--conf", "spark.broadcast.blockSize=100k", "--conf", "spark.broadcast.compress=false")
    assert out == "broadcast right, accumulated 8000\n"


def test_large_results(app):
    assert printed(app, "results", "--conf", "spark.task.maxDirectResultSize=100k") == "collected 1000000, right\n"


def test_results_beyond_the_limit(app):
    result = submit(app, "results", "--conf", "spark.driver.maxResultSize=1m")
    assert "is bigger than spark.driver.maxResultSize (1024.0 KiB): raise it (spark.driver.maxResultSize=4g), or let the job " \
           "return less" in result.stderr, result.stderr
    assert result.returncode == 1


def test_slices(app):
    assert printed(app, "slices") == "parallelized right\n"


def test_cached_partitions_are_read_remotely(app):
    assert printed(app, "cached") == "remote reads right, computed 100000\n"


@pytest.mark.parametrize("what", ["2", "disk"])
def test_replicated_partitions_survive(app, what):
    assert printed(app, what) == "replicas right, computed 100000\n"


def test_files_and_archives(app, tmp_path):
    (tmp_path / "words.txt").write_text("from the file\n")
    (tmp_path / "inner.txt").write_text("from the archive\n")
    with tarfile.open(tmp_path / "some.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "inner.txt", "inner.txt")
    out = printed(app, "files", "--files", str(tmp_path / "words.txt"), "--archives", f"{tmp_path}/some.tar.gz#packed")
    assert out.split("\n\n")[:4] == ["from the archive", "from the file"] * 2


def test_a_missing_file(app, tmp_path):
    result = submit(app, "files", "--files", str(tmp_path / "words.txt"))
    assert result.returncode == 1
    assert "words.txt" in result.stderr and "No such file" in result.stderr


def test_cancelled_by_tag(app):
    result = submit(app, "tag")
    assert result.stdout == "cancelled 1, then 0\n", result.stderr


def test_with_a_secret_of_its_own(app):
    assert printed(app, "values", "--conf", "spark.authenticate=true").startswith("broadcast right")
    assert printed(app, "cached", "--conf", "spark.authenticate=true").startswith("remote reads right")


def test_secret_from_a_file(app, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("0123456789abcdef" * 4)
    out = printed(app, "values", "--conf", "spark.authenticate=true", "--conf",
                  f"spark.authenticate.secret.file={secret}")
    assert out.startswith("broadcast right")


def test_short_secrets_are_warned_of(app):
    result = submit(app, "slices", "--conf", "spark.authenticate=true", "--conf", "spark.authenticate.secret=short")
    assert result.returncode == 0
    assert "at least 128 random bits" in result.stderr
    assert "=short" not in result.stderr


def test_certificates(app, tmp_path):
    key, chain = str(tmp_path / "key.pem"), str(tmp_path / "chain.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-keyout", key, "-out", chain, "-subj", "/CN=firesteel", "-days", "2"], check=True,
                   capture_output=True)
    ssl = ["--conf", "spark.ssl.rpc.enabled=true", "--conf", f"spark.ssl.rpc.privateKey={key}", "--conf",
           f"spark.ssl.rpc.certChain={chain}"]
    assert printed(app, "cached", *ssl).startswith("remote reads right")


def test_over_ipv6(app):
    assert printed(app, "cached", "--conf", "spark.driver.host=::1").startswith("remote reads right")


def test_a_fixed_port_and_its_next(app):
    import socket
    with socket.socket() as taken:
        taken.bind(("", 0))
        taken.listen()
        port = taken.getsockname()[1]
        result = submit(app, "slices", "--conf", f"spark.driver.port={port}", "--conf", "spark.log.level=INFO")
        assert result.returncode == 0, result.stderr
        assert re.search(r"could not bind on port", result.stderr), result.stderr
        result = submit(app, "slices", "--conf", f"spark.driver.port={port}", "--conf", "spark.port.maxRetries=0")
        assert result.returncode == 1 and "raise spark.port.maxRetries" in result.stderr, result.stderr


def test_waits_for_registered_executors(app):
    result = submit(app, "slices", "--conf", "spark.scheduler.minRegisteredResourcesRatio=1.0", "--conf",
                    "spark.scheduler.maxRegisteredResourcesWaitingTime=600s", "--conf", "spark.log.level=INFO")
    assert result.returncode == 0
    first_task = result.stderr.index("Starting task 0.0 in stage 0.0")
    assert result.stderr.count("Registered executor", 0, first_task) == 2


def on_disk(pid, local):
    """All bytes in files of @local that the executors of driver @pid have, also in unlinked files."""
    found = b""
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/children") as children:
            for child in children.read().split():
                for fd in os.listdir(f"/proc/{child}/fd"):
                    path = f"/proc/{child}/fd/{fd}"
                    with contextlib.suppress(FileNotFoundError):  # closed meanwhile
                        if os.readlink(path).startswith(str(local)) and os.path.isfile(path):
                            with open(path, "rb") as file:
                                found += file.read()
    for path in local.rglob("*"):
        if path.is_file():
            found += path.read_bytes()
    return found


@pytest.mark.parametrize("encrypted", [False, True])
def test_encrypted_files(app, tmp_path, encrypted):
    """The files on disk do not contain the cached rows."""
    with subprocess.Popen(
            [os.path.join(BIN, "spark-submit"), "--master", CLUSTER, "--conf", f"spark.local.dir={tmp_path}", "--conf",
             "spark.log.level=WARN", "--conf", "spark.io.compression.codec=lz4", "--conf", "spark.rdd.compress=false",
             "--conf", "spark.shuffle.spill.compress=false", "--conf", f"spark.io.encryption.enabled={str(encrypted).lower()}",
             app, "encrypted"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as driver:
        assert driver.stdout.readline() == "kept 20000\n"
        found = on_disk(driver.pid, tmp_path)
        out, _ = driver.communicate("go on\n", timeout=120)
        assert driver.returncode == 0
        assert out == "read again 20000\n"
    assert len(found) > 20000 * 20
    assert (b"needle-" in found) == (not encrypted)


LOOP = r"""
#include <firesteel/firesteel.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static int64_t forever(fst_task *task, int64_t x)
{
        for (volatile int64_t i = 0;; i++)
                ;
        return x;
}

static volatile int ended;

static void *cancel(void *sc)
{
        for (; !ended; usleep(100000))
                fst_cancel_all_jobs(sc);
        return NULL;
}

int main(void)
{
        fst_context *sc = fst_context_new("forever");
        pthread_t thread;
        int64_t n;
        struct timespec begin, end;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        pthread_create(&thread, NULL, cancel, sc);
        int r = fst_count(fst_map(fst_range_n(sc, 0, 2, 2), forever, FST_I64), &n);
        clock_gettime(CLOCK_MONOTONIC, &end);
        ended = 1;
        pthread_join(thread, NULL);
        printf("%d %d\n", r < 0, end.tv_sec - begin.tv_sec < 60);
        fflush(stdout);
        return fst_context_stop(sc);
}
"""


def test_a_cancelled_job_does_not_wait_for_tasks_that_never_look_up(tmp_path):
    (tmp_path / "forever.c").write_text(LOOP)
    result = submit(str(tmp_path / "forever.c"), "")
    assert result.stdout == "1 1\n", result.stderr


def executor(*arguments):
    return subprocess.run([os.path.join(BIN, "firesteel"), "executor", *arguments], capture_output=True, text=True,
                          timeout=120, check=False)


GOOD = {"--driver-url": "spark://CoarseGrainedScheduler@127.0.0.1:1", "--executor-id": "0", "--hostname": "127.0.0.1",
        "--cores": "1", "--app-id": "app"}


@pytest.mark.parametrize("option", [option for option in GOOD if option != "--hostname"])
def test_an_executor_needs_its_arguments(option):
    result = executor(*[word for name, value in GOOD.items() if name != option for word in (name, value)])
    assert result.returncode == 1
    assert f"missing option {option}" in result.stderr


def test_an_executor_needs_no_hostname():
    result = executor(*[word for name, value in GOOD.items() if name != "--hostname" for word in (name, value)])
    assert result.returncode == 1
    assert "missing option" not in result.stderr and "127.0.0.1:1: Connection refused" in result.stderr  # of the driver


@pytest.mark.parametrize("option, value, said", [
    ("--cores", "none", "--cores needs a number, not none"),
    ("--cores", "0", "--cores needs a number, not 0"),
    ("--resourceProfileId", "x", "--resourceProfileId needs a number, not x"),
    ("--conf", "no-value", "--conf needs KEY=VALUE, not no-value"),
    ("--colour", "red", "unknown option --colour"),
    ("--driver-url", "http://x", "http://x"),
])
def test_executor_rejects_invalid_options(option, value, said):
    result = executor(*[word for name, given in {**GOOD, option: value}.items() for word in (name, given)])
    assert result.returncode == 1
    assert said in result.stderr, result.stderr


def test_an_executor_whose_driver_is_not_there():
    result = executor(*[word for pair in GOOD.items() for word in pair])
    assert result.returncode == 1
    assert "127.0.0.1:1" in result.stderr
