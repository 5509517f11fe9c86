"""The journal of a driver in a remote file system, for `make check-hdfs` and `make check-s3`: another driver goes on after the
first was killed, or while it is stuck, and no file of the journal is left. So does one whose save has another file system as target."""
import os
import pathlib
import signal
import subprocess


class Resumes:
    """Applications keep their journals in @directory, a URI, and have @settings, "KEY=VALUE", and @environment. left() lists the
    files there."""

    def __init__(self, expect, build, folder, directory, settings, environment, left):
        os.environ["FIRESTEEL_BIN"] = f"{build}/src"
        from resume import resume_test  # which reads the variable
        self.test, self.expect, self.left = resume_test, expect, left
        self.folder, self.environment = pathlib.Path(folder, "resumes"), environment
        # Input and output are local files.
        self.settings = [*settings, f"spark.firesteel.resume.dir={directory}", "spark.hadoop.fs.defaultFS=file:///"]
        self.folder.mkdir()
        self.application = resume_test.compile_application(self.folder)

    def start(self, app):
        with open(app.folder / f"log{len(app.processes)}", "w", encoding="utf-8") as log:
            app.processes.append(subprocess.Popen(app.command, stdout=log, stderr=log, cwd=app.folder, start_new_session=True,
                                                  env={**self.test.inherited_environment(), **self.environment}))
        return app.processes[-1]

    def resume(self, name, number):
        """Another driver goes on after the signal @number to the first one."""
        folder = self.folder / name
        folder.mkdir()
        app = self.test.Run(folder, self.application, phase=2, settings=[*self.settings, f"spark.firesteel.resume.id={name}"])
        app.left = self.left
        try:
            old = self.start(app)
            def ready():
                assert old.poll() is None, app.log(0)
                return len({task for task in app.ran() if task.startswith("2.")}) == self.test.PARTITIONS - 1
            self.test.wait_until(ready, "tasks", 120)
            old.send_signal(number)
            before = app.ran()
            app.open_gate()
            status = self.start(app).wait(timeout=120)
            self.expect(f"a driver goes on with the journal of one that was {name}", app.log(1), status == 0)
            app.check(1)
            again = app.ran()[len(before):]
            self.expect("what had ended is not repeated", again, again and not any(task.startswith("1.") for task in again))
            if number == signal.SIGSTOP:
                old.send_signal(signal.SIGCONT)
                status = old.wait(timeout=60)
                self.expect("the stuck one ends", f"{status} {app.log(0)}",
                            status == 1 and "Another driver has taken over application" in app.log(0))
                self.expect("it leaves nothing", self.left(), self.left() == [])
        finally:
            app.end()

    def save(self, version, target, files):
        """The driver dies in the middle of a save to the directory @target, a URI. files() returns what is below it, {path: local path};
        left() lists local paths."""
        folder = self.folder / f"saving{version}"
        folder.mkdir()
        app = self.test.Run(folder, self.application, "local-cluster[2,1,1024]", 6, [
            *self.settings, f"spark.firesteel.resume.id=saving{version}", f"spark.local.dir={folder}/local",
            f"spark.hadoop.mapreduce.fileoutputcommitter.algorithm.version={version}"])
        app.command.append(target)
        app.left = self.left

        def output(name):
            found = sorted((path.removeprefix(name + "/"), local) for path, local in files().items() if path.startswith(name + "/"))
            return {path: pathlib.Path(local).read_text(encoding="utf-8") for path, local in found}

        def committed():
            """Whether all tasks but the one at the gate have committed, and the journal has it."""
            assert app.processes[0].poll() is None, app.log(0)
            place = "plain4/_temporary/0/task_" if version == 1 else "plain4/part-"
            journal = b"".join(pathlib.Path(path).read_bytes() for path in sorted(self.left()) if "/epoch-" in path)
            return sum(path.startswith(place) for path in files()) == self.test.PARTITIONS - 1 == self.test.journaled(journal, 5)
        app.output = output
        try:
            old = self.start(app)
            self.test.wait_until(committed, "the tasks that commit", 120)
            old.kill()
            before = app.ran()
            app.open_gate()
            status = self.start(app).wait(timeout=120)
            self.expect(f"a save goes on with version {version} of the committer", app.log(1), status == 0)
            app.check(1)
            again = {task for task in app.ran()[len(before):] if task[0] in "12346"}
            self.expect("… and repeats no task that had committed", again, again <= {"6.3"})
        finally:
            app.end()

    def all(self):
        self.resume("killed", signal.SIGKILL)
        self.resume("stuck", signal.SIGSTOP)
