"""Fixtures that files of tests share."""
import signal

import pytest

from blocking_job import compile_blocking_job
from maven_repository import Place
from standalone_cluster import Cluster

# What is started behind a shell's "&" ignores SIGINT, and so would all that the tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def cluster(tmp_path):
    """A standalone cluster without masters and workers, all of whose processes end with the test."""
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
    """What asks a Maven repository of its own for packages."""
    return Place(tmp_path)
