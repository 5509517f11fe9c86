"""A genuine Mesos on loopback. MESOS_BUILD is the folder with its programs and two scripts:

    MASTER_PORT=… RESOURCES=… ATTRIBUTES=… MASTER_ENV=… AGENT_ENV=… MASTERS=… ZK=… $MESOS_BUILD/start.sh WORKDIR AGENTS
    $MESOS_BUILD/stop.sh WORKDIR

They leave WORKDIR/master0.pid, agent0.pid, …, and logs beside. With ZK, ZK_SECONDS are its sessions' timeout.
"""
import json
import os
import signal
import subprocess
import urllib.request

from conditions import wait_until
from free_ports import free_port
from inherited_environment import inherited_environment


def reason_to_skip():
    build = os.environ.get("MESOS_BUILD")
    if not build:
        return "MESOS_BUILD is not set: the folder with the programs of a genuine Mesos, and start.sh and stop.sh"
    missing = [name for name in ("start.sh", "stop.sh") if not os.access(f"{build}/{name}", os.X_OK)]
    return f"{build} has no {' and no '.join(missing)}" if missing else None


def script(name):
    return os.path.join(os.path.abspath(os.environ["MESOS_BUILD"]), name)


class Genuine:
    """@zookeeper: "host:port" of a server that elects one of @masters, which have the ports from `port` on."""

    def __init__(self, folder, agents=1, resources="cpus:4;mem:4096;disk:10000;ports:[31000-31999]", attributes="rack:12", masters=1,
                 zookeeper=None, **environment):
        self.folder, self.agents, self.port, self.masters = str(folder), agents, free_port(), masters
        self.address = f"zk://{zookeeper}/mesos" if zookeeper else f"127.0.0.1:{self.port}"
        if zookeeper:
            environment |= {"ZK": self.address, "MASTERS": str(masters)}
        self.saved = {}  # command and environment of processes that start again
        self.environment = dict(inherited_environment(), MASTER_PORT=str(self.port), RESOURCES=resources, ATTRIBUTES=attributes,
                                **environment)

    def __enter__(self):
        subprocess.run([script("start.sh"), self.folder, str(self.agents)], env=self.environment, check=True, timeout=120,
                       stdout=subprocess.DEVNULL)
        return self

    def __exit__(self, *_):
        subprocess.run([script("stop.sh"), self.folder], env=self.environment, check=False, timeout=60)

    def pid(self, name):
        with open(os.path.join(self.folder, f"{name}.pid"), encoding="ascii") as file:
            return int(file.read())

    def kill(self, name, number=signal.SIGKILL):
        """Signals master0, agent0, …"""
        os.kill(self.pid(name), number)

    def start_again(self, name):
        """Starts a process that has ended as it was started first: kill it by kill_to_restart()."""
        command, environment = self.saved[name]
        with open(os.path.join(self.folder, f"{name}.log"), "ab") as log:
            process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        with open(os.path.join(self.folder, f"{name}.pid"), "w", encoding="ascii") as file:
            file.write(str(process.pid))

    def kill_to_restart(self, name):
        pid = self.pid(name)
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            command = file.read().decode().rstrip("\0").split("\0")
        with open(f"/proc/{pid}/environ", "rb") as file:
            environment = dict(entry.split("=", 1) for entry in file.read().decode().rstrip("\0").split("\0"))
        self.saved[name] = command, environment
        self.kill(name)
        wait_until(lambda: not is_running(pid), f"the end of {name}")

    def leader(self):
        """Returns the number of the master that leads, or None."""
        for i in range(self.masters):
            try:
                if self.ask(i, "metrics/snapshot")["master/elected"]:
                    return i
            except OSError:  # it has ended
                pass
        return None

    def ask(self, master, what):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port + master}/{what}", timeout=10) as answer:
            return json.load(answer)

    def state(self, what="state"):
        if self.masters > 1:
            wait_until(lambda: self.leader() is not None, "a leading master")
        return self.ask(self.leader() if self.masters > 1 else 0, f"master/{what}")

    def living_frameworks(self):
        return [framework["id"] for framework in self.state()["frameworks"]]


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False
