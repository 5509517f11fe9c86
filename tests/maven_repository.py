"""Maven repositories in folders, their servers, and clients that run build/tests/resolve_packages."""
import contextlib
import hashlib
import http.server
import os
import subprocess
import threading
import zipfile

from folders import BUILD

PROGRAM = os.path.join(BUILD, "tests", "resolve_packages")


def tag(name, value):
    return "" if value is None else f"<{name}>{value}</{name}>"


def dependency(coordinate, scope=None, optional=None, exclusions=(), **more):
    group, artifact, *version = coordinate.split(":")
    rules = "".join(f"<exclusion>{tag('groupId', e.split(':')[0])}{tag('artifactId', e.split(':')[1])}</exclusion>"
                    for e in exclusions)
    return ("<dependency>" + tag("groupId", group) + tag("artifactId", artifact)
            + tag("version", version[0] if version else None) + tag("scope", scope) + tag("optional", optional)
            + "".join(tag(k, v) for k, v in more.items())
            + (f"<exclusions>{rules}</exclusions>" if rules else "") + "</dependency>")


def parent(coordinate):
    group, artifact, version = coordinate.split(":")
    return "<parent>" + tag("groupId", group) + tag("artifactId", artifact) + tag("version", version) + "</parent>"


def managed(*dependencies):
    return "<dependencyManagement><dependencies>" + "".join(dependencies) + "</dependencies></dependencyManagement>"


class Repository:
    """Maven's layout in a folder."""

    def __init__(self, folder):
        self.folder = folder
        self.url = f"file:{folder}"

    def path(self, coordinate, ending):
        group, artifact, version = coordinate.split(":")[:3]
        return self.folder.joinpath(*group.split("."), artifact, version, f"{artifact}-{version}{ending}")

    def put(self, path, content, checksum=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        if checksum:
            path.with_name(path.name + ".sha1").write_text(hashlib.sha1(content).hexdigest() + "\n")

    def jar(self, coordinate, ending=".jar"):
        path = self.path(coordinate, ending)
        path.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(path, "w") as jar:
            jar.writestr("name.txt", coordinate + ending)
        self.put(path, path.read_bytes())

    def module(self, coordinate, *dependencies, jar=True, head="", packaging=None, own=True):
        """A POM with these elements. `head` comes before its dependencies."""
        group, artifact, version = coordinate.split(":")
        name = tag("groupId", group) + tag("artifactId", artifact) + tag("version", version) if own else \
            tag("artifactId", artifact)
        pom = ('<?xml version="1.0" encoding="UTF-8"?>\n<project xmlns="http://maven.apache.org/POM/4.0.0">'
               f"{name}{tag('packaging', packaging)}{head}<dependencies>{''.join(dependencies)}</dependencies>"
               "</project>")
        self.put(self.path(coordinate, ".pom"), pom.encode())
        if jar:
            self.jar(coordinate)
        group, artifact, _ = coordinate.split(":")
        folder = self.path(coordinate, "").parent.parent
        versions = sorted(p.name for p in folder.iterdir() if p.is_dir())
        (folder / "maven-metadata.xml").write_text(
            "<metadata><versioning><versions>" + "".join(tag("version", v) for v in versions)
            + "</versions></versioning></metadata>")


class Place:
    """A client with its own home, an Ivy folder, and a repository in place of Maven Central."""

    def __init__(self, folder):
        self.folder = folder
        self.ivy = folder / "ivy"
        self.home = folder / "home"
        self.home.mkdir()
        self.repository = Repository(folder / "repository")
        self.repository.folder.mkdir()

    def command(self, packages=None, home=False, **words):
        words = dict({} if home else {"ivy_path": self.ivy}, **words)
        if packages:
            words["packages"] = packages
        return [PROGRAM, *(f"{k}={v}" for k, v in words.items())]

    def environment(self, central=None):
        kept = {k: v for k, v in os.environ.items() if "proxy" not in k.lower()}
        return dict(kept, HOME=str(self.home), DEFAULT_ARTIFACT_REPOSITORY=central or self.repository.url)

    def run(self, packages=None, central=None, **words):
        return subprocess.run(self.command(packages, **words), env=self.environment(central), capture_output=True,
                              text=True, timeout=120, check=False, cwd=self.folder)

    def jars(self, packages=None, **words):
        """Names of the jars without their groups' prefix, in order."""
        done = self.run(packages, **words)
        assert done.returncode == 0, done.stderr
        paths = done.stdout.split()
        assert all(os.path.getsize(p) > 0 for p in paths)
        return [os.path.basename(p).split("_", 1)[1][: -len(".jar")] for p in paths]

    def error(self, packages=None, **words):
        done = self.run(packages, **words)
        assert done.returncode == 1
        assert done.stdout == ""
        return done.stderr.splitlines()[-1]


@contextlib.contextmanager
def server(folder, handler_of=None):
    """Serves the folder over HTTP on loopback, and appends requested paths to the list."""
    asked = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def __init__(self, *arguments, **words):
            super().__init__(*arguments, directory=str(folder), **words)

        def log_message(self, *arguments):
            pass

        def do_GET(self):
            asked.append(self.path)
            if not (handler_of and handler_of(self)):
                super().do_GET()

    service = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=service.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{service.server_address[1]}", asked
    finally:
        service.shutdown()
        thread.join()
        service.server_close()
