"""What an application on Mesos says while it waits: no executor fits the offers, none starts, none reaches the driver, no master is found."""
import re

import pytest

from conditions import wait_until
from mesos.master import Master
from mesos_client_test import Application

QUICK = "spark.starvation.timeout=300ms"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "mesos").mkdir()
    return tmp_path


@pytest.fixture
def say(folder):
    """Ends the last application, starts one with a job, and waits until its log says something."""
    started = []

    def end_last():
        if started and started[-1].process.poll() is None:
            started[-1].process.kill()
            started[-1].process.wait()
            started[-1].process.stdin.close()
            started[-1].process.stdout.close()

    def start_one(url, words, *conf):
        end_last()
        application = Application(folder / f"app{len(started)}", url, QUICK, *conf)
        started.append(application)
        application.process.stdin.write("\n")
        application.process.stdin.flush()
        wait_until(lambda: re.search(words, application.log()), f"{words!r} in {application.log()[-3000:]}")
        return application
    yield start_one
    end_last()


def test_offers_that_do_not_suffice_are_explained(folder, say):
    with Master(folder / "mesos") as master:
        url = f"mesos://{master.address}"
        say(url, r"No executor has been registered for \d+ s\. Mesos makes no offers: .*, or the role of spark\.mesos\.role=dev has none",
            "spark.mesos.role=dev")
        master.add_agent("cpus:2;mem:1024", "rack:7")
        say(url, r"1 agent offers resources: 1 does not meet spark\.mesos\.constraints=rack:12 \(\S+ has rack:7\)\. Lower",
            "spark.mesos.constraints=rack:12")
        say(url, r"less than the 4 cpus of spark\.executor\.cores \(the most is 2, of ", "spark.executor.cores=4", "spark.cores.max=4")
        for mode in ("true", "false"):
            application = say(url, r"less than the 2432 MiB of spark\.executor\.memory with overhead \(the most is 1024 MiB",
                              "spark.executor.memory=2g", f"spark.mesos.coarse={mode}")
        # The second warning comes later than the first, and the generic one stays.
        wait_until(lambda: application.log().count("No executor has been registered") >= 2, "the next warning")
        assert "Initial job has not accepted any resources" in application.log()


@pytest.mark.parametrize("mode", ["true", "false"])
def test_executors_that_do_not_start_are_explained(folder, say, mode):
    with Master(folder / "mesos") as master:
        master.add_agent("cpus:2;mem:1024")
        application = say(f"mesos://{master.address}", r"executors? ended before registering, the last on \S+: .*"
                          r"Is spark\.mesos\.executor\.home=/nowhere right on the agents\?", "spark.mesos.executor.home=/nowhere",
                          f"spark.mesos.coarse={mode}")
        wait_until(lambda: "no more executors after two failures" in application.log(), "the reason why no more come")


def test_executors_that_do_not_reach_the_driver_are_explained(folder, say):
    with Master(folder / "mesos") as master:
        master.add_agent("cpus:2;mem:1024")
        home = folder / "home" / "bin"
        home.mkdir(parents=True)
        (home / "firesteel").write_text("#!/bin/sh\nexec sleep 1000\n")
        (home / "firesteel").chmod(0o755)
        say(f"mesos://{master.address}", r"was launched, the last on \S+, and did not register with the driver\. Agents must reach "
            r"spark://\S+: see spark\.driver\.host", f"spark.mesos.executor.home={home.parent}", "spark.executor.cores=2", "spark.cores.max=2")


def test_silent_zookeeper_is_named(say):
    say("mesos://zk://127.0.0.1:1/mesos", r"(?s)Looking for the leading Mesos master in ZooKeeper at 127\.0\.0\.1:1, path /mesos.*"
        r"WARN MesosMasterDetector: ZooKeeper at 127\.0\.0\.1:1 does not answer, trying again")


def test_allocation_without_effect_is_named(say):
    say("mesos://127.0.0.1:1", r"spark\.dynamicAllocation\.enabled=true has no effect with spark\.mesos\.coarse=false",
        "spark.mesos.coarse=false", "spark.dynamicAllocation.enabled=true", "spark.dynamicAllocation.shuffleTracking.enabled=true")
