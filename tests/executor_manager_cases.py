"""The conformance cases that every executor manager must pass (src/driver/backend/executor_manager.h).

Each case gets a manager (a fixture of tests/executor_managers.py) and a folder with a unique name. It starts an application on
real processes, acts on one of them, and checks the application's event log and the processes.
run_cases() prints a line for each case and manager. A new manager adds a fixture, and no case.
"""
import json
import os
import re
import signal
import subprocess
import time
import traceback

from conditions import is_alive, wait_until
from executor_managers import SECRET
from gated_application import Application, kill, sum_of
from standalone_cluster import parent

QUICK = ["spark.executor.heartbeatInterval=200ms", "spark.network.timeout=2s", "spark.network.timeoutInterval=200ms"]


class Run(Application):
    """One application on a manager, which begins with n executors of one core. Its executors are known by its id."""

    def __init__(self, manager, folder, n, *conf, most=0, allocation=False):
        folder.mkdir(parents=True, exist_ok=True)
        self.manager, self.ended = manager, False  # ended by the case itself, which has checked the remains
        self.has_started = False
        super().__init__(folder, manager.master(max(n, most)), *manager.conf(max(n, most)), "spark.authenticate=true",
                         f"spark.authenticate.secret={SECRET}", *conf, allocation=allocation, environment=manager.environment)

    def id(self):
        wait_until(lambda: self.process.poll() is not None or self.logged("ApplicationStart"), "the application does not start")
        return self.logged("ApplicationStart")[0]["App ID"]

    def executors(self, app_id=None):
        """{executor id: pid}, without the processes that executors fork. @app_id is that of an ended application."""
        app_id, found = app_id or self.id(), {}
        for pid in filter(str.isdigit, os.listdir("/proc")):
            number = self.manager.executor_id(pid, command_line(pid), app_id)
            if number and is_alive(pid):
                found[int(pid)] = number
        return {number: pid for pid, number in found.items() if parent(pid) not in found}

    def holds(self, n):
        """Waits until n executors are registered, and no other executor processes exist."""
        if not self.has_started:
            self.has_started = True
            self.manager.start(self, n)
        wait_until(lambda: len(self.alive()) == n or "Error initializing" in self.log(), lambda: f"{self.alive()}, not {n} executors")
        assert "Error initializing" not in self.log(), "the application does not start"
        self.until_alive(n)
        wait_until(lambda: self.executors().keys() == self.alive(), lambda: f"{self.executors()}, but {self.alive()} are registered")

    def until_removed(self, number):
        wait_until(lambda: number in self.removed(), lambda: f"executor {number} is not removed:\n{self.log()[-3000:]}")
        return self.removed()[number]

    def begin_gated(self, n):
        """Begins a job of n waiting tasks, and waits until each of the first n executors has one."""
        started = self.started()
        self.begin(f"gated {n} {self.gate}")
        wait_until(lambda: self.started() >= started + n, lambda: f"the tasks do not start:\n{self.log()[-3000:]}")

    def expect_nothing_left(self, app_id):
        wait_until(lambda: not self.executors(app_id), lambda: f"executors stay: {self.executors(app_id)}")
        wait_until(lambda: not self.manager.left(), lambda: f"{self.manager.left()} stay")

    def __exit__(self, kind, error, trace):
        app_id = None if kind or self.ended else self.id()
        if self.ended:
            self.process.stdin.close()
            self.process.stdout.close()
            kill(self.processes())
            return
        super().__exit__(kind, error, trace)
        if not kind:
            self.expect_nothing_left(app_id)


def command_line(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as line:
            return line.read().decode(errors="replace").split("\0")
    except OSError:
        return []


# ------------------------------------------------------------------------------------------------------------ the cases

def registration(manager, folder):
    """The executors that the configuration asks for register, and run tasks."""
    with Run(manager, folder, 2) as app:
        app.holds(2)
        app.open_gate()
        assert app.run(f"shuffle 4 {app.gate}")[0] == sum_of(4)
        assert app.alive() == set(app.added()), "an executor was lost"


def loss_with_reason(manager, folder):
    """The manager reports how a process ended. An executor with a new id replaces it. No task is lost."""
    with Run(manager, folder, 2) as app:
        app.holds(2)
        app.begin_gated(2)
        number, pid = sorted(app.executors().items())[0]
        os.kill(pid, signal.SIGKILL)
        reason = app.until_removed(number)
        assert re.search(r"137|SIGKILL|signal 9", reason), f"the reason is {reason!r}"
        app.holds(2)
        assert number not in app.alive(), f"id {number} is used again"
        app.open_gate()
        assert app.answer()[0] == 2


def loss_without_reason(manager, folder):
    """The driver gives up a silent executor without a report of its manager, and ends its process."""
    with Run(manager, folder, 2, *QUICK) as app:
        app.holds(2)
        app.begin_gated(2)
        number, pid = sorted(app.executors().items())[0]
        os.kill(pid, signal.SIGSTOP)
        reason = app.until_removed(number)
        assert "heartbeat timed out" in reason, f"the reason is {reason!r}"
        wait_until(lambda: not is_alive(pid), "the process that was given up stays")
        app.holds(2)
        app.open_gate()
        assert app.answer()[0] == 2


def scaling(manager, folder):
    """Executors start while tasks are pending, up to the maximum, and end when idle, down to the minimum."""
    with Run(manager, folder, 1, "spark.dynamicAllocation.initialExecutors=1", "spark.dynamicAllocation.minExecutors=1",
             "spark.dynamicAllocation.maxExecutors=3", "spark.executor.instances=1", most=3, allocation=True) as app:
        app.holds(1)
        app.begin(f"gated 4 {app.gate}")
        app.holds(3)
        app.open_gate()
        assert app.answer()[0] == 4
        app.holds(1)
        assert set(app.removed().values()) == {"Executor killed by driver."}, app.removed()


def killing(manager, folder):
    """An executor that the driver kills ends, is reported as killed, and is not replaced."""
    with Run(manager, folder, 2) as app:
        app.holds(2)
        number, pid = sorted(app.executors().items())[0]
        app.begin(f"kill 0 {number}")
        assert app.answer()[0] == 1
        assert app.until_removed(number) == "Executor killed by driver."
        wait_until(lambda: not is_alive(pid), "the process that was killed stays")
        app.open_gate()
        assert app.run(f"gated 2 {app.gate}")[0] == 2
        app.holds(1)
        assert len(app.added()) == 2, "it was replaced"


def decommissioning(manager, folder):
    """A decommissioned executor finishes its task, gets no other, and is replaced. Nothing is computed again."""
    with Run(manager, folder, 2, "spark.decommission.enabled=true") as app:
        app.holds(2)
        app.begin_gated(2)
        number, pid = sorted(app.executors().items())[0]
        os.kill(pid, signal.SIGPWR)
        wait_until(lambda: re.search(rf"[Dd]ecommission.*\b{number}\b", app.log()), "the driver does not know of it")
        app.open_gate()
        assert app.answer() == (2, 2), "a task was run again"
        reason = app.until_removed(number)
        assert "decommission" in reason.lower(), f"the reason is {reason!r}"
        wait_until(lambda: not is_alive(pid), "the process that was decommissioned stays")
        app.holds(2)


def stopping(manager, folder):
    """The end of an application ends its executors at once, also those that run tasks."""
    with Run(manager, folder, 2) as app:
        app.holds(2)
        app_id, app.ended = app.id(), True
        app.begin_gated(2)
        app.process.send_signal(signal.SIGTERM)
        status = app.process.wait(120)
        assert status in (128 + signal.SIGTERM, -signal.SIGTERM), f"status {status}"
        app.expect_nothing_left(app_id)


def orphans(manager, folder):
    """Executors whose driver is killed end by themselves."""
    with Run(manager, folder, 2) as app:
        app.holds(2)
        app_id, app.ended = app.id(), True
        app.begin_gated(2)
        app.process.kill()
        app.process.wait()
        wait_until(lambda: not app.executors(app_id), lambda: f"executors stay: {app.executors(app_id)}")
        manager.sweep()


def wrong_secret(manager, folder):
    """A process without the application's secret does not become its executor."""
    with Run(manager, folder, 1) as app:
        app.holds(1)
        pid = next(iter(app.executors().values()))
        words = [w for w in command_line(pid) if w]
        words[words.index("--executor-id") + 1] = "77"
        with open(f"/proc/{pid}/environ", "rb") as file:
            environment = dict(pair.split("=", 1) for pair in file.read().decode().split("\0") if "=" in pair)
        wrong = manager.spoil_secret(environment, folder)
        assert wrong, "the executor's environment holds no secret"
        done = subprocess.run(words, executable=f"/proc/{pid}/exe", env=wrong, cwd=folder, text=True, timeout=60,
                              capture_output=True, stdin=subprocess.DEVNULL, check=False)
        assert done.returncode != 0, "it ended as if all were well"
        assert "secret" in done.stderr + done.stdout, f"it does not say why: {done.stderr[-500:]}"
        assert SECRET not in done.stderr + done.stdout + app.log(), "a log has the secret"
        app.open_gate()
        assert app.run(f"gated 2 {app.gate}")[0] == 2
        assert len(app.added()) == 1, app.added()


def durable_logs(manager, folder):
    """What an executor has printed outlives it, and every process stores all of its output."""
    logs = folder / "durable"
    with Run(manager, folder, 2, f"spark.firesteel.logs.dir=file:{logs}") as app:
        def ended(process):
            index = logs / app_id / process / "index.json"
            return index.exists() and "endMs" in json.loads(index.read_text(encoding="utf-8") or "{}")

        app.holds(2)
        app_id = app.id()
        app.begin_gated(2)
        number, pid = sorted(app.executors().items())[0]
        os.kill(pid, signal.SIGKILL)
        app.until_removed(number)
        wait_until(lambda: ended(f"executor-{number}"), "the end of the killed executor's log")
        text = "".join(p.read_text(encoding="utf-8") for p in (logs / app_id / f"executor-{number}").glob("stderr.*"))
        assert f"Starting executor ID {number} on host" in text, f"its log is {text!r}"
        app.open_gate()
        app.answer()
        left = app.alive()
    for process in ("driver", *(f"executor-{n}" for n in left)):
        wait_until(lambda p=process: ended(p), f"the end of the log of {process}")


CASES = (registration, loss_with_reason, loss_without_reason, scaling, killing, decommissioning, stopping, orphans,
         wrong_secret, durable_logs)


def run_case(manager, case, folder):
    """Returns None or the traceback of the failure. Prints one line, and the traceback below."""
    start = time.monotonic()
    trace = None
    try:
        case(manager, folder)
    except Exception:  # pylint: disable=broad-except
        trace = traceback.format_exc()
    label = f"{manager.name}: {case.__name__.replace('_', ' ')} ({time.monotonic() - start:.1f} s)"
    print(f"FAILED: {label}\n{trace}" if trace else f"ok: {label}", flush=True)
    return trace


def run_cases(manager, folder, names=()):
    """Runs all or the named cases on one manager. Returns {name: None or the traceback}."""
    return {case.__name__: run_case(manager, case, folder / f"{manager.name}-{case.__name__}") for case in CASES
            if not names or case.__name__ in names}
