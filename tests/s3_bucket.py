"""An S3 bucket in memory, for tests of remote files."""
import http.server
import threading
import urllib.parse
from xml.sax.saxutils import escape

TIME, ISO_TIME, TIME_MS = "Tue, 14 Nov 2023 22:13:20 GMT", "2023-11-14T22:13:20.000Z", 1700000000000


class Bucket(http.server.ThreadingHTTPServer):
    """An anonymous S3 bucket in memory: `objects` by key, `removed` keys. Refuses to store more with the status `refuses` if it is set. Closes
    the connection of the next `drops` requests to store without an answer. Reading a key of `slow` waits for its event,
    and so does storing a key that contains the text of `held`, a pair of text and event; `waiting` counts these. Ignores If-None-Match unless
    `conditions` is set. `uploads`: ids of incomplete multipart uploads by key."""

    def __init__(self):
        self.objects, self.removed, self.slow, self.refuses, self.drops = {}, [], {}, 0, 0
        self.held, self.waiting, self.conditions, self.uploads = None, 0, True, {}
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

            def answer_object(self, data):
                """The whole object, or the range "bytes=FIRST-[LAST]" of it."""
                first, _, last = self.headers.get("Range", "").removeprefix("bytes=").partition("-")
                if not first:
                    self.answer(200, data)
                elif int(first) >= len(data):
                    self.answer(416)
                else:
                    self.answer(206, data[int(first):int(last) + 1 if last else len(data)])

            def do_GET(self):
                query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query, keep_blank_values=True)
                if "uploads" in query:
                    found = "".join(f"<Upload><Key>{escape(key)}</Key><UploadId>{escape(id)}</UploadId></Upload>"
                                    for key, id in sorted(bucket.uploads.items()) if key.startswith(query["prefix"][0]))
                    self.answer(200, f"<ListMultipartUploadsResult>{found}</ListMultipartUploadsResult>".encode())
                elif "list-type" in query:
                    prefix, ends = query.get("prefix", [""])[0], query.get("delimiter", ["\0"])[0]
                    below = {key for key in bucket.objects if key.startswith(prefix) and ends in key[len(prefix):]}
                    folders = {prefix + key[len(prefix):].split(ends)[0] + ends for key in below}
                    found = "".join(f"<CommonPrefixes><Prefix>{escape(key)}</Prefix></CommonPrefixes>" for key in sorted(folders))
                    found += "".join(f"<Contents><Key>{escape(key)}</Key><LastModified>{ISO_TIME}</LastModified><Size>{len(data)}</Size>"
                                    "</Contents>" for key, data in sorted(bucket.objects.items()) if key.startswith(prefix) and key not in below)
                    self.answer(200, f"<ListBucketResult><IsTruncated>false</IsTruncated>{found}</ListBucketResult>".encode())
                elif self.key() in bucket.objects:
                    if self.command == "GET" and self.key() in bucket.slow:
                        bucket.slow[self.key()].wait(60)
                    self.answer_object(bucket.objects[self.key()])
                else:
                    self.answer(404)

            do_HEAD = do_GET

            def do_PUT(self):
                source = urllib.parse.unquote(self.headers.get("x-amz-copy-source", "")).removeprefix("/").removeprefix("bucket/")
                data = bucket.objects.get(source) if source else self.rfile.read(int(self.headers["Content-Length"]))
                if data is None:
                    return self.answer(404)
                if bucket.drops > 0:
                    bucket.drops -= 1
                    self.close_connection = True
                    return None
                if bucket.refuses:
                    return self.answer(bucket.refuses)
                if self.headers.get("If-None-Match") == "*" and bucket.conditions and self.key() in bucket.objects:
                    return self.answer(412)
                if bucket.held and bucket.held[0] in self.key():
                    bucket.waiting += 1
                    bucket.held[1].wait(60)
                bucket.objects[self.key()] = data
                return self.answer(200, "<CopyObjectResult><ETag>x</ETag></CopyObjectResult>".encode() if source else b"")

            def do_DELETE(self):
                query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
                if "uploadId" in query:
                    ended = bucket.uploads.get(self.key()) == query["uploadId"][0] and bucket.uploads.pop(self.key())
                    return self.answer(204 if ended else 404)
                bucket.objects.pop(self.key(), None)
                bucket.removed.append(self.key())
                return self.answer(204)

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()
        self.conf = (f"spark.hadoop.fs.s3a.endpoint=http://127.0.0.1:{self.server_port}",
                     "spark.hadoop.fs.s3a.path.style.access=true", "spark.hadoop.fs.s3a.endpoint.region=us-east-1",
                     "spark.hadoop.fs.s3a.aws.credentials.provider=org.apache.hadoop.fs.s3a.AnonymousAWSCredentialsProvider")
