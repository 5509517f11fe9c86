"""A save to an object store, whose renames are copies, goes on after its driver was killed (docs/guide/resuming.md)."""
import threading

import pytest

from conditions import wait_until
from resume_test import PARTITIONS, Run, compile_application


@pytest.fixture(scope="module")
def application(tmp_path_factory):
    return compile_application(tmp_path_factory.mktemp("application"))


class Saving(Run):
    """An application that saves to a bucket; its journal is a local directory."""

    def __init__(self, folder, application, bucket, version, phase):
        key = "spark.hadoop.mapreduce.fileoutputcommitter.algorithm.version"
        super().__init__(folder, application, phase=phase, settings=[*bucket.conf, f"{key}={version}", "spark.firesteel.resume.id=app-1"])
        self.bucket = bucket
        self.command.append("s3a://bucket/out")

    def output(self, name):
        place = f"out/{name}/"
        return {key.removeprefix(place): self.bucket.objects[key].decode() for key in sorted(self.bucket.objects) if key.startswith(place)}

    def kill(self):
        self.processes[-1].kill()
        self.processes[-1].wait(timeout=120)
        return len(self.ran())


@pytest.fixture
def start(tmp_path, application, bucket):
    made = []

    def make(version, phase):
        made.append(Saving(tmp_path, application, bucket, version, phase))
        made[-1].start()
        return made[-1]
    yield make
    for one in made:
        one.end()


def test_a_save_to_a_bucket_goes_on(start):
    app = start(2, phase=6)
    app.wait_at_gate(6, 5)
    before = app.kill()
    app.open_gate()
    assert app.start().wait(timeout=120) == 0, app.log(1)
    app.check(1)
    assert {task for task in app.ran()[before:] if task[0] in "12346"} == {"6.3"}
    assert f"{PARTITIONS - 1} of {PARTITIONS} results are those of earlier" in app.log(1)


def test_a_commit_of_a_job_goes_on(start, bucket):
    """The driver dies when it has copied three of eight part files into the output, and removed the first two where it copied from."""
    copied = threading.Event()
    bucket.held = ("out/plain4/part-00002", copied)
    app = start(1, phase=0)
    wait_until(lambda: bucket.waiting, "the third copy", 120)
    before = app.kill()
    bucket.held = None
    copied.set()
    wait_until(lambda: "out/plain4/part-00002" in bucket.objects, "the end of the copy", 90)
    left = [key for key in bucket.objects if key.startswith("out/plain4/_temporary") and key.rsplit("/", 1)[1].startswith("part-")]
    assert len(left) == 6, left
    assert app.start().wait(timeout=120) == 0, app.log(1)
    app.check(1)
    assert not {task for task in app.ran()[before:] if task[0] in "12346"}
