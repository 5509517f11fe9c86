"""Programs in R on YARN in client and cluster mode, on the ResourceManager and NodeManagers of tests/yarn/fake_yarn.py.

A stand-in for R speaks SparkR's protocols (sparkr_peer.py).
"""
import os
import textwrap

import pytest

from conditions import wait_until
from fake_yarn import FINAL_FAILED, FINAL_SUCCEEDED, FINISHED
from folders import TESTS
from yarn_submit import cache, submit, yarn  # noqa: F401

PEER = f"{TESTS}/sparkr_peer.py"

PROGRAM = """
    import sys
    s = Session()
    sc = s.context()
    print("arguments", sys.argv[1:], s.call(sc, "master"), "/container_" in os.getcwd())
    rdd = s.parallelize(sc, [b"a", b"b", b"c"])
    print("rows", s.collect(s.lapply(rdd, "reads_file")), {*s.collect(s.lapply(rdd, "library"))})
    s.call(sc, "stop")
"""


@pytest.fixture
def program(submit):
    """Writes the program and what stands for SparkR, and returns the words of its submission."""
    worker = submit.folder / "home" / "R" / "lib" / "SparkR" / "worker"
    worker.mkdir(parents=True)
    for name in ("daemon.R", "worker.R"):
        (worker / name).write_text("")
    (submit.folder / "home" / "R" / "lib" / "SparkR" / "DESCRIPTION").write_text("Package: SparkR\nVersion: 4.1.2\n")
    (submit.folder / "added.txt").write_text("from a file\n")

    def run(text, *words, cluster, conf=()):
        (submit.folder / "app.R").write_text(f"import sys\nsys.path.insert(0, {os.path.dirname(PEER)!r})\nfrom sparkr_peer import *\n" + textwrap.dedent(text))
        settings = (f"spark.r.command={PEER}", "spark.yarn.maxAppAttempts=1", *conf)
        return submit.run("--files", "added.txt", "app.R", *words, cluster=cluster, conf=settings, SPARK_HOME=str(submit.folder / "home"))
    return run


def driver_printed(yarn):
    return yarn.last().attempt.container.log("stdout")


@pytest.mark.parametrize("cluster", [False, True])
def test_workers_find_sparkr_and_files_of_the_submission(program, yarn, cluster):
    done = program(PROGRAM, "a b", "'$c\"", cluster=cluster)
    printed = driver_printed(yarn) if cluster else done.stdout
    assert done.returncode == 0, done.stderr + printed
    assert f"arguments ['a b', '\\'$c\"'] yarn {cluster}" in printed.splitlines(), printed
    library = "sparkr" if cluster else "lib"  # what travelled, unless the driver's path exists
    assert f"rows [b'a/from a file', b'b/from a file', b'c/from a file'] {{b'{library}'}}" in printed.splitlines(), printed
    assert (yarn.last().state, yarn.last().final_status) == (FINISHED, FINAL_SUCCEEDED)


def test_status_of_r_is_that_of_the_application(program, yarn):
    done = program("sys.exit(7)", cluster=True)
    assert done.returncode == 1
    assert "User application exited with status 7" in done.stderr, done.stderr + driver_printed(yarn)
    assert yarn.last().final_status == FINAL_FAILED
    container = yarn.last().attempt.container
    wait_until(lambda: container.is_complete, "the end of the container")
    assert container.status == 7


def test_cluster_mode_of_spark_s_libraries_runs_a_jvm(program, yarn, submit):
    (submit.folder / "jars.zip").write_bytes(b"PK\5\6" + bytes(18))
    done = program("pass", cluster=True, conf=[f"spark.yarn.archive=file:{submit.folder}/jars.zip"])
    assert done.returncode == 1
    command = yarn.last().attempt.container.context.command
    assert command[0].endswith("/bin/java") and "--primary-r-file" in command, command
