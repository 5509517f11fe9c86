"""What the operator costs on a real API server, beside a client that only sends the same requests (raw_posts)."""
import json
import os
import pathlib
import re
import statistics
import subprocess
import time
import urllib.request
import uuid

from cluster import wait_for

MANY = int(os.environ.get("OPERATOR_APPLICATIONS", "1000"))
CROWD, PODS_OF_EACH = int(os.environ.get("OPERATOR_CROWD", "5000")), 4
GROUP = "/apis/sparkoperator.k8s.io/v1beta2/namespaces/default/sparkapplications"
PODS = "/api/v1/namespaces/default/pods"


class OperatorNumbers:
    def __init__(self, check):
        self.check, self.cluster, self.folder = check, check.cluster, check.folder
        self.build = pathlib.Path(check.firesteel).parents[1]

    def start(self):
        """Starts an operator with metrics. Returns its process once all objects are known."""
        process = self.check.start("--enable-ui-service=false", "--enable-metrics", "--metrics-bind-address=127.0.0.1:0")
        wait_for(lambda: "All objects are known" in process.log.read_text(), "the operator", 120)
        found = wait_for(lambda: re.search(r"Metrics: Listening on port (\d+)", process.log.read_text()), "the port of the metrics")
        process.url = f"http://127.0.0.1:{found.group(1)}/metrics"
        return process

    @staticmethod
    def metric(process, name):
        with urllib.request.urlopen(process.url, timeout=30) as answer:
            text = answer.read().decode()
        return float(re.search(rf"^{re.escape(name)} (\S+)$", text, re.M).group(1))

    @staticmethod
    def cpu(process):
        fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")

    @staticmethod
    def memory(process, what="VmRSS"):
        return int(re.search(what + r":\s+(\d+)", pathlib.Path(f"/proc/{process.pid}/status").read_text()).group(1)) / 1024

    def application(self, name):
        return {"apiVersion": "sparkoperator.k8s.io/v1beta2", "kind": "SparkApplication", "metadata": {"name": name, "namespace": "default"},
                "spec": {"type": "Scala", "mode": "cluster", "sparkVersion": "4.0.0", "image": "spark:4", "mainClass": "org.example.Pi",
                         "mainApplicationFile": "local:///opt/pi.jar", "driver": {"cores": 1, "memory": "512m", "serviceAccount": "spark"},
                         "executor": {"instances": 1, "memory": "512m"}}}

    def post(self, lines):
        """Sends requests with raw_posts. Returns what it measured."""
        path = self.folder / "requests.jsonl"
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
        done = subprocess.run([f"{self.build}/tests/raw_posts", str(path)], env=self.check.env, capture_output=True, text=True,
                              check=False, timeout=1800)
        if done.returncode:
            raise AssertionError(done.stderr)
        return json.loads(done.stdout)

    def applications(self, names):
        """Creates applications. Returns their uids by name."""
        self.post(self.application(name) for name in names)
        return {i["metadata"]["name"]: i["metadata"]["uid"] for i in self.cluster.ask(GROUP)["items"]}

    # ------------------------------------------------------------------------------------------------------ numbers

    def requests_of(self, name, uid):
        """What the operator sends until an application is submitted: its objects, its status, an event."""
        id_ = str(uuid.uuid4())
        file = self.folder / "one.json"
        file.write_text(json.dumps(self.application("one")))
        if not hasattr(self, "rendered"):
            self.rendered = self.check.command("render", str(file), "--output=json", "--enable-ui-service=false",
                                               "--submission-id=11111111-1111-4111-8111-111111111111")
            app = next(i for i in json.loads(self.rendered)["items"] if i["kind"] == "Pod")["metadata"]["labels"]["spark-app-selector"]
            prefix = next(i for i in json.loads(self.rendered)["items"] if i["kind"] == "Service")["metadata"]["name"]
            self.unique = (app, re.search(r"one-([0-9a-f]{8,})", prefix).group(1))
        new = uuid.uuid4().hex
        text = self.rendered.replace("11111111-1111-4111-8111-111111111111", id_).replace(self.unique[0], "spark-" + new)
        text = text.replace(self.unique[1], new[:len(self.unique[1])]).replace('"one', f'"{name}')
        items = json.loads(text)["items"]
        for item in items:
            item["metadata"].pop("ownerReferences", None)
            if item["kind"] == "Pod":
                item["metadata"]["ownerReferences"] = [{"apiVersion": "sparkoperator.k8s.io/v1beta2", "kind": "SparkApplication", "name": name, "uid": uid}]
        status = {"applicationState": {"state": "SUBMITTED"}, "submissionID": id_, "executionAttempts": 1, "submissionAttempts": 1,
                  "sparkApplicationId": "spark-" + new, "driverInfo": {"podName": f"{name}-driver"},
                  "lastSubmissionAttemptTime": "2026-01-01T00:00:00Z"}
        return [*items, {"patch": f"{GROUP}/{name}/status", "body": {"status": status}}, self.event(name, uid, "SparkApplicationSubmitted")]

    def requests_of_run(self, name, uid):
        """What the operator sends when the driver runs, without the event of drivers that it sees before they run."""
        return [self.event(name, uid, "SparkDriverRunning"),
                {"patch": f"{GROUP}/{name}/status", "body": {"status": {"applicationState": {"state": "RUNNING"}}}}]

    @staticmethod
    def event(name, uid, reason):
        return {"apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": f"{name}.{uuid.uuid4().hex[:12]}", "namespace": "default"},
                "eventTime": "2026-01-01T00:00:00.000000Z", "reportingController": "spark-operator", "reportingInstance": "spark-operator-x",
                "action": "Reconcile", "reason": reason, "type": "Normal", "note": f"SparkApplication {name} was submitted successfully",
                "regarding": {"apiVersion": "sparkoperator.k8s.io/v1beta2", "kind": "SparkApplication", "name": name, "namespace": "default", "uid": uid}}

    def raw(self, n, prefix):
        """Returns the seconds that the same requests take without an operator: those of submissions, and all until the drivers run."""
        uids = self.applications([f"{prefix}-{i}" for i in range(n)])
        submitted = self.post([line for name, uid in uids.items() for line in self.requests_of(name, uid)])["seconds"]
        running = self.post([line for name, uid in uids.items() for line in self.requests_of_run(name, uid)])["seconds"]
        self.check.clear()
        return submitted, submitted + running

    def backlog(self, n):
        """An operator starts with @n applications that wait. Returns the seconds until all are submitted, the seconds until all run
        and their events are stored, its CPU time, and the height of its memory."""
        self.applications([f"m-{i}" for i in range(n)])
        process = self.start()
        try:
            begun = time.monotonic()
            wait_for(lambda: self.metric(process, "spark_application_submit_count") >= n, f"{n} submissions", 1200)
            submitted = time.monotonic() - begun
            wait_for(lambda: self.metric(process, "spark_application_running_count") >= n, f"{n} drivers to run", 1200)
            # With those of the scheduler, one a driver. Counting costs the server little, listing does not.
            wait_for(lambda: self.count_events() >= 3 * n, "the events", 1200)
            # A driver that runs before its submission ends has no event of its own.
            wait_for(lambda: self.events("SparkApplicationSubmitted") >= n, "the events", 1200)
            return submitted, time.monotonic() - begun, self.cpu(process), self.memory(process, "VmHWM")
        finally:
            self.check.stop(process)
            self.check.clear()

    def count_events(self):
        answer = self.cluster.ask("/apis/events.k8s.io/v1/namespaces/default/events?limit=1")
        return len(answer["items"]) + answer["metadata"].get("remainingItemCount", 0)

    def events(self, reason):
        """Returns how many applications of backlog have an event with this reason."""
        answer = self.cluster.ask("/apis/events.k8s.io/v1/namespaces/default/events?resourceVersion=0")
        return len({e["regarding"]["name"] for e in answer["items"] if e["reason"] == reason and e["regarding"]["name"].startswith("m-")})

    def latency(self, n):
        """Returns the median seconds from a creation to the driver's pod."""
        process = self.start()
        took = []
        try:
            for i in range(n):
                begun = time.monotonic()
                self.check.create(self.application(f"n-{i}"))
                wait_for(lambda: self.cluster.found(f"{PODS}/n-{i}-driver"), "the driver", 30)  # noqa: B023
                took.append(time.monotonic() - begun)
        finally:
            self.check.stop(process)
            self.check.clear()
        return statistics.median(took)

    def measure(self):
        latency = self.latency(30)
        before = self.raw(MANY // 2, "v")
        submitted, running, cpu, peak = self.backlog(MANY)
        raw_submitted, raw_running = (sum(pair) for pair in zip(before, self.raw(MANY // 2, "w")))
        self.check.results.update(latency_ms=latency * 1000, applications=MANY, seconds=submitted, raw_seconds=raw_submitted,
                                  running_seconds=running, raw_running_seconds=raw_running, per_minute=MANY / running * 60,
                                  cpu_ms_each=cpu / MANY * 1000, peak_mib=peak)
        print(f"created to driver's pod: median {latency * 1000:.0f} ms; {MANY} waiting applications: submitted in {submitted:.1f} s, the same "
              f"requests alone {raw_submitted:.1f} s ({submitted / raw_submitted:.2f} times); running with all events in {running:.1f} s "
              f"({MANY / running * 60:.0f} a minute), the same requests alone {raw_running:.1f} s ({raw_running / running:.0%} of that rate); "
              f"{cpu / MANY * 1000:.1f} ms of CPU each, peak {peak:.1f} MiB; load {os.getloadavg()[0]:.0f}", flush=True)

    # ------------------------------------------------------------------------------------------------------- memory

    def pods_of(self, name, uid):
        id_ = f"00000000-0000-4000-8000-{int(name.split('-')[1]):012d}"
        for k in range(PODS_OF_EACH):
            yield {"apiVersion": "v1", "kind": "Pod", "metadata": {
                "name": f"{name}-driver" if k == 0 else f"{name}-{id_[:8]}-exec-{k}", "namespace": "default",
                "labels": {"spark-role": "driver" if k == 0 else "executor", "sparkoperator.k8s.io/app-name": name, "spark-app-selector": f"spark-{id_}",
                           "sparkoperator.k8s.io/launched-by-spark-operator": "true", "sparkoperator.k8s.io/submission-id": id_},
                "ownerReferences": [{"apiVersion": "sparkoperator.k8s.io/v1beta2", "kind": "SparkApplication", "name": name, "uid": uid, "controller": k == 0}]},
                "spec": {"schedulerName": "none", "containers": [{"name": "spark-kubernetes-" + ("driver" if k == 0 else "executor"), "image": "spark:4"}]}}
        yield {"patch": f"{GROUP}/{name}/status", "body": {"status": {
            "applicationState": {"state": "SUBMITTED"}, "submissionID": id_, "executionAttempts": 1, "submissionAttempts": 1, "sparkApplicationId": f"spark-{id_}",
            "driverInfo": {"podName": f"{name}-driver"}, "lastSubmissionAttemptTime": "2026-01-01T00:00:00Z",
            "executorState": {f"{name}-{id_[:8]}-exec-{k}": "PENDING" for k in range(1, PODS_OF_EACH)}}}}

    def measure_memory(self):
        uids = self.applications([f"c-{i}" for i in range(CROWD)])
        self.post(line for name, uid in uids.items() for line in self.pods_of(name, uid))
        begun = time.monotonic()
        process = self.start()
        try:
            known = time.monotonic() - begun
            wait_for(lambda: self.metric(process, 'workqueue_depth{name="sparkapplication"}') == 0, "a quiet queue", 600)
            caught_up = time.monotonic() - begun
            used, begun = self.cpu(process), time.monotonic()
            time.sleep(20)  # measures the CPU time of an idle operator
            idle = (self.cpu(process) - used) / (time.monotonic() - begun) * 100
            memory, peak = self.memory(process), self.memory(process, "VmHWM")
            self.check.results.update(crowd=CROWD, crowd_memory_mib=memory, crowd_peak_mib=peak, known_s=known, caught_up_s=caught_up, idle_cpu_percent=idle)
            print(f"{CROWD} applications with {CROWD * PODS_OF_EACH} pods: known after {known:.1f} s, caught up after {caught_up:.1f} s, {memory:.1f} MiB (peak {peak:.1f}), "
                  f"idle {idle:.2f} % CPU; load {os.getloadavg()[0]:.0f}", flush=True)
        finally:
            self.check.stop(process)
