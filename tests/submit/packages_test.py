"""--packages with local repositories: the cases of Spark's SparkSubmitUtilsSuite and MavenUtilsSuite.
tests/spark/check_packages compares with genuine Ivy."""
import json
import os
import subprocess
import zipfile

import pytest

from maven_repository import BUILD, Repository, dependency


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


def test_spark_submit_takes_them(place):
    place.repository.module("g:a:1", dependency("g:b:1"))
    place.repository.module("g:b:1")
    words = ["--master", "local", "--packages", "g:a:1", "--conf", f"spark.jars.ivy={place.ivy}", "--dry-run", "--output",
             "json", "--class", "X", "app.jar"]
    place.repository.jar("g:app:1")
    place.repository.path("g:app:1", ".jar").rename(place.folder / "app.jar")
    done = subprocess.run([os.path.join(BUILD, "src", "spark-submit"), *words], env=place.environment(),
                          capture_output=True, text=True, timeout=120, check=False, cwd=place.folder)
    assert done.returncode == 0, done.stderr
    jars = json.loads(done.stdout)["conf"]["spark.jars"].split(",")
    assert [os.path.basename(j) for j in jars[:2]] == ["g_a-1.jar", "g_b-1.jar"]
    assert "\tfound g#b;1 in central\n" in done.stderr
