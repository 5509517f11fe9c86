"""The staging directory of YARN in an S3 bucket: what is uploaded, and how the containers' files are registered."""
import http.server
import pathlib
import sys
import threading
import urllib.parse
from xml.sax.saxutils import escape

import pytest

sys.path.append(str(pathlib.Path(__file__).resolve().parent / "yarn"))
from fake_yarn import FakeYarn  # noqa: E402
from yarn_test import PI, Submit  # noqa: E402

TIME, ISO_TIME, TIME_MS = "Tue, 14 Nov 2023 22:13:20 GMT", "2023-11-14T22:13:20.000Z", 1700000000000


class Bucket(http.server.ThreadingHTTPServer):
    """An anonymous S3 bucket in memory: `objects` by key, `removed` keys."""

    def __init__(self):
        self.objects, self.removed = {}, []
        bucket = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def key(self):
                return urllib.parse.unquote(urllib.parse.urlsplit(self.path).path).removeprefix("/bucket").removeprefix("/")

            def answer(self, status, body=b"", length=None):
                self.send_response(status)
                self.send_header("Content-Length", str(len(body) if length is None else length))
                self.send_header("Last-Modified", TIME)
                self.send_header("ETag", '"x"')
                self.end_headers()
                self.wfile.write(b"" if self.command == "HEAD" else body)

            def do_GET(self):
                query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
                if "list-type" in query:
                    prefix = query.get("prefix", [""])[0]
                    found = "".join(f"<Contents><Key>{escape(key)}</Key><LastModified>{ISO_TIME}</LastModified><Size>{len(data)}</Size>"
                                    "</Contents>" for key, data in sorted(bucket.objects.items()) if key.startswith(prefix))
                    self.answer(200, f"<ListBucketResult><IsTruncated>false</IsTruncated>{found}</ListBucketResult>".encode())
                elif self.key() in bucket.objects:
                    self.answer(200, bucket.objects[self.key()])
                else:
                    self.answer(404)

            do_HEAD = do_GET

            def do_PUT(self):
                bucket.objects[self.key()] = self.rfile.read(int(self.headers["Content-Length"]))
                self.answer(200)

            def do_DELETE(self):
                bucket.objects.pop(self.key(), None)
                bucket.removed.append(self.key())
                self.answer(204)

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()
        self.conf = (f"spark.hadoop.fs.s3a.endpoint=http://127.0.0.1:{self.server_port}",
                     "spark.hadoop.fs.s3a.path.style.access=true", "spark.hadoop.fs.s3a.endpoint.region=us-east-1",
                     "spark.hadoop.fs.s3a.aws.credentials.provider=org.apache.hadoop.fs.s3a.AnonymousAWSCredentialsProvider")


@pytest.fixture
def bucket():
    with Bucket() as made:
        yield made
        made.shutdown()


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


def test_staging_in_a_bucket(tmp_path, cache, bucket):
    with FakeYarn(tmp_path / "yarn") as yarn:
        submit = Submit(tmp_path, cache, yarn)
        (tmp_path / "data.txt").write_text("data")
        done = submit.run("--files", "data.txt#alias.txt", PI, cluster=True, conf=(
            *bucket.conf, "spark.yarn.stagingDir=s3a://bucket/staging", "spark.yarn.submit.waitAppCompletion=false",
            "spark.yarn.preserve.staging.files=true"))
        assert done.returncode == 0, done.stderr
        app = yarn.last()
        folder = f"staging/alice/.sparkStaging/{app.name}"
        for name in ("data.txt", "__spark_conf__.zip", "spark_pi.so"):
            assert f"{folder}/{name}" in bucket.objects, sorted(bucket.objects)
        files = {r.key: r.value for r in app.context.am_container_spec.local_resources}
        for link, name in (("alias.txt", "data.txt"), ("__spark_conf__", "__spark_conf__.zip"), ("spark_pi.so", "spark_pi.so")):
            url = files[link].resource
            assert (url.scheme, url.host, url.file) == ("s3a", "bucket", f"/{folder}/{name}")
            assert files[link].size == len(bucket.objects[f"{folder}/{name}"]) and files[link].timestamp == TIME_MS
