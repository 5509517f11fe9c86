"""Applications on Mesos in client mode, coarse-grained: registration, refusals, broken connections, other masters, the end."""
import os
import pathlib
import signal
import socket
import ssl
import subprocess
import threading

import pytest

from conditions import wait_until
from folders import BIN
from inherited_environment import inherited_environment
from mesos.master import Master

# Answers each line that it reads with the sum of 0 to 3, which two tasks compute.
APPLICATION = r"""
#include <firesteel/firesteel.h>
#include <stdio.h>

int main(void)
{
        fst_context *sc = fst_context_new("a job per line");
        char line[100];
        int64_t sum;
        while (fgets(line, sizeof(line), stdin) && fst_reduce(fst_range_n(sc, 0, 4, 2), fst_fn_sum, &sum) == 0) {
                printf("%d\n", (int)sum);
                fflush(stdout);
        }
        return fst_context_stop(sc);
}
"""


class Application:
    """One application. At most two executors of one core each."""

    def __init__(self, folder, url, *conf, **environment):
        folder.mkdir(exist_ok=True)
        (folder / "app.c").write_text(APPLICATION)
        settings = ["spark.driver.host=127.0.0.1", "spark.executor.cores=1", "spark.cores.max=2", "spark.executor.memory=200m",
                    "spark.ui.enabled=false", f"spark.mesos.executor.home={pathlib.Path(BIN).parent.parent}", *conf]
        words = [word for setting in settings for word in ("--conf", setting)]
        self.path = folder / "log"
        with open(self.path, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [os.path.join(BIN, "spark-submit"), "--master", url, *words, "app.c"], cwd=folder, stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=log, text=True,
                env={**inherited_environment("SPARK_", "MESOS_", "LIBPROCESS_"), "SPARK_CONF_DIR": str(folder),
                     "XDG_CACHE_HOME": str(folder.parent / "cache"), **environment})

    def log(self):
        return self.path.read_text(errors="replace")

    def run(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "6\n", self.log()

    def end(self):
        """Returns the exit status."""
        if not self.process.stdin.closed:
            self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait(60)


@pytest.fixture
def master(tmp_path):
    (tmp_path / "mesos").mkdir()
    with Master(tmp_path / "mesos") as master:
        master.add_agent("cpus:1;mem:1024")
        master.add_agent("cpus:1;mem:1024")
        yield master


@pytest.fixture
def start(tmp_path, master):
    """Starts applications, and ends those that a failed test leaves."""
    started = []

    def start_one(*conf, url=None, **environment):
        started.append(Application(tmp_path / f"app{len(started)}", url or f"mesos://{master.address}", *conf, **environment))
        return started[-1]
    yield start_one
    for application in started:
        if application.process.poll() is None:
            print(application.log())
            application.process.kill()
            application.process.wait()


def test_an_application_runs_and_ends_its_framework(tmp_path, master, start):
    application = start("spark.mesos.role=dev", "spark.mesos.driver.webui.url=http://x/", SPARK_PUBLIC_DNS="public")
    application.run()
    framework = master.wait_for_framework()
    info = framework.info
    assert (info["name"], info["role"], info["hostname"], info["webui_url"]) == ("a job per line", "dev", "public", "http://x/")
    assert info["failover_timeout"] == 0 and "principal" not in info and "checkpoint" not in info
    task = master.tasks()[0]
    assert f"--app-id {framework.id} --hostname" in task["command"]["value"]
    assert list((tmp_path / "mesos").glob("**/blockmgr-*")), "an executor's temporary files are not in its sandbox"
    assert application.end() == 0, application.log()
    assert [call["type"] for call in master.calls_of("TEARDOWN")] == ["TEARDOWN"]
    acknowledged = {call["acknowledge"]["uuid"] for call in master.calls_of("ACKNOWLEDGE")}
    assert len(acknowledged) == len(master.calls_of("ACKNOWLEDGE")) >= 2 * len(master.tasks())


def test_a_wrong_secret_is_explained(master, start):
    master.credentials = {"spark": "right"}
    wrong = start("spark.mesos.principal=spark", "spark.mesos.secret=wrong")
    assert wrong.end() == 1
    assert "does not accept the principal \"spark\" with the given secret: set spark.mesos.principal" in wrong.log()
    none = start()
    assert none.end() == 1
    assert "wants a principal and a secret" in none.log()
    right = start(SPARK_MESOS_PRINCIPAL="spark", SPARK_MESOS_SECRET="right")
    right.run()
    assert right.end() == 0


@pytest.mark.parametrize("url, conf, message", [
    ("mesos://h", [], '"h" is not the address of a Mesos master: write mesos://host:port'),
    ("mesos://zk://h:1", [], "has no path: append that of the masters' option --zk"),
    ("mesos://h:1", ["spark.mesos.secret=s"], "spark.mesos.principal must be configured when spark.mesos.secret is set"),
    ("mesos://h:1", ["spark.io.encryption.enabled=true"], "I/O encryption is currently not supported in Mesos."),
    ("mesos://h:1", ["spark.mesos.coarse.shutdownTimeout=-1s"], "spark.mesos.coarse.shutdownTimeout must be >= 0"),
])
def test_invalid_settings_are_explained(start, url, conf, message):
    application = start(*conf, url=url)
    assert application.end() == 1
    assert message in application.log()


def test_a_redirection_and_masters_that_are_not_ready(tmp_path, master, start):
    (tmp_path / "other").mkdir()
    with Master(tmp_path / "other") as other:
        other.redirect = master.address
        master.answers = [(503, "", {}), (503, "", {})]
        application = start(url=f"mesos://{other.address}")
        application.run()
        assert application.end() == 0
        assert master.tasks() and not other.tasks()


def test_a_broken_connection_within_the_failover_timeout(master, start):
    application = start("spark.mesos.driver.failoverTimeout=60")
    application.run()
    framework, tasks = master.wait_for_framework(), len(master.tasks())
    master.cut(framework)
    wait_until(lambda: master.calls_of("RECONCILE"), "the driver does not ask for its tasks")
    asked = {task["task_id"]["value"] for task in master.calls_of("RECONCILE")[0]["reconcile"]["tasks"]}
    assert asked == {task["task_id"]["value"] for task in master.tasks()[:tasks]}
    assert master.wait_for_framework().id == framework.id
    application.run()
    assert len(master.tasks()) == tasks
    assert application.end() == 0


def test_a_broken_connection_without_a_failover_timeout(master, start):
    application = start()
    application.run()
    framework = master.wait_for_framework()
    with master.lock:
        master.answers = [(503, "", {})]  # later than the removal
        master.cut(framework)
    wait_until(lambda: "Mesos error:" in application.log(), "the driver does not report the end")
    assert "Framework has been removed. The connection with the master broke for longer than" in application.log()
    application.process.stdin.write("\n")
    assert application.end() != 0


def test_another_driver_with_the_same_framework_id(master, start):
    conf = ["spark.mesos.driver.failoverTimeout=60", "spark.mesos.driver.frameworkId=ours"]
    first = start(*conf)
    first.run()
    assert master.wait_for_framework().id == "ours"
    second = start(*conf)
    wait_until(lambda: "Framework failed over. Another driver has subscribed" in first.log(), "the first driver goes on")
    first.process.kill()
    second.run()
    assert second.end() == 0


@pytest.fixture
def tls_address(tmp_path, master):
    """A master's address that speaks TLS, with a certificate for localhost: (address, certificate)."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
                    "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", tmp_path / "key.pem",
                    "-out", tmp_path / "cert.pem"], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")

    def copy(source, target):
        try:
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def serve(plain):
        try:
            outside = context.wrap_socket(plain, server_side=True)
        except OSError:
            return  # the client does not trust the certificate
        inside = socket.create_connection(("127.0.0.1", master.port))
        threading.Thread(target=copy, args=(inside, outside), daemon=True).start()
        copy(outside, inside)

    def accept(listener):
        while True:
            try:
                plain = listener.accept()[0]
            except OSError:
                return
            threading.Thread(target=serve, args=(plain,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=accept, args=(listener,), daemon=True).start()
        yield f"localhost:{listener.getsockname()[1]}", str(tmp_path / "cert.pem")
        listener.shutdown(socket.SHUT_RDWR)


def test_tls(start, tls_address):
    address, certificate = tls_address
    application = start(url=f"mesos://{address}", LIBPROCESS_SSL_ENABLED="true", LIBPROCESS_SSL_CA_FILE=certificate)
    application.run()
    assert application.end() == 0
    unverified = start(url=f"mesos://{address}", LIBPROCESS_SSL_ENABLED="1", LIBPROCESS_SSL_VERIFY_SERVER_CERT="false")
    unverified.run()
    assert unverified.end() == 0
    unknown = start(url=f"mesos://{address}", LIBPROCESS_SSL_ENABLED="true")
    wait_until(lambda: "Cannot subscribe" in unknown.log(), "the certificate is accepted")
    assert "certificate" in unknown.log()
    unknown.process.kill()
    unknown.end()


def test_missing_heartbeats(master, start):
    master.heartbeat_s = 0.1
    application = start("spark.mesos.driver.failoverTimeout=60")
    application.run()
    with master.lock:
        master.heartbeats = False
    wait_until(lambda: len(master.calls_of("SUBSCRIBE")) > 1, "the driver does not subscribe again")
    with master.lock:
        master.heartbeats = True
    assert "heartbeats are missing" in application.log()
    application.run()
    assert application.end() == 0


def test_an_agent_is_lost(master, start):
    application = start()
    application.run()
    wait_until(lambda: len(master.tasks()) == 2, "two executors are not launched")
    master.lose(master.agents[0])
    master.add_agent("cpus:1;mem:1024")
    wait_until(lambda: len(master.tasks()) == 3, "the lost executor is not replaced")
    application.run()
    assert application.end() == 0


def test_a_signal_ends_the_framework(master, start):
    application = start()
    application.run()
    application.process.send_signal(signal.SIGTERM)
    assert application.end() == 143
    assert master.calls_of("TEARDOWN")


def test_a_call_without_an_answer_is_made_again(master, start):
    application = start()
    application.run()
    wait_until(lambda: len(master.tasks()) == 2 and master.calls_of("SUPPRESS"), "both executors")
    master.unanswered = {"REVIVE"}
    master.agents[0].processes()[0].signal(signal.SIGKILL)
    wait_until(lambda: application.log().count("got no answer") == 3, "three attempts")
    master.unanswered = set()
    wait_until(lambda: len(master.tasks()) == 3, "another executor")
    application.run()
    assert application.end() == 0, application.log()
