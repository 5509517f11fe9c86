"""An isolated environment for a node: namespaces for network, mounts and processes, and control groups.

    sys.exit(inside(main, prepare))   # runs main(folder, groups) inside; call nothing before or after inside()

prepare() runs first, outside, because there is no network inside. Then the program is executed again inside the
namespaces. When they end, the kernel removes main's processes, addresses, mounts and sockets in /run. The outer process
removes the folder and the control groups. The machine's own network is neither visible nor changed.
"""
import contextlib
import ctypes
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from programs import Missing

MARK = "FIRESTEEL_PLACE"  # in the environment inside: the folder
GROUPS = pathlib.Path("/sys/fs/cgroup")
PR_SET_CHILD_SUBREAPER = 36
UNSHARE = ("unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")


def inside(main, prepare):
    try:
        if MARK in os.environ:
            return first_process(main, os.environ.pop(MARK))
        return from_outside(prepare)
    except Missing as missing:
        print(f"SKIPPED: {missing}", file=sys.stderr)
        return 77


# ------------------------------------------------------------------------------------------------------ outside


def from_outside(prepare):
    if os.geteuid() != 0:
        raise Missing("a node of Kubernetes needs root, for namespaces and control groups")
    for program, package in (("unshare", "util-linux"), ("mount", "mount"), ("ip", "iproute2")):
        if not shutil.which(program):
            raise Missing(f"{program} is needed: Debian's package {package}")
    tried = subprocess.run([*UNSHARE, "true"], capture_output=True, text=True, check=False)
    if tried.returncode:
        raise Missing(f"a node of Kubernetes needs namespaces of its own, which this machine refuses: {tried.stderr.strip()}")
    prepare()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    # If unshare is killed, its children become children of this process.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    folder = tempfile.mkdtemp(prefix="firesteel-node-")
    groups = os.path.basename(folder)
    process = None
    try:
        try:
            make_groups(groups)
        except OSError as error:
            raise Missing(f"a node of Kubernetes needs control groups: {error}") from error
        process = subprocess.Popen([*UNSHARE, sys.executable, *sys.orig_argv[1:]], env=dict(os.environ, **{MARK: folder}))
        return process.wait()
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    finally:
        if process:
            process.kill()
            with contextlib.suppress(ChildProcessError):
                while True:  # the namespace's first process ends last
                    os.wait()
        remove_groups(groups)
        shutil.rmtree(folder, ignore_errors=True)


def hierarchies():
    """The roots of the control groups: one in version 2, one for each controller or two in version 1."""
    if (GROUPS / "cgroup.controllers").exists():
        return [GROUPS]
    return [p for p in GROUPS.iterdir() if p.is_dir() and not p.is_symlink() and (p / "cgroup.procs").exists()]


def make_groups(name):
    for top in hierarchies():
        group = top / name
        group.mkdir()
        if (top / "cgroup.controllers").exists():
            for controller in (top / "cgroup.controllers").read_text().split():
                for parent in (top, group):
                    with contextlib.suppress(OSError):
                        (parent / "cgroup.subtree_control").write_text("+" + controller)


def remove_groups(name):
    for top in hierarchies():
        for folder, _, _ in os.walk(top / name, topdown=False):
            until = time.monotonic() + 10
            while os.path.isdir(folder) and time.monotonic() < until:
                try:
                    os.rmdir(folder)
                except OSError:  # its last process is still ending
                    time.sleep(0.05)


# ------------------------------------------------------------------------------------------------------- inside


def run(*words):
    subprocess.run(words, check=True)


def first_process(main, folder):
    """Runs as process 1: forks main, reaps orphans, and exits with main's status."""
    run("ip", "link", "set", "lo", "up")
    run("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run")
    for path in ("/var/lib", "/var/log"):
        lay_over(path, pathlib.Path(folder))
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = main(pathlib.Path(folder), "/" + os.path.basename(folder))
        except Missing as missing:
            print(f"SKIPPED: {missing}", file=sys.stderr)
            status = 77
        except KeyboardInterrupt:
            status = 128 + signal.SIGINT
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status or 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        pid, status = os.wait()
        if pid == child:
            return os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)


def lay_over(path, folder):
    """Mounts a tmpfs over @path that shows the existing folders. New files do not reach the machine's disk."""
    scratch = folder / "laid"
    scratch.mkdir()
    run("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", str(scratch))
    for entry in os.scandir(path):
        copy = scratch / entry.name
        if entry.is_symlink():
            copy.symlink_to(os.readlink(entry.path))
        elif entry.is_dir():
            copy.mkdir()
            run("mount", "--rbind", entry.path, str(copy))
    run("mount", "--move", str(scratch), path)
    scratch.rmdir()


def seem_to_have_processors(n):
    """Makes the kubelet count @n processors: pods request whole processors, and this machine may have two."""
    for path in ("/sys/devices/system/node", "/sys/devices/system/cpu"):
        if os.path.isdir(path):
            run("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", path)
    for i in range(n):
        os.mkdir(f"/sys/devices/system/cpu/cpu{i}")


def add_address(address):
    run("ip", "address", "add", address + "/32", "dev", "lo")


def set_resolver(text, folder):
    """Sets /etc/resolv.conf for the processes of the test."""
    path = os.path.realpath("/etc/resolv.conf")
    if path.startswith("/run/"):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        pathlib.Path(path).write_text(text)
        return
    ours = folder / "resolv.conf.test"
    ours.write_text(text)
    run("mount", "--bind", str(ours), path)
