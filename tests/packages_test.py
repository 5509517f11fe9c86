"""--packages against repositories that the tests make: what Spark's SparkSubmitUtilsSuite and MavenUtilsSuite pin, and
how Ivy reads POMs. tests/spark/check_packages compares with genuine Ivy."""
import contextlib
import hashlib
import http.server
import json
import os
import subprocess
import threading
import zipfile

import pytest
from sanitizers import SANITIZED

BUILD = os.environ.get("FIRESTEEL_BUILD") or os.path.join(os.path.dirname(__file__), "..", "build")
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
        """A POM with these elements; `head` comes before its dependencies."""
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
    """A home of its own, an Ivy folder, and a repository that is asked in place of central."""

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


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


@contextlib.contextmanager
def server(folder, handler_of=None):
    """The folder over HTTP on loopback; the list of paths that were asked for grows."""
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


# --- SparkSubmitUtilsSuite, MavenUtilsSuite ---------------------------------------------------------------------


@pytest.mark.parametrize("coordinate", ["a:b: ", " :a:b", "a: :b", "a:b:", ":a:b", "a::b", "::", "a:b", "a", "a:b:c:d"])
def test_an_incorrect_coordinate_is_refused(place, coordinate):
    line = place.error(coordinate)
    assert line.startswith("error EINVAL: requirement failed: ")
    assert "Provided Maven Coordinates must be in the form 'groupId:artifactId:version'. The coordinate provided is: " \
        + coordinate in line or "cannot be null or be whitespace" in line


def test_slashes_are_colons_and_lists_end_where_they_end(place):
    place.repository.module("g.h:a:1.0")
    assert place.jars("g.h/a/1.0,") == ["a-1.0"]
    assert place.jars("") == place.jars("  ") == []


def test_repositories_are_asked_in_spark_s_order(place):
    done = place.run("no:such:1.0", repositories="file:/x/one,file:/x/two/")
    tried = [line.split(": ")[0].split("==== ")[1] for line in done.stderr.splitlines() if line.endswith(": tried")]
    assert tried == ["local-m2-cache", "local-ivy-cache", "central", "spark-packages", "repo-1", "repo-2"]
    assert "file:/x/one added as a remote repository with the name: repo-1\n" in done.stderr
    assert f"file:{place.home}/.m2/repository/no/such/1.0/such-1.0.pom" in done.stderr
    assert f"{place.ivy}/local/no/such/1.0/ivys/ivy.xml" in done.stderr
    assert f"{place.ivy}/local/no/such/1.0/jars/such.jar" in done.stderr


def test_a_dependency_that_is_nowhere_is_named(place):
    place.repository.module("g:a:1", dependency("no:such:2"))
    done = place.run("g:a:1")
    assert done.stderr.splitlines()[-1] == "error ENOENT: [unresolved dependency: no#such;2: not found]"
    assert ":: no#such;2: not found" in done.stderr and "module not found: no#such;2" in done.stderr
    assert not (place.ivy / "jars").exists()


def test_what_spark_prints(place):
    place.repository.module("g:a:1", dependency("g:b:2"))
    place.repository.module("g:b:2")
    done = place.run("g:a:1")
    lines = done.stderr.splitlines()
    assert f"Ivy Default Cache set to: {place.ivy}/cache" in lines
    assert f"The jars for the packages stored in: {place.ivy}/jars" in lines
    assert "g#a added as a dependency" in lines
    assert "\tfound g#b;2 in central" in lines
    assert "\tg#b;2 from central in [default]" in lines
    assert "\t|      default     |   2   |   2   |   2   |   0   ||   2   |   2   |" in lines
    assert any(line.startswith("\t2 artifacts copied, 0 already retrieved") for line in lines)
    again = place.run("g:a:1").stderr.splitlines()
    assert "\t|      default     |   2   |   0   |   0   |   0   ||   2   |   0   |" in again
    assert any(line.startswith("\t0 artifacts copied, 2 already retrieved") for line in again)


def test_local_repositories_are_searched(place):
    local_m2 = Repository(place.home / ".m2" / "repository")
    local_m2.module("g:m2:1")
    ivy = place.ivy / "local" / "my.group" / "mylib" / "0.1"
    (ivy / "ivys").mkdir(parents=True)
    (ivy / "jars").mkdir()
    (ivy / "jars" / "mylib.jar").write_bytes(b"jar")
    (ivy / "ivys" / "ivy.xml").write_text("""<ivy-module version="2.0">
      <info organisation="my.group" module="mylib" revision="0.1" status="release"/>
      <configurations><conf name="default"/><conf name="master" visibility="private"/>
        <conf name="runtime" extends="default"/></configurations>
      <publications><artifact name="mylib" type="jar" ext="jar" conf="default"/></publications>
      <dependencies><dependency org="g" name="m2" rev="1" conf="default->default"/></dependencies></ivy-module>""")
    assert place.jars("my.group:mylib:0.1") == ["mylib-0.1", "m2-1"]


def test_ivy_path_and_its_default(place):
    place.repository.module("g:a:1")
    assert place.run("g:a:1").stdout == f"{place.ivy}/jars/g_a-1.jar\n"
    assert place.run("g:a:1", home=True).stdout == f"{place.home}/.ivy2.5.2/jars/g_a-1.jar\n"
    assert place.run("g:a:1", home=True, compat="3.5").stdout == f"{place.home}/.ivy2/jars/g_a-1.jar\n"
    assert place.run("g:a:1", home=True, ivy_path=" ").stdout == f"{place.home}/.ivy2.5.2/jars/g_a-1.jar\n"


def test_spark_itself_and_scala_are_left_out(place):
    spark = ["catalyst_2.13", "core_2.13", "graphx_2.13", "kvstore_2.13", "launcher_2.13", "mllib_2.13",
             "mllib-local_2.13", "network-common_2.13", "network-shuffle_2.13", "repl_2.13", "sketch_2.13",
             "sql_2.13", "streaming_2.13", "tags_2.13", "unsafe_2.13"]
    for name in spark:
        assert place.jars(f"org.apache.spark:spark-{name}:9.9") == []
    place.repository.module("org.apache.spark:spark-avro_2.13:9", dependency("org.scala-lang:scala-library:2.13.1"),
                            dependency("org.apache.spark:spark-sql_2.13:9"), dependency("g:a:1"))
    place.repository.module("g:a:1")
    assert place.jars("org.apache.spark:spark-avro_2.13:9") == ["spark-avro_2.13-9", "a-1"]


def test_exclusions(place):
    place.repository.module("g:a:1", dependency("g:b:1"), dependency("h:c:1"))
    place.repository.module("g:b:1", dependency("h:d:1"))
    for name in ("h:c:1", "h:d:1"):
        place.repository.module(name)
    assert place.jars("g:a:1") == ["a-1", "b-1", "c-1", "d-1"]
    assert place.jars("g:a:1", exclusions="g:b") == ["a-1", "c-1"]
    assert place.jars("g:a:1", exclusions="h:*") == ["a-1", "b-1"]
    assert place.jars("g:a:1", exclusions="h:d,h:c") == ["a-1", "b-1"]
    assert "Provided Maven Coordinates" in place.error("g:a:1", exclusions="h")


def test_nothing_of_a_resolution_stays_in_the_cache(place):
    place.repository.module("g:a:1")
    place.jars("g:a:1")
    assert sorted(p.name for p in (place.ivy / "cache").iterdir()) == ["g"]
    assert sorted(p.name for p in (place.ivy / "cache" / "g" / "a").iterdir()) == \
        ["ivy-1.xml.original", "ivydata-1.properties", "jars"]


def test_a_broken_jar_in_the_local_repository_is_passed_over(place):
    local = Repository(place.home / ".m2" / "repository")
    for repository in (local, place.repository):
        repository.module("g:a:1")
    local.path("g:a:1", ".jar").write_bytes(b"broken")
    done = place.run("g:a:1")
    assert done.returncode == 0 and "invalid sha1" in done.stderr
    with zipfile.ZipFile(done.stdout.strip()) as jar:
        assert jar.read("name.txt") == b"g:a:1.jar"


# --- how POMs are read ------------------------------------------------------------------------------------------


def test_scopes_and_optional_dependencies(place):
    place.repository.module("g:a:1", dependency("g:compile:1"), dependency("g:runtime:1", "runtime"),
                            dependency("g:test:1", "test"), dependency("g:provided:1", "provided"),
                            dependency("g:optional:1", optional="true"), dependency("g:unknown:1", "whatever"))
    place.repository.module("g:runtime:1", dependency("g:deep:1"))
    for name in ("compile", "unknown", "deep"):
        place.repository.module(f"g:{name}:1")
    assert sorted(place.jars("g:a:1")) == ["a-1", "compile-1", "deep-1", "runtime-1", "unknown-1"]


def test_parents_properties_and_managed_versions(place):
    r = place.repository
    r.module("g:grand:1", jar=False, packaging="pom",
             head="<properties><v>1</v><both>${v}.${w}</both></properties>" + managed(dependency("g:c:${v}")))
    r.module("g:up:1", dependency("g:inherited:${w}"), jar=False, packaging="pom",
             head=parent("g:grand:1") + "<properties><w>2</w></properties>")
    r.module("g:a:1", dependency("${project.groupId}:b:${both}"), dependency("g:c"),
             head=parent("g:up:1") + "<properties><v>3</v></properties>", own=False)
    for name in ("g:b:3.2", "g:c:3", "g:inherited:2"):
        r.module(name)
    assert place.jars("g:a:1") == ["a-1", "b-3.2", "c-3", "inherited-2"]


def test_imported_management_and_its_exclusions(place):
    r = place.repository
    r.module("g:bom:1", jar=False, packaging="pom", head="<properties><v>5</v></properties>"
             + managed(dependency("g:b:${v}", exclusions=["g:c"]), dependency("g:d:9")))
    r.module("g:a:1", dependency("g:b"), head="<properties><v>6</v></properties>"
             + managed(dependency("g:bom:1", "import", type="pom")))
    r.module("g:b:5", dependency("g:c:1"), dependency("g:d:1"))
    for name in ("g:c:1", "g:d:1", "g:d:9"):
        r.module(name)
    # What is managed at the top holds for what is needed further down.
    assert place.jars("g:a:1") == ["a-1", "b-5", "d-9"]


def test_profiles(place):
    def profile(activation, name):
        return f"<profile><activation>{activation}</activation><dependencies>{dependency(f'g:{name}:1')}" \
               "</dependencies></profile>"
    place.repository.module("g:a:1", head="<properties><on>x</on></properties><profiles>"
                            + profile("<activeByDefault>true</activeByDefault>", "default")
                            + profile("<jdk>[11,)</jdk>", "new") + profile("<jdk>1.5</jdk>", "old")
                            + profile("<jdk>!1.8</jdk>", "other") + profile("<os><name>Windows</name></os>", "windows")
                            + profile("<os><name>Linux</name></os>", "linux")
                            + profile("<property><name>!nowhere</name></property>", "absent")
                            + profile("<property><name>on</name><value>y</value></property>", "wrong")
                            + "</profiles>")
    names = ["absent", "default", "linux", "new", "other"]
    for name in names:
        place.repository.module(f"g:{name}:1")
    assert sorted(place.jars("g:a:1")) == ["a-1"] + [f"{n}-1" for n in names]


def test_exclusions_of_poms(place):
    r = place.repository
    r.module("g:a:1", dependency("g:b:1", exclusions=["g:c"]), dependency("g:e:1", exclusions=["*:*"]))
    r.module("g:b:1", dependency("g:c:1"), dependency("g:d:1"))
    r.module("g:e:1", dependency("g:f:1"))
    r.module("g:d:1")
    assert place.jars("g:a:1") == ["a-1", "b-1", "e-1", "d-1"]
    # Another way to it on which it is not excluded counts.
    r.module("g:z:1", dependency("g:a:1"), dependency("g:c:1"))
    r.module("g:c:1")
    assert sorted(place.jars("g:z:1")) == ["a-1", "b-1", "c-1", "d-1", "e-1", "z-1"]


def test_the_latest_revision_wins(place):
    r = place.repository
    r.module("g:a:1", dependency("g:b:1"), dependency("g:c:1"))
    r.module("g:b:1", dependency("g:x:1.9"))
    r.module("g:c:1", dependency("g:x:1.10"))
    r.module("g:x:1.9", dependency("g:only-old:1"))
    r.module("g:x:1.10", dependency("g:only-new:1"))
    for name in ("only-old", "only-new"):
        r.module(f"g:{name}:1")
    done = place.run("g:b:1,g:c:1")
    assert sorted(os.path.basename(p) for p in done.stdout.split()) == \
        ["g_b-1.jar", "g_c-1.jar", "g_only-new-1.jar", "g_x-1.10.jar"]
    assert "\tg#x;1.9 by [g#x;1.10] in [default]\n" in done.stderr


def test_a_module_s_own_choice_holds_below_it(place):
    r = place.repository
    r.module("g:a:1", dependency("g:x:1"), dependency("g:b:1"))
    r.module("g:b:1", dependency("g:x:2"))
    r.module("g:x:1")
    r.module("g:x:2")
    assert place.jars("g:a:1") == ["a-1", "x-1", "b-1"]
    assert place.jars("g:b:1,g:a:1") == ["b-1", "a-1", "x-2"]


def test_circles_end(place):
    r = place.repository
    r.module("g:a:1", dependency("g:b:1"), dependency("g:a:1"))
    r.module("g:b:1", dependency("g:a:1"))
    assert place.jars("g:a:1") == ["a-1", "b-1"]
    r.module("g:p:1", head=parent("g:q:1"))
    r.module("g:q:1", head=parent("g:p:1"), packaging="pom", jar=False)
    assert "not found" in place.error("g:p:1")
    assert "in a circle" in place.run("g:p:1").stderr


def test_classifiers_types_and_packaging(place):
    r = place.repository
    r.module("g:a:1", dependency("g:b:1", classifier="natives"), dependency("g:c:1", type="test-jar"),
             dependency("g:only-pom:1"), dependency("g:bundle:1"), dependency("g:war:1"))
    r.module("g:b:1", jar=False)
    r.jar("g:b:1", "-natives.jar")
    r.module("g:c:1", jar=False)
    r.jar("g:c:1", "-tests.jar")
    r.module("g:only-pom:1", jar=False, packaging="pom")
    r.module("g:bundle:1", packaging="bundle")
    r.module("g:war:1", jar=False, packaging="war")
    r.jar("g:war:1", ".war")
    assert place.jars("g:a:1") == ["a-1", "b-1-natives", "c-1-tests", "bundle-1"]
    assert (place.ivy / "jars" / "g_war-1.war").exists()


def test_relocation(place):
    r = place.repository
    r.module("old:a:1", jar=False, head="<distributionManagement><relocation><groupId>new</groupId>"
             "</relocation></distributionManagement>")
    r.module("new:a:1", dependency("g:b:1"))
    r.module("g:b:1")
    assert place.jars("old:a:1") == ["a-1", "b-1"]


def test_ranges_prefixes_and_latest(place):
    r = place.repository
    for version in ("1.0", "1.5", "1.10", "2.0-rc1", "2.0"):
        r.module(f"g:x:{version}")
    for asked, got in (("[1.0,1.10)", "1.5"), ("[1.0,2.0]", "2.0"), ("(,1.5]", "1.5"), ("[1.5]", "1.5"),
                       ("1.+", "1.10"), ("latest.release", "2.0"), ("latest.integration", "2.0"), ("]1.0,2.0[",
                                                                                                  "2.0-rc1")):
        if "," in asked:  # commas divide packages
            r.module("g:a:1", dependency(f"g:x:{asked}"))
            assert place.jars("g:a:1", ivy_path=place.folder / f"ivy-{got}-{len(asked)}") == ["a-1", f"x-{got}"], asked
        else:
            assert place.jars(f"g:x:{asked}") == [f"x-{got}"], asked
    assert "unresolved dependency: g#x;3.+: not found" in place.error("g:x:3.+")


def test_snapshots_are_named_by_their_time(place):
    r = place.repository
    r.module("g:s:1-SNAPSHOT")
    folder = r.path("g:s:1-SNAPSHOT", "").parent
    for ending in (".pom", ".jar", ".pom.sha1", ".jar.sha1"):
        (folder / f"s-1-SNAPSHOT{ending}").rename(folder / f"s-1-20240102.030405-6{ending}")
    (folder / "maven-metadata.xml").write_text(
        "<metadata><versioning><snapshot><timestamp>20240102.030405</timestamp><buildNumber>6</buildNumber></snapshot>"
        "</versioning></metadata>")
    assert place.jars("g:s:1-SNAPSHOT") == ["s-1-SNAPSHOT"]


def test_a_jar_without_a_pom(place):
    place.repository.jar("g:bare:1")
    assert place.jars("g:bare:1") == ["bare-1"]
    assert place.jars("g:bare:1", central="file:/nowhere") == ["bare-1"]


def test_names_cannot_lead_out_of_the_folder(place):
    place.repository.module("g:a:1", dependency("..:b:1"), dependency("g:c:../../../../x"))
    line = place.error("g:a:1")
    assert "..#b" in line and "cannot be the name of a file" in line
    assert sorted(os.listdir(place.folder)) == ["home", "ivy", "repository"]


def test_a_pom_that_is_none_of_the_repository_s(place):
    place.repository.module("g:a:1")
    for bad in (b"<project>", b"<html/>", b"", b"<project><artifactId>a</artifactId></project>",
                b"<project><groupId>h</groupId><artifactId>a</artifactId><version>1</version></project>"):
        place.repository.put(place.repository.path("g:a:1", ".pom"), bad)
        assert place.error("g:a:1").startswith("error ENOENT: [unresolved dependency: g#a;1: ")
    assert "bad organisation: expected='g' found='h'" in place.error("g:a:1")


# --- HTTP, checksums, the cache ---------------------------------------------------------------------------------


def test_http_and_a_second_time_without_it(place):
    r = place.repository
    r.module("g:a:1", dependency("g:b:1"), head=parent("g:p:1"))
    r.module("g:p:1", jar=False, packaging="pom")
    r.module("g:b:1")
    with server(r.folder) as (url, asked):
        assert place.jars("g:a:1", central="file:/nowhere", repositories=url) == ["a-1", "b-1"]
        assert "/g/a/1/a-1.jar.sha1" in asked
    # The server is gone; the cache has all that is needed.
    assert place.jars("g:a:1", central="file:/nowhere", repositories=url) == ["a-1", "b-1"]


def test_a_wrong_checksum_fails_and_leaves_nothing(place):
    place.repository.module("g:a:1")
    place.repository.path("g:a:1", ".jar.sha1").write_text("0" * 40)
    assert place.error("g:a:1") == "error ENOENT: [download failed: g#a;1!a.jar]"
    assert "invalid sha1: expected=" + "0" * 40 in place.run("g:a:1").stderr
    assert [p for p in place.ivy.rglob("*") if p.is_file() and (p.suffix in (".jar", ".part"))] == []
    place.repository.jar("g:a:1")
    assert place.jars("g:a:1") == ["a-1"]


@pytest.mark.parametrize("algorithm", ["md5", "sha256"])
def test_other_checksums(place, algorithm):
    place.repository.module("g:a:1")
    jar = place.repository.path("g:a:1", ".jar")
    jar.with_name(jar.name + ".sha1").unlink()
    beside = jar.with_name(f"{jar.name}.{algorithm}")
    beside.write_text("f" * 2 * hashlib.new(algorithm).digest_size)
    assert "download failed" in place.error("g:a:1")
    beside.write_text(hashlib.new(algorithm, jar.read_bytes()).hexdigest().upper() + "  a-1.jar\n")
    assert place.jars("g:a:1") == ["a-1"]


def test_a_download_that_breaks_is_no_file(place):
    place.repository.module("g:a:1")

    def cut(handler):
        if not handler.path.endswith("/a-1.jar"):
            return False
        handler.send_response(200)
        handler.send_header("Content-Length", "100000")
        handler.end_headers()
        handler.wfile.write(b"x" * 1000)
        handler.close_connection = True
        return True

    with server(place.repository.folder, cut) as (url, _):
        assert "download failed: g#a;1!a.jar" in place.error("g:a:1", central="file:/nowhere", repositories=url)
    assert [p for p in place.ivy.rglob("*") if p.is_file() and p.suffix in (".jar", ".part")] == []


def test_a_checksum_that_cannot_be_read_is_none_that_is_right(place):
    place.repository.module("g:a:1")

    def hang_up(handler):
        handler.close_connection = handler.path.endswith(".jar.sha1")
        return handler.close_connection

    with server(place.repository.folder, hang_up) as (url, _):
        assert "download failed: g#a;1!a.jar" in place.error("g:a:1", central="file:/nowhere", repositories=url)
    assert [p for p in place.ivy.rglob("*") if p.is_file() and p.suffix in (".jar", ".part")] == []


def test_a_pom_does_not_grow_without_end(place):
    properties = "".join(f"<p{i}>{f'${{p{i + 1}}}' * 9}</p{i}>" for i in range(30)) + "<p30></p30>"
    place.repository.module("g:a:1", dependency("g:b:${p0}"), head=f"<properties>{properties}</properties>")
    assert "too many properties within each other" in place.run("g:a:1").stderr
    entities = '<!ENTITY e0 "' + "x" * 100 + '">' + "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 9}">' for i in range(1, 30))
    pom = f"<!DOCTYPE project [{entities}]><project><artifactId>&e29;</artifactId></project>"
    place.repository.put(place.repository.path("g:a:1", ".pom"), pom.encode())
    assert "amplification" in place.run("g:a:1").stderr
    pom = f'<!DOCTYPE project [<!ENTITY e "{"x" * 1000000}">]><project>{"<a>&e;</a>" * 20}</project>'
    place.repository.put(place.repository.path("g:a:1", ".pom"), pom.encode())
    assert "its entities make it too large" in place.run("g:a:1").stderr


def test_a_pom_learns_no_secret_of_the_environment(place):
    head = "<properties><v>${env.DATABASE_URL}</v></properties>"
    place.repository.module("g:a:1", dependency("g:b:${env.AWS_SECRET_ACCESS_KEY}"), dependency("g:c:${v}"),
                            dependency("g:d:${env.TOOL_VERSION}"), head=head)
    secret = {"AWS_SECRET_ACCESS_KEY": "s3cret", "DATABASE_URL": "me-pass-word-host"}
    with server(place.repository.folder) as (url, asked):
        done = subprocess.run(place.command("g:a:1"), env=dict(place.environment(url), TOOL_VERSION="7", **secret),
                              capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1
    assert any("/g/d/7/" in path for path in asked)
    told = "".join(asked) + done.stderr
    assert not [value for value in secret.values() if value in told]


def test_a_host_that_does_not_answer_is_asked_once(place):
    with server(place.folder) as (url, _):
        pass
    place.repository.module("g:a:1", dependency("g:b:1"))
    place.repository.module("g:b:1")
    done = place.run("g:a:1,g:c:1", central=url, repositories=place.repository.url)
    assert done.stderr.splitlines()[-1] == "error ENOENT: [unresolved dependency: g#c;1: not found]"
    assert done.stderr.count("it is not asked again") == 1


def test_a_host_is_waited_for_once_by_all_jars(place):
    """Descriptions are in the cache, jars are not, and the server refuses connections: Ivy asks for each jar."""
    names = [f"m{i}" for i in range(6)]
    for name in names:
        place.repository.module(f"g:{name}:1")
    packages = ",".join(f"g:{name}:1" for name in names)
    with server(place.repository.folder) as (url, _):
        assert len(place.jars(packages, central="file:/nowhere", repositories=url)) == len(names)
    for jar in place.ivy.rglob("*.jar"):
        jar.unlink()
    done = place.run(packages, central="file:/nowhere", repositories=url)
    assert done.returncode == 1
    # Two threads may ask at the same moment; everybody else is told of it.
    asked = [line for line in done.stderr.splitlines() if "[FAILED" in line and "could not be reached before" not in line]
    told = [line for line in done.stderr.splitlines() if "[FAILED" in line and "could not be reached before" in line]
    assert 1 <= len(asked) <= 2 and len(asked) + len(told) == len(names)
    assert "it is not asked again" not in done.stderr  # by the second try, without the local repository


# What a program writes before it names a file.
WATCH_C = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void say(const char *what, const char *path)
{
        FILE *f = fopen(getenv("WATCHED"), "a");
        fprintf(f, "%s %s\n", what, path);
        fclose(f);
}

int fdatasync(int fd)
{
        char link[64], path[4096];
        snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
        ssize_t n = readlink(link, path, sizeof(path) - 1);
        path[n < 0 ? 0 : n] = 0;
        say("synced", path);
        return 0;
}

int rename(const char *from, const char *to)
{
        int (*next)(const char *, const char *) = (int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename");
        say("renamed", from);
        return next(from, to);
}
"""


@pytest.mark.skipif(SANITIZED, reason="a sanitizer wants to be the first library")
def test_what_gets_its_name_in_the_cache_is_on_the_disk(place):
    source, library, log = (place.folder / n for n in ("watch.c", "watch.so", "log"))
    source.write_text(WATCH_C)
    log.write_text("")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    place.repository.module("g:a:1")
    environment = dict(place.environment(), LD_PRELOAD=str(library), WATCHED=str(log))
    done = subprocess.run(place.command("g:a:1"), env=environment, capture_output=True, text=True, timeout=120,
                          check=False)
    assert done.returncode == 0, done.stderr
    did = log.read_text().splitlines()
    named = [line.split()[1] for line in did if line.startswith("renamed ") and "/cache/" in line]
    assert [n for n in named if "a-1.jar." in n]
    for name in named:
        assert did.index(f"synced {name}") < did.index(f"renamed {name}")


def test_processes_share_the_folder(place):
    for i in range(5):
        place.repository.module(f"g:m{i}:1", *(dependency(f"g:m{j}:1") for j in range(i)))
    started = [subprocess.Popen(place.command("g:m4:1"), env=place.environment(), stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True) for _ in range(4)]
    answers = [p.communicate(timeout=120) for p in started]
    assert [p.returncode for p in started] == [0] * 4, answers[0][1]
    assert len({out for out, _ in answers}) == 1 and answers[0][0].count("\n") == 5
    assert list(place.ivy.rglob("*.part")) == []


# --- ivysettings.xml, ivy:// ------------------------------------------------------------------------------------


def test_ivysettings(place):
    r = place.repository
    r.module("g:a:1", dependency("g:b:1"))
    flat = place.folder / "flat"
    flat.mkdir()
    (flat / "b-1.jar").write_bytes(b"jar")
    settings = place.folder / "ivysettings.xml"
    settings.write_text(f"""<ivysettings><property name="where" value="{place.folder}"/>
      <settings defaultResolver="all"/><caches defaultCacheDir="/ignored"/>
      <resolvers><ibiblio name="mine" m2compatible="true" root="file:${{where}}/repository"/>
        <chain name="all" returnFirst="true"><resolver ref="mine"/>
          <filesystem name="flat"><artifact pattern="${{ivy.settings.dir}}/flat/[artifact]-[revision].[ext]"/>
          </filesystem></chain></resolvers></ivysettings>""")
    assert place.jars("g:a:1", ivy_settings=settings) == ["a-1", "b-1"]
    assert place.jars("g:a:1", ivy_settings=f"file:{settings}") == ["a-1", "b-1"]


def test_each_repository_of_a_chain_has_its_own_checksums(place):
    """What is unchecked in one stays checked in the next, wherever it stands in the chain."""
    careless, careful = Repository(place.folder / "careless"), Repository(place.folder / "careful")
    for repository, name in ((careless, "a"), (careful, "b")):
        repository.module(f"g:{name}:1")
        repository.path(f"g:{name}:1", ".jar.sha1").write_text("0" * 40)
    settings = place.folder / "ivysettings.xml"

    def write(order, of_all="", property=""):
        members = "".join(f'<ibiblio name="{r.folder.name}" m2compatible="true" root="{r.url}"'
                          + (' checksums="none"' if r is careless else "") + "/>" for r in order)
        settings.write_text(f"""<ivysettings>{property}<settings defaultResolver="all"/>
          <resolvers><chain name="all"{of_all}>{members}</chain></resolvers></ivysettings>""")

    for order in ((careless, careful), (careful, careless)):
        write(order)
        ivy = place.folder / f"ivy-{order[0].folder.name}"
        assert place.jars("g:a:1", ivy_settings=settings, ivy_path=ivy) == ["a-1"]
        # Its description is in the cache, and which repository it came from is not known any more.
        for data in ivy.rglob("ivydata-*"):
            data.unlink()
        for jar in ivy.rglob("*.jar"):
            jar.unlink()
        assert place.jars("g:a:1", ivy_settings=settings, ivy_path=ivy) == ["a-1"]
        assert place.error("g:b:1", ivy_settings=settings, ivy_path=ivy) == "error ENOENT: [download failed: g#b;1!b.jar]"
    write((careful,), property='<property name="ivy.checksums" value="none"/>')
    assert place.jars("g:b:1", ivy_settings=settings, ivy_path=place.folder / "unchecked") == ["b-1"]
    write((careless, careful), of_all=' checksums="none"')  # Ivy's chains know no such attribute either
    assert "the attribute checksums of <chain> is not supported" in place.error("g:a:1", ivy_settings=settings)


def test_passwords_of_repositories_are_not_told(place):
    place.repository.module("g:a:1")
    with server(place.repository.folder) as (url, _):
        with_password = url.replace("http://", "http://me:pass-word@")
        done = place.run("g:a:1,g:none:1", central="file:/nowhere", repositories=with_password)
        found = place.run("g:a:1", central="file:/nowhere", repositories=with_password)
    assert done.returncode == 1 and found.returncode == 0
    assert f"{url} added as a remote repository with the name: repo-1\n" in done.stderr
    assert f"  {url}/g/none/1/none-1.pom\n" in done.stderr
    assert f"downloading {url}/g/a/1/a-1.jar ...\n" in done.stderr
    assert "pass-word" not in done.stderr + found.stderr


def test_credentials_go_to_their_host_only(place):
    said = []

    def ask_who(handler):
        who = handler.headers.get("Authorization")
        said.append((handler.path, who))
        if who is None:
            handler.send_response(401)
            handler.send_header("WWW-Authenticate", "Basic realm=x")
            handler.send_header("Content-Length", "0")
            handler.end_headers()
        return who is None

    place.repository.module("g:a:1")
    settings = place.folder / "ivysettings.xml"
    with server(place.repository.folder, ask_who) as (url, _):
        for root, host, goes in ((url, "127.0.0.1", True), (url + "/.", "127.0.0.1", True),
                                 (url.replace("http://", "http://known:x@"), "known", False)):
            around = ("", "") if root == url else ("<credentials>", "</credentials>")
            settings.write_text(f"""<ivysettings><settings defaultResolver="r"/>
              {around[0]}<credentials host="{host}" username="me" passwd="secret"/>{around[1]}
              <resolvers><ibiblio name="r" m2compatible="true" root="{root}"/></resolvers></ivysettings>""")
            said.clear()
            place.run("g:a:1", ivy_settings=settings, ivy_path=place.folder / f"ivy-{len(root)}")
            assert said
            assert ("Basic bWU6c2VjcmV0" in {who for _, who in said}) == goes, root


@pytest.mark.parametrize("content, says", [
    ("<ivysettings><resolvers><sftp name='x'/></resolvers></ivysettings>", "the resolver <sftp> is not supported"),
    ("<ivysettings><conflict-managers/></ivysettings>", "the element <conflict-managers> is not supported"),
    ("<ivysettings><settings defaultResolver='x'/></ivysettings>", "unknown resolver 'x'"),
    ("<ivysettings>", "no element found"),
])
def test_ivysettings_that_cannot_be_followed(place, content, says):
    settings = place.folder / "ivysettings.xml"
    settings.write_text(content)
    line = place.error("g:a:1", ivy_settings=settings)
    assert f"Failed when loading Ivy settings from {settings}: " in line and says in line


def test_ivysettings_that_are_not_there(place):
    assert place.error("g:a:1", ivy_settings="/no/such").endswith(
        "requirement failed: Ivy settings file /no/such does not exist")
    assert place.error("g:a:1", ivy_settings=place.folder).endswith(
        f"requirement failed: Ivy settings file {place.folder} is not a normal file")
    assert place.error("g:a:1", ivy_settings="http://x/y").endswith(
        "Scheme http not supported in spark.jars.ivySettings")
    settings = place.folder / "empty.xml"
    settings.write_text("<ivysettings/>")
    assert "no resolver found for g#a: check your configuration" in place.error("g:a:1", ivy_settings=settings)


def test_ivy_uris(place):
    other = Repository(place.folder / "other")
    place.repository.module("g:a:1", dependency("g:b:1"), dependency("g:c:1"))
    for name in ("b", "c"):
        place.repository.module(f"g:{name}:1")
    other.module("g:z:1")
    assert place.jars(uri="ivy://g:a:1") == ["a-1", "b-1", "c-1"]
    assert place.jars(uri="ivy://g:a:1?transitive=false") == ["a-1"]
    assert place.jars(uri="ivy://g:a:1?transitive=false&transitive=TRUE") == ["a-1", "b-1", "c-1"]
    assert place.jars(uri="ivy://g:a:1?exclude=g:b,g:c&unknown=x") == ["a-1"]
    assert place.jars(uri=f"ivy://g:z:1?repos={other.url}") == ["z-1"]
    assert "Invalid parameters `unknown`" in place.run(uri="ivy://g:a:1?unknown=x").stderr


@pytest.mark.parametrize("uri, says", [
    ("ivy://", "Invalid Ivy URI authority in uri ivy://: Expected 'org:module:version', found null."),
    ("ivy://g:a", "Invalid Ivy URI authority in uri ivy://g:a: Expected 'org:module:version', found g:a."),
    ("ivy://g:a:1?foo", "Invalid query string in Ivy URI ivy://g:a:1?foo: foo"),
    ("ivy://g:a:1?transitive=", "Invalid query string in Ivy URI ivy://g:a:1?transitive=: transitive="),
    ("ivy://g:a:1?exclude=g", "Invalid exclude string in Ivy URI ivy://g:a:1?exclude=g: expected "
     "'org:module,org:module,..', found g"),
])
def test_ivy_uris_that_are_refused(place, uri, says):
    assert place.error(uri=uri) == "error EINVAL: " + says


def test_spark_submit_takes_them(place):
    place.repository.module("g:a:1", dependency("g:b:1"))
    place.repository.module("g:b:1")
    words = ["--master", "local", "--packages", "g:a:1", "--conf", f"spark.jars.ivy={place.ivy}", "--dry-run", "--output",
             "json", "--class", "X", "app.jar"]
    place.repository.jar("g:app:1")
    place.repository.path("g:app:1", ".jar").rename(place.folder / "app.jar")
    done = subprocess.run([os.path.join(BUILD, "src", "spark-submit"), *words], env=place.environment(),
                          capture_output=True, text=True, timeout=60, check=False, cwd=place.folder)
    assert done.returncode == 0, done.stderr
    jars = json.loads(done.stdout)["conf"]["spark.jars"].split(",")
    assert [os.path.basename(j) for j in jars[:2]] == ["g_a-1.jar", "g_b-1.jar"]
    assert "\tfound g#b;1 in central\n" in done.stderr
