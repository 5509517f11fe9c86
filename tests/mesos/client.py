"""A framework in Python: calls and events of Mesos's v1 scheduler API, for tests of masters and of what frameworks leave."""
import http.client
import json
import queue
import socket
import threading
import time

from mesos.wire import JSON, PROTOBUF, decode, encode

PATH = "/api/v1/scheduler"


def records(response):
    """The records of an answer that goes on."""
    data = b""
    while True:
        try:
            piece = response.read1(1 << 16)
        except (OSError, http.client.HTTPException, ValueError, AttributeError):  # also the end of the connection by close()
            return
        if not piece:
            return
        data += piece
        while b"\n" in data:
            length, _, rest = data.partition(b"\n")
            if len(rest) < int(length):
                break
            yield rest[:int(length)]
            data = rest[int(length):]


class Client:
    """A framework with one subscription. Events come in order; updates are acknowledged unless `acknowledging` is false."""

    subscribed = []  # clients whose connections are open, or were

    def __init__(self, address, kind=JSON, headers=None):
        self.address, self.kind, self.headers = address, kind, headers or {}
        self.events, self.offers, self.updates, self.failures = queue.Queue(), {}, [], []
        self.framework_id = self.stream_id = None
        self.acknowledging = True

    def post(self, call, **headers):
        """Returns (status, text) of a call."""
        connection = http.client.HTTPConnection(self.address, timeout=20)
        body = encode("SchedulerCall", call) if self.kind == PROTOBUF else json.dumps(call).encode()
        connection.request("POST", PATH, body, {"Content-Type": self.kind, "Accept": self.kind, **self.headers, **headers})
        response = connection.getresponse()
        text = response.read().decode(errors="replace")
        connection.close()
        return response.status, text

    def subscribe(self, framework_id=None, **info):
        """Returns the HTTP status; the events follow."""
        info = {"user": "root", "name": "test", **info, **({"id": {"value": framework_id}} if framework_id else {})}
        call = {"type": "SUBSCRIBE", "subscribe": {"framework_info": info},
                **({"framework_id": {"value": framework_id}} if framework_id else {})}
        self.connection = http.client.HTTPConnection(self.address, timeout=60)
        body = encode("SchedulerCall", call) if self.kind == PROTOBUF else json.dumps(call).encode()
        self.connection.request("POST", PATH, body, {"Content-Type": self.kind, "Accept": self.kind, **self.headers})
        self.socket = self.connection.sock
        self.response = self.connection.getresponse()
        self.stream_id = self.response.getheader("Mesos-Stream-Id")
        if self.response.status == 200:
            Client.subscribed.append(self)
            threading.Thread(target=self.read, daemon=True).start()
        return self.response.status

    def read(self):
        for data in records(self.response):
            event = decode("SchedulerEvent", data) if self.kind == PROTOBUF else json.loads(data)
            if event["type"] == "UPDATE" and self.acknowledging and "uuid" in event["update"]["status"]:
                status = event["update"]["status"]
                self.call("ACKNOWLEDGE", agent_id=status["agent_id"], task_id=status["task_id"], uuid=status["uuid"])
            self.events.put(event)
        self.events.put({"type": "END"})

    def call(self, kind, **body):
        """Returns (status, text) of a call of this framework."""
        call = {"type": kind, "framework_id": {"value": self.framework_id}, **({kind.lower(): body} if body else {})}
        return self.post(call, **{"Mesos-Stream-Id": self.stream_id})

    def next(self, kind, seconds=10, where=lambda event: True):
        """Returns the next event of a kind. Offers and updates on the way are kept."""
        end = time.monotonic() + seconds
        while True:
            try:
                event = self.events.get(timeout=max(0.01, end - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"no {kind} within {seconds} s") from None
            if event["type"] == "SUBSCRIBED":
                self.framework_id = event["subscribed"]["framework_id"]["value"]
            elif event["type"] == "OFFERS":
                self.offers.update((offer["id"]["value"], offer) for offer in event["offers"]["offers"])
            elif event["type"] == "RESCIND":
                self.offers.pop(event["rescind"]["offer_id"]["value"], None)
            elif event["type"] == "UPDATE":
                self.updates.append(event["update"]["status"])
            elif event["type"] == "FAILURE":
                self.failures.append(event["failure"])
            if event["type"] == kind and where(event):
                return event

    def offer(self):
        """Returns an open offer."""
        while not self.offers:
            self.next("OFFERS")
        return self.offers[next(iter(self.offers))]

    def update(self, task_id, state):
        """Returns the update of a task to a state."""
        while True:
            for status in self.updates:
                if status["task_id"]["value"] == task_id and status["state"] == state:
                    return status
            self.next("UPDATE")

    def launch(self, offer, *tasks, **filters):
        self.offers.pop(offer["id"]["value"], None)
        return self.call("ACCEPT", offer_ids=[offer["id"]], operations=[{"type": "LAUNCH", "launch": {"task_infos": list(tasks)}}],
                         filters=filters)

    def decline(self, offer, **filters):
        self.offers.pop(offer["id"]["value"], None)
        return self.call("DECLINE", offer_ids=[offer["id"]], filters=filters)

    def close(self):
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.connection.close()


def task(offer, task_id, value, cpus=0.1, mem=32, **more):
    """Returns a task that runs a shell command."""
    return {"name": task_id, "task_id": {"value": task_id}, "agent_id": offer["agent_id"], "command": {"value": value},
            "resources": [scalar("cpus", cpus), scalar("mem", mem)], **more}


def scalar(name, value, role="*"):
    return {"name": name, "type": "SCALAR", "scalar": {"value": value}, "role": role}
