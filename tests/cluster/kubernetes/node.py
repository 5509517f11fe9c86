"""A real node for the real control plane: kubelet, containerd and runc, and a DNS server for its pods.

    def main(folder, groups):
        with Node(folder, groups) as node:
            node.load("firesteel-0.1.0.tar")
            node.cluster.kubectl("run", …)
    sys.exit(place.inside(main, prepare))

The API server listens on the address of the service kubernetes (10.96.0.1:443), where every pod looks for it. CoreDNS
resolves the names of services. There is no kube-proxy, so other service addresses are unreachable:
pods can use headless services only. Network policies are not enforced.
"""
import hashlib
import io
import json
import os
import shutil
import socket
import subprocess
import tarfile

import place
from cluster import Cluster, SERVICE_ADDRESS, wait_for
from programs import HERE, Missing, dns_program, programs

NAME = "node1"
ADDRESS = "198.18.0.1"
DNS_ADDRESS = "10.96.0.10"
DOMAIN = "cluster.local"
PROCESSORS = 16
PODS = "10.244.0.0/24"
PAUSE = "test.local/pause:1"
BUSYBOX = "test.local/busybox:1"
PLUGINS = "/usr/lib/cni"
SOCKET = "/run/containerd.sock"

NEEDED = {"containerd": "containerd", "runc": "runc", "cc": "gcc", "/bin/busybox": "busybox-static",
          PLUGINS + "/ptp": "containernetworking-plugins"}


def prepare():
    """Checks the required programs, and builds those that need the network."""
    missing = sorted({package for program, package in NEEDED.items() if not shutil.which(program)})
    if missing:
        raise Missing(f"a node of Kubernetes needs Debian's {', '.join(missing)}: scripts/install-deps.sh kubernetes")
    programs()
    dns_program()


def write_image(path, name, root, command):
    """Writes an image with one layer, the folder @root, as a docker archive."""
    layer = io.BytesIO()
    with tarfile.open(fileobj=layer, mode="w") as tar:
        tar.add(root, arcname=".")
    config = {"architecture": os.uname().machine.replace("x86_64", "amd64").replace("aarch64", "arm64"), "os": "linux",
              "config": {"Env": ["PATH=/bin"], "Cmd": command},
              "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(layer.getvalue()).hexdigest()]}}
    manifest = [{"Config": "config.json", "RepoTags": [name], "Layers": ["layer.tar"]}]
    with tarfile.open(path, "w") as tar:
        for member, data in (("manifest.json", json.dumps(manifest).encode()), ("config.json", json.dumps(config).encode()),
                             ("layer.tar", layer.getvalue())):
            entry = tarfile.TarInfo(member)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))


class Node:
    # With its own cluster in @folder. @groups: the parent control group of the pods.
    def __init__(self, folder, groups):
        self.folder, self.groups = folder / "node", groups
        self.cluster = Cluster(folder / "cluster", host=SERVICE_ADDRESS, port=443)

    def __enter__(self):
        for address in (SERVICE_ADDRESS, DNS_ADDRESS, ADDRESS):
            place.add_address(address)
        for name in ("containerd", "cni", "kubelet", "keys", "images", "plugins"):
            (self.folder / name).mkdir(parents=True)
        self.cluster.start()
        self.start_dns()
        self.start_containerd()
        self.make_images()
        self.start_kubelet()
        return self

    def __exit__(self, *_):
        """Stops the cluster. The pods end with the namespaces."""
        self.cluster.stop()

    # --------------------------------------------------------------------------------------------------- processes

    def start_dns(self):
        self.cluster.keys.sign("dns", "/O=system:masters/CN=dns")
        self.cluster.write_config("dns")
        corefile = self.folder / "Corefile"
        corefile.write_text(f"{DOMAIN}:53 {{\n bind {DNS_ADDRESS}\n errors\n ready 127.0.0.1:8181\n kubernetes {DOMAIN} {{\n"
                            f"  kubeconfig {self.cluster.config('dns')} dns\n  ttl 1\n }}\n}}\n")
        self.cluster.run("dns", dns_program(), "-conf", str(corefile))
        place.set_resolver(f"nameserver {DNS_ADDRESS}\nsearch default.svc.{DOMAIN} svc.{DOMAIN} {DOMAIN}\noptions ndots:5\n",
                           self.folder)
        wait_for(lambda: self.resolves(f"kubernetes.default.svc.{DOMAIN}"),
                 lambda: f"the DNS server:\n{self.cluster.log('dns')[-2000:]}")

    def resolves(self, name):
        try:
            return socket.getaddrinfo(name, None)
        except OSError:
            return None

    def start_containerd(self):
        (self.folder / "cni" / "10-test.conflist").write_text(json.dumps({
            "cniVersion": "1.0.0", "name": "test", "plugins": [{
                "type": "ptp", "ipMasq": False, "ipam": {
                    "type": "host-local", "dataDir": str(self.folder / "addresses"), "ranges": [[{"subnet": PODS}]],
                    "routes": [{"dst": "0.0.0.0/0"}]}}]}))
        # overlayfs cannot lie on an overlay: copy the layers there.
        kind = subprocess.run(["stat", "-f", "-c", "%T", str(self.folder)], capture_output=True, text=True, check=True).stdout
        config = self.folder / "containerd.toml"
        config.write_text(f"""version = 2
root = "{self.folder}/containerd"
state = "/run/containerd-state"
disabled_plugins = ["io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs", "io.containerd.snapshotter.v1.devmapper",
                    "io.containerd.snapshotter.v1.aufs", "io.containerd.internal.v1.tracing"]
[grpc]
  address = "{SOCKET}"
[ttrpc]
  address = "{SOCKET}.ttrpc"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{PAUSE}"
  stream_server_address = "127.0.0.1"
  disable_apparmor = true
  restrict_oom_score_adj = true
  netns_mounts_under_state_dir = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{PLUGINS}"
    conf_dir = "{self.folder}/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "{"native" if "overlay" in kind else "overlayfs"}"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
""")
        self.cluster.run("containerd", "containerd", "-c", str(config))
        wait_for(lambda: self.ctr("version", check=False).returncode == 0,
                 lambda: f"containerd:\n{self.cluster.log('containerd')[-2000:]}")

    def start_kubelet(self):
        cluster = self.cluster
        place.seem_to_have_processors(PROCESSORS)
        cluster.keys.sign("node", f"/O=system:nodes/CN=system:node:{NAME}", f"DNS:{NAME},IP:{ADDRESS}")
        cluster.write_config("node")
        resolver = self.folder / "resolv.conf"
        resolver.write_text("")
        config = self.folder / "kubelet.yaml"
        config.write_text(json.dumps({
            "apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration", "address": ADDRESS, "port": 10250,
            "healthzPort": 0, "readOnlyPort": 0,
            "authentication": {"anonymous": {"enabled": False}, "webhook": {"enabled": True},
                               "x509": {"clientCAFile": cluster.key("ca.crt")}},
            "authorization": {"mode": "Webhook"}, "tlsCertFile": cluster.key("node.crt"),
            "tlsPrivateKeyFile": cluster.key("node.key"), "cgroupDriver": "cgroupfs", "cgroupRoot": self.groups,
            "failSwapOn": False, "makeIPTablesUtilChains": False, "localStorageCapacityIsolation": False,
            "containerRuntimeEndpoint": f"unix://{SOCKET}", "resolvConf": str(resolver), "clusterDomain": DOMAIN,
            "clusterDNS": [DNS_ADDRESS], "imageGCHighThresholdPercent": 100, "syncFrequency": "10s",
            "evictionHard": {"memory.available": "100Mi", "nodefs.available": "1%", "imagefs.available": "1%",
                             "nodefs.inodesFree": "1%"},
            "podLogsDir": "/var/log/pods", "volumePluginDir": str(self.folder / "plugins")}))
        cluster.run("kubelet", cluster.program(), "kubelet", f"--config={config}", f"--kubeconfig={cluster.config('node')}",
                    f"--hostname-override={NAME}", f"--node-ip={ADDRESS}", f"--root-dir={self.folder}/kubelet",
                    f"--cert-dir={self.folder}/keys")
        wait_for(self.is_ready, lambda: f"the node:\n{cluster.log('kubelet')[-3000:]}")

    def is_ready(self):
        node = self.cluster.found(f"/api/v1/nodes/{NAME}")
        return node and any(c["type"] == "Ready" and c["status"] == "True" for c in node["status"].get("conditions", []))

    # ------------------------------------------------------------------------------------------------------ images

    def ctr(self, *words, check=True):
        return subprocess.run(["ctr", "--address", SOCKET, "--namespace", "k8s.io", *words], capture_output=True, text=True,
                              check=check)

    def load(self, archive, *names):
        """Imports an image archive under its own name and under @names (complete, with host and tag)."""
        name = self.ctr("images", "import", str(archive)).stdout.split()[1]
        for other in names:
            self.ctr("images", "tag", name, other)

    def make_images(self):
        pause = self.folder / "images" / "pause"
        pause.mkdir()
        subprocess.run(["cc", "-O2", "-static", "-s", "-o", str(pause / "pause"), str(HERE / "pause.c")], check=True)
        busybox = self.folder / "images" / "busybox"
        for name in ("bin", "etc", "tmp"):
            (busybox / name).mkdir(parents=True)
        shutil.copy("/bin/busybox", busybox / "bin" / "busybox")
        for name in subprocess.run(["/bin/busybox", "--list"], capture_output=True, text=True, check=True).stdout.split():
            if name != "busybox":
                (busybox / "bin" / name).symlink_to("busybox")
        for root, name, command in ((pause, PAUSE, ["/pause"]), (busybox, BUSYBOX, ["/bin/sh"])):
            write_image(root.with_suffix(".tar"), name, root, command)
            self.load(root.with_suffix(".tar"))
