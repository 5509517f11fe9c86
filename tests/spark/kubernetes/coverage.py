"""Compares the lines' coverage with genuine Spark's keys, feature steps and messages."""
import json
import re

from .variants import K

ALLOCATING = "the running driver's: how executors are asked for"
WATCHING = "the running driver's: how executors are watched and removed"
CONNECTING = "how the API server is reached"
RESIZING = "a plug-in of the running driver"
# Keys that leave no trace in an object, and why.
ELSEWHERE = {
    K + "allocation.batch.delay": ALLOCATING, K + "allocation.batch.size": ALLOCATING,
    K + "allocation.driver.readinessTimeout": ALLOCATING, K + "allocation.executor.timeout": ALLOCATING,
    K + "allocation.maxPendingPods": ALLOCATING, K + "allocation.maxPendingPodsPerRp": ALLOCATING,
    K + "allocation.maximum": ALLOCATING, K + "driver.ownPersistentVolumeClaim": ALLOCATING,
    K + "driver.reusePersistentVolumeClaim": ALLOCATING, K + "driver.waitToReusePersistentVolumeClaim": ALLOCATING,
    K + "context": CONNECTING, K + "driver.master": CONNECTING,
    K + "driver.connectionTimeout": CONNECTING, K + "driver.requestTimeout": CONNECTING,
    K + "submission.connectionTimeout": CONNECTING, K + "trust.certificates": CONNECTING,
    K + "driver.annotateExitException": "the running driver annotates its own pod at its end",
    K + "driver.service.deleteOnTermination": "the running driver's",
    K + "dynamicAllocation.deleteGracePeriod": WATCHING, K + "executor.apiPollingInterval": WATCHING,
    K + "executor.checkAllContainers": WATCHING, K + "executor.decommissionLabel": WATCHING,
    K + "executor.decommissionLabelValue": WATCHING, K + "executor.deleteOnTermination": WATCHING,
    K + "executor.deletedExecutorsCacheTimeout": WATCHING, K + "executor.enableApiPolling": WATCHING,
    K + "executor.enableApiWatcher": WATCHING, K + "executor.enablePollingWithResourceVersion": WATCHING,
    K + "executor.eventProcessingInterval": WATCHING, K + "executor.missingPodDetectDelta": WATCHING,
    K + "executor.podDeletionCost": WATCHING,
    K + "executorSnapshotsSubscribersShutdownGracePeriod": WATCHING,
    K + "executor.minTasksPerExecutorBeforeRolling": RESIZING, K + "executor.rollInterval": RESIZING,
    K + "executor.rollPolicy": RESIZING, K + "executor.resizeFactor": RESIZING, K + "executor.resizeInterval": RESIZING,
    K + "executor.resizeThreshold": RESIZING, K + "executor.pvc.resizeFactor": RESIZING,
    K + "executor.pvc.resizeInterval": RESIZING, K + "executor.pvc.resizeThreshold": RESIZING,
    K + "report.interval": "how often a waiting submission reports", K + "submission.waitAppCompletion": "whether it waits",
    K + "submitInDriver": "set by Spark itself for the driver, read by SparkSubmit there",
    K + "authenticate": CONNECTING,
    K + "kerberos.dt-secret-key": "a constant that nothing reads", K + "kerberos.dt-secret-name": "a constant that nothing reads",
}
STEPS = {
    "BasicDriverFeatureStep": "SPARK_DRIVER_BIND_ADDRESS", "BasicExecutorFeatureStep": "SPARK_EXECUTOR_POD_NAME",
    "DriverCommandFeatureStep": "--properties-file", "DriverKubernetesCredentialsFeatureStep": "-kubernetes-credentials",
    "DriverServiceFeatureStep": "-driver-svc", "EnvSecretsFeatureStep": "secretKeyRef",
    "ExecutorKubernetesCredentialsFeatureStep": '"serviceAccount": "esa"', "HadoopConfDriverFeatureStep": "-hadoop-config",
    "HadoopConfExecutorFeatureStep": "prefix-hadoop-config", "KerberosConfDriverFeatureStep": "-kerberos-keytab",
    "LocalDirsFeatureStep": "SPARK_LOCAL_DIRS", "MountSecretsFeatureStep": "one-volume",
    "MountVolumesFeatureStep": '"nfs"', "NetworkPolicyFeatureStep": '"NetworkPolicy"',
    "PodTemplateConfigMapStep": "-driver-podspec-conf-map", "VolcanoFeatureStep": "-podgroup",
}
INTERFACES = {"KubernetesFeatureConfigStep", "KubernetesDriverCustomFeatureConfigStep",
              "KubernetesExecutorCustomFeatureConfigStep"}
SUFFIXES = {"driver": ("caCertFile", "clientKeyFile", "clientCertFile", "oauthToken"),
            "driver.mounted": ("caCertFile", "clientKeyFile", "clientCertFile", "oauthTokenFile"),
            "submission": ("oauthToken", "oauthTokenFile")}


def traces(answer, keys):
    """A reply without the parts that only repeat these entries of SparkConf."""
    def kept(value):
        if isinstance(value, dict):
            return {name: kept(member) for name, member in value.items() if name not in keys}
        if isinstance(value, list):
            return [kept(member) for member in value
                    if not (isinstance(member, str) and member.replace("\\", "").partition("=")[0] in keys)]
        return value
    return json.dumps(kept(answer), sort_keys=True)


class Coverage:
    def __init__(self, catalogue, cases, answers):
        self.catalogue = catalogue
        self.plain = {case.id: answer for case, answer in zip(cases, answers) if case.id.endswith("-plain")}
        self.effective, self.present, self.steps, self.refused, self.gaps = set(), set(), set(), set(), []
        self.counts = {}
        for case, answer in zip(cases, answers):
            self.visit(case, answer)

    def visit(self, case, answer):
        kind = case.line["kind"]
        state = "refused" if "error" in answer else "built"
        self.counts[kind, state] = self.counts.get((kind, state), 0) + 1
        if case.message is not None:
            if "error" not in answer or not re.fullmatch(case.message, answer["error"]):
                self.gaps.append(f"message of {case.id}: wanted {case.message!r}, was {answer.get('error')!r}")
            self.refused.add(answer.get("error"))
        elif "error" in answer and "-mixed-" not in case.id and kind != "operation":
            self.gaps.append(f"{case.id} was refused: {answer['error']!r}")
        base = self.plain.get(f"{kind}-plain")
        if "error" not in answer:
            self.present.update(case.keys)
        if "-mixed-" not in case.id and (base is None or "error" in answer or
                                         traces(answer, case.keys) != traces(base, case.keys)):
            self.effective.update(case.keys)
        text = json.dumps(answer)
        self.steps.update(step for step, trace in STEPS.items() if trace in text)

    def wanted(self):
        """(kind, name, whether it was covered)."""
        for key in sorted(self.catalogue["keys"]):
            if key not in ELSEWHERE:
                yield "keys", key, key in self.effective
        for prefix in sorted(set(self.catalogue["prefixes"])):
            if prefix.startswith("spark.kubernetes.") and prefix not in ELSEWHERE:
                yield "prefixes", prefix, any(key.startswith(prefix) for key in self.effective)
        for name, word in sorted(self.catalogue["volumes"].items()):
            yield "volume words", word, any(".volumes." in key and f".{word.rstrip('.')}" in key for key in self.effective)
        for prefix, suffixes in SUFFIXES.items():
            for suffix in suffixes:
                key = f"{K}authenticate.{prefix}.{suffix}"
                yield "credentials", key, key in self.present
        for step in self.catalogue["steps"]:
            if step not in INTERFACES:
                yield "feature steps", step, step in self.steps

    def report(self):
        """Prints the coverage, and returns the uncovered items."""
        for (kind, state), count in sorted(self.counts.items()):
            print(f"  {kind} lines {state}: {count}")
        wanted = list(self.wanted())
        for thing in dict.fromkeys(row[0] for row in wanted):
            rows = [row for row in wanted if row[0] == thing]
            print(f"  {thing}: {sum(row[2] for row in rows)} of {len(rows)}")
        print(f"  keys without a trace in objects: {len(ELSEWHERE)}; messages: {len(self.refused)}")
        self.gaps += [f"{thing}: {name}" for thing, name, seen in wanted if not seen]
        self.gaps += [f"{key} is said to leave no trace, and does" for key in sorted(self.effective & set(ELSEWHERE))]
        for gap in self.gaps:
            print(f"  UNVISITED {gap}")
        return self.gaps
