"""Programs in R on Firesteel: by a stand-in for R that speaks SparkR's protocols, and by SparkR itself.

FIRESTEEL_SPARKR_LIB names the directory that contains SparkR; otherwise R is asked. The latter tests are skipped without R.
"""
import os
import shutil
import signal
import struct
import subprocess
import sys
import textwrap

import pytest

from conditions import wait_until
from folders import BIN, TESTS
import r_programs
from sparkr_peer import Failed, Object, Session, connect, number

PEER = f"{TESTS}/sparkr_peer.py"
PAIRWISE = "org.apache.spark.api.r.PairwiseRRDD"
STRINGS = "org.apache.spark.api.r.StringRRDD"


def environment(**more):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK", "MASTER", "R_"))}
    return dict(kept, **more)


@pytest.fixture
def place(tmp_path):
    """A directory with what stands for SparkR."""
    worker = tmp_path / "library" / "SparkR" / "worker"
    worker.mkdir(parents=True)
    for name in ("daemon.R", "worker.R"):
        (worker / name).write_text("")
    (tmp_path / "library" / "SparkR" / "DESCRIPTION").write_text("Package: SparkR\nVersion: 4.1.2\n")
    return tmp_path


def words(place, *options, master="local[2]"):
    return [os.path.join(BIN, "spark-submit"), "--master", master, "--conf", f"spark.r.command={PEER}",
            "--conf", f"spark.firesteel.r.library={place}/library", "--conf", "spark.ui.enabled=false", *options]


def run(place, program, *options, master="local[2]", arguments=(), variables=None, **settings):
    (place / "app.R").write_text("from sparkr_peer import *\n" + textwrap.dedent(program))
    confs = [word for name, setting in settings.items() for word in ("--conf", f"{name.replace('_', '.')}={setting}")]
    return subprocess.run([*words(place, *confs, *options, master=master), str(place / "app.R"), *arguments],
                          capture_output=True, text=True, timeout=180, check=False, env=environment(**variables or {}), cwd=place)


def shown(done):
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout.splitlines()


class OwnSession(Session):
    """A session of an R that started the backend: ends it at the end."""

    def __init__(self, place, *options, master="local[2]"):
        self.path, self.errors = place / "backend_port", place / "errors"
        with open(self.errors, "wb") as errors:
            self.process = subprocess.Popen([*words(place, *options, master=master), "sparkr-shell", str(self.path)], stderr=errors,
                                            env=environment(), cwd=place)
        wait_until(lambda: self.path.exists() or self.process.poll() is not None, "the backend's file")
        assert self.path.exists(), self.errors.read_text()
        data = self.path.read_bytes()
        port, monitor, library, timeout, size = struct.unpack(">iiiii", data[:20])
        assert (library, timeout, size) == (0, 6000, len(data) - 20)
        self.monitor = connect(monitor, data[20:].decode())
        super().__init__(port, data[20:].decode())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.monitor.close()
        assert self.process.wait(60) == 0, self.errors.read_text()[-4000:]


# ------------------------------------------------------------------------------------------------------- spark-submit

def test_runs_functions_and_passes_output_and_arguments(place):
    lines = shown(run(place, """
        import sys
        s = Session()
        sc = s.context()
        print(sys.argv[1:], os.path.isdir(os.environ["SPARK_HOME"]), os.environ["SPARKR_BACKEND_CONNECTION_TIMEOUT"],
              flush=True)
        print("on standard error", file=sys.stderr)
        spark = s.static("org.apache.spark.sql.api.r.SQLUtils", "getOrCreateSparkSession", sc, {}, False)
        print(s.call(spark, "version"), s.call(sc, "defaultParallelism"))
        rdd = s.lapply(s.parallelize(sc, [b"a", b"bc"]), "upper")
        print(s.collect(rdd), s.collect(s.lapply(rdd, "numbered")))
        print(s.call(s.call(rdd, "getClass"), "getName"), s.call(rdd, "getNumPartitions"), s.call(rdd, "count"))
        s.call(sc, "stop")
    """, arguments=["one", "two words"]))
    assert lines == ["['one', 'two words'] True 6000", "on standard error", "4.1.2 2", "[b'A', b'BC'] [b'0:A', b'1:BC']",
                     "org.apache.spark.api.java.JavaRDD 2 2.0"]


@pytest.mark.parametrize("end, status", [("sys.exit(7)", 7), ("os.kill(os.getpid(), 9)", 137), ("pass", 0)])
def test_status_is_that_of_the_program(place, end, status):
    done = run(place, f"sys.stdout.flush()\nSession().context()\n{end}")
    assert done.returncode == status, done.stderr


def test_shuffles_by_bucket(place):
    lines = shown(run(place, f"""
        s = Session()
        sc = s.context()
        rdd = s.parallelize(sc, [b"apple", b"bean", b"cherry", b"aubergine", b"banana"])
        pairs = s.static("{PAIRWISE}", "<init>", s.call(rdd, "rdd"), 3, b"first_letter", "byte", b"packages", [], rdd)
        by = s.call(s.call(pairs, "asJavaPairRDD"), "partitionBy", s.static("org.apache.spark.HashPartitioner", "<init>", 3))
        values = s.call(by, "values")
        for partition, listed in enumerate(s.call(values, "collectPartitions", [0, 1, 2])):
            print(partition, sorted(s.rows(listed)))
        print(s.collect(s.lapply(values, "joined"))[1])
    """))
    assert lines == ["0 [b'cherry']", "1 [b'apple', b'aubergine']", "2 [b'banana', b'bean']", "b'apple+aubergine'"]


def test_lines_go_in_and_out(place):
    (place / "in.txt").write_text("one\n\nthree é\n")
    lines = shown(run(place, f"""
        s = Session()
        sc = s.context()
        text = s.call(sc, "textFile", "{place}/in.txt", 1)
        print(s.collect(text), s.collect(s.lapply(text, "numbered", form="string")))
        made = s.static("{STRINGS}", "<init>", s.call(text, "rdd"), b"lengths", "string", b"packages", [], text)
        made = s.call(made, "asJavaRDD")
        print(s.collect(made))
        s.call(made, "saveAsTextFile", "{place}/out")
        try:
            s.call(made, "saveAsTextFile", "{place}/out")
        except Failed as failed:
            print(failed)
    """))
    assert lines[:2] == ["['one', '', 'three é'] [b'0:one', b'0:', b'0:three \\xc3\\xa9']", "['3', '0', '8']"]
    assert "already exists" in lines[2]
    assert (place / "out" / "part-00000").read_text() == "3\n0\n8\n"


def test_zips_unites_caches_and_saves_objects(place):
    lines = shown(run(place, f"""
        s = Session()
        sc = s.context()
        a, b = s.parallelize(sc, [b"a", b"b"]), s.parallelize(sc, [b"x", b"y"])
        zipped = s.call(a, "zip", b)
        pairs = s.rows(s.call(zipped, "collect"))
        tuple_class = s.static("java.lang.Class", "forName", "scala.Tuple2")
        print([s.call(tuple_class, "isInstance", p) for p in pairs], s.call(pairs[1], "_1"), s.call(pairs[1], "_2"))
        print(s.collect(s.lapply(zipped, "joined")), len(s.collect(s.call(a, "union", b))))
        level = s.static("org.apache.spark.storage.StorageLevel", "MEMORY_AND_DISK")
        print(s.call(level, "toString"))
        s.call(s.lapply(a, "upper"), "persist", level)
        s.call(a, "saveAsObjectFile", "{place}/objects")
        print(sorted(s.collect(s.call(sc, "objectFile", "{place}/objects", 1))))
    """))
    assert (place / "objects" / "part-00000").read_bytes().startswith(b"SEQ\x06!org.apache.hadoop.io.NullWritable")
    assert lines == ["[True, True] b'b' b'y'", "[b'a+x', b'b+y'] 4", "StorageLevel(disk, memory, deserialized, 1 replicas)",
                     "[b'a', b'b']"]


@pytest.mark.parametrize("master", ["local[2]", "local-cluster[2,1,1024]"])
def test_broadcasts_and_files_reach_workers(place, master):
    (place / "added.txt").write_text("from a file\n")
    lines = shown(run(place, f"""
        s = Session()
        sc = s.context()
        s.call(sc, "addFile", "{place}/added.txt")
        print(os.path.exists(s.static("org.apache.spark.SparkFiles", "get", "added.txt")))
        rdd = s.parallelize(sc, [b"r%d" % i for i in range(4)])
        print(s.collect(s.lapply(rdd, "reads_broadcast", broadcasts=[s.call(sc, "broadcast", b"v")])))
        print(s.collect(s.lapply(rdd, "reads_file"))[3])
    """, master=master))
    assert lines == ["True", "[b'r0/v', b'r1/v', b'r2/v', b'r3/v']", "b'r3/from a file'"]


def test_runs_on_a_standalone_cluster(cluster, place):
    master = cluster.master()
    for _ in range(2):
        cluster.worker(master.url, cores=1)
    (place / "added.txt").write_text("from a file\n")
    lines = shown(run(place, f"""
        s = Session()
        sc = s.context()
        s.call(sc, "addFile", "{place}/added.txt")
        print(s.collect(s.lapply(s.parallelize(sc, [b"a", b"b"]), "reads_file")))
    """, master=master.url, variables={"SPARK_LOCAL_IP": "127.0.0.1"}))
    assert lines == ["[b'a/from a file', b'b/from a file']"]


def test_works_without_a_daemon(place):
    assert shown(run(place, """
        s = Session()
        print(s.collect(s.lapply(s.parallelize(s.context(), [b"a", b"b"]), "upper")))
    """, spark_sparkr_use_daemon="false")) == ["[b'A', b'B']"]


def test_large_collections_come_by_file_and_by_connection(place):
    slices = b"".join(number(len(row)) + row for row in (b"a", b"bb", b"ccc"))
    (place / "slices").write_bytes(slices)
    lines = shown(run(place, f"""
        s = Session()
        sc = s.context()
        rdd = s.static("org.apache.spark.api.r.RRDD", "createRDDFromFile", sc, "{place}/slices", 2)
        print(s.collect(rdd), s.call(rdd, "getNumPartitions"))
        print(s.static("org.apache.spark.api.r.RUtils", "isEncryptionEnabled", sc))
        server = s.static("org.apache.spark.api.r.RParallelizeServer", "<init>", sc, 3)
        connection = connect(s.call(server, "port"), s.call(server, "secret"))
        connection.sendall({slices!r})
        connection.close()
        print(s.collect(s.call(server, "getResult")))
    """))
    assert lines == ["[b'a', b'bb', b'ccc'] 2", "False", "[b'a', b'bb', b'ccc']"]


# ------------------------------------------------------------------------------------------------------- failures

@pytest.mark.parametrize("function, message", [
    ("fails", "R unexpectedly exited.\nR worker produced errors: Error in f(x) : this function fails"),
    ("sends_garbage", "The R worker has sent bytes that SparkR's worker does not send"),
    ("unknown", "R unexpectedly exited.\nR worker produced errors: ")])
def test_failure_of_a_function_reaches_the_program(place, function, message):
    with OwnSession(place) as s:
        rdd = s.parallelize(s.context(), [b"a"])
        with pytest.raises(Failed) as failed:
            s.collect(s.lapply(rdd, function))
        assert str(failed.value).startswith("org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage")
        assert message in str(failed.value)
        assert s.collect(s.lapply(rdd, "upper")) == [b"A"]


@pytest.mark.parametrize("static, target, member, arguments, message", [
    (1, "org.apache.spark.sql.api.r.SQLUtils", "createDF", [], "Firesteel has no SQL: org.apache.spark.sql.api.r.SQLUtils.createDF needs"),
    (1, "org.apache.spark.ml.r.KMeansWrapper", "fit", [], "Firesteel has no SQL"),
    (1, "com.example.Nothing", "f", [], "java.lang.ClassNotFoundException: com.example.Nothing"),
    (1, "java.util.ArrayList", "sort", [], "invalid method sort for class java.util.ArrayList"),
    (1, "java.lang.Class", "forName", [], "No matched method found for class java.lang.Class.forName with 0 arguments"),
    (1, "java.lang.Class", "forName", [1], "argument 1 of forName is not a string"),
    (0, "99", "f", [], "java.lang.IllegalArgumentException: Object not found 99"),
    (0, "-1", "f", [], "Object not found -1"),
    (1, "org.apache.spark.SparkFiles", "getRootDirectory", [], "Cannot call methods on a stopped SparkContext"),
    (1, "org.apache.spark.api.r.RRDD", "createRDDFromArray", [Object("7"), [1]], "slice 1 of a collection is not a raw vector"),
])
def test_call_without_an_answer_is_an_error(place, static, target, member, arguments, message):
    with OwnSession(place) as s:
        if member == "createRDDFromArray":
            s.context()
        s.send(static, target, member, *arguments)
        with pytest.raises(Failed) as failed:
            s.answer()
        assert message in str(failed.value)


def test_missing_file_and_invalid_setting_are_errors(place):
    with OwnSession(place) as s:
        with pytest.raises(Failed, match="spark.task.maxFailures"):
            s.context(spark_task_maxFailures="none")
        sc = s.context()
        with pytest.raises(Failed, match="Input path does not exist"):
            s.collect(s.call(sc, "textFile", f"{place}/nowhere"))
        with pytest.raises(Failed, match="Input path does not exist"):
            s.call(s.call(sc, "textFile", f"{place}/nowhere"), "getNumPartitions")


def test_objects_end_when_r_removes_them_and_when_the_context_stops(place):
    with OwnSession(place) as s:
        sc = s.context()
        rdd = s.parallelize(sc, [b"a"])
        s.static("SparkRHandler", "rm", str(rdd))
        with pytest.raises(Failed, match="Object not found"):
            s.call(rdd, "count")
        rdd = s.parallelize(sc, [b"a"])
        s.call(sc, "stop")
        with pytest.raises(Failed, match="stopped SparkContext"):
            s.call(rdd, "count")
        s.context()
        with pytest.raises(Failed, match="a SparkContext that was stopped"):
            s.call(rdd, "count")
        assert s.static("SparkRHandler", "echo", [1.5, None, "é", [True]]) == [1.5, None, "é", [True]]


def test_strangers_and_damaged_requests_harm_nobody(place):
    with OwnSession(place) as s:
        with pytest.raises(PermissionError, match="^err$"):
            connect(s.port, "wrong")
        with pytest.raises(PermissionError, match="^err$"):
            connect(s.port, s.secret[:-1] + "x")
        s.connection.sendall(number(6) + b"garbag")
        with pytest.raises(Failed, match="a request of R is invalid"):
            s.answer()
        assert s.static("SparkRHandler", "echo", 1) == 1


def wait_for_pid(place):
    wait_until((place / "pid").exists, "a waiting worker")
    return int((place / "pid").read_text())


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_signs_of_life_come_during_long_calls(place):
    with OwnSession(place, "--conf", "spark.r.heartBeatInterval=1") as s:
        s.waiting = lambda: (place / "go").touch()
        rdd = s.parallelize(s.context(), [str(place).encode()])
        assert s.collect(s.lapply(rdd, "waits")) == [str(place).encode()]
        assert (place / "go").exists()


@pytest.mark.parametrize("daemon", ["true", "false"])
def test_cancelled_task_kills_its_worker(place, daemon):
    with OwnSession(place, "--conf", f"spark.sparkr.use.daemon={daemon}") as s:
        sc = s.context()
        s.call(sc, "setJobGroup", "group", "waits", True)
        rdd = s.lapply(s.parallelize(sc, [str(place).encode()]), "waits")
        s.send(0, rdd, "collect")
        pid = wait_for_pid(place)
        other = Session(s.port, s.secret)
        other.call(sc, "cancelJobGroup", "group")
        with pytest.raises(Failed, match="cancelled"):
            s.answer()
        wait_until(lambda: not is_running(pid), "the end of the worker")


def test_killed_worker_is_a_failure_and_killed_daemon_is_replaced(place):
    with OwnSession(place) as s:
        rdd = s.parallelize(s.context(), [str(place).encode()])
        s.send(0, s.lapply(rdd, "waits"), "collect")
        pid = wait_for_pid(place)
        with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
            daemon = int(stat.read().rpartition(")")[2].split()[1])
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(Failed, match="R unexpectedly exited"):
            s.answer()
        os.kill(daemon, signal.SIGKILL)
        wait_until(lambda: not is_running(daemon), "the end of the daemon")
        assert s.collect(s.lapply(rdd, "upper")) == [str(place).encode().upper()]


def test_end_of_r_ends_the_backend_and_its_jobs(place):
    with OwnSession(place) as s:
        rdd = s.parallelize(s.context(), [str(place).encode()])
        s.send(0, s.lapply(rdd, "waits"), "collect")
        pid = wait_for_pid(place)
    wait_until(lambda: not is_running(pid), "the end of the worker")


def test_missing_sparkr_and_missing_r_are_one_clear_line(place):
    (place / "app.R").write_text("")
    for options, message in (([], "SparkR was not found: R (/nowhere/Rscript) has no package of that name"),
                             (["--conf", f"spark.firesteel.r.library={place}/library"], "/nowhere/Rscript")):
        done = subprocess.run([os.path.join(BIN, "spark-submit"), "--master", "local", "--conf", "spark.r.command=/nowhere/Rscript",
                               *options, str(place / "app.R")], capture_output=True, text=True, timeout=120, check=False,
                              env=environment(), cwd=place)
        assert done.returncode != 0
        assert message in done.stderr + done.stdout


def test_shell_runs_r_with_the_backend(place):
    (place / "shell").write_text(f"#!/bin/sh\nexec {sys.executable} - <<'END'\nimport sys\nsys.path.insert(0, '{os.path.dirname(PEER)}')\n"
                                 "from sparkr_peer import *\ns = Session()\nprint(s.call(s.context(), 'master'), os.environ['R_PROFILE_USER'])\n"
                                 "END\n")
    (place / "shell").chmod(0o755)
    done = subprocess.run([os.path.join(BIN, "sparkR"), *words(place, "--conf", f"spark.r.shell.command={place}/shell")[1:]],
                          capture_output=True, text=True, timeout=120, check=False, env=environment(), cwd=place)
    assert done.stdout == f"local[2] {place}/library/SparkR/profile/shell.R\n", done.stderr
    assert done.returncode == 0


# ------------------------------------------------------------------------------------------------------- SparkR itself

@pytest.fixture(scope="module")
def sparkr():
    """The directory that contains SparkR."""
    if not shutil.which("Rscript"):
        pytest.skip("there is no Rscript")
    folder = r_programs.library()
    if not folder:
        pytest.skip(r_programs.MISSING)
    return folder.split(":")[0]


def run_r(sparkr, folder, program, master="local[2]", arguments=()):
    (folder / "app.R").write_text("suppressPackageStartupMessages(library(SparkR))\n" + textwrap.dedent(program))
    done = subprocess.run([os.path.join(BIN, "spark-submit"), "--master", master, "--conf", "spark.ui.enabled=false",
                           "--conf", f"spark.firesteel.r.library={sparkr}", str(folder / "app.R"), *arguments], capture_output=True, text=True,
                          timeout=300, check=False, env=environment(), cwd=folder)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout.splitlines()


def test_programs_print_what_genuine_spark_prints(sparkr, tmp_path):
    """A part of `make check-r`."""
    side, wanted = r_programs.firesteel(BIN, sparkr, str(tmp_path)), ("data/types", "errors/task", "context/settings", "pairs/joins", "rdd/zip")
    output = tmp_path / "out"
    output.mkdir()
    wrong = []
    for name, printed, _, why in r_programs.run(side, wanted, str(output), str(tmp_path / "log")):
        recorded = r_programs.expected(name)
        if why is not None or printed != recorded:
            wrong.append(f"{name}: {why or r_programs.python_programs.difference(recorded, printed)}")
    assert not wrong, "\n".join(wrong) + "\n" + (tmp_path / "log").read_text(errors="replace")[-3000:]


@pytest.mark.parametrize("master", ["local[2]", "local-cluster[2,1,1024]"])
def test_sparkr_runs_functions_and_shuffles(sparkr, tmp_path, master):
    (tmp_path / "text").write_text("to be or not to be\n")
    lines = run_r(sparkr, tmp_path, f"""
        invisible(sparkR.session(enableHiveSupport = FALSE))
        k <- 3
        cat(unlist(spark.lapply(1:5, function(x) x * k)), "\\n")
        sc <- SparkR:::getSparkContext()
        words <- SparkR:::flatMap(SparkR:::textFile(sc, "{tmp_path}/text"), function(line) strsplit(line, " ")[[1]])
        counts <- SparkR:::reduceByKey(SparkR:::lapply(words, function(w) list(w, 1L)), "+", 2L)
        counts <- SparkR:::collectRDD(SparkR:::sortByKey(counts))
        for (pair in counts) cat(pair[[1]], pair[[2]], "\\n")
        big <- SparkR:::broadcastRDD(sc, k)
        use <- function(x) x + SparkR:::value(big)
        cat(unlist(SparkR:::collectRDD(SparkR:::lapply(SparkR:::parallelize(sc, 1:3, 2L), use))), "\\n")
        sparkR.session.stop()
    """, master=master)
    assert [line.split() for line in lines if "Spark package" not in line] == [
        ["3", "6", "9", "12", "15"], ["be", "2"], ["not", "1"], ["or", "1"], ["to", "2"], ["4", "5", "6"]]


def test_plain_r_needs_no_java(sparkr, tmp_path):
    """R/firesteel.R starts the backend, so that SparkR does not ask for Java."""
    home = tmp_path / "home"
    for folder, entry in (("bin", os.path.join(BIN, "spark-submit")), ("R", os.path.join(os.path.dirname(PEER), "..", "R", "firesteel.R"))):
        (home / folder).mkdir(parents=True)
        (home / folder / os.path.basename(entry)).symlink_to(os.path.realpath(entry) if folder == "R" else os.path.abspath(entry))
    (tmp_path / "plain.R").write_text(textwrap.dedent("""
        source(file.path(Sys.getenv("SPARK_HOME"), "R", "firesteel.R"))
        firesteel.backend("--master", "local[2]", "--conf", "spark.ui.enabled=false")
        suppressPackageStartupMessages(library(SparkR))
        for (i in 1:2) {
          invisible(sparkR.session(enableHiveSupport = FALSE))
          cat("got", unlist(spark.lapply(1:3, function(x) x * i)), "\\n")
          sparkR.session.stop()
        }
        firesteel.backend.stop()
        cat("left", nchar(Sys.getenv("EXISTING_SPARKR_BACKEND_PORT")), "\\n")
    """))
    path = r_programs.python_programs.path_without_java(str(tmp_path / "path"))
    variables = {k: v for k, v in environment(SPARK_HOME=str(home), R_LIBS=sparkr, PATH=path).items() if k != "JAVA_HOME"}
    done = subprocess.run(["Rscript", str(tmp_path / "plain.R")], capture_output=True, text=True, timeout=300, check=False, env=variables, cwd=tmp_path)
    lines = [line.split() for line in done.stdout.splitlines() if line.startswith(("got", "left"))]
    assert lines == [["got", "1", "2", "3"], ["got", "2", "4", "6"], ["left", "0"]], done.stdout + done.stderr


@pytest.mark.parametrize("name, arguments, given, wanted", [
    ("pi.R", ["2"], "", ["Pi is roughly 3.1"]),
    ("wordcount.R", ["given"], "to be or not\nto be that\n", ["be: 2", "to: 2", "not: 1", "or: 1", "that: 1"]),
    ("kmeans.R", ["given", "2", "3"], "0 0\n0.5 0.2\n9 9\n9.5 8\n0.1 0.1\n", ["0.2 0.1", "9.25 8.50"]),
    ("pagerank.R", ["given", "5"], "a b\na c\nb c\nc a\nd c\n", ["a 1.406542", "b 0.7644192", "c 1.272744"]),
    ("models.R", ["4"], "", ["degree 1 error 1.", "degree 2 error 1.", "degree 3 error 0.5", "degree 4 error 0.5"]),
])
def test_examples_compute_their_results(sparkr, tmp_path, name, arguments, given, wanted):
    (tmp_path / "given").write_text(given)
    with open(os.path.join(os.path.dirname(PEER), "..", "examples", "r", name), encoding="utf-8") as text:
        lines = run_r(sparkr, tmp_path, text.read(), arguments=arguments)
    assert all(line.startswith(start) for line, start in zip(lines[-len(wanted):], wanted)) and len(lines) >= len(wanted), lines


def test_sparkr_shows_failures_and_refuses_data_frames(sparkr, tmp_path):
    lines = run_r(sparkr, tmp_path, """
        invisible(sparkR.session(enableHiveSupport = FALSE))
        for (f in list(function() spark.lapply(1:2, function(x) stop("bad ", x)), function() createDataFrame(cars)))
                cat(tryCatch(f(), error = function(e) conditionMessage(e)), "\\n")
        cat(unlist(spark.lapply(1:2, function(x) -x)), "\\n")
    """)
    text = "\n".join(lines)
    assert "Job aborted due to stage failure" in text and "R unexpectedly exited." in text and "bad " in text
    assert "Firesteel has no SQL" in text, text
    assert lines[-1].split() == ["-1", "-2"]
