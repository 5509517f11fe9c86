"""A running local-cluster application under attack: messages of unregistered peers cannot stop it, and cost few log lines and little memory."""
import os
import random
import resource
import socket
import struct
import subprocess
import time

import pytest

from folders import BIN
from sanitizers import SANITIZED


MORE_MEMORY = (1024 if SANITIZED else 64) << 10  # KiB. Sanitizers delay the release of freed memory.

APPLICATION = """
#include <firesteel/firesteel.h>
#include <stdio.h>
#include <unistd.h>

static int place(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, x % 7, (int64_t)1);
        return 0;
}

int main(int argc, char **argv)
{
        fst_context *sc = fst_context_new("attacked");
        for (int round = 1;; round++) {
                int64_t keys = 0;
                if (fst_count(fst_reduce_by_key(fst_flat_map(fst_range_n(sc, 0, 1000, 4), place, FST_PAIR(I64, I64)),
                                                fst_fn_sum), &keys) || keys != 7)
                        return 3;
                printf("%d\\n", round);
                fflush(stdout);
                if (access(argv[1], F_OK) == 0)
                        break;
                usleep(20000);
        }
        return fst_context_stop(sc);
}
"""


def varint(n):
    n &= (1 << 64) - 1
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(number, value):
    """A field of a protobuf message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def endpoint(name):
    number = 0x811C9DC5
    for byte in name.encode():
        number = (number ^ byte) * 0x01000193 & 0xFFFFFFFF
    return number


HELLO, SEND, ASK = 1, 3, 4
REGISTER, STATUS, HEARTBEAT, BLOCKS, LAUNCH = 2, 3, 4, 7, 21


def crc32c_of_byte(value):
    for _ in range(8):
        value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
    return value


CRC32C = [crc32c_of_byte(value) for value in range(256)]


def crc32c(data):
    value = 0xFFFFFFFF
    for byte in data:
        value = CRC32C[(value ^ byte) & 0xFF] ^ value >> 8
    return ~value & 0xFFFFFFFF


def frame(kind, body=b"", number=0, what=0, length=None, attached=0):
    header = struct.pack("<4sBBHQIIQ", b"FSRP", 2, kind, what, number,
                         endpoint("CoarseGrainedScheduler") if kind in (SEND, ASK) else 0,
                         len(body) if length is None else length, attached)
    if kind != HELLO:
        header += struct.pack("<I", crc32c(body))
        header += struct.pack("<I", crc32c(header))
    return header + body


def transfer_frame(kind, body=b"", length=None):
    body += struct.pack("<I", crc32c(body))
    header = struct.pack("<IB", len(body) if length is None else length, kind)
    return header + struct.pack("<I", crc32c(header))[:3] + body


def hello():
    message = field(1, 2) + field(2, 2) + field(3, "attacker") + field(4, os.urandom(16)) + field(7, 1 << 27)
    return frame(HELLO, message + varint(8 << 3 | 5) + struct.pack("<I", crc32c(message)))


def registration(name, cores, host="127.0.0.1", port=1):
    libc = os.confstr("CS_GNU_LIBC_VERSION")
    machine = {"x86_64": 62, "aarch64": 183}.get(os.uname().machine, 0)
    return (field(1, name) + field(2, host) + field(3, cores) + field(4, port) + field(9, 1) + field(10, machine) +
            field(11, libc) + field(12, "0") + field(13, 1 << 20))


class Application:
    """An application that runs jobs until it is stopped."""

    def __init__(self, folder, *conf):
        (folder / "app.c").write_text(APPLICATION)
        self.stop_file, self.log = folder / "stop", folder / "log"
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK_", "MASTER", "DEPLOY_MODE"))}
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [os.path.join(BIN, "spark-submit"), "--master", "local-cluster[2,1,1024]", "--conf",
                 "spark.ui.enabled=false", *conf, "app.c", str(self.stop_file)],
                cwd=folder, env=dict(kept, SPARK_LOCAL_IP="127.0.0.1"),
                stdout=subprocess.PIPE, stderr=log, text=True)
        assert self.process.stdout.readline() == "1\n", self.log.read_text()
        self.processes = [self.process.pid] + self.children()
        self.memory_before = self.memory()

    def children(self):
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="ascii") as file:
            return [int(pid) for pid in file.read().split()]

    def memory(self):
        """Resident KiB of driver and executors together."""
        total = 0
        for pid in self.processes:
            with open(f"/proc/{pid}/status", encoding="utf-8") as file:
                total += sum(int(line.split()[1]) for line in file if line.startswith("VmRSS"))
        return total

    def ports(self):
        """All ports on which driver and executors listen, the driver's RPC port first."""
        found = []
        with open("/proc/net/tcp", encoding="ascii") as file:
            listening = {words[9]: int(words[1].split(":")[1], 16)
                         for words in map(str.split, file) if words[3] == "0A"}
        for pid in self.processes:
            for name in sorted(os.listdir(f"/proc/{pid}/fd"), key=int):
                try:
                    link = os.readlink(f"/proc/{pid}/fd/{name}")
                except OSError:
                    continue
                if link.startswith("socket:[") and link[8:-1] in listening:
                    found.append(listening[link[8:-1]])
        return found

    def goes_on(self):
        """Waits for several more jobs that begin after now."""
        assert self.process.poll() is None, self.log.read_text()[-3000:]
        seen = int(self.process.stdout.readline())
        while int(self.process.stdout.readline()) < seen + 3:
            pass

    def end(self):
        self.stop_file.write_text("")
        self.process.stdout.read()
        return self.process.wait(timeout=60)


def connect(port):
    return socket.create_connection(("127.0.0.1", port), timeout=60)


def send(s, data):
    """Returns False if the peer has closed the connection."""
    try:
        s.sendall(data)
    except OSError:
        return False
    return True


def send_and_close(port, data):
    """Sends the bytes and closes the connection."""
    with connect(port) as s:
        send(s, data)


def is_over(s):
    """Returns whether the peer closes the connection within the timeout."""
    try:
        while s.recv(65536):
            pass
    except socket.timeout:
        return False
    except OSError:
        pass
    return True


def garbage(port, draw):
    """Random bytes, truncated valid messages, and absurd lengths."""
    for size in (0, 1, 7, 8, 31, 32, 33, 1000, 100000):
        send_and_close(port, draw.randbytes(size))
    for head in (hello(), b"FSTX\2\0\0\0", b"FSRP", b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x02\x00\x01"):
        for cut in (1, len(head) // 2, len(head)):
            send_and_close(port, head[:cut])
        send_and_close(port, head + draw.randbytes(300))
    for length, attached in ((0xFFFFFFFF, 0), (0, 1 << 63), (0xFFFFFFFF, (1 << 64) - 1), (1 << 27, 1 << 27)):
        send_and_close(port, frame(HELLO, length=length, attached=attached))
        send_and_close(port, hello() + frame(SEND, length=length, attached=attached, number=1))
    for kind in (0, 1, 2, 3, 4, 5, 99):
        send_and_close(port, b"FSTX\2\0\0\0" + transfer_frame(kind, length=0xFFFFFFFF))
        send_and_close(port, b"FSTX\2\0\0\0" + transfer_frame(kind, draw.randbytes(20)))
    for kind in range(12):
        send_and_close(port, hello() + frame(kind, draw.randbytes(40), number=1, what=draw.randrange(60)))


def loris(ports, n):
    """Connections that send one or two bytes of our protocols, or of TLS, and wait."""
    held = []
    for i in range(n):
        try:
            s = connect(ports[i % len(ports)])
            s.send((b"FSRP", b"FSTX", b"\x16\x03\x01\x02")[i % 3][:1 + i % 4])
            held.append(s)
        except OSError:
            pass
    return held


def guest(port):
    s = connect(port)
    send(s, hello())
    return s


def strange_messages(port):
    """Well-formed frames of an unregistered peer."""
    with guest(port) as s:
        for number, (kind, what, body) in enumerate([
                (SEND, STATUS, field(1, field(2, 0) + field(3, 1))), (SEND, STATUS, b"\xff" * 50), (SEND, LAUNCH, b""),
                (SEND, 9999, b"x"), (ASK, 9999, b"x"), (ASK, HEARTBEAT, field(1, "0")), (ASK, HEARTBEAT, b"\xff"),
                (SEND, BLOCKS, field(1, field(1, "rdd_0_0") + field(2, 1))), (ASK, 6, field(1, "rdd_0_0")),
                (ASK, 5, field(1, 1) + field(4, 1)), (ASK, 8, field(1, 1)), (ASK, 8, b"\xff"),
                (ASK, REGISTER, b""), (ASK, REGISTER, b"\xff\xff"), (ASK, REGISTER, registration("x", -1)),
                (ASK, REGISTER, registration("x", 1 << 30)), (ASK, REGISTER, registration("", 1)),
                (ASK, REGISTER, registration("x", 1, port=-5)), (ASK, REGISTER, registration("x", 1, host="")),
                (ASK, REGISTER, registration("x\n26/11/21 00:00:00 ERROR forged: line", 1)),
                (ASK, REGISTER, registration("0", 1))], 1):
            send(s, frame(kind, body, number=number, what=what))
    for _ in range(300):
        send_and_close(port, hello() + b"".join(frame(SEND, b"", number=n, what=9999) for n in range(1, 20)))
    with guest(port) as s:  # valid from an executor, but not from an unregistered peer
        send(s, frame(SEND, length=8 << 20, number=1, what=STATUS) + bytes(8 << 20))
        assert is_over(s)
    with guest(port) as s:  # asks without reading the replies
        s.settimeout(0.5)
        number = 1
        while number < 200000 and send(s, frame(ASK, b"", number=number, what=1)):
            number += 1
        assert number < 200000


def false_executor(port):
    """A peer that registers as executor and then sends false messages."""
    with guest(port) as s:
        send(s, frame(ASK, registration("evil", 1), number=1, what=REGISTER))
        run = field(1, 0) + field(2, 0) + field(3, 1) + field(4, 1 << 63) + field(6, varint((1 << 63) - 1))
        far = field(1, 1 << 30) + field(2, 1) + field(3, 256)
        send(s, frame(SEND, field(1, run) + field(1, far) + field(1, run) * 50, number=2, what=STATUS) +
             frame(SEND, b"\xff" * 1000, number=3, what=STATUS) +
             frame(SEND, field(1, field(1, "rdd_2147483647_99") + field(2, 77) + field(3, -1)), number=4, what=BLOCKS) +
             frame(ASK, registration("evil2", 1), number=5, what=REGISTER) + frame(SEND, b"", number=6, what=9999))
        s.shutdown(socket.SHUT_WR)
        assert is_over(s)  # the driver has read all of them


def check(application, words):
    """Checks that the attack had no effect, and that the application ends normally."""
    application.goes_on()
    end = time.monotonic() + 120  # silent connections are closed after a timeout
    while application.memory() >= application.memory_before + MORE_MEMORY and time.monotonic() < end:
        time.sleep(0.1)
    assert application.memory() < application.memory_before + MORE_MEMORY
    assert set(application.children()) == set(application.processes[1:])
    assert application.end() == 0
    log = application.log.read_text(errors="replace")
    warnings = [line for line in log.splitlines() if " WARN " in line or " ERROR " in line]
    assert len(warnings) < words, "\n".join(warnings[:100])
    assert len(warnings) > 3
    assert "forged" not in "".join(line for line in log.splitlines() if line.startswith("26/11/21 00:00:00"))
    assert "AddressSanitizer" not in log and "runtime error" not in log and "ThreadSanitizer" not in log


@pytest.fixture(autouse=True)
def many_files():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize("secured", [False, True])
def test_an_application_survives(tmp_path, secured):
    conf = ["--conf", "spark.authenticate=true"] if secured else []
    application = Application(tmp_path, *conf)
    draw = random.Random(1)
    while len(ports := application.ports()) < 4:  # the driver's two, and one of each executor
        time.sleep(0.02)
    assert f"service 'sparkDriver' on port {ports[0]}." in application.log.read_text()
    held = loris(ports, 2000)
    application.goes_on()
    for port in ports:
        garbage(port, draw)
    application.goes_on()
    strange_messages(ports[0])
    for s in held:
        s.close()
    if not secured:
        false_executor(ports[0])
    check(application, 300)
