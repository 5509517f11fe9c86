"""Dynamic allocation on genuine YARN: containers of two resource profiles, and map outputs that outlive idle executors."""
import os
import pathlib
import subprocess
import sys
from xml.etree import ElementTree

import native
import python_programs
from yarn_cluster import Yarn, hadoop, wait_until

sys.path.append(os.path.join(native.TOP, "tests"))
import profile_program  # noqa: E402

CASES = ("profiles", "stored_shuffles")
CORES = 2  # of executors of the second profile
# The scheduler counts cores, and rounds no memory up.
SCHEDULER = {"capacity-scheduler.xml": {
    "yarn.scheduler.capacity.root.queues": "default",
    "yarn.scheduler.capacity.root.default.capacity": "100",
    "yarn.scheduler.capacity.maximum-am-resource-percent": "1.0",
    "yarn.scheduler.capacity.resource-calculator": "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator"}}
# (MB, cores) of containers: the ApplicationMaster's, and those of executors with 64 + 64 + 200 and 400 + 50 + 300 MiB.
MASTER, EXECUTORS = (128, 1), [(328, 1), (750, CORES)]
MODES = {"client mode": ((), [MASTER, *EXECUTORS]), "client mode, unmanaged": (native.UNMANAGED, EXECUTORS),
         "cluster mode": (("--deploy-mode", "cluster"), [MASTER, *EXECUTORS])}


def containers(yarn, app):
    """The (MB, cores) of an application's containers."""
    url = f"http://{yarn.web[0]}/ws/v1/cluster/apps/{app}/appattempts/{app.replace('application', 'appattempt')}_000001/containers"
    request = hadoop.urllib.request.Request(url, headers={"Accept": "application/xml"})  # in JSON, a list of one has no brackets
    try:
        with hadoop.OPENER.open(request, timeout=10) as answer:
            rows = ElementTree.fromstring(answer.read()).iter("container")
    except hadoop.urllib.request.HTTPError:
        return []
    return sorted((int(row.findtext("allocatedMB")), int(row.findtext("allocatedVCores"))) for row in rows)


class Profiles(native.Application):
    """Runs the program of profile_program.py, which waits for `gate`."""

    def __init__(self, build, yarn, folder):
        super().__init__(build, yarn, folder)
        self.yarn, self.gate = yarn, os.path.join(folder, "gate")
        with open(os.path.join(folder, "profiles.py"), "w", encoding="utf-8") as file:
            file.write(profile_program.program(CORES))

    def log(self):
        with open(os.path.join(self.folder, "log"), encoding="utf-8", errors="replace") as file:
            return file.read()

    def driver_output(self, app):
        """Of a driver in a container."""
        [path] = pathlib.Path(self.yarn.folder, "nm1", "log", app).glob("*_000001/stdout")
        return path.read_text(encoding="utf-8")

    def run_until_seen(self, count, *words):
        """Returns the application's id, exit code, output, and the sizes of its containers once there are @count."""
        settings = [word for setting in profile_program.SETTINGS for word in ("--conf", setting)]
        python = ["--conf", f"spark.pyspark.python={python_programs.PYTHON}"]
        with open(os.path.join(self.folder, "log"), "w", encoding="utf-8") as log, subprocess.Popen(
                self.command(*settings, *python, *words, "profiles.py", self.gate), cwd=self.folder, env=self.environment, text=True,
                stdout=subprocess.PIPE, stderr=log, stdin=subprocess.DEVNULL) as process:
            try:
                wait_until("the application", lambda: process.poll() is not None or "application_" in self.log())
                app = native.id_in(self.log())
                wait_until("executors of both profiles", lambda: process.poll() is not None or len(containers(self.yarn, app)) >= count)
                seen = containers(self.yarn, app)
                with open(self.gate, "w", encoding="utf-8"):
                    pass
                output, _ = process.communicate(timeout=120)
            finally:
                process.kill()
        os.unlink(self.gate)
        return app, process.returncode, output, seen


def check_profiles(build, yarn, folder, expect):
    application = Profiles(build, yarn, folder)
    for mode, (words, wanted) in MODES.items():
        app, status, output, seen = application.run_until_seen(len(wanted), *words)
        if mode == "cluster mode":
            output = application.driver_output(app)
        expect(f"containers of two profiles have their sizes in {mode}", f"{seen}\n{output}\n{application.log()}", seen == wanted)
        expect("… the workers their limits, and the result is right", output + application.log(), status == 0 and
               output.splitlines() == profile_program.output(CORES))


def check_stored_shuffles(build, yarn, folder, expect):
    """Idle executors leave between two jobs that read one shuffle."""
    os.environ["FIRESTEEL_BIN"] = os.path.join(build, "src")
    import gated_application as gated  # pylint: disable=import-outside-toplevel
    store = f"{yarn.core['fs.defaultFS']}/store"
    path = pathlib.Path(folder)
    path.mkdir()
    conf = (f"spark.firesteel.shuffle.store={store}", "spark.dynamicAllocation.shuffleTracking.enabled=false",
            "spark.dynamicAllocation.initialExecutors=2", "spark.executor.memory=64m", "spark.executor.memoryOverhead=64m",
            "spark.yarn.am.memory=64m", "spark.yarn.am.memoryOverhead=64m", "spark.yarn.report.interval=100ms")
    with gated.Application(path, "yarn", *conf, environment={"HADOOP_CONF_DIR": yarn.conf}) as app:
        app.open_gate()
        results = [app.run(f"shuffle 4 {app.gate}")[0]]
        app.until_alive(0)
        name = native.id_in(app.log())
        wait_until("the end of all executors' containers", lambda: len(containers(yarn, name)) == 1)
        kept = yarn.list_folder("/store")
        results.append(app.run("shuffled")[0])
        maps = app.tasks("ShuffleMapTask")
        expect("a shuffle in HDFS outlives all executors, which are idle", f"{results} {kept}\n{app.log()}",
               results == [gated.sum_of(4)] * 2 and len(kept) == 1 and len(app.added()) > len(app.alive()))
        expect("… no map task is repeated", maps, maps == 4)
    expect("… and the store is empty afterwards", yarn.list_folder("/store"), not yarn.list_folder("/store"))


def check(build, folder, cases, expect):
    with Yarn(build, os.path.join(folder, "elastic"), nodes=1, yarn={"yarn.scheduler.minimum-allocation-mb": "1"},
              node={"yarn.nodemanager.resource.memory-mb": "2048"}, sites=SCHEDULER) as yarn:
        if not cases or "stored_shuffles" in cases:
            check_stored_shuffles(build, yarn, os.path.join(folder, "stored_shuffles"), expect)
        if not cases or "profiles" in cases:
            _, missing = python_programs.interpreter()
            if missing:
                print(f"skipped: {missing}")
                return
            check_profiles(build, yarn, os.path.join(folder, "profiles"), expect)
