"""A fake store for files: a web server, a namenode with its datanode, and an S3 store in one."""
import hashlib

from local_server import LocalServer, QuietHandler


class Depot(LocalServer):
    """Serves its files with GET, and stores files as a namenode with its datanode, and as an S3 store."""

    def __init__(self, address="127.0.0.1"):
        super().__init__(DepotHandler, address)
        self.files, self.parts, self.asked, self.busy, self.broken = {}, {}, [], 0, False


class DepotHandler(QuietHandler):
    def body(self):
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        data = b""
        while True:
            size = int(self.rfile.readline(), 16)
            data += self.rfile.read(size)
            self.rfile.readline()
            if not size:
                return data

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def act(self):
        depot, (path, _, query) = self.server, self.path.partition("?")
        body = self.body()
        depot.asked.append((self.command, self.path))
        if self.command in ("GET", "HEAD"):
            found = depot.files.get(path)
            return self.answer(200, found) if found is not None else self.answer(404)
        if path.startswith("/webhdfs/v1") and "op=CREATE" in query:
            return self.answer(307, Location=f"{depot.url}/datanode{path}?delegation=ticket&x y")
        if path.startswith("/webhdfs/v1"):
            return self.answer(200, b'{"boolean": true}')
        if path.startswith("/datanode"):
            if depot.broken:
                return self.answer(500, b'{"RemoteException": {"exception": "IOException", "message": "disk is full"}}')
            depot.files[path[len("/datanode"):]] = body
            return self.answer(201)
        return self.s3(path, query, body)

    def s3(self, path, query, body):
        depot = self.server
        assert self.headers["x-amz-content-sha256"] == hashlib.sha256(body).hexdigest()
        assert "AWS4-HMAC-SHA256 Credential=me/" in self.headers["Authorization"]
        if depot.busy:
            depot.busy -= 1
            return self.answer(503, b"<Error><Code>SlowDown</Code><Message>Please reduce your rate</Message></Error>")
        if depot.broken:
            return self.answer(403, b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>")
        if query == "uploads=":
            return self.answer(200, b"<X><UploadId>a/b=</UploadId></X>")
        if query.startswith("partNumber"):
            assert query.endswith("&uploadId=a%2Fb%3D")
            depot.parts[query.split("=")[1].split("&")[0]] = body
            return self.answer(200, ETag=f'"{len(depot.parts)}"')
        if query == "uploadId=a%2Fb%3D" and self.command == "POST":
            expected = "".join(f'<Part><PartNumber>{n}</PartNumber><ETag>"{n}"</ETag></Part>' for n in depot.parts)
            assert expected in body.decode()
            body = b"".join(depot.parts.values())
        if self.command == "DELETE":
            return self.answer(204)
        depot.files[path] = body
        return self.answer(200, ETag='"1"')

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = act


def s3_settings(depot):
    """Spark's settings for an S3 client of this server."""
    return [f"spark.hadoop.fs.s3a.{name}={value}" for name, value in
            {"endpoint": depot.url, "access.key": "me", "secret.key": "mine", "multipart.size": "5m"}.items()]
