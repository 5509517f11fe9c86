"""Event logs in an S3 bucket: names, content, and the application that writes them when the bucket fails."""
import json
import os
import subprocess

import pytest

from folders import BIN

SOURCE = """
#include <firesteel/firesteel.h>
int main(void)
{
        fst_context *sc = fst_context_new("remote");
        int64_t n;
        fst_count(fst_range_n(sc, 0, 100, 4), &n);
        return fst_context_stop(sc);
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("remote")
    (made / "remote.c").write_text(SOURCE)
    return made


def run(folder, bucket, *conf, logs="s3a://bucket/logs"):
    words = [word for line in (*bucket.conf, "spark.eventLog.enabled=true", f"spark.eventLog.dir={logs}", *conf)
             for word in ("--conf", line)]
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("SPARK_", "AWS_", "HADOOP_"))}
    return subprocess.run([os.path.join(BIN, "spark-submit"), "--master", "local[2]", *words, "remote.c"], cwd=folder, text=True,
                          env=dict(kept, SPARK_CONF_DIR=str(folder)), timeout=120,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)


def logs_of(bucket):
    return {key: data for key, data in bucket.objects.items() if key != "logs/"}


def test_single_log_is_complete_in_the_bucket(folder, bucket):
    bucket.objects["logs/"] = b""
    done = run(folder, bucket, "spark.eventLog.rolling.enabled=false", "spark.eventLog.compress=false")
    assert done.returncode == 0, done.stderr
    (name, text), = logs_of(bucket).items()
    assert name.startswith("logs/local-") and f"Logging events to s3a://bucket/{name}" in done.stderr
    lines = [json.loads(line)["Event"] for line in text.decode().splitlines()]
    assert lines[0] == "SparkListenerLogStart" and lines[-1] == "SparkListenerApplicationEnd"
    assert lines.count("SparkListenerTaskEnd") == 4


def test_rolling_log_has_its_directory_in_the_bucket(folder, bucket):
    bucket.objects["logs/"] = b""
    done = run(folder, bucket)
    assert done.returncode == 0, done.stderr
    names = sorted(name for name in logs_of(bucket) if not name.endswith("/"))
    app = names[0].split("/")[1].removeprefix("eventlog_v2_")
    assert names == [f"logs/eventlog_v2_{app}/appstatus_{app}", f"logs/eventlog_v2_{app}/events_1_{app}.zstd"]
    assert bucket.objects[names[0]] == b"" and bucket.objects[names[1]].startswith(b"\x28\xb5\x2f\xfd")


def test_directory_that_is_missing_in_the_bucket_is_named(folder, bucket):
    done = run(folder, bucket)
    assert done.returncode == 1
    assert "spark.eventLog.dir s3a://bucket/logs: create it, or set another: " in done.stderr
    assert not bucket.objects


def test_bucket_that_fails_ends_only_the_log(folder, bucket):
    bucket.objects["logs/"] = b""
    bucket.refuses = 403
    done = run(folder, bucket, "spark.eventLog.rolling.enabled=false")
    assert done.returncode == 0, done.stderr
    assert "stays marked as in progress" in done.stderr
    assert not logs_of(bucket)
