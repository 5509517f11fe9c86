"""The custom resource definitions of `firesteel operator crds` accept what the genuine operator's accept.

FIRESTEEL_GENUINE_CRDS names a JSON file (or .json.gz) with the genuine definitions; without it only the shape of our own
is tested.
"""
import gzip
import json
import os
import subprocess

import pytest

from folders import BIN

GENUINE = os.environ.get("FIRESTEEL_GENUINE_CRDS")


def crds(*arguments):
    return subprocess.run([f"{BIN}/firesteel", "operator", "crds", *arguments], check=True, capture_output=True,
                          text=True, timeout=120).stdout


def differences(genuine, ours, path):
    """Yield where @ours refuses an object that @genuine accepts, or drops a field."""
    if ours.get("x-kubernetes-int-or-string"):
        if not genuine.get("x-kubernetes-int-or-string") and genuine.get("type") not in ("string", "integer"):
            yield f"{path}: a quantity, but {genuine.get('type')} there"
        return
    if genuine.get("type") != ours.get("type"):
        yield f"{path}: type {ours.get('type')} instead of {genuine.get('type')}"
    for word in set(ours.get("enum", [])) and set(genuine.get("enum", ["(any)"])) - set(ours.get("enum", [])):
        yield f"{path}: {word} is refused"
    if "minimum" in ours and ours["minimum"] > genuine.get("minimum", float("-inf")):
        yield f"{path}: minimum {ours['minimum']}"
    if "maximum" in ours and ours["maximum"] < genuine.get("maximum", float("inf")):
        yield f"{path}: maximum {ours['maximum']}"
    if "format" in ours and ours["format"] != genuine.get("format"):
        yield f"{path}: format {ours['format']}"
    if genuine.get("nullable") and not ours.get("nullable"):
        yield f"{path}: null is refused"
    for name in set(ours.get("required", [])) - set(genuine.get("required", [])):
        yield f"{path}.{name}: required"
    if ours.get("x-kubernetes-preserve-unknown-fields"):
        return
    if genuine.get("x-kubernetes-preserve-unknown-fields"):
        yield f"{path}: unknown fields are dropped"
    for name, schema in genuine.get("properties", {}).items():
        if name not in ours.get("properties", {}):
            yield f"{path}.{name}: missing"
        else:
            yield from differences(schema, ours["properties"][name], f"{path}.{name}")
    for key, mark in (("items", "[]"), ("additionalProperties", "{}")):
        if key in genuine and key not in ours:
            yield f"{path}{mark}: missing"
        elif key in genuine:
            yield from differences(genuine[key], ours[key], path + mark)


def schema_of(crd):
    return crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]


def test_yaml_equals_json():
    yaml = pytest.importorskip("yaml")
    documents = list(yaml.safe_load_all(crds()))
    assert documents == json.loads(crds("--output", "json"))["items"]
    assert [d["spec"]["names"]["kind"] for d in documents] == ["SparkApplication", "ScheduledSparkApplication"]
    assert all(len(json.dumps(d)) < 262144 for d in documents)


def test_differences_are_found():
    ours = schema_of(json.loads(crds("--output", "json"))["items"][0])
    other = json.loads(json.dumps(ours))
    spec = other["properties"]["spec"]
    assert not list(differences(other, ours, ""))
    spec["properties"]["new"] = {"type": "string"}
    spec["properties"]["mode"]["enum"].append("third")
    spec["properties"]["driver"]["properties"]["cores"]["minimum"] = 0
    spec["required"].remove("type")
    assert len(list(differences(other, ours, ""))) == 4


def test_wrong_options_are_refused():
    for arguments in (["--output"], ["--output", "xml"], ["x"]):
        result = subprocess.run([f"{BIN}/firesteel", "operator", "crds", *arguments], capture_output=True, text=True,
                                timeout=120, check=False)
        assert result.returncode == 2 and "Error: " in result.stderr and not result.stdout


@pytest.mark.skipif(not GENUINE, reason="FIRESTEEL_GENUINE_CRDS is not set")
def test_everything_that_the_genuine_definitions_accept_is_accepted():
    opened = gzip.open(GENUINE) if GENUINE.endswith(".gz") else open(GENUINE, "rb")
    with opened as file:
        genuine = {crd["metadata"]["name"]: crd for crd in json.load(file)}
    ours = {crd["metadata"]["name"]: crd for crd in json.loads(crds("--output", "json"))["items"]}
    assert set(genuine) == set(ours)
    for name, crd in genuine.items():
        assert not list(differences(schema_of(crd), schema_of(ours[name]), name))
        assert crd["spec"]["names"] == ours[name]["spec"]["names"]
        assert crd["spec"]["scope"] == ours[name]["spec"]["scope"]
        version, own = crd["spec"]["versions"][0], ours[name]["spec"]["versions"][0]
        for key in ("name", "served", "storage", "subresources", "additionalPrinterColumns"):
            assert version[key] == own[key]
