"""Helpers of the checks in this folder: environment of submissions, results, exit status."""
import datetime
import json
import os
import pathlib
import shutil
import sys
import tempfile

from cluster import Missing, failures

def environment(cluster, folder, user="admin", **more):
    """This process's environment without Spark's and Hadoop's variables, with the kubeconfig file of @user."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK_", "_SPARK_", "HADOOP_"))}
    return dict(kept, KUBECONFIG=cluster.config(user), HOME=str(folder), **more)


def keep_results(build, name, results):
    """Stores raw results as bench/run does: one JSON file per run, in the build folder."""
    folder = pathlib.Path(build) / "bench" / "results"
    folder.mkdir(parents=True, exist_ok=True)
    moment = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H%M%SZ")
    machine = {"cpus": os.cpu_count(), "load": os.getloadavg()}
    path = folder / f"{moment}-{name}.json"
    path.write_text(json.dumps({"machine": machine, "results": results}, indent=1) + "\n")
    print(f"raw results: {path}")


def run(check, usage):
    """Runs check(build, folder) in a temporary folder. Returns the exit status, 77 if a prerequisite is missing."""
    if len(sys.argv) != 2:
        sys.exit(usage)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="firesteel-check-kubernetes-"))
    try:
        check(os.path.abspath(sys.argv[1]), folder)
    except Missing as missing:
        print(f"SKIPPED: {missing}", file=sys.stderr)
        return 77
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if failures else 0
