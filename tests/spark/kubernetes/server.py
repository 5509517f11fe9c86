"""A real API server for the objects of submissions, with the objects that the lines of cases.py require.

    with Server(folder) as server:
        …                       a client creates objects
        server.objects()        the existing objects
        server.clear()
"""
import http.client
import json
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "cluster" / "kubernetes"))

from cluster import Cluster, Missing, wait_for  # noqa: E402, F401

NAMESPACES = ("default", "jobs", "other", "of-template", "ns")
ACCOUNTS = ("sa", "esa", "dsa", "d", "other", "of-template", "template-account", "spark")
KINDS = {"Pod": "/api/v1/{}pods", "Service": "/api/v1/{}services", "ConfigMap": "/api/v1/{}configmaps",
         "Secret": "/api/v1/{}secrets", "PersistentVolumeClaim": "/api/v1/{}persistentvolumeclaims",
         "NetworkPolicy": "/apis/networking.k8s.io/v1/{}networkpolicies",
         "PodGroup": "/apis/scheduling.volcano.sh/v1beta1/{}podgroups"}
POD_GROUPS = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    "metadata": {"name": "podgroups.scheduling.volcano.sh"},
    "spec": {"group": "scheduling.volcano.sh", "scope": "Namespaced",
             "names": {"plural": "podgroups", "singular": "podgroup", "kind": "PodGroup", "listKind": "PodGroupList"},
             "versions": [{"name": "v1beta1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {
                 "type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}}
# Services of both families are among the lines.
ARGUMENTS = ["--service-cluster-ip-range=10.96.0.0/16,fd00:10:96::/112"]


class Server:
    def __init__(self, folder):
        self.cluster = Cluster(pathlib.Path(folder) / "cluster", api_arguments=ARGUMENTS)
        self.connection = None
        self.ours = set()

    def __enter__(self):
        self.cluster.__enter__()
        self.url = self.cluster.url
        try:
            self.prepare()
        except BaseException:
            self.cluster.stop()
            raise
        return self

    def __exit__(self, *_):
        self.cluster.stop()

    def ask(self, path, method="GET", body=None, content_type="application/json"):
        """Returns (status, object), over one connection."""
        for last in (False, True):
            if not self.connection:
                self.connection = http.client.HTTPSConnection(self.cluster.host, self.cluster.port, timeout=120,
                                                              context=self.cluster.context())
            try:
                self.connection.request(method, path, None if body is None else json.dumps(body), {"Content-Type": content_type})
                answer = self.connection.getresponse()
                text = answer.read()
                return answer.status, json.loads(text) if answer.getheader("Content-Type") == "application/json" else text
            except (http.client.HTTPException, ConnectionError):
                self.connection.close()
                self.connection = None
                if last:
                    raise
        return None

    def must(self, path, method, body, **more):
        status, answer = self.ask(path, method, body, **more)
        if status >= 300:
            raise AssertionError(f"{method} {path}: {answer}")
        return answer

    def prepare(self):
        for name in NAMESPACES[1:]:
            self.must("/api/v1/namespaces", "POST", {"metadata": {"name": name}})
        for namespace in NAMESPACES:
            base = f"/api/v1/namespaces/{namespace}/"
            for name in ACCOUNTS:
                self.must(base + "serviceaccounts", "POST", {"metadata": {"name": name}})
            wait_for(lambda at=base: self.ask(at + "serviceaccounts/default")[0] == 200 and
                     self.ask(at + "configmaps/kube-root-ca.crt")[0] == 200, f"what every namespace has in {namespace}")
        for name in ("high", "low"):
            self.must("/apis/scheduling.k8s.io/v1/priorityclasses", "POST", {"metadata": {"name": name}, "value": 10})
        self.must("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "POST", POD_GROUPS)
        wait_for(lambda: self.ask(KINDS["PodGroup"].format(""))[0] == 200, "pod groups to be known")
        self.ours = {one["metadata"]["uid"] for one in self.everything()}

    def kubeconfig(self, path):
        """Writes one for the administrator's token: genuine Spark reads no keys of elliptic curves in their usual form."""
        with open(self.cluster.key("ca.crt"), "rb") as file:
            authority = file.read()
        with open(path + ".ca", "wb") as file:
            file.write(authority)
        config = {"apiVersion": "v1", "kind": "Config", "current-context": "here",
                  "clusters": [{"name": "c", "cluster": {"server": self.url, "certificate-authority": path + ".ca"}}],
                  "users": [{"name": "u", "user": {"token": "admin-token"}}],
                  "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u", "namespace": "default"}}]}
        with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8") as file:
            json.dump(config, file)
        return path

    def everything(self):
        for kind, path in KINDS.items():
            listed = self.must(path.format(""), "GET", None)
            for one in listed["items"]:
                yield {**one, "kind": kind, "apiVersion": listed["apiVersion"]}

    def objects(self):
        """The objects that exist and are not being deleted."""
        return [one for one in self.everything() if one["metadata"]["uid"] not in self.ours and
                "deletionTimestamp" not in one["metadata"]]

    def path(self, one, collection=False):
        metadata = one["metadata"]
        base = KINDS[one["kind"]].format(f"namespaces/{metadata['namespace']}/")
        return base if collection else f"{base}/{metadata['name']}"

    def create(self, one, namespace="default"):
        """Returns the stored object, or the error."""
        one.setdefault("metadata", {}).setdefault("namespace", namespace)
        status, answer = self.ask(self.path(one, True), "POST", one)
        return (answer, None) if status < 300 else (None, answer["message"])

    def clear(self):
        for one in self.everything():
            if one["metadata"]["uid"] in self.ours:
                continue
            self.ask(self.path(one) + "?gracePeriodSeconds=0&propagationPolicy=Background", "DELETE")
            if one["metadata"].get("finalizers"):
                self.ask(self.path(one), "PATCH", {"metadata": {"finalizers": None}}, "application/merge-patch+json")
