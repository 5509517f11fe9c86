"""Reading POMs as Ivy does. tests/spark/check_packages compares with genuine Ivy."""
import os
import subprocess

from maven_repository import dependency, managed, parent, server


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
    # Managed versions of the top POM apply to all dependencies.
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
    # It stays if another path does not exclude it.
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
    assert "in a cycle" in place.run("g:p:1").stderr


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
        if "," in asked:  # commas separate packages
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
    assert "..#b" in line and "is not a valid file name" in line
    assert sorted(os.listdir(place.folder)) == ["home", "ivy", "repository"]


def test_a_pom_that_is_none_of_the_repository_s(place):
    place.repository.module("g:a:1")
    for bad in (b"<project>", b"<html/>", b"", b"<project><artifactId>a</artifactId></project>",
                b"<project><groupId>h</groupId><artifactId>a</artifactId><version>1</version></project>"):
        place.repository.put(place.repository.path("g:a:1", ".pom"), bad)
        assert place.error("g:a:1").startswith("error ENOENT: [unresolved dependency: g#a;1: ")
    assert "bad organisation: expected='g' found='h'" in place.error("g:a:1")


def test_a_pom_does_not_grow_without_end(place):
    properties = "".join(f"<p{i}>{f'${{p{i + 1}}}' * 9}</p{i}>" for i in range(30)) + "<p30></p30>"
    place.repository.module("g:a:1", dependency("g:b:${p0}"), head=f"<properties>{properties}</properties>")
    assert "too many nested properties" in place.run("g:a:1").stderr
    entities = '<!ENTITY e0 "' + "x" * 100 + '">' + "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 9}">' for i in range(1, 30))
    pom = f"<!DOCTYPE project [{entities}]><project><artifactId>&e29;</artifactId></project>"
    place.repository.put(place.repository.path("g:a:1", ".pom"), pom.encode())
    assert "amplification" in place.run("g:a:1").stderr
    pom = f'<!DOCTYPE project [<!ENTITY e "{"x" * 1000000}">]><project>{"<a>&e;</a>" * 20}</project>'
    place.repository.put(place.repository.path("g:a:1", ".pom"), pom.encode())
    assert "its expanded entities are too large" in place.run("g:a:1").stderr


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
