"""Processes that a scripted agent starts: commands of tasks, and executors. URIs are fetched into their sandboxes before."""
import base64
import os
import pathlib
import shutil
import signal
import subprocess
import tarfile
import threading
import urllib.request
import zipfile

from inherited_environment import inherited_environment

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
TAR_SUFFIXES = (".tar", ".tgz", ".tar.gz", ".tbz2", ".tar.bz2", ".txz", ".tar.xz")
KILL_TIMEOUT_S = 3


class LaunchFailed(Exception):
    """The reason why a container cannot start."""

    def __init__(self, text, reason="REASON_CONTAINER_LAUNCH_FAILED"):
        super().__init__(f"Failed to launch container: {text}" if reason == "REASON_CONTAINER_LAUNCH_FAILED" else text)
        self.reason = reason


def fetch(uris, sandbox):
    """Copies URIs into the sandbox and unpacks archives."""
    for uri in uris:
        value = uri["value"]
        target = pathlib.Path(sandbox) / (uri.get("output_file") or value.rsplit("/", 1)[-1])
        try:
            if value.startswith(("http:", "https:")):
                with urllib.request.urlopen(value, timeout=10) as source, open(target, "wb") as out:
                    shutil.copyfileobj(source, out)
            else:
                shutil.copy(value.removeprefix("file://").removeprefix("file:"), target)
            if uri.get("executable"):
                target.chmod(0o755)
            elif uri.get("extract", True) and target.name.endswith(TAR_SUFFIXES):
                with tarfile.open(target) as archive:
                    archive.extractall(sandbox, filter="fully_trusted") if hasattr(tarfile, "data_filter") else archive.extractall(sandbox)
            elif uri.get("extract", True) and target.name.endswith(".zip"):
                with zipfile.ZipFile(target) as archive:
                    archive.extractall(sandbox)
        except (OSError, tarfile.TarError, zipfile.BadZipFile) as e:
            raise LaunchFailed(f"Failed to fetch all URIs for container 'c': exited with status 1 ({value}: {e})") from e


def check_container(info, pretend):
    """Raises LaunchFailed if an agent without images, networks and volumes refuses a container. @pretend: it runs all of them."""
    if not info or pretend:
        return
    if info.get("type") == "DOCKER":
        raise LaunchFailed("Abnormal executor termination: unknown container", "REASON_EXECUTOR_TERMINATED")
    if "image" in info.get("mesos", {}):
        raise LaunchFailed("Unsupported container image type: DOCKER")
    if info.get("volumes"):
        raise LaunchFailed("Volumes in ContainerInfo is not supported")
    for network in info.get("network_infos", []):
        if "name" in network:
            raise LaunchFailed(f"Unknown CNI network '{network['name']}'")


def variables(command):
    """Returns the environment of a command. A secret's value becomes plain."""
    out = {}
    for variable in command.get("environment", {}).get("variables", []):
        secret = variable.get("secret")
        if variable.get("type") == "SECRET" and secret:
            if secret.get("type") != "VALUE":
                raise LaunchFailed("Collect failed: Default secret resolver cannot resolve references")
            out[variable["name"]] = base64.b64decode(secret["value"]["data"]).decode()
        else:
            out[variable["name"]] = variable.get("value", "")
    return out


class Process:
    """A command in its sandbox, in a session of its own. on_exit(status) gets wait(2)'s status in a thread of its own."""

    def __init__(self, command, sandbox, environment, on_exit, fetched=True):
        self.sandbox, self.kill_timer = sandbox, None
        os.makedirs(sandbox, exist_ok=True)
        if fetched:
            fetch(command.get("uris", []), sandbox)
        environment = {"PATH": PATH, **sanitizer_options(), **environment, **variables(command)}
        value = command.get("value", "")
        argv = ["/bin/sh", "-c", value] if command.get("shell", True) else command.get("arguments") or [value]
        with open(f"{sandbox}/stdout", "ab") as out, open(f"{sandbox}/stderr", "ab") as err:
            try:
                self.process = subprocess.Popen(argv, executable=None if command.get("shell", True) else value, env=environment,
                                                cwd=sandbox, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True)
            except OSError as e:
                raise LaunchFailed(f"Failed to launch command: {e}") from e
        self.pid = self.process.pid
        threading.Thread(target=lambda: on_exit(self.process.wait()), daemon=True).start()

    def signal(self, number):
        """Signals the process and its children."""
        try:
            os.killpg(self.pid, number)
        except ProcessLookupError:
            pass

    def terminate(self, seconds=KILL_TIMEOUT_S):
        """SIGTERM, then SIGKILL."""
        self.signal(signal.SIGTERM)
        self.kill_timer = threading.Timer(seconds, self.signal, [signal.SIGKILL])
        self.kill_timer.daemon = True
        self.kill_timer.start()

    def kill(self):
        self.signal(signal.SIGKILL)
        if self.kill_timer:
            self.kill_timer.cancel()
        self.process.wait(10)


def sanitizer_options():
    """Returns the variables that programs of this build need in tests."""
    return {name: value for name, value in inherited_environment().items() if name.startswith(("ASAN_", "UBSAN_", "TSAN_", "LSAN_"))}
