"""spark-submit against a master's REST server: requests, output and exit status, with masters that are down, restart, are
not REST servers, or send invalid replies. Includes the client's cases of Spark's StandaloneRestSubmitSuite."""
import json
import os
import re
import signal
import subprocess

import pytest

from folders import BIN
from free_ports import free_port
from rest_server import RestServer, http, message, wait_for
from sanitizers import SANITIZED

INFO = "RestSubmissionClient: "
RUNNING = "Running Spark using the REST application submission protocol.\n"


def environment(**more):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK_", "MESOS_", "MASTER", "DEPLOY_MODE"))}
    return dict(kept, **more)


class Done:
    def __init__(self, completed):
        self.status, self.output = completed.returncode, completed.stdout
        self.error = re.sub(r"(?m)^\d\d/\d\d/\d\d \d\d:\d\d:\d\d ", "", completed.stderr)


def run(*words, env=None):
    return Done(subprocess.run([os.path.join(BIN, "spark-submit"), *words], env=env or environment(),
                               capture_output=True, text=True, timeout=120, check=False))


def words(master, *more, conf=(), arguments=(), rest="true"):
    settings = [f"spark.master.rest.enabled={rest}", *conf]
    return ["--master", master, "--deploy-mode", "cluster", "--class", "app.Main",
            *[w for c in settings for w in ("--conf", c)], *more, "file:/apps/app.jar", *arguments]


def submit(master, *more, env=None, **other):
    return run(*words(master, *more, **other), env=env)


@pytest.fixture
def server():
    with RestServer() as s:
        yield s


def answering(answer):
    """A server that replies @answer to every request."""
    return RestServer(answer=lambda _: answer)


# ------------------------------------------------------------------------------------------------------- submitting


def test_a_submission_and_all_its_lines(server):
    done = submit(server.url, "--name", "pie", arguments=["two slices", "--name"])
    assert done.status == 0 and done.output == ""
    assert done.error == (
        f"{RUNNING}"
        f"INFO {INFO}Submitting a request to launch an application in {server.url}.\n"
        f"INFO {INFO}Submission successfully created as driver-7. Polling submission state...\n"
        f"INFO {INFO}Submitting a request for the status of submission driver-7 in {server.url}.\n"
        f"INFO {INFO}State of driver driver-7 is now RUNNING.\n"
        f"INFO {INFO}Driver is running on worker worker-1 at 192.0.2.7:7078.\n"
        f"INFO {INFO}Server responded with CreateSubmissionResponse:\n"
        '{\n  "action" : "CreateSubmissionResponse",\n'
        '  "message" : "Driver successfully submitted as driver-7",\n  "serverSparkVersion" : "4.3.0",\n'
        '  "submissionId" : "driver-7",\n  "success" : true\n}\n')
    create, status = server.requests
    assert (create.method, create.path) == ("POST", "/v1/submissions/create")
    assert (status.method, status.path) == ("GET", "/v1/submissions/status/driver-7")
    assert create.headers["content-type"] == "application/json" and create.headers["charset"] == "utf-8"
    assert create.headers["host"] == server.address
    assert server.connections == 1
    body = create.json()
    assert sorted(body) == ["action", "appArgs", "appResource", "clientSparkVersion", "environmentVariables",
                            "mainClass", "sparkProperties"]
    assert body["action"] == "CreateSubmissionRequest" and body["clientSparkVersion"] == "4.3.0"
    assert body["appResource"] == "file:/apps/app.jar" and body["mainClass"] == "app.Main"
    assert body["appArgs"] == ["two slices", "--name"]
    properties = body["sparkProperties"]
    assert properties["spark.app.name"] == "pie" and properties["spark.master"] == server.url
    assert properties["spark.jars"] == "file:/apps/app.jar" and properties["spark.submit.deployMode"] == "cluster"
    assert all(isinstance(value, str) for value in properties.values())


@pytest.mark.parametrize("compat, sent", [
    (None, {"SPARK_VAR": "1"}),
    ("3.5", {"SPARK_VAR": "1", "SPARK_LOCAL_IP": "127.0.0.1", "MESOS_VAR": "2"}),
])
def test_the_environment_that_travels(server, compat, sent):
    env = environment(SPARK_VAR="1", SPARK_HOME="/nowhere", SPARK_ENV_LOADED="1", SPARK_CONF_DIR="/nowhere/conf",
                      SPARK_LOCAL_IP="127.0.0.1", MESOS_VAR="2", OTHER="3")
    assert submit(server.url, conf=[f"spark.firesteel.compat={compat}"] if compat else [], env=env).status == 0
    assert server.requests[0].json()["environmentVariables"] == sent


def test_token_is_a_header_and_no_property(server):
    done = submit(server.url, "--verbose", conf=["spark.firesteel.rest.token=Open-Sesame"])
    assert done.status == 0, done.error
    create, *questions = server.requests
    assert {request.headers.get("authorization") for request in server.requests} == {"Bearer Open-Sesame"}
    assert questions and "Open-Sesame" not in create.body.decode() and "rest.token" not in create.body.decode()
    assert "Open-Sesame" not in done.error + done.output
    run("--master", server.url, "--conf", "spark.firesteel.rest.token=Other", "--kill", "driver-7")
    assert server.requests[-1].headers["authorization"] == "Bearer Other"


def test_rejects_tokens_that_no_header_can_hold(server):
    done = submit(server.url, conf=["spark.firesteel.rest.token=two words"])
    assert done.status == 1 and "spark.firesteel.rest.token is not a valid token" in done.error
    assert not server.requests


def test_masters_are_tried_in_their_order(server):
    away = f"127.0.0.1:{free_port()}"
    done = submit(f"spark://{away},{server.address}")
    assert done.status == 0
    assert f"WARN {INFO}Unable to connect to server spark://{away}.\n" in done.error
    assert done.error.count("Unable to connect") == 1 and "is now RUNNING" in done.error
    assert len(server.asked("create")) == 1


def test_a_standby_master_is_passed_over(server):
    with RestServer(standby=True) as standby:
        done = submit(f"spark://{standby.address},{server.address}")
        assert done.status == 0 and "Submission successfully created as driver-7" in done.error
        assert "failed" not in done.error and len(standby.asked("create")) == 1
        killed = run("--master", f"spark://{standby.address},{server.address}", "--kill", "driver-7")
        assert killed.status == 0 and killed.error.endswith("driver-7 is killed successfully.\n")


def test_no_master_leads():
    with RestServer(standby=True) as standby:
        done = submit(standby.url)
        assert done.status == 0  # Spark's
        assert done.error.endswith(f"ERROR {INFO}Application submission failed: Current state is not alive: STANDBY. "
                                   "Can only accept driver submissions in ALIVE state.\n")
        waited = submit(standby.url, conf=["spark.standalone.submit.waitAppCompletion=true"])
        assert waited.status == 1


def test_the_driver_is_looked_for_until_the_master_knows_it():
    with RestServer(states=[None, None, "SUBMITTED"]) as server:
        done = submit(server.url)
        assert done.status == 0 and len(server.asked("status")) == 3
        unexpected = f"ERROR {INFO}Error: Server responded with message of unexpected type SubmissionStatusResponse.\n"
        assert done.error.count(unexpected) == 2
        assert "State of driver driver-7 is now SUBMITTED.\n" in done.error and "running on worker" not in done.error


def test_a_master_that_dies_after_it_accepted_gets_nobody_to_submit_again():
    def answer(request):
        return NotImplemented if "create" in request.path else None

    with RestServer(answer=answer) as server:
        done = submit(server.url)
        assert done.status == 0 and len(server.asked("create")) == 1
        assert "Falling back" not in done.error and "Submission successfully created as driver-7" in done.error
        assert f"ERROR {INFO}The state of driver driver-7 is unknown: Unable to connect to server" in done.error


def test_a_prefix_a_slash_and_ipv6():
    def answer(request):
        request.path = request.path.removeprefix("/gateway")
        return NotImplemented

    with RestServer(answer=answer) as server:
        assert submit(f"{server.url}/gateway/").status == 0
        assert submit(f"{server.url}/").status == 0
        assert [r.path for r in server.asked("create")] == ["/v1/submissions/create"] * 2
    try:
        server = RestServer(host="::1")
    except OSError:
        return
    with server:
        assert submit(server.url).status == 0
        assert server.requests[0].headers["host"] == f"[::1]:{server.port}"


def test_a_mesos_dispatcher(server):
    master = f"mesos://{server.address}"
    older = ["spark.firesteel.compat=3.5"]  # Spark 4 has no Mesos
    done = submit(master, conf=older)
    assert done.status == 0 and RUNNING not in done.error and "is now RUNNING" in done.error
    assert server.requests[0].json()["sparkProperties"]["spark.master"] == master
    away = f"mesos://127.0.0.1:{free_port()}"
    done = submit(away, conf=older)
    assert done.status == 1 and "Falling back" not in done.error
    assert f"WARN {INFO}Unable to connect to server {away}.\nError: Unable to connect to server" in done.error


@pytest.mark.parametrize("kind", ["nobody", "hangs up", "speaks something else"])
def test_what_is_no_rest_server(kind):
    answers = {"hangs up": None, "speaks something else": b"\x00\x00\x00\x15\x09\x00\x00rpc\r\n"}
    server = answering(answers.get(kind))
    if kind == "nobody":
        server.stop()
    with server:
        done = submit(server.url)
        assert done.status == 1  # and it is not a master either
        assert f"WARN {INFO}Unable to connect to server {server.url}.\n" in done.error
        assert (f"Warning: Master endpoint {server.url} was not a REST server. Falling back to legacy submission gateway "
                "instead.\n") in done.error
        assert len(server.requests) == (kind != "nobody")  # a sent request is never repeated


def test_what_a_server_refuses():
    refused = message("ErrorResponse", message="Main class is missing.")
    with answering(http(refused, status=400)) as server:
        done = submit(server.url)
        assert done.status == 0
        assert done.error.endswith(f"ERROR {INFO}Server responded with error:\nSome({refused.decode()})\n")
        killed = run("--master", server.url, "--kill", "driver-7")
        assert killed.status == 0 and killed.error.endswith(f"\nError: {refused.decode()}\n")


CREATED = message("CreateSubmissionResponse", success=True, submissionId="driver-7")


@pytest.mark.parametrize("answer, says", [
    (http(CREATED[:-5], length=len(CREATED), Connection="close"), "Malformed response received from server: "),
    (http(CREATED[:40]), "Malformed response received from server: "),
    (http(b""), "Malformed response received from server: Action field not found in JSON"),
    (http(b"<html>no</html>"), "Malformed response received from server: "),
    (http(b"[" * 100000), "Malformed response received from server: "),
    (http(b'{"action":"java.lang.Runtime"}'), "Exception while waiting for response: unknown message type 'java.lang.Runtime'"),
    (http(message("CreateSubmissionResponse")), "Malformed response received from server: Validation of message"),
    (http(b"NullPointerException", status=500, kind="text/plain"),
     "Malformed response received from server: Server responded with exception:\nSome(NullPointerException)"),
    (http(b"", status=302, Location="http://192.0.2.1/"), "Exception while waiting for response: the HTTP status is 302"),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", "Exception while waiting for response: "),
    (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\n", "Exception while waiting for response: "),
    (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 20000 + b"\r\n", "Exception while waiting for response: "),
], ids=range(12))
def test_half_and_hostile_answers(answer, says):
    with answering(answer) as server:
        done = submit(server.url)
        assert done.status == 1 and f"\nError: {says}" in done.error and "Falling back" not in done.error
        assert len(server.requests) == 1


# ------------------------------------------------------------------------------------------------ --kill, --status


def test_kill(server):
    done = run("--master", server.url, "--kill", "driver-7")
    assert done.status == 0 and done.error == (
        f"INFO {INFO}Submitting a request to kill submission driver-7 in {server.url}.\n"
        f"INFO {INFO}Server responded with KillSubmissionResponse:\n"
        '{\n  "action" : "KillSubmissionResponse",\n  "message" : "Kill request for driver-7 submitted",\n'
        '  "serverSparkVersion" : "4.3.0",\n  "submissionId" : "driver-7",\n  "success" : true\n}\n'
        "driver-7 is killed successfully.\n")
    assert [(r.method, r.path, r.body) for r in server.requests] == [("POST", "/v1/submissions/kill/driver-7", b"")]
    unknown = run("--master", server.url, "--kill", "driver-8")
    assert unknown.status == 0
    assert unknown.error.endswith("Error: Driver driver-8 has already finished or does not exist\n")


def test_status(server):
    done = run("--master", server.url, "--status", "driver-7")
    assert done.status == 0 and done.error == (
        f"INFO {INFO}Submitting a request for the status of submission driver-7 in {server.url}.\n"
        f"INFO {INFO}Server responded with SubmissionStatusResponse:\n"
        '{\n  "action" : "SubmissionStatusResponse",\n  "driverState" : "RUNNING",\n  "serverSparkVersion" : "4.3.0",\n'
        '  "submissionId" : "driver-7",\n  "success" : true,\n  "workerHostPort" : "192.0.2.7:7078",\n'
        '  "workerId" : "worker-1"\n}\n')
    unknown = run("--master", server.url, "--status", "driver-8")
    assert unknown.status == 0 and unknown.error.endswith(
        "Error: Server responded with message of unexpected type SubmissionStatusResponse.\n"
        "Error: The master does not know driver driver-8\n")


NO_REST = "a master's REST server is at port 6066, or at its spark.master.rest.port"


@pytest.mark.parametrize("operation", ["--kill", "--status"])
@pytest.mark.parametrize("answer", [None, b"\x00\x00\x00\x15\x09\x00\x00rpc\r\n"], ids=["hangs up", "speaks something else"])
def test_the_port_of_no_rest_server_is_said_to_be_none(operation, answer):
    with answering(answer) as server:
        done = run("--master", server.url, operation, "driver-7")
    assert done.status == 1
    line = done.error.splitlines()[-1]
    assert line.startswith(f"Error: Unable to connect to server: {server.address}: ")
    assert line.endswith(f"(if it is a master, this is not its REST server: {NO_REST})")
    assert "6066" not in run("--master", server.url, operation, "driver-7").error  # the server has stopped


@pytest.mark.parametrize("status", [200, 404, 405])
def test_a_web_page_is_no_answer(status):
    page = http(b"<!DOCTYPE html>\n<title>Spark Master</title>\n", status=status, kind="text/html;charset=utf-8")
    with answering(page) as server:
        for done in (submit(server.url), run("--master", server.url, "--kill", "driver-7"),
                     run("--master", server.url, "--status", "driver-7")):
            assert f"web page" in done.error and f"{server.url} is not a REST server: {NO_REST}" in done.error
            assert "DOCTYPE" not in done.error
            assert done.status == (1 if status == 200 else 0)  # as Spark has it


@pytest.mark.parametrize("option", ["--kill", "--status"])
def test_a_dry_run_asks_no_master(server, option):
    done = run("--master", server.url, option, "driver-7", "--dry-run")
    assert (done.status, done.output, done.error) == (0, f"Would send to {server.url}: {option} driver-7\n", "")
    done = run("--master", server.url, option, "driver-7", "--dry-run", "--output", "json")
    assert (done.status, done.error) == (0, "")
    assert json.loads(done.output) == {option[2:]: "driver-7", "master": server.url}
    assert server.requests == []


def test_ids_and_masters_that_cannot_be(server):
    done = run("--master", server.url, "--status", "a b")
    at = len(f"http://{server.address}/v1/submissions/status/a")
    assert done.status == 1 and done.error.endswith(
        f"Error: Illegal character in path at index {at}: http://{server.address}/v1/submissions/status/a b\n")
    done = run("--master", server.url, "--kill", "a\r\nHost: x")
    assert done.status == 1 and "Illegal character" in done.error and not server.requests
    away = f"spark://127.0.0.1:{free_port()}"
    done = run("--master", away, "--kill", "x")
    assert done.status == 1 and "Error: Unable to connect to server" in done.error
    done = run("--master", "spark://h:port", "--kill", "x")
    assert done.status == 1 and "cannot send a request to the master spark://h:port" in done.error
    done = run("--master", "local[2]", "--kill", "x")
    assert done.status == 1 and "No external SparkSubmitOperations clients found for master url: 'local[2]'" in done.error


# ---------------------------------------------------------------------------------------------------------- waiting

WAIT = ["spark.standalone.submit.waitAppCompletion=true", "spark.firesteel.submit.reportInterval=20ms"]


@pytest.mark.parametrize("end, status", [("FINISHED", 0), ("FAILED", 1), ("KILLED", 1), ("ERROR", 1)])
def test_the_exit_status_is_the_application_s(end, status):
    with RestServer(states=["SUBMITTED", "SUBMITTED", "RUNNING", "RUNNING", end]) as server:
        done = submit(server.url, conf=WAIT)
        assert done.status == status
        assert done.error.endswith(f"INFO {INFO}State of driver-7 is SUBMITTED\nINFO {INFO}State of driver-7 is RUNNING\n"
                                   f"INFO {INFO}Driver running on 192.0.2.7:7078 (worker-1)\n"
                                   f"INFO {INFO}State of driver-7 is {end}\n"
                                   f"INFO {INFO}State of driver driver-7 is {end}, exiting spark-submit JVM.\n")
        assert server.connections == 1


class Waiting:
    """A waiting client. Its log goes to a file, so that it never blocks."""

    def __init__(self, folder, master, conf=()):
        self.path = folder / "log"
        with open(self.path, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen([os.path.join(BIN, "spark-submit"), *words(master, conf=[*WAIT, *conf])],
                                            env=environment(), stdout=log, stderr=log)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def log(self):
        return self.path.read_text()

    def says(self, text):
        wait_for(lambda: text in self.log())

    def ends(self):
        return self.process.wait(timeout=60)


def test_the_server_restarts(tmp_path):
    first = RestServer(free_port())
    with first, Waiting(tmp_path, first.url) as client:
        client.says("State of driver-7 is RUNNING\n")
        first.stop()
        client.says(f"WARN {INFO}Lost contact with the master {first.url}: ")
        with RestServer(port=first.port, standby=True) as recovering:
            wait_for(lambda: recovering.asked("status"))
        with RestServer(port=first.port, states=["RUNNING", "FINISHED"]) as second:
            assert client.ends() == 0
            assert not second.asked("create")
        assert client.log().count("Lost contact") == 1 and f"The master {first.url} is back." in client.log()


def test_a_master_that_stays_away(tmp_path):
    with RestServer() as server, Waiting(tmp_path, server.url, ["spark.firesteel.submit.masterTimeout=100ms"]) as client:
        client.says("State of driver-7 is RUNNING\n")
        server.stop()
        assert client.ends() == 1
        assert f"ERROR {INFO}no master of {server.url} has replied for 0 s" in client.log()


def test_a_master_that_forgot_the_driver(tmp_path):
    with RestServer(states=["RUNNING", "RUNNING", None]) as server, Waiting(tmp_path, server.url) as client:
        assert client.ends() == 1
        assert f"ERROR {INFO}Cluster master did not recognize driver-7\n" in client.log()
        assert len(server.asked("status")) == 12


@pytest.mark.parametrize("number, status", [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_signals_end_the_client_alone(tmp_path, number, status):
    conf = ["spark.firesteel.submit.reportInterval=1h"]
    with RestServer() as server, Waiting(tmp_path, server.url, conf) as client:
        client.says("State of driver-7 is RUNNING\n")
        said = client.log()
        client.process.send_signal(number)
        client.process.send_signal(number)
        assert client.ends() == status
        assert not server.asked("kill") and client.log().startswith(said) and "Error" not in client.log()


@pytest.mark.skipif(SANITIZED, reason="sanitizers use memory of their own")
def test_a_waiting_client_is_small(tmp_path):
    with RestServer() as server, Waiting(tmp_path, server.url) as client:
        wait_for(lambda: len(server.asked("status")) > 20)
        with open(f"/proc/{client.process.pid}/smaps_rollup", encoding="ascii") as file:
            size = {line.split(":")[0]: int(line.split()[1]) for line in file if line.endswith(" kB\n")}
        print(f"resident {size['Rss']} kB, private {size['Private_Clean'] + size['Private_Dirty']} kB")
        assert size["Rss"] <= 16 * 1024
        assert size["Private_Clean"] + size["Private_Dirty"] <= 4 * 1024


def test_the_log_s_levels_are_the_user_s(tmp_path, server):
    (tmp_path / "log4j2.properties").write_text("rootLogger.level = warn\n")
    done = run("--master", server.url, "--status", "driver-7", env=environment(SPARK_CONF_DIR=str(tmp_path)))
    assert (done.status, done.error) == (0, "")
