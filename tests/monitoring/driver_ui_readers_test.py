"""Many readers of a driver's site that never read: its memory stays bounded, and jobs go on."""
import contextlib
import json
import os
import re
import socket
import subprocess
import threading
import time
import urllib.request

from folders import BIN
from full_number import full_number
from sanitizers import SANITIZED

READERS = full_number(500, 300)

# Runs jobs of many small tasks until its standard input ends. Prints a line after each.
APPLICATION = r"""
#include <firesteel/firesteel.h>
#include <poll.h>
#include <stdio.h>

int main(void)
{
        fst_context *sc = fst_context_new("busy");
        struct pollfd in = {.fd = 0, .events = POLLIN};
        int64_t n = 0;
        while (poll(&in, 1, 0) == 0 && fst_count(fst_range_n(sc, 0, 20000, 20000), &n) == 0)
                if (printf("counted %lld\n", (long long)n) < 0 || fflush(stdout))
                        break;
        return fst_context_stop(sc);
}
"""


class BusyDriver:
    def __init__(self, folder):
        source = folder / "busy.c"
        source.write_text(APPLICATION)
        self.log = folder / "driver.log"
        self.n_jobs = 0
        with open(self.log, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [os.path.join(BIN, "spark-submit"), "--master", "local[2,3]", "--conf", "spark.ui.port=0", str(source)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)
        threading.Thread(target=self.count, daemon=True).start()
        self.await_jobs(20)
        self.port = int(re.search(r"started at http://[^:]+:(\d+)", self.log.read_text()).group(1))
        self.app = self.get("")[0]["id"]

    def count(self):
        for line in self.process.stdout:
            assert line == "counted 20000\n"
            self.n_jobs += 1

    def await_jobs(self, n):
        """Wait until @n more jobs have ended."""
        n += self.n_jobs
        end = time.monotonic() + 240
        while self.n_jobs < n:
            assert self.process.poll() is None and time.monotonic() < end, self.log.read_text()[-4000:]
            time.sleep(0.05)

    def get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/v1/applications{path}", timeout=240) as answer:
            return json.load(answer)

    def memory_mib(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return int(next(line for line in status if line.startswith("VmRSS")).split()[1]) >> 10

    def begin(self, path):
        """Ask for a long answer, and read its head only."""
        client = socket.create_connection(("127.0.0.1", self.port))
        client.settimeout(240)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.sendall(f"GET /api/v1/applications/{self.app}{path} HTTP/1.1\r\nHost: h\r\n\r\n".encode())
        assert client.recv(12) == b"HTTP/1.1 200"
        return client


def test_readers_that_never_read_neither_fill_the_memory_nor_stop_jobs(tmp_path):
    driver = BusyDriver(tmp_path)
    try:
        stage = max(s["stageId"] for s in driver.get(f"/{driver.app}/stages?status=complete"))
        paths = ["/jobs", "/stages", f"/stages/{stage}/0/taskList?length=100000", f"/stages/{stage}/0"]
        before = driver.memory_mib()
        with contextlib.ExitStack() as stack:
            for i in range(READERS):
                stack.enter_context(contextlib.closing(driver.begin(paths[i % len(paths)])))
            driver.await_jobs(20)
            jobs = driver.get(f"/{driver.app}/jobs")
            assert [job["jobId"] for job in jobs] == sorted((job["jobId"] for job in jobs), reverse=True)
            assert len(jobs) >= 40 and {job["status"] for job in jobs} <= {"SUCCEEDED", "RUNNING"}
            # 400 KiB for each reader, of answers of up to 30 MiB, and what the driver keeps of more jobs.
            assert SANITIZED or driver.memory_mib() - before < READERS * 400 // 1024, (before, driver.memory_mib())
        driver.await_jobs(5)
        driver.process.stdin.close()
        assert driver.process.wait(240) == 0, driver.log.read_text()[-4000:]
    finally:
        if driver.process.poll() is None:
            driver.process.kill()
            driver.process.wait()
