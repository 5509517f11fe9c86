"""A scripted Mesos agent: runs commands and executors as processes of this machine, and keeps updates until they are acknowledged.

Everything below changes under the master's lock. Status updates go to `master.on_update(agent, framework_id, status)`.
"""
import base64
import os
import signal
import socketserver
import tempfile
import threading
import time
import uuid

from local_server import LocalServer
from mesos.containers import LaunchFailed, Process, check_container
from mesos.resources import Resources, parse_attributes, parse_resources
from mesos.streams import ApiHandler, Stream

TERMINAL = ("TASK_FINISHED", "TASK_FAILED", "TASK_KILLED", "TASK_ERROR", "TASK_LOST", "TASK_DROPPED", "TASK_GONE")
SHUTDOWN_TIMEOUT_S = 5


def encoded_uuid():
    return base64.b64encode(uuid.uuid4().bytes).decode()


def is_uuid(text):
    """Whether base64 @text is a random UUID; agents refuse others."""
    number = base64.b64decode(text)
    return len(number) == 16 and number[6] >> 4 == 4 and number[8] >> 6 == 2


class Task:
    def __init__(self, framework, info, executor):
        self.framework, self.info, self.executor = framework, info, executor
        self.id = info["task_id"]["value"]
        self.state, self.killed = "TASK_STAGING", False
        self.updates, self.sent_at = [], 0  # not acknowledged, oldest first; when the first was sent
        self.resources = Resources(info.get("resources", []))

    @property
    def is_over(self):
        return self.state in TERMINAL


class Executor:
    """A container: an executor's, or a task's that has a command."""

    def __init__(self, agent, framework, info, executor_id, is_custom):
        self.agent, self.framework, self.info, self.id, self.is_custom = agent, framework, info, executor_id, is_custom
        self.tasks, self.queued = {}, []  # queued: tasks and kills from before the subscription
        self.stream = self.process = None
        self.ended = False
        self.resources = Resources(info.get("resources", [])) if is_custom else Resources()
        self.sandbox = os.path.join(agent.folder, framework.id, executor_id, str(agent.containers))
        agent.containers += 1

    def send(self, event):
        if self.stream:
            self.stream.send(event)
        else:
            self.queued.append(event)

    def environment(self):
        return {"LIBPROCESS_IP": "127.0.0.1", "LIBPROCESS_PORT": "0", "MESOS_FRAMEWORK_ID": self.framework.id,
                "MESOS_EXECUTOR_ID": self.id, "MESOS_SLAVE_ID": self.agent.id, "MESOS_DIRECTORY": self.sandbox,
                "MESOS_SANDBOX": self.sandbox, "MESOS_AGENT_ENDPOINT": f"127.0.0.1:{self.agent.port}",
                "MESOS_SLAVE_PID": f"slave(1)@127.0.0.1:{self.agent.port}", "MESOS_HTTP_COMMAND_EXECUTOR": "0",
                **({"MESOS_DOMAIN_SOCKET": self.agent.server.path} if self.agent.domain_socket else {}),
                "MESOS_CHECKPOINT": "1" if self.framework.info.get("checkpoint") else "0",
                "MESOS_EXECUTOR_SHUTDOWN_GRACE_PERIOD": f"{SHUTDOWN_TIMEOUT_S}secs",
                **({"MESOS_RECOVERY_TIMEOUT": self.agent.recovery, "MESOS_SUBSCRIPTION_BACKOFF_MAX": "2secs"}
                   if self.framework.info.get("checkpoint") else {})}


class SocketServer(socketserver.ThreadingUnixStreamServer):
    """Serves at a Unix socket, which executors use in place of the agent's port."""
    daemon_threads = True
    ending = False

    def __init__(self, handler):
        self.folder = tempfile.TemporaryDirectory()  # paths of sockets are short
        self.path = f"{self.folder.name}/agent.sock"
        super().__init__(self.path, handler)
        self.thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self.thread.start()

    def __exit__(self, *_):
        self.ending = True
        self.shutdown()
        self.server_close()
        self.thread.join()
        self.folder.cleanup()


class Agent:
    """An agent of a scripted master. @pretend_containers: images, networks and volumes are taken for ordinary processes. @idle: no
    process starts; commands are said to run until they are killed or `finish` ends them. @recovery: how long its executors wait for it.
    @domain_socket: executors reach it by a Unix socket only."""

    def __init__(self, master, number, folder, resources, attributes="", retry_s=10.0, pretend_containers=False, idle=False,
                 recovery="15mins", domain_socket=False):
        self.master, self.lock, self.number = master, master.lock, number
        self.id, self.hostname = f"{master.id}-S{number}", "localhost"
        self.folder = os.path.join(str(folder), f"agent{number}")
        self.entries, self.attributes = parse_resources(resources), parse_attributes(attributes)
        self.total, self.used = Resources(self.entries), Resources()
        self.retry_s, self.pretend_containers, self.idle = retry_s, pretend_containers, idle
        self.tasks, self.executors, self.containers = {}, {}, 0  # tasks by (framework, task id), executors by (framework, executor id)
        self.updates_held = False  # no update leaves
        self.recovery, self.domain_socket = recovery, domain_socket
        self.refused = set()  # kinds of calls of executors that are answered with 400
        self.answers = threading.Event()  # cleared: no SUBSCRIBE gets an answer
        self.answers.set()
        self.server = self.make_server(0)
        self.port = 1 if domain_socket else self.server.server_port

    def make_server(self, port):
        agent = self

        class Handler(ApiHandler):
            disable_nagle_algorithm = not agent.domain_socket  # which only TCP has

            def do_POST(self):
                if self.path not in ("/slave(1)/api/v1/executor", "/api/v1/executor"):
                    return self.answer(404)
                call = self.read_call("ExecutorCall", "executor::Call")
                if call:
                    agent.on_call(self, call)

        return SocketServer(Handler) if self.domain_socket else LocalServer(Handler, port=port).__enter__()

    # Tasks.

    def launch(self, framework, info):
        """Starts a task that the master has accepted."""
        custom = info.get("executor")
        executor_id = custom["executor_id"]["value"] if custom else info["task_id"]["value"]
        executor = self.executors.get((framework.id, executor_id))
        is_new = executor is None
        if is_new:
            executor = Executor(self, framework, custom or {}, executor_id, bool(custom))
            self.executors[framework.id, executor_id] = executor
            self.used += executor.resources
        task = Task(framework, info, executor)
        self.tasks[framework.id, task.id] = executor.tasks[task.id] = task
        self.used += task.resources
        if custom:
            executor.send({"type": "LAUNCH", "launch": {"task": dict(info, executor=custom)}})
        if is_new:
            self.start_executor(executor, task)

    def start_executor(self, executor, task):
        command = (executor.info if executor.is_custom else task.info).get("command", {})
        try:
            check_container((executor.info if executor.is_custom else task.info).get("container"), self.pretend_containers)
            environment = executor.environment()
            if not executor.is_custom:
                self.update(task, "TASK_STARTING", source="SOURCE_EXECUTOR")
                environment["MESOS_ALLOCATION_ROLE"] = executor.framework.role
            if not self.idle:
                executor.process = Process(command, executor.sandbox, environment, lambda status: self.on_exit(executor, status))
        except LaunchFailed as e:
            self.end_executor(executor, e.reason, str(e), 256)
            return
        if not executor.is_custom:
            self.update(task, "TASK_RUNNING", source="SOURCE_EXECUTOR")

    def on_exit(self, executor, status):
        with self.lock:
            if executor.ended:
                return
            if executor.is_custom:
                self.end_executor(executor, "REASON_EXECUTOR_TERMINATED", "Executor terminated", -status if status < 0 else status << 8)
                return
            task = next(iter(executor.tasks.values()))
            state = "TASK_KILLED" if task.killed else "TASK_FINISHED" if status == 0 else "TASK_FAILED"
            how = (f"Command exited with status {status}" if status >= 0 else
                   f"Command terminated with signal {signal.strsignal(-status)}")
            self.update(task, state, how, source="SOURCE_EXECUTOR")
            self.forget_executor(executor)

    def end_executor(self, executor, reason, message, status):
        """Tells the master of an executor's end and of its tasks."""
        for task in list(executor.tasks.values()):
            if not task.is_over:
                self.update(task, "TASK_FAILED", message, reason=reason)
        self.forget_executor(executor)
        if executor.is_custom:
            self.master.on_executor_end(self, executor, status)

    def forget_executor(self, executor):
        executor.ended = True
        if self.executors.pop((executor.framework.id, executor.id), None):
            self.used -= executor.resources
        if executor.stream:
            executor.stream.close()
            executor.stream = None

    def kill(self, framework, task_id):
        """Returns whether the agent has the task."""
        task = self.tasks.get((framework.id, task_id))
        if task is None:
            return False
        if task.is_over:
            return True
        if task.executor.is_custom:
            task.executor.send({"type": "KILL", "kill": {"task_id": {"value": task_id}}})
        elif not task.killed:
            task.killed = True
            if self.idle:
                self.finish(task, "TASK_KILLED", "Command terminated with signal Terminated")
            else:
                task.executor.process.terminate()
        return True

    def finish(self, task, state, message):
        """Ends a command that has no process."""
        self.update(task, state, message, source="SOURCE_EXECUTOR")
        self.forget_executor(task.executor)

    def shutdown(self, framework_id, executor_id=None):
        """Ends one executor, or all of a framework."""
        for (of, name), executor in list(self.executors.items()):
            if of == framework_id and executor_id in (None, name):
                if executor.is_custom and executor.stream:
                    executor.send({"type": "SHUTDOWN"})
                if executor.process:
                    for task in executor.tasks.values():
                        task.killed = True
                    if executor.is_custom:
                        executor.process.terminate(SHUTDOWN_TIMEOUT_S)
                    else:
                        executor.process.terminate()

    def remove_framework(self, framework_id):
        """Ends what a framework has here, and forgets its tasks."""
        self.shutdown(framework_id)
        for key in [key for key in self.tasks if key[0] == framework_id]:
            task = self.tasks.pop(key)
            if not task.is_over:
                self.used -= task.resources
                task.state = "TASK_KILLED"

    # Updates.

    def update(self, task, state, message=None, reason=None, source="SOURCE_AGENT", **more):
        status = {"task_id": {"value": task.id}, "state": state, "source": source, "agent_id": {"value": self.id},
                  "executor_id": {"value": task.executor.id}, "timestamp": time.time(), "uuid": encoded_uuid(),
                  **({"message": message} if message else {}), **({"reason": reason} if reason else {}), **more}
        self.keep_update(task, status)

    def keep_update(self, task, status):
        if task.is_over or any(kept["uuid"] == status["uuid"] for kept in task.updates):
            return
        task.state = status["state"]
        if task.is_over:
            self.used -= task.resources
            task.executor.tasks.pop(task.id, None)
        task.updates.append(status)
        if len(task.updates) == 1:
            self.send_update(task)
        if task.is_over:
            self.master.on_resources(self)

    def send_update(self, task):
        task.sent_at = time.monotonic()
        if not self.updates_held:
            self.master.on_update(self, task.framework.id, task.updates[0])

    def acknowledge(self, framework_id, task_id, number):
        task = self.tasks.get((framework_id, task_id))
        if not task or not task.updates or task.updates[0]["uuid"] != number:
            return
        acknowledged = task.updates.pop(0)
        if acknowledged["state"] in TERMINAL:
            del self.tasks[framework_id, task_id]
        elif task.updates:
            self.send_update(task)

    def repeat_updates(self, now):
        """Sends updates again that were not acknowledged in time; all of them at once with @now None."""
        for task in self.tasks.values():
            if task.updates and (now is None or now - task.sent_at > self.retry_s):
                self.send_update(task)

    # Executors.

    def on_call(self, handler, call):
        if call["type"] == "SUBSCRIBE":
            self.answers.wait()
        with self.lock:
            key = (call.get("framework_id", {}).get("value"), call.get("executor_id", {}).get("value"))
            executor = self.executors.get(key)
            if None in key:
                return handler.answer(400, "Failed to validate executor::Call: Expecting 'framework_id' to be present")
            if executor is None:
                return handler.answer(400, f"Framework {key[0]} or executor '{key[1]}' cannot be found")
            if call["type"] in self.refused:
                return handler.answer(400, f"No {call['type']} is taken")
            if call["type"] == "SUBSCRIBE":
                stream = self.subscribe(executor, call.get("subscribe", {}), handler.accepted())
            elif call["type"] == "UPDATE":
                if not is_uuid(call["update"]["status"].get("uuid", "")):
                    return handler.answer(400, "Failed to validate Executor::Call: Not a valid UUID")
                self.on_executor_update(executor, call["update"]["status"])
                return handler.answer(202)
            elif call["type"] == "MESSAGE":
                self.master.on_message(self, executor, call["message"]["data"])
                return handler.answer(202)
            else:
                return handler.answer(501 if call["type"] != "HEARTBEAT" else 202)
        handler.stream(stream)
        with self.lock:
            if executor.stream is stream:
                executor.stream = None
        stream.free()

    def subscribe(self, executor, subscribe, kind):
        if executor.stream:
            executor.stream.close()
        executor.stream = stream = Stream(kind, "ExecutorEvent")
        stream.send({"type": "SUBSCRIBED", "subscribed": {
            "executor_info": dict(executor.info, framework_id={"value": executor.framework.id}),
            "framework_info": dict(executor.framework.info, id={"value": executor.framework.id}),
            "agent_info": {"hostname": self.hostname, "port": self.port, "resources": self.entries, "attributes": self.attributes,
                           "id": {"value": self.id}},
            "container_id": {"value": str(executor.agent.containers)}}})
        for update in subscribe.get("unacknowledged_updates", []):
            self.on_executor_update(executor, update["status"])
        queued, executor.queued = executor.queued, []
        known = {task["task_id"]["value"] for task in subscribe.get("unacknowledged_tasks", [])}
        for event in queued:
            if event["type"] != "LAUNCH" or event["launch"]["task"]["task_id"]["value"] not in known:
                stream.send(event)
        return stream

    def on_executor_update(self, executor, status):
        task = self.tasks.get((executor.framework.id, status["task_id"]["value"]))
        acknowledged = {"type": "ACKNOWLEDGED", "acknowledged": {"task_id": status["task_id"], "uuid": status["uuid"]}}
        if task:
            self.keep_update(task, dict(status, agent_id={"value": self.id}, executor_id={"value": executor.id}))
        if executor.stream:
            executor.stream.send(acknowledged)

    # Faults.

    def cut(self):
        """Ends the connections of executors."""
        with self.lock:
            for executor in self.executors.values():
                if executor.stream:
                    executor.stream.close()
                    executor.stream = None

    def stop(self):
        """The agent's process ends; executors go on."""
        self.server.ending = True
        self.cut()
        self.server.__exit__()

    def start(self):
        """The agent comes back at the same port."""
        self.server = self.make_server(self.port)

    def processes(self):
        with self.lock:
            return [executor.process for executor in self.executors.values() if executor.process]

    def close(self):
        self.answers.set()
        self.stop()
        for process in self.processes():
            process.kill()
