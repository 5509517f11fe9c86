"""A part of check_node: drivers and executors are killed at seeded moments, and the operator's next drivers go on.

The programs, and the rules for tasks that run again, are those of tests/faults. FIRESTEEL_ROUNDS=FROM-TO chooses the seeds.
"""
import os
import pathlib
import random
import re
import subprocess
import sys
import time
import types

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "faults"))

import driver_journal  # noqa: E402
import resumed_drivers  # noqa: E402
import task_trace  # noqa: E402
from cluster import expect, wait_for  # noqa: E402
from resumed_programs import PROGRAMS, SOURCE, Undisturbed  # noqa: E402

VICTIMS = ("driver", "executor", "both")
ROW_US = 8000  # a task takes some 0.2 s, because a kill does
# A pod's processes see the writes of others at once; the rest of a task and its report may wait for a core.
CLUSTER = types.SimpleNamespace(outlive="", executors_end=True, report_seconds=1)
APPLICATIONS = "/apis/sparkoperator.k8s.io/v1beta2/namespaces/{}/sparkapplications"


class Round:
    """An application, NAME, which writes to /shared/NAME."""

    def __init__(self, check, n, shared, seed, image, expected):
        self.check, self.n, self.shared, self.seed, self.expected = check, n, shared, seed, expected
        self.program, self.name, self.chosen = PROGRAMS[seed % len(PROGRAMS)], f"round-{seed}", random.Random(seed)
        self.folder = shared.folder / self.name
        self.folder.mkdir()
        self.folder.chmod(0o777)
        text = resumed_drivers.manifest("SparkApplication", image)
        for old, new in (("{name: saves}", f"{{name: {self.name}}}"), ("/opt/app/saves.so", "/opt/app/resumed_programs.so"),
                         ("arguments: [/shared]", f'arguments: [{self.program}, /shared/{self.name}, "{ROW_US}"]')):
            assert old in text
            text = text.replace(old, new)
        n.apply(text)

    def state(self):
        found = self.check.cluster.found(f"{APPLICATIONS.format(self.n.name)}/{self.name}") or {}
        return found.get("status", {}).get("applicationState", {}).get("state")

    def has_ended(self):
        return self.state() in ("COMPLETED", "FAILED")

    def driver(self):
        found = [p for p in self.n.pods("driver") if p["metadata"]["name"].startswith(self.name) and p["status"]["phase"] == "Running"]
        return found[0] if found else None

    def lines(self):
        path = self.folder / "runs"
        return path.read_bytes().count(b"\n") if path.exists() else 0

    def kill(self, victim):
        """Kills the containers of the victim. Returns what happened."""
        driver = self.driver() if victim in ("driver", "both") else None
        executors = [p["metadata"]["name"] for p in self.n.executor_pods() if p["status"]["phase"] == "Running"]
        epochs = sorted(self.shared.folder.glob("journals/*/epoch-*"))
        killed = task_trace.Kill(time.time(), set(), set(self.chosen.sample(executors, min(len(executors), victim != "driver"))),
                                 driver=driver is not None)
        for name in [*([driver["metadata"]["name"]] if driver else []), *killed.hosts]:
            try:
                self.check.kill(self.n, name)
            except subprocess.CalledProcessError:  # the container has just ended by itself
                killed.hosts.discard(name)
                killed.driver = killed.driver and name != driver["metadata"]["name"]
        killed.until = time.time()
        if killed.driver:
            def is_gone():
                pod = self.driver()
                return not pod or pod["metadata"]["uid"] != driver["metadata"]["uid"]
            wait_for(is_gone, "the end of the killed driver")
            journal = [path.read_bytes() for path in epochs if path.exists()]
            killed.results, killed.map_outputs = set(driver_journal.results(*journal)), {task for _, task in driver_journal.map_outputs(*journal)}
        return killed

    def disturb(self):
        kills = []
        for _ in range(self.chosen.randint(1, 3)):
            moment = self.chosen.randrange(self.lines(), max(self.expected.lines, self.lines() + 1))
            wait_for(lambda at=moment: self.has_ended() or (self.lines() >= at and self.driver()), lambda: f"line {moment} of {self.lines()}")
            if self.has_ended():
                break
            killed = self.kill(VICTIMS[self.seed % len(VICTIMS)] if not kills else self.chosen.choice(VICTIMS))
            if killed.driver or killed.hosts:
                kills.append(killed)
        return kills

    def finish(self, kills):
        """Returns the tasks that ran again by reason."""
        wait_for(self.has_ended, lambda: f"the end of {self.name}: {self.state()} {[self.n.log(p['metadata']['name']) for p in self.n.pods('driver')]}")
        log = self.n.log(next(p["metadata"]["name"] for p in self.n.pods("driver") if p["metadata"]["name"].startswith(self.name)))
        assert self.state() == "COMPLETED", f"{self.state()}\n{log}"
        self.expected.check(self.folder, log)
        assert not list(self.folder.glob("*/_temporary")) and self.shared.journals() == [], self.shared.journals()
        again = task_trace.repeated(task_trace.read(self.folder / "runs"), kills, self.expected.jobs, CLUSTER)
        wait_for(lambda: resumed_drivers.executors_ended(self.n), lambda: f"executors to end: {self.n.executor_pods()}")
        return again

    def remove(self):
        """Waits until Kubernetes has removed what the application has there."""
        self.n.kubectl("delete", f"sparkapplication/{self.name}")
        kinds = ("pods", "configmaps", "services")
        wait_for(lambda: not any(self.n.everything(kind) for kind in kinds), lambda: f"{[self.n.everything(kind) for kind in kinds]} to go")


def run(check, image):
    first, last = map(int, re.fullmatch(r"(\d+)-(\d+)", os.environ.get("FIRESTEEL_ROUNDS", "1-10")).groups())
    expected = {}
    with check.namespace("rounds") as n, resumed_drivers.operator(check, n):
        shared = resumed_drivers.Shared(check.folder / "rounds", n)
        wait_for(lambda: check.cluster.found(APPLICATIONS.format(n.name)), "the definitions")
        for seed in range(first, last + 1):
            program = PROGRAMS[seed % len(PROGRAMS)]
            if program not in expected:
                expected[program] = Undisturbed(check.build / "src", check.folder / f"undisturbed-{program}", program)
            one = Round(check, n, shared, seed, image, expected[program])
            kills, problem, again = [], None, {}
            try:
                kills = one.disturb()
                again = one.finish(kills)
                one.remove()
            except AssertionError as error:
                problem = str(error)
                one.n.kubectl("delete", f"sparkapplication/{one.name}")
            what = f"{sum(k.driver for k in kills)} drivers and {sum(len(k.hosts) for k in kills)} executors killed, tasks that ran again: {dict(again)}"
            expect(f"round {seed}, {program}: {what}", problem is None, problem)
