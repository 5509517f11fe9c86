"""Fixtures for several test files."""
import signal

import pytest

from blocking_job import compile_blocking_job
from maven_repository import Place
from s3_bucket import Bucket
from standalone_cluster import Cluster

# A process started with a shell's "&" ignores SIGINT, and so would all children that the tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)


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
