"""The lines (see lines.md): each variant alone, mixtures of variants, refusals, submissions and arguments."""
import random

from . import refusals, variants
from .variants import K

UNIQUE = "0123456789abcdef"


def plain(kind, name):
    """A line with the fewest possible members."""
    line = {"id": name, "kind": kind, "conf": {}, "environment": {"SPARK_USER": "spark-user"}, "files": {},
            "unique": UNIQUE}
    if kind in ("arguments", "operation"):
        return line
    line["conf"] = {"spark.app.name": "pods", K + "container.image": "spark:4.3"}
    line["appId"] = "spark-app-7"
    if kind == "executor":
        line["conf"]["spark.driver.host"] = "driver-svc.default.svc"
        line.update(executorId="3", profile=None,
                    driverPod={"name": "pods-driver", "uid": "u-1", "namespace": "default"})
        return line
    line.update(resource={"type": "java", "path": "local:///opt/app.jar"}, mainClass="org.example.Main", args=["1"],
                proxyUser=None)
    if kind == "submit":
        line["conf"].update({"spark.master": "k8s://{api}", K + "submission.waitAppCompletion": "false"})
    return line


def fill(value, role):
    return value.replace("{role}", role) if isinstance(value, str) else value


def extended(line, variant):
    """The line with a variant added. A value of None removes an entry."""
    role = "executor" if line["kind"] == "executor" else "driver"
    for key, value in variant.items():
        key, value = fill(key, role), fill(value, role)
        place, name = {"$": (line["environment"], key[1:]), "@": (line["files"], key[1:])}.get(
            key[0], (line["conf"], key) if key.startswith("spark.") else (line, key))
        if value is None and place is not line:
            place.pop(name, None)
        else:
            place[name] = value
    return line


def own_keys(variant, kind):
    """The entries of SparkConf that a variant adds."""
    role = "executor" if kind == "executor" else "driver"
    return [fill(key, role) for key in variant if key.startswith("spark.")]


class Case:
    """A line and its purpose: the keys that it adds to a plain line, or the expected message.

    `excused` is the reason of an intended difference.
    """

    def __init__(self, line, keys=(), message=None, excused=None):
        self.line, self.keys, self.message, self.excused = line, list(keys), message, excused

    @property
    def id(self):
        return self.line["id"]


def single(kind):
    yield Case(plain(kind, f"{kind}-plain"))
    for group, choices in variants.groups(kind).items():
        for number, variant in enumerate(choices):
            yield Case(extended(plain(kind, f"{kind}-{group}-{number}"), variant), own_keys(variant, kind))


def refused():
    for number, (kinds, variant, message, *why) in enumerate(refusals.ROWS):
        for kind in kinds:
            yield Case(extended(plain(kind, f"{kind}-refused-{number}"), variant), own_keys(variant, kind), message, *why)


def submissions():
    for number, variant in enumerate(refusals.SUBMITS):
        yield Case(extended(plain("submit", f"submit-{number}"), variant), own_keys(variant, "submit"))
    for number, words in enumerate(refusals.ARGUMENTS):
        yield Case(extended(plain("arguments", f"arguments-{number}"), {"words": words}))


def operations():
    for number, (operation, name, conf) in enumerate(refusals.OPERATIONS):
        line = plain("operation", f"operation-{number}")
        line.update(operation=operation, submissionId=name, pods=refusals.PODS,
                    conf={"spark.master": "k8s://{api}", **conf}, files={"kubeconfig": refusals.KUBECONFIG})
        line["environment"]["KUBECONFIG"] = "{w}/kubeconfig"
        yield Case(line, conf, excused="--kill and --status need a server: see --server")


# Groups whose variants say the same thing twice, or refuse together: one of each set in a mixture.
EXCLUSIVE = [("resource", "python"), ("proxy", "kerberos"), ("volcano", "podGroup"), ("template", "account", "credentials"),
             ("profile", "cores", "resources"), ("secret", "javaOptions"), ("volumes", "localDirs"),
             ("driverAddress", "ports", "blockManager"), ("allocator", "podNamePrefix"), ("recovery", "cores")]


def mixed(kind, count, seed):
    chooser = random.Random(f"{seed} {kind}")
    groups = variants.groups(kind)
    for number in range(count):
        line = plain(kind, f"{kind}-mixed-{number}")
        names = chooser.sample(sorted(groups), chooser.randrange(3, 11))
        for first, *others in EXCLUSIVE:
            together = [name for name in names if name in (first, *others)]
            names = [name for name in names if name not in together[1:]]
        keys = []
        for name in names:
            variant = chooser.choice(groups[name])
            extended(line, variant)
            keys += own_keys(variant, kind)
        yield Case(line, keys)


def all_cases(mixtures, seed):
    for kind in ("driver", "executor"):
        yield from single(kind)
    yield from submissions()
    yield from operations()
    yield from refused()
    for kind in ("driver", "executor"):
        yield from mixed(kind, mixtures, seed)


def server_cases(mixtures, seed):
    """The cases that leave objects on an API server. Cases that fail before a request run without one.

    For an executor's pod a server adds little to the comparison without one, so half of the mixtures are enough.
    """
    for case in all_cases(mixtures, seed):
        line = case.line
        if line["id"].startswith("executor-mixed-") and int(line["id"].rpartition("-")[2]) % 2:
            continue
        if (case.message is None or case.excused == refusals.OFFLINE) and line["kind"] != "arguments" and "words" not in line:
            yield Case(line, case.keys)


# What a driver that runs here cannot be given: addresses that are not its own, pods that are made otherwise, nothing.
NOT_RUNNING = ("allocator", "podNamePrefix", "driverAddress", "blockManager", "ports", "id", "profile", "recovery", "secret")
RUNNING = {"spark.driver.host": "127.0.0.1", "spark.ui.enabled": "false", "spark.executor.instances": "2",
           "spark.submit.deployMode": "client", "spark.scheduler.minRegisteredResourcesRatio": "0", K + "allocation.batch.delay": "200ms",
           K + "executor.eventProcessingInterval": "200ms", K + "executorSnapshotsSubscribersShutdownGracePeriod": "1s"}


def running_cases():
    """Executors' pods of a whole driver: the first variant of each group, with a running driver."""
    for group, choices in variants.groups("executor").items():
        if group in NOT_RUNNING:
            continue
        line = extended(plain("executor", f"running-{group}"), choices[0])
        line["kind"] = "running"
        line["conf"].setdefault("spark.app.name", "pods")
        line["conf"].update(RUNNING)
        line["conf"][K + "driver.pod.name"] = "pods-driver"
        yield Case(line)
