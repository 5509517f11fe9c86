"""firesteel image push: to a fake registry, and docker-image-tool.sh. `make check-registry` uses a real registry."""
import base64
import hashlib
import json
import os
import subprocess
import urllib.parse

import pytest

from folders import BIN, TOP
from local_server import LocalServer, QuietHandler
from sanitizers import SANITIZED

TIMEOUT = 300

pytestmark = pytest.mark.skipif(bool(SANITIZED), reason="a sanitizer's library is no part of an image")


class Registry(LocalServer):
    """auth is None, "basic" or "token". Only the user me with the password secret may push."""

    def __init__(self):
        super().__init__(Handler)
        self.host = f"127.0.0.1:{self.server_port}"
        self.auth, self.blobs, self.manifests, self.asked, self.broken = None, {}, {}, [], None


class Handler(QuietHandler):
    def answer(self, status, body=None, **headers):
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def may(self):
        said, registry = self.headers.get("Authorization", ""), self.server
        basic = "Basic " + base64.b64encode(b"me:secret").decode()
        if registry.auth == "basic" and said != basic:
            self.answer(401, {"errors": [{"message": "who are you?"}]}, WWW_Authenticate='Basic realm="here"')
            return False
        if registry.auth == "token" and said != "Bearer the-token":
            self.answer(401, {"errors": [{"message": "authentication required"}]}, WWW_Authenticate='Bearer realm="http://'
                        f'{registry.host}/token?x=y",service="a registry",scope="repository:team/app:pull"')
            return False
        return True

    def token(self, query):
        asked = urllib.parse.parse_qs(query)
        assert asked == {"x": ["y"], "service": ["a registry"], "scope": ["repository:team/app:pull,push"]}
        if self.headers.get("Authorization") != "Basic " + base64.b64encode(b"me:secret").decode():
            return self.answer(401, {"details": "incorrect username or password"})
        return self.answer(200, {"access_token": "the-token"})

    def act(self):
        registry, (path, _, query) = self.server, self.path.partition("?")
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        registry.asked.append(f"{self.command} {path}")
        if path == "/token":
            return self.token(query)
        if not self.may():
            return None
        base = "/v2/team/app/"
        assert path.startswith(base), path
        words = path[len(base):].split("/")
        if self.command == "HEAD":
            return self.answer(200 if words[1] in registry.blobs else 404)
        if self.command == "POST":
            return self.answer(202, Location=f"{base}blobs/uploads/1?_state=a%2Bb")
        if registry.broken:
            return self.answer(registry.broken, {"errors": [{"message": "no room"}]})
        if words[0] == "blobs":
            said = urllib.parse.parse_qs(query)
            digest = "sha256:" + hashlib.sha256(body).hexdigest()
            assert said == {"_state": ["a+b"], "digest": [digest]}
            registry.blobs[digest] = body
            return self.answer(201)
        manifest = json.loads(body)
        assert self.headers["Content-Type"] == manifest["mediaType"] == "application/vnd.oci.image.manifest.v1+json"
        assert all(part["digest"] in registry.blobs for part in [manifest["config"], *manifest["layers"]])
        registry.manifests[words[1]] = body
        return self.answer(201)

    do_GET = do_HEAD = do_POST = do_PUT = act


@pytest.fixture
def registry():
    with Registry() as server:
        yield server


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """The archive that the tool builds."""
    folder = tmp_path_factory.mktemp("image")
    done = tool(folder, "-r", "team", "-t", "v1", "-I", "app", "-a", f"{TOP}/LICENSE", "build")
    assert done.returncode == 0, done.stderr
    assert [path.name for path in folder.iterdir()] == ["app-v1.tar"]
    return folder / "app-v1.tar", done.stdout.splitlines()[-1]


def environment(folder, registry=None, login="me:secret", helper=None):
    kept = {k: v for k, v in os.environ.items()
            if k not in ("REGISTRY_AUTH_FILE", "DOCKER_CONFIG", "XDG_RUNTIME_DIR") and "proxy" not in k.lower()}
    if registry:
        (folder / ".docker").mkdir(exist_ok=True)
        auths = {registry.host: {} if helper else {"auth": base64.b64encode(login.encode()).decode()}}
        config = {"auths": auths} | ({"credsStore": helper} if helper else {})
        (folder / ".docker" / "config.json").write_text(json.dumps(config))
    return dict(kept, HOME=str(folder), PATH=f"{folder}:{os.environ['PATH']}")


def push(folder, *words, **more):
    return subprocess.run([os.path.join(BIN, "firesteel"), "image", "push", *map(str, words)], cwd=folder,
                          env=environment(folder, **more), text=True, capture_output=True, timeout=TIMEOUT, check=False)


@pytest.mark.parametrize("auth", [None, "basic", "token"])
def test_an_image_arrives(tmp_path, registry, archive, auth):
    registry.auth = auth
    path, digest = archive
    done = push(tmp_path, "--tag", f"{registry.host}/team/app:2", path, registry=registry if auth else None)
    assert done.returncode == 0, done.stderr
    assert "sha256:" + hashlib.sha256(registry.manifests["2"]).hexdigest() == digest == done.stdout.splitlines()[-1]
    assert "0 of 4" in done.stdout and len(registry.blobs) == 4
    before = len(registry.asked)
    done = push(tmp_path, "--tag", f"{registry.host}/team/app:3", path, registry=registry if auth else None)
    assert done.returncode == 0 and "sent 0.0 MB, the registry already had 4 of 4" in done.stdout, done.stderr
    assert not any(asked.startswith("POST") for asked in registry.asked[before:])


def test_who_may_not_push_is_told_how_to_log_in(tmp_path, registry, archive):
    name = f"{registry.host}/team/app:1"
    for registry.auth in ("basic", "token"):
        done = push(tmp_path, "--tag", name, archive[0])
        assert done.returncode == 1
        assert f"{registry.host} does not let anonymous users push team/app" in done.stderr, done.stderr
        assert f"docker login {registry.host}" in done.stderr
        done = push(tmp_path, "--tag", name, archive[0], registry=registry, login="me:wrong")
        assert done.returncode == 1 and "does not let this user push" in done.stderr, done.stderr
        assert "wrong" not in done.stderr and not registry.manifests
        (tmp_path / ".docker" / "config.json").unlink()


def test_a_credential_helper_is_asked(tmp_path, registry, archive):
    registry.auth = "token"
    helper = tmp_path / "docker-credential-drawer"
    helper.write_text('#!/bin/sh\n[ "$1" = get ] && read -r host; echo "{\\"ServerURL\\": \\"$host\\", \\"Username\\": \\"me\\", '
                      '\\"Secret\\": \\"secret\\"}"\n')
    helper.chmod(0o755)
    done = push(tmp_path, "--tag", f"{registry.host}/team/app:1", archive[0], registry=registry, helper="drawer")
    assert done.returncode == 0, done.stderr
    helper.write_text("#!/bin/sh\nexit 3\n")
    done = push(tmp_path, "--tag", f"{registry.host}/team/app:1", archive[0], registry=registry, helper="drawer")
    assert done.returncode == 1 and "docker-credential-drawer returns no credentials for" in done.stderr


def test_rejects_archives_and_names_that_cannot_be_pushed(tmp_path, registry, archive):
    whole = archive[0].read_bytes()
    (tmp_path / "text.tar").write_text("no tar")
    (tmp_path / "half.tar").write_bytes(whole[:len(whole) // 2])
    damaged = bytearray(whole)
    damaged[len(damaged) // 2] ^= 1
    (tmp_path / "damaged.tar").write_bytes(damaged)
    for name, message in (("none.tar", "none.tar: No such file"), ("text.tar", "text.tar is not an archive of one image"),
                          ("half.tar", "half.tar does not contain blobs/sha256/"), ("damaged.tar", "damaged.tar is damaged")):
        done = push(tmp_path, "--tag", f"{registry.host}/team/app:1", name)
        assert done.returncode == 1 and message in done.stderr, (name, done.stderr)
    assert not registry.manifests
    registry.broken = 507
    done = push(tmp_path, "--tag", f"{registry.host}/team/app:1", archive[0])
    assert done.returncode == 1
    assert f"{registry.host} rejects a layer of team/app with status 507: no room" in done.stderr
    assert "is not a valid image name" in push(tmp_path, "--tag", "UPPER", archive[0]).stderr
    assert push(tmp_path).returncode == 2


def test_nobody_there(tmp_path, archive):
    done = push(tmp_path, "--tag", "127.0.0.1:1/team/app:1", archive[0])
    assert done.returncode == 1 and "http://127.0.0.1:1/v2/team/app/" in done.stderr, done.stderr


def tool(folder, *words):
    return subprocess.run([os.path.join(TOP, "scripts", "docker-image-tool.sh"), *words], cwd=folder, text=True,
                          env=dict(environment(folder), FIRESTEEL=os.path.join(BIN, "firesteel")), capture_output=True,
                          timeout=TIMEOUT, check=False)


def test_the_tool_pushes_what_it_built(tmp_path, registry, archive):
    os.link(archive[0], tmp_path / "app-v1.tar")
    done = tool(tmp_path, "-r", f"{registry.host}/team", "-t", "v1", "-I", "app", "push")
    assert done.returncode == 0, done.stderr
    assert list(registry.manifests) == ["v1"]


@pytest.mark.parametrize("words, message", [
    (["push"], "spark-latest.tar is not there"), ([], "Usage:"), (["-p", "Dockerfile", "build"], "Python"),
    (["-R", "Dockerfile", "build"], "runs no R"), (["-z", "build"], "Usage:"), (["mend"], "Usage:")])
def test_the_tool_says_what_it_cannot(tmp_path, words, message):
    done = tool(tmp_path, *words)
    assert done.returncode == 1 and message in done.stderr + done.stdout
