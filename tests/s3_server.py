"""Versity's S3 gateway over a folder, a real server that verifies the signature of every request, for tests and benchmarks.

Needs Go. The server is built once from Go's module proxy into ~/.cache/firesteel-check-s3, which takes some minutes. Go
compares what it downloads with sum.golang.org; the sum of the server itself stands below.
"""
import datetime
import hashlib
import hmac
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

from download_cache import download_cache

MODULE, VERSION, SUM = "github.com/versity/versitygw", "v1.8.0", "h1:au+wI+aybno/STsQiSm35Uu6Q6iK5MWReQxgO6SEMFc="
REGION = "eu-west-3"
ROOT = ("root-of-the-store", "its/secret+key")
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
TIMEOUT = 60


def is_genuine(program):
    """Whether it was built from that version, with that sum."""
    said = subprocess.run(["go", "version", "-m", program], capture_output=True, text=True, check=True).stdout
    return f"\tmod\t{MODULE}\t{VERSION}\t{SUM}\n" in said


def build_server():
    folder = download_cache("check-s3")
    program = os.path.join(folder, f"versitygw-{VERSION}")
    if not os.path.exists(program):
        print("building Versity's S3 gateway (once, some minutes)", flush=True)
        os.makedirs(folder, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as work:
            environment = {k: v for k, v in os.environ.items() if k not in ("GONOSUMDB", "GONOSUMCHECK", "GOPRIVATE", "GOSUMDB")}
            environment.update(GOBIN=work, GOPATH=os.path.join(work, "go"), GOFLAGS="-modcacherw -trimpath", GOWORK="off",
                               GOMODCACHE=os.path.join(work, "modules"))
            subprocess.run(["go", "install", f"{MODULE}/cmd/versitygw@{VERSION}"], check=True, env=environment, cwd=work)
            os.rename(os.path.join(work, "versitygw"), program)
    if not is_genuine(program):
        sys.exit(f"FAILED: {program} was not built from {MODULE} {VERSION} with the sum {SUM}: remove it")
    return program


def request(method, url, credentials, body=b""):
    """A request signed as Amazon describes it (version 4), by code that has nothing to do with ours."""
    parts = urllib.parse.urlparse(url)
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    scope = f"{now[:8]}/{REGION}/s3/aws4_request"
    digest = hashlib.sha256(body).hexdigest()
    headers = {"host": parts.netloc, "x-amz-content-sha256": digest, "x-amz-date": now}
    names = ";".join(headers)
    canonical = "\n".join([method, parts.path, parts.query, *(f"{k}:{v}" for k, v in headers.items()), "", names, digest])
    text = "\n".join(["AWS4-HMAC-SHA256", now, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    key = f"AWS4{credentials[1]}".encode()
    for word in scope.split("/"):
        key = hmac.new(key, word.encode(), hashlib.sha256).digest()
    signature = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
    del headers["host"]
    headers["Authorization"] = (f"AWS4-HMAC-SHA256 Credential={credentials[0]}/{scope}, SignedHeaders={names}, "
                                f"Signature={signature}")
    OPENER.open(urllib.request.Request(url, data=body or None, method=method, headers=headers), timeout=60).close()


class Store:
    """The server, with one bucket, `depot`, that belongs to ROOT. `flags`: further flags of its posix backend."""

    def __init__(self, folder, *flags):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        self.url, self.folder = f"http://127.0.0.1:{self.port}", folder
        self.log = os.path.join(folder, "server.log")
        for name in ("objects", "iam", "sidecar"):
            os.mkdir(os.path.join(folder, name))
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("VGW_", "AWS_", "ROOT_"))}
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [build_server(), "--access", ROOT[0], "--secret", ROOT[1], "--region", REGION, "--port",
                 f"127.0.0.1:{self.port}", "--iam-dir", os.path.join(folder, "iam"), "posix", *flags,
                 "--sidecar", os.path.join(folder, "sidecar"), os.path.join(folder, "objects")],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment)

    def text(self):
        with open(self.log, encoding="utf-8", errors="replace") as log:
            return log.read()[-3000:]

    def wait(self):
        end = time.monotonic() + TIMEOUT
        while True:
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"the server does not start:\n{self.text()}")
            try:
                request("PUT", f"{self.url}/depot", ROOT)
                return
            except urllib.error.HTTPError as error:
                raise RuntimeError(f"the server refuses to make a bucket: {error.read()}") from None
            except OSError:
                time.sleep(0.1)

    def put(self, key, content):
        request("PUT", f"{self.url}/depot/{urllib.parse.quote(key)}", ROOT, content)

    def __enter__(self):
        try:
            self.wait()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
