"""Watches the pods of a test's cluster."""
import json
import threading
import urllib.request

from cluster import TIMEOUT

PODS = "/api/v1/namespaces/default/pods"


class PodWatch(threading.Thread):
    """Calls take(kind, pod) on its own thread for every change of every pod, from its creation to the end of its `with`."""

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
        except BaseException as e:  # raised by __exit__
            self.broken = e

    def watch(self):
        request = urllib.request.Request(f"{self.cluster.url}{PODS}?watch=1&resourceVersion={self.version}&timeoutSeconds=2")
        with urllib.request.urlopen(request, context=self.cluster.context(), timeout=TIMEOUT) as stream:
            for line in stream:
                event = json.loads(line)
                self.version = event["object"]["metadata"]["resourceVersion"]
                self.take(event["type"], event["object"])
