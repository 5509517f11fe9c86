"""firesteel applications, jobs, stages and executors print what a driver or a history server answers."""
import contextlib
import http.server
import json
import os
import re
import socket
import subprocess
import threading

import pytest

from event_log_tables_test import FAILED_LINES, LINES, T0
from folders import BIN, FIRESTEEL
from history_server_test import lines, server, wait_for, write


APPLICATION = r"""
#include <firesteel/firesteel.h>
#include <stdio.h>

int main(void)
{
        fst_context *sc = fst_context_new("watched");
        int64_t n = 0;
        fst_count(fst_range_n(sc, 0, 8, 4), &n);
        puts("counted");
        fflush(stdout);
        getchar();
        return fst_context_stop(sc);
}
"""


def run(*arguments, **environment):
    return subprocess.run([FIRESTEEL, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=120,
                          env={**os.environ, **environment})


def table(*arguments):
    """Return the rows of a table as dictionaries by its heading."""
    done = run(*arguments)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    heading, *rows = done.stdout.splitlines()
    names = re.split(r"  +", heading.strip())
    starts = [heading.index(name) for name in names[:1]]
    for name in names[1:]:
        starts.append(heading.index(name, starts[-1] + 1))
    return [{name: row[start:end].strip() for name, start, end in zip(names, starts, [*starts[1:], None])} for row in rows]


def fails(message, *arguments, status=1):
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (status, ""), done
    assert done.stderr.startswith("Error: ") and message in done.stderr, done.stderr


@pytest.mark.parametrize("events", (LINES, FAILED_LINES))
def test_history_server_prints_what_the_log_says(tmp_path, events):
    log = write(tmp_path, "app-1", events)
    with server(tmp_path) as s:
        wait_for(lambda: s.ids() == ["app-1"])
        for command in ("applications", "jobs", "stages", "executors"):
            expected = run(command, log)
            assert (expected.returncode, expected.stderr) == (0, "")
            for url in (s.url, f"{s.url}/", f"{s.url}/history/app-1", f"{s.url}/history/app-1/jobs/?a=b"):
                assert run(command, url).stdout == expected.stdout, (command, url)
        fails("has no application 'app-9'", "jobs", s.url, "--application", "app-9")
        fails("has no application 'app-9'", "applications", f"{s.url}/history/app-9/")


def test_several_applications_and_attempts(tmp_path):
    write(tmp_path, "app-1", lines())
    write(tmp_path, "app-2_1", lines("app-2", "1"))
    write(tmp_path, "app-2_2", lines("app-2", "2", start=T0 + 100000, tasks=1))
    write(tmp_path, "app-3.inprogress", lines("app-3", end=False))
    with server(tmp_path) as s:
        wait_for(lambda: len(s.ids()) == 3)
        found = [(row["ID"], row["ATTEMPT"], re.sub(r" \(last event at [0-9: -]{19}\)", ", last seen", row["STATE"])) for row in table("applications", s.url)]
        assert found == [("app-2", "2", "ENDED (exit status 3)"), ("app-2", "1", "ENDED (exit status 3)"),
                         ("app-1", "-", "ENDED (exit status 3)"), ("app-3", "-", "RUNNING, last seen")]
        fails(f"serves 3 applications: name one, as in {s.url}/history/ID", "stages", s.url)
        assert table("stages", s.url, "--application", "app-2")[0]["TASKS"] == "1/2"
        assert table("stages", "--application=app-2/1", s.url)[0]["TASKS"] == "2/2"
        assert table("stages", f"{s.url}/history/app-2/1")[0]["TASKS"] == "2/2"
        assert table("jobs", f"{s.url}/history/app-3")[0]["STATE"] == "RUNNING"
        assert len(table("applications", s.url, "--application", "app-2/1")) == 1
        fails("has no attempt '7'", "jobs", f"{s.url}/history/app-2/7")


def test_compare_reads_urls_as_logs(tmp_path):
    slower = [line.replace(str(T0 + 4500), str(T0 + 44500)).replace(str(T0 + 5000), str(T0 + 45000)).replace("app-1", "app-2")
              .replace('Run Time":2000', 'Run Time":42000') for line in LINES]
    first, second = write(tmp_path, "app-1", LINES), write(tmp_path, "app-2", slower)
    expected = run("compare", first, second)
    assert expected.returncode == 0 and "now limited by slow tasks (48 %)" in expected.stdout
    with server(tmp_path) as s:
        wait_for(lambda: len(s.ids()) == 2)
        for runs in ((f"{s.url}/history/app-1", f"{s.url}/history/app-2/"), (first, f"{s.url}/history/app-2/stages/"),
                     (f"{s.url}/history/app-1", second)):
            done = run("compare", *runs)
            assert (done.returncode, done.stdout, done.stderr) == (0, expected.stdout, "")
        fails(f"name one, as in {s.url}/history/ID", "compare", s.url, second)
        fails("has no application 'app-9'", "compare", first, f"{s.url}/history/app-9")
    fails("nothing listens at", "compare", first, s.url)


def test_running_driver(tmp_path):
    source = tmp_path / "watched.c"
    source.write_text(APPLICATION)
    with subprocess.Popen([os.path.join(BIN, "spark-submit"), "--master", "local[2]", "--conf", "spark.ui.port=0", source],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            log = ""
            while "Job 0 finished" not in log:
                line = process.stderr.readline()
                assert line, log
                log += line
            url = re.search(r"started at (http://localhost:\d+)", log).group(1).replace("localhost", "127.0.0.1")
            wait_for(lambda: [job["STATE"] for job in table("jobs", f"{url}/jobs/")] == ["SUCCEEDED"])
            application = table("applications", url)[0]
            assert (application["NAME"], application["STATE"]) == ("watched", "RUNNING")
            assert table("jobs", url)[0]["TASKS"] == "4/4"
            stage = table("stages", url)[0]
            assert (stage["STATE"], stage["TASKS"]) == ("COMPLETE", "4/4")
            executor = table("executors", url, "--application", application["ID"])[0]
            assert (executor["EXECUTOR"], executor["STATE"], executor["COMPLETED"]) == ("driver", "ACTIVE", "4")
            fails("has no application 'other'", "jobs", url, "--application", "other")
            compared = run("compare", url, url)
            assert compared.returncode == 0 and re.search(r"^tasks +4 +4 +=$", compared.stdout, re.M), compared
            process.communicate("\n", timeout=120)
            assert process.returncode == 0
        finally:
            process.kill()
    fails("nothing listens at", "jobs", url)


def test_applications_of_this_host_are_found_at_moved_ports(tmp_path):
    source = tmp_path / "found.c"
    source.write_text(APPLICATION)
    with contextlib.ExitStack() as stack:
        # The second driver finds the port of the first one taken.
        for name in ("first", "second"):
            process = stack.enter_context(subprocess.Popen(
                [os.path.join(BIN, "spark-submit"), "--master", "local[2]", "--name", name, source],
                stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True))
            stack.callback(process.kill)
            found = None
            while not found:
                line = process.stderr.readline()
                assert line
                found = re.search(r"started at (http://localhost:(\d+))", line)
            threading.Thread(target=process.stderr.read, daemon=True).start()
            # Drivers of other tests may be listed, too.
            listed = wait_for(lambda url=found.group(1): [
                line for line in run("applications").stdout.splitlines() if line.endswith(" " + url)])
            assert len(listed) == 1 and " RUNNING " in listed[0], listed
    fails("name an event log or a URL", "applications", "--application", "x", status=2)


class Answers(http.server.BaseHTTPRequestHandler):
    """Answers each path with what the test says."""

    def do_GET(self):
        status, text = self.server.answers.get(self.path.split("?")[0], (404, "<html>nothing here</html>"))
        self.send_response(status)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass


@pytest.fixture(name="site")
def start_site():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers) as running:
        running.answers = {}
        running.url = f"http://127.0.0.1:{running.server_address[1]}"
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def test_answers_of_other_servers_are_explained(site):
    fails("does not answer as a driver or a history server (HTTP status 404)", "jobs", site.url)
    for answer, message in (((401, ""), "asks for a login (HTTP status 401): name it in the URL"),
                            ((403, 'user "x" is not authorized'), 'refuses access (HTTP status 403: user "x" is not'),
                            ((503, "busy"), "cannot answer now (HTTP status 503: busy): try again"),
                            ((200, "<html>"), "no JSON at /api/v1"), ((200, "{}"), "no JSON at /api/v1"),
                            ((200, "[]"), "has no application"), ((200, '[{"id":'), "no JSON at /api/v1")):
        site.answers["/api/v1/applications"] = answer
        fails(message, "jobs", site.url)


def test_answers_without_members_and_with_controls(site):
    site.answers["/up/api/v1/applications"] = (200, '[{"id": "a b", "name": "x\\u001b[31m", "attempts": [{}]}]')
    site.answers["/up/api/v1/applications/a%20b/jobs"] = (200, '[{}, {"jobId": "text", "stageIds": 3}]')
    site.answers["/up/api/v1/applications/a%20b/stages"] = (200, json.dumps(
        [{"stageId": 1, "status": "ACTIVE", "taskMetricsDistributions": {"duration": [1500.0, "x"]}}]))
    site.answers["/up/api/v1/applications/a%20b/allexecutors"] = (200, '[{"id": "1", "isActive": true}]')
    assert table("applications", f"{site.url}/up/")[0]["NAME"] == "x [31m"
    assert len(table("jobs", f"{site.url}/up")) == 2
    row = table("stages", f"{site.url}/up/stages/")[0]
    assert (row["MEDIAN"], row["LONGEST"], row["LIMITED BY"]) == ("1.5 s", "-", "-")
    assert table("executors", f"{site.url}/up/executors/")[0]["STATE"] == "ACTIVE"


def test_wrong_arguments():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://name:secret@127.0.0.1:{free.getsockname()[1]}"
    done = run("jobs", url)
    assert done.returncode == 1 and "secret" not in done.stderr
    fails("--application has no value", "jobs", url, "--application", status=2)
    fails("an event log holds one application", "jobs", "log", "--application", "a", status=2)
    fails("not several", "jobs", url, url, status=2)
    fails("unknown option", "jobs", url, "--nope", status=2)
    fails("name an event log or a URL", "jobs", status=2)
    fails("names no host", "jobs", "http:///x")
    fails("the application id is empty", "jobs", url, "--application", "")
