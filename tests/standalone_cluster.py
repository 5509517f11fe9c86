"""A standalone cluster of real processes: masters and workers that a test starts, kills and waits for."""
import os
import re
import signal
import subprocess
import time

from folders import BIN
from inherited_environment import inherited_environment

TIMEOUT = 120


def wait_for(condition, what, seconds=TIMEOUT):
    """Waits until condition() returns a true value, and returns it. Fails after a timeout."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found = condition()
        if found:
            return found
        time.sleep(0.01)
    raise AssertionError(f"waited in vain for {what() if callable(what) else what}")


def parent(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return int(file.read().rsplit(")", 1)[1].split()[1])
    except OSError:
        return None


class Process:
    """A process whose output goes to a file that tests can read while it runs."""

    def __init__(self, log, command, environment, folder):
        self.log_path = log
        with open(log, "ab") as out:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd=folder,
                                            env=environment, start_new_session=True)
        self.pid = self.process.pid

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def says(self, pattern, times=1):
        """Waits until the log matches, and returns the last match."""
        def found():
            matches = list(re.finditer(pattern, self.log()))
            return matches[-1] if len(matches) >= times else None
        return wait_for(found, lambda: f"{pattern!r} in:\n{self.log()[-3000:]}")

    def kill(self, number=signal.SIGKILL):
        if self.process.poll() is None:
            os.kill(self.pid, number)
        self.process.wait(TIMEOUT)

    def end(self, seconds=TIMEOUT):
        """Waits until the process has ended by itself, and returns the exit status."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"it does not end:\n{self.log()[-3000:]}") from None


class Cluster:
    """All processes that it starts, and their descendants, have its mark in the environment."""

    def __init__(self, folder):
        self.folder, self.count = folder, 0
        self.mark = f"standalone-{os.getpid()}-{folder.name}"
        self.processes = []
        (folder / "conf").mkdir()
        kept = inherited_environment("SPARK_", "MASTER")
        self.environment = dict(kept, SPARK_CONF_DIR=str(folder / "conf"), SPARK_LOCAL_IP="127.0.0.1",
                                CLUSTER_TEST=self.mark)

    def start(self, name, command, **environment):
        self.count += 1
        p = Process(self.folder / f"{name}-{self.count}.log", command, dict(self.environment, **environment), self.folder)
        self.processes.append(p)
        return p

    def daemon(self, name, words, settings, **environment):
        self.count += 1
        properties = self.folder / f"{name}-{self.count}.conf"
        properties.write_text("".join(f"{k} {v}\n" for k, v in {"spark.master.rest.enabled": "false", **settings}.items()))
        return self.start(name, [os.path.join(BIN, "firesteel"), name, "-h", "127.0.0.1", "--webui-port", "0",
                                 "--properties-file", str(properties), *words], **environment)

    def master(self, port=0, **settings):
        m = self.daemon("master", ["-p", str(port)], {k.replace("_", "."): v for k, v in settings.items()})
        m.url = m.says(r"Starting Spark master at (spark://\S+)").group(1)
        m.port = int(m.url.rsplit(":", 1)[1])
        return m

    def worker(self, masters, cores=2, memory="1g", **settings):
        self.count += 1
        work = self.folder / f"work-{self.count}"
        w = self.daemon("worker", ["-c", str(cores), "-m", memory, "-d", str(work), masters],
                        {k.replace("_", "."): v for k, v in settings.items()})
        w.work = work
        w.says("Successfully registered with master")
        return w

    def submit(self, master, *words, conf=(), options=(), **environment):
        """Runs spark-submit in the background. Its log includes standard output."""
        command = [os.path.join(BIN, "spark-submit"), "--master", master, *options, "--conf", "spark.log.level=INFO"]
        for setting in conf:
            command += ["--conf", setting]
        return self.start("submit", [*command, *map(str, words)], **environment)

    def marked(self):
        """The existing processes of this cluster: {pid: command line}."""
        found = {}
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ", "rb") as variables, open(f"/proc/{pid}/cmdline", "rb") as line:
                    if f"CLUSTER_TEST={self.mark}".encode() in variables.read().split(b"\0"):
                        found[int(pid)] = line.read().replace(b"\0", b" ").decode()
            except OSError:
                pass
        return found

    def executors(self, app=""):
        """{executor id: pid}, without the processes that executors fork."""
        found = {}
        for pid, line in self.marked().items():
            match = re.search(rf"^firesteel executor .*--executor-id (\d+) .*--app-id {app}", line)
            if match:
                found[pid] = match.group(1)
        return {number: pid for pid, number in found.items() if parent(pid) not in found}

    def close(self):
        """Ends all processes in the order of their dependencies, and checks that none remain."""
        for p in reversed(self.processes):
            if p.process.poll() is None:
                p.kill(signal.SIGTERM)
        left = lambda: not self.marked()
        wait_for(left, lambda: f"the end of {self.marked()}")
