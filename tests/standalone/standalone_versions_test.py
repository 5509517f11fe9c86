"""Peers with another protocol version: one minor version apart is accepted, others are refused by name, older and newer."""
import os
import re
import subprocess

import pytest

from blocking_job import hold
from folders import BUILD, TOP
from standalone_cluster import TIMEOUT

PEER = os.path.join(BUILD, "tests", "wire_peer")
OURS = (1, 0)  # STANDALONE_MAJOR, STANDALONE_MINOR
REFUSED = (r"is scripted 9 with version {} of the cluster's messages, .* is firesteel \S+ with version 1\.0: they may be one "
           r"minor version apart, upgrade the older one")


def peer(*words):
    done = subprocess.run([PEER, *words], text=True, capture_output=True, timeout=TIMEOUT, check=False)
    return done.stdout


def test_the_versions_here_are_those_of_the_tree():
    with open(os.path.join(TOP, "src/standalone/wire/standalone_wire.h"), encoding="utf-8") as header:
        text = header.read()
    assert tuple(int(re.search(rf"#define STANDALONE_{n} (\d+)", text)[1]) for n in ("MAJOR", "MINOR")) == OURS


def test_a_master_and_peers_of_other_versions(cluster):
    master = cluster.master()
    for kind in ("worker", "application", "client"):
        for version in ("1.0", "1.1"):
            said = peer(kind, master.url, version)
            assert said == ("answered: \n" if kind == "client" else "registered\n"), (kind, version, said)
        for version in ("1.2", "2.0", "0.0"):
            said = peer(kind, master.url, version)
            if version == "0.0":
                assert "sent no version" in said, (kind, said)
            else:
                assert re.search(REFUSED.format(re.escape(version)), said), (kind, version, said)


@pytest.fixture
def scripted(cluster):
    """A master of any version."""
    def start(version):
        p = cluster.start("scripted", [PEER, "master", version])
        p.url = "spark://127.0.0.1:" + p.says(r"port (\d+)").group(1)
        return p
    return start


def test_a_worker_and_an_application_at_a_master_of_another_version(cluster, scripted, blocking_job):
    other, near = scripted("2.0"), scripted("1.1")
    worker = cluster.daemon("worker", ["-d", str(cluster.folder / "w"), other.url], {})
    assert worker.end() == 1
    assert re.search("ERROR Worker: the master at .* " + REFUSED.format(r"2\.0"), worker.log()), worker.log()
    app = hold(cluster, blocking_job, other.url, "refused", 1)
    assert app.end() != 0
    assert re.search("the master " + REFUSED.format(r"2\.0"), app.log()), app.log()
    cluster.daemon("worker", ["-d", str(cluster.folder / "w"), near.url], {}).says("Successfully registered with master")
    hold(cluster, blocking_job, near.url, "taken", 1).says("Connected to Spark cluster with app ID app-scripted")
