"""A history server with logs in a remote file system, for `make check-hdfs` and `make check-s3`: logs are listed, opened, followed
while they grow, also rolling ones, and forgotten when they are removed."""
import json
import os
import pathlib
import subprocess
import tempfile
import urllib.error


from monitoring import history_server_test

APPLICATION = """
#include <firesteel/firesteel.h>
#include <unistd.h>
int main(void)
{
        int64_t n = 0;
        fst_context *sc = fst_context_new("watched in a remote file system");
        int r = fst_count(fst_range_n(sc, 0, 10, 2), &n);
        for (int i = 0; i < 12000 && access("%(gate)s", F_OK) != 0; i++)
                usleep(10000);
        return fst_context_stop(sc) || r;
}
"""


class History:
    """The directory of logs is @root/@directory. put(path, content) writes a file, remove(path) removes one. Servers and applications
    have @environment and @settings ("--conf", "spark.…"). appends(path, content) appends to a file; None: there is no such thing."""

    def __init__(self, expect, build, folder, root, directory, environment, settings, put, remove, mkdirs, appends=None):
        self.expect, self.programs, self.root, self.directory = expect, f"{build}/src", root, directory
        self.environment, self.settings, self.put, self.remove, self.appends = environment, list(settings), put, remove, appends
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=folder))
        self.gate, self.source = self.folder / "gate", self.folder / "watched.c"
        self.source.write_text(APPLICATION % {"gate": self.gate}, encoding="utf-8")
        mkdirs(directory)

    def conf(self):
        own = dict(word.split("=", 1) for word in self.settings[1::2])
        return {"spark.history.fs.logDirectory": self.root + self.directory, "spark.history.fs.update.interval": "200ms",
                "spark.history.store.path": str(self.folder / "store"), **own}

    def wait(self, what, condition):
        def holds():
            try:
                return condition()
            except (AssertionError, urllib.error.URLError, LookupError):
                return None
        try:
            found = history_server_test.wait_for(holds, 120)
        except AssertionError as error:
            self.expect(what, error, False)
        self.expect(what, found, True)
        return found

    def write(self, name, lines):
        self.put(f"{self.directory}/{name}", "".join(lines).encode())

    def check(self):
        history_server_test.FIRESTEEL = os.path.join(self.programs, "firesteel")
        before = dict(os.environ)
        os.environ.clear()
        os.environ.update(self.environment)
        server = None
        try:
            server = history_server_test.Server(self.folder, self.conf())
            self.check_files(server)
            self.check_application(server)
        finally:
            os.environ.clear()
            os.environ.update(before)
            if server:
                server.process.kill()
                server.process.wait()

    def check_files(self, server):
        whole, rolling = history_server_test.lines("app-1"), history_server_test.lines("app-2")
        self.write("app-1.inprogress", whole[:7])
        self.write("eventlog_v2_app-2/appstatus_app-2.inprogress", [])
        self.write("eventlog_v2_app-2/events_1_app-2", rolling[:7])
        self.wait("a history server lists logs of a remote directory", lambda: set(server.ids()) == {"app-1", "app-2"})
        for app in ("app-1", "app-2"):
            self.wait(f"… and opens {app}", lambda app=app: server.json(f"applications/{app}/stages")[0]["numCompleteTasks"] == 0)
        if self.appends:
            self.appends(f"{self.directory}/app-1.inprogress", "".join(whole[7:10]).encode())
        else:
            self.write("app-1.inprogress", whole[:10])
        self.write("eventlog_v2_app-2/events_2_app-2", rolling[7:10])
        for app, how in (("app-1", "grows"), ("app-2", "gets another file")):
            self.wait(f"a log that {how} is followed",
                      lambda app=app: server.json(f"applications/{app}/stages")[0]["numCompleteTasks"] == 2)
        self.write("app-1", whole)
        self.remove(f"{self.directory}/app-1.inprogress")
        self.write("eventlog_v2_app-2/events_3_app-2", rolling[10:])
        self.write("eventlog_v2_app-2/appstatus_app-2", [])
        self.remove(f"{self.directory}/eventlog_v2_app-2/appstatus_app-2.inprogress")
        for app in ("app-1", "app-2"):
            self.wait(f"{app} is complete", lambda app=app: server.json(f"applications/{app}")["attempts"][0]["completed"]
                      and server.json(f"applications/{app}/jobs")[0]["status"] == "SUCCEEDED")
        status, archive = server.get("/api/v1/applications/app-2/logs")
        self.expect("the log can be downloaded", status, status == 200 and archive.startswith("PK"))
        self.remove(f"{self.directory}/app-1")
        self.wait("a log that is removed is forgotten", lambda: server.ids() == ["app-2"])

    def check_application(self, server):
        """An application writes its log there."""
        command = [f"{self.programs}/spark-submit", "--master", "local[2]", *self.settings]
        for one in ("enabled=true", f"dir={self.root}{self.directory}", "rolling.enabled=true"):
            command += ["--conf", f"spark.eventLog.{one}"]
        with subprocess.Popen([*command, str(self.source)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
            try:
                self.gate.touch()
                said = process.communicate(timeout=120)[0]
                self.expect("an application logs there", said, process.returncode == 0)
                (app,) = self.wait("… and is listed", lambda: [i for i in server.ids() if i.startswith("local-")])
                self.wait("… with its job", lambda: [(job["status"], job["numCompletedTasks"])
                                                     for job in server.json(f"applications/{app}/jobs")] == [("SUCCEEDED", 2)])
                printed = subprocess.run([f"{self.programs}/firesteel", "jobs", f"{server.url}/history/{app}"], capture_output=True,
                                         text=True, timeout=60, check=False)
                self.expect("`firesteel jobs` prints it", printed, printed.returncode == 0 and "SUCCEEDED" in printed.stdout)
            finally:
                process.kill()
        attempt = json.dumps(server.json(f"applications/{app}")["attempts"][0])
        self.expect("it has ended", attempt, '"completed": true' in attempt)
