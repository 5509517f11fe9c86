"""HTTP servers of the tests: on loopback, each with a thread of its own while a `with` statement runs."""
import http.server
import json
import sys
import threading


class LocalServer(http.server.ThreadingHTTPServer):
    """Serves between enter and exit. Handlers that wait look at `ending`."""
    daemon_threads = True
    ending = False

    def __init__(self, handler, address="127.0.0.1", port=0):
        super().__init__((address, port), handler)
        self.url = f"http://{address}:{self.server_port}"

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], OSError):  # clients may disconnect at any time
            super().handle_error(request, client_address)

    def __enter__(self):
        self.thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ending = True
        self.shutdown()
        self.server_close()
        self.thread.join()


class QuietHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass


class JsonHandler(QuietHandler):
    def answer(self, status, body, kind="application/json"):
        """Answers with an object as JSON, or with a text as it is."""
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
