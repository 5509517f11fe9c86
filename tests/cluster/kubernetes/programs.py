"""Builds the programs of a real Kubernetes from Go modules and caches them by a hash of their sources."""
import contextlib
import fcntl
import hashlib
import os
import pathlib
import re
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE / "control-plane"
DNS_SOURCE = HERE / "dns"
KWOK = "v0.8.0"  # fake nodes
GO_LEAST = (1, 24)


class Missing(Exception):
    """A missing prerequisite. The message names the package to install."""


def cache():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return pathlib.Path(os.environ.get("FIRESTEEL_KUBERNETES_CACHE") or os.path.join(base, "firesteel-check-kubernetes"))


def need_go():
    go = shutil.which("go")
    if not go:
        raise Missing("Go is needed to build Kubernetes: https://go.dev/dl, or Debian's golang from bookworm-backports")
    said = subprocess.run([go, "version"], capture_output=True, text=True, check=True).stdout
    version = re.search(r"go(\d+)\.(\d+)", said)
    if version and (int(version[1]), int(version[2])) < GO_LEAST:
        raise Missing(f"Go {GO_LEAST[0]}.{GO_LEAST[1]} or newer is needed to build Kubernetes, this is {said.strip()}")
    return go


def go_run(*words, **more):
    subprocess.run([need_go(), *words], env=dict(os.environ, CGO_ENABLED="0", GOFLAGS="-trimpath", **more.pop("env", {})),
                   check=True, **more)


def build_kubernetes(folder):
    required = dict(re.findall(r"^\s+(k8s\.io/kubernetes|go\.etcd\.io/etcd/server/v3) (v\S+)",
                               (SOURCE / "go.mod").read_text(), re.M))
    version = required["k8s.io/kubernetes"]
    major, minor = version[1:].split(".")[:2]
    flags = ["-s", "-w"]
    for package in ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version"):
        for name, value in (("gitVersion", version), ("gitMajor", major), ("gitMinor", minor)):
            flags += ["-X", f"{package}.{name}={value}"]
    print(f"building Kubernetes {version} in {folder}: some minutes, once", flush=True)
    # -p 2: more parallel compilers need more memory than small machines have.
    go_run("build", "-p", "2", "-ldflags", " ".join(flags), "-o", folder / "kubetest", ".", cwd=SOURCE)
    go_run("install", "-ldflags=-s -w", f"sigs.k8s.io/kwok/cmd/kwok@{KWOK}", env={"GOBIN": str(folder)})


def build_dns(folder):
    print(f"building CoreDNS in {folder}: some minutes, once", flush=True)
    go_run("build", "-p", "2", "-ldflags", "-s -w", "-o", folder / "coredns", ".", cwd=DNS_SOURCE)


@contextlib.contextmanager
def once(source, more=""):
    """Yields the cache folder of the module in @source, and whether the caller must fill it. Other processes wait."""
    made_of = hashlib.sha256()
    for name in ("go.mod", "go.sum", "main.go"):
        made_of.update((source / name).read_bytes())
    made_of.update(more.encode())
    folder = cache() / made_of.hexdigest()[:16]
    if (folder / "whole").exists():
        yield folder, False
        return
    need_go()
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        begins = not (folder / "whole").exists()
        yield folder, begins
        if begins:
            (folder / "whole").touch()


def programs():
    """Returns the folder with kubetest and kwok."""
    with once(SOURCE, KWOK) as (folder, begins):
        if begins:
            build_kubernetes(folder)
        return folder


def dns_program():
    with once(DNS_SOURCE) as (folder, begins):
        if begins:
            build_dns(folder)
        return str(folder / "coredns")


if __name__ == "__main__":
    print(programs())
    print(dns_program())
