#!/usr/bin/env python3
"""A scripted Mesos master with agents that run commands as processes: the v1 scheduler API in protobuf and JSON, as genuine Mesos 1.11 answers.

    with Master(folder) as master:
        agent = master.add_agent("cpus:4;mem:4096;ports:[31000-31999]", "rack:1")
        …                                   # frameworks use mesos://{master.address}
        framework = master.wait_for_framework()
        master.calls_of("ACCEPT")           # what frameworks asked, as dicts
        master.lose(agent)                  # an agent with its tasks
        master.cut(framework)               # its connection
        master.send(framework, event)       # an event of the test's own

    tests/mesos/master.py [--port N] [--agents N] [--resources R] [--attributes A] [--credentials P:S]   # until its input ends

Settings that tests change at any time: `answers` (a list of (status, text, headers) for the next requests), `redirect` ("host:port":
another master leads), `credentials` ({principal: secret}), `heartbeat_s`, `heartbeats`, `offering`, `piece` (bytes of a chunk).
Everything changes under `lock`.
"""
import argparse
import base64
import os
import sys
import tempfile
import threading
import time
import uuid

if not __package__:
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from conditions import wait_until
from local_server import LocalServer
from mesos.agent import Agent
from mesos.resources import Resources
from mesos.streams import ApiHandler, Stream

PATHS = ("/api/v1/scheduler", "/master/api/v1/scheduler")
DEFAULT_REFUSE_S = 5.0


class Framework:
    def __init__(self, framework_id, info):
        self.id, self.info = framework_id, info
        self.stream, self.stream_id = None, None
        self.suppressed, self.removed = False, False
        self.filters = []  # (agent, resources, when it ends)
        self.ended_at = None  # when the connection was lost

    @property
    def role(self):
        return self.info.get("role", "*")

    def has(self, capability):
        return any(entry.get("type") == capability for entry in self.info.get("capabilities", []))


class Offer:
    def __init__(self, offer_id, framework, agent, resources):
        self.id, self.framework, self.agent, self.resources = offer_id, framework, agent, resources

    def message(self):
        executors = sorted({name for of, name in self.agent.executors if of == self.framework.id
                            if self.agent.executors[of, name].is_custom})
        return {"id": {"value": self.id}, "framework_id": {"value": self.framework.id}, "agent_id": {"value": self.agent.id},
                "hostname": self.agent.hostname, "url": {"scheme": "http", "path": "/slave(1)", "address": {
                    "hostname": self.agent.hostname, "ip": "127.0.0.1", "port": self.agent.port}},
                "resources": self.resources.entries(),
                **({"attributes": self.agent.attributes} if self.agent.attributes else {}),
                **({"executor_ids": [{"value": name} for name in executors]} if executors else {})}


class Refused(Exception):
    """A call that is answered with a status and a text."""


class Master:
    def __init__(self, folder, port=0, allocation_s=0.05):
        self.folder, self.lock = str(folder), threading.RLock()
        self.id, self.allocation_s = str(uuid.uuid4()), allocation_s
        self.frameworks, self.agents, self.offers = {}, [], {}
        self.agent_count = self.offer_count = 0
        self.calls = []    # all calls, in order, each a dict with what was received
        self.offered = {}  # the agent and the resources of every offer, by id
        self.updates = []  # all status updates that went to frameworks
        self.answers, self.redirect, self.credentials = [], None, None
        self.unanswered = set()  # kinds of calls whose connection ends without an answer
        self.heartbeat_s, self.heartbeats, self.offering, self.piece = 15.0, True, True, 0
        self.ending = threading.Event()
        self.server = self.make_server(port)
        self.port = self.server.server_port
        self.address = f"127.0.0.1:{self.port}"
        self.ticker = threading.Thread(target=self.tick_until_end, daemon=True)

    def make_server(self, port):
        master = self

        class Handler(ApiHandler):
            def do_POST(self):
                master.on_post(self)

            def do_GET(self):
                master.on_get(self)

        return LocalServer(Handler, port=port)

    def __enter__(self):
        self.server.__enter__()
        self.ticker.start()
        return self

    def __exit__(self, *_):
        self.ending.set()
        self.ticker.join()
        self.stop()
        for agent in self.agents:
            agent.close()

    # What tests do.

    def add_agent(self, resources="cpus:4;mem:4096;disk:10000;ports:[31000-31999]", attributes="", **settings):
        with self.lock:
            agent = Agent(self, self.agent_count, self.folder, resources, attributes, **settings)
            self.agent_count += 1
            self.agents.append(agent)
            return agent

    def wait_for_framework(self, **info):
        """Returns the framework that subscribed last and has the fields @info, once there is one."""
        def last():
            with self.lock:
                found = [f for f in self.frameworks.values() if f.stream and info.items() <= f.info.items()]
                return found[-1] if found else None
        return wait_until(last, f"a framework with {info}")

    def calls_of(self, kind, framework=None):
        with self.lock:
            return [call for call in self.calls if call["type"] == kind
                    and framework in (None, call.get("framework_id", {}).get("value"))]

    def tasks(self):
        """Returns the TaskInfo of every task that was launched, in order."""
        return [task for call in self.calls_of("ACCEPT") for operation in call["accept"].get("operations", [])
                for task in operation.get("launch", {}).get("task_infos", [])]

    def states(self, task_id):
        with self.lock:
            return [status["state"] for status in self.updates if status["task_id"]["value"] == task_id]

    def send(self, framework, event):
        with self.lock:
            if framework.stream:
                framework.stream.send(event)

    def cut(self, framework):
        """Ends the connection of a framework."""
        with self.lock:
            if framework.stream:
                framework.stream.close()

    def lose(self, agent):
        """An agent disappears with its processes."""
        with self.lock:
            self.agents.remove(agent)
            self.rescind(agent)
            lost = [task for task in agent.tasks.values() if not task.is_over]
            for task in lost:
                self.tell_lost(task, agent, "REASON_AGENT_DISCONNECTED", f"Agent {agent.hostname} disconnected")
            for framework in self.frameworks.values():
                self.send(framework, {"type": "FAILURE", "failure": {"agent_id": {"value": agent.id}}})
        agent.close()

    def stop(self):
        """The master's process ends; its agents go on."""
        with self.lock:
            self.server.ending = True
            for framework in self.frameworks.values():
                if framework.stream:
                    framework.stream.close()
        self.server.__exit__()

    def restart(self):
        """A master starts at the same port. It knows the frameworks that subscribe again, and the tasks of its agents."""
        with self.lock:
            self.id = str(uuid.uuid4())
            self.frameworks, self.offers = {}, {}
        self.server = self.make_server(self.port).__enter__()

    def take_agents(self, other):
        """The agents of another master register here, with their tasks."""
        with self.lock, other.lock:
            for agent in other.agents:
                agent.master = self
                self.agents.append(agent)
            other.agents = []
            other.offers.clear()

    # Requests.

    def on_post(self, handler):
        if handler.path not in PATHS:
            return handler.answer(404)
        if self.answers:
            status, text, headers = self.answers.pop(0)
            handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
            return handler.answer(status, text, **headers)
        if not self.is_authenticated(handler):
            handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
            return handler.answer(401, WWW_Authenticate='Basic realm="mesos-master-scheduler"')
        if self.redirect:
            handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
            return handler.answer(307, Location=f"//{self.redirect}/master/api/v1/scheduler")
        call = handler.read_call("SchedulerCall", "scheduler::Call")
        if call is None:
            return None
        if call["type"] in self.unanswered:
            handler.close_connection = True
            return None
        stream = None
        with self.lock:
            self.calls.append(call)
            try:
                if call["type"] == "SUBSCRIBE":
                    stream = self.subscribe(call, handler)
                else:
                    self.on_call(call, handler.headers.get("Mesos-Stream-Id"))
            except Refused as e:
                return handler.answer(400, str(e))
        if stream is None:
            return handler.answer(202)
        handler.stream(stream, **({"Mesos_Stream_Id": stream.id} if stream.id else {}))
        self.on_stream_end(stream)
        return None

    def is_authenticated(self, handler):
        if self.credentials is None:
            return True
        kind, _, value = handler.headers.get("Authorization", "").partition(" ")
        try:
            principal, _, secret = base64.b64decode(value).decode().partition(":")
        except ValueError:
            return False
        handler.principal = principal
        return kind == "Basic" and self.credentials.get(principal) == secret

    def on_get(self, handler):
        with self.lock:
            if handler.path in ("/master/health", "/health"):
                handler.answer(200)
            elif handler.path == "/version":
                handler.answer(200, '{"version":"1.11.0"}')
            elif handler.path in PATHS:
                handler.answer(405, Allow="POST")
            else:
                handler.answer(404)

    # Subscriptions.

    def subscribe(self, call, handler):
        info = call.get("subscribe", {}).get("framework_info")
        if info is None:
            raise Refused("Failed to validate scheduler::Call: Expecting 'subscribe' to be present")
        stream = Stream(handler.accepted(), "SchedulerEvent", self.piece)
        stream.id, stream.framework = None, None
        given = call.get("framework_id", {}).get("value")
        known = self.frameworks.get(given)
        principal = getattr(handler, "principal", None)
        if given != info.get("id", {}).get("value"):
            return self.refuse(stream, "Expecting 'framework_info.id' to be the same as 'framework_id'")
        if principal and info.get("principal", principal) != principal:
            raise Refused(f"Failed to validate scheduler::Call: Authenticated principal '{principal}' does not match principal "
                          f"'{info['principal']}' set in `FrameworkInfo`")
        if known and known.removed:
            return self.refuse(stream, "Framework has been removed")
        if known and known.info.get("principal") != info.get("principal"):
            return self.refuse(stream, "Changing framework's principal is not allowed.")
        if known and known.stream:
            known.stream.send({"type": "ERROR", "error": {"message": "Framework failed over"}})
            known.stream.close()
        framework = known or Framework(given or f"{self.id}-{len(self.frameworks):04d}", info)
        framework.info, framework.ended_at, framework.suppressed = info, None, False
        self.frameworks.pop(framework.id, None)
        self.frameworks[framework.id] = framework
        framework.stream, framework.filters = stream, []
        framework.stream_id = stream.id = str(uuid.uuid4())
        stream.framework = framework
        stream.send({"type": "SUBSCRIBED", "subscribed": {
            "framework_id": {"value": framework.id}, "heartbeat_interval_seconds": self.heartbeat_s, "master_info": {
                "id": self.id, "ip": 0x100007f, "port": self.port, "pid": f"master@{self.address}", "hostname": "localhost",
                "version": "1.11.0", "address": {"hostname": "localhost", "ip": "127.0.0.1", "port": self.port}}}})
        stream.send({"type": "HEARTBEAT"})
        stream.beat_at = time.monotonic() + self.heartbeat_s
        return stream

    def refuse(self, stream, message):
        stream.send({"type": "ERROR", "error": {"message": message}})
        stream.close()
        return stream

    def on_stream_end(self, stream):
        with self.lock:
            framework = stream.framework
            if framework and framework.stream is stream:
                framework.stream, framework.ended_at = None, time.monotonic()
                for offer in [offer for offer in self.offers.values() if offer.framework is framework]:
                    del self.offers[offer.id]
            stream.free()

    def remove(self, framework):
        """The framework is gone for good, with its tasks."""
        framework.removed = True
        for offer in [offer for offer in self.offers.values() if offer.framework is framework]:
            del self.offers[offer.id]
        for agent in self.agents:
            agent.remove_framework(framework.id)
        if framework.stream:
            framework.stream.close()

    # Calls.

    def on_call(self, call, stream_id):
        if "framework_id" not in call:
            raise Refused("Failed to validate scheduler::Call: Expecting 'framework_id' to be present")
        framework = self.frameworks.get(call["framework_id"]["value"])
        if framework is None or framework.removed or framework.stream_id is None:
            raise Refused("Framework cannot be found")
        if stream_id is None:
            raise Refused("All non-subscribe calls should include the 'Mesos-Stream-Id' header")
        if stream_id != framework.stream_id:
            raise Refused(f"The stream ID '{stream_id}' included in this request didn't match the stream ID currently associated with "
                          f"framework ID {framework.id}")
        body = call.get(call["type"].lower(), {})
        getattr(self, f"on_{call['type'].lower()}", lambda *_: None)(framework, body)

    def on_teardown(self, framework, _):
        self.remove(framework)

    def on_revive(self, framework, _):
        framework.filters, framework.suppressed = [], False

    def on_suppress(self, framework, _):
        framework.suppressed = True

    def on_decline(self, framework, decline):
        for offer_id in decline.get("offer_ids", []):
            offer = self.offers.get(offer_id["value"])
            if offer and offer.framework is framework:
                del self.offers[offer.id]
                self.add_filter(offer, offer.resources, decline)

    def add_filter(self, offer, resources, call):
        seconds = call.get("filters", {}).get("refuse_seconds", DEFAULT_REFUSE_S)
        if resources and seconds > 0:
            offer.framework.filters.append((offer.agent, resources, time.monotonic() + seconds))

    def on_accept(self, framework, accept):
        tasks = [task for operation in accept.get("operations", []) for task in operation.get("launch", {}).get("task_infos", [])]
        offers = [self.offers.get(offer_id["value"]) for offer_id in accept.get("offer_ids", [])]
        if not offers or None in offers or any(offer.framework is not framework for offer in offers):
            gone = next((o["value"] for o, offer in zip(accept.get("offer_ids", []), offers) if offer is None), "")
            for offer in filter(None, offers):
                del self.offers[offer.id]
            for task in tasks:
                self.tell(framework, task, "TASK_LOST", "REASON_INVALID_OFFERS",
                          f"Task launched with invalid offers: Offer {gone} is no longer valid")
            return
        rest, agent = Resources(), offers[0].agent
        for offer in offers:
            rest += offer.resources
            del self.offers[offer.id]
        for task in tasks:
            problem = self.problem_of(framework, agent, task, rest)
            if problem:
                self.tell(framework, task, "TASK_ERROR", "REASON_TASK_INVALID", problem)
                continue
            rest -= self.needs(framework, agent, task)
            agent.launch(framework, task)
        self.add_filter(offers[0], rest, accept)

    @staticmethod
    def needs(framework, agent, task):
        """Returns the resources of a task, and of its executor if that is not there yet."""
        total = Resources(task.get("resources", []))
        executor = task.get("executor")
        if executor and (framework.id, executor["executor_id"]["value"]) not in agent.executors:
            total += Resources(executor.get("resources", []))
        return total

    def problem_of(self, framework, agent, task, rest):
        task_id, executor = task["task_id"]["value"], task.get("executor")
        if ("command" in task) == (executor is not None):
            return "Task should have at least one (but not both) of CommandInfo or ExecutorInfo present"
        if (framework.id, task_id) in agent.tasks or any((framework.id, task_id) in other.tasks for other in self.agents):
            return f"Task has duplicate ID: {task_id}"
        if not Resources(task.get("resources", [])):
            return "Task uses no resources"
        if executor:
            running = agent.executors.get((framework.id, executor["executor_id"]["value"]))
            if running and {k: v for k, v in running.info.items() if k != "framework_id"} != {
                    k: v for k, v in executor.items() if k != "framework_id"}:
                return "ExecutorInfo is not compatible with existing ExecutorInfo with same ExecutorID."
        for volume in task.get("container", {}).get("volumes", []):
            if "host_path" not in volume and "source" not in volume:
                return "Invalid volume: Only one of them should be set: 'host_path', 'image' or 'source'"
        needed = self.needs(framework, agent, task)
        if not rest.contains(needed):
            return f"Total resources {needed} required by task and its executor is more than available {rest}"
        return None

    def on_kill(self, framework, kill):
        task_id = kill["task_id"]["value"]
        if not any(agent.kill(framework, task_id) for agent in self.agents):
            self.tell(framework, {"task_id": kill["task_id"], **({"agent_id": kill["agent_id"]} if "agent_id" in kill else {})},
                      "TASK_LOST", "REASON_RECONCILIATION", "Attempted to kill an unknown task")

    def on_shutdown(self, framework, shutdown):
        for agent in self.agents:
            if agent.id == shutdown["agent_id"]["value"]:
                agent.shutdown(framework.id, shutdown["executor_id"]["value"])

    def on_acknowledge(self, framework, acknowledge):
        for agent in self.agents:
            if agent.id == acknowledge["agent_id"]["value"]:
                agent.acknowledge(framework.id, acknowledge["task_id"]["value"], acknowledge["uuid"])

    def on_reconcile(self, framework, reconcile):
        known = {task.id: (task, agent) for agent in self.agents for task in agent.tasks.values() if task.framework.id == framework.id}
        if not reconcile.get("tasks"):
            for task, agent in known.values():
                if not task.is_over:
                    self.tell(framework, task.info, task.state, "REASON_RECONCILIATION", "Reconciliation: Latest task state")
        for asked in reconcile.get("tasks", []):
            task, _ = known.get(asked["task_id"]["value"], (None, None))
            if task:
                self.tell(framework, task.info, task.state, "REASON_RECONCILIATION", "Reconciliation: Latest task state")
            else:
                self.tell(framework, asked, "TASK_LOST", "REASON_RECONCILIATION", "Reconciliation: Task is unknown")

    def on_message(self, of, target, data=None):
        """MESSAGE of a framework to an executor, or of an agent's executor to its framework."""
        if isinstance(of, Framework):
            for agent in self.agents:
                executor = agent.executors.get((of.id, target["executor_id"]["value"]))
                if agent.id == target["agent_id"]["value"] and executor:
                    executor.send({"type": "MESSAGE", "message": {"data": target["data"]}})
            return
        framework = self.frameworks.get(target.framework.id)
        if framework:
            self.send(framework, {"type": "MESSAGE", "message": {"agent_id": {"value": of.id}, "executor_id": {"value": target.id},
                                                                 "data": data}})

    # Events.

    def tell(self, framework, task, state, reason, message):
        """Sends an update of the master's own, which needs no acknowledgement."""
        status = {"task_id": task["task_id"], "state": state, "source": "SOURCE_MASTER", "reason": reason, "message": message,
                  "timestamp": time.time(), **({"agent_id": task["agent_id"]} if "agent_id" in task else {})}
        self.updates.append(status)
        self.send(framework, {"type": "UPDATE", "update": {"status": status}})

    def tell_lost(self, task, agent, reason, message):
        framework = self.frameworks.get(task.framework.id)
        task.state = "TASK_LOST"
        if framework:
            self.tell(framework, task.info, "TASK_LOST", reason, message)

    def on_update(self, agent, framework_id, status):
        framework = self.frameworks.get(framework_id)
        if framework and framework.stream and agent in self.agents:
            self.updates.append(status)
            self.send(framework, {"type": "UPDATE", "update": {"status": status}})

    def on_executor_end(self, agent, executor, status):
        framework = self.frameworks.get(executor.framework.id)
        if framework:
            self.send(framework, {"type": "FAILURE", "failure": {"agent_id": {"value": agent.id}, "executor_id": {"value": executor.id},
                                                                 "status": status}})

    def on_resources(self, agent):
        """An agent has more free resources: the next allocation offers them."""

    def rescind(self, agent):
        for offer in [offer for offer in self.offers.values() if offer.agent is agent]:
            del self.offers[offer.id]
            self.send(offer.framework, {"type": "RESCIND", "rescind": {"offer_id": {"value": offer.id}}})

    # Time.

    def tick_until_end(self):
        while not self.ending.wait(self.allocation_s):
            with self.lock:
                self.tick(time.monotonic())

    def tick(self, now):
        for framework in list(self.frameworks.values()):
            stream = framework.stream
            if stream and self.heartbeats and now >= stream.beat_at:
                stream.send({"type": "HEARTBEAT"})
                stream.beat_at = now + self.heartbeat_s
            if framework.ended_at and not framework.removed and now - framework.ended_at >= framework.info.get("failover_timeout", 0):
                self.remove(framework)
        if self.offering:
            self.allocate(now)
        for agent in self.agents:
            agent.repeat_updates(now)

    def allocate(self, now):
        """Offers free resources: each framework in turn gets what its filters let through."""
        offered = {}
        for offer in self.offers.values():
            offered[offer.agent] = offered.get(offer.agent, Resources()) + offer.resources
        batches = {}
        frameworks = [f for f in self.frameworks.values() if f.stream and not f.suppressed]
        for number, agent in enumerate(self.agents):
            free = agent.total - agent.used - offered.get(agent, Resources())
            for framework in frameworks[number % len(frameworks):] + frameworks[:number % len(frameworks)] if frameworks else []:
                part = free.of_role(framework.role)
                if not part or (agent.total.amount("gpus") and not framework.has("GPU_RESOURCES")):
                    continue
                framework.filters = [entry for entry in framework.filters if entry[2] > now]
                if any(of is agent and filtered.contains(part) for of, filtered, _ in framework.filters):
                    continue
                offer = Offer(f"{self.id}-O{self.offer_count}", framework, agent, part)
                self.offer_count += 1
                self.offers[offer.id] = offer
                self.offered[offer.id] = agent, part.entries()
                batches.setdefault(framework, []).append(offer.message())
                free -= part
        for framework, offers in batches.items():
            self.send(framework, {"type": "OFFERS", "offers": {"offers": offers}})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--agents", type=int, default=1)
    parser.add_argument("--resources", default="cpus:4;mem:4096;disk:10000;ports:[31000-31999]")
    parser.add_argument("--attributes", default="")
    parser.add_argument("--credentials")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Master(folder, arguments.port) as master:
        if arguments.credentials:
            master.credentials = dict([arguments.credentials.split(":", 1)])
        for _ in range(arguments.agents):
            master.add_agent(arguments.resources, arguments.attributes)
        print(master.address, folder, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
