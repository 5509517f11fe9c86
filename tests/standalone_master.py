"""The REST server of a fake standalone master."""
import http.server
import json
import threading


class Master:
    """A standalone master's REST server. Each status request advances the driver's state."""

    def __init__(self):
        self.lock = threading.Lock()
        self.drivers = {}
        self.requests = []
        self.held = set()  # drivers that stay RUNNING
        master = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self, body):
                data = json.dumps({"serverSparkVersion": "4.3.0", **body}).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                with master.lock:
                    if self.path.endswith("/create"):
                        self.answer(master.create(json.loads(body)))
                    else:
                        self.answer(master.kill(self.path.rsplit("/", 1)[1]))

            def do_GET(self):
                with master.lock:
                    self.answer(master.status(self.path.rsplit("/", 1)[1]))

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            request_queue_size = 128
            daemon_threads = True

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"spark://127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05})
        self.thread.start()

    def create(self, request):
        self.requests.append(request)
        if "refuse" in request["appArgs"]:
            return {"action": "CreateSubmissionResponse", "success": False, "message": "no room here"}
        driver = f"driver-20261122101500-{len(self.drivers):04d}"
        end = "FAILED" if "fail" in request["appArgs"] else "FINISHED"
        self.drivers[driver] = ["SUBMITTED", "RUNNING", end]
        if "hold" in request["appArgs"]:
            self.held.add(driver)
        return {"action": "CreateSubmissionResponse", "success": True, "submissionId": driver,
                "message": f"Driver successfully submitted as {driver}"}

    def status(self, driver):
        if driver not in self.drivers:
            return {"action": "SubmissionStatusResponse", "success": False, "submissionId": driver}
        states = self.drivers[driver]
        if len(states) > 1 and not (states[0] == "RUNNING" and driver in self.held):
            states.pop(0)
        return {"action": "SubmissionStatusResponse", "success": True, "submissionId": driver, "driverState": states[0]}

    def kill(self, driver):
        known = driver in self.drivers
        if known:
            self.drivers[driver] = ["KILLED"]
        return {"action": "KillSubmissionResponse", "success": known, "submissionId": driver,
                "message": f"Kill request for {driver} submitted" if known else f"Driver {driver} has already finished"}

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()
