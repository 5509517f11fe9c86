"""firesteel applications, jobs, stages and executors print what an event log says."""
import json
import os
import re
import subprocess

from folders import FIRESTEEL

T0 = 1700000000000


def stage(**more):
    return {"Stage ID": 0, "Stage Attempt ID": 0, "Stage Name": "count at a.c:1", "Number of Tasks": 2, "RDD Info": [],
            "Parent IDs": [], "Details": "", "Submission Time": T0 + 1000, **more}


def task(number, **more):
    return {"Task ID": number, "Index": number, "Attempt": 0, "Launch Time": T0 + 1000, "Executor ID": "0", "Host": "h",
            "Locality": "ANY", "Speculative": False, "Getting Result Time": 0, **more}


EVENTS = [
    {"Event": "SparkListenerLogStart", "Spark Version": "3.5.0"},
    {"Event": "SparkListenerApplicationStart", "App Name": "tables", "App ID": "app-1", "Timestamp": T0, "User": "me"},
    {"Event": "SparkListenerExecutorAdded", "Timestamp": T0, "Executor ID": "0",
     "Executor Info": {"Host": "h", "Total Cores": 3, "Log Urls": {}}},
    {"Event": "SparkListenerJobStart", "Job ID": 7, "Submission Time": T0 + 1000, "Stage Infos": [stage()], "Stage IDs": [0]},
    {"Event": "SparkListenerStageSubmitted", "Stage Info": stage()},
    *({"Event": "SparkListenerTaskStart", "Stage ID": 0, "Stage Attempt ID": 0, "Task Info": task(i)} for i in range(2)),
    *({"Event": "SparkListenerTaskEnd", "Stage ID": 0, "Stage Attempt ID": 0, "Task Type": "ResultTask",
       "Task End Reason": {"Reason": "Success"}, "Task Info": task(i, **{"Finish Time": T0 + 3500 + 1000 * i}),
       "Task Metrics": {"Executor Run Time": 2000, "Input Metrics": {"Bytes Read": 2048, "Records Read": 1}}}
      for i in range(2)),
    {"Event": "SparkListenerStageCompleted", "Stage Info": stage(**{"Completion Time": T0 + 5000})},
    {"Event": "SparkListenerJobEnd", "Job ID": 7, "Completion Time": T0 + 6000, "Job Result": {"Result": "JobSucceeded"}},
    {"Event": "SparkListenerApplicationEnd", "Timestamp": T0 + 9000, "ExitCode": 3},
]
LINES = [json.dumps(event, separators=(",", ":")) + "\n" for event in EVENTS]


def run(command, log):
    return subprocess.run([FIRESTEEL, command, str(log)], capture_output=True, text=True, check=False, timeout=120)


def rows(command, log):
    done = run(command, log)
    assert (done.returncode, done.stderr) == (0, "")
    return [line.split("  ") for line in done.stdout.splitlines()]


def cells(command, log):
    """Return the only row of a table by its heading."""
    heading, row = ([cell.strip() for cell in line if cell.strip()] for line in rows(command, log))
    return dict(zip(heading, row))


def test_tables_of_a_file(tmp_path):
    log = tmp_path / "app-1"
    log.write_text("".join(LINES))
    assert cells("applications", log) == {
        "ID": "app-1", "ATTEMPT": "-", "NAME": "tables", "USER": "me", "STARTED": "2023-11-14 22:13:20",
        "DURATION": "9.0 s", "STATE": "ENDED (exit status 3)"}
    assert cells("jobs", log) == {"JOB": "7", "STATE": "SUCCEEDED", "STARTED": "2023-11-14 22:13:21", "DURATION": "5.0 s",
                                  "STAGES": "1/1", "TASKS": "2/2", "FAILED": "0", "NAME": "count at a.c:1", "FAILURE": "-"}
    found = cells("stages", log)
    assert (found["STATE"], found["TASKS"], found["MEDIAN"], found["LONGEST"], found["INPUT"]) == (
        "COMPLETE", "2/2", "3.5 s", "3.5 s", "4.0 KiB")
    assert found["LIMITED BY"] == (
        "overhead of tasks (25 %): the median task took 2.5 s, scheduler delay 1.0 s; also slow tasks (25 %): partition 1 ran "
        "3.5 s, 1.4 times the median of 2.5 s, and read 2.0 KiB (mean 2.0 KiB); idle cores cost 1.0 s")
    found = cells("executors", log)
    assert (found["STATE"], found["CORES"], found["COMPLETED"], found["TASK TIME"]) == ("ACTIVE", "3", "2", "6.0 s")


CAUSE = "Lost task 1.3: " + "x" * 200
REASON = "Task 1 failed 4 times, most recent failure: " + CAUSE
FAILED_LINES = [
    line.replace(
        '"Completion Time":%d}' % (T0 + 5000), '"Completion Time":%d,"Failure Reason":"%s"}' % (T0 + 5000, REASON)).replace(
            '{"Result":"JobSucceeded"}',
            '{"Result":"JobFailed","Exception":{"Message":"Job aborted\\nat a.c:1","Stack Trace":[]}}').replace(
                '"Submission Time":%d,"Stage Infos"' % (T0 + 1000),
                '"Submission Time":%d,"Properties":{"spark.job.description":"my job"},"Stage Infos"' % (T0 + 1000)).replace(
                    '{"Reason":"Success"},"Task Info":{"Task ID":0',
                    '{"Reason":"ExecutorLostFailure","Executor ID":"0"},"Task Info":{"Task ID":0') for line in LINES]


def test_failures_and_call_sites(tmp_path):
    log = tmp_path / "app-1"
    log.write_text("".join(FAILED_LINES))
    job, found = cells("jobs", log), cells("stages", log)
    assert (job["STATE"], job["NAME"], job["FAILURE"]) == ("FAILED", "my job", "Job aborted")
    assert (found["STATE"], found["NAME"], found["FAILURE"]) == ("FAILED", "count at a.c:1", CAUSE[:160] + "...")
    assert found["LIMITED BY"].startswith("failed: 1 attempt failed: ExecutorLostFailure")


def test_compare_two_runs(tmp_path):
    slower = [line.replace(str(T0 + 4500), str(T0 + 44500)).replace(str(T0 + 5000), str(T0 + 45000)).replace("app-1", "app-2")
              .replace('Run Time":2000', 'Run Time":42000') for line in LINES]
    (tmp_path / "a").write_text("".join(LINES))
    (tmp_path / "b").write_text("".join(slower))
    done = subprocess.run([FIRESTEEL, "compare", tmp_path / "a", tmp_path / "b"], capture_output=True, text=True,
                          check=False, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["-", "app-1", "app-2", "CHANGE"]
    assert [line.split() for line in lines if line.startswith("task time")] == [
        ["task", "time", "6.0", "s", "46.0", "s", "+667", "%"]]
    assert "44.0 s" in lines[-1] and "+1000 %" in lines[-1] and "count at a.c:1" in lines[-1]
    assert "idle cores behind the last start +20.0 s; now limited by slow tasks (48 %)" in lines[-1]
    assert "partition 1 ran 43.5 s, 17.4 times the median of 2.5 s" in lines[-1]
    for arguments in (["a"], ["a", "none"], ["none", "a"], ["a", "--b"]):
        wrong = subprocess.run([FIRESTEEL, "compare", *(tmp_path / a if a != "--b" else a for a in arguments)],
                               capture_output=True, text=True, check=False, timeout=120)
        assert wrong.returncode in (1, 2) and wrong.stderr.startswith("Error: ")


def test_rolling_log_is_read_in_the_order_of_its_files(tmp_path):
    for number, lines in ((10, LINES[9:]), (2, LINES[4:9]), (1, LINES[:4])):
        (tmp_path / f"events_{number}_app-1").write_text("".join(lines))
    (tmp_path / "appstatus_app-1").write_text("")
    assert cells("jobs", tmp_path)["TASKS"] == "2/2"


def test_running_application(tmp_path):
    log = tmp_path / "app-1.inprogress"
    log.write_text("".join(LINES[:8]) + LINES[8][:50])
    assert re.fullmatch(r"RUNNING \(last event at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\)", cells("applications", log)["STATE"])
    assert cells("stages", log)["TASKS"] == "1/2"


def test_damaged_lines_and_lost_events_are_reported(tmp_path):
    log = tmp_path / "app-1"
    log.write_text("".join(LINES[:5] + ["{broken\n"] + LINES[6:7] + LINES[9:]))
    done = run("stages", log)
    assert done.returncode == 0 and "0/2" in done.stdout
    assert "line 6 is skipped: a name was expected" in done.stderr
    assert "1 tasks have no end, 0 no start" in done.stderr


def test_wrong_logs(tmp_path):
    (tmp_path / "text").write_text("nothing\n")
    (tmp_path / "log.lz4").write_text("x" * 30)
    (tmp_path / "log.lzf").write_text("x" * 30)
    for log, message in (("none", "does not exist"), ("text", "it is not an event log of Spark"), ("log.lz4", "LZ4Block"), ("log.lzf", "those of lzf"),
                         ("empty", "a directory without files events_N")):
        (tmp_path / "empty").mkdir(exist_ok=True)
        done = run("jobs", tmp_path / log)
        assert done.returncode == 1 and message in done.stderr, done.stderr
        assert done.stderr.startswith("Error: ") and done.stderr.count("\n") == 1, done.stderr
    assert run("jobs", "--nope").returncode == 2


def test_directory_of_logs_names_them(tmp_path):
    for age, name in enumerate(("app-2", "app-1.inprogress", "app-0")):
        (tmp_path / name).write_text("".join(LINES))
        os.utime(tmp_path / name, (T0 / 1000 - age, T0 / 1000 - age))
    for path in (f"{tmp_path}/", tmp_path):
        done = run("stages", path)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == (
            f"Error: '{path}' is a directory of 3 event logs: name one of them\n  firesteel stages {tmp_path}/app-2\n"
            f"  firesteel stages {tmp_path}/app-1.inprogress  (not complete)\n  firesteel stages {tmp_path}/app-0\n")
    for i in range(30):
        (tmp_path / f"more-{i}").write_text("".join(LINES))
    assert run("jobs", tmp_path).stderr.endswith("\n  and 13 older ones\n")


def test_damaged_lines_before_the_first_event_are_reported(tmp_path):
    log = tmp_path / "app-1"
    log.write_text("".join(["{broken\n"] * 12 + LINES))
    done = run("jobs", log)
    assert done.returncode == 0 and done.stdout
    assert done.stderr.count("is skipped: a name was expected") == 10 and "line 1 is skipped" in done.stderr
