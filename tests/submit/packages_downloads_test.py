"""--packages over HTTP: checksums, failed downloads, silent hosts, and the shared cache."""
import hashlib
import subprocess

import pytest

from maven_repository import dependency, parent, server
from sanitizers import SANITIZED

# The text before the name of a file in the output.
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


def test_http_and_a_second_time_without_it(place):
    r = place.repository
    r.module("g:a:1", dependency("g:b:1"), head=parent("g:p:1"))
    r.module("g:p:1", jar=False, packaging="pom")
    r.module("g:b:1")
    with server(r.folder) as (url, asked):
        assert place.jars("g:a:1", central="file:/nowhere", repositories=url) == ["a-1", "b-1"]
        assert "/g/a/1/a-1.jar.sha1" in asked
    # The server has ended, and the cache has everything needed.
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


def test_a_host_that_does_not_answer_is_asked_once(place):
    with server(place.folder) as (url, _):
        pass
    place.repository.module("g:a:1", dependency("g:b:1"))
    place.repository.module("g:b:1")
    done = place.run("g:a:1,g:c:1", central=url, repositories=place.repository.url)
    assert done.stderr.splitlines()[-1] == "error ENOENT: [unresolved dependency: g#c;1: not found]"
    assert done.stderr.count("it is not asked again") == 1


def test_a_host_is_waited_for_once_by_all_jars(place):
    """The cache has descriptions but no jars, and the server refuses connections. Ivy would wait for each jar."""
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
    # Two threads may ask at the same moment. All others get the result.
    asked = [line for line in done.stderr.splitlines() if "[FAILED" in line and "the host was unreachable before" not in line]
    told = [line for line in done.stderr.splitlines() if "[FAILED" in line and "the host was unreachable before" in line]
    assert 1 <= len(asked) <= 2 and len(asked) + len(told) == len(names)
    assert "it is not asked again" not in done.stderr  # by the second try, without the local repository


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
