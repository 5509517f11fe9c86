"""Runs a framework with one of `configurations` on a scripted master whose agents start nothing, and returns what it asked."""
import tempfile
import time

from mesos.master import Master
from mesos.normal_form import normal_form

QUIET_S = 0.7    # nothing more is asked for this long: the answers are complete
TIMEOUT_S = 60


class Recorder:
    """One run. `wait` lets the framework work, `result` has what it asked."""

    def __init__(self, configuration):
        self.configuration = configuration
        self.folder = tempfile.TemporaryDirectory()
        self.master = Master(self.folder.name)

    def __enter__(self):
        self.master.credentials = self.configuration.credentials
        for resources, attributes in self.configuration.agents:
            self.master.add_agent(resources, attributes, idle=True, pretend_containers=True)
        self.master.__enter__()
        return self

    def __exit__(self, *_):
        self.master.__exit__()
        self.folder.cleanup()

    def fail_tasks(self):
        with self.master.lock:
            for agent in self.master.agents:
                for task in [task for task in agent.tasks.values() if task.state == "TASK_RUNNING" and not task.updates]:
                    # the framework knows that it runs, so it hears of the end before the next offer
                    agent.finish(task, "TASK_FAILED", "Command exited with status 1")

    def wait(self, has_ended=lambda: False):
        """Waits until the framework, after its subscription, has answered its offers, or until has_ended()."""
        end = time.monotonic() + TIMEOUT_S
        count, since = 0, time.monotonic()
        while time.monotonic() < end and not has_ended():
            if self.configuration.failing:
                self.fail_tasks()
            with self.master.lock:
                asked = len(self.master.calls)
                is_answered = not self.master.offers and (asked > 1 or not self.configuration.agents)
                if self.configuration.tasks:  # offers before the job are declined
                    is_answered = is_answered and any(call["type"] == "REVIVE" for call in self.master.calls)
            if asked != count:
                count, since = asked, time.monotonic()
            elif asked and is_answered and time.monotonic() - since > QUIET_S:
                return
            time.sleep(0.02)

    def result(self, homes):
        with self.master.lock:
            calls = list(self.master.calls)
            return normal_form(self.master, calls, homes, since_revive=self.configuration.tasks > 0)
