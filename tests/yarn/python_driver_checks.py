"""More Python programs in cluster mode on the cluster of fake_yarn.py, for `make check-yarn`: these take some seconds each."""
import pathlib
import sys

import pytest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent)]
from fake_yarn import FINAL_SUCCEEDED, FINISHED  # noqa: E402
from python_environment import PYTHON, pack  # noqa: E402
from yarn_python_test import check_cluster_mode, check_exit_status, check_leaves_no_python, cluster_words, driver_printed, failed_log  # noqa: E402
from yarn_python_test import pytestmark  # noqa: E402,F401
from yarn_submit import cache, submit, yarn  # noqa: E402,F401


@pytest.mark.parametrize("how", ["setting", "environment"])
def test_names_of_the_python(submit, yarn, how):
    check_cluster_mode(submit, yarn, how)


def test_cluster_mode_with_an_environment_in_an_archive(submit, yarn):
    archives = f"packed.zip#packed,{pack(submit.folder / 'env.tar.gz')}#env"
    words = [archives if word == "packed.zip#packed" else word for word in cluster_words(submit.folder)]
    done = submit.run(*words, cluster=True, conf=["spark.pyspark.python=./env/bin/python"])
    assert done.returncode == 0, failed_log(done, yarn)
    lines = driver_printed(yarn).splitlines()
    for start in ("driver words inner", "found 1 2 3 words words inner"):
        assert any(line.startswith(start) and "/env/bin/python" in line and "/env/lib/" in line for line in lines), lines


def test_cluster_mode_tries_again(submit, yarn):
    """The first attempt fails, and the second one succeeds."""
    (submit.folder / "again.py").write_text(f"""import os
from pyspark import SparkContext
sc = SparkContext()
print(sc.parallelize(range(4), 2).sum())
if not os.path.exists("{submit.folder}/tried"):
    open("{submit.folder}/tried", "w").close()
    raise ValueError("the first attempt")
""")
    done = submit.run("again.py", cluster=True, conf=[f"spark.pyspark.python={PYTHON}"])
    assert done.returncode == 0, failed_log(done, yarn)
    app = yarn.last()
    assert (app.state, app.final_status, app.attempt.number) == (FINISHED, FINAL_SUCCEEDED, 2)


@pytest.mark.parametrize("text, code, reason", [
    ("from pyspark import SparkContext\nSparkContext()\nraise ValueError", 1, "User application exited with status 1"),
    ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", 137, "User application exited with status 137"),
    ("pass", 13, "User did not initialize spark context!")])
def test_exit_status(submit, yarn, text, code, reason):
    check_exit_status(submit, yarn, text, code, reason)


def test_a_killed_driver_leaves_no_python(submit, yarn):
    check_leaves_no_python(submit, yarn, "killed")
