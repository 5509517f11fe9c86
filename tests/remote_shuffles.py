"""Map outputs in a real store, for `make check-hdfs` and `make check-s3`: executors are killed, and nothing is left behind."""
import os
import pathlib
import random
import threading
import time

from conditions import wait_until


class Shuffles:
    """`url`: a directory of the store. `settings`: properties by which executors reach it. `left`: lists what is below the
    directory. `pause`: a function that stops the store for some seconds, or None."""

    def __init__(self, expect, build, folder, url, settings, environment, left, pause=None):
        os.environ["FIRESTEEL_BIN"] = os.path.join(build, "src")
        import gated_application  # pylint: disable=import-outside-toplevel
        self.gated, self.expect, self.url, self.environment, self.left, self.pause = gated_application, expect, url, environment, left, pause
        self.folder = pathlib.Path(folder) / "shuffles"
        self.folder.mkdir()
        self.settings = [f"spark.firesteel.shuffle.store={url}", "spark.task.maxFailures=100", "spark.deploy.maxExecutorRetries=-1",
                         *settings]

    def application(self, name, *conf, **more):
        folder = self.folder / name
        folder.mkdir()
        app = self.gated.Application(folder, "local-cluster[2,1,1024]", *self.settings, *conf, environment=self.environment, **more)
        app.open_gate()
        return app

    def run_four(self, name, between):
        """Returns the seconds of a job with 8 map tasks and of three that read its shuffle, and how many map tasks ran."""
        with self.application(name, allocation=False) as app:
            app.until_alive(2)
            began = time.monotonic()
            results = [app.run(f"shuffle 8 {app.gate}")[0]]
            for _ in range(3):
                between(app)
                results.append(app.run("shuffled")[0])
            seconds = time.monotonic() - began
            self.expect(f"{name}: results", results, results == [self.gated.sum_of(8)] * 4)
            return seconds, app.tasks("ShuffleMapTask")

    def kill_all(self, app):
        before = app.alive()
        self.gated.kill(app.executors().values())
        wait_until(lambda: before <= set(app.removed()), "executors stay")

    def kill_at_random(self):
        seed = random.randrange(1 << 30)
        dice, over = random.Random(seed), threading.Event()
        killed = 0
        with self.application("random", allocation=False) as app:
            app.until_alive(2)

            def kill():
                nonlocal killed
                ended = 0  # tasks, when the last executor was killed
                while not over.wait(dice.uniform(0.1, 0.8)):
                    executors, now = sorted(app.executors().items()), app.log().count(" Finished task ")
                    if executors and (now > ended or not killed):  # a slow machine gets on, too
                        self.gated.kill([dice.choice(executors)[1]])
                        killed, ended = killed + 1, now

            killer = threading.Thread(target=kill)
            killer.start()
            try:
                results = []
                while len(results) < 8 or (killed < 10 and killer.is_alive()):
                    results.append(app.run(f"shuffle 40 {app.gate}" if len(results) % 2 == 0 else "shuffled")[0])
            finally:
                over.set()
                killer.join()
            self.expect(f"{killed} executors killed at random in {len(results)} jobs (seed {seed}): results", (killed, results),
                        killed >= 10 and set(results) == {self.gated.sum_of(40)})

    def all(self):
        undisturbed, tasks = self.run_four("undisturbed", lambda app: None)
        self.expect("each map task runs once", tasks, tasks == 8)
        disturbed, tasks = self.run_four("disturbed", self.kill_all)
        self.expect("all executors killed three times: no map task is repeated", tasks, tasks == 8)
        self.expect(f"that takes {disturbed - undisturbed:.1f} s more than {undisturbed:.1f} s, at most 5", disturbed,
                    disturbed - undisturbed <= 5)
        if self.pause:
            _, tasks = self.run_four("paused", lambda app: self.pause())
            self.expect("a store that pauses repeats no map task", tasks, tasks == 8)
        self.kill_at_random()
        with self.application("idle", "spark.dynamicAllocation.shuffleTracking.enabled=false",
                              "spark.dynamicAllocation.initialExecutors=2") as app:
            results = [app.run(f"shuffle 4 {app.gate}")[0]]
            app.until_alive(0)
            results.append(app.run("shuffled")[0])
            self.expect("idle executors go without shuffle tracking", (results, app.tasks("ShuffleMapTask")),
                        (results, app.tasks("ShuffleMapTask")) == ([self.gated.sum_of(4)] * 2, 4))
        self.expect("nothing is left in the store", self.left(), not self.left())
