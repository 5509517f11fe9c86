"""A fake REST server of a standalone master, for tests of clients. It speaks the JSON of protocol v1, records requests, and
fails as the test configures."""
import json
import socket
import threading
import time

VERSION = "4.3.0"
WORKER = {"workerId": "worker-1", "workerHostPort": "192.0.2.7:7078"}


def wait_for(what, seconds=60):
    """Waits until @what() returns a true value, and returns it. The long timeout is for stalled machines."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = what()
        if found:
            return found
        time.sleep(0.01)
    raise AssertionError("what was waited for did not happen")


def message(action, **fields):
    return json.dumps({"action": action, "serverSparkVersion": VERSION, **fields}).encode()


def http(body, status=200, kind="application/json;charset=utf-8", length=None, **headers):
    """The bytes of a reply."""
    lines = [f"HTTP/1.1 {status} Whatever", f"Content-Length: {len(body) if length is None else length}"]
    lines += [f"Content-Type: {kind}"] if kind else []
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


class Request:
    def __init__(self, method, path, headers, body):
        self.method, self.path, self.headers, self.body = method, path, headers, body

    def json(self):
        return json.loads(self.body)


class RestServer:
    """
    Serves on loopback until stop(). Status requests get the values of `states` in order, then always the last. `answer`
    (request → bytes, None to close, or NotImplemented) may replace any reply. `requests` are the received requests.
    """

    def __init__(self, port=0, states=("RUNNING",), standby=False, answer=None, host="127.0.0.1", submission="driver-7"):
        self.states, self.standby, self.answer, self.submission = list(states), standby, answer, submission
        self.requests, self.connections, self.open = [], 0, []
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.listener = socket.socket(family, socket.SOCK_STREAM)
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind((host, port))
        self.listener.listen(16)
        self.port = self.listener.getsockname()[1]
        self.address = f"[{host}]:{self.port}" if ":" in host else f"{host}:{self.port}"
        self.url = f"spark://{self.address}"
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        for s in [self.listener, *self.open]:
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            s.close()

    def asked(self, part):
        return [r for r in self.requests if part in r.path]

    def _accept(self):
        while True:
            try:
                connection = self.listener.accept()[0]
            except OSError:
                return
            self.connections += 1
            self.open.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        try:
            stream = connection.makefile("rb")
            while True:
                words = stream.readline().decode().split()
                if len(words) != 3:
                    break
                headers = {}
                for line in iter(stream.readline, b"\r\n"):
                    name, _, value = line.decode().partition(":")
                    headers[name.lower()] = value.strip()
                request = Request(words[0], words[1], headers, stream.read(int(headers.get("content-length", 0))))
                self.requests.append(request)
                answer = self.answer(request) if self.answer else NotImplemented
                if answer is NotImplemented:
                    answer = http(self._usual(request))
                if answer is None:
                    break
                connection.sendall(answer)
                if b"\r\nConnection: close" in answer:
                    break
        except (OSError, ValueError):
            pass
        connection.close()

    def _usual(self, request):
        action, _, driver = request.path.removeprefix("/v1/submissions/").partition("/")
        if self.standby:
            text = "Current state is not alive: STANDBY. Can only accept driver submissions in ALIVE state."
            kind = {"create": "CreateSubmissionResponse", "kill": "KillSubmissionResponse"}
            return message(kind.get(action, "SubmissionStatusResponse"), success=False, message=text,
                           **({} if action == "create" else {"submissionId": driver}))
        if action == "create":
            return message("CreateSubmissionResponse", success=True, submissionId=self.submission,
                           message=f"Driver successfully submitted as {self.submission}")
        known = driver == self.submission
        if action == "kill":
            text = f"Kill request for {driver} submitted" if known else \
                f"Driver {driver} has already finished or does not exist"
            return message("KillSubmissionResponse", success=known, submissionId=driver, message=text)
        if not known:
            return message("SubmissionStatusResponse", success=False, submissionId=driver)
        state = self.states.pop(0) if len(self.states) > 1 else self.states[0]
        if state is None:
            return message("SubmissionStatusResponse", success=False, submissionId=driver)
        worker = WORKER if state not in ("SUBMITTED",) else {}
        return message("SubmissionStatusResponse", success=True, submissionId=driver, driverState=state, **worker)
