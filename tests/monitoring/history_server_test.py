"""firesteel history-server lists applications from event logs, serves them, and follows growing logs."""
import contextlib
import io
import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import threading
import time
import urllib.error
import urllib.request
import zipfile

import pytest
from folders import FIRESTEEL
from full_number import full_number
from sanitizers import SANITIZED

T0 = 1700000000000
READERS = full_number(150, 80)  # more than the server has threads


def stage_info(**more):
    return {"Stage ID": 0, "Stage Attempt ID": 0, "Stage Name": "count at a.c:1", "Number of Tasks": 2, "RDD Info": [],
            "Parent IDs": [], "Details": "", "Submission Time": T0 + 1000, **more}


def task_info(number, **more):
    return {"Task ID": number, "Index": number, "Attempt": 0, "Launch Time": T0 + 1000, "Executor ID": "0", "Host": "h",
            "Locality": "ANY", "Speculative": False, "Getting Result Time": 0, **more}


def lines(app="app-1", attempt=None, user="me", start=T0, conf=None, end=True, tasks=2):
    """Return the lines of a log."""
    begin = {"Event": "SparkListenerApplicationStart", "App Name": f"name of {app}", "App ID": app, "Timestamp": start,
             "User": user}
    if attempt:
        begin["App Attempt ID"] = attempt
    events = [
        {"Event": "SparkListenerLogStart", "Spark Version": "4.3.0"},
        {"Event": "SparkListenerEnvironmentUpdate", "JVM Information": {}, "Spark Properties": conf or {},
         "System Properties": {}, "Classpath Entries": {}},
        begin,
        {"Event": "SparkListenerExecutorAdded", "Timestamp": start, "Executor ID": "0",
         "Executor Info": {"Host": "h", "Total Cores": 3, "Log Urls": {}}},
        {"Event": "SparkListenerJobStart", "Job ID": 7, "Submission Time": start + 1000, "Stage Infos": [stage_info()],
         "Stage IDs": [0]},
        {"Event": "SparkListenerStageSubmitted", "Stage Info": stage_info()},
    ]
    for i in range(tasks):
        events += [
            {"Event": "SparkListenerTaskStart", "Stage ID": 0, "Stage Attempt ID": 0, "Task Info": task_info(i)},
            {"Event": "SparkListenerTaskEnd", "Stage ID": 0, "Stage Attempt ID": 0, "Task Type": "ResultTask",
             "Task End Reason": {"Reason": "Success"}, "Task Info": task_info(i, **{"Finish Time": T0 + 3500}),
             "Task Metrics": {"Executor Run Time": 2000}}]
    if end:
        events += [
            {"Event": "SparkListenerStageCompleted", "Stage Info": stage_info(**{"Completion Time": T0 + 5000})},
            {"Event": "SparkListenerJobEnd", "Job ID": 7, "Completion Time": start + 6000,
             "Job Result": {"Result": "JobSucceeded"}},
            {"Event": "SparkListenerApplicationEnd", "Timestamp": start + 9000, "ExitCode": 3}]
    return [json.dumps(event, separators=(",", ":")) + "\n" for event in events]


def wait_for(condition, seconds=120):
    """Wait until condition() is true. Return its value."""
    until = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < until, "the condition did not become true"
        time.sleep(0.02)
    return value


class Server:
    """A history server on a free port."""

    def __init__(self, folder, conf, name="server"):
        self.log = folder / f"{name}.err"
        properties = folder / f"{name}.conf"
        conf = {"spark.history.ui.port": "0", "spark.history.fs.update.interval": "60s", **conf}
        properties.write_text("".join(f"{key} {value}\n" for key, value in conf.items()))
        with open(self.log, "w", encoding="utf-8") as err:
            self.process = subprocess.Popen([FIRESTEEL, "history-server", "--properties-file", str(properties)], stderr=err)
        line = wait_for(self.started)
        self.url = f"http://127.0.0.1:{line.split('on port ')[1].split('.')[0]}"

    def started(self):
        assert self.process.poll() is None, self.log.read_text()
        return next((line for line in self.log.read_text().splitlines() if "Successfully started service" in line), None)

    def get(self, path, **headers):
        """Return the status and the text of the answer."""
        request = urllib.request.Request(self.url + path, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return answer.status, answer.read().decode(errors="replace")
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode(errors="replace")

    def json(self, path):
        status, text = self.get("/api/v1/" + path)
        assert status == 200, text
        return json.loads(text)

    def ids(self, query=""):
        return [app["id"] for app in self.json("applications" + query)]

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(120) == 128 + signal.SIGTERM


@contextlib.contextmanager
def server(tmp_path, name="server", **conf):
    (tmp_path / "logs").mkdir(exist_ok=True)
    running = Server(tmp_path, {"spark.history.fs.logDirectory": tmp_path / "logs",
                                **{key.replace("_", "."): value for key, value in conf.items()}}, name)
    try:
        yield running
        running.end()
    finally:
        if running.process.poll() is None:
            running.process.kill()
            running.process.wait()


def write(tmp_path, name, content):
    path = tmp_path / "logs" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(content))
    return path


def test_lists_and_serves_applications(tmp_path):
    write(tmp_path, "app-1", lines())
    write(tmp_path, "app-2_1", lines("app-2", "1"))
    write(tmp_path, "app-2_2", lines("app-2", "2", start=T0 + 100000))
    write(tmp_path, "app-3.inprogress", lines("app-3", end=False))
    write(tmp_path, "eventlog_v2_app-4/appstatus_app-4", [])
    write(tmp_path, "eventlog_v2_app-4/events_1_app-4", lines("app-4", start=T0 + 5)[:4])
    write(tmp_path, "eventlog_v2_app-4/events_2_app-4", lines("app-4", start=T0 + 5)[4:])
    write(tmp_path, "notes.txt", ["no log\n"])
    with server(tmp_path) as s:
        wait_for(lambda: len(s.ids()) == 4)
        assert s.ids() == ["app-2", "app-4", "app-1", "app-3"]
        assert s.ids("?status=running") == ["app-3"]
        app = s.json("applications/app-2")
        assert [attempt["attemptId"] for attempt in app["attempts"]] == ["2", "1"]
        first = s.json("applications/app-1")["attempts"][0]
        assert (first["startTimeEpoch"], first["endTimeEpoch"], first["duration"]) == (T0, T0 + 9000, 9000)
        assert (first["completed"], first["exitCode"], first["sparkUser"]) == (True, 3, "me")
        assert first["logSourceFullPath"] == f"file:{tmp_path}/logs"
        for path in ("app-1", "app-2/1", "app-2/2", "app-4"):
            stages = s.json(f"applications/{path}/stages")
            assert [(g["status"], g["numCompleteTasks"]) for g in stages] == [("COMPLETE", 2)], path
        assert s.json("applications/app-3/jobs")[0]["status"] == "RUNNING"
        assert s.get("/api/v1/applications/app-9")[0] == 404
        assert s.get("/history/app-9/jobs/") == (404, "Application app-9 not found.")
        for page in ("app-2/2/jobs/", "app-1/stages/", "app-1/stages/stage/?id=0&attempt=0", "app-3/executors/"):
            status, text = s.get(f"/history/{page}")
            assert status == 200 and "name of app-" in text, page
        status, text = s.get("/history/app-2/2/jobs/")
        assert status == 200 and "Completed Jobs (1)" in text and 'href="/history/app-2/2/stages/"' in text
        assert 'href="/static/firesteel-ui.css?v=' in text and "<script" not in text
        assert s.get("/static/firesteel-ui.css")[0] == 200


def test_compares_two_applications(tmp_path):
    write(tmp_path, "app-1", lines())
    write(tmp_path, "app-2_1", lines("app-2", "1", start=T0 + 7))
    with server(tmp_path) as s:
        wait_for(lambda: len(s.ids()) == 2)
        assert "/compare/" in s.get("/")[1]
        status, text = s.get("/compare/")
        assert status == 200 and 'name="b"' in text
        status, text = s.get("/compare/?a=app-1&b=app-2/1")
        assert status == 200 and "app-1</th>" in text and "app-2</th>" in text and "task time" in text
        for query in ("a=app-1&b=app-9", "a=app-9/1&b=app-1", "a=app-1&b=%3Cb%3E"):
            status, text = s.get("/compare/?" + query)
            assert status == 404 and "not found." in text and "<b>" not in text


def test_list_page(tmp_path):
    for i in range(5):
        write(tmp_path, f"app-{i}", lines(f"app-{i}", user="<b>", start=T0 + i * 1000))
    write(tmp_path, "app-5.inprogress", lines("app-5", end=False))
    with server(tmp_path, spark_history_ui_title="Old work") as s:
        wait_for(lambda: len(s.ids()) == 6)
        page = s.get("/")[1]
        assert "Old work" in page and "Completed applications" in page and "app-5" not in page
        assert "&lt;b&gt;" in page and "<b>" not in page and "<script" not in page
        found = [page.index(f"/history/app-{i}/jobs/") for i in range(5)]
        assert found == sorted(found, reverse=True)
        page = s.get("/?app.sort=App%20ID&app.pageSize=2&app.page=2")[1]
        assert [f"app-{i}/jobs" in page for i in range(5)] == [False, False, True, True, False]
        assert "App Name</a></th>" in page and 'aria-sort="' in page and "&quot;" not in page
        page = s.get("/?search=APP-3")[1]
        assert [f"app-{i}/jobs" in page for i in range(5)] == [False, False, False, True, False]
        page = s.get("/?showIncomplete=true")[1]
        assert "app-5/jobs" in page and "app-1" not in page
        assert s.get("/?app.sort=Nothing")[0] == 400
        status, page = s.get("/any/path")
        assert status == 404 and "There is no page /any/path" in page and "All applications" in page


def test_list_page_names_a_directory_that_cannot_be_listed(tmp_path):
    logs = tmp_path / "logs"
    logs.mkdir(exist_ok=True)
    with server(tmp_path, spark_history_fs_update_interval="200ms") as s:
        wait_for(lambda: "No completed applications found." in s.get("/")[1])
        logs.rename(tmp_path / "away")
        wait_for(lambda: "Event logs cannot be listed: " in s.get("/")[1])
        page = s.get("/?showIncomplete=true")[1]
        assert f"{tmp_path}/logs" in page and "No such file" in page and "applications found" not in page
        assert s.log.read_text().count("ERROR FsHistoryProvider: Exception in checking for event log updates: ") == 1
        (tmp_path / "away").rename(logs)
        wait_for(lambda: "No completed applications found." in s.get("/")[1])


def test_log_names_address_and_directories(tmp_path):
    (tmp_path / "more").mkdir()
    os.environ["SPARK_PUBLIC_DNS"] = "logs.example"
    try:
        with server(tmp_path, spark_history_fs_logDirectory=f"{tmp_path}/logs,{tmp_path}/more") as s:
            port = s.url.rsplit(":", 1)[1]
            wait_for(lambda: f", and started at http://logs.example:{port}\n" in s.log.read_text())
            text = s.log.read_text()
            assert text.count("INFO HistoryServer: Bound HistoryServer to ") == 1
            for name in ("logs", "more"):
                assert text.count(f"INFO FsHistoryProvider: Reading event logs from file:{tmp_path}/{name}\n") == 1
    finally:
        del os.environ["SPARK_PUBLIC_DNS"]


def test_new_grown_and_removed_logs(tmp_path):
    with server(tmp_path, spark_history_fs_update_interval="1h") as s:  # only changes of the directory start scans
        wait_for(lambda: "Successfully" in s.log.read_text())
        write(tmp_path, ".new", lines()).rename(tmp_path / "logs" / "app-1")
        wait_for(lambda: s.ids() == ["app-1"])
        (tmp_path / "logs" / "app-1").unlink()
        wait_for(lambda: s.ids() == [])


def test_growing_log_is_followed(tmp_path):
    text = lines()
    log = write(tmp_path, "app-1.inprogress", text[:7] + [text[7][:50]])
    with server(tmp_path, spark_history_fs_update_interval="200ms") as s:
        wait_for(lambda: s.ids() == ["app-1"])
        assert s.json("applications/app-1/stages")[0]["numCompleteTasks"] == 0
        with open(log, "a", encoding="utf-8") as out:
            out.write("".join([text[7][50:], *text[8:10]]))
        wait_for(lambda: s.json("applications/app-1/stages")[0]["numCompleteTasks"] == 2)
        with open(log, "a", encoding="utf-8") as out:
            out.write("".join(text[10:]))
        log.rename(tmp_path / "logs" / "app-1")
        wait_for(lambda: s.json("applications/app-1")["attempts"][0]["completed"])
        wait_for(lambda: s.json("applications/app-1/jobs")[0]["status"] == "SUCCEEDED")
        assert len(s.ids()) == 1


def test_damaged_lines_are_reported_and_skipped(tmp_path):
    text = lines()
    write(tmp_path, "app-1", text[:7] + ["{broken\n"] + text[8:])
    with server(tmp_path) as s:
        wait_for(lambda: s.ids() == ["app-1"])
        assert s.json("applications/app-1/jobs")[0]["status"] == "SUCCEEDED"
        assert "app-1: line 8 is skipped" in s.log.read_text()


def test_logs_are_downloaded_as_zip(tmp_path):
    write(tmp_path, "app-1", lines())
    write(tmp_path, "eventlog_v2_app-2/appstatus_app-2", [])
    write(tmp_path, "eventlog_v2_app-2/events_1_app-2", lines("app-2"))
    with server(tmp_path) as s:
        wait_for(lambda: len(s.ids()) == 2)
        for app, names in (("app-1", ["app-1"]), ("app-2", ["eventlog_v2_app-2/", "eventlog_v2_app-2/appstatus_app-2",
                                                            "eventlog_v2_app-2/events_1_app-2"])):
            with urllib.request.urlopen(f"{s.url}/api/v1/applications/{app}/logs", timeout=120) as answer:
                assert answer.headers["Content-Disposition"] == f"attachment; filename=eventLogs-{app}.zip"
                with zipfile.ZipFile(io.BytesIO(answer.read())) as found:
                    assert found.namelist() == names
                    assert found.read(names[-1]).decode() == "".join(lines(app))


def test_readers_that_never_read_cost_little(tmp_path):
    def memory(s):
        with open(f"/proc/{s.process.pid}/status", encoding="ascii") as status:
            return int(next(line for line in status if line.startswith("VmRSS")).split()[1]) >> 10
    write(tmp_path, "app-1", lines("app-1", tasks=20000))
    with server(tmp_path) as s:
        wait_for(lambda: s.ids() == ["app-1"])
        whole = s.get("/api/v1/applications/app-1/stages/0/0/taskList?length=100000")[1]
        assert len(json.loads(whole)) == 20000
        before = memory(s)
        with contextlib.ExitStack() as stack:
            for i in range(READERS):
                client = stack.enter_context(socket.create_connection(("127.0.0.1", int(s.url.rsplit(":", 1)[1]))))
                path = ("stages?details=true", "stages/0/0/taskList?length=100000", "logs")[i % 3]
                client.sendall(f"GET /api/v1/applications/app-1/{path} HTTP/1.1\r\nHost: h\r\n\r\n".encode())
            stages = s.get("/api/v1/applications/app-1/stages?details=true")[1]
            assert json.loads(stages)[0]["numCompleteTasks"] == 20000
            assert s.get("/api/v1/applications/app-1/stages?details=true")[1] == stages
            # 300 KiB for each reader of 32 MiB. A sanitizer keeps freed memory for a while.
            assert SANITIZED or memory(s) - before < READERS * 300 // 1024, (before, memory(s))
        assert s.get("/api/v1/applications/app-1/stages/0/0/taskList?length=100000")[1] == whole


def test_large_logs_do_not_delay_a_small_one(tmp_path):
    large, n_requests = ["large-%d" % i for i in range(5)], 100
    megabytes = 4 if SANITIZED else 40
    for name in large:
        head, tasks, tail = lines(name)[:6], "".join(lines(name)[6:10]), lines(name)[10:]
        with open(write(tmp_path, name, head), "a", encoding="utf-8") as log:
            for _ in range(megabytes):
                log.write(tasks * ((1 << 20) // len(tasks)))
            log.writelines(tail)
    write(tmp_path, "small", lines("small"))
    answers_to = {name: [] for name in large}

    def ask(name):
        answers_to[name].append(s.get(f"/api/v1/applications/{name}/stages/0/0?details=false"))

    with server(tmp_path, spark_history_numReplayThreads="1") as s:
        wait_for(lambda: len(s.ids()) == len(large) + 1)
        # More requests than the server has threads.
        waiting = [threading.Thread(target=ask, args=(large[i % len(large)],)) for i in range(n_requests)]
        for thread in waiting:
            thread.start()
        assert s.json("applications/small/stages/0/0?details=false")["numTasks"] == 2
        for thread in waiting:
            thread.join()
        for name in large:
            assert len(answers_to[name]) == n_requests // len(large)
            for status, text in answers_to[name]:
                assert status == 200 and json.loads(text)["stageId"] == 0, text


def test_a_log_that_cannot_be_read_answers_all_that_wait(tmp_path):
    write(tmp_path, "app-1", lines())
    with server(tmp_path) as s:
        wait_for(lambda: s.ids() == ["app-1"])
        (tmp_path / "logs" / "app-1").unlink()
        texts = []
        waiting = [threading.Thread(target=lambda: texts.append(s.get("/history/app-1/jobs/"))) for _ in range(30)]
        for thread in waiting:
            thread.start()
        for thread in waiting:
            thread.join()
        assert {status for status, _ in texts} <= {404, 500} and len(texts) == 30, texts


def test_logs_are_found_by_id(tmp_path):
    cold = tmp_path / "cold"
    cold.mkdir()
    (cold / "app-7").write_text("".join(lines("app-7")))
    (cold / "app-8_1.inprogress").write_text("".join(lines("app-8", attempt="1", end=False)))
    write(tmp_path, "app-1", lines())
    with server(tmp_path, spark_history_fs_logDirectory=f"{tmp_path}/logs,{cold}",
                spark_history_fs_update_scanDisabledPathPatterns=f"file:/nowhere/.*, file:{tmp_path}/co.*") as s:
        wait_for(lambda: s.ids() == ["app-1"])
        assert s.get("/api/v1/applications/app-9/jobs")[0] == 404
        assert s.get("/api/v1/applications/..%2Flogs%2Fapp-1/jobs")[0] == 404
        assert s.json("applications/app-7/jobs")[0]["status"] == "SUCCEEDED"
        assert s.json("applications/app-7")["attempts"][0]["completed"]
        assert "name of app-8" in s.get("/history/app-8/1/jobs/")[1]
        assert set(s.ids()) == {"app-1", "app-7", "app-8"}
        (cold / "app-8_1.inprogress").unlink()
        (cold / "app-8_1").write_text("".join(lines("app-8", attempt="1")))
        wait_for(lambda: s.json("applications/app-8/1/jobs")[0]["status"] == "SUCCEEDED")
    with server(tmp_path, "off", spark_history_fs_logDirectory=cold, spark_history_fs_eventLog_onDemandLoadEnabled="false",
                spark_history_fs_update_scanDisabledPathPatterns=".*") as s:
        assert s.get("/api/v1/applications/app-7/jobs")[0] == 404


def test_urls_of_logs_follow_the_pattern(tmp_path):
    def with_attributes(end, **attributes):
        log = lines("app-1", end=end)
        event = json.loads(log[3])
        event["Executor Info"].update({"Log Urls": {"stdout": "http://old"}, "Attributes": attributes})
        log[3] = json.dumps(event) + "\n"
        return log

    def urls(s):
        """Those of the executor and of its task, which is asked afterwards."""
        return [s.json("applications/app-1/allexecutors")[0]["executorLogs"],
                s.json("applications/app-1/stages/0/0/taskList")[0]["executorLogs"]]
    files = {"stdout": "http://logs/c1/stdout", "stderr": "http://logs/c1/stderr"}
    conf = {"spark_history_custom_executor_log_url": "http://logs/{{CONTAINER_ID}}/{{FILE_NAME}}",
            "spark_history_fs_update_interval": "200ms"}
    write(tmp_path, "app-1.inprogress", with_attributes(False, CONTAINER_ID="c1", LOG_FILES="stdout,stderr"))
    with server(tmp_path, **conf) as s:
        wait_for(lambda: s.ids() == ["app-1"])
        assert urls(s) == [files] * 2
    with server(tmp_path, "running", **conf,
                spark_history_custom_executor_log_url_applyIncompleteApplication="false") as s:
        wait_for(lambda: s.ids() == ["app-1"])
        assert urls(s) == [{"stdout": "http://old"}] * 2
        (tmp_path / "logs" / "app-1.inprogress").unlink()
        write(tmp_path, "app-1", with_attributes(True, CONTAINER_ID="c1", LOG_FILES="stdout,stderr"))
        wait_for(lambda: urls(s) == [files] * 2)
    write(tmp_path, "app-1", with_attributes(True, LOG_FILES="stdout"))
    with server(tmp_path, "lacking", **conf) as s:
        wait_for(lambda: s.ids() == ["app-1"])
        assert urls(s) == [{"stdout": "http://old"}] * 2
        assert "spark.history.custom.executor.log.url" in s.log.read_text()


def test_rolling_log_is_compacted_while_it_grows(tmp_path):
    top = tmp_path / "logs" / "eventlog_v2_app-1"
    top.mkdir(parents=True)
    whole = lines("app-1")

    def job(number):
        text = "".join(whole[4:-1])
        return text.replace('"Job ID":7', f'"Job ID":{number}').replace('"Stage ID":0', f'"Stage ID":{number}') \
                   .replace('"Stage IDs":[0]', f'"Stage IDs":[{number}]').replace('"Task ID":', f'"Task ID":{number}')
    (top / "appstatus_app-1.inprogress").write_text("")
    (top / "events_1_app-1").write_text("".join(whole[:4]) + job(1))
    (top / "events_2_app-1").write_text(job(2))
    with server(tmp_path, spark_history_fs_update_interval="200ms",
                spark_history_fs_eventLog_rolling_maxFilesToRetain="2") as s:
        wait_for(lambda: s.ids() == ["app-1"])
        assert [job["jobId"] for job in s.json("applications/app-1/jobs")] == [2, 1]
        for i in range(3, 8):
            (top / f"events_{i}_app-1").write_text(job(i))
            wait_for(lambda: (top / f"events_{i - 2}_app-1.compact").exists() and not (top / f"events_{i - 2}_app-1").exists())
        assert sorted(path.name for path in top.iterdir()) == ["appstatus_app-1.inprogress", "events_5_app-1.compact",
                                                               "events_6_app-1", "events_7_app-1"]
        # A loaded application may have read more before it was compacted.
        wait_for(lambda: [job["jobId"] for job in s.json("applications/app-1/jobs")][:2] == [7, 6])
        with open(top / "events_7_app-1", "a", encoding="utf-8") as out:
            out.write(whole[-1])
        (top / "appstatus_app-1.inprogress").rename(top / "appstatus_app-1")
        wait_for(lambda: s.json("applications/app-1")["attempts"][0]["completed"])
    with server(tmp_path, "again") as s:
        wait_for(lambda: s.ids() == ["app-1"])
        assert [job["jobId"] for job in s.json("applications/app-1/jobs")] == [7, 6]


def test_acls_of_applications(tmp_path):
    write(tmp_path, "app-1", lines(user="ann", conf={"spark.ui.view.acls": "bob,eve"}))
    with server(tmp_path, spark_history_ui_acls_enable="true", spark_acls_enable="true") as s:
        wait_for(lambda: s.ids() == ["app-1"])
        status, text = s.get("/api/v1/applications/app-1/jobs")
        assert status == 403, text
        assert "has no effect" in s.log.read_text()


def test_cleaner_deletes_old_logs(tmp_path):
    old = write(tmp_path, "app-1", lines())
    new = write(tmp_path, "app-2", lines("app-2"))
    driver_log = tmp_path / "drivers" / "app-1_driver.log"
    driver_log.parent.mkdir()
    driver_log.write_text("x")
    for path in (old, driver_log):
        os.utime(path, (time.time() - 9 * 86400,) * 2)
    with server(tmp_path, **{"spark_history_fs_cleaner_enabled": "true", "spark_history_fs_cleaner_interval": "1s",
                             "spark_driver_log_dfsDir": tmp_path / "drivers"}) as s:
        wait_for(lambda: not old.exists() and not driver_log.exists())
        assert new.exists()
        wait_for(lambda: s.ids() == ["app-2"])


def test_errors_of_the_command(tmp_path):
    def run(*words, **env):
        return subprocess.run([FIRESTEEL, "history-server", *words], capture_output=True, text=True, timeout=120,
                              env={**os.environ, **env}, check=False)
    done = run("--nope", "x")
    assert done.returncode == 1 and "Unrecognized options: --nope x" in done.stderr
    assert run("--help").returncode == 0
    done = run(SPARK_HISTORY_OPTS=f"-Dspark.history.fs.logDirectory={tmp_path}/nothing")
    assert done.returncode == 1 and "does not exist" in done.stderr and "spark.history.fs.logDirectory" in done.stderr
    done = run(SPARK_HISTORY_OPTS="-Dspark.history.provider=com.example.Provider")
    assert done.returncode == 1 and "JVM class" in done.stderr


RESOURCES = ["", "/jobs", "/jobs/7", "/stages?details=true&withSummaries=true", "/stages/0/0?withSummaries=true",
             "/stages/0/0/taskSummary", "/stages/0/0/taskList", "/executors", "/allexecutors", "/storage/rdd",
             "/environment", "/allmiscellaneousprocess"]


def answers(s, app):
    return [s.get(f"/api/v1/applications/{app}{resource}") for resource in RESOURCES]


def test_restart_reads_nothing_again(tmp_path):
    text = lines(tasks=3000)
    log = write(tmp_path, "app-1", text)
    write(tmp_path, "app-2.inprogress", lines("app-2", end=False))
    conf = {"spark_history_store_path": tmp_path / "store", "spark_ui_retainedTasks": "2000"}
    with server(tmp_path, **conf) as s:
        wait_for(lambda: len(s.ids()) == 2)
        before = answers(s, "app-1")
        assert all(status == 200 for status, _ in before)
    # A log of the same size and time, which nothing could be read from.
    times = log.stat()
    log.write_text("x" * times.st_size)
    os.utime(log, ns=(times.st_atime_ns, times.st_mtime_ns))
    with server(tmp_path, "again", **conf) as s:
        wait_for(lambda: len(s.ids()) == 2)
        assert answers(s, "app-1") == before
        assert s.json("applications/app-2/jobs")[0]["status"] == "RUNNING"
        assert "is skipped" not in s.log.read_text()
    # Another limit needs another status: the log is read, and has nothing any more.
    with server(tmp_path, "third", **{**conf, "spark_ui_retainedTasks": "1000"}) as s:
        wait_for(lambda: len(s.ids()) == 2)
        assert s.json("applications/app-1/jobs") == []


def test_damaged_store_is_replaced(tmp_path):
    write(tmp_path, "app-1", lines())
    conf = {"spark_history_store_path": tmp_path / "store"}
    with server(tmp_path, **conf) as s:
        wait_for(lambda: s.ids() == ["app-1"])
    database = tmp_path / "store" / "history.sqlite"
    database.write_bytes(b"\1" * database.stat().st_size)
    with server(tmp_path, "again", **conf) as s:
        wait_for(lambda: s.ids() == ["app-1"])
        assert "is replaced" in s.log.read_text()


def test_damaged_tasks_in_the_store_are_read_from_the_log(tmp_path):
    write(tmp_path, "app-1", lines(tasks=5000))
    conf = {"spark_history_store_path": tmp_path / "store"}
    targets = ["/history/app-1/stages/stage/?id=0&attempt=0", "/api/v1/applications/app-1/stages/0/0/taskList?length=9",
               "/api/v1/applications/app-1/stages?details=true", "/history/app-1/stages/", "/compare/?a=app-1&b=app-1"]
    with server(tmp_path, **conf) as s:
        wait_for(lambda: s.ids() == ["app-1"])
        before = [s.get(target) for target in targets]
    assert all(answer[0] == 200 for answer in before)
    for i, target in enumerate(targets):
        with contextlib.closing(sqlite3.connect(tmp_path / "store" / "history.sqlite")) as database, database:
            last, = database.execute("SELECT max(number) FROM pieces").fetchone()
            assert last > 0
            if i % 2:
                database.execute("DELETE FROM pieces WHERE number = ?", (last,))
            else:
                database.execute("UPDATE pieces SET data = zeroblob(length(data)) WHERE number = ?", (last,))
        with server(tmp_path, f"again-{i}", **conf) as s:
            wait_for(lambda: s.ids() == ["app-1"])
            s.json("applications/app-1/jobs")
            assert "has lost its tasks" not in s.log.read_text()
            assert s.get(target) == before[i]
            assert s.log.read_text().count("has lost its tasks") == 1
            assert [s.get(target) for target in targets] == before


@pytest.mark.parametrize("codec", ["", ".zstd"])
def test_running_application_goes_on_from_the_store(tmp_path, codec):
    def put(path, some):
        text = "".join(some).encode()
        if codec:
            if not shutil.which("zstd"):
                pytest.skip("the program zstd is not installed")
            text = subprocess.run(["zstd", "-q", "-c"], input=text, capture_output=True, check=True).stdout
        with open(path, "ab") as file:
            file.write(text)

    text = lines(tasks=3000)
    cuts = [0, 1500, 4001, 5200, len(text)]
    conf = {"spark_history_store_path": tmp_path / "store", "spark_ui_retainedTasks": "2500",
            "spark_history_fs_update_interval": "200ms"}
    write(tmp_path, "whole/app-1", text)
    with server(tmp_path, "whole", **{**conf, "spark_history_store_path": "",
                                      "spark_history_fs_logDirectory": f"file:{tmp_path}/logs/whole"}) as s:
        wait_for(lambda: s.ids() == ["app-1"])
        whole = answers(s, "app-1")[1:]
    log = tmp_path / "logs" / f"app-1{codec}.inprogress"
    for i, (begin, end) in enumerate(zip(cuts, cuts[1:])):
        put(log, text[begin:end])
        if end == len(text):
            done = log.with_suffix("")
        with server(tmp_path, f"part-{i}", **conf) as s:
            wait_for(lambda: s.ids() == ["app-1"])
            tasks = sum('"SparkListenerTaskEnd"' in line for line in text[:end])
            assert s.json("applications/app-1/stages")[0]["numCompleteTasks"] == tasks
            assert ("the store has what lies before" in s.log.read_text()) == (i > 0)
            if not codec and i == 1:  # nothing before the place is read again
                damaged = log.read_bytes()
                log.write_bytes(damaged[:9000] + b"x" * 90000 + damaged[99000:])
            if end == len(text):
                log.rename(done)
                wait_for(lambda: s.json("applications/app-1")["attempts"][0]["completed"])
                wait_for(lambda: s.json("applications/app-1/jobs")[0]["status"] == "SUCCEEDED")
                assert answers(s, "app-1")[1:] == whole
            assert "is skipped" not in s.log.read_text()
    with server(tmp_path, "again", **conf) as s:
        wait_for(lambda: s.ids() == ["app-1"])
        assert answers(s, "app-1")[1:] == whole
        assert "is skipped" not in s.log.read_text()


def test_replaced_log_of_a_running_application_is_read_again(tmp_path):
    conf = {"spark_history_store_path": tmp_path / "store"}
    log = write(tmp_path, "app-1.inprogress", lines(end=False, tasks=100))
    with server(tmp_path, **conf) as s:
        wait_for(lambda: s.ids() == ["app-1"])
        assert s.json("applications/app-1/stages")[0]["numCompleteTasks"] == 100
    log.write_text("".join(lines(end=False, tasks=200, user="you")))
    with server(tmp_path, "again", **conf) as s:
        wait_for(lambda: s.ids() == ["app-1"])
        assert s.json("applications/app-1/stages")[0]["numCompleteTasks"] == 200
        assert "the store has what lies before" not in s.log.read_text()


def test_killed_server_loses_nothing(tmp_path):
    names = [f"app-{i}" for i in range(30)]
    for name in names:
        write(tmp_path, name, lines(name, tasks=400))
    conf = {"spark_history_store_path": tmp_path / "store"}
    for attempt in range(6):
        # Kill it while it stores logs and applications.
        (tmp_path / "logs").mkdir(exist_ok=True)
        s = Server(tmp_path, {"spark.history.fs.logDirectory": tmp_path / "logs",
                              "spark.history.store.path": tmp_path / "store"}, f"killed-{attempt}")
        try:
            until = time.monotonic() + 0.05 + 0.1 * attempt
            while time.monotonic() < until:
                for name in names[5 * attempt:]:
                    s.get(f"/api/v1/applications/{name}/jobs")
                    if time.monotonic() > until:
                        break
        finally:
            s.process.kill()
            s.process.wait()
    with server(tmp_path, **conf) as s:
        wait_for(lambda: sorted(s.ids()) == sorted(names))
        for name in names:
            assert s.json(f"applications/{name}/stages")[0]["numCompleteTasks"] == 400
        assert "damaged" not in s.log.read_text()
    with open(tmp_path / "store" / "history.sqlite", "rb") as database:
        assert database.read(15) == b"SQLite format 3"
