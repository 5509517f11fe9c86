"""A shuffle service as a process, for tests."""
import os
import re
import signal
import subprocess

from conditions import TIMEOUT, wait_until
from folders import BIN
from free_ports import free_port


class Service:
    """`firesteel shuffle-service` on its own port, which it keeps when restarted."""

    def __init__(self, folder, *properties):
        self.folder, self.port, self.process = folder, free_port(), None
        self.state = folder / "state"
        (folder / "service.conf").write_text("".join(f"{p.replace('=', ' ', 1)}\n" for p in properties))
        self.start()

    def start(self):
        kept = {k: v for k, v in os.environ.items() if not k.startswith("SPARK_")}
        self.log = self.folder / f"service-{self.port}.log"
        with open(self.log, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [os.path.join(BIN, "firesteel"), "shuffle-service", "--host", "127.0.0.1", "--port", str(self.port),
                 "--properties-file", str(self.folder / "service.conf")],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=dict(kept, SPARK_LOCAL_DIRS=str(self.state)))
        wait_until(lambda: "Starting shuffle service on port" in self.log.read_text() or self.process.poll() is not None,
                   "the service does not start")
        assert self.process.poll() is None, self.log.read_text()
        self.port = int(re.search(r"service on port (\d+)", self.log.read_text())[1])

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.process.wait(timeout=TIMEOUT)

    def conf(self):
        return ["spark.shuffle.service.enabled=true", f"spark.shuffle.service.port={self.port}",
                "spark.firesteel.localCluster.hosts=127.0.0.1", "spark.shuffle.io.retryWait=1s"]
