"""A namenode's WebHDFS that authenticates clients by SPNEGO, with MIT's GSSAPI and the key of HTTP/localhost."""
import base64
import ctypes
import ctypes.util
import http.server
import json
import threading
import urllib.parse


class Buffer(ctypes.Structure):
    _fields_ = [("length", ctypes.c_size_t), ("value", ctypes.c_void_p)]


def load():
    gss = ctypes.CDLL("libgssapi_krb5.so.2")
    pointer, number = ctypes.c_void_p, ctypes.c_uint32
    buffer = ctypes.POINTER(Buffer)
    out = ctypes.POINTER(ctypes.c_void_p)
    gss.gss_accept_sec_context.argtypes = [ctypes.POINTER(number), out, pointer, buffer, pointer, out, pointer, buffer,
                                           pointer, pointer, pointer]
    gss.gss_display_name.argtypes = [ctypes.POINTER(number), pointer, buffer, pointer]
    return gss


GSS = load()


def accept(token):
    """Return the user that sent this token and the answer to it. The user is None for an invalid token."""
    minor, context, name = ctypes.c_uint32(), ctypes.c_void_p(), ctypes.c_void_p()
    kept = ctypes.create_string_buffer(token, len(token))
    given, answer, text = Buffer(len(token), ctypes.cast(kept, ctypes.c_void_p)), Buffer(), Buffer()
    major = GSS.gss_accept_sec_context(ctypes.byref(minor), ctypes.byref(context), None, ctypes.byref(given), None,
                                       ctypes.byref(name), None, ctypes.byref(answer), None, None, None)
    if major != 0:
        return None
    assert GSS.gss_display_name(ctypes.byref(minor), name, ctypes.byref(text), None) == 0
    return ctypes.string_at(text.value, text.length).decode(), ctypes.string_at(answer.value, answer.length)


class Namenode:
    """Serves `files` by name to authenticated clients only. `users` are their names. New files go to its datanode,
    which does not authenticate clients, but requires the ticket in the namenode's redirection."""

    def __init__(self, files):
        self.users = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self, status, body, *headers):
                self.send_response(status)
                for name, value in headers:
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def body(self):
                if "chunked" not in self.headers.get("Transfer-Encoding", ""):
                    return self.rfile.read(int(self.headers.get("Content-Length") or 0))
                data = b""
                while size := int(self.rfile.readline(), 16):
                    data += self.rfile.read(size)
                    self.rfile.readline()
                self.rfile.readline()
                return data

            def do_PUT(self):
                body, url = self.body(), urllib.parse.urlparse(self.path)
                if url.path.startswith("/datanode/"):
                    good = "delegation=of-the-namenode" in url.query and "Authorization" not in self.headers
                    files[url.path.removeprefix("/datanode/")] = body
                    self.answer(201 if good else 401, b"")
                    return
                self.act(url)

            def do_GET(self):
                self.act(urllib.parse.urlparse(self.path))

            def act(self, url):
                kind, _, token = self.headers.get("Authorization", "").partition(" ")
                proof = accept(base64.b64decode(token)) if kind == "Negotiate" else None
                if not proof:
                    self.answer(401, b"", ("WWW-Authenticate", "Negotiate"))
                    return
                outer.users.append(proof[0])
                back = ("WWW-Authenticate", "Negotiate " + base64.b64encode(proof[1]).decode())
                if "op=CREATE" in url.query:
                    name = url.path.removeprefix("/webhdfs/v1/")
                    self.answer(307, b"", back, ("Location", f"http://{outer.address}/datanode/{name}?delegation=of-the-namenode"))
                    return
                content = files.get(url.path.removeprefix("/webhdfs/v1/"))
                if content is None:
                    self.answer(404, b"{}", back)
                elif "op=OPEN" in url.query:
                    self.answer(200, content, back)
                else:
                    status = {"type": "FILE", "length": len(content), "modificationTime": 1, "pathSuffix": ""}
                    self.answer(200, json.dumps({"FileStatus": status}).encode(), back)

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"localhost:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()

    def end(self):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()
