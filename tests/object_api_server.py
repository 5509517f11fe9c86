"""A Kubernetes API server of any kinds and namespaces, in memory, for the operator: it stores objects with versions,
generations and status subresources, watches, patches, refuses outdated writes, and deletes what belongs to a deleted
object. It runs nothing.

    with ObjectApiServer() as server:
        server.create("sparkoperator.k8s.io/v1beta2", "sparkapplications", "jobs", {"metadata": {"name": "pi"}})
        server.get("sparkapplications", "jobs", "pi")["status"]
"""
import copy
import json
import pathlib
import re
import threading
import time
import urllib.parse
import uuid

import port_forward_peer
from local_server import JsonHandler, LocalServer
from pod_api_server import merge, selects, selects_fields

PATH = re.compile(r"/(?:api|apis/([^/]+))/(v\w+)(?:/namespaces/([^/]+))?/([a-z]+)(?:/([^/]+))?(?:/(status|log|portforward))?$")


def json_patch(target, operations):
    """RFC 6902, as far as the operator uses it. The last part of a path is a member."""
    for operation in operations:
        *parents, name = [part.replace("~1", "/").replace("~0", "~") for part in operation["path"].split("/")[1:]]
        at = target
        for part in parents:
            at = at[int(part) if isinstance(at, list) else part]
        if operation["op"] == "remove":
            del at[name]
        elif operation["op"] == "copy":
            source = target
            for part in operation["from"].split("/")[1:]:
                source = source[part]
            at[name] = copy.deepcopy(source)
        elif operation["op"] == "replace" and name not in at:
            raise KeyError(name)
        else:
            at[name] = operation["value"]


class Handler(JsonHandler):
    def fail(self, code, reason, message=None):
        self.answer(code, {"kind": "Status", "status": "Failure", "reason": reason, "message": message or reason, "code": code})

    def begin(self):
        length = int(self.headers.get("Content-Length") or 0)
        self.body = json.loads(self.rfile.read(length)) if length else {}
        url = urllib.parse.urlsplit(self.path)
        match = PATH.match(urllib.parse.unquote(url.path))
        if not match:
            self.fail(404, "NotFound", "the server could not find the requested resource")
            return False
        group, _, self.namespace, self.resource, self.name, self.part = match.groups()
        if group == "spark.apache.org":  # has a kind of a name that sparkoperator.k8s.io has, too
            self.resource += "." + group
        self.query = dict(urllib.parse.parse_qsl(url.query))
        self.server.requests.append((self.command, self.path))
        failure = self.server.failure and self.server.failure(self.command, self.path, self.body)
        if failure:
            self.fail(*failure)
        return not failure

    def do_GET(self):
        if not self.begin():
            return
        store = self.server
        if self.part == "log":
            self.answer(200, store.logs.get((self.namespace, self.name), ""), "text/plain")
        elif self.part == "portforward":
            self.forward(int(self.query["ports"]))
        elif self.name:
            item = store.get(self.resource, self.namespace, self.name)
            self.answer(200, item) if item else self.fail(404, "NotFound", f'{self.resource} "{self.name}" not found')
        elif self.query.get("watch") in ("true", "1"):
            self.watch()
        else:
            with store.lock:
                items = [i for (r, n, _), i in store.objects.items() if r == self.resource and self.wanted(n, i)]
                self.answer(200, {"kind": "List", "apiVersion": "v1", "metadata": {"resourceVersion": str(store.version)}, "items": items})

    def forward(self, port):
        if self.server.get(self.resource, self.namespace, self.name):
            port_forward_peer.serve(self, port, self.server.ports.get((self.namespace, self.name, port)))
        else:
            self.fail(404, "NotFound", f'pods "{self.name}" not found')

    def wanted(self, namespace, item):
        return (self.namespace in (None, namespace) and
                selects(self.query.get("labelSelector", ""), item["metadata"].get("labels") or {}) and
                selects_fields(self.query.get("fieldSelector", ""), item))

    def watch(self):
        store, at = self.server, int(self.query.get("resourceVersion") or 0)
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        until = time.monotonic() + float(self.query.get("timeoutSeconds") or 300)
        try:
            while time.monotonic() < until and not store.ending:
                with store.lock:
                    if at >= store.version:
                        store.lock.wait(0.5)
                    news, at = [c for c in store.changes if c[0] > at], store.version
                for _, kind, resource, namespace, text in news:
                    if resource == self.resource and self.wanted(namespace, json.loads(text)):
                        line = f'{{"type":"{kind}","object":{text}}}\n'.encode()
                        self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            self.close_connection = True

    def do_POST(self):
        if not self.begin():
            return
        created = self.server.insert(self.resource, self.namespace, self.body)
        self.answer(201, created) if created else self.fail(409, "AlreadyExists")

    def change(self, how):
        """Changes a copy of the object by how(copy), and stores it if its version is the present one."""
        store = self.server
        with store.lock:
            old = store.objects.get((self.resource, self.namespace, self.name))
            if not old:
                return self.fail(404, "NotFound", f'{self.resource} "{self.name}" not found')
            new = copy.deepcopy(old)
            new = how(new) or new
            if new["metadata"].get("resourceVersion") not in (None, old["metadata"]["resourceVersion"]):
                return self.fail(409, "Conflict", "the object has been modified; please apply your changes to the latest version")
            status = new.get("status")
            if self.part == "status":
                new = copy.deepcopy(old)
                new["status"] = status
            else:
                new["metadata"].update(uid=old["metadata"]["uid"])
            if new.get("spec") != old.get("spec"):
                new["metadata"]["generation"] = old["metadata"]["generation"] + 1
            store.put("MODIFIED", self.resource, self.namespace, new)
            return self.answer(200, new)

    def do_PATCH(self):
        if not self.begin():
            return
        kind = self.headers.get("Content-Type", "")
        if "json-patch" in kind:
            self.change(lambda item: json_patch(item, self.body))
        elif "apply-patch" in kind and not self.server.get(self.resource, self.namespace, self.name):
            self.answer(201, self.server.insert(self.resource, self.namespace, self.body))
        else:
            self.change(lambda item: merge(item, self.body))

    def do_PUT(self):
        if self.begin():
            self.change(lambda _: self.body)

    def do_DELETE(self):
        if not self.begin():
            return
        store, uid = self.server, self.body.get("preconditions", {}).get("uid")
        with store.lock:
            found = [key for key, item in store.objects.items() if key[0] == self.resource and key[1] == self.namespace and
                     (key[2] == self.name if self.name else self.wanted(key[1], item))]
            if any(uid not in (None, store.objects[key]["metadata"]["uid"]) for key in found):
                return self.fail(409, "Conflict", "the UID in the precondition does not match")
            for key in found:
                store.remove(key)
        if self.name and not found:
            return self.fail(404, "NotFound", f'{self.resource} "{self.name}" not found')
        return self.answer(200, {"kind": "Status", "status": "Success"})


class ObjectApiServer(LocalServer):
    request_queue_size = 64

    def __init__(self, port=0):
        super().__init__(Handler, port=port)
        self.objects, self.changes, self.version = {}, [], 0
        self.logs, self.requests = {}, []
        self.ports = {}  # (namespace, pod, port) -> the port of this machine at which the pod's program listens
        self.failure = None  # (method, path, body) -> None, or (code, reason) to fail the request with
        self.lock = threading.Condition(threading.RLock())

    def put(self, kind, resource, namespace, item):
        """Stores the object under a new version and notifies watches. The caller holds the lock."""
        self.version += 1
        item["metadata"]["resourceVersion"] = str(self.version)
        self.objects[resource, namespace, item["metadata"]["name"]] = item
        self.changes.append((self.version, kind, resource, namespace, json.dumps(item)))
        self.lock.notify_all()

    def insert(self, resource, namespace, item):
        """Returns the stored object, or None if one of its name exists."""
        item = copy.deepcopy(item)
        item.setdefault("metadata", {}).update(uid=str(uuid.uuid4()), generation=1, namespace=namespace,
                                               creationTimestamp=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
        with self.lock:
            if (resource, namespace, item["metadata"]["name"]) in self.objects:
                return None
            self.put("ADDED", resource, namespace, item)
        return item

    def remove(self, key):
        """Deletes the object and those that it owns."""
        item = self.objects.pop(key)
        self.version += 1
        item["metadata"]["resourceVersion"] = str(self.version)
        self.changes.append((self.version, "DELETED", key[0], key[1], json.dumps(item)))
        uid = item["metadata"]["uid"]
        for other in [k for k, i in self.objects.items() if any(o["uid"] == uid for o in i["metadata"].get("ownerReferences") or [])]:
            if other in self.objects:
                self.remove(other)
        self.lock.notify_all()

    def delete(self, resource, namespace, name):
        with self.lock:
            self.remove((resource, namespace, name))

    def get(self, resource, namespace, name):
        with self.lock:
            return copy.deepcopy(self.objects.get((resource, namespace, name)))

    def all(self, resource, namespace=None):
        with self.lock:
            return [copy.deepcopy(i) for (r, n, _), i in self.objects.items() if r == resource and namespace in (None, n)]

    def update(self, resource, namespace, name, how):
        """Changes the object by how(object), spec or status."""
        with self.lock:
            item = copy.deepcopy(self.objects[resource, namespace, name])
            before = copy.deepcopy(item.get("spec"))
            how(item)
            if item.get("spec") != before:
                item["metadata"]["generation"] += 1
            self.put("MODIFIED", resource, namespace, item)

    def kubeconfig(self, folder, namespace="default"):
        """Writes a kubeconfig file and returns its path."""
        path = pathlib.Path(folder) / "kubeconfig"
        path.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "c",
            "clusters": [{"name": "c", "cluster": {"server": self.url}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u", "namespace": namespace}}],
            "users": [{"name": "u", "user": {}}]}))
        return str(path)
