"""The staging directory of YARN in an S3 bucket: what is uploaded, and how the containers' files are registered."""

from fake_yarn import FakeYarn
from s3_bucket import TIME_MS
from yarn_submit import PI, Submit, cache  # noqa: F401


def test_staging_in_a_bucket(tmp_path, cache, bucket):
    with FakeYarn(tmp_path / "yarn") as yarn:
        submit = Submit(tmp_path, cache, yarn)
        (tmp_path / "data.txt").write_text("data")
        done = submit.run("--files", "data.txt#alias.txt", PI, cluster=True, conf=(
            *bucket.conf, "spark.yarn.stagingDir=s3a://bucket/staging", "spark.yarn.submit.waitAppCompletion=false",
            "spark.yarn.preserve.staging.files=true"))
        # The fake starts nothing from s3a: the application may have failed before the client first asks for its state.
        assert "Submitting application" in done.stderr, done.stderr
        app = yarn.last()
        folder = f"staging/alice/.sparkStaging/{app.name}"
        for name in ("data.txt", "__spark_conf__.zip", "spark_pi.so"):
            assert f"{folder}/{name}" in bucket.objects, sorted(bucket.objects)
        files = {r.key: r.value for r in app.context.am_container_spec.local_resources}
        for link, name in (("alias.txt", "data.txt"), ("__spark_conf__", "__spark_conf__.zip"), ("spark_pi.so", "spark_pi.so")):
            url = files[link].resource
            assert (url.scheme, url.host, url.file) == ("s3a", "bucket", f"/{folder}/{name}")
            assert files[link].size == len(bucket.objects[f"{folder}/{name}"]) and files[link].timestamp == TIME_MS
