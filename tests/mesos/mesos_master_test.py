"""The scripted Mesos master answers as the genuine one: `make check-mesos` runs the same cases there."""
import pytest

from mesos.conversation import CASES, run
from mesos.master import Master


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    with Master(tmp_path_factory.mktemp("mesos")) as master:
        master.add_agent(attributes="rack:12")
        yield master.address


@pytest.mark.parametrize("name", CASES)
def test_master(address, name):
    run(name, address)
