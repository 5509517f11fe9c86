"""The REST interfaces of tests/yarn/fake_yarn.py: of the ResourceManager, and of each NodeManager for logs of containers."""
import http.server
import json
import os
import re
import threading
import urllib.error
import urllib.parse
import urllib.request

STATES = ("", "NEW", "NEW_SAVING", "SUBMITTED", "ACCEPTED", "RUNNING", "FINISHED", "FAILED", "KILLED")
FINAL = ("UNDEFINED", "SUCCEEDED", "FAILED", "KILLED", "ENDED")

OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # no proxy stands before loopback


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        if url.path.startswith("/proxy/"):
            self.send_page(*self.server.proxy(url.path, url.query))
            return
        found = self.server.find(url.path, dict(urllib.parse.parse_qsl(url.query)))
        kind = "text/plain" if isinstance(found, bytes) else "application/json"
        if found is None or isinstance(found, int):  # a status
            self.send_response(found or 404)
            found = {"RemoteException": {"exception": "NotFoundException", "message": f"{url.path} is not found"}}
        else:
            self.send_response(200)
        body = found if isinstance(found, bytes) else json.dumps(found).encode()
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def send_page(self, status, kind, body):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, host, find):
        super().__init__((host, 0), Handler)
        self.find, self.port = find, self.server_address[1]
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def close(self):
        self.shutdown()
        self.server_close()


class FakeYarnWeb:
    def __init__(self, yarn):
        self.yarn = yarn
        self.server = Server("127.0.0.1", self.find)
        self.server.proxy = self.proxy
        self.port, self.close = self.server.port, self.server.close

    def serve_node(self, node):
        return Server(node.host, lambda path, query: self.find_of_node(node, path, query))

    # ------------------------------------------------------------------------------- the ResourceManager

    def proxy(self, path, query):
        """The page of an application, for the user dr.who. As Hadoop's proxy it follows redirects itself."""
        _, _, name, page = path.split("/", 3)
        with self.yarn.lock:
            app = self.yarn.applications.get(name)
        if not app or not app.tracking_url:
            return 404, "text/plain", b"no such application"
        url = f"{app.tracking_url}/{page}{'?' if query else ''}{query}"
        request = urllib.request.Request(url, headers={"Cookie": "proxy-user=dr.who"})
        try:
            with OPENER.open(request, timeout=10) as answer:
                return answer.status, answer.headers["Content-Type"], answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.headers["Content-Type"] or "text/plain", error.read()

    def find(self, path, _):
        if path == "/ws/v1/cluster/info":
            return {"clusterInfo": {"haState": "ACTIVE"}}
        found = re.fullmatch(r"/ws/v1/cluster/apps/(application_\w+)(/appattempts(?:/(appattempt_\w+)/containers)?)?", path)
        with self.yarn.lock:
            app = self.yarn.applications.get(found[1]) if found else None
            if not app or app.state is None:
                return None
            if not found[2]:
                return {"app": self.application(app)}
            if not found[3]:
                return {"appAttempts": {"appAttempt": [self.attempt(a) for a in app.attempts]}}
            attempts = [a for a in app.attempts if a.name == found[3]]
            return {"container": [self.container(c) for a in attempts for c in (a.container, *a.containers)
                                  if c and not c.is_complete]}

    def application(self, app):
        return {"id": app.name, "user": app.user, "name": app.context.application_name, "state": STATES[app.state],
                "finalStatus": FINAL[app.final_status], "diagnostics": app.diagnostics}

    def attempt(self, attempt):
        container = attempt.container
        node = container.message.node_http_address if container else ""
        user = attempt.application.user
        return {"id": attempt.number, "appAttemptId": attempt.name, "containerId": container.name if container else "",
                "nodeHttpAddress": node, "logsLink": f"http://{node}/node/containerlogs/{container.name}/{user}" if node else ""}

    def container(self, container):
        node = container.message.node_http_address
        return {"containerId": container.name, "nodeHttpAddress": f"http://{node}", "containerState": "RUNNING",
                "assignedNodeId": f"{container.node.host}:{container.node.server.port}",
                "logUrl": f"http://{node}/node/containerlogs/{container.name}/{container.attempt.application.user}"}

    # --------------------------------------------------------------------------------------- a NodeManager

    def find_of_node(self, node, path, query):
        found = re.fullmatch(r"/ws/v1/node/containers/(container_\w+)/logs(?:/([^/]+))?", path)
        container = self.yarn.containers.get(found[1]) if found else None
        if not container or container.node is not node or not container.logs:
            return None
        if not found[2]:
            files = [{"fileName": name, "fileSize": str(os.path.getsize(os.path.join(container.logs, name)))}
                     for name in sorted(os.listdir(container.logs))]
            return {"containerLogsInfo": [{"containerLogInfo": files, "logAggregationType": "LOCAL",
                                           "containerId": container.name, "nodeId": node.host}]}
        try:
            with open(os.path.join(container.logs, found[2]), "rb") as file:
                data = file.read()
        except OSError:
            return None
        size = int(query.get("size", len(data)))
        part = data[:size] if size >= 0 else data[size:]
        banner = (f"Container: {container.name} on {node.host}:{node.server.port}\nLogAggregationType: LOCAL\n{'=' * 68}\n"
                  f"LogType:{found[2]}\nLogLastModifiedTime:Tue Nov 24 15:33:53 +0000 2026\nLogLength:{len(data)}\nLogContents:\n")
        return banner.encode() + part + f"End of LogType:{found[2]}.This log file belongs to a running container.\n".encode()
