"""The programs of a real Kubernetes, made from Go's modules once and kept in a cache by what they are made of."""
import fcntl
import hashlib
import os
import pathlib
import re
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE / "control-plane"
KWOK = "v0.8.0"  # fake nodes
GO_LEAST = (1, 24)


class Missing(Exception):
    """What this machine lacks; the message says what to install."""


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


def build(go, folder):
    required = dict(re.findall(r"^\s+(k8s\.io/kubernetes|go\.etcd\.io/etcd/server/v3) (v\S+)",
                               (SOURCE / "go.mod").read_text(), re.M))
    version = required["k8s.io/kubernetes"]
    major, minor = version[1:].split(".")[:2]
    flags = ["-s", "-w"]
    for package in ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version"):
        for name, value in (("gitVersion", version), ("gitMajor", major), ("gitMinor", minor)):
            flags += ["-X", f"{package}.{name}={value}"]
    environment = dict(os.environ, CGO_ENABLED="0", GOFLAGS="-trimpath")
    print(f"building Kubernetes {version} in {folder}: some minutes, once", flush=True)
    # -p 2: with more the linker's neighbours need more memory than small machines have.
    subprocess.run([go, "build", "-p", "2", "-ldflags", " ".join(flags), "-o", folder / "kubetest", "."], cwd=SOURCE,
                   env=environment, check=True)
    subprocess.run([go, "install", "-ldflags=-s -w", f"sigs.k8s.io/kwok/cmd/kwok@{KWOK}"],
                   env=dict(environment, GOBIN=str(folder)), check=True)


def programs():
    """The folder with kubetest and kwok."""
    made_of = hashlib.sha256()
    for name in ("go.mod", "go.sum", "main.go"):
        made_of.update((SOURCE / name).read_bytes())
    made_of.update(KWOK.encode())
    folder = cache() / made_of.hexdigest()[:16]
    if (folder / "whole").exists():
        return folder
    go = need_go()
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "whole").exists():
            build(go, folder)
            (folder / "whole").touch()
    return folder


if __name__ == "__main__":
    print(programs())
