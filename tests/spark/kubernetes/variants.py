"""Variants of a pod's configuration.

A variant is a dictionary: "spark.…" an entry of SparkConf, "$NAME" an environment variable, "@path" a file below the
directory W, everything else a member of the line (lines.md). {role} stands for driver or executor. A group's variants
exclude each other. The random lines combine variants of different groups.
"""

FULL_TEMPLATE = """apiVersion: v1
kind: Pod
metadata:
  name: of-the-template
  namespace: of-the-template
  labels:
    from-template: "yes"
    spark-role: template
  annotations:
    template.example/note: |
      two
      lines
    template.example/number: "017"
spec:
  serviceAccountName: template-account
  serviceAccount: template-account
  automountServiceAccountToken: false
  schedulerName: template-scheduler
  priorityClassName: high
  restartPolicy: Always
  terminationGracePeriodSeconds: 7
  hostNetwork: false
  dnsPolicy: ClusterFirst
  dnsConfig:
    nameservers: [10.0.0.10]
    options:
      - {name: ndots, value: "2"}
  hostAliases:
    - ip: 10.1.2.3
      hostnames: [a.example, b.example]
  nodeSelector:
    disk: ssd
  imagePullSecrets:
    - name: template-secret
  tolerations:
    - key: dedicated
      operator: Equal
      value: spark
      effect: NoSchedule
    - operator: Exists
      effect: NoExecute
      tolerationSeconds: 60
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
          - matchExpressions:
              - {key: zone, operator: In, values: [a, b]}
    podAntiAffinity:
      preferredDuringSchedulingIgnoredDuringExecution:
        - weight: 50
          podAffinityTerm:
            topologyKey: kubernetes.io/hostname
            labelSelector:
              matchLabels: {app: spark}
  securityContext:
    runAsUser: 185
    runAsGroup: 16
    fsGroup: 185
    supplementalGroups: [1, 2]
  initContainers:
    - name: init
      image: busybox
      command: ["sh", "-c", "echo $(VAR) 'x'"]
  containers:
    - name: side
      image: side:1
      resources:
        limits: {memory: 64Gi, cpu: "16"}
    - name: main
      image: template:1
      imagePullPolicy: Never
      command: [/opt/template]
      args: [first]
      env:
        - {name: SPARK_USER, value: template}
        - {name: TEMPLATE, value: "1"}
        - name: NODE
          valueFrom:
            fieldRef: {fieldPath: spec.nodeName}
      envFrom:
        - configMapRef: {name: more}
      ports:
        - {containerPort: 9000, name: template}
      resources:
        requests: {cpu: "7", memory: 7Gi, ephemeral-storage: 1.5G}
        limits: {cpu: "8", memory: 8Gi, example.com/thing: 2}
      securityContext:
        allowPrivilegeEscalation: true
        capabilities:
          drop: [ALL]
      livenessProbe:
        httpGet: {path: /, port: spark-ui}
        periodSeconds: 10
      lifecycle:
        preStop:
          exec: {command: ["true"]}
      volumeMounts:
        - {name: scratch, mountPath: /scratch, readOnly: true}
  volumes:
    - name: scratch
      emptyDir: {medium: Memory, sizeLimit: 1Gi}
    - name: claim
      persistentVolumeClaim: {claimName: c}
"""
SMALL_TEMPLATE = "spec:\n  containers:\n  - image: x\n    env:\n    - name: A\n      value: b\n"
JSON_TEMPLATE = '{"kind": "Pod", "metadata": {"labels": {"json": "yes"}}, "spec": {"containers": [{"name": "j"}]}}'
NO_CONTAINER = "apiVersion: v1\nkind: Pod\nmetadata:\n  labels: {none: 'yes'}\nspec:\n  nodeName: n\n"
LOCAL_DIR_TEMPLATE = """spec:
  containers:
  - name: c
    volumeMounts:
    - {name: spark-local-dir-x, mountPath: /local-x}
    - {name: other, mountPath: /other}
  volumes:
  - {name: spark-local-dir-x, hostPath: {path: /disk}}
  - {name: other, emptyDir: {}}
"""
ODD_TEMPLATE = """# a comment
apiVersion: v1
kind: Pod
metadata:
  labels:
    a: "on"
  annotations:
    b: 'it''s'
    c: "tab\\tand \\u00e9"
    folded: >-
      one
      two

      three
spec:
  unknownField: {kept: [1, 2.5, true, null, "x"]}
  containers:
    - name: c
      unknownToo: yes
      env: [{name: &a A, value: *a}]
      resources: {}
"""
POD_GROUP = """apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata:
  annotations: {note: x}
spec:
  queue: spark
  minMember: 3
  minResources: {cpu: "4", memory: 3Gi}
  priorityClassName: system-node-critical
"""
POD_GROUP_JSON = '{"spec": {"minMember": 2, "queue": "j"}}'
VOLCANO = "org.apache.spark.deploy.k8s.features.VolcanoFeatureStep"
KEYTAB = {"base64": "BQIAAAAt/wABAAtFWEFNUExF"}
K = "spark.kubernetes."
STEPS = "org.apache.spark.deploy.k8s.features."
LONG = "a very Long application name, with 1 number and more than sixty-three characters in it"


def volume(kind, name, options, mount="/data", **more):
    prefix = K + "{role}.volumes." + kind + "." + name + "."
    variant = {prefix + "mount.path": mount}
    variant.update({prefix + "options." + key: value for key, value in options.items()})
    variant.update({prefix + key.replace("_", "."): value for key, value in more.items()})
    return variant


def merged(*variants):
    result = {}
    for each in variants:
        result.update(each)
    return result


def volumes():
    yield volume("hostPath", "h", {"path": "/host"})
    yield volume("hostPath", "h", {"path": "/host", "type": "DirectoryOrCreate"}, mount_readOnly="true")
    yield volume("hostPath", "spark-local-dir-1", {"path": "/disk1"}, mount="/tmp1")
    yield merged(volume("hostPath", "spark-local-dir-1", {"path": "/disk1"}, mount="/tmp1"),
                 volume("emptyDir", "spark-local-dir-2", {}, mount="/tmp2"))
    yield volume("persistentVolumeClaim", "p", {"claimName": "existing"}, mount_subPath="sub/dir")
    yield volume("persistentVolumeClaim", "p", {"claimName": "existing"}, mount_subPathExpr="$(SPARK_EXECUTOR_ID)",
                 mount_readOnly="true")
    yield volume("persistentVolumeClaim", "p", {"claimName": "OnDemand"})
    yield volume("persistentVolumeClaim", "p", {"claimName": "OnDemand", "storageClass": "fast", "sizeLimit": "2Gi"})
    yield merged(volume("persistentVolumeClaim", "spark-local-dir-1",
                        {"claimName": "OnDemand", "storageClass": "fast", "sizeLimit": "500Gi"}, mount="/d1",
                        mount_readOnly="false"),
                 volume("persistentVolumeClaim", "spark-local-dir-2",
                        {"claimName": "OnDemand", "storageClass": "slow", "sizeLimit": "5G"}, mount="/d2"))
    yield volume("persistentVolumeClaim", "p", {"claimName": "claim-SPARK_EXECUTOR_ID-x", "storageClass": "s",
                                                "sizeLimit": "1024"})
    yield merged(volume("persistentVolumeClaim", "p",
                        {"claimName": "OnDemand", "storageClass": "", "sizeLimit": "1T"}, label_a="b",
                        annotation_note="x y"),
                 {K + "{role}.volumes.persistentVolumeClaim.p.label.team/part": "one",
                  K + "{role}.volumes.persistentVolumeClaim.p.annotation.example.com/{{APP_ID}}": "{{APP_ID}}"})
    yield volume("persistentVolumeClaim", "p", {"claimName": "OnDemand"}, label_team="one", annotation_note="x y")
    yield merged(volume("persistentVolumeClaim", "p", {"claimName": "OnDemand", "storageClass": "s",
                                                       "sizeLimit": "9Mi"}),
                 {K + "legacy.useReadWriteOnceAccessMode": "true"})
    yield volume("emptyDir", "e", {})
    yield volume("emptyDir", "e", {"medium": "Memory", "sizeLimit": "6G"}, mount="/cache")
    yield volume("emptyDir", "e", {"sizeLimit": "1.5Gi"}, mount_readOnly="TRUE")
    yield volume("emptyDir", "e", {"sizeLimit": "lots"})
    yield volume("nfs", "n", {"path": "/export", "server": "nfs.example"})
    yield volume("nfs", "n", {"path": "/export", "server": "10.0.0.1"}, mount_subPath="a", mount_readOnly="true")
    yield merged(volume("nfs", "n", {"path": "/export", "server": "s"}, mount="/n"),
                 volume("emptyDir", "e", {}, mount="/e"), volume("hostPath", "h", {"path": "/h"}, mount="/h"),
                 volume("persistentVolumeClaim", "c", {"claimName": "c"}, mount="/c"))


def groups(role):
    """{name: [variant]} for the pods of one role."""
    chosen = dict(BOTH)
    chosen.update(DRIVER if role == "driver" else EXECUTOR)
    return chosen


BOTH = {
    "name": [{"spark.app.name": name} for name in
             ("", "1st.app", LONG, "Ünï çode*App", "--dashes--", "under_score/slash", "x" * 70, " spaced ")] +
            [{"spark.app.name": None}],
    "image": [{K + "{role}.container.image": "registry:5000/{role}:2"},
              {K + "container.image": "spark:{{SPARK_VERSION}}-java", K + "{role}.container.image": None},
              {K + "container.image.pullPolicy": "Always"}, {K + "container.image.pullPolicy": "Never"},
              {K + "container.image.pullSecrets": "one"}, {K + "container.image.pullSecrets": " b , a,,b"}],
    "namespace": [{K + "namespace": "jobs"}],
    "labels": [{K + "{role}.label.team": "data"},
               {K + "{role}.label.a/b": "{{APP_ID}}-{{EXECUTOR_ID}}z", K + "{role}.label.spark-app-name2": "",
                K + "{role}.label.x.y": "z", K + "{role}.label.applicationId": "a", K + "{role}.label.queue": "q"}],
    "annotations": [{K + "{role}.annotation.note": "free text: {}, \"quoted\""},
                    {K + "{role}.annotation.yunikorn.apache.org/app-id": "{{APP_ID}}",
                     K + "{role}.annotation.id": "{{EXECUTOR_ID}}", K + "{role}.annotation.empty": ""}],
    "nodes": [{K + "node.selector.disk": "ssd"}, {K + "{role}.node.selector.zone": "a"},
              {K + "node.selector.disk": "ssd", K + "node.selector.z": "1", K + "{role}.node.selector.disk": "nvme"}],
    "scheduler": [{K + "scheduler.name": "both"}, {K + "{role}.scheduler.name": "own"},
                  {K + "scheduler.name": "both", K + "{role}.scheduler.name": "own"}],
    "cores": [{"spark.{role}.cores": "3"}, {K + "{role}.request.cores": "500m"}, {K + "{role}.limit.cores": "4"},
              {"spark.{role}.cores": "2", K + "{role}.request.cores": "0.5", K + "{role}.limit.cores": "2500m"},
              {K + "{role}.request.cores": "1", K + "{role}.limit.cores": "1000m"}],
    "memory": [{"spark.{role}.memory": memory} for memory in ("512m", "2g", "8G", "1500", "3072mb", "5t")],
    "overhead": [{"spark.{role}.memoryOverhead": "1g"}, {"spark.{role}.memoryOverhead": "100"},
                 {"spark.{role}.memoryOverheadFactor": "0.35"}, {K + "memoryOverheadFactor": "0.2"},
                 {K + "memoryOverheadFactor": "0.2", "spark.{role}.memoryOverheadFactor": "0.5"},
                 {"spark.{role}.minMemoryOverhead": "600m"}, {"spark.{role}.minMemoryOverhead": "10m"},
                 {K + "memoryOverheadFactor": "0", "spark.{role}.minMemoryOverhead": "0"},
                 {K + "memoryOverheadFactor": "1", "spark.{role}.memory": "10g"},
                 {K + "memoryOverheadFactor": "1e-1"}],
    "resources": [{"spark.{role}.resource.gpu.amount": "2", "spark.{role}.resource.gpu.vendor": "nvidia.com",
                   "spark.{role}.resource.gpu.discoveryScript": "/opt/gpus.sh"},
                  {"spark.{role}.resource.gpu.amount": "1", "spark.{role}.resource.gpu.vendor": "amd.com",
                   "spark.{role}.resource.fpga.amount": "4", "spark.{role}.resource.fpga.vendor": "intel.com"}],
    "secrets": [{K + "{role}.secrets.one": "/etc/secrets"},
                {K + "{role}.secrets.one": "/etc/one", K + "{role}.secrets.two": "/etc/two",
                 K + "{role}.secrets.three-x": "/etc/three"}],
    "secretEnv": [{K + "{role}.secretKeyRef.PASSWORD": "store:key"},
                  {K + "{role}.secretKeyRef.A": "s:a", K + "{role}.secretKeyRef.B": "s:b",
                   K + "{role}.secretKeyRef.C": "t:k::"}],
    "volumes": list(volumes()),
    "localDirs": [{K + "local.dirs.tmpfs": "true"}, {"$SPARK_LOCAL_DIRS": "/one"}, {"$SPARK_LOCAL_DIRS": "/b,/a,/c"},
                  {"spark.local.dir": "/from-conf,/second"}, {"$SPARK_LOCAL_DIRS": "/env", "spark.local.dir": "/conf"},
                  {K + "local.dirs.tmpfs": "true", "spark.local.dir": "/x"}],
    "template": [{"@t.yaml": text, K + "{role}.podTemplateFile": "{w}/t.yaml"} for text in
                 (SMALL_TEMPLATE, JSON_TEMPLATE, NO_CONTAINER, LOCAL_DIR_TEMPLATE, ODD_TEMPLATE)] +
                [{"@t.yaml": FULL_TEMPLATE, K + "{role}.podTemplateFile": "file://{w}/t.yaml"},
                 {"@t.yaml": FULL_TEMPLATE, K + "{role}.podTemplateFile": "{w}/t.yaml",
                  K + "{role}.podTemplateContainerName": "main"},
                 {"@t.yaml": FULL_TEMPLATE, K + "{role}.podTemplateFile": "local://{w}/t.yaml",
                  K + "{role}.podTemplateContainerName": "not-there"}],
    "volcano": [{K + "{role}.pod.featureSteps": VOLCANO, K + "{role}.scheduler.name": "volcano"}],
    "excluded": [{K + "{role}.pod.excludedFeatureSteps": STEPS + "LocalDirsFeatureStep"},
                 {K + "{role}.pod.excludedFeatureSteps": STEPS + "MountVolumesFeatureStep, " + STEPS +
                  "EnvSecretsFeatureStep,none.Such", K + "{role}.secretKeyRef.X": "s:x"}],
    "privilege": [{K + "securityContext.allowPrivilegeEscalation": "true"},
                  {K + "{role}.securityContext.allowPrivilegeEscalation": "true"},
                  {K + "securityContext.allowPrivilegeEscalation": "true",
                   K + "{role}.securityContext.allowPrivilegeEscalation": "false"}],
    "confDir": [{"$SPARK_CONF_DIR": "{w}/conf", "@conf/log4j2.properties": "rootLogger.level = info\n",
                 "@conf/a.xml": "<a/>\n", "@conf/spark-defaults.conf": "spark.a b\n", "@conf/spark-env.sh": "X=1\n",
                 "@conf/x.template": "t", "@conf/z.jar": "PK", "@conf/z.tar": "t", "@conf/dir/inner": "i",
                 "@conf/spark.properties": "p q\n", "@conf/no-newline": "é ü", "@conf/empty": ""},
                {"$SPARK_CONF_DIR": "{w}/none"},
                {"spark.home": "{w}/home", "@home/conf/metrics.properties": "x=y\n"},
                {"$SPARK_CONF_DIR": "{w}/conf", K + "configMap.maxSize": "40", "@conf/small": "1234567890",
                 "@conf/smaller": "123", "@conf/big": "x" * 41, "@conf/middle": "y" * 25},
                {"$SPARK_CONF_DIR": "{w}/conf", "@conf/binary": {"base64": "/wCAgQ=="}, "@conf/text": "t"}],
    "ports": [{"spark.driver.port": "4444"}, {"spark.blockManager.port": "5555"},
              {"spark.driver.blockManager.port": "6666", "spark.ui.port": "8080"},
              {"spark.connect.grpc.binding.port": "15555"}, {"spark.driver.port": "0"}],
    "user": [{"$SPARK_USER": "someone else"}],
}

DRIVER = {
    "resource": [{"resource": {"type": "java", "path": path}} for path in
                 ("local:///opt/a.jar", "spark-internal", "https://h/x.jar", "{w}/app.jar", "hdfs://n/a.jar")] +
                [{"resource": {"type": "java"}}, {"resource": {"type": "java", "path": "file://{w}/a b.jar"}},
                 {"resource": {"type": "python", "path": "local:///opt/app.py"}},
                 {"resource": {"type": "python", "path": "https://h/app.py"}, K + "memoryOverheadFactor": "0.15"},
                 {"resource": {"type": "python", "path": "{w}/app.py"}, "@app.py": "print(1)\n",
                  K + "file.upload.path": "{w}/upload", "@upload": {"directory": True}},
                 {"resource": {"type": "r", "path": "local:///opt/app.R"}},
                 {"resource": {"type": "r", "path": "{w}/app.R"}}],
    "python": [{"resource": {"type": "python", "path": "local:///a.py"}, "spark.pyspark.python": "python3.11"},
               {"resource": {"type": "python", "path": "local:///a.py"}, "spark.pyspark.driver.python": "/d/python"},
               {"resource": {"type": "python", "path": "local:///a.py"}, "spark.pyspark.python": "p",
                "spark.pyspark.driver.python": "d", "$PYSPARK_PYTHON": "env"},
               {"resource": {"type": "python", "path": "local:///a.py"}, "$PYSPARK_PYTHON": "env"},
               {"resource": {"type": "python", "path": "local:///a.py"}, "$PYSPARK_PYTHON": "env",
                "$PYSPARK_DRIVER_PYTHON": "denv"}],
    "args": [{"args": []}, {"args": ["a b", "", "--name", "$(X)", "é\n\"'\\"]}],
    "proxy": [{"proxyUser": "someone"}],
    "podName": [{K + "driver.pod.name": "my-driver"}, {"$SPARK_TESTING": "1", K + "driver.resourceNamePrefix": "fixed"}],
    "service": [{K + "driver.service.label.team": "net"},
                {K + "driver.service.label.spark-app-selector": "mine", K + "driver.service.annotation.x/y": "{{APP_ID}}"},
                {K + "driver.service.ipFamilyPolicy": "PreferDualStack", K + "driver.service.ipFamilies": "IPv6,IPv4"},
                {K + "driver.service.ipFamilyPolicy": "RequireDualStack"}, {K + "driver.service.ipFamilies": "IPv6"},
                {K + "driver.service.publishNotReadyAddresses": "true"}],
    "env": [{K + "driverEnv.ONE": "1"},
            {K + "driverEnv.A": "x y", K + "driverEnv.B": "", K + "driverEnv.1bad": "kept", K + "driverEnv.SPARK_USER": "u",
             K + "driverEnv.DOT.TED": "$(A)"}],
    "account": [{K + "authenticate.driver.serviceAccountName": "sa"}],
    "credentials": [{K + "authenticate.driver.oauthToken": "token-text"},
                    {K + "authenticate.driver.caCertFile": "{w}/ca.pem", "@ca.pem": "CA\n"},
                    {K + "authenticate.driver.clientKeyFile": "{w}/key.pem", "@key.pem": "KEY",
                     K + "authenticate.driver.clientCertFile": "{w}/cert.pem", "@cert.pem": {"base64": "AAH/gA=="},
                     K + "authenticate.driver.serviceAccountName": "sa"},
                    {K + "authenticate.driver.mounted.caCertFile": "/in/ca.pem",
                     K + "authenticate.driver.mounted.clientKeyFile": "/in/key",
                     K + "authenticate.driver.mounted.clientCertFile": "/in/cert",
                     K + "authenticate.driver.mounted.oauthTokenFile": "/in/token"},
                    {K + "authenticate.driver.oauthToken": "t",
                     K + "authenticate.driver.mounted.oauthTokenFile": "/in/token",
                     "@account.yaml": "spec: {serviceAccountName: of-template, containers: []}\n",
                     K + "driver.podTemplateFile": "{w}/account.yaml",
                     K + "authenticate.driver.serviceAccountName": "other"},
                    {K + "authenticate.driver.oauthTokenFile": "{w}/token", "@token": "T"}],
    "files": [{"spark.jars": "local:///x.jar,https://h/y.jar"},
              {"spark.jars": "{w}/x.jar,local:///y.jar", "@x.jar": "PK", K + "file.upload.path": "{w}/upload",
               "@upload": {"directory": True}},
              {"spark.files": "{w}/a.txt", "@a.txt": "a", "spark.submit.pyFiles": "{w}/b.py,hdfs://n/c.py", "@b.py": "b",
               K + "file.upload.path": "file://{w}/upload", "@upload": {"directory": True}},
              {"spark.archives": "file://{w}/z.zip#unpacked,https://h/w.zip#w", "@z.zip": "PK",
               K + "file.upload.path": "{w}/upload", "@upload": {"directory": True}}],
    "hadoop": [{"$HADOOP_CONF_DIR": "{w}/hadoop", "@hadoop/core-site.xml": "<configuration/>\n",
                "@hadoop/hdfs-site.xml": "<configuration>\n</configuration>", "@hadoop/sub/x": "x"},
               {"$HADOOP_CONF_DIR": "{w}/none"}, {K + "hadoop.configMapName": "existing"}],
    "kerberos": [{"spark.kerberos.keytab": "{w}/me.keytab", "spark.kerberos.principal": "me@EXAMPLE.COM",
                  "@me.keytab": KEYTAB},
                 {"spark.kerberos.keytab": "local:///etc/me.keytab", "spark.kerberos.principal": "me@EXAMPLE.COM"},
                 {K + "kerberos.krb5.path": "{w}/krb5.conf", "@krb5.conf": "[libdefaults]\n"},
                 {K + "kerberos.krb5.path": "{w}/other-name.conf", "@other-name.conf": "[realms]\n",
                  "spark.kerberos.keytab": "{w}/me.keytab", "spark.kerberos.principal": "me@X", "@me.keytab": KEYTAB},
                 {K + "kerberos.krb5.configMapName": "krb5-map"},
                 {K + "kerberos.tokenSecret.name": "tokens", K + "kerberos.tokenSecret.itemKey": "item",
                  K + "kerberos.krb5.configMapName": "m"}],
    "executorTemplate": [{"@e.yaml": FULL_TEMPLATE, K + "executor.podTemplateFile": "{w}/e.yaml"},
                         {"@e.yaml": "not: [valid\n", K + "executor.podTemplateFile": "file://{w}/e.yaml"}],
    "podGroup": [{K + "driver.pod.featureSteps": VOLCANO, "@pg.yaml": POD_GROUP,
                  K + "scheduler.volcano.podGroupTemplateFile": "{w}/pg.yaml"},
                 {K + "driver.pod.featureSteps": VOLCANO, K + "scheduler.volcano.podGroupTemplateJson": POD_GROUP_JSON,
                  K + "namespace": "jobs"},
                 {K + "driver.pod.featureSteps": VOLCANO, K + "scheduler.volcano.podGroupTemplateJson": POD_GROUP_JSON,
                  "@pg.yaml": POD_GROUP, K + "scheduler.volcano.podGroupTemplateFile": "{w}/pg.yaml"}],
    "properties": [{"spark.a": "x=y:z #1", "spark.b": " leading\ttab", "spark.c": "é ü €", "spark.d": "!x\\y\nz",
                    "spark.e f": "blank in key", "spark.g": ""},
                   {"spark.driver.extraJavaOptions": "-Dx=1 -Dy='a b'", "spark.executor.extraClassPath": "/x:/y"}],
    "secretsInConf": [{"spark.authenticate": "true", "spark.authenticate.secret": "hush", "spark.my.password": "p",
                       "spark.ssl.keyStorePassword": "q"}],
}

EXECUTOR = {
    "resource": [{K + "resource.type": kind} for kind in ("java", "python", "r")],
    "id": [{"executorId": "4711"}, {"executorId": "EXECID", "driverPod": None}, {"driverPod": None},
           {"driverPod": {"name": "named-driver", "uid": "u-2", "namespace": "jobs"}}],
    "podNamePrefix": [{K + "executor.podNamePrefix": "my.prefix-1"}, {K + "executor.podNamePrefix": "p" * 237}],
    "env": [{"spark.executorEnv.ONE": "1"},
            {"spark.executorEnv.A": "x y", "spark.executorEnv.B": "", "spark.executorEnv.1bad": "dropped",
             "spark.executorEnv.DOT.TED-x": "$(A)", "spark.executorEnv.SPARK_USER": "u"}],
    "account": [{K + "authenticate.executor.serviceAccountName": "esa"},
                {K + "authenticate.driver.serviceAccountName": "dsa"},
                {K + "authenticate.executor.serviceAccountName": "esa", K + "authenticate.driver.serviceAccountName": "d"},
                {K + "authenticate.executor.serviceAccountName": "esa", K + "executor.podTemplateFile": "{w}/account.yaml",
                 "@account.yaml": "spec: {serviceAccount: of-template}\n"}],
    "pythonMemory": [{"spark.executor.pyspark.memory": "512m", K + "resource.type": "python"},
                     {"spark.executor.pyspark.memory": "512m"}],
    "offHeap": [{"spark.memory.offHeap.enabled": "true", "spark.memory.offHeap.size": "700m"},
                {"spark.memory.offHeap.size": "700m"}],
    "profile": [{"profile": {"id": 1, "executor": {"cores": {"amount": 4}}, "task": {"cpus": 1}}},
                {"profile": {"id": 2, "executor": {"cores": {"amount": 2}, "memory": {"amount": 4096},
                                                   "memoryOverhead": {"amount": 777}, "offHeap": {"amount": 100},
                                                   "pyspark.memory": {"amount": 50}}, "task": {"cpus": 2}},
                 K + "resource.type": "python"},
                {"profile": {"id": 3, "executor": {"memory": {"amount": 2048}, "cores": {"amount": 1},
                                                   "gpu": {"amount": 2, "script": "/s", "vendor": "nvidia.com"}},
                             "task": {"gpu": 0.5}}, K + "executor.limit.cores": "9", K + "executor.request.cores": "3"},
                {"profile": {"id": 4, "executor": {"cores": {"amount": 3}}, "task": {}}, "@t.yaml": FULL_TEMPLATE,
                 K + "executor.podTemplateFile": "{w}/t.yaml", K + "executor.podTemplateContainerName": "main"}],
    "driverAddress": [{"spark.driver.bindAddress": "10.9.8.7"},
                      {"spark.driver.bindAddress": "10.9.8.7", K + "executor.useDriverPodIP": "false"},
                      {"spark.driver.host": "::1", K + "executor.useDriverPodIP": "false"}],
    "blockManager": [{"spark.blockManager.port": "0"}, {"spark.blockManager.port": "1024"}],
    "javaOptions": [{"spark.executor.extraJavaOptions": "-Dx=1 -Dy='a b' -Dz={{APP_ID}}/{{EXECUTOR_ID}}"},
                    {"spark.executor.extraJavaOptions": "-XX:+UseG1GC", "spark.rpc.askTimeout": "10s",
                     "spark.network.timeout": "99s", "spark.authenticate.x": "y", "spark.shuffle.a": "not this"},
                    {"spark.executor.defaultJavaOptions": "-Ddefault=1", "spark.executor.extraJavaOptions": ""}],
    "classPath": [{"spark.executor.extraClassPath": "/a:/b", "spark.executor.extraLibraryPath": "/lib"},
                  {"spark.executor.extraClassPath": ""}],
    "logUrl": [{"spark.ui.custom.executor.log.url": "http://logs/{{APP_ID}}"}],
    "secret": [{"spark.authenticate": "true", "spark.authenticate.secret": "hush", "spark.master": "local"},
               {"spark.authenticate": "true", "spark.master": "k8s://https://h"},
               {"spark.authenticate": "true", "spark.authenticate.secret.executor.file": "/mounted",
                "spark.authenticate.secret.driver.file": "{w}/s", "spark.master": "k8s://https://h", "@s": "abc"}],
    "configMap": [{K + "executor.disableConfigMap": "true"}],
    "decommission": [{"spark.decommission.enabled": "true"},
                     {"spark.decommission.enabled": "true", K + "decommission.script": "/my/decom"}],
    "allocator": [{K + "allocation.pods.allocator": kind} for kind in ("statefulset", "deployment")] +
                 [{K + "allocation.pods.allocator": "deployment", K + "executor.podNamePrefix": "with.dots." + "q" * 60}],
    "grace": [{K + "executor.terminationGracePeriodSeconds": "2min"},
              {K + "executor.terminationGracePeriodSeconds": "0"}],
    "recovery": [{K + "allocation.recoveryMode.enabled": "true", "spark.executor.cores": "4", "spark.task.cpus": "2"}],
    "hadoop": [{K + "executor.hadoopConfigMapName": "prefix-hadoop-config"}],
    "podGroup": [{K + "executor.pod.featureSteps": VOLCANO, K + "scheduler.volcano.podGroupTemplateFile": "/none"}],
}
