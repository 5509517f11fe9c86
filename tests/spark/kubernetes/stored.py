"""Normalizes objects of an API server: removes the server's own values and times."""
import re

from . import normal

SERVER_MADE = ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields", "deletionTimestamp",
               "selfLink")
STATUS = ("qosClass",)
TOKEN_VOLUME = re.compile(r"kube-api-access-[a-z0-9]{5}")
# The server's words, as the client library of Spark gives them, and as ours does.
REFUSED = [re.compile(pattern, re.S) for pattern in (
    r"Message: (.*?)\. Received status: Status\(", r"^.* rejects the credentials \((Unauthorized)\)",
    r"^.*? in namespace \"[^\"]*\": (.*)")]
# What a driver in a JVM tells executors' JVMs by itself (JavaModuleOptions), and the port that it has found.
OF_JAVA = re.compile(r"--(add-(opens|modules)|sun-misc|enable-native)|-XX:\+IgnoreUnrecognizedVMOptions|-XX:\+UseCompact|-D(jdk\.reflect|java\.net\.preferIPv6|"
                     r"io\.netty|arrow|foreign\.restricted)")
PORT = re.compile(r"(CoarseGrainedScheduler@.*:|-Dspark\.driver\.port=)[0-9]+")
SUBMITTED = re.compile(r"(spark\.app\.submitTime=)[0-9]+")
STAMP = re.compile(r"20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-9:]{8}Z")


def one(found, owners):
    """Rule 11."""
    metadata = {key: value for key, value in found["metadata"].items() if key not in SERVER_MADE}
    if "ownerReferences" in metadata:
        metadata["ownerReferences"] = [{**owner, "uid": owners.get(owner["uid"], "of nobody")}
                                       for owner in metadata["ownerReferences"]]
    status = {key: value for key, value in found.get("status", {}).items() if key in STATUS}
    return {**found, "metadata": metadata, "status": status}


def printed(text):
    """The output of --status for such objects."""
    return STAMP.sub("{time}", TOKEN_VOLUME.sub("kube-api-access-{token}", text))


def objects(found, owners=()):
    """Resolves owner references, also to `owners`, which are not compared."""
    names = {each["metadata"]["uid"]: f"uid-of-{each['kind'].lower()}-{each['metadata']['name']}"
             for each in list(found) + list(owners)}
    kept = [one(each, names) for each in found]
    return normal.replaced(kept, lambda text: SUBMITTED.sub(r"\1{time}", TOKEN_VOLUME.sub("kube-api-access-{token}", text)))


def parts(words):
    """The server's message, sorted, without the random numbers of volumes."""
    words = re.sub(r"\[[0-9]+\]", "[]", words.strip())
    return sorted(part.strip("[]") for part in re.split(r", (?=(?:spec|metadata)\b)", words))


def of_running(found):
    """Executors' pods of a running driver, without the parts that only its JVM makes."""
    for pod in found:
        for container in pod.get("spec", {}).get("containers", []):
            options, others = [], []
            for entry in container.get("env", []):
                entry["value"] = PORT.sub(r"\1{port}", entry["value"]) if "value" in entry else None
                (options if entry["name"].startswith("SPARK_JAVA_OPT_") else others).append(entry)
            options.sort(key=lambda entry: int(entry["name"].rpartition("_")[2]))
            kept = [entry["value"] for entry in options if not OF_JAVA.match(entry["value"])]
            container["env"] = others + [{"name": f"SPARK_JAVA_OPT_{i}", "value": value} for i, value in enumerate(kept)]
    return found


def refusal(message):
    """The server's words in a client's message, or None if the server did not refuse."""
    found = next(filter(None, (pattern.search(message) for pattern in REFUSED)), None)
    return parts(found.group(1)) if found else None
