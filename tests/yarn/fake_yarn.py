"""YARN without a JVM: a ResourceManager and NodeManagers in the test's process. Containers are real processes.

    with FakeYarn(folder) as yarn:
        environment["HADOOP_CONF_DIR"] = yarn.conf
        …
        app = yarn.last()                  # the Application submitted last
        app.executors()[0].kill(-104, "Container … is running beyond physical memory limits.")
        yarn.lose(yarn.nodes[1])           # a node with its containers
        yarn.nodes[0].refused = 3          # starts that fail
        yarn.restart()                     # the ResourceManager; ApplicationMasters register again
        yarn.stop_rm()                     # … is gone until start_rm()

fs.defaultFS is file:///. Clients are simple users; ApplicationMasters and NodeManagers need their tokens. A container is
granted as soon as there is memory, and reported with the ApplicationMaster's next heartbeat. Everything below `lock` changes
under it.
"""
import hashlib
import os
import struct
import threading
import time

import aggregated_log_file
from conditions import wait_until
from fake_node import Container, FakeNode, application_text, container_text
from fake_yarn_web import FakeYarnWeb
from hadoop_server import SCHEMA, RpcError, RpcServer

CLIENT_METHODS = {"getNewApplication": ("Empty", "GetNewApplicationResponse"),
                  "submitApplication": ("SubmitApplicationRequest", "Empty"),
                  "getApplicationReport": ("GetApplicationReportRequest", "GetApplicationReportResponse"),
                  "getApplications": ("GetApplicationsRequest", "GetApplicationsResponse"),
                  "forceKillApplication": ("KillApplicationRequest", "KillApplicationResponse"),
                  "getClusterMetrics": ("Empty", "GetClusterMetricsResponse")}
MASTER_METHODS = {"registerApplicationMaster": ("RegisterApplicationMasterRequest", "RegisterApplicationMasterResponse"),
                  "allocate": ("AllocateRequest", "AllocateResponse"),
                  "finishApplicationMaster": ("FinishApplicationMasterRequest", "FinishApplicationMasterResponse")}
SUBMITTED, ACCEPTED, RUNNING, FINISHED, FAILED, KILLED = 3, 4, 5, 6, 7, 8
OWN = 2  # a scope of getApplications
FINAL_UNDEFINED, FINAL_SUCCEEDED, FINAL_FAILED, FINAL_KILLED = range(4)
DECOMMISSIONING = 7
ANY, RACK = "*", "/default-rack"
SCHEDULER_UNIT_MB, MAXIMUM_CORES = 64, 32


class Attempt:
    """An attempt of an application, and what its ApplicationMaster gets with the next heartbeat."""

    def __init__(self, application, number):
        self.application, self.number = application, number
        self.id = SCHEMA.new("ApplicationAttemptId", application_id=application.id, attempt_id=number)
        self.name = f"appattempt_{application.name.removeprefix('application_')}_{number:06d}"
        self.key = 1  # the number of its token
        self.container = None  # the ApplicationMaster's; None: unmanaged, or not granted yet
        self.containers = []   # of executors
        self.registered = self.finished = self.ended = False
        self.asks, self.excluded = {}, set()
        self.granted, self.completed, self.updated_nodes, self.known_nodes = [], [], [], set()
        self.response_id, self.heartbeats = 0, 0
        self.registration = None  # the request
        self.early_ends = 0  # before the registration

    def token_id(self):
        return f"{self.name}/{self.key}".encode()


class Application:
    def __init__(self, yarn, app_id):
        self.yarn, self.id, self.name = yarn, app_id, application_text(app_id)
        self.context, self.user, self.state = None, None, None  # not submitted yet
        self.final_status, self.diagnostics, self.tracking_url = FINAL_UNDEFINED, "", ""
        self.attempts, self.started, self.finished = [], int(time.time() * 1000), 0
        self.submitted = 0

    @property
    def attempt(self):
        return self.attempts[-1] if self.attempts else None

    @property
    def is_over(self):
        return self.state is not None and self.state >= FINISHED

    def executors(self):
        """The live containers of executors."""
        with self.yarn.lock:
            return [c for a in self.attempts for c in a.containers if not c.is_complete]

    def until(self, state):
        wait_until(lambda: self.state == state, lambda: f"state {state}, not {self.state}: {self.diagnostics}")


class FakeYarn:
    def __init__(self, folder, nodes=2, memory_mb=4096, maximum_mb=8192, queues=("default",), max_attempts=2, yarn_site=None):
        self.folder, self.conf = str(folder), os.path.join(str(folder), "conf")
        self.maximum_mb, self.queues, self.max_attempts = maximum_mb, queues, max_attempts
        self.lock = threading.RLock()
        self.timestamp, self.epoch, self.secret = int(time.time() * 1000), 0, os.urandom(16)
        self.applications, self.containers, self.next_container = {}, {}, 1
        self.closed = False
        self.reports = self.lists = 0
        self.report_times = []  # of time.monotonic()
        self.grants_at_once = 1000  # containers in the answer to a heartbeat
        self.undecided_s = 0  # how long an application waits for its queue
        self.before_submission = lambda context: None  # called without the lock; may raise RpcError
        self.before_registration = lambda attempt: None  # called without the lock
        os.makedirs(self.conf)
        self.web = FakeYarnWeb(self)
        self.ports = {"client": 0, "scheduler": 0}
        self.start_rm()
        self.nodes = [FakeNode(self, i, memory_mb) for i in range(nodes)]
        self.write_conf(yarn_site or {})

    def write_conf(self, more):
        sites = {"core-site.xml": {"fs.defaultFS": "file:///"},
                 "yarn-site.xml": {"yarn.resourcemanager.address": f"127.0.0.1:{self.ports['client']}",
                                   "yarn.resourcemanager.scheduler.address": f"127.0.0.1:{self.ports['scheduler']}",
                                   "yarn.resourcemanager.webapp.address": f"127.0.0.1:{self.web.port}",
                                   "yarn.nodemanager.remote-app-log-dir": f"{self.folder}/remote",
                                   "yarn.resourcemanager.connect.max-wait.ms": "3000",
                                   "yarn.resourcemanager.connect.retry-interval.ms": "100",
                                   "yarn.resourcemanager.am.max-attempts": str(self.max_attempts),
                                   "yarn.client.application-client-protocol.poll-interval-ms": "20", **more}}
        for name, values in sites.items():
            lines = [f"<property><name>{k}</name><value>{v}</value></property>" for k, v in values.items()]
            with open(os.path.join(self.conf, name), "w", encoding="utf-8") as file:
                file.write("<configuration>\n" + "\n".join(lines) + "\n</configuration>\n")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with self.lock:
            self.closed = True
            self.stop_rm()
            for node in self.nodes:
                node.close()
            self.web.close()
            left = [c for c in self.containers.values() if not c.is_complete]
            for container in left:
                container.kill(at_once=True)
        for container in left:
            if container.process:
                container.process.wait()

    # -------------------------------------------------------------------------------------- for tests

    def last(self):
        """The application that was submitted last; waits for it."""
        return wait_until(lambda: self.submitted()[-1:], "an application")[0]

    def submitted(self):
        with self.lock:
            return [a for a in self.applications.values() if a.state is not None]

    def stop_rm(self):
        self.clients.close()
        self.masters.close()

    def start_rm(self):
        self.clients = RpcServer("127.0.0.1", self.ports["client"], CLIENT_METHODS, self.handle_client)
        self.masters = RpcServer("127.0.0.1", self.ports["scheduler"], MASTER_METHODS, self.handle_master, self.master_password)
        self.ports = {"client": self.clients.port, "scheduler": self.masters.port}

    def restart(self):
        """A ResourceManager with recovery: it forgets registrations and asks, and its containers have a new epoch."""
        self.stop_rm()
        with self.lock:
            self.epoch += 1
            for app in self.applications.values():
                for attempt in app.attempts[-1:]:
                    attempt.registered, attempt.response_id, attempt.asks = False, 0, {}
                    attempt.known_nodes = set()
        self.start_rm()

    def lose(self, node):
        """A node that does not report any more. Its processes end, too."""
        with self.lock:
            node.lost = True
            node.server.close()
            for container in [c for c in self.containers.values() if c.node is node and not c.is_complete]:
                container.kill(-100, "Container released on a *lost* node", at_once=True)

    def decommission(self, node):
        with self.lock:
            report = SCHEMA.new("NodeReport", node=node.id(), state=DECOMMISSIONING)
            for app in self.applications.values():
                for attempt in app.attempts[-1:]:
                    attempt.updated_nodes.append(report)

    def aggregate(self, app, compression="none"):
        """What log aggregation leaves of an ended application: a file for each node."""
        directory = os.path.join(self.folder, "remote", app.user, "bucket-logs-tfile", f"{app.id.id % 10000:04d}", app.name)
        os.makedirs(directory)
        with self.lock:
            mine = [c for c in self.containers.values() if c.attempt.application is app and c.logs]
            for node in self.nodes:
                logs = {c.name: {name: c.log(name).encode() for name in sorted(os.listdir(c.logs))} for c in mine if c.node is node}
                path = os.path.join(directory, f"{node.host}_{node.server.port}")
                aggregated_log_file.write(path, logs, compression, app.user)
            for container in mine:
                container.logs = None

    def roll_key(self, app):
        """The ApplicationMaster gets a new token; new connections need it."""
        with self.lock:
            app.attempt.key += 1

    # ---------------------------------------------------------------------------------------- secrets

    def password(self, text):
        return hashlib.sha1(self.secret + text).digest()

    def attempt_of(self, identifier):
        """The attempt of a token's identifier, and the number of its key."""
        name, _, key = identifier.decode().partition("/")
        for app in self.applications.values():
            for attempt in app.attempts:
                if attempt.name == name:
                    return attempt, int(key)
        return None, 0

    def master_password(self, identifier):
        with self.lock:
            attempt, key = self.attempt_of(identifier)
            return self.password(identifier) if attempt and not attempt.ended and key == attempt.key else None

    def node_password(self, identifier):
        return self.password(identifier) if identifier.startswith(b"nm/") else None

    def token(self, identifier, kind):
        return SCHEMA.new("Token", identifier=identifier, password=self.password(identifier), kind=kind, service="")

    def container_of_token(self, token):
        if not token or token.password != self.password(token.identifier):
            return None
        with self.lock:
            return self.containers.get(token.identifier.decode())

    def tokens_of(self, container):
        """The stream of credentials that the container's process finds."""
        given = container.context.tokens or b"HDTS\0\0\0"
        if container is not container.attempt.container:
            return given
        token = self.token(container.attempt.token_id(), "YARN_AM_RM_TOKEN")
        parts = (b"", token.identifier, token.password, token.kind.encode(), b"")
        # A count below 112 is one byte, and so are the lengths of these.
        return given[:5] + struct.pack("B", given[5] + 1) + b"".join(struct.pack("B", len(p)) + p for p in parts) + given[6:]

    # ---------------------------------------------------------------------------------------- clients

    def handle_client(self, method, request, user):
        if method == "submitApplication":
            self.before_submission(request.context)
        with self.lock:
            if method == "getNewApplication":
                return self.new_application()
            if method == "submitApplication":
                self.submit(request.context, user)
                return None
            if method == "getClusterMetrics":
                return SCHEMA.new("GetClusterMetricsResponse", metrics=SCHEMA.new(
                    "ClusterMetrics", num_node_managers=sum(not n.lost for n in self.nodes)))
            if method == "getApplications":
                return self.own_applications(request, user)
            app = self.applications.get(application_text(request.application_id))
            if not app or app.state is None:
                raise RpcError("ApplicationNotFoundException", f"Application with id '{application_text(request.application_id)}' "
                               "doesn't exist in RM. Please check that the job submission was successful.")
            if method == "getApplicationReport":
                self.reports += 1
                self.report_times.append(time.monotonic())
                return SCHEMA.new("GetApplicationReportResponse", report=self.report(app))
            ended = app.is_over
            if not ended:
                self.kill_application(app, user, request.diagnostics)
            return SCHEMA.new("KillApplicationResponse", is_kill_completed=ended)

    def own_applications(self, request, user):
        self.lists += 1
        found = [self.report(a) for a in self.applications.values() if a.state is not None and (a.user == user or request.scope != OWN)
                 and (not request.application_states or self.state_of(a) in request.application_states)]
        return SCHEMA.new("GetApplicationsResponse", applications=found)

    def new_application(self):
        app_id = SCHEMA.new("ApplicationId", id=len(self.applications) + 1, cluster_timestamp=self.timestamp)
        app = Application(self, app_id)
        self.applications[app.name] = app
        return SCHEMA.new("GetNewApplicationResponse", application_id=app_id,
                          maximum_capability=SCHEMA.new("Resource", memory=self.maximum_mb, virtual_cores=MAXIMUM_CORES))

    def submit(self, context, user):
        app = self.applications.get(application_text(context.application_id))
        if not app:
            raise RpcError("YarnException", "the application was not created")
        if app.state is not None:
            return  # a repeated call
        app.context, app.user, app.submitted = context, user, time.monotonic()
        if (context.queue or "default") not in self.queues:
            self.end_application(app, FAILED, FINAL_FAILED, f"Application {app.name} submitted by user {user} to unknown queue: "
                                 f"{context.queue}")
        elif not context.unmanaged_am and context.resource.memory > self.maximum_mb:
            raise RpcError("InvalidResourceRequestException", "Invalid resource request! Cannot allocate containers as requested "
                           "resource is greater than maximum allowed allocation.")
        else:
            app.state = ACCEPTED
            self.begin_attempt(app)

    def state_of(self, app):
        return SUBMITTED if not app.is_over and time.monotonic() < app.submitted + self.undecided_s else app.state

    def report(self, app):
        attempt = app.attempt
        report = SCHEMA.new("ApplicationReport", application_id=app.id, user=app.user, queue=app.context.queue or "default",
                            name=app.context.application_name, state=self.state_of(app), final_status=app.final_status,
                            diagnostics=app.diagnostics, start_time=app.started, finish_time=app.finished,
                            tracking_url=f"http://127.0.0.1:{self.web.port}/proxy/{app.name}/", host="N/A", rpc_port=-1,
                            original_tracking_url=app.tracking_url, progress=0.1, application_type=app.context.application_type)
        if attempt:
            report.current_attempt = attempt.id
            if app.context.unmanaged_am and not attempt.registered and not attempt.ended:
                report.am_rm_token = self.token(attempt.token_id(), "YARN_AM_RM_TOKEN")
            if attempt.registration:
                report.host, report.rpc_port = attempt.registration.host, attempt.registration.rpc_port
        return report

    def kill_application(self, app, user, diagnostics):
        self.end_application(app, KILLED, FINAL_KILLED, diagnostics or
                             f"Application {app.name} was killed by user {user} at 127.0.0.1")

    # ------------------------------------------------------------------------------- applications' lives

    def begin_attempt(self, app):
        attempt = Attempt(app, len(app.attempts) + 1)
        app.attempts.append(attempt)
        self.schedule()

    def end_application(self, app, state, final_status, diagnostics):
        app.state, app.final_status, app.diagnostics = state, final_status, diagnostics
        app.finished = int(time.time() * 1000)
        for attempt in app.attempts:
            self.end_attempt(attempt)

    def end_attempt(self, attempt, keep=False):
        """With @keep the running containers of its executors are left to the next attempt."""
        attempt.ended = True
        attempt.asks = {}
        for container in [*attempt.containers, *([attempt.container] if attempt.container else [])]:
            if container.is_complete or keep and container is not attempt.container and container.process:
                continue
            if container is attempt.container and attempt.finished:
                continue  # it ends by itself
            container.kill(-107, "Container killed by the framework: its application has ended.")

    def attempt_failed(self, attempt, diagnostics):
        app = attempt.application
        most = min(app.context.max_app_attempts or self.max_attempts, self.max_attempts)
        is_last = attempt.number >= most
        self.end_attempt(attempt, app.context.keep_containers_across_attempts and not is_last)
        if app.is_over:
            return
        if is_last:
            self.end_application(app, FAILED, FINAL_FAILED,
                                 f"Application {app.name} failed {most} times due to {diagnostics}. Failing the application.")
        else:
            app.state = ACCEPTED
            self.begin_attempt(app)

    def container_ended(self, container):
        attempt = container.attempt
        app = attempt.application
        if container is not attempt.container:
            reported_to = app.attempt if app.context.keep_containers_across_attempts else attempt
            reported_to.completed.append(container)
        elif not attempt.finished and not attempt.ended:
            self.attempt_failed(attempt, f"AM Container for {attempt.name} exited with  exitCode: {container.status}\n"
                                f"{container.diagnostics}\nFailing this attempt.Diagnostics: {container.diagnostics}")
        self.schedule()

    # -------------------------------------------------------------------------------------- containers

    def node_for(self, memory, wanted=(), excluded=()):
        """A node with room, one of the @wanted hosts if possible, else the emptiest one."""
        fit = [n for n in self.nodes if not n.lost and n.host not in excluded and n.used_mb + memory <= n.memory_mb]
        fit.sort(key=lambda n: (n.host not in wanted, n.used_mb))
        return fit[0] if fit else None

    def grant(self, attempt, node, resource, priority):
        container_id = SCHEMA.new("ContainerId", attempt_id=attempt.id, id=self.epoch << 40 | self.next_container)
        self.next_container += 1
        memory = -(-resource.memory // SCHEDULER_UNIT_MB) * SCHEDULER_UNIT_MB
        name = container_text(container_id)
        message = SCHEMA.new("Container", id=container_id, node=node.id(), node_http_address=f"{node.host}:{node.http.port}",
                             resource=SCHEMA.new("Resource", memory=memory, virtual_cores=resource.virtual_cores),
                             priority=SCHEMA.new("Priority", priority=priority), container_token=self.token(
                                 name.encode(), "ContainerToken"))
        container = Container(node, message, attempt)
        self.containers[name] = container
        node.used_mb += memory
        return container

    def schedule(self):
        if self.closed:
            return
        for app in list(self.applications.values()):
            attempt = app.attempt
            if not attempt or attempt.ended or app.is_over:
                continue
            if not app.context.unmanaged_am and not attempt.container:
                resource = app.context.resource or app.context.am_resource_requests[0].capability
                node = self.node_for(resource.memory)
                if not node:
                    continue
                attempt.container = self.grant(attempt, node, resource, 0)
                node.accept(attempt.container, app.context.am_container_spec)
            for key, hosts in attempt.asks.items():
                while self.grant_one(attempt, key, hosts):
                    pass

    def grant_one(self, attempt, key, hosts):
        """One container of an ask, which becomes smaller by it."""
        if hosts.get(ANY, (0,))[0] <= 0:
            return False
        priority, memory, cores = key
        node = self.node_for(memory, [h for h, (count, _) in hosts.items() if count > 0], attempt.excluded)
        if not node:
            return False
        for place in (ANY, RACK, node.host):
            count, relax = hosts.get(place, (0, True))
            hosts[place] = (max(count - 1, 0), relax)
        resource = SCHEMA.new("Resource", memory=memory, virtual_cores=cores)
        container = self.grant(attempt, node, resource, priority)
        attempt.containers.append(container)
        attempt.granted.append(container)
        return True

    def status_of(self, container):
        return SCHEMA.new("ContainerStatus", container_id=container.message.id, state=3 if container.is_complete else 2,
                          diagnostics=container.diagnostics, exit_status=container.status if container.is_complete else -1000)

    # ------------------------------------------------------------------------------- ApplicationMasters

    def handle_master(self, method, request, user):
        with self.lock:
            attempt, _ = self.attempt_of(user)
        if method == "registerApplicationMaster":
            self.before_registration(attempt)
        with self.lock:
            if attempt.ended and not attempt.finished:
                raise RpcError("ApplicationAttemptNotFoundException", f"Application attempt {attempt.name} doesn't exist in "
                               "ApplicationMasterService cache.")
            if method == "registerApplicationMaster":
                return self.register(attempt, request)
            if not attempt.registered:
                attempt.early_ends += method == "finishApplicationMaster"
                raise RpcError("ApplicationMasterNotRegisteredException", f"Application Master is not registered for known "
                               f"application: {attempt.application.name}. Let AM resync.")
            return self.allocate(attempt, request) if method == "allocate" else self.finish(attempt, request)

    def register(self, attempt, request):
        if attempt.registered:
            raise RpcError("InvalidApplicationMasterRequestException",
                           f"Application Master is already registered : {attempt.application.name}")
        app = attempt.application
        attempt.registered, attempt.registration = True, request
        app.state, app.tracking_url = RUNNING, request.tracking_url
        kept = [c for earlier in app.attempts[:-1] for c in earlier.containers if not c.is_complete]
        return SCHEMA.new("RegisterApplicationMasterResponse", queue=app.context.queue or "default",
                          containers_from_previous_attempts=[c.message for c in kept],
                          nm_tokens_from_previous_attempts=self.node_tokens(attempt, kept),
                          maximum_capability=SCHEMA.new("Resource", memory=self.maximum_mb, virtual_cores=MAXIMUM_CORES))

    def allocate(self, attempt, request):
        if request.response_id != attempt.response_id:
            raise RpcError("InvalidApplicationMasterRequestException", f"Invalid responseId in AllocateRequest from application "
                           f"attempt: {attempt.name}, expect responseId to be {attempt.response_id}, but get {request.response_id}")
        for ask in request.ask:
            if ask.capability.memory > self.maximum_mb or ask.capability.virtual_cores > MAXIMUM_CORES:
                raise RpcError("InvalidResourceRequestException", "Invalid resource request! Cannot allocate containers as "
                               "requested resource is greater than maximum allowed allocation.")
        attempt.response_id += 1
        attempt.heartbeats += 1
        for ask in request.ask:
            key = (ask.priority.priority, ask.capability.memory, ask.capability.virtual_cores)
            attempt.asks.setdefault(key, {})[ask.resource_name] = (ask.num_containers, ask.relax_locality)
        for released in request.release:
            container = self.containers.get(container_text(released))
            if container and not container.is_complete:
                container.kill(-100, "Container released by application")
        if request.blacklist_request:
            attempt.excluded |= set(request.blacklist_request.additions)
            attempt.excluded -= set(request.blacklist_request.removals)
        answer = self.take_news(attempt)
        self.schedule()
        return answer

    def take_news(self, attempt):
        granted, later = attempt.granted[:self.grants_at_once], attempt.granted[self.grants_at_once:]
        answer = SCHEMA.new("AllocateResponse", response_id=attempt.response_id,
                            num_cluster_nodes=sum(not n.lost for n in self.nodes),
                            allocated_containers=[c.message for c in granted if not c.is_complete],
                            completed_containers=[self.status_of(c) for c in attempt.completed],
                            updated_nodes=attempt.updated_nodes)
        answer.nm_tokens.extend(self.node_tokens(attempt, granted))
        if attempt.key > 1:
            answer.am_rm_token = self.token(attempt.token_id(), "YARN_AM_RM_TOKEN")
        attempt.granted, attempt.completed, attempt.updated_nodes = later, [], []
        return answer

    def node_tokens(self, attempt, containers):
        """Tokens for the nodes of @containers for which the attempt has none."""
        nodes = {c.node for c in containers} - attempt.known_nodes
        attempt.known_nodes |= nodes
        return [SCHEMA.new("NodeToken", node=node.id(), token=self.token(f"nm/{attempt.name}/{node.host}".encode(), "NMToken"))
                for node in nodes]

    def finish(self, attempt, request):
        """The first answer is "not yet", since the end is stored first."""
        app = attempt.application
        if attempt.finished:
            return SCHEMA.new("FinishApplicationMasterResponse", is_unregistered=True)
        attempt.finished = True
        app.tracking_url = request.tracking_url or ""
        self.end_application(app, FINISHED, request.final_status or FINAL_UNDEFINED, request.diagnostics or "")
        return SCHEMA.new("FinishApplicationMasterResponse", is_unregistered=False)
