"""A real Kubernetes on the loopback interface: etcd, API server, controllers and scheduler as processes on free ports,
optionally with fake nodes (kwok) on which pods seem to run.

    with Cluster(folder) as cluster:
        cluster.kubectl("get", "pods")
        run(…, KUBECONFIG=cluster.kubeconfig)

Needs no root. The processes end with the block, and their files are below the folder.
"""
import contextlib
import functools
import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request

from programs import HERE, Missing, programs

TIMEOUT = 120  # seconds, for steps that take seconds on a quiet machine
SERVICES = "10.96.0.0/16"
SERVICE_ADDRESS = "10.96.0.1"


failures = []


def expect(what, true, said=""):
    print(f"{'ok' if true else 'FAILED'}: {what}{'' if true else f': {said}'}", flush=True)
    if not true:
        failures.append(what)


def free_ports(n):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(n)]
        return [s.getsockname()[1] for s in sockets]


def wait_for(condition, what, seconds=TIMEOUT, pause=0.05):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found = condition()
        if found:
            return found
        time.sleep(pause)
    raise AssertionError(f"timed out waiting for {what() if callable(what) else what}")


class Keys:
    """A certificate authority and its certificates."""

    def __init__(self, folder):
        self.folder = folder
        self.run("req", "-x509", *self.new_key("ca"), "-days", "3650", "-subj", "/CN=firesteel-test-ca", "-out", self.path("ca.crt"))
        self.run("genrsa", "-out", self.path("sa.key"), "2048")
        self.run("rsa", "-in", self.path("sa.key"), "-pubout", "-out", self.path("sa.pub"))

    def path(self, name):
        return str(self.folder / name)

    def run(self, *words):
        subprocess.run(["openssl", *words], check=True, capture_output=True)

    def new_key(self, name):
        return ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", self.path(name + ".key")]

    def sign(self, name, subject, alternatives=""):
        extensions = self.folder / (name + ".ext")
        extensions.write_text("extendedKeyUsage=serverAuth,clientAuth\n" +
                              (f"subjectAltName={alternatives}\n" if alternatives else ""))
        self.run("req", *self.new_key(name), "-subj", subject, "-out", self.path(name + ".csr"))
        self.run("x509", "-req", "-in", self.path(name + ".csr"), "-CA", self.path("ca.crt"), "-CAkey", self.path("ca.key"),
                 "-CAcreateserial", "-days", "3650", "-extfile", str(extensions), "-out", self.path(name + ".crt"))


class Cluster:
    # host and port: for a cluster with a real node, whose pods must reach the server.
    def __init__(self, folder, api_arguments=(), fake_nodes=0, stages=HERE / "stages.yaml", host="127.0.0.1", port=None):
        if not shutil.which("openssl"):
            raise Missing("openssl is needed for certificates: Debian's package openssl")
        self.programs = programs()
        self.folder = pathlib.Path(folder)
        self.api_arguments, self.fake_nodes, self.stages = list(api_arguments), fake_nodes, stages
        self.host = host
        self.processes = {}
        ports = free_ports(6)
        self.port = port or ports[0]
        self.etcd_port, self.peer_port, self.controllers_port, self.scheduler_port, self.kwok_port = ports[1:]
        self.url = f"https://{self.host}:{self.port}"
        self.kubeconfig = str(self.folder / "admin.conf")

    def __enter__(self):
        # SIGTERM raises SystemExit, so that the processes are stopped.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
        # A shell starts background commands with SIGINT ignored, and children would inherit that.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    # ------------------------------------------------------------------------------------------------- processes

    def start(self):
        for name in ("pki", "log", "etcd"):
            (self.folder / name).mkdir(parents=True)
        self.folder.chmod(0o700)
        self.make_keys()
        self.start_etcd()
        self.start_api_server()
        self.run("controllers", self.program(), "kube-controller-manager", f"--kubeconfig={self.config('controllers')}",
                 f"--authentication-kubeconfig={self.config('controllers')}",
                 f"--authorization-kubeconfig={self.config('controllers')}", "--bind-address=127.0.0.1",
                 f"--secure-port={self.controllers_port}", "--leader-elect=false", "--use-service-account-credentials=true",
                 f"--service-account-private-key-file={self.key('sa.key')}", f"--root-ca-file={self.key('ca.crt')}",
                 "--kube-api-qps=500", "--kube-api-burst=1000", "--concurrent-gc-syncs=20",
                 "--controllers=*,-nodeipam,-cloud-node-lifecycle-controller")
        scheduler = self.folder / "scheduler.yaml"
        scheduler.write_text("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
                             "leaderElection: {leaderElect: false}\n"
                             f"clientConnection: {{kubeconfig: {self.config('scheduler')}, qps: 1000, burst: 2000}}\n")
        self.run("scheduler", self.program(), "kube-scheduler", f"--config={scheduler}",
                 f"--authentication-kubeconfig={self.config('scheduler')}",
                 f"--authorization-kubeconfig={self.config('scheduler')}", "--bind-address=127.0.0.1",
                 f"--secure-port={self.scheduler_port}")
        if self.fake_nodes:
            self.start_fake_nodes()
        # The controllers create it. Without it the server admits no pod.
        wait_for(lambda: self.found("/api/v1/namespaces/default/serviceaccounts/default"), "the default service account")

    def start_etcd(self):
        self.run("etcd", self.program(), "etcd", "--data-dir", str(self.folder / "etcd"), "--unsafe-no-fsync", "--log-level=warn",
                 f"--listen-client-urls=http://127.0.0.1:{self.etcd_port}", f"--advertise-client-urls=http://127.0.0.1:{self.etcd_port}",
                 f"--listen-peer-urls=http://127.0.0.1:{self.peer_port}",
                 f"--initial-advertise-peer-urls=http://127.0.0.1:{self.peer_port}",
                 f"--initial-cluster=default=http://127.0.0.1:{self.peer_port}")
        # The API server exits if etcd does not answer within 20 s.
        wait_for(self.etcd_is_healthy, lambda: f"etcd:\n{self.log('etcd')[-2000:]}")

    def etcd_is_healthy(self):
        self.check_alive("etcd")
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.etcd_port}/health", timeout=TIMEOUT) as answer:
                return json.load(answer)["health"] == "true"
        except OSError:
            return False

    def start_api_server(self):
        self.run("apiserver", self.program(), "kube-apiserver", f"--etcd-servers=http://127.0.0.1:{self.etcd_port}",
                 f"--bind-address={self.host}", f"--advertise-address={self.host}", "--endpoint-reconciler-type=none",
                 f"--secure-port={self.port}", f"--tls-cert-file={self.key('apiserver.crt')}",
                 f"--tls-private-key-file={self.key('apiserver.key')}", f"--client-ca-file={self.key('ca.crt')}",
                 f"--token-auth-file={self.key('tokens.csv')}", "--service-account-issuer=https://kubernetes.default.svc",
                 f"--service-account-key-file={self.key('sa.pub')}", f"--service-account-signing-key-file={self.key('sa.key')}",
                 f"--service-cluster-ip-range={SERVICES}", "--authorization-mode=Node,RBAC",
                 "--enable-admission-plugins=NodeRestriction", "--allow-privileged=true",
                 f"--kubelet-certificate-authority={self.key('ca.crt')}",
                 f"--kubelet-client-certificate={self.key('apiserver-kubelet.crt')}",
                 f"--kubelet-client-key={self.key('apiserver-kubelet.key')}",
                 "--kubelet-preferred-address-types=InternalIP,Hostname", *self.api_arguments)
        wait_for(self.api_server_is_ready, lambda: f"the API server:\n{self.log('apiserver')[-2000:]}")

    def api_server_is_ready(self):
        self.check_alive("apiserver")
        return self.found("/readyz")

    def check_alive(self, name):
        if self.processes[name].poll() is not None:
            raise AssertionError(f"{name} has ended:\n{self.log(name)[-2000:]}")

    def start_fake_nodes(self):
        """Starts nodes on which pods seem to run, as the stages describe."""
        self.run("kwok", str(self.programs / "kwok"), f"--kubeconfig={self.kubeconfig}",
                 "--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake", "--node-lease-duration-seconds=200",
                 f"--server-address=127.0.0.1:{self.kwok_port}", f"--config={self.stages}")
        nodes = [{"apiVersion": "v1", "kind": "Node",
                  "metadata": {"name": f"fake-{i}", "labels": {"kubernetes.io/hostname": f"fake-{i}"},
                               "annotations": {"kwok.x-k8s.io/node": "fake", "node.alpha.kubernetes.io/ttl": "0"}},
                  "status": {"allocatable": {"cpu": "64", "memory": "256Gi", "pods": "500"},
                             "capacity": {"cpu": "64", "memory": "256Gi", "pods": "500"}}}
                 for i in range(self.fake_nodes)]
        self.kubectl("create", "-f", "-", text=json.dumps({"apiVersion": "v1", "kind": "List", "items": nodes}))
        ready = "{.items[*].status.conditions[?(@.type=='Ready')].status}"
        wait_for(lambda: self.kubectl("get", "nodes", "-o", f"jsonpath={ready}").split().count("True") >= self.fake_nodes,
                 lambda: f"{self.fake_nodes} fake nodes:\n{self.log('kwok')[-2000:]}")

    def run(self, name, *command):
        with open(self.folder / "log" / (name + ".log"), "ab") as log:
            self.processes[name] = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                                    start_new_session=True)

    def end(self, name, number=signal.SIGTERM):
        process = self.processes.pop(name)
        process.send_signal(number)
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def stop(self):
        """Stops the newest process first, so that none logs errors about a missing one."""
        for name in reversed(list(self.processes)):
            self.end(name)

    def restart_api_server(self):
        self.end("apiserver", signal.SIGKILL)
        self.start_api_server()

    # ------------------------------------------------------------------------------------------------------ files

    def program(self):
        return str(self.programs / "kubetest")

    def key(self, name):
        return str(self.folder / "pki" / name)

    def config(self, name):
        return str(self.folder / (name + ".conf"))

    def log(self, name):
        return (self.folder / "log" / (name + ".log")).read_text(errors="replace")

    def make_keys(self):
        self.keys = keys = Keys(self.folder / "pki")
        names = ["localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"]
        addresses = {"127.0.0.1", SERVICE_ADDRESS, self.host}
        keys.sign("apiserver", "/CN=kube-apiserver",
                  ",".join([f"DNS:{n}" for n in names] + [f"IP:{a}" for a in sorted(addresses)]))
        keys.sign("apiserver-kubelet", "/O=system:masters/CN=kube-apiserver-kubelet-client")
        for name, subject in (("admin", "/O=system:masters/CN=admin"), ("controllers", "/CN=system:kube-controller-manager"),
                              ("scheduler", "/CN=system:kube-scheduler"), ("alice", "/O=devs/CN=alice")):
            keys.sign(name, subject)
            self.write_config(name)
        pathlib.Path(self.key("tokens.csv")).write_text(
            'admin-token,admin-by-token,admin-uid,"system:masters"\nalice-token,alice,alice-uid,"devs"\n')

    def write_config(self, name):
        """Writes a kubeconfig file for the user @name with a client certificate and the namespace default."""
        config = {"apiVersion": "v1", "kind": "Config", "current-context": name,
                  "clusters": [{"name": "test", "cluster": {"server": self.url, "certificate-authority": self.key("ca.crt")}}],
                  "users": [{"name": name, "user": {"client-certificate": self.key(name + ".crt"),
                                                    "client-key": self.key(name + ".key")}}],
                  "contexts": [{"name": name, "context": {"cluster": "test", "user": name}}]}
        pathlib.Path(self.config(name)).write_text(json.dumps(config, indent=1))

    # ------------------------------------------------------------------------------------------------- the server

    @functools.cache  # pylint: disable=method-cache-max-size-none
    def context(self):
        context = ssl.create_default_context(cafile=self.key("ca.crt"))
        context.load_cert_chain(self.key("admin.crt"), self.key("admin.key"))
        return context

    def ask(self, path, method="GET", body=None, content_type="application/json"):
        """Sends a request as administrator. Returns JSON or text, and raises HTTPError for a status other than 2xx."""
        request = urllib.request.Request(self.url + path, method=method, data=None if body is None else json.dumps(body).encode(),
                                         headers={"Content-Type": content_type})
        with urllib.request.urlopen(request, context=self.context(), timeout=TIMEOUT) as answer:
            try:
                text = answer.read().decode()
            except http.client.HTTPException as e:  # the server was stopped within its answer
                raise ConnectionError(f"{path}: {e}") from e
            return json.loads(text) if answer.headers.get_content_type() == "application/json" else text

    def found(self, path):
        try:
            return self.ask(path)
        except (OSError, urllib.error.HTTPError):
            return None

    def run_kubectl(self, *words, text=None):
        """Returns the ended process."""
        return subprocess.run([self.program(), "kubectl", f"--kubeconfig={self.kubeconfig}", *words], input=text, text=True,
                              capture_output=True, timeout=TIMEOUT, check=False,
                              env=dict(os.environ, HOME=str(self.folder)))

    def kubectl(self, *words, text=None, check=True):
        done = self.run_kubectl(*words, text=text)
        if check and done.returncode:
            raise AssertionError(f"kubectl {' '.join(words)}: {done.stderr.strip()}")
        return done.stdout
