"""What a ResourceManager and a NodeManager received for an application, as plain values.

The submission context is read from the ResourceManager's state store, which keeps the message as it was sent until the
application has ended.
"""
import os
import re
import time
import xml.etree.ElementTree

SCALAR, TEXT, BYTES = "scalar", "text", "bytes"
STORED_TIMEOUT = 60  # seconds

# {message: {field's number: (name, type)}}, of Hadoop's yarn_protos.proto.
MESSAGES = {
    "state": {2: ("context", "context"), 3: ("user", TEXT)},
    "context": {
        1: ("application id", "application id"), 2: ("name", TEXT), 3: ("queue", TEXT), 4: ("priority", "priority"),
        5: ("container", "container"), 6: ("cancel tokens", SCALAR), 7: ("unmanaged", SCALAR), 8: ("max attempts", SCALAR),
        9: ("resource", "resource"), 10: ("type", TEXT), 11: ("keep containers", SCALAR), 12: ("tags", TEXT),
        13: ("validity interval", SCALAR), 14: ("log aggregation", "log aggregation"), 16: ("node label", TEXT),
        17: ("resource requests", "resource request")},
    "application id": {1: ("id", SCALAR), 2: ("cluster timestamp", SCALAR)},
    "priority": {1: ("priority", SCALAR)},
    "container": {
        1: ("files", "file entry"), 2: ("tokens", BYTES), 3: ("service data", "pair"), 4: ("environment", "pair"),
        5: ("command", TEXT), 6: ("acls", "acl"), 8: ("tokens conf", BYTES)},
    "file entry": {1: ("key", TEXT), 2: ("value", "file")},
    "file": {1: ("url", "url"), 2: ("size", SCALAR), 3: ("timestamp", SCALAR), 4: ("type", SCALAR), 5: ("visibility", SCALAR),
             6: ("pattern", TEXT), 7: ("shared cache", SCALAR)},
    "url": {1: ("scheme", TEXT), 2: ("host", TEXT), 3: ("port", SCALAR), 4: ("file", TEXT), 5: ("user", TEXT)},
    "pair": {1: ("key", TEXT), 2: ("value", TEXT)},
    "acl": {1: ("access", SCALAR), 2: ("acl", TEXT)},
    "resource": {1: ("memory", SCALAR), 2: ("cores", SCALAR), 3: ("others", "resource value")},
    "resource value": {1: ("key", TEXT), 2: ("value", SCALAR), 3: ("units", TEXT), 4: ("type", SCALAR)},
    "resource request": {
        1: ("priority", "priority"), 2: ("place", TEXT), 3: ("capability", "resource"), 4: ("containers", SCALAR),
        5: ("relax locality", SCALAR), 6: ("node label", TEXT), 7: ("execution type", BYTES), 8: ("request id", SCALAR)},
    "log aggregation": {1: ("include", TEXT), 2: ("exclude", TEXT), 3: ("rolled include", TEXT), 4: ("rolled exclude", TEXT),
                        5: ("policy class", TEXT), 6: ("policy parameters", TEXT)},
}


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value - (1 << 64) if value >> 63 else value, at


def decode(message, data):
    """{name: [values]}; a field that MESSAGES does not know is "field N"."""
    known, found, at = MESSAGES[message], {}, 0
    while at < len(data):
        key, at = varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 2:
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
        else:
            length = {1: 8, 5: 4}[wire]
            value, at = data[at:at + length], at + length
        name, kind = known.get(number, (f"field {number}", BYTES))
        if kind == TEXT:
            value = value.decode("utf-8")
        elif kind in MESSAGES:
            value = decode(kind, value)
        elif kind == BYTES and isinstance(value, bytes):
            value = value.hex()
        found.setdefault(name, []).append(value)
    return found


def number(data, at):
    """Hadoop's WritableUtils.readVLong."""
    first = data[at] - 256 if data[at] > 127 else data[at]
    if first >= -112:
        return first, at + 1
    length = -(first + 120) if first < -120 else -(first + 112)
    value = int.from_bytes(data[at + 1:at + 1 + length], "big")
    return ~value if first < -120 else value, at + 1 + length


def credentials(data):
    """(token kinds, number of secrets) of a stream of credentials, without the token that the ResourceManager adds."""
    if not data:
        return None
    count, at = number(data, 5)
    kinds = []
    for _ in range(count):
        length, at = number(data, at)
        at += length  # its name
        for part in range(4):
            length, at = number(data, at)
            if part == 2:
                kinds.append(data[at:at + length].decode())
            at += length
    return sorted(set(kinds) - {"YARN_AM_RM_TOKEN"}), number(data, at)[0]


def as_map(entries, name):
    """Pairs of a Java map, which have no order."""
    found = {}
    for entry in entries:
        key, value = entry["key"][0], entry.get("value", [None])[0]
        found[f"{name} {key}" + (" (again)" if f"{name} {key}" in found else "")] = value
    return found


def flatten(value, name, out):
    """Puts {path: scalar} of nested dictionaries and lists into @out."""
    if isinstance(value, dict):
        for key, inner in value.items():
            flatten(inner, f"{name} {key}".strip(), out)
    elif isinstance(value, list) and len(value) == 1:
        flatten(value[0], name, out)
    elif isinstance(value, list) and any(isinstance(inner, dict) for inner in value):
        for i, inner in enumerate(value):
            flatten(inner, f"{name} [{i}]", out)
    else:
        out[name] = value
    return out


def stored(path):
    """A file of the ResourceManager, which replaces a file by deletion and a rename: between them there is none."""
    end = time.monotonic() + STORED_TIMEOUT
    while True:
        try:
            with open(path, "rb") as file:
                return file.read()
        except FileNotFoundError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


def context(store, application):
    """The fields of an application's submission context, {path: value}."""
    state = decode("state", stored(os.path.join(store, "FSRMStateRoot", "RMAppRoot", application, application)))
    found = state["context"][0]
    container = found["container"][0]
    found.pop("application id")
    files = as_map(container.pop("files", []), "file")
    for entry in files.values():
        url = entry["url"][0]
        if "/.sparkStaging/" in url["file"][0]:
            entry["timestamp"] = ["(uploaded)"]
        if re.search(r"/__spark_(conf|libs)__[^/]*\.zip$", url["file"][0]):
            entry["size"] = ["(archive)"]
    container.update(files)
    variables = as_map(container.pop("environment", []), "variable")
    for added in ("APPLICATION_WEB_PROXY_BASE", "APP_SUBMIT_TIME_ENV"):
        variables.pop(f"variable {added}", None)
    container.update(variables)
    container["tokens"] = credentials(bytes.fromhex(container.get("tokens", [""])[0]))
    container["acls"] = sorted(map(str, container.get("acls", [])))
    # The ResourceManager changes these when it looks for a node.
    for request in found.get("resource requests", ()):
        found.pop("resource", None)
        request.pop("containers", None)
    # YARN keeps a set of them.
    if "tags" in found:
        found["tags"] = [sorted(found["tags"])]
    return flatten({**found, "user": state["user"]}, "", {})


def read(*parts):
    with open(os.path.join(*parts), "rb") as file:
        return file.read()


def hadoop_xml(content):
    found = {}
    for row in xml.etree.ElementTree.fromstring(content).iter("property"):
        found[row.findtext("name")] = (row.findtext("value"), row.findtext("final"))
    return found


def without_uploads(found):
    """The distributed cache's list, without the times of files that were uploaded, and sizes of archives that were made."""
    prefix = "conf/__spark_dist_cache__.properties spark.yarn.cache."
    names = found.get(prefix + "filenames", "").split(",")
    times, sizes = (found.get(prefix + key, "").split(",") for key in ("timestamps", "sizes"))
    if len(names) == len(times) == len(sizes):
        found[prefix + "timestamps"] = ["(uploaded)" if "/.sparkStaging/" in n else t for n, t in zip(names, times)]
        found[prefix + "sizes"] = ["(archive)" if "/__spark_libs__" in n else size for n, size in zip(names, sizes)]
    return found


def configuration(folder):
    """The files of __spark_conf__, of which properties and Hadoop's values are read."""
    found = {}
    for base, _, files in os.walk(folder):
        for file in files:
            name, content = os.path.relpath(os.path.join(base, file), folder), read(base, file)
            if name == "__spark_hadoop_conf__.xml":
                for key, value in hadoop_xml(content).items():
                    found[f"conf/{name} {key}"] = value
            elif name.endswith("__.properties"):
                lines = content.decode("latin-1").splitlines()
                for line in (line for line in lines if not line.startswith("#")):
                    key, _, value = line.partition("=")
                    found[f"conf/{name} {key}"] = value
            else:
                found[f"conf/{name}"] = content.decode("utf-8", "replace")
    return without_uploads(found)


# What differs between two containers of the same node, and the shell's.
OF_THE_CONTAINER = ("CONTAINER_ID", "HADOOP_TOKEN_FILE_LOCATION", "JVM_PID", "PWD", "OLDPWD", "SHLVL", "_", "LOCAL_DIRS",
                    "LOG_DIRS", "LOCAL_USER_DIRS", "APP_SUBMIT_TIME_ENV", "LOCALIZATION_COUNTERS", "NM_HTTP_PORT", "NM_PORT", "LOGNAME")


# Lines of launch_container.sh that differ in time only.
OF_THE_SCRIPT = ("export APP_SUBMIT_TIME_ENV=", "export LOCALIZATION_COUNTERS=")


def container(records, node, application):
    """What the container of an application had; nothing of it if its command failed before java."""
    found = {}
    attempt = application.replace("application_", "")
    names = [name for name in (os.listdir(records) if os.path.isdir(records) else []) if f"_{attempt}_" in name]
    for name in sorted(names)[:1]:
        folder = os.path.join(records, name)
        found["words"] = read(folder, "words").decode("utf-8", "surrogateescape").split("\0")[:-1]
        for line in read(folder, "environment").decode("utf-8", "surrogateescape").split("\0")[:-1]:
            key, _, value = line.partition("=")
            if key not in OF_THE_CONTAINER:
                found[f"environment {key}"] = value
        lines = (line.rsplit(" ", 2) for line in read(folder, "files").decode("utf-8", "surrogateescape").splitlines())
        # Size of a directory: the file system's.
        found.update({f"file {line[0]}": (line[1], line[2] if line[1] == "f" else "") for line in lines if len(line) == 3})
        found.update(configuration(os.path.join(folder, "conf")))
    for base, _, files in os.walk(os.path.join(node, "local", "nmPrivate")):
        if application in base and "launch_container.sh" in files:
            script = read(base, "launch_container.sh").decode("utf-8", "surrogateescape")
            found["launch_container.sh"] = sorted(line for line in script.splitlines() if not line.startswith(OF_THE_SCRIPT))
    return found
