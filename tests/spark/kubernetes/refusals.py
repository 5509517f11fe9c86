"""Configurations that Spark refuses, and its messages. Genuine Spark must show each row.

A row: the kinds of lines, additions to a plain line (as in variants.py), a regular expression for the whole message, and
the reason of an intended difference.
"""
import re

from .variants import K, SMALL_TEMPLATE, VOLCANO, merged, volume

RESERVED = ("spark-app-selector", "spark-role", "spark-version", "spark-app-name")
MERGED = "merge keys of YAML 1.1 are taken"
OFFLINE = "how the API server is reached is not looked at when nothing is sent"
D, E, S, A = ("driver",), ("executor",), ("submit",), ("arguments",)
DE = D + E


def label(role, key):
    return {f"{K}{role}.label.{key}": "mine"}


def no_such(key, value, kind):
    return re.escape(f"[INVALID_CONF_VALUE.TYPE_MISMATCH] The value '{value}' in the config \"{key}\" is invalid. It should be "
                     f"a/an '{kind}' value. SQLSTATE: 22022")


def unfit(key, value, why):
    return re.escape(f"[INVALID_CONF_VALUE.REQUIREMENT] The value '{value}' in the config \"{key}\" is invalid. {why} "
                     "SQLSTATE: 22022")


def not_one_of(key, value, those):
    return re.escape(f"[INVALID_CONF_VALUE.OUT_OF_RANGE_OF_OPTIONS] The value '{value}' in the config \"{key}\" is invalid. It "
                     f"should be one of '{those}'. SQLSTATE: 22022")


ROWS = [
    (D, {K + "container.image": None}, r"Must specify the driver container image"),
    (E, {K + "container.image": None}, r"Must specify the executor container image"),
    *[(D, label("driver", key), rf"requirement failed: Label with key {key} is not allowed as it is reserved for Spark bookkeeping operations\.")
      for key in RESERVED],
    *[(E, label("executor", key), rf"requirement failed: Custom executor labels cannot contain {key} as it is reserved for Spark\.")
      for key in RESERVED + ("spark-exec-id", "spark-exec-resourceprofile-id")],
    (D, {"spark.driver.host": "h"}, r"requirement failed: spark\.driver\.host is not supported in Kubernetes mode, as the "
     r"driver's hostname will be managed via a Kubernetes service\."),
    (D, {"spark.driver.bindAddress": "h"}, r"requirement failed: spark\.driver\.bindAddress is not supported in Kubernetes "
     r"mode, as the driver's bind address is managed and set to the driver pod's IP address\."),
    (DE, {K + "{role}.secretKeyRef.X": "no-colon"}, r"requirement failed: SecretKeyRef must be in the form name:key\."),
    (DE, {K + "{role}.secretKeyRef.X": "a:b:c"}, r"requirement failed: SecretKeyRef must be in the form name:key\."),
    (DE, {K + "{role}.secretKeyRef.X": ""}, r"requirement failed: SecretKeyRef must be in the form name:key\."),
    (DE, merged(volume("emptyDir", "a", {}), volume("emptyDir", "b", {})),
     r"requirement failed: Found duplicated mountPath: '/data'"),
    (DE, volume("hostPath", "h", {}), r"hostPath\.h\.options\.path is required for hostPath"),
    (DE, volume("persistentVolumeClaim", "p", {}),
     r"persistentVolumeClaim\.p\.options\.claimName is required for persistentVolumeClaim"),
    (DE, volume("nfs", "n", {"server": "s"}), r"nfs\.n\.options\.path is required for nfs"),
    (DE, volume("nfs", "n", {"path": "/p"}), r"nfs\.n\.options\.server is required for nfs"),
    (DE, {K + "{role}.volumes.emptyDir.e.mount.readOnly": "true"}, r"key not found: emptyDir\.e\.mount\.path"),
    (DE, volume("configMap", "c", {}), r"Kubernetes Volume type `configMap` is not supported"),
    (DE, volume("emptyDir", "e", {}, mount_subPath="a", mount_subPathExpr="b"),
     r"These config options are mutually exclusive: emptyDir\.e\.mount\.subPath, emptyDir\.e\.mount\.subPathExpr"),
    (DE, volume("emptyDir", "e", {"sizeLimit": "100"}), r"Volume size `100` is smaller than 1KiB\. Missing units\?"),
    (DE, volume("persistentVolumeClaim", "p", {"claimName": "OnDemand", "storageClass": "s", "sizeLimit": "10"}),
     r"Volume size `10` is smaller than 1KiB\. Missing units\?"),
    (DE, volume("emptyDir", "e", {}, mount_readOnly="perhaps"), r'For input string: "perhaps"'),
    (D, {K + "executor.volumes.hostPath.h.mount.path": "/x"}, r"hostPath\.h\.options\.path is required for hostPath"),
    (DE, {"spark.{role}.resource.gpu.amount": "1"}, r"Resource: gpu was requested, but vendor was not specified\."),
    (DE, {"spark.{role}.resource.gpu.vendor": "v"}, r"You must specify an amount for gpu"),
    (DE, {"spark.{role}.resource.gpu.amount": "x", "spark.{role}.resource.gpu.vendor": "v"},
     r'For input string: "x"'),
    (D, {"resource": {"type": "python", "path": "/a.py"}}, r"Please specify spark\.kubernetes\.file\.upload\.path property\."),
    (D, {"spark.files": "{w}/a"}, r"Please specify spark\.kubernetes\.file\.upload\.path property\."),
    (D, {"spark.files": "{w}/a", K + "file.upload.path": "{w}/up"}, r"Uploading file \{w\}/a failed\.\.\."),
    (D, {"$HADOOP_CONF_DIR": "{w}", K + "hadoop.configMapName": "m"}, r"requirement failed: Do not specify both the "
     r"`HADOOP_CONF_DIR` in your ENV and the ConfigMap as the creation of an additional ConfigMap, when one is already "
     r"specified is extraneous"),
    (D, {K + "kerberos.krb5.path": "{w}/k", K + "kerberos.krb5.configMapName": "m"}, r"requirement failed: Do not specify both "
     r"a Krb5 local file and the ConfigMap as the creation of an additional ConfigMap, when one is already specified, is "
     r"extraneous"),
    (D, {"spark.kerberos.principal": "p"}, r"requirement failed: If a Kerberos principal is specified you must also specify a "
     r"Kerberos keytab"),
    (D, {"spark.kerberos.keytab": "k"}, r"requirement failed: If a Kerberos keytab is specified you must also specify a "
     r"Kerberos principal"),
    (D, {K + "kerberos.tokenSecret.name": "n"}, r"requirement failed: If a secret storing a Kerberos Delegation Token is "
     r"specified you must also specify the item-key where the data is stored"),
    (D, {K + "kerberos.tokenSecret.itemKey": "n"}, r"requirement failed: If a secret data item-key where the data of the "
     r"Kerberos Delegation Token is specified you must also specify the name of the secret"),
    (D, {K + "kerberos.krb5.path": "{w}/none"}, r"\{w\}/none"),
    (D, {"spark.kerberos.principal": "p", "spark.kerberos.keytab": "{w}/none"}, r"\{w\}/none"),
    *[(D, {K + "authenticate.driver." + key: "{w}/none"},
       rf"requirement failed: {what} provided at \{{w\}}/none does not exist or is not a file\.")
      for key, what in (("caCertFile", "Driver CA cert file"), ("clientKeyFile", "Driver client key file"),
                        ("clientCertFile", "Driver client cert file"))],
    (E, {"spark.blockManager.port": "80"}, r"requirement failed: port number must be 0 or in \[1024, 65535\]"),
    (E, {"spark.blockManager.port": "65536"}, r"requirement failed: port number must be 0 or in \[1024, 65535\]"),
    (E, {K + "executor.request.cores": "2", K + "executor.limit.cores": "1"},
     r"The executor cpu request \(2\) should be less than or equal to cpu limit \(1\)"),
    (E, {"spark.executor.cores": "3", K + "executor.limit.cores": "2500m"},
     r"The executor cpu request \(3\) should be less than or equal to cpu limit \(2500m\)"),
    (DE, {K + "{role}.podTemplateFile": "{w}/none.yaml"}, r"Could not load pod from template file\."),
    (DE, {K + "{role}.podTemplateFile": "{w}/t", "@t": "a: [b\n"}, r"Could not load pod from template file\."),
    (DE, {K + "{role}.podTemplateFile": "{w}/t", "@t": "kind: Service\napiVersion: v1\n"},
     r"Could not load pod from template file\."),
    (DE, {K + "{role}.podTemplateFile": "{w}/t", "@t": "kind: Pod\napiVersion: v1\n"},
     r"Could not load pod from template file\."),
    (DE, {K + "{role}.podTemplateFile": "{w}/t", "@t": "spec: {containers: [{name: {a: b}}]}\n"},
     r"Could not load pod from template file\."),
    (DE, {K + "{role}.podTemplateFile": "{w}/t", "@t": ""}, r"Could not load pod from template file\."),
    (DE, {K + "{role}.podTemplateFile": "{w}/t", "@t": "spec: {hostNetwork: no}\n"}, r"Could not load pod from template file\."),
    (DE, {K + "{role}.podTemplateFile": "{w}/t", "@t": "spec: {priority: 0x10}\n"}, r"Could not load pod from template file\."),
    (DE, {K + "{role}.podTemplateFile": "{w}/t", "@t": "x: &x {a: b}\nmetadata: {labels: {<<: *x}}\nspec: {}\n"},
     r"Could not load pod from template file\.", MERGED),
    (DE, {K + "{role}.podTemplateFile": "{w}/t", "@t": SMALL_TEMPLATE + "---\nkind: Pod\nmetadata: {name: second}\n"},
     r"Could not load pod from template file\."),
    (D, {K + "driver.pod.featureSteps": "java.lang.Object"}, r"Failed to initialize feature step: java\.lang\.Object, please "
     r"make sure your driver side feature steps are implemented by `org\.apache\.spark\.deploy\.k8s\.features\."
     r"KubernetesDriverCustomFeatureConfigStep` or `org\.apache\.spark\.deploy\.k8s\.features\.KubernetesFeatureConfigStep`\."),
    (E, {K + "executor.pod.featureSteps": "java.lang.Object"}, r"Failed to initialize feature step: java\.lang\.Object, please "
     r"make sure your executor side feature steps are implemented by `KubernetesExecutorCustomFeatureConfigStep` or "
     r"`KubernetesFeatureConfigStep`\."),
    (DE, {K + "{role}.pod.featureSteps": "no.such.Step"}, r"no\.such\.Step"),
    (D, {K + "driver.pod.featureSteps": VOLCANO, K + "scheduler.volcano.podGroupTemplateFile": "{w}/none"}, r"An error has occurred\."),
    (DE, {K + "container.image.pullPolicy": "Sometimes"},
     not_one_of(K + "container.image.pullPolicy", "Sometimes", "Always, Never, IfNotPresent")),
    (DE, {K + "{role}.securityContext.allowPrivilegeEscalation": "maybe"},
     no_such(K + "securityContext.allowPrivilegeEscalation", "maybe", "boolean")),
    (DE, {K + "securityContext.allowPrivilegeEscalation": "maybe"},
     no_such(K + "securityContext.allowPrivilegeEscalation", "maybe", "boolean")),
    (DE, {K + "local.dirs.tmpfs": "maybe"}, no_such(K + "local.dirs.tmpfs", "maybe", "boolean")),
    (DE, {K + "memoryOverheadFactor": "-0.1"},
     unfit(K + "memoryOverheadFactor", "-0.1", "Ensure that memory overhead is non-negative")),
    (DE, {K + "memoryOverheadFactor": "much"}, no_such(K + "memoryOverheadFactor", "much", "double")),
    *[(kinds, {f"spark.{kinds[0]}.memoryOverheadFactor": "0"},
       unfit(f"spark.{kinds[0]}.memoryOverheadFactor", "0.0", "Ensure that memory overhead is a double greater than 0"))
      for kinds in (D, E)],
    *[(kinds, {f"spark.{kinds[0]}.memory": "lots"}, no_such(f"spark.{kinds[0]}.memory", "lots", "bytes in MiB"))
      for kinds in (D, E)],
    (E, {"spark.executor.memoryOverhead": "-1"}, r"Size must be specified as bytes \(b\), kibibytes \(k\), mebibytes \(m\), "
     r"gibibytes \(g\), tebibytes \(t\), or pebibytes\(p\)\. E\.g\. 50b, 100k, or 250m\.\nFailed to parse byte string: -1"),
    *[(kinds, {f"spark.{kinds[0]}.cores": "x"}, no_such(f"spark.{kinds[0]}.cores", "x", "int")) for kinds in (D, E)],
    (E, {K + "executor.limit.cores": "many"}, r""),
    (DE, {K + "{role}.request.cores": ""}, r"Invalid quantity string format passed\."),
    (D, {"spark.driver.port": "x"}, r'Illegal value for config key spark\.driver\.port: For input string: "x"'),
    (D, {K + "driver.service.ipFamilyPolicy": "Quad"},
     not_one_of(K + "driver.service.ipFamilyPolicy", "Quad", "SingleStack, PreferDualStack, RequireDualStack")),
    (D, {K + "driver.service.ipFamilies": "IPv5"},
     not_one_of(K + "driver.service.ipFamilies", "IPv5", "IPv4, IPv6, IPv4,IPv6, IPv6,IPv4")),
    *[(E, {K + "executor.podNamePrefix": prefix}, unfit(
        K + "executor.podNamePrefix", prefix, "must conform https://kubernetes.io/docs/concepts/overview/working-with-objects/"
        "names/#dns-subdomain-names and the value length <= 237")) for prefix in ("Upper", "-a", "a..b", "p" * 238)],
    (E, {K + "executor.terminationGracePeriodSeconds": "-1"},
     unfit(K + "executor.terminationGracePeriodSeconds", "-1000ms", "terminationGracePeriodSeconds must be non-negative")),
    (E, {K + "executor.terminationGracePeriodSeconds": "soon"},
     no_such(K + "executor.terminationGracePeriodSeconds", "soon", "time in SECONDS")),
    (D, {"$SPARK_CONF_DIR": "{w}", K + "configMap.maxSize": "1048577"},
     unfit(K + "configMap.maxSize", "1048577", "Must have at most 1048576 bytes")),
    (D, {K + "configMap.maxSize": "x", "$SPARK_CONF_DIR": "{w}"}, no_such(K + "configMap.maxSize", "x", "long")),
    (E, {"spark.authenticate": "true", "spark.master": "local-cluster[1,1,1]"},
     r"requirement failed: A secret key must be specified via the spark\.authenticate\.secret config\."),
    (E, {"profile": {"id": 7, "executor": {"cores": {"amount": 1}, "gpu": {"amount": 1}}, "task": {"gpu": 1}}},
     r"Resource: gpu was requested, but vendor was not specified\."),
    (S, {"words": ["--main-class", "a.B", "--name", "x"]}, r"Unknown arguments: --name x"),
    (S, {"words": ["--arg", "x"]}, r"requirement failed: Main class must be specified via --main-class"),
    (S, {K + "authenticate.submission.oauthToken": "t", K + "authenticate.submission.oauthTokenFile": "{w}/t"},
     r"requirement failed: Cannot specify OAuth token through both a file spark\.kubernetes\.authenticate\.submission\."
     r"oauthTokenFile and a value spark\.kubernetes\.authenticate\.submission\.oauthToken\.", OFFLINE),
    (S, {K + "authenticate.submission.oauthTokenFile": "{w}/none"}, r"\{w\}/none", OFFLINE),
    (S, {K + "submission.requestTimeout": "x"}, no_such(K + "submission.requestTimeout", "x", "int"), OFFLINE),
    (S, {"spark.master": None}, r"spark\.master"),
    (S, {K + "container.image": None}, r"Must specify the driver container image"),
    (S, {"resource": {"type": "python", "path": "{w}/a.py"}, "@a.py": "1\n"},
     r"Please specify spark\.kubernetes\.file\.upload\.path property\."),
    (A, {"words": []}, r"requirement failed: Main class must be specified via --main-class"),
    (A, {"words": ["--main-class"]}, r"Unknown arguments: --main-class"),
    (A, {"words": ["--main-class", "A", "--arg"]}, r"Unknown arguments: --arg"),
    (A, {"words": ["--Main-Class", "A"]}, r"Unknown arguments: --Main-Class A"),
    (A, {"words": ["x", "--main-class", "A", "y"]}, r"Unknown arguments: x --main-class"),
]

SUBMITS = [
    {}, {"resource": {"type": "none"}}, {"resource": {"type": "python", "path": "local:///a.py"}, "args": ["1", "--x"]},
    {"resource": {"type": "r", "path": "local:///a.R"}, "proxyUser": "someone"}, {K + "namespace": "jobs"},
    {"$SPARK_CONF_DIR": "{w}/conf", "@conf/log4j2.properties": "x\n", "@conf/core.xml": "<x/>"},
    {K + "driver.pod.featureSteps": VOLCANO, K + "namespace": "jobs"},
    {"$HADOOP_CONF_DIR": "{w}/h", "@h/core-site.xml": "<configuration/>", K + "authenticate.driver.oauthToken": "t"},
    volume("persistentVolumeClaim", "p", {"claimName": "OnDemand", "storageClass": "s", "sizeLimit": "1Gi"}),
    {K + "driver.podTemplateFile": "{w}/t", "@t": "metadata: {namespace: of-template}\n" + SMALL_TEMPLATE},
    {K + "executor.podTemplateFile": "{w}/t", "@t": SMALL_TEMPLATE}, {"spark.app.name": "x" * 60},
    # The administrator's token (tests/cluster/kubernetes), and nobody's.
    {K + "authenticate.submission.oauthTokenFile": "{w}/t", "@t": "admin-token"},
    {K + "authenticate.submission.oauthToken": "admin-token", K + "submission.requestTimeout": "20000"},
    {K + "authenticate.submission.oauthToken": "nobody's"}, {K + "driver.pod.name": "named"},
    {"words": ["--arg", "first", "--main-class", "a.B", "--primary-py-file", "local:///x.py", "--main-class", "c.D",
               "--arg", "--proxy-user", "--primary-java-resource", "local:///y.jar"]},
]
ARGUMENTS = [
    ["--main-class", "A"], ["--main-class", "A", "--arg", "x", "--arg", "", "--arg", "--arg"],
    ["--primary-java-resource", "a.jar", "--main-class", "A", "--proxy-user", "u"],
    ["--primary-py-file", "a.py", "--main-class", "A"], ["--primary-r-file", "a.R", "--main-class", "A"],
    ["--primary-r-file", "a.R", "--primary-java-resource", "b.jar", "--main-class", "A", "--main-class", "B"],
]


def pod(name, namespace="default", phase="Running", **more):
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": namespace, "uid": "uid-" + name,
                         "labels": {"spark-role": "driver", "spark-app-selector": "spark-" + name},
                         "creationTimestamp": "2026-01-02T03:04:05Z"},
            "spec": {"serviceAccountName": "sa", "volumes": [{"name": "v1"}, {"name": "v2"}], "nodeName": "node-1",
                     "containers": [{"name": "c", "image": "spark:4.3"}]},
            "status": {"phase": phase, "startTime": "2026-01-02T03:04:06Z", **more}}


def container(state, name="c"):
    return {"name": name, "image": "spark:4.3", "imageID": "", "ready": True, "restartCount": 0, "state": state}


# Says which namespace is meant when none is named.
KUBECONFIG = """apiVersion: v1
kind: Config
current-context: here
contexts:
- {name: here, context: {cluster: c, user: u, namespace: default}}
clusters:
- {name: c, cluster: {server: "{api}"}}
users:
- {name: u, user: {}}
"""
PODS = [
    pod("app-1-driver", containerStatuses=[container({"running": {"startedAt": "2026-01-02T03:04:07Z"}})]),
    pod("app-2-driver", phase="Failed", containerStatuses=[
        container({"terminated": {"startedAt": "2026-01-02T03:04:07Z", "finishedAt": "2026-01-02T04:04:07Z", "exitCode": 137,
                                  "reason": "OOMKilled"}}), container({}, "side")]),
    pod("app-3-driver", "jobs", "Pending", containerStatuses=[container({"waiting": {"reason": "ImagePullBackOff"}})]),
    {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "bare", "namespace": "default", "labels": {}},
     "spec": {"containers": [{"name": "c", "image": "spark:4.3"}]}, "status": {}},
]
OPERATIONS = [
    *[(operation, name, conf) for operation in ("status", "kill") for name, conf in (
        ("app-1-driver", {}), ("default:app-2-driver", {}), ("jobs:app-3-driver", {}), ("jobs:app-*", {}),
        ("default:app-*", {}), ("default:*", {}), ("app*", {}), ("none", {}), ("none:app-*", {}), ("default:none", {}),
        ("bare", {}), ("a:b:c", {}), (":app-1-driver", {}))],
    ("kill", "app-1-driver", {K + "appKillPodDeletionGracePeriod": "7"}),
    ("kill", "default:app-*", {K + "appKillPodDeletionGracePeriod": "2min"}),
    ("kill", "default:none", {K + "appKillPodDeletionGracePeriod": "0"}),
    ("kill", "app-1-driver", {K + "appKillPodDeletionGracePeriod": "soon"}),
    ("status", "", {}), ("kill", "default:", {}),
]
