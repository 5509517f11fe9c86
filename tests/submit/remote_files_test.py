"""Downloads of spark-submit over HTTPS, with trusted certificates, and over FTP, from local servers."""
import http.server
import json
import os
import shutil
import socket
import socketserver
import ssl
import subprocess
import threading

import pytest

from folders import BIN
from sanitizers import SANITIZED


def environment(folder, **more):
    kept = {k: v for k, v in os.environ.items()
            if not k.startswith(("SPARK_", "MASTER", "DEPLOY_MODE", "HADOOP_", "SSL_CERT", "CURL_CA"))
            and "proxy" not in k.lower()}
    return dict(kept, HOME=str(folder), SPARK_CONF_DIR=str(folder), TMPDIR=str(folder), **more)


def prepare(folder, *words, program=os.path.join(BIN, "spark-submit"), **more):
    """Returns the configuration with the downloaded files, or the error."""
    done = subprocess.run([program, "--dry-run", "--output", "json", "--class", "C", *words], cwd=folder,
                          env=environment(folder, **more), capture_output=True, text=True, timeout=120, check=False)
    said = json.loads(done.stdout)
    assert (done.returncode, "error" in said) in ((0, False), (1, True)), done.stderr
    return said


# ---------------------------------------------------------------------------------------------------------------- HTTPS


def openssl(folder, *words):
    subprocess.run(["openssl", *words], cwd=folder, check=True, stdin=subprocess.DEVNULL, capture_output=True)


def make_authority(folder, name):
    openssl(folder, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.pem")


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    """A certificate for localhost from the test's own authority, and an unrelated authority."""
    folder = tmp_path_factory.mktemp("authority")
    make_authority(folder, "ours")
    make_authority(folder, "another")
    (folder / "names").write_text("subjectAltName=DNS:localhost\n")
    openssl(folder, "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=localhost",
            "-keyout", "server.key", "-out", "server.csr")
    openssl(folder, "x509", "-req", "-in", "server.csr", "-CA", "ours.pem", "-CAkey", "ours.key", "-CAcreateserial",
            "-days", "2", "-extfile", "names", "-out", "server.pem")
    return folder


class Handler(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        where = self.server.redirects.get(self.path)
        if not where:
            super().do_GET()
            return
        self.send_response(302)
        self.send_header("Location", where)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args):
        pass


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, *args):
        pass  # a client that does not trust it disconnects


@pytest.fixture
def serve(tmp_path, authority):
    """A function that serves a folder, over HTTPS or HTTP, and returns the server and its port."""
    running = []

    def start(folder, secure=True):
        server = Server(("127.0.0.1", 0), lambda *args: Handler(*args, directory=str(folder)))
        server.redirects = {}
        if secure:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(authority / "server.pem", authority / "server.key")
            server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        running.append((server, thread))
        return server, server.server_address[1]

    yield start
    for server, thread in running:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def root(tmp_path):
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "a.jar").write_bytes(b"jar")
    return tmp_path / "root"


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "CURL_CA_BUNDLE"])
def test_a_certificate_of_a_trusted_authority_is_taken(tmp_path, authority, serve, root, variable):
    _, port = serve(root)
    said = prepare(tmp_path, f"https://localhost:{port}/a.jar", **{variable: str(authority / "ours.pem")})
    assert said["classpath"][0].endswith("/a.jar"), said


def test_any_other_certificate_is_refused(tmp_path, authority, serve, root):
    _, port = serve(root)
    ours = {"SSL_CERT_FILE": str(authority / "ours.pem")}
    for url, trust, says in (
            (f"https://localhost:{port}/a.jar", {}, "certificate"),
            (f"https://localhost:{port}/a.jar", {"SSL_CERT_FILE": str(authority / "another.pem")}, "certificate"),
            (f"https://127.0.0.1:{port}/a.jar", ours, "127.0.0.1")):
        error = prepare(tmp_path, url, **trust)["error"]
        assert url in error and says in error.replace(url, ""), error
    assert [name for name in os.listdir(tmp_path) if name.startswith("spark-")] == []


def test_what_does_not_speak_tls_is_told(tmp_path, serve, root):
    _, port = serve(root, secure=False)
    assert f"https://localhost:{port}/a.jar" in prepare(tmp_path, f"https://localhost:{port}/a.jar")["error"]


def test_a_redirection_may_lead_to_https_but_not_away_from_it(tmp_path, authority, serve, root):
    secure, secure_port = serve(root)
    plain, plain_port = serve(root, secure=False)
    plain.redirects["/to.jar"] = f"https://localhost:{secure_port}/a.jar"
    secure.redirects["/from.jar"] = f"http://localhost:{plain_port}/a.jar"
    trust = {"SSL_CERT_FILE": str(authority / "ours.pem")}
    assert prepare(tmp_path, f"http://localhost:{plain_port}/to.jar", **trust)["classpath"][0].endswith("/to.jar")
    assert "/from.jar" in prepare(tmp_path, f"https://localhost:{secure_port}/from.jar", **trust)["error"]


def test_repositories_over_https(tmp_path, authority, serve):
    folder = tmp_path / "repository" / "g" / "a" / "1"
    folder.mkdir(parents=True)
    (folder / "a-1.pom").write_text("<project><groupId>g</groupId><artifactId>a</artifactId><version>1</version></project>")
    (folder / "a-1.jar").write_bytes(b"jar")
    (tmp_path / "app.jar").write_bytes(b"")
    _, port = serve(tmp_path / "repository")
    words = ["--packages", "g:a:1", "--repositories", f"https://localhost:{port}/", "app.jar"]
    more = {"DEFAULT_ARTIFACT_REPOSITORY": "file:/nowhere"}
    assert "unresolved dependency: g#a;1: not found" in prepare(tmp_path, *words, **more)["error"]
    said = prepare(tmp_path, *words, SSL_CERT_FILE=str(authority / "ours.pem"), **more)
    assert "/g_a-1.jar" in said["conf"]["spark.jars"]


# ------------------------------------------------------------------------------------------------------------------ FTP


class FtpHandler(socketserver.StreamRequestHandler):
    """As much of RFC 959 and 2428 as a download takes."""

    def say(self, line):
        self.wfile.write(f"{line}\r\n".encode())

    def handle(self):
        listener, user, folder = None, None, ""
        self.say("220 ready")
        for line in self.rfile:
            word, _, rest = line.decode().strip().partition(" ")
            content = self.server.files.get((folder + rest).lstrip("/"))
            if word == "USER":
                user = rest
                self.say("331 password")
            elif word == "PASS":
                good = (user, rest) == ("me", "secret") or user == "anonymous"
                self.say("230 in" if good else "530 no")
            elif word == "PWD":
                self.say('257 "/"')
            elif word == "CWD":
                folder += rest + "/"
                self.say("250 there")
            elif word == "TYPE":
                self.say("200 so")
            elif word == "EPSV":
                listener = socket.create_server(("127.0.0.1", 0))
                self.say(f"229 at (|||{listener.getsockname()[1]}|)")
            elif word == "SIZE":
                self.say(f"213 {len(content)}" if content is not None else "550 none")
            elif word == "RETR" and content is not None and listener:
                self.say("150 comes")
                connection, _ = listener.accept()
                connection.sendall(content)
                connection.close()
                listener.close()
                listener = None
                self.say("226 was all")
            elif word == "QUIT":
                self.say("221 bye")
                break
            else:
                self.say("550 no")
        if listener:
            listener.close()


class FtpServer(socketserver.ThreadingTCPServer):
    daemon_threads = False


@pytest.fixture
def ftp():
    """The served files, and the address."""
    server = FtpServer(("127.0.0.1", 0), FtpHandler)
    server.files = {}
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.files, server.server_address[1]
    server.shutdown()
    thread.join()
    server.server_close()


def test_ftp(tmp_path, ftp):
    files, port = ftp
    files["lib/a.jar"] = b"over ftp"
    for who in ("", "me:secret@"):
        said = prepare(tmp_path, f"ftp://{who}127.0.0.1:{port}/lib/a.jar")
        assert said["classpath"][0].endswith("/a.jar"), said
    for url, says in ((f"ftp://127.0.0.1:{port}/lib/none.jar", "none.jar"),
                      (f"ftp://me:wrong@127.0.0.1:{port}/lib/a.jar", "lib/a.jar")):
        error = prepare(tmp_path, url)["error"]
        assert says in error and "wrong" not in error, error


def test_an_application_comes_over_ftp(tmp_path, ftp):
    files, port = ftp
    files["app.c"] = (b"#include <firesteel/firesteel.h>\n#include <stdio.h>\n"
                      b"int main(void) { puts(\"over ftp\"); return 3; }\n")
    done = subprocess.run([os.path.join(BIN, "spark-submit"), "--master", "local[1]", f"ftp://127.0.0.1:{port}/app.c"],
                          cwd=tmp_path, env=environment(tmp_path, XDG_CACHE_HOME=str(tmp_path / "cache")),
                          capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (3, "over ftp\n"), done.stderr


# ------------------------------------------------------------------------------------------------- without libcurl


@pytest.mark.skipif(SANITIZED, reason="a sanitizer wants to be the first library")
def test_a_library_of_the_system_that_is_not_there_is_named_with_its_package(tmp_path):
    """An archive of `make dist` takes libcurl from the system: here the module needs one that does not exist."""
    lib, modules = tmp_path / "lib", tmp_path / "lib" / "firesteel"
    modules.mkdir(parents=True)
    library = os.path.realpath(os.path.join(BIN, "libfiresteel.so"))
    shutil.copy(library, lib / os.path.basename(library))
    shutil.copy(os.path.realpath(os.path.join(BIN, "spark-submit")), lib / "spark-submit")
    (tmp_path / "empty.c").write_text("")
    for command in (["-Wl,-soname,libcurl.so.none", "-o", tmp_path / "libcurl.so", tmp_path / "empty.c"],
                    ["-Wl,--no-as-needed", "-o", modules / "libfiresteel-http.so", tmp_path / "empty.c", f"-L{tmp_path}",
                     "-lcurl"]):
        subprocess.run(["cc", "-shared", "-fPIC", *command], check=True)
    error = prepare(tmp_path, "http://127.0.0.1:1/a.jar", program=lib / "spark-submit")["error"]
    assert "libcurl.so.none" in error and error.endswith("it is in Debian's package libcurl4")
