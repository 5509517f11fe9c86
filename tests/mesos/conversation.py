"""What a master answers: each case runs against the scripted master in `make check` and against the genuine one in `make check-mesos`.

A case gets the address of a master with one agent of cpus:4;mem:4096;ports:[31000-31999] and the attribute rack:12.
"""
import base64
import http.client
import time

from mesos.client import PATH, Client, scalar, task
from mesos.wire import JSON, PROTOBUF


SUBSCRIBE = '{"type":"SUBSCRIBE","subscribe":{"framework_info":{"user":"root","name":"x"}}}'


def subscribed(address, kind=JSON, **info):
    client = Client(address, kind)
    assert client.subscribe(**info) == 200
    client.next("SUBSCRIBED")
    return client


def raw(address, method, body, **headers):
    connection = http.client.HTTPConnection(address, timeout=20)
    connection.request(method, PATH, body, {name.replace("_", "-"): value for name, value in headers.items()})
    response = connection.getresponse()
    return response.status, response.read().decode(errors="replace")


def case_refuses_what_is_no_call(address):
    assert raw(address, "GET", None)[0] == 405
    assert raw(address, "POST", "{}", Content_Type="text/plain", Accept=JSON)[0] == 415
    assert raw(address, "POST", SUBSCRIBE, Content_Type=JSON, Accept="text/plain")[0] == 406
    assert raw(address, "POST", "{", Content_Type=JSON, Accept=JSON)[0] == 400
    status, text = raw(address, "POST", "{}", Content_Type=JSON, Accept=JSON)
    assert status == 400 and "Expecting 'type' to be present" in text, text
    status, text = raw(address, "POST", '{"type":"SUBSCRIBE"}', Content_Type=JSON, Accept=JSON)
    assert status == 400 and "Expecting 'subscribe' to be present" in text, text
    status, text = raw(address, "POST", '{"type":"REVIVE"}', Content_Type=JSON, Accept=JSON)
    assert status == 400 and "Expecting 'framework_id' to be present" in text, text


def case_refuses_calls_of_another_stream(address):
    client = subscribed(address)
    revive = {"type": "REVIVE", "framework_id": {"value": client.framework_id}}
    status, text = client.post(revive)
    assert status == 400 and "should include the 'Mesos-Stream-Id' header" in text, text
    status, text = client.post(revive, **{"Mesos-Stream-Id": "x"})
    assert status == 400 and "didn't match the stream ID currently associated with framework ID" in text, text
    status, text = client.post(dict(revive, framework_id={"value": "nobody"}), **{"Mesos-Stream-Id": "x"})
    assert status == 400 and "Framework cannot be found" in text, text
    assert client.call("REVIVE")[0] == 202
    assert client.call("TEARDOWN")[0] == 202
    client.next("END")
    status, text = client.call("REVIVE")
    assert status == 400 and "Framework cannot be found" in text, text


def case_runs_commands(address, kind=JSON):
    client = subscribed(address, kind)
    offer = client.offer()
    assert offer["hostname"] == "localhost" and offer["attributes"][0]["name"] == "rack", offer
    assert {"cpus", "mem", "ports"} <= {entry["name"] for entry in offer["resources"]}, offer
    good = task(offer, "good", "test -d $MESOS_SANDBOX && test $PWD = $MESOS_DIRECTORY && test -n \"$MESOS_AGENT_ENDPOINT\"")
    assert client.launch(offer, good, task(offer, "bad", "exit 3"))[0] == 202
    assert client.update("good", "TASK_FINISHED")["message"] == "Command exited with status 0"
    failed = client.update("bad", "TASK_FAILED")
    assert failed["message"] == "Command exited with status 3" and "reason" not in failed, failed
    states = [status["state"] for status in client.updates if status["task_id"]["value"] == "good"]
    assert states == ["TASK_STARTING", "TASK_RUNNING", "TASK_FINISHED"], states
    client.call("TEARDOWN")


def case_speaks_protobuf(address):
    case_runs_commands(address, PROTOBUF)


def case_kills_with_sigterm(address):
    client = subscribed(address)
    offer = client.offer()
    client.launch(offer, task(offer, "sleeper", "sleep 100"))
    client.update("sleeper", "TASK_RUNNING")
    client.call("KILL", task_id={"value": "sleeper"})
    assert client.update("sleeper", "TASK_KILLED")["message"] == "Command terminated with signal Terminated"
    client.call("KILL", task_id={"value": "nobody"})
    lost = client.update("nobody", "TASK_LOST")
    assert lost["reason"] == "REASON_RECONCILIATION" and lost["source"] == "SOURCE_MASTER" and "uuid" not in lost, lost
    client.call("TEARDOWN")


def case_refuses_invalid_tasks(address):
    client = subscribed(address)
    offer = client.offer()
    nothing = dict(task(offer, "nothing", "true"), resources=[])
    both = {k: v for k, v in task(offer, "both", "true").items() if k != "command"}
    client.launch(offer, task(offer, "large", "true", cpus=100), nothing, both, task(offer, "one", "sleep 60"),
                  task(offer, "one", "true"))
    for name, text in (("large", "more than available"), ("nothing", "Task uses no resources"),
                       ("both", "Task should have at least one (but not both) of CommandInfo or ExecutorInfo present"),
                       ("one", "Task has duplicate ID: one")):
        error = client.update(name, "TASK_ERROR")
        assert text in error["message"] and error["reason"] == "REASON_TASK_INVALID" and "uuid" not in error, error
    client.launch(offer, task(offer, "late", "true"))
    lost = client.update("late", "TASK_LOST")
    assert lost["reason"] == "REASON_INVALID_OFFERS" and "is no longer valid" in lost["message"], lost
    client.call("TEARDOWN")


def case_filters_and_revives(address):
    client = subscribed(address)
    client.decline(client.offer(), refuse_seconds=1000.0)
    end = time.monotonic() + 2.5
    while time.monotonic() < end:
        try:
            client.next("OFFERS", 0.5)
        except AssertionError:
            continue
        raise AssertionError("a filter lets an offer through")
    client.call("REVIVE")
    offer = client.offer()
    client.call("SUPPRESS")
    client.decline(offer, refuse_seconds=0.0)
    try:
        client.next("OFFERS", 1.5)
    except AssertionError:
        pass
    else:
        raise AssertionError("an offer came after SUPPRESS")
    client.call("REVIVE")
    client.offer()
    client.call("TEARDOWN")


def case_repeats_nothing_that_is_acknowledged(address):
    client = subscribed(address)
    client.acknowledging = False
    offer = client.offer()
    client.launch(offer, task(offer, "t", "true"))
    first = client.update("t", "TASK_STARTING")
    try:
        client.next("UPDATE", 0.5)
    except AssertionError:
        pass
    else:
        raise AssertionError("a second update came before the first was acknowledged")
    client.acknowledging = True
    client.call("ACKNOWLEDGE", agent_id=first["agent_id"], task_id=first["task_id"], uuid=first["uuid"])
    client.update("t", "TASK_FINISHED")
    client.call("TEARDOWN")


def case_lets_a_framework_come_back(address):
    client = subscribed(address, failover_timeout=60.0)
    offer = client.offer()
    client.launch(offer, task(offer, "long", "sleep 100"))
    client.update("long", "TASK_RUNNING")
    again = Client(address)
    assert again.subscribe(client.framework_id, failover_timeout=60.0) == 200
    again.next("SUBSCRIBED")
    assert client.next("ERROR")["error"]["message"] == "Framework failed over"
    client.next("END")
    assert client.call("REVIVE")[0] == 400
    again.call("RECONCILE", tasks=[{"task_id": {"value": "long"}, "agent_id": offer["agent_id"]}, {"task_id": {"value": "none"}}])
    running = again.update("long", "TASK_RUNNING")
    assert running["reason"] == "REASON_RECONCILIATION" and "uuid" not in running, running
    again.update("none", "TASK_LOST")
    again.call("TEARDOWN")
    again.next("END")
    late = Client(address)
    late.subscribe(client.framework_id, failover_timeout=60.0)
    assert "removed" in late.next("ERROR")["error"]["message"]
    late.next("END")


def case_ends_a_framework_with_its_connection(address):
    client = subscribed(address)
    offer = client.offer()
    client.launch(offer, task(offer, "long", "sleep 100"))
    client.update("long", "TASK_RUNNING")
    client.close()

    def refused():
        late = Client(address)
        late.subscribe(client.framework_id)
        event = late.events.get(timeout=20)
        late.close()
        return event["type"] == "ERROR" and "removed" in event["error"]["message"]
    end = time.monotonic() + 20
    while not refused():
        assert time.monotonic() < end, "a framework with failover_timeout 0 lives on"


def case_does_not_change_principals(address):
    client = subscribed(address, failover_timeout=60.0, principal="p")
    other = Client(address)
    assert other.subscribe(client.framework_id, failover_timeout=60.0, principal="q") == 200
    assert other.next("ERROR")["error"]["message"] == "Changing framework's principal is not allowed."
    client.call("TEARDOWN")


EXECUTOR = r"""
import base64, http.client, json, os, sys, uuid
address, path = os.environ["MESOS_AGENT_ENDPOINT"], "/" + os.environ["MESOS_SLAVE_PID"].split("@")[0] + "/api/v1/executor"
ids = {"framework_id": {"value": os.environ["MESOS_FRAMEWORK_ID"]}, "executor_id": {"value": os.environ["MESOS_EXECUTOR_ID"]}}
headers = {"Content-Type": "application/json", "Accept": "application/json"}
def post(call):
    c = http.client.HTTPConnection(address)
    c.request("POST", path, json.dumps({**ids, **call}), headers)
    return c.getresponse()
def update(task, state, data, number=None):
    answer = post({"type": "UPDATE", "update": {"status": {"task_id": task["task_id"], "state": state, "source": "SOURCE_EXECUTOR",
        "executor_id": ids["executor_id"], "uuid": base64.b64encode(number or uuid.uuid4().bytes).decode(), "data": data}}})
    return answer.status, answer.read()
events, data = post({"type": "SUBSCRIBE", "subscribe": {}}), b""
while True:
    data += events.read1(65536)
    while b"\n" in data and len(data.partition(b"\n")[2]) >= int(data.partition(b"\n")[0]):
        n, _, data = data.partition(b"\n")
        event, data = json.loads(data[:int(n)]), data[int(n):]
        if event["type"] == "LAUNCH":
            status, text = update(event["launch"]["task"], "TASK_RUNNING", "", bytes(16))
            assert status == 400 and b"Not a valid UUID" in text, text
            assert update(event["launch"]["task"], "TASK_RUNNING", "")[0] == 202
            if event["launch"]["task"].get("data"):
                update(event["launch"]["task"], "TASK_FINISHED", event["launch"]["task"]["data"])
        elif event["type"] == "KILL":
            update(event["kill"], "TASK_KILLED", "")
        elif event["type"] == "MESSAGE":
            post({"type": "MESSAGE", "message": {"data": event["message"]["data"]}})
            sys.exit(7) if event["message"]["data"] == "ZXhpdA==" else None
        elif event["type"] == "SHUTDOWN":
            sys.exit(0)
"""


def case_runs_executors(address):
    client = subscribed(address)
    offer = client.offer()
    executor = {"executor_id": {"value": "e"}, "command": {"shell": False, "value": "/usr/bin/python3", "arguments": [
        "python3", "-c", EXECUTOR]}, "resources": [scalar("cpus", 0.5), scalar("mem", 64)]}

    def work(name, data):
        more = {k: v for k, v in task(offer, name, "").items() if k != "command"}
        return dict(more, executor=executor, resources=[scalar("cpus", 1)], data=base64.b64encode(data).decode())
    client.launch(offer, work("first", b"a\0b"), work("stays", b""))
    assert client.update("first", "TASK_FINISHED")["data"] == base64.b64encode(b"a\0b").decode()
    client.update("stays", "TASK_RUNNING")
    client.call("MESSAGE", agent_id=offer["agent_id"], executor_id={"value": "e"}, data=base64.b64encode(b"hello").decode())
    assert client.next("MESSAGE")["message"]["data"] == base64.b64encode(b"hello").decode()
    client.call("REVIVE")
    later = client.offer()
    assert {"value": "e"} in later.get("executor_ids", []), later
    other = dict(work("other", b"x"), executor=dict(executor, name="changed"))
    client.launch(later, other)
    assert "ExecutorInfo is not compatible" in client.update("other", "TASK_ERROR")["message"]
    client.call("KILL", task_id={"value": "stays"})
    client.update("stays", "TASK_KILLED")
    client.call("REVIVE")
    client.launch(client.offer(), work("again", b""))
    client.update("again", "TASK_RUNNING")
    client.call("MESSAGE", agent_id=offer["agent_id"], executor_id={"value": "e"}, data=base64.b64encode(b"exit").decode())
    ended = client.update("again", "TASK_FAILED")
    assert ended["reason"] == "REASON_EXECUTOR_TERMINATED" and ended["source"] == "SOURCE_AGENT", ended
    while not client.failures:
        client.next("FAILURE")
    assert client.failures[0]["status"] == 1792 and client.failures[0]["executor_id"] == {"value": "e"}, client.failures
    client.call("TEARDOWN")


def case_tells_why_containers_fail(address):
    client = subscribed(address)
    offer = client.offer()
    client.launch(offer, task(offer, "image", "true", container={"type": "MESOS", "mesos": {"image": {
                      "type": "DOCKER", "docker": {"name": "x"}}}}),
                  task(offer, "docker", "true", container={"type": "DOCKER", "docker": {"image": "x"}}),
                  task(offer, "network", "true", container={"type": "MESOS", "network_infos": [{"name": "n"}]}),
                  task(offer, "uri", "true"), task(offer, "file", "true", command={"value": "true", "uris": [{"value": "/nowhere/x"}]}))
    for name, text in (("image", "Unsupported container image type: DOCKER"), ("network", "Unknown CNI network 'n'"),
                       ("docker", "Abnormal executor termination: unknown container"), ("file", "Failed to fetch all URIs for container")):
        failed = client.update(name, "TASK_FAILED")
        reason = "REASON_EXECUTOR_TERMINATED" if name == "docker" else "REASON_CONTAINER_LAUNCH_FAILED"
        assert text in failed["message"] and failed["reason"] == reason, failed
    client.update("uri", "TASK_FINISHED")
    client.call("TEARDOWN")


def run(name, address):
    """Runs a case, and ends the frameworks that it leaves after a failure."""
    try:
        CASES[name](address)
    finally:
        while Client.subscribed:
            Client.subscribed.pop().close()


CASES = {name.removeprefix("case_"): case for name, case in sorted(globals().items()) if name.startswith("case_")}
