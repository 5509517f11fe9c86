"""firesteel history-server with a directory of logs in an S3 bucket."""
import threading

from history_server_test import lines, server, wait_for


def start(tmp_path, bucket, name="server", **conf):
    bucket.objects["logs/"] = b""
    own = {key.replace(".", "_"): value for key, value in (line.split("=", 1) for line in bucket.conf)}
    return server(tmp_path, name, spark_history_fs_logDirectory="s3a://bucket/logs", spark_history_fs_update_interval="200ms",
                  **{**own, **conf})


def put(bucket, name, text):
    bucket.objects["logs/" + name] = "".join(text).encode()


def test_logs_in_a_bucket_are_listed_followed_and_forgotten(tmp_path, bucket):
    whole = lines("app-1")
    put(bucket, "app-1.inprogress", whole[:7])
    rolling = lines("app-2")
    put(bucket, "eventlog_v2_app-2/appstatus_app-2", "")
    bucket.objects["logs/eventlog_v2_app-2/"] = b""
    put(bucket, "eventlog_v2_app-2/events_1_app-2", rolling[:5])
    put(bucket, "eventlog_v2_app-2/events_2_app-2", rolling[5:])
    with start(tmp_path, bucket) as s:
        wait_for(lambda: set(s.ids()) == {"app-1", "app-2"})
        assert s.json("applications/app-2/jobs")[0]["status"] == "SUCCEEDED"
        assert s.json("applications/app-1/stages")[0]["numCompleteTasks"] == 0
        put(bucket, "app-1.inprogress", whole[:10])  # the object is replaced by a longer one
        wait_for(lambda: s.json("applications/app-1/stages")[0]["numCompleteTasks"] == 2)
        del bucket.objects["logs/app-1.inprogress"]
        put(bucket, "app-1", whole)
        wait_for(lambda: s.json("applications/app-1")["attempts"][0]["completed"])
        wait_for(lambda: s.json("applications/app-1/jobs")[0]["status"] == "SUCCEEDED")
        assert s.get("/api/v1/applications/app-2/logs")[0] == 200
        del bucket.objects["logs/app-1"]
        wait_for(lambda: s.ids() == ["app-2"])


def test_log_in_a_bucket_is_found_by_id(tmp_path, bucket):
    put(bucket, "app-7", lines("app-7"))
    with start(tmp_path, bucket, spark_history_fs_update_scanDisabledPathPatterns="s3a://.*") as s:
        assert s.json("applications/app-7/jobs")[0]["status"] == "SUCCEEDED"
        assert s.ids() == ["app-7"]


def test_compacts_a_log_in_a_bucket(tmp_path, bucket):
    whole = lines("app-1")
    put(bucket, "eventlog_v2_app-1/appstatus_app-1", "")
    put(bucket, "eventlog_v2_app-1/events_1_app-1", whole[:4])
    put(bucket, "eventlog_v2_app-1/events_2_app-1", whole[4:-1])
    put(bucket, "eventlog_v2_app-1/events_3_app-1", whole[-1:])
    with start(tmp_path, bucket, spark_history_fs_eventLog_rolling_maxFilesToRetain="1") as s:
        names = {"logs/eventlog_v2_app-1/" + name for name in ("appstatus_app-1", "events_2_app-1.compact", "events_3_app-1")}
        wait_for(lambda: {key for key in bucket.objects if not key.endswith("/")} == names)
        wait_for(lambda: s.json("applications/app-1/jobs") == [])
        assert s.json("applications/app-1")["attempts"][0]["completed"]


def test_slow_log_does_not_delay_others(tmp_path, bucket):
    bucket.slow["logs/app-2"] = release = threading.Event()
    for i in range(1, 5):
        put(bucket, f"app-{i}", lines(f"app-{i}"))
    try:
        with start(tmp_path, bucket) as s:
            wait_for(lambda: set(s.ids()) == {"app-1", "app-3", "app-4"})
            assert s.json("applications/app-3/jobs")[0]["status"] == "SUCCEEDED"
            put(bucket, "app-5", lines("app-5"))
            wait_for(lambda: "app-5" in s.ids())
            release.set()
            wait_for(lambda: len(s.ids()) == 5)
    finally:
        release.set()
