"""A Kubernetes API server of one namespace, in memory: it lists, watches, creates, patches and deletes objects, as far
as executors in pods need. It runs no pods: tests/cluster/kubernetes/process_kubelet.py runs them as processes.

    with PodApiServer() as server:
        server.url, server.ask("/api/v1/namespaces/default/pods")["items"]
"""
import json
import re
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

from local_server import JsonHandler, LocalServer

KINDS = {"pods": "Pod", "configmaps": "ConfigMap", "services": "Service", "secrets": "Secret",
         "persistentvolumeclaims": "PersistentVolumeClaim"}
PATH = re.compile(r"/api/v1/namespaces/default/(\w+)(?:/([^/]+))?(?:/(status|log))?$")


def selects(selector, labels):
    """Returns whether labels match "a=b,c in (d,e),f"."""
    for term in filter(None, re.split(r",(?![^(]*\))", selector)):
        match = re.fullmatch(r"\s*([^\s=!]+)(?:\s*==?\s*(\S+)|\s+in\s+\(([^)]*)\))?\s*", term)
        key, value, values = match.groups()
        wanted = [value] if value else [v.strip() for v in values.split(",")] if values else None
        if key not in labels or (wanted is not None and labels[key] not in wanted):
            return False
    return True


def selects_fields(selector, item):
    """Returns whether the object matches "a.b=c,d.e!=f"."""
    for term in filter(None, selector.split(",")):
        path, operator, value = re.fullmatch(r"([\w.]+)(!?==?)(.*)", term).groups()
        found = item
        for name in path.split("."):
            found = found.get(name, "") if isinstance(found, dict) else ""
        if (found == value) == operator.startswith("!"):
            return False
    return True


def merge(target, patch):
    """RFC 7386."""
    for key, value in patch.items():
        if value is None:
            target.pop(key, None)
        elif isinstance(value, dict):
            merge(target.setdefault(key, {}), value)
        else:
            target[key] = value


class Handler(JsonHandler):
    def fail(self, code, reason):
        self.answer(code, {"kind": "Status", "status": "Failure", "reason": reason, "message": reason, "code": code})

    def begin(self):
        """Returns (resource, name, sub-resource, query, body), or None for an unsupported API."""
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else {}
        url = urllib.parse.urlsplit(self.path)
        match = PATH.match(urllib.parse.unquote(url.path))
        if not match or match.group(1) not in KINDS:
            self.fail(404, "NotFound")
            return None
        return (*match.groups(), dict(urllib.parse.parse_qsl(url.query)), body)

    def do_GET(self):
        begun = self.begin()
        if not begun:
            return
        resource, name, part, query, _ = begun
        if name and part == "log":
            self.answer(200, "")
        elif name:
            with self.server.lock:
                item = self.server.objects.get((resource, name))
            self.answer(200, item) if item else self.fail(404, "NotFound")
        elif query.get("watch") in ("true", "1"):
            self.watch(resource, query)
        else:
            with self.server.lock:
                items = [i for (r, _), i in self.server.objects.items() if r == resource and self.wanted(i, query)]
                self.answer(200, {"kind": KINDS[resource] + "List", "apiVersion": "v1",
                                  "metadata": {"resourceVersion": str(len(self.server.changes))}, "items": items})

    @staticmethod
    def wanted(item, query):
        return (selects(query.get("labelSelector", ""), item["metadata"].get("labels", {})) and
                selects_fields(query.get("fieldSelector", ""), item))

    def watch(self, resource, query):
        at = int(query.get("resourceVersion") or 0)
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        until = time.monotonic() + float(query.get("timeoutSeconds") or 300)
        try:
            while time.monotonic() < until and not self.server.ending:
                with self.server.lock:
                    if at >= len(self.server.changes):
                        self.server.lock.wait(0.5)
                    news, at = self.server.changes[at:], len(self.server.changes)
                for kind, of, text, labels in news:
                    if of == resource and selects(query.get("labelSelector", ""), labels):
                        line = f'{{"type":"{kind}","object":{text}}}\n'.encode()
                        self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            self.close_connection = True

    def do_POST(self):
        begun = self.begin()
        if not begun:
            return
        resource, _, _, _, item = begun
        metadata = item.setdefault("metadata", {})
        metadata.update(uid=str(uuid.uuid4()), namespace="default", creationTimestamp=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
        if resource == "pods":
            item["status"] = {"phase": "Pending"}
        with self.server.lock:
            exists = (resource, metadata["name"]) in self.server.objects
            if not exists:
                self.server.objects[resource, metadata["name"]] = item
                self.server.change("ADDED", resource, item)
        self.fail(409, "AlreadyExists") if exists else self.answer(201, item)

    def do_PATCH(self):
        begun = self.begin()
        if not begun:
            return
        resource, name, _, _, patch = begun
        with self.server.lock:
            item = self.server.objects.get((resource, name))
            if item:
                merge(item, patch)
                self.server.change("MODIFIED", resource, item)
        self.answer(200, item) if item else self.fail(404, "NotFound")

    do_PUT = do_PATCH

    def do_DELETE(self):
        begun = self.begin()
        if not begun:
            return
        resource, name, _, query, body = begun
        uid = body.get("preconditions", {}).get("uid")
        with self.server.lock:
            found = [key for key, item in self.server.objects.items() if key[0] == resource and
                     (key[1] == name if name else self.wanted(item, query)) and uid in (None, item["metadata"]["uid"])]
            for key in found:
                self.server.change("DELETED", resource, self.server.objects.pop(key))
        self.fail(404, "NotFound") if name and not found else self.answer(200, {"kind": "Status", "status": "Success"})


class PodApiServer(LocalServer):
    request_queue_size = 64

    def __init__(self):
        super().__init__(Handler)
        self.objects, self.changes = {}, []
        self.lock = threading.Condition()

    def change(self, kind, resource, item):
        """Sets the object's version and notifies watches. The caller holds the lock."""
        item["metadata"]["resourceVersion"] = str(len(self.changes) + 1)
        self.changes.append((kind, resource, json.dumps(item), item["metadata"].get("labels", {})))
        self.lock.notify_all()

    def ask(self, path, method="GET", body=None, content_type="application/json"):
        """Returns the reply as JSON. Raises HTTPError unless the status is 2xx."""
        request = urllib.request.Request(self.url + path, method=method, data=None if body is None else json.dumps(body).encode(),
                                         headers={"Content-Type": content_type})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read())

    def found(self, path):
        try:
            return self.ask(path)
        except (OSError, urllib.error.HTTPError):
            return None
