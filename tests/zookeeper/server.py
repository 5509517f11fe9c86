"""A real ZooKeeper on loopback: Debian's, on Java."""
import os
import shutil
import socket
import subprocess
import time

from free_ports import free_port

JAR = "/usr/share/java/zookeeper.jar"
LONG = 180.0  # seconds, until something that must happen is given up


def reason_to_skip():
    """Why no server can start, or None."""
    if shutil.which("java") and os.path.exists(JAR):
        return None
    return "no ZooKeeper or no Java (scripts/install-deps.sh developer)"


class Server:
    """A ZooKeeper server, which can be killed and started again with its data."""

    def __init__(self, folder):
        self.folder = folder
        self.port = free_port()
        self.process = None
        with open(f"{folder}/zoo.cfg", "w", encoding="utf-8") as f:
            f.write(f"tickTime=500\ndataDir={folder}/data\nclientPort={self.port}\nclientPortAddress=127.0.0.1\n"
                    "admin.enableServer=false\nmaxClientCnxns=0\nmaxSessionTimeout=120000\n")
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            ["java", "-Xmx128m", "-cp", JAR, "org.apache.zookeeper.server.ZooKeeperServerMain", f"{self.folder}/zoo.cfg"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.folder)
        deadline = time.monotonic() + LONG
        while time.monotonic() < deadline:
            with socket.socket() as s:
                if s.connect_ex(("127.0.0.1", self.port)) == 0:
                    s.settimeout(1)
                    try:
                        s.sendall(b"srvr")
                        if b"Mode: standalone" in s.recv(4096):
                            return
                    except OSError:
                        pass
            time.sleep(0.05)
        raise RuntimeError("ZooKeeper does not answer")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def tool(self, *words):
        """Return the output of ZooKeeper's own client."""
        done = subprocess.run(["java", "-Xmx128m", "-cp", JAR, "org.apache.zookeeper.ZooKeeperMain", "-server",
                               f"127.0.0.1:{self.port}", *words], capture_output=True, text=True, timeout=LONG, check=False)
        return done.stdout
