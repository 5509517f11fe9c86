"""A part of check_node: drivers and executors are killed at seeded moments, and the operator's next drivers go on.

The programs, and the rules for tasks that run again, are those of tests/faults. Rounds run side by side, each in one of the lanes: a
namespace with a volume of its own. A failed round leaves the trace of its tasks, its journal, and the logs of its pods and of the
operator in BUILD/failed-rounds/SEED. Variables of the environment:

    FIRESTEEL_ROUNDS=FROM-TO    the seeds
    FIRESTEEL_LANES=N           rounds at a time
    FIRESTEEL_KILLS=FROM-TO     kills in a round
    FIRESTEEL_VICTIMS=A,B,...   the victims: driver, executor, both, server
    FIRESTEEL_SHUFFLE=celeborn  map outputs at scripted Celeborn workers, each page at two of them. A killed `server` is one
                                of them whose files all have another copy; another worker starts
    FIRESTEEL_MINUTES=N         no round begins later
"""
import collections
import concurrent.futures
import contextlib
import os
import pathlib
import queue
import random
import re
import shutil
import subprocess
import sys
import threading
import time
import traceback
import types

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "faults"))

import driver_journal  # noqa: E402
import resumed_drivers  # noqa: E402
import task_trace  # noqa: E402
from celeborn.server import Celeborn  # noqa: E402
from cluster import expect, wait_for  # noqa: E402
from node import ADDRESS  # noqa: E402
from resumed_programs import PROGRAMS, SOURCE, Undisturbed  # noqa: E402

VICTIMS = tuple(os.environ.get("FIRESTEEL_VICTIMS", "driver,executor,both").split(","))
KILLS = tuple(map(int, os.environ.get("FIRESTEEL_KILLS", "3-8").split("-")))
CELEBORN_WORKERS = 9 if os.environ.get("FIRESTEEL_SHUFFLE") == "celeborn" else 0
ROW_US = 8000  # a task takes some 0.2 s, because a kill does
ROUND_SECONDS = 240
PAUSE = 0.5  # between questions to the API server
# A pod's processes see the writes of others at once; the rest of a task and its report may wait for a core.
# A task ends when Celeborn's workers have its pages, which may then take seconds.
CLUSTER = types.SimpleNamespace(outlive="drivers" if CELEBORN_WORKERS else "", executors_end=False,
                                report_seconds=10 if CELEBORN_WORKERS else 1)
APPLICATIONS = "/apis/sparkoperator.k8s.io/v1beta2/namespaces/{}/sparkapplications"
LOGS = pathlib.Path("/var/log/pods")  # of the kubelet
# More failures than a round has kills, executors that are asked for at once, and that wait for a driver whose pod a busy node starts.
SETTINGS = {"spark.task.maxFailures": "20", "spark.executor.maxNumFailures": "40", "spark.kubernetes.executor.eventProcessingInterval": "100ms",
            "spark.kubernetes.allocation.batch.delay": "200ms", "spark.firesteel.resume.executorTimeout": "5m",
            "spark.firesteel.resume.registrationTimeout": "2m"}


class Round:
    """An application, NAME, which writes to /shared/NAME."""

    def __init__(self, check, lane, seed, image, expected, celeborn=None):
        self.check, self.n, self.shared, self.seed, self.expected = check, lane.n, lane.shared, seed, expected
        self.program, self.name, self.chosen = program_of(seed), f"round-{seed}", random.Random(seed)
        self.folder, self.logs, self.kills = self.shared.folder / self.name, {}, []
        self.waits_for, self.asked, self.was_done = None, 0, False
        self.celeborn, self.servers_killed = celeborn, 0
        self.outputs = {part.split("/")[0] for part in expected.parts}
        self.folder.mkdir()
        self.folder.chmod(0o777)
        text = resumed_drivers.manifest("SparkApplication", image)
        settings = SETTINGS if not celeborn else {
            **SETTINGS, "spark.shuffle.manager": "celeborn", "spark.celeborn.master.endpoints": celeborn.master,
            "spark.celeborn.client.push.replicate.enabled": "true", "spark.celeborn.client.shuffle.dynamicResourceEnabled": "true"}
        settings = "".join(f'        {key}: "{value}"\n' for key, value in settings.items())
        for old, new in (("{name: saves}", f"{{name: {self.name}}}"), ("/opt/app/saves.so", "/opt/app/resumed_programs.so"),
                         ("arguments: [/shared]", f'arguments: [{self.program}, /shared/{self.name}, "{ROW_US}"]'),
                         ("onFailureRetries: 3", "onFailureRetries: 20"), ("  sparkConf:\n", "  sparkConf:\n" + settings)):
            assert old in text
            text = text.replace(old, new)
        self.n.apply(text)

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

    def keep_logs(self):
        """Reads the logs of all pods of this moment."""
        for path in LOGS.glob(f"{self.n.name}_*/*/*.log"):
            with contextlib.suppress(OSError):
                self.logs[path.parents[1].name] = path.read_text(errors="replace")

    def executors(self):
        return [p["metadata"]["name"] for p in self.n.executor_pods() if p["status"]["phase"] == "Running"]

    def kill_server(self):
        """Kills a worker of Celeborn, if one has no file alone. Returns what happened, or None."""
        killed = task_trace.Kill(time.time(), set())
        if self.celeborn.kill_redundant(self.chosen.choice) is None:
            return None
        self.celeborn.add()
        self.servers_killed += 1
        return killed

    def kill(self, victim):
        """Kills the containers of the victim. Returns what happened."""
        driver = self.driver() if victim in ("driver", "both") else None
        executors = self.executors()
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
        self.keep_logs()
        if killed.driver:
            journals = [path for path in self.shared.folder.glob(f"journals/{self.name}-*") if path.suffix != ".removed"]
            self.was_done = self.lines() > 0 and not journals and all((self.folder / name / "_SUCCESS").exists() for name in self.outputs)

            def is_gone():
                pod = self.driver()
                return not pod or pod["metadata"]["uid"] != driver["metadata"]["uid"]
            wait_for(is_gone, "the end of the killed driver", pause=PAUSE)
            journal = [path.read_bytes() for path in epochs if path.exists()]
            killed.results, killed.map_outputs = set(driver_journal.results(*journal)), {task for _, task in driver_journal.map_outputs(*journal)}
        return killed

    def may_kill(self, moment, victim):
        """True when the trace has @moment lines and a driver and the victim run, or when the application has ended."""
        has_lines = self.lines() >= moment
        if self.waits_for != (moment, has_lines) or time.monotonic() > self.asked + PAUSE:
            self.waits_for, self.asked = (moment, has_lines), time.monotonic()
            return has_lines and self.driver() and (victim not in ("executor", "both") or self.executors()) or self.has_ended()
        return False

    def disturb(self):
        moments = sorted(self.chosen.sample(range(self.expected.lines), min(self.chosen.randint(*KILLS), self.expected.lines)))
        for number, moment in enumerate(moments):
            victim = VICTIMS[self.seed // len(PROGRAMS) % len(VICTIMS)] if number == 0 else self.chosen.choice(VICTIMS)
            wait_for(lambda at=moment, of=victim: self.may_kill(at, of),
                     lambda: f"line {moment} of {self.lines()}, {victim}: {self.state()}", ROUND_SECONDS)
            if self.has_ended():
                break
            killed = self.kill_server() if victim == "server" else self.kill(victim)
            if killed and (killed.driver or killed.hosts or victim == "server"):
                self.kills.append(killed)
            if self.was_done:
                break

    def driver_log(self):
        name = next(p["metadata"]["name"] for p in self.n.pods("driver") if p["metadata"]["name"].startswith(self.name))
        return self.n.log(name)

    def log_of_killed(self):
        """Of the driver that was killed last, without what the container runtime writes before each line."""
        text = [text for name, text in self.logs.items() if f"_{self.name}-driver_" in name][-1]
        return re.sub(r"^\S+ std(out|err) [FP] ", "", text, flags=re.M)

    def finish(self):
        """Returns the tasks that ran again by reason."""
        if self.was_done:  # the next drivers know nothing of this one, whose process had nothing left to do, and fail
            log = self.log_of_killed()
        else:
            wait_for(self.has_ended, lambda: f"the end of {self.name}: {self.state()}", ROUND_SECONDS, PAUSE)
            log = self.driver_log()
            assert self.state() == "COMPLETED", f"{self.state()}\n{log}"
            assert self.shared.journals() == [], self.shared.journals()
        self.expected.check(self.folder, log)
        assert {path.name for path in self.folder.iterdir()} == {"runs", *self.outputs}, list(self.folder.iterdir())
        assert not list(self.folder.glob("*/_temporary"))
        again = task_trace.repeated(task_trace.read(self.folder / "runs"), self.kills, self.expected.jobs, CLUSTER)
        if not self.was_done:
            left = {name for worker in self.celeborn.workers if worker.alive for name in worker.files} if self.celeborn else ()
            assert not left, f"Celeborn's workers have {left}"
            wait_for(lambda: resumed_drivers.executors_ended(self.n), lambda: f"executors to end: {self.n.executor_pods()}", pause=PAUSE)
        return again

    def remove(self):
        """Waits until Kubernetes has removed what the application has there."""
        self.n.kubectl("delete", f"sparkapplication/{self.name}", "--wait=false")
        kinds = ("pods", "configmaps", "services")
        wait_for(lambda: not any(self.n.everything(kind) for kind in kinds), lambda: f"{[self.n.everything(kind) for kind in kinds]} to go",
                 pause=PAUSE)

    def keep(self, problem, operator_log):
        """Keeps what tells the cause of a failed round."""
        self.keep_logs()
        place = self.check.build / "failed-rounds" / str(self.seed)
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(self.folder, place)
        with contextlib.suppress(OSError):  # there is none, or a driver removes it
            shutil.copytree(self.shared.folder / "journals", place / "journals")
        for name, text in {**self.logs, "problem": problem, "operator": operator_log, "kills": "\n".join(map(str, self.kills))}.items():
            (place / f"{name}.log").write_text(text)


class Lane:
    """A namespace in which one round runs after another."""

    def __init__(self, check, n):
        self.n, self.shared = n, resumed_drivers.Shared(check.folder / n.name, n)


def program_of(seed):
    return PROGRAMS[seed % len(PROGRAMS)]


class Rounds:
    """The rounds of all lanes. Their threads run play()."""

    def __init__(self, check, image, operator_log):
        self.check, self.image, self.operator_log = check, image, operator_log
        self.lanes, self.expected, self.lock = queue.Queue(), {}, threading.Lock()
        self.counts = collections.Counter()
        self.until = time.monotonic() + 60 * float(os.environ.get("FIRESTEEL_MINUTES", "inf"))

    def undisturbed(self, program):
        with self.lock:
            if program not in self.expected:
                self.expected[program] = Undisturbed(self.check.build / "src", self.check.folder / f"undisturbed-{program}", program)
            return self.expected[program]

    def play(self, seed):
        if time.monotonic() > self.until:
            return
        with Celeborn(CELEBORN_WORKERS, host=ADDRESS) if CELEBORN_WORKERS else contextlib.nullcontext() as celeborn:
            self.play_with(seed, celeborn)

    def play_with(self, seed, celeborn):
        lane, began = self.lanes.get(), time.monotonic()
        expected = self.undisturbed(program_of(seed))
        one = Round(self.check, lane, seed, self.image, expected, celeborn)
        problem, again = None, {}
        try:
            one.disturb()
            again = one.finish()
            one.remove()
        except Exception:
            problem = traceback.format_exc()
            one.keep(problem, self.operator_log())
            with contextlib.suppress(AssertionError):
                one.remove()
        lane.shared.clear()
        self.lanes.put(lane)
        self.tell(one, problem, again, time.monotonic() - began)

    def tell(self, one, problem, again, seconds):
        drivers, executors = sum(k.driver for k in one.kills), sum(len(k.hosts) for k in one.kills)
        both = sum(k.driver and bool(k.hosts) for k in one.kills)
        with self.lock:
            self.counts.update(rounds=1, drivers=drivers, executors=executors, both=both, servers=one.servers_killed,
                               failed=int(problem is not None), done=int(one.was_done), **again)
            servers = f", {one.servers_killed} servers" if one.celeborn else ""
            what = f"{drivers} drivers and {executors} executors{servers} killed in {seconds:.0f} s, {both} times both, " \
                f"tasks that ran again: {dict(again)}{', the last one after its end' if one.was_done else ''}"
            expect(f"round {one.seed}, {one.program}: {what}", problem is None, problem)
            print(f"so far: {dict(self.counts)}", flush=True)


def run(check, image):
    first, last = map(int, re.fullmatch(r"(\d+)-(\d+)", os.environ.get("FIRESTEEL_ROUNDS", "1-10")).groups())
    lanes = int(os.environ.get("FIRESTEEL_LANES", "3"))
    with contextlib.ExitStack() as stack:
        namespaces = [stack.enter_context(check.namespace(f"rounds-{i}")) for i in range(lanes)]
        operator_log = stack.enter_context(resumed_drivers.operator(check, *namespaces))
        rounds = Rounds(check, image, operator_log)
        for n in namespaces:
            wait_for(lambda name=n.name: check.cluster.found(APPLICATIONS.format(name)), "the definitions")
            rounds.lanes.put(Lane(check, n))
        with concurrent.futures.ThreadPoolExecutor(lanes) as pool:
            for played in [pool.submit(rounds.play, seed) for seed in range(first, last + 1)]:
                played.result()
