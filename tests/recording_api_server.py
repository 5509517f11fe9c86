"""A Kubernetes API server that records created objects, for submissions that do not wait, and for their files."""
import json
import threading
import uuid

from local_server import JsonHandler, LocalServer


class Handler(JsonHandler):
    def keep(self):
        text = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        item = json.loads(text)
        item.setdefault("metadata", {}).setdefault("uid", str(uuid.uuid4()))
        with self.server.lock:
            self.server.objects[item["kind"], item["metadata"]["name"]] = item
        self.answer(201, item)

    do_POST = do_PUT = do_PATCH = keep

    def do_GET(self):
        self.answer(404, {"kind": "Status", "status": "Failure", "reason": "NotFound", "code": 404})


class RecordingApiServer(LocalServer):
    """with RecordingApiServer() as server: server.url, server.of_kind("Pod")"""

    def __init__(self):
        super().__init__(Handler)
        self.objects, self.lock = {}, threading.Lock()

    def of_kind(self, kind):
        with self.lock:
            return [item for (own, _), item in self.objects.items() if own == kind]

    def properties(self):
        """The spark.properties of the newest driver."""
        text = [item["data"]["spark.properties"] for item in self.of_kind("ConfigMap")
                if "spark.properties" in item.get("data", {})][-1]
        lines = (line.split("=", 1) for line in text.splitlines() if "=" in line and not line.startswith("#"))
        return {key: value.replace("\\:", ":").replace("\\=", "=") for key, value in lines}

    def words(self, *words):
        """The arguments of spark-submit for a submission to it."""
        return ["--master", f"k8s://{self.url}", "--deploy-mode", "cluster", "--name", "pi", "--class", "org.example.Pi",
                "--conf", "spark.kubernetes.container.image=spark:1",
                "--conf", "spark.kubernetes.submission.waitAppCompletion=false", *words, "local:///opt/pi.jar"]
