"""A further attempt on genuine YARN goes on where a killed ApplicationMaster was (docs/guide/resuming.md)."""
import json
import os
import pathlib
import signal
import subprocess
import sys

import hadoop
import native
from yarn_cluster import Yarn, wait_until

sys.path += [f"{native.TOP}/tests", f"{native.TOP}/tests/resume"]

CASES = ("resumed", "resumed_save")
TARGET = "/resumed"  # a directory of HDFS


def processes(app):
    """{pid: (arguments, id of its container)} of the application's containers."""
    found = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
            environment = (folder / "environ").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        ids = [word.partition("=")[2] for word in environment if word.startswith("CONTAINER_ID=")]
        if words[0] and ids and app.partition("_")[2] in ids[0]:
            found[int(folder.name)] = (words, ids[0])
    return found


def driver(app, attempt):
    """The process of this attempt that runs the application's main."""
    found = [pid for pid, (words, container) in processes(app).items()
             if words[1:2] == ["yarn-am"] and container.endswith(f"_{attempt:02}_000001")]
    return found[0] if len(found) == 1 else None


def executors(app):
    """{id of the container: pid} of the application's executors."""
    return {container: pid for pid, (words, container) in processes(app).items() if words[1:2] == ["executor"]}


def containers_at(yarn):
    """How many containers the ResourceManager counts."""
    with hadoop.OPENER.open(f"http://{yarn.web[0]}/ws/v1/cluster/metrics", timeout=10) as answer:
        return json.load(answer)["clusterMetrics"]["containersAllocated"]


class Resumed:
    """An application in cluster mode with a journal in a shared directory, and with a gate. See tests/resume/resume_test.py.

    On a cluster with HDFS it saves there.
    """

    def __init__(self, build, yarn, folder, phase, *settings):
        import resume_test  # pylint: disable=import-outside-toplevel
        self.yarn, self.path, self.phase = yarn, pathlib.Path(folder), phase
        self.application = native.Application(build, yarn, folder)
        self.run = resume_test.Run(self.path, resume_test.compile_application(self.path), "yarn", phase)
        conf = ("spark.yarn.maxAppAttempts=2", "spark.ui.enabled=false", "spark.firesteel.resume.enabled=true",
                f"spark.firesteel.resume.dir=file:{self.run.journals}", *settings)
        # The gated task keeps a core, and the others of its stage need one.
        self.run.command = self.application.command(
            "--deploy-mode", "cluster", "--num-executors", "2", *[word for one in conf for word in ("--conf", one)],
            str(self.path / "resumed.so"), f"file:{self.path / 'input'}", str(self.path), str(phase),
            *([f"hdfs://{TARGET}"] if yarn.hdfs else []))

    def start(self):
        with open(self.path / "log0", "w", encoding="utf-8") as log:
            self.run.processes.append(subprocess.Popen(self.run.command, cwd=self.path, env=self.application.environment, stdout=log,
                                                       stderr=log, stdin=subprocess.DEVNULL, start_new_session=True))

    def log(self):
        """Of the submission."""
        return self.run.log(0)

    def attempt_log(self, app, attempt):
        """What the driver of this attempt has written."""
        logs = sorted(pathlib.Path(self.yarn.folder).glob(f"nm*/log/{app}/*_{attempt:02}_000001/std*"))
        return "".join(log.read_text(encoding="utf-8", errors="replace") for log in logs)

    def left(self, app):
        """Files and directories of the application, except its logs and what the ResourceManager keeps."""
        return [*self.path.rglob(f"*{app}*"), *pathlib.Path(self.yarn.folder).glob(f"nm*/local/usercache/*/appcache/{app}")]

    def fetch(self):
        """Copies what was saved on HDFS to where a local application saves."""
        for name in self.yarn.list_folder(TARGET):
            (self.path / name).mkdir()
            for file, content in self.yarn.read_folder(f"{TARGET}/{name}").items():
                (self.path / name / file).write_bytes(content)

    def check_kept(self, app, before, expect):
        """The second attempt goes on with the containers @before, which executors() has returned."""
        wait_until("executors that return", lambda: self.attempt_log(app, 2).count("of the earlier driver is back") == len(before))
        expect("… with the executors of the first attempt, by container and process", (before, executors(app)),
               len(before) == 2 and executors(app) == before)

    def check(self, job, maps, ended, expect):
        """Kills the first driver in this job, after the phases @ended, and checks what the second one does. Returns its log."""
        run, phase = self.run, self.phase
        try:
            self.start()
            run.wait_at_gate(phase, job, maps)
            before, app = run.ran(), native.id_in(self.log())
            first = driver(app, 1)
            expect("the driver is in the first container of its application", f"{processes(app)}\n{self.log()}", first is not None)
            containers = executors(app)
            os.kill(first, signal.SIGKILL)
            self.check_kept(app, containers, expect)
            run.open_gate()
            status = run.processes[0].wait(180)
            output = self.attempt_log(app, 2)
            again = run.ran()[len(before):]
            expect("a second attempt succeeds after kill -9 of the ApplicationMaster", self.log()[-3000:] + output, status == 0)
            expect("… as driver number 2 of the same application", output,
                   f"Resuming application {app} as its driver number 2" in output)
            expect("… and runs only the tasks without a result", again,
                   {task for task in again if task.startswith(f"{phase}.")} == {f"{phase}.3"} and
                   not [task for task in again if task[0] in ended])
            if self.yarn.hdfs:
                self.fetch()
            (self.path / "log1").write_text(output, encoding="utf-8")
            run.check(1)
            print("ok: … with the results of an undisturbed run, and without a journal at the end", flush=True)
            expect("… and launches no container", output, "Launching container" not in output)
            wait_until("the end of the application's containers", lambda: not processes(app) and not containers_at(self.yarn))
            wait_until("the removal of the application's files", lambda: not self.left(app))
            print("ok: … and without a process or a file of the application", flush=True)
            return output
        finally:
            run.end()


def check_stages(build, folder, expect):
    with Yarn(build, os.path.join(folder, "resuming"), nodes=1, hdfs=False) as yarn:
        # Jobs by number: count, reduce, count by key.
        Resumed(build, yarn, os.path.join(folder, "resumed"), 2).check(1, False, "1", expect)
        Resumed(build, yarn, os.path.join(folder, "mapped"), 3, "spark.authenticate=true").check(2, True, "12", expect)
        store = os.path.join(folder, "store")
        output = Resumed(build, yarn, os.path.join(folder, "stored"), 3, f"spark.firesteel.shuffle.store=file://{store}",
                         "spark.firesteel.shuffle.store.objectSize=1", "spark.firesteel.shuffle.store.wait=0ms").check(
                             2, True, "12", expect)
        expect("map outputs in a store outlive an ApplicationMaster", output, "7 of 7 map outputs of earlier drivers are in" in output)
        expect("… and are removed in the end", os.listdir(store), not os.listdir(store))


def check_save(build, folder, expect):
    with Yarn(build, os.path.join(folder, "saving"), nodes=1) as yarn:
        # After the bounds of the sorted save and the save itself; phase 5 comes later.
        Resumed(build, yarn, os.path.join(folder, "saved"), 6).check(5, False, "1234", expect)
        print("ok: a second attempt goes on with a save on HDFS that the first one began", flush=True)


def check(build, folder, cases, expect):
    os.environ["FIRESTEEL_BIN"] = os.path.join(build, "src")  # before resume_test is imported
    if not cases or "resumed" in cases:
        check_stages(build, folder, expect)
    if not cases or "resumed_save" in cases:
        check_save(build, folder, expect)
