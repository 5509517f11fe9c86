"""firesteel master as its operators see it: start, messages, recovery, end."""
import json
import os
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request

import pytest

from folders import BIN
from sanitizers import SANITIZED

TIMEOUT = 120


def environment(folder, **variables):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK_", "_SPARK_"))}
    conf = folder / "conf"
    conf.mkdir(exist_ok=True)
    return env | {"SPARK_CONF_DIR": str(conf), "SPARK_LOCAL_IP": "127.0.0.1"} | variables


class Process:
    """A daemon whose log is a file."""

    def __init__(self, folder, name, words, **variables):
        self.log = folder / f"{name}.log"
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(words, stdout=log, stderr=log, env=environment(folder, **variables))

    def text(self):
        return self.log.read_text()

    def wait_for(self, pattern):
        """Waits until the log matches, and returns the match."""
        end = time.monotonic() + TIMEOUT
        while not (found := re.search(pattern, self.text())):
            assert self.process.poll() is None, f"it has ended: {self.text()}"
            assert time.monotonic() < end, f"no {pattern} in: {self.text()}"
            time.sleep(0.02)
        return found

    def end(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(TIMEOUT)


class Master(Process):
    def __init__(self, folder, name="master", *, port=0, rest=0, words=(), **variables):
        variables.setdefault("SPARK_MASTER_OPTS", "")
        variables["SPARK_MASTER_OPTS"] += f" -Dspark.master.rest.port={rest}"
        super().__init__(folder, name, [os.path.join(BIN, "firesteel"), "master", "--host", "127.0.0.1", "--port",
                                        str(port), "--webui-port", "0", *words], **variables)

    def url(self):
        return self.wait_for(r"Starting Spark master at (spark://\S+:\d+)")[1]

    def rest(self):
        return int(self.wait_for(r"Started REST server for submitting applications on 127.0.0.1 with port (\d+)")[1])

    def elected(self, state="ALIVE"):
        self.wait_for(f"I have been elected leader! New state: {state}")

    def ask(self, path, body=None, **headers):
        headers = {"Content-Type": "application/json"} | headers
        request = urllib.request.Request(f"http://127.0.0.1:{self.rest()}/v1/submissions/{path}", headers=headers,
                                         data=None if body is None else json.dumps(body).encode())
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def submit(self, resource="file:/nowhere/app.so", **properties):
        return self.ask("create", {
            "action": "CreateSubmissionRequest", "appResource": resource, "mainClass": "main", "appArgs": [],
            "clientSparkVersion": "4.3.0", "environmentVariables": {},
            "sparkProperties": {"spark.app.name": "x", "spark.master": self.url(), **properties}})


@pytest.fixture
def start(tmp_path):
    masters = []

    def one(*args, **options):
        masters.append(Master(tmp_path, *args, **options))
        return masters[-1]

    yield one
    for master in masters:
        master.end(signal.SIGKILL)


def test_master_says_what_is_looked_for_and_ends_at_sigterm(start):
    master = start()
    master.elected()
    assert re.search(r"INFO Master: Started daemon with process name: \d+@", master.text())
    assert "INFO Utils: Successfully started service 'sparkMaster' on port " in master.text()
    assert "INFO Master: Running Firesteel version " in master.text()
    assert master.end() == 128 + signal.SIGTERM
    assert "ERROR Master: RECEIVED SIGNAL TERM" in master.text()


@pytest.mark.parametrize("words, status, lines", [
    (["--help"], 0, []),
    (["--nonsense", "1"], 1, ["Error: Unrecognized option: --nonsense", ""]),
    (["--port"], 1, ["Error: --port needs a value", ""]),
    (["--port", "x"], 1, ['Error: --port: "x" is not a port from 0 to 65535', ""]),
    (["--webui-port", "65536"], 1, ['Error: --webui-port: "65536" is not a port from 0 to 65535', ""]),
    (["spark://h:1"], 1, ["Error: Unrecognized option: spark://h:1", ""]),
])
def test_usage(tmp_path, words, status, lines):
    done = subprocess.run([os.path.join(BIN, "firesteel"), "master", *words], env=environment(tmp_path), text=True,
                          stderr=subprocess.PIPE, check=False)
    assert done.returncode == status
    assert done.stderr.split("\n")[:len(lines) + 1] == [*lines, "Usage: Master [options]"]


@pytest.mark.parametrize("key, value, sentence", [
    ("spark.deploy.maxDrivers", "0", "The maximum number of running drivers should be positive."),
    ("spark.deploy.defaultCores", "0", "spark.deploy.defaultCores must be positive."),
    ("spark.deploy.appNumberModulo", "10", "The modulo for app number should be greater than or equal to 1000."),
    ("spark.deploy.appIdPattern", "app %s %d", "in spark.deploy.appIdPattern is invalid"),
    ("spark.deploy.workerSelectionPolicy", "LUCK", "in spark.deploy.workerSelectionPolicy is invalid"),
    ("spark.worker.timeout", "soon", "spark.worker.timeout"),
    ("spark.deploy.recoveryTimeout", "0", "spark.deploy.recoveryTimeout must be positive."),
    ("spark.deploy.recoveryMode", "FILES", "spark.deploy.recoveryMode"),
])
def test_settings_that_cannot_be(start, tmp_path, key, value, sentence):
    (tmp_path / "wrong.conf").write_text(f"{key} {value}\n")
    master = start(words=["--properties-file", str(tmp_path / "wrong.conf")])
    assert master.process.wait(TIMEOUT) == 1
    assert sentence in master.text()


def test_where_settings_come_from(start, tmp_path):
    conf = tmp_path / "conf"
    conf.mkdir()
    (conf / "spark-env.sh").write_text("SPARK_MASTER_OPTS=\"$SPARK_MASTER_OPTS '-Dspark.deploy.driverIdPattern=opts-%s-%d'\"\n")
    (conf / "spark-defaults.conf").write_text("spark.deploy.driverIdPattern file-%s-%d\nspark.deploy.maxDrivers 3\n")
    master = start(SPARK_MASTER_PORT="nonsense")
    assert master.process.wait(TIMEOUT) == 1
    assert 'SPARK_MASTER_PORT: "nonsense" is not a port' in master.text()
    master = start("second")
    master.elected()
    status, answer = master.submit()
    assert status == 200 and re.fullmatch(r"opts-\d{14}-0", answer["submissionId"]), answer


def test_scripts_of_others_start_it_by_class(tmp_path):
    for words in ([os.path.join(BIN, "spark-class")], [os.path.join(BIN, "firesteel"), "class"]):
        master = Process(tmp_path, "class", [*words, "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1",
                                             "--port", "0", "--webui-port", "0"],
                         SPARK_MASTER_OPTS="-Dspark.master.rest.enabled=false")
        try:
            master.wait_for("New state: ALIVE")
            assert "REST server" not in master.text()
        finally:
            assert master.end() == 128 + signal.SIGTERM
        master.log.unlink()


def test_drivers_are_taken_and_remembered(start, tmp_path):
    options = f"-Dspark.deploy.recoveryMode=FILESYSTEM -Dspark.deploy.recoveryDirectory={tmp_path}/state"
    first = start(SPARK_MASTER_OPTS=options)
    first.elected()
    status, answer = first.submit("file:/nowhere/app.jar")
    assert status == 400 and "spark.firesteel.standalone.jvm" in answer["message"]
    status, answer = first.submit()
    assert status == 200 and answer["success"], answer
    driver = answer["submissionId"]
    assert answer["message"] == f"Driver successfully submitted as {driver}"
    assert first.ask(f"status/{driver}")[1]["driverState"] == "SUBMITTED"

    # Acknowledged state is durable, so another master finds it although this one was killed.
    second = start("second", SPARK_MASTER_OPTS=options)
    assert second.ask("readyz")[0] == 503
    assert "elected" not in second.text()
    first.end(signal.SIGKILL)
    second.elected("RECOVERING")
    second.wait_for("Recovery complete in .* - resuming operations!")
    assert second.ask("readyz")[0] == 200
    assert second.ask(f"status/{driver}")[1]["driverState"] == "SUBMITTED"
    assert second.ask(f"kill/{driver}", {})[1]["success"]
    assert second.ask(f"status/{driver}")[1]["driverState"] == "KILLED"
    second.end()
    third = start("third", SPARK_MASTER_OPTS=options)
    third.elected("ALIVE")
    assert not third.ask(f"status/{driver}")[1]["success"]


AUTHENTICATED = "-Dspark.authenticate=true -Dspark.authenticate.secret=s3cret"
OPEN = "The REST server does not check spark.authenticate.secret"


@pytest.mark.parametrize("options, warned", [
    ("", False),
    (AUTHENTICATED, True),
    (f"{AUTHENTICATED} -Dspark.master.rest.filters=firesteel.RemoteUserFilter", True),
    (f"{AUTHENTICATED} -Dspark.firesteel.rest.token=t0ken", False),
    (f"{AUTHENTICATED} -Dspark.master.rest.enabled=false", False),
])
def test_warns_of_open_rest_server_beside_authentication(start, options, warned):
    master = start(SPARK_MASTER_OPTS=options)
    master.elected()
    assert (OPEN in master.text()) == warned


def test_rest_server_takes_only_clients_with_its_token(start, tmp_path):
    master = start(SPARK_MASTER_OPTS="-Dspark.firesteel.rest.token=Open-Sesame")
    master.elected()
    assert master.submit()[0] == 401
    assert master.ask("killall", {}, Authorization="Bearer Open-Sesame")[0] == 200
    url = f"spark://127.0.0.1:{master.rest()}"
    (tmp_path / "app.so").write_bytes(b"")

    def submit(*words):
        return subprocess.run([os.path.join(BIN, "spark-submit"), "--verbose", "--master", url, *words], text=True, check=False,
                              capture_output=True, env=environment(tmp_path), timeout=TIMEOUT)

    create = ["--deploy-mode", "cluster", "--conf", "spark.master.rest.enabled=true", "--class", "main"]
    token = ["--conf", "spark.firesteel.rest.token=Open-Sesame"]
    application = [f"file:{tmp_path}/app.so"]
    assert "The request has no valid token: set spark.firesteel.rest.token" in submit(*create, *application).stderr
    done = submit(*create, *token, *application)
    driver = re.search(r"Submission successfully created as (\S+)\.", done.stderr)[1]
    assert "Open-Sesame" not in done.stderr + done.stdout
    assert "The request has no valid token" in submit("--kill", driver).stderr
    assert f"{driver} is killed successfully" in submit(*token, "--kill", driver).stderr
    assert "Open-Sesame" not in master.text()


def test_names_that_peers_choose_break_no_line_of_the_log(start):
    master = start()
    master.elected()
    forged = "26/11/24 10:00:00 ERROR Master: forged"
    assert master.submit("file:/nowhere/\r\x1b[2Japp.jar\n" + forged)[0] == 400
    master.wait_for("forged")
    assert not re.search("^" + forged, master.text(), re.M)
    assert "\x1b" not in master.text() and "\r" not in master.text()


def test_an_idle_master_is_small(start):
    master = start()
    master.elected()
    with open(f"/proc/{master.process.pid}/status", encoding="ascii") as status:
        resident = int(re.search(r"VmRSS:\s+(\d+) kB", status.read())[1])
    print(f"idle master: {resident} KiB resident")
    assert SANITIZED or resident <= 10 * 1024


def test_pages_are_served(start):
    master = start(SPARK_PUBLIC_DNS="localhost")
    page = master.wait_for(r"Bound MasterWebUI to 127.0.0.1, and started at (http://localhost:\d+)")[1]
    master.elected()
    with urllib.request.urlopen(page + "/json/", timeout=TIMEOUT) as answer:
        state = json.load(answer)
    assert (state["url"], state["status"], state["workers"]) == (master.url(), "ALIVE", [])


def test_many_connections(tmp_path):
    done = subprocess.run([os.path.join(BIN, "firesteel"), "simulate", "--standalone", "--connections", "--workers",
                           "300", "--applications", "20", "--heartbeats", "1", "--output", "json"],
                          env=environment(tmp_path), stdout=subprocess.PIPE, check=True)
    results = json.loads(done.stdout)
    assert (results["workers"], results["executors"], results["applications"]) == (300, 300, 20)
    assert results["peakKiB"] > 0


@pytest.mark.parametrize("words, status, said", [
    (["--workers", "1000"], 0, '"applicationsSeconds":'),
    (["--workers", "10", "--executors", "100"], 2, "the workers have too few cores"),
    (["--workers", "x"], 2, "invalid number: 'x'"),
    (["--nonsense"], 2, "unknown option '--nonsense'"),
])
def test_the_core_alone(tmp_path, words, status, said):
    done = subprocess.run([os.path.join(BIN, "firesteel"), "simulate", "--standalone", "--applications", "10",
                           "--output", "json", *words], env=environment(tmp_path), text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    assert done.returncode == status and said in done.stdout, done.stdout
