"""The NodeManager of tests/yarn/fake_yarn.py: runs containers as processes of this machine.

A container has a directory of its own with links to its local resources, a log directory, and the environment and the
script that a NodeManager makes. Only file: URIs are localized, and archives are unpacked once.
"""
import functools
import os
import re
import shutil
import signal
import subprocess
import tarfile
import tempfile
import threading
import urllib.parse
import zipfile

from hadoop_server import SCHEMA, RpcError, RpcServer

METHODS = {"startContainers": ("StartContainersRequest", "StartContainersResponse"),
           "stopContainers": ("ContainerIds", "StopContainersResponse"),
           "getContainerStatuses": ("ContainerIds", "GetContainerStatusesResponse")}
KILL_AFTER = 0.25  # seconds between SIGTERM and SIGKILL
ARCHIVE, NEW, RUNNING, COMPLETE = 1, 1, 2, 3
UNPACKING = threading.Lock()
KEPT = ("ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LLVM_PROFILE_FILE")


class Container:
    """One container, granted or running. `lost` is the (status, diagnostics) that is reported when its process has ended."""

    def __init__(self, node, message, attempt):
        self.node, self.message, self.attempt, self.name = node, message, attempt, container_text(message.id)
        self.process, self.lost, self.status, self.diagnostics, self.context = None, None, None, "", None
        self.folder = self.logs = None

    @property
    def is_complete(self):
        return self.status is not None

    def log(self, name="stderr"):
        try:
            with open(os.path.join(self.logs, name), encoding="utf-8", errors="replace") as file:
                return file.read()
        except (OSError, TypeError):
            return ""

    def kill(self, status=None, diagnostics="", at_once=False):
        """Ends the processes. With @status, this is reported instead of theirs."""
        with self.node.yarn.lock:
            if status is not None and self.lost is None:
                self.lost = (status, diagnostics)
            if self.process is None:
                self.node.end(self, *(self.lost or (-105, "Container killed by the ApplicationMaster.")))
                return
        signal_group(self.process.pid, signal.SIGKILL if at_once else signal.SIGTERM)
        if not at_once:
            timer = threading.Timer(KILL_AFTER, signal_group, (self.process.pid, signal.SIGKILL))
            timer.daemon = True
            timer.start()


def signal_group(pid, number):
    try:
        os.killpg(pid, number)
    except ProcessLookupError:
        pass


def application_text(m):
    return f"application_{m.cluster_timestamp}_{m.id:04d}"


def container_text(m):
    attempt, app = m.attempt_id, m.attempt_id.application_id
    epoch = f"e{m.id >> 40:02d}_" if m.id >> 40 else ""
    return f"container_{epoch}{app.cluster_timestamp}_{app.id:04d}_{attempt.attempt_id:02d}_{m.id & (1 << 40) - 1:06d}"


class FakeNode:
    """`refused` is the number of starts that it refuses next."""

    def __init__(self, yarn, number, memory_mb):
        self.yarn, self.host = yarn, f"127.0.0.{number + 1}"
        self.memory_mb, self.used_mb, self.refused, self.lost = memory_mb, 0, 0, False
        self.folder = os.path.join(yarn.folder, f"nm{number + 1}")
        self.cache_lock, self.cache = threading.Lock(), {}
        self.server = RpcServer(self.host, 0, METHODS, self.handle, yarn.node_password)
        self.http = yarn.web.serve_node(self)

    def id(self):
        return SCHEMA.new("NodeId", host=self.host, port=self.server.port)

    def close(self):
        self.server.close()
        self.http.close()

    # ------------------------------------------------------------------------------------------------ calls

    def handle(self, method, request, user):
        if method == "startContainers":
            return self.start_containers(request)
        if method == "stopContainers":
            for wanted in request.ids:
                self.stop_container(container_text(wanted))
            return SCHEMA.new("StopContainersResponse", succeeded=request.ids)
        found = [self.yarn.containers.get(container_text(wanted)) for wanted in request.ids]
        return SCHEMA.new("GetContainerStatusesResponse", statuses=[self.yarn.status_of(c) for c in found if c])

    def stop_container(self, name):
        with self.yarn.lock:
            container = self.yarn.containers.get(name)
            if container and not container.is_complete:
                container.kill(-105, "Container killed by the ApplicationMaster.")

    def start_containers(self, request):
        answer = SCHEMA.new("StartContainersResponse")
        for one in request.requests:
            container = self.yarn.container_of_token(one.container_token)
            if container is None:
                raise RpcError("org.apache.hadoop.security.token.SecretManager$InvalidToken", "Given Container is forged.")
            problem = self.accept(container, one.launch_context)
            if problem:
                exception = SCHEMA.new("SerializedException", message=problem, class_name="YarnException")
                answer.failed.append(SCHEMA.new("FailedContainer", container_id=container.message.id, exception=exception))
            else:
                answer.succeeded.append(container.message.id)
        return answer

    def accept(self, container, context):
        """Returns why it does not start, or None."""
        with self.yarn.lock:
            if container.context is not None:
                return f"Attempt to relaunch the same container with id {container.name}."
            if self.refused > 0:
                self.refused -= 1
                return f"{container.name}: the NodeManager refuses it"
            container.context = context
        threading.Thread(target=self.launch, args=(container,), daemon=True).start()
        return None

    # ------------------------------------------------------------------------------------------- containers

    def launch(self, container):
        app = container.attempt.application
        container.folder = os.path.join(self.folder, "local", app.user, app.name, container.name)
        container.logs = os.path.join(self.folder, "log", app.name, container.name)
        os.makedirs(container.folder)
        os.makedirs(container.logs)
        try:
            for resource in container.context.local_resources:
                self.localize(container, resource.key, resource.value)
        except (OSError, ValueError, tarfile.TarError, zipfile.BadZipFile) as e:
            self.end(container, -1000, f"Application {app.name} initialization failed (exitCode=-1000): {e}")
            return
        with self.yarn.lock:
            if container.is_complete:
                return
            self.start(container)
        code = container.process.wait()
        if container.lost:
            self.end(container, *container.lost)
            return
        code = code if code >= 0 else 128 - code
        tail = container.log()[-4096:]
        told = f"Exception from container-launch.\nContainer id: {container.name}\nExit code: {code}\n{tail}" if code else ""
        if code in (137, 143):
            told = f"Container killed on request. Exit code is {code}\n{told}"
        self.end(container, code, told)

    def start(self, container):
        with open(os.path.join(container.folder, "container_tokens"), "wb") as file:
            file.write(self.yarn.tokens_of(container))
        script = os.path.join(container.folder, "launch_container.sh")
        with open(script, "w", encoding="utf-8") as file:
            file.write("#!/bin/bash\n")
            for name, value in self.environment(container).items():
                file.write(f'export {name}="{value}"\n')
            for variable in container.context.environment:
                file.write(f'export {variable.key}="{self.expand(container, variable.value or "")}"\n')
            file.write(f'exec /bin/bash -c "{self.expand(container, " ".join(container.context.command))}"\n')
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        with open(os.path.join(container.logs, "prelaunch.err"), "wb") as log:
            container.process = subprocess.Popen(["/bin/bash", script], cwd=container.folder, env=kept, stdin=subprocess.DEVNULL,
                                                 stdout=log, stderr=log, start_new_session=True)

    def environment(self, container):
        app = container.attempt.application
        return {"CONTAINER_ID": container.name, "HADOOP_TOKEN_FILE_LOCATION": f"{container.folder}/container_tokens",
                "NM_HOST": self.host, "NM_PORT": str(self.server.port), "NM_HTTP_PORT": str(self.http.port),
                "LOCAL_DIRS": os.path.dirname(container.folder), "LOG_DIRS": container.logs, "USER": app.user,
                "LOGNAME": app.user, "HOME": "/home/", "PWD": container.folder, "MALLOC_ARENA_MAX": "4",
                "APPLICATION_WEB_PROXY_BASE": f"/proxy/{app.name}"}

    @staticmethod
    def expand(container, text):
        text = text.replace("<LOG_DIR>", container.logs).replace("<CPS>", ":")
        return re.sub(r"\{\{(\w+)\}\}", r"$\1", text)

    def localize(self, container, link, resource):
        url = resource.resource
        if url.scheme != "file":
            raise ValueError(f"the fake has no file system for {url.scheme}")
        path = urllib.parse.unquote(url.file)
        found = os.stat(path)
        if found.st_mtime_ns // 1000000 != resource.timestamp or found.st_size != resource.size:
            raise ValueError(f"Resource file:{path} changed on src filesystem - expected: {resource.timestamp}, was: "
                             f"{found.st_mtime_ns // 1000000}")
        place = os.path.join(container.folder, link)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        os.symlink(self.cached(path, resource), place)

    def cached(self, path, resource):
        key = (path, resource.timestamp, resource.type)
        with self.cache_lock:
            if key not in self.cache:
                copy = os.path.join(self.folder, "filecache", str(len(self.cache)), os.path.basename(path))
                os.makedirs(os.path.dirname(copy))
                if resource.type != ARCHIVE:
                    shutil.copyfile(path, copy)
                    os.chmod(copy, 0o500)
                elif zipfile.is_zipfile(path):
                    with zipfile.ZipFile(path) as archive:
                        archive.extractall(copy)
                else:
                    shutil.copytree(unpacked(path), copy, symlinks=True, copy_function=link_file)
                self.cache[key] = copy
            return self.cache[key]

    def end(self, container, status, diagnostics):
        """The container has ended: the ResourceManager is told."""
        with self.yarn.lock:
            if container.is_complete:
                return
            container.status, container.diagnostics = status, diagnostics
            self.used_mb -= container.message.resource.memory
            self.yarn.container_ended(container)


def link_file(path, link):
    try:
        os.link(path, link)
    except OSError:  # another file system
        shutil.copy2(path, link)


@functools.cache
def unpacked_folder():
    return tempfile.TemporaryDirectory(prefix="firesteel-unpacked-")


def unpacked(path):
    """The content of a tar archive, which all nodes of a run of the tests link to: unpacking takes longer than a test."""
    found = os.stat(path)
    with UNPACKING:
        folder = os.path.join(unpacked_folder().name, f"{found.st_dev}-{found.st_ino}-{found.st_mtime_ns}-{found.st_size}")
        if not os.path.exists(folder):
            with tarfile.open(path) as archive:
                archive.extractall(folder + ".part")
            os.rename(folder + ".part", folder)
        return folder
