"""Fixtures for several test files."""
import os
import signal
import sys

import pytest

# pytest rewrites the assertions of each file that it reads, and each worker reads all files. In a folder of the build, this is
# done once, also where Python is told to write no bytecode. Children are not concerned.
if "FIRESTEEL_BUILD" in os.environ:
    sys.pycache_prefix = os.path.join(os.path.abspath(os.environ["FIRESTEEL_BUILD"]), "pycache")
    sys.dont_write_bytecode = False
    # Applications are compiled once for all tests: the cache knows them by their content. Tests of the cache have their own.
    os.environ["XDG_CACHE_HOME"] = os.path.join(os.path.abspath(os.environ["FIRESTEEL_BUILD"]), "test-cache")

from blocking_job import compile_blocking_job
from maven_repository import Place
from s3_bucket import Bucket
from standalone_cluster import Cluster

# A process started with a shell's "&" ignores SIGINT, and one started with nohup SIGHUP. So would all children that the tests
# interrupt. A function that does nothing keeps pytest alive, and its children begin with the default.
signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda number, frame: None)


@pytest.fixture
def cluster(tmp_path):
    """An empty standalone cluster, whose processes all end with the test."""
    made = Cluster(tmp_path)
    try:
        yield made
    finally:
        made.close()


@pytest.fixture(scope="module")
def blocking_job(tmp_path_factory):
    """The application of blocking_job.py, compiled once."""
    return compile_blocking_job(tmp_path_factory.mktemp("application"))


@pytest.fixture
def place(tmp_path):
    """A client of packages with its own Maven repository."""
    return Place(tmp_path)


@pytest.fixture
def bucket():
    """An empty S3 bucket in memory."""
    with Bucket() as made:
        yield made
        made.shutdown()
