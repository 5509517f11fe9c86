"""Objects that users should not write and times that should not be, on a real API server; and each status that the operator writes."""
import datetime
import json
import threading
import urllib.request

from cluster import expect, wait_for

GROUP = "/apis/sparkoperator.k8s.io/v1beta2/namespaces/default/sparkapplications"


class Transitions:
    """Watches an application, and collects (state, executionAttempts, submissionAttempts) of each write."""

    def __init__(self, cluster, name):
        item = cluster.ask(f"{GROUP}/{name}")
        self.seen = []
        request = urllib.request.Request(f"{cluster.url}{GROUP}?watch=1&timeoutSeconds=300&fieldSelector=metadata.name%3D{name}&resourceVersion={item['metadata']['resourceVersion']}")
        self.stream = urllib.request.urlopen(request, context=cluster.context(), timeout=600)  # pylint: disable=consider-using-with
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        try:
            for line in self.stream:
                status = json.loads(line)["object"].get("status") or {}
                entry = (status.get("applicationState", {}).get("state", ""), status.get("executionAttempts", 0), status.get("submissionAttempts", 0))
                if not self.seen or self.seen[-1] != entry:
                    self.seen.append(entry)
        except (OSError, ValueError):  # the server ends before the watch
            pass

    def expect(self, what, wanted):
        """Waits until the last of @wanted was seen, and expects all of them one after another."""
        def begin():
            return next((i for i in range(len(self.seen)) if self.seen[i:i + len(wanted)] == wanted), None)

        wait_for(lambda: wanted[-1] in self.seen, lambda: f"{what}: {self.seen}")
        expect(what, begin() is not None, self.seen)


class OperatorHostility:
    def __init__(self, check):
        self.check, self.cluster = check, check.cluster

    def application(self, name, **spec):
        return {"apiVersion": "sparkoperator.k8s.io/v1beta2", "kind": "SparkApplication", "metadata": {"name": name, "namespace": "default"},
                "spec": {"type": "Scala", "mode": "cluster", "sparkVersion": "4.0.0", "image": "spark:4", "mainClass": "org.example.Pi",
                         "mainApplicationFile": "local:///opt/pi.jar", "driver": {"cores": 1, "memory": "512m", "serviceAccount": "spark"},
                         "executor": {"instances": 1, "memory": "512m"}, **spec}}

    def message(self, name):
        return self.check.status(name).get("applicationState", {}).get("errorMessage", "")

    def check_all(self):
        process = self.check.start()
        try:
            self.check_names()
            self.check_values()
            self.check_large()
            self.check_skew()
            self.check_transitions()
            expect("the operator lives on", process.poll() is None)
        finally:
            self.check.stop(process)
            self.check.clear()

    def check_names(self):
        """The API server takes DNS names of 253 characters. The genuine webhook takes labels that begin with a letter."""
        for name in ("a.b", "1st", "x" * 64, "y" * 253):
            self.check.create(self.application(name))
            self.check.wait_state(name, "FAILED")
            expect(f"the name {name[:10]} of {len(name)} characters is refused", f'invalid SparkApplication name "{name}"' in self.message(name), self.message(name))
        name = "z" * 63
        self.check.create(self.application(name))
        self.check.wait_state(name, "RUNNING", "FAILED")
        expect("a name of 63 characters runs", self.check.state(name) == "RUNNING", self.message(name))
        service = wait_for(lambda: self.check.status(name)["driverInfo"].get("webUIServiceName"), "the name of its service")
        expect("its service has a name of at most 63 characters", len(service) <= 63 and self.cluster.found(f"/api/v1/namespaces/default/services/{service}"), service)

    def check_values(self):
        self.check.create(self.application("unknown", nonsense={"a": 1}, driver={"memory": "512m", "serviceAccount": "spark", "nonsense": True}))
        self.check.wait_state("unknown", "RUNNING")
        expect("unknown fields do not hinder", True)
        self.check.create(self.application("affinity", driver={"memory": "512m", "serviceAccount": "spark", "affinity": {"nodeAffinity": "here"}}))
        self.check.wait_state("affinity", "FAILED")
        expect("a member of a wrong type is named", "ffinity" in self.message("affinity"), self.message("affinity"))
        value = "a b\t\"c\" 'd' $(e) `f` \\ ü 猫 %s"
        self.check.create(self.application("quotes", arguments=[value, "", "--conf", "spark.master=yarn"], sparkConf={"spark.my.value": value}))
        self.check.wait_state("quotes", "RUNNING")
        args = self.cluster.ask("/api/v1/namespaces/default/pods/quotes-driver")["spec"]["containers"][0]["args"]
        expect("arguments arrive as they are", args[-4:] == [value, "", "--conf", "spark.master=yarn"], args)

    def check_large(self):
        """A spec of 1 MB. What Kubernetes refuses is told, and others go on."""
        self.check.create(self.application("large", arguments=["x" * 1_000_000]))
        self.check.create(self.application("small"))
        self.check.wait_state("small", "RUNNING")
        self.check.wait_state("large", "SUBMITTED", "RUNNING", "FAILED")
        expect("a spec of 1 MB runs or says why not", self.check.state("large") != "FAILED" or len(self.message("large")) > 20, self.check.status("large"))
        self.check.create(self.application("largest", sparkConf={f"spark.my.key{i}": "v" * 1000 for i in range(1000)}))
        self.check.wait_state("largest", "SUBMITTED", "RUNNING", "FAILED", "SUBMISSION_FAILED")
        expect("a configuration of 1 MB runs or says why not", self.check.state("largest") in ("SUBMITTED", "RUNNING") or len(self.message("largest")) > 20,
               self.check.status("largest"))

    def check_skew(self):
        """An operator whose clock was a day ahead wrote the status of an application that failed."""
        item = self.application("skewed", restartPolicy={"type": "OnFailure", "onFailureRetries": 5, "onFailureRetryInterval": 1, "onSubmissionFailureRetryInterval": 1})
        self.check.create(item)
        self.check.wait_state("skewed", "RUNNING")
        later = (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
        before = self.cluster.ask("/api/v1/namespaces/default/pods/skewed-driver")["metadata"]["uid"]
        self.cluster.ask(f"{GROUP}/skewed/status", "PATCH", {"status": {"lastSubmissionAttemptTime": later, "terminationTime": later,
                                                                       "applicationState": {"state": "FAILING", "errorMessage": "tested"}}}, "application/merge-patch+json")
        wait_for(lambda: (self.cluster.found("/api/v1/namespaces/default/pods/skewed-driver") or {"metadata": {"uid": before}})["metadata"]["uid"] != before, "another driver")
        self.check.wait_state("skewed", "RUNNING")
        expect("a clock that was ahead does not delay a retry", True)

    def check_transitions(self):
        """The sequences that were seen with the genuine operator."""
        self.check.create(self.application("steps"))
        self.check.wait_state("steps", "RUNNING")
        steps = Transitions(self.cluster, "steps")
        self.check.patch("steps", {"spec": {"arguments": ["2"]}})
        steps.expect("a change: INVALIDATING, PENDING_RERUN, SUBMITTED", [("INVALIDATING", 1, 1), ("PENDING_RERUN", 0, 0), ("SUBMITTED", 1, 1)])
        self.check.wait_state("steps", "RUNNING")
        self.check.patch("steps", {"spec": {"suspend": True}})
        steps.expect("suspension: SUSPENDING, SUSPENDED", [("SUSPENDING", 1, 1), ("SUSPENDED", 1, 1)])
        self.check.patch("steps", {"spec": {"suspend": False}})
        steps.expect("resumption: RESUMING, SUBMITTED", [("SUSPENDED", 1, 1), ("RESUMING", 1, 1), ("SUBMITTED", 2, 2)])
        item = self.application("retried", restartPolicy={"type": "OnFailure", "onFailureRetries": 1, "onFailureRetryInterval": 1, "onSubmissionFailureRetryInterval": 1})
        item["spec"]["driver"]["annotations"] = {"firesteel.test/end": "Failed"}
        self.check.create(item)
        retried = Transitions(self.cluster, "retried")
        retried.expect("a retry: FAILING, PENDING_RERUN, SUBMITTED", [("FAILING", 1, 1), ("PENDING_RERUN", 1, 1), ("SUBMITTED", 2, 2)])
        retried.expect("the last failure: FAILING, FAILED", [("FAILING", 2, 2), ("FAILED", 2, 2)])
