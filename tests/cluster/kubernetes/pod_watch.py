"""What happens to the pods of a test's cluster, as its API server tells it."""
import json
import threading
import urllib.request

from cluster import TIMEOUT

PODS = "/api/v1/namespaces/default/pods"


class PodWatch(threading.Thread):
    """Calls take(kind, pod) for every change of every pod, on its thread, from when it is made until its `with` ends."""

    def __init__(self, cluster):
        super().__init__(daemon=True)
        self.cluster, self.broken, self.stopping = cluster, None, False
        listed = cluster.ask(PODS)
        self.version = listed["metadata"]["resourceVersion"]

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stopping = True
        self.join()
        if self.broken:
            raise self.broken

    def run(self):
        try:
            while not self.stopping:
                self.watch()
        except BaseException as e:  # told by __exit__
            self.broken = e

    def watch(self):
        request = urllib.request.Request(f"{self.cluster.url}{PODS}?watch=1&resourceVersion={self.version}&timeoutSeconds=2")
        with urllib.request.urlopen(request, context=self.cluster.context(), timeout=TIMEOUT) as stream:
            for line in stream:
                event = json.loads(line)
                self.version = event["object"]["metadata"]["resourceVersion"]
                self.take(event["type"], event["object"])
