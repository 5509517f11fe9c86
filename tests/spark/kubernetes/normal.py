"""Normalizes both sides' replies: removes random values, times and meaningless orders.

The rules are those of lines.md, by number.
"""
import re

APP_ID = re.compile(r"spark-[0-9a-f]{32}(?![0-9a-f])")
UNIQUE = re.compile(r"(?<![0-9A-Za-z])x?[0-9a-f]{14,17}(?![0-9A-Za-z])")
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
SECRET = re.compile(r"[0-9a-f]{64}")
CLAIM = re.compile(r"(.*-pvc-)([0-9]+)")
KEPT_WHEN_EMPTY = {"emptyDir", "podSelector", "namespaceSelector"}
SORTED = {"env": "name", "envFrom": None, "volumes": "name", "volumeMounts": "mountPath", "items": "key"}
# What Java's classes or a client library say, which helps nobody: here it is enough to refuse.
JAVA_WORDS = re.compile(r'|For input string: ".*"|Invalid quantity string format passed\.|An error has occurred\.|'
                        r"\{w\}/none|key not found: .*|no\.such\.Step|spark\.master|last of empty String|"
                        r"namespace not specified for an operation requiring one\.")
LISTS_OF_OBJECTS = ("pre", "resources", "objects")
LOCAL_DIR = re.compile(r"spark-local-dir-[0-9]+")


def escaped(address):
    """Escapes as java.util.Properties does."""
    return address.replace(":", "\\:")


def text(value, world, address, app_id):
    for here, name in ((escaped(address), "{api}"), (address, "{api}"), (world, "{w}")):
        value = value.replace(here, name)
    value = UUID.sub("{uuid}", APP_ID.sub("spark-{appid}", value))
    if app_id:
        value = value.replace(app_id, "spark-{appid}")
    return UNIQUE.sub("{unique}", value)


def properties(value):
    """Rule 5."""
    first, *rest = value.splitlines()
    return [first] + sorted(line for line in rest if not line.startswith("#"))


def pruned(value, name=None):
    """Rule 3. Empty values become None."""
    if isinstance(value, dict):
        kept = {key: pruned(member, key) for key, member in value.items()}
        kept = {key: member for key, member in kept.items() if member is not None}
        return kept if kept or name in KEPT_WHEN_EMPTY else None
    if isinstance(value, list):
        return [pruned(member) for member in value] or None
    return value


def key_of(member, key):
    return str(member.get(key) if key else member) if isinstance(member, dict) else str(member)


def ordered(value):
    """Rule 4."""
    if isinstance(value, dict):
        value = {key: ordered(member) for key, member in value.items()}
        for name, key in SORTED.items():
            if isinstance(value.get(name), list):
                value[name].sort(key=lambda member: key_of(member, key))
        return value
    return [ordered(member) for member in value] if isinstance(value, list) else value


def local_dirs(container):
    """Rule 7."""
    for entry in container.get("env", []):
        if entry.get("name") == "SPARK_LOCAL_DIRS":
            entry["value"] = ",".join(sorted(entry.get("value", "").split(",")))
    mounts = [mount for mount in container.get("volumeMounts", [])
              if LOCAL_DIR.fullmatch(mount.get("name", "")) and "readOnly" not in mount]
    mounts.sort(key=lambda mount: mount["name"])
    for mount, path in zip(mounts, sorted(mount["mountPath"] for mount in mounts)):
        mount["mountPath"] = path


def environment(container):
    """Rules 2 and 9."""
    options = [entry for entry in container.get("env", []) if entry.get("name", "").startswith("SPARK_JAVA_OPT_") and
               entry.get("value", "").startswith("-Dspark.")]
    options.sort(key=lambda entry: int(entry["name"].rpartition("_")[2]))
    for entry, value in zip(options, sorted(entry["value"] for entry in options)):
        entry["value"] = value
    for entry in container.get("env", []):
        if SECRET.fullmatch(entry.get("value") or ""):
            entry["value"] = "{secret}"


def containers(value):
    """All objects below that look like a container."""
    if isinstance(value, dict):
        if "env" in value or "volumeMounts" in value:
            yield value
        for member in value.values():
            yield from containers(member)
    elif isinstance(value, list):
        for member in value:
            yield from containers(member)


def claims(value):
    """Rule 8: the claims' own names, by the names of their volumes."""
    if isinstance(value, dict):
        if isinstance(value.get("volumes"), list):
            for volume in sorted(value["volumes"], key=lambda volume: str(volume.get("name"))):
                found = CLAIM.fullmatch(volume.get("persistentVolumeClaim", {}).get("claimName", ""))
                if found:
                    yield found.group()
        for member in value.values():
            yield from claims(member)
    elif isinstance(value, list):
        for member in value:
            yield from claims(member)


def replaced(value, change):
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {change(key): replaced(member, change) for key, member in value.items()}
    if isinstance(value, list):
        return [replaced(member, change) for member in value]
    return value


def with_properties(value):
    if isinstance(value, dict):
        return {key: properties(member) if key == "spark.properties" and isinstance(member, str) and member
                else with_properties(member) for key, member in value.items()}
    return [with_properties(member) for member in value] if isinstance(value, list) else value


def answer(raw, line, world, address):
    """The normalized reply to a line."""
    app_id = line.get("appId") if line["kind"] == "submit" else None
    if "error" in raw:
        return {"error": text(raw["error"] or "", world, address, None)}
    value = {key: member for key, member in raw.items() if key not in ("id", "warnings", "requests")}
    value = replaced(with_properties(value), lambda one: text(one, world, address, app_id))
    names = {}
    for name in claims(value):
        names.setdefault(name, CLAIM.fullmatch(name).group(1) + f"{{{len(names)}}}")
    value = pruned(replaced(value, lambda one: names.get(one, one))) or {}
    for container in containers(value):
        local_dirs(container)
        environment(container)
    value = ordered(value)
    for name in LISTS_OF_OBJECTS:
        if name in value:
            value[name].sort(key=lambda one: (one.get("kind", ""), one.get("metadata", {}).get("name", "")))
    return value


def same_refusal(theirs, ours):
    """Rule 10."""
    return JAVA_WORDS.fullmatch(theirs) or ours == theirs or ours.startswith((theirs + " ", theirs + ": "))


def differences(theirs, ours, path=""):
    """[(path, theirs, ours)] of two replies."""
    if not path and "error" in theirs and "error" in ours:
        return [] if same_refusal(theirs["error"], ours["error"]) else [("error", theirs["error"], ours["error"])]
    if isinstance(theirs, dict) and isinstance(ours, dict):
        found = []
        for key in sorted(set(theirs) | set(ours)):
            found += differences(theirs.get(key), ours.get(key), f"{path}.{key}" if path else key)
        return found
    if isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        return [one for i, pair in enumerate(zip(theirs, ours)) for one in differences(*pair, f"{path}[{i}]")]
    return [] if theirs == ours and type(theirs) is type(ours) else [(path, theirs, ours)]
