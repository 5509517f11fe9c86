"""Programs of genuine pyspark print on Firesteel what they print on Spark: a part of `make check-python`."""
import os
import signal
import subprocess
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from conditions import wait_until  # noqa: E402
import environments  # noqa: E402
from folders import BUILD  # noqa: E402
from free_ports import free_port  # noqa: E402
from full_number import full_number  # noqa: E402
import programs  # noqa: E402

# One program for each part of the interface: a context takes 0.3 s of CPU time, most of it in Python.
LOCAL = ("rdd/take", "rdd/zip", "rdd/cartesian", "rdd/local_iterator", "rdd/call_sites", "pairs/join", "data/types_rows",
         "shared/accumulator_once", "shared/broadcast_life", "storage/persist_once", "storage/checkpoint_files",
         "files/text_save", "files/pickle", "files/add_py", "errors/task", "errors/exit", "context/threads", "context/status",
         "workers/barrier_all_gather", "workers/worker_reuse")
LOCAL += full_number(("rdd/sort", "rdd/union", "rdd/coalesce", "pairs/partition_by", "data/serializers_batches", "files/text",
                      "files/missing", "errors/stdout", "context/conf", "context/job_group", "workers/task_context"), ())
SUBMITTED = ("applications/word_count", "errors/java_exception")
CLUSTER = ("applications/pagerank", "shared/accumulator_once", "shared/broadcast_values")


FOUND = environments.find(BUILD)
pytestmark = pytest.mark.skipif(FOUND is None, reason=environments.MISSING)


@pytest.mark.parametrize("way, master, wanted", [("B", "local[2]", LOCAL), ("A", "local[2]", SUBMITTED), ("B", "local-cluster[2,1,1024]", CLUSTER)])
def test_programs_print_what_genuine_pyspark_prints(tmp_path, way, master, wanted):
    python, version = FOUND
    sides = programs.firesteel(python, programs.home_of_build(BUILD, str(tmp_path)), str(tmp_path))
    output = tmp_path / "out"
    output.mkdir()
    wrong = []
    for name, printed, _, why in programs.run(sides, wanted, str(output), way, master, str(tmp_path / "log")):
        recorded = programs.expected(name, version)
        if why is not None or printed != recorded:
            wrong.append(f"{name}: {why or programs.difference(recorded, printed)}")
    assert not wrong, "\n".join(wrong) + "\n" + (tmp_path / "log").read_text(errors="replace")[-3000:]


def test_a_signal_ends_a_program_whose_context_still_waits_for_a_master(tmp_path):
    python, _ = FOUND
    sides = programs.firesteel(python, programs.home_of_build(BUILD, str(tmp_path)), str(tmp_path))
    app, log = tmp_path / "app.py", tmp_path / "log"
    app.write_text("from pyspark import SparkContext\nSparkContext(appName='waits')\n")
    command = [os.path.join(sides.environment["SPARK_HOME"], "bin", "spark-submit"), "--master", f"spark://127.0.0.1:{free_port()}",
               "--conf", "spark.ui.enabled=false", str(app)]
    with open(log, "w") as errors:
        process = subprocess.Popen(command, env=dict(sides.environment, PYSPARK_PYTHON=python), stdout=errors, stderr=errors,
                                   start_new_session=True)
        try:
            wait_until(lambda: "Failed to connect to master" in log.read_text(), "the driver tries a master that is not there")
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 143, log.read_text()
        finally:
            programs.kill_session(process)
    assert "crashed" not in log.read_text()


@pytest.mark.parametrize("interpreter", ["PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"])
def test_an_interpreter_that_does_not_exist_fails_the_submission(tmp_path, interpreter):
    python, _ = FOUND
    sides = programs.firesteel(python, programs.home_of_build(BUILD, str(tmp_path)), str(tmp_path))
    app = tmp_path / "app.py"
    app.write_text("print('ran')\n")
    environment = dict(sides.environment, PYSPARK_PYTHON=python)
    environment.pop("PYSPARK_DRIVER_PYTHON", None)
    environment[interpreter] = "/nonexistent/python"
    run = subprocess.run([sides.submit, "--master", "local[1]", str(app)], env=environment, capture_output=True, text=True, timeout=60)
    assert run.returncode == 1 and run.stdout == "", run.stdout
    assert 'Cannot run program "/nonexistent/python": No such file or directory. Set spark.pyspark.python' in run.stderr
