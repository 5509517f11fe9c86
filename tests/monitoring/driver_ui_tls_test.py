"""The driver's pages with TLS (spark.ssl.ui.*)."""
import os
import re
import socket
import ssl
import subprocess
import urllib.error
import urllib.request

import pytest

from driver_ui_test import APPLICATION, BIN, wait_for


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


@pytest.fixture(name="store")
def make_store(tmp_path):
    """Return the paths of a certificate for localhost and of a PKCS12 file with its key."""
    cert, key, store = tmp_path / "cert.pem", tmp_path / "key.pem", tmp_path / "pages.p12"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
                    "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key,
                    "-out", cert], check=True, capture_output=True)
    subprocess.run(["openssl", "pkcs12", "-export", "-in", cert, "-inkey", key, "-out", store, "-passout", "pass:secret"],
                   check=True, capture_output=True)
    return cert, store


class SecureApplication:
    """An application whose pages have TLS."""

    def __init__(self, folder, store, password):
        source = folder / "observed.c"
        source.write_text(APPLICATION)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.plain = free.getsockname()[1]
        options = {"ui.port": self.plain, "ssl.ui.enabled": "true", "ssl.ui.keyStore": store, "ssl.ui.keyStorePassword": password}
        words = [word for name, value in options.items() for word in ("--conf", f"spark.{name}={value}")]
        self.log_file = folder / "log"
        with open(self.log_file, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen([os.path.join(BIN, "spark-submit"), "--master", "local[2,3]", *words, source],
                                            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=log, text=True)
        self.port = int(wait_for(lambda: re.search(r"SparkUI: .* started at https://[^:]+:(\d+)", self.log())).group(1))

    def log(self):
        return self.log_file.read_text()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.kill()
        self.process.communicate()


def firesteel(*arguments, **environment):
    return subprocess.run([os.path.join(BIN, "firesteel"), *arguments], capture_output=True, text=True, check=False,
                          timeout=120, env={**os.environ, **environment})


def test_pages_with_tls(tmp_path, store):
    cert, key_store = store
    with SecureApplication(tmp_path, key_store, "secret") as app:
        url = f"https://localhost:{app.port}"
        trusting = urllib.request.build_opener(urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=str(cert))))
        with trusting.open(f"{url}/jobs/", timeout=120) as answer:
            assert answer.status == 200 and "Spark Jobs" in answer.read().decode()
        wait_for(lambda: "SUCCEEDED" in firesteel("jobs", url, CURL_CA_BUNDLE=str(cert)).stdout)
        untrusted = firesteel("jobs", url)
        assert untrusted.returncode == 1 and "certificate" in untrusted.stderr, untrusted.stderr
        with pytest.raises(urllib.error.HTTPError) as moved:
            urllib.request.build_opener(NoRedirect).open(f"http://localhost:{app.plain}/stages/?x=1", timeout=120)
        assert (moved.value.code, moved.value.headers["Location"]) == (302, f"{url}/stages/?x=1")
        app.process.communicate("\n", timeout=120)
        assert app.process.returncode == 0


def test_wrong_key_store_is_reported_at_the_start(tmp_path, store):
    source = tmp_path / "observed.c"
    source.write_text(APPLICATION)
    (tmp_path / "text.p12").write_text("no key store")
    for file, message in ((store[1], "(is keyStorePassword, or keyPassword of the key, right?)"),
                          (tmp_path / "text.p12", "the key store is not a PKCS#12 file")):
        options = {"ui.port": 0, "ssl.ui.enabled": "true", "ssl.ui.keyStore": file, "ssl.ui.keyStorePassword": "wrong-password"}
        words = [word for name, value in options.items() for word in ("--conf", f"spark.{name}={value}")]
        done = subprocess.run([os.path.join(BIN, "spark-submit"), "--master", "local[2]", *words, source], capture_output=True,
                              text=True, check=False, timeout=120, stdin=subprocess.DEVNULL)
        assert done.returncode != 0, done.stderr
        assert "spark.ssl.ui: SparkUI has no TLS: " in done.stderr and message in done.stderr, done.stderr
        assert "wrong-password" not in done.stderr
