"""Every field of SparkApplications on a real API server: applications that use all of them, and the objects that they get."""
import json

from cluster import expect, wait_for

DEFINITION = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/sparkapplications.sparkoperator.k8s.io"
FLAGS = ("--enable-driver-pdb", "--enable-batch-scheduler", "--kube-scheduler-names=coscheduler", "--ingress-url-format={{$appName}}.example.com/{{$appNamespace}}",
         "--ingress-class-name=nginx")
TLS = [{"hosts": ["a.example.com"], "secretName": "tls"}]


def pod_fields(role):
    """The fields that driver and executor share, with values that tell the role."""
    return {
        "cores": 2, "coreRequest": "1500m", "coreLimit": "2500m", "memory": "1g", "memoryLimit": "3g", "memoryOverhead": "512m",
        "gpu": {"name": "nvidia.com/gpu", "quantity": 1}, "image": f"spark:{role}", "javaOptions": f"-Drole={role}",
        "configMaps": [{"name": "settings.v1", "path": "/etc/settings"}],
        "secrets": [{"name": "plain", "path": "/etc/plain", "secretType": "Generic"}, {"name": "gcp", "path": "/etc/gcp", "secretType": "GCPServiceAccount"},
                    {"name": "token", "path": "/etc/token", "secretType": "HadoopDelegationToken"}],
        "env": [{"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}], "envVars": {"OLD": role},
        "envFrom": [{"configMapRef": {"name": "more"}}], "envSecretKeyRefs": {"PASSWORD": {"name": "plain", "key": "password"}},
        "labels": {"role": role, "team": role}, "annotations": {"note": role}, "volumeMounts": [{"name": "data", "mountPath": "/data"}],
        "affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 1, "preference": {"matchExpressions": [{"key": "disk", "operator": "Exists"}]}}]}},
        "tolerations": [{"key": "dedicated", "operator": "Exists"}], "podSecurityContext": {"fsGroup": 185}, "securityContext": {"runAsUser": 185},
        "schedulerName": "default-scheduler", "sidecars": [{"name": "side", "image": "side:1"}], "initContainers": [{"name": "first", "image": "first:1"}],
        "hostNetwork": True, "dnsConfig": {"nameservers": ["10.0.0.53"]}, "terminationGracePeriodSeconds": 7,
        "serviceAccount": "spark", "hostAliases": [{"ip": "10.0.0.9", "hostnames": ["nine"]}], "shareProcessNamespace": True,
        "priorityClassName": "high", "lifecycle": {"preStop": {"exec": {"command": ["true"]}}},
        "ports": [{"name": "extra", "protocol": "TCP", "containerPort": 9999}],
        "template": {"metadata": {"labels": {"templated": "yes"}}, "spec": {"containers": [{"name": f"spark-kubernetes-{role}", "workingDir": "/work"}]}}}


def full():
    return {
        "type": "Scala", "sparkVersion": "4.0.0", "mode": "cluster", "proxyUser": "alice", "image": "spark:4", "imagePullPolicy": "Always", "imagePullSecrets": ["pull"],
        "mainClass": "org.example.Pi", "mainApplicationFile": "local:///opt/pi.jar", "arguments": ["1", "two words"],
        "sparkConf": {"spark.eventLog.enabled": "false"}, "hadoopConf": {"fs.defaultFS": "hdfs://nn:8020"}, "sparkConfigMap": "spark-conf", "hadoopConfigMap": "hadoop-conf",
        "volumes": [{"name": "data", "emptyDir": {}}, {"name": "unused", "emptyDir": {}}],
        "driver": {**pod_fields("driver"), "podName": "full-pod", "kubernetesMaster": "k8s://https://master.example.com", "serviceAnnotations": {"service": "driver"},
                   "serviceLabels": {"service": "label"}},
        "executor": {**pod_fields("executor"), "instances": 3, "deleteOnTermination": False},
        "deps": {"jars": ["local:///a.jar"], "files": ["local:///f"], "pyFiles": ["local:///p.py"], "archives": ["local:///z.zip"], "packages": ["g:a:1"],
                 "excludePackages": ["g:b"], "repositories": ["https://repo.example.com"]},
        "restartPolicy": {"type": "OnFailure", "onSubmissionFailureRetries": 1, "onFailureRetries": 1, "onSubmissionFailureRetryInterval": 5, "onFailureRetryInterval": 5},
        "failureRetries": 1, "retryInterval": 1, "memoryOverheadFactor": "0.2",
        "monitoring": {"exposeDriverMetrics": True, "exposeExecutorMetrics": True, "metricsProperties": "*.sink.jmx.class=x",
                       "prometheus": {"jmxExporterJar": "/jmx.jar", "port": 8091, "portName": "jmx", "configuration": "rules: []"}},
        "timeToLiveSeconds": 3600, "suspend": False, "driverPodDisruptionBudget": True,
        "sparkUIOptions": {"servicePort": 4041, "servicePortName": "ui", "serviceType": "NodePort", "serviceAnnotations": {"a": "1"}, "serviceLabels": {"l": "1"},
                           "ingressAnnotations": {"i": "1"}, "ingressTLS": TLS},
        "driverIngressOptions": [{"servicePort": 9999, "servicePortName": "extra", "ingressURLFormat": "{{$appName}}-extra.example.com/x", "serviceType": "ClusterIP",
                                  "serviceAnnotations": {"a": "2"}, "serviceLabels": {"l": "2"}, "ingressAnnotations": {"i": "2"}, "ingressTLS": TLS}]}


def python():
    return {"type": "Python", "sparkVersion": "3.5.0", "mode": "cluster", "image": "spark:3", "mainApplicationFile": "local:///opt/pi.py", "pythonVersion": "3",
            "nodeSelector": {"disk": "fast"}, "driver": {"memory": "512m", "serviceAccount": "spark"}, "executor": {"memory": "512m"},
            "volumes": [{"name": "spark-local-dir-1", "hostPath": {"path": "/tmp/mnt"}}],
            "dynamicAllocation": {"enabled": True, "initialExecutors": 2, "minExecutors": 0, "maxExecutors": 10, "shuffleTrackingEnabled": True,
                                  "shuffleTrackingTimeout": 6000000},
            "monitoring": {"exposeDriverMetrics": True, "exposeExecutorMetrics": False, "metricsPropertiesFile": "/etc/m.properties",
                           "prometheus": {"jmxExporterJar": "/jmx.jar", "configFile": "/etc/jmx.yaml"}}}


def group():
    return {"type": "Java", "sparkVersion": "4.0.0", "mode": "cluster", "image": "spark:4", "mainClass": "X", "mainApplicationFile": "local:///x.jar",
            "driver": {"cores": 1, "memory": "1g", "serviceAccount": "spark", "nodeSelector": {"disk": "fast"}},
            "executor": {"nodeSelector": {"disk": "large"}, "instances": 2, "cores": 1, "memory": "1g"}, "batchScheduler": "volcano",
            "batchSchedulerOptions": {"queue": "q", "priorityClassName": "high", "resources": {"cpu": "3", "memory": "4Gi"}}}


def leaves(schema, at=""):
    """The paths of all fields of a definition's schema, without those that belong to types of Kubernetes."""
    inner = schema.get("items", {}) if schema.get("type") == "array" else schema
    if not inner.get("properties"):
        return {at}
    return set().union(*(leaves(child, f"{at}.{name}") for name, child in inner["properties"].items()))


def used(value, at=""):
    paths = {at}
    for child in value if isinstance(value, list) else [value]:
        if isinstance(child, dict):
            paths = paths.union(*(used(member, f"{at}.{name}") for name, member in child.items()))
    return paths


class OperatorFields:
    def __init__(self, check):
        self.check, self.cluster = check, check.cluster

    def ask(self, kind, name, group="/api/v1"):
        return self.cluster.ask(f"{group}/namespaces/default/{kind}/{name}")

    def prepare(self):
        self.cluster.kubectl("apply", "-f", "-", text=json.dumps({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 7}))
        schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
        self.cluster.kubectl("apply", "-f", "-", text=json.dumps({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "podgroups.scheduling.volcano.sh"},
            "spec": {"group": "scheduling.volcano.sh", "names": {"plural": "podgroups", "kind": "PodGroup"}, "scope": "Namespaced",
                     "versions": [{"name": "v1beta1", "served": True, "storage": True, "schema": schema}]}}))
        wait_for(lambda: self.cluster.found("/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups"), "the definition of pod groups")

    def create(self, name, spec):
        item = {"apiVersion": "sparkoperator.k8s.io/v1beta2", "kind": "SparkApplication",
                "metadata": {"name": name, "namespace": "default", "labels": {"team": "app", "kueue.x-k8s.io/queue-name": "q"}}, "spec": spec}
        self.cluster.kubectl("create", "-f", "-", text=json.dumps(item))  # which also checks it as strictly as for users
        self.check.wait_state(name, "SUBMITTED", "RUNNING")

    def check_all(self):
        self.prepare()
        specs = {"full": full(), "python": python(), "group": group()}
        versions = self.cluster.ask(DEFINITION)["spec"]["versions"]
        schema = next(v for v in versions if v["name"] == "v1beta2")["schema"]["openAPIV3Schema"]["properties"]["spec"]
        missing = leaves(schema) - set().union(*(used(spec) for spec in specs.values()))
        expect("the applications use every field of the definition", not missing, sorted(missing))
        process = self.check.start(*FLAGS)
        try:
            for name, spec in specs.items():
                self.create(name, spec)
            self.check_driver()
            self.check_executors()
            self.check_exposed()
            self.check_python()
            self.check_group()
            self.check_told()
        finally:
            self.check.stop(process)
            self.check.clear()

    # ------------------------------------------------------------------------------------------- application "full"

    def check_pod(self, role, pod):
        """What the genuine webhook and spark-submit make of the fields that driver and executor share."""
        spec, labels = pod["spec"], pod["metadata"]["labels"]
        main = next(c for c in spec["containers"] if c["name"] == f"spark-kubernetes-{role}")
        env = {e["name"]: e.get("value", e.get("valueFrom")) for e in main.get("env", [])}
        mounts = {m["name"]: m["mountPath"] for m in main["volumeMounts"]}
        volumes = {v["name"]: v for v in spec["volumes"]}
        facts = {
            "working directory of the template": main.get("workingDir") == "/work", "label of the template": labels.get("templated") == "yes",
            "sidecar": [c["image"] for c in spec["containers"] if c["name"] == "side"] == ["side:1"], "initContainers": [c["name"] for c in spec["initContainers"]] == ["first"],
            "env": env["NODE"] == {"fieldRef": {"apiVersion": "v1", "fieldPath": "spec.nodeName"}} or env["NODE"] == {"fieldRef": {"fieldPath": "spec.nodeName"}},
            "envFrom": {"configMapRef": {"name": "more"}} in main["envFrom"], "configMaps": "/etc/settings" in mounts.values(),
            "sparkConfigMap": mounts.get("spark-configmap-volume") == "/etc/spark/conf" and env.get("SPARK_CONF_DIR") == "/etc/spark/conf",
            "hadoopConfigMap": mounts.get("hadoop-configmap-volume") == "/etc/hadoop/conf" and env.get("HADOOP_CONF_DIR") == "/etc/hadoop/conf",
            "volumes that are mounted": mounts.get("data") == "/data" and "data" in volumes and "unused" not in volumes,
            "ports": any(p.get("name") == "extra" and p["containerPort"] == 9999 for p in main["ports"]),
            "hostNetwork": spec.get("hostNetwork") is True and spec["dnsPolicy"] == "ClusterFirstWithHostNet",
            "hostAliases": spec["hostAliases"] == [{"ip": "10.0.0.9", "hostnames": ["nine"]}], "dnsConfig": spec["dnsConfig"] == {"nameservers": ["10.0.0.53"]},
            "priorityClassName": spec["priorityClassName"] == "high", "schedulerName": spec["schedulerName"] == "default-scheduler",
            "affinity": "nodeAffinity" in spec["affinity"], "tolerations": any(t.get("key") == "dedicated" for t in spec["tolerations"]),
            "gpu": main["resources"]["limits"].get("nvidia.com/gpu") == "1", "securityContext": main["securityContext"] == {"runAsUser": 185},
            "podSecurityContext": spec["securityContext"] == {"fsGroup": 185}, "terminationGracePeriodSeconds": spec["terminationGracePeriodSeconds"] == 7,
            "lifecycle": main["lifecycle"] == {"preStop": {"exec": {"command": ["true"]}}}, "shareProcessNamespace": spec.get("shareProcessNamespace") is True,
            "prometheus": mounts.get("full-prom-conf-vol") == "/etc/metrics/conf" and any(p["containerPort"] == 8091 and p["name"] == "jmx" for p in main["ports"]),
        }
        expect(f"fields of the {role}'s pod", all(facts.values()), [fact for fact, true in facts.items() if not true])

    def check_driver(self):
        pod = self.ask("pods", "full-pod")
        self.check_pod("driver", pod)
        main = next(c for c in pod["spec"]["containers"] if c["name"] == "spark-kubernetes-driver")
        labels, notes = pod["metadata"]["labels"], pod["metadata"]["annotations"]
        env = {e["name"]: e.get("value", e.get("valueFrom")) for e in main["env"]}
        owners = pod["metadata"]["ownerReferences"]
        facts = {
            "image": main["image"] == "spark:driver", "imagePullPolicy": main["imagePullPolicy"] == "Always", "imagePullSecrets": pod["spec"]["imagePullSecrets"] == [{"name": "pull"}],
            "cores": main["resources"]["requests"]["cpu"] == "1500m" and main["resources"]["limits"]["cpu"] == "2500m",
            "memory": main["resources"]["requests"]["memory"] == "1536Mi" and main["resources"]["limits"]["memory"] in ("3Gi", "3072Mi"),
            "own label wins": labels["team"] == "driver" and labels["role"] == "driver", "labels of kueue": "kueue.x-k8s.io/queue-name" not in labels,
            "genuine labels": labels["sparkoperator.k8s.io/app-name"] == "full" and labels["sparkoperator.k8s.io/launched-by-spark-operator"] == "true"
            and labels["sparkoperator.k8s.io/submission-id"] and labels["spark-role"] == "driver",
            "annotations": notes["note"] == "driver" and notes["prometheus.io/scrape"] == "true" and notes["prometheus.io/port"] == "8091" and notes["prometheus.io/path"] == "/metrics",
            "envVars": env.get("OLD") == "driver", "envSecretKeyRefs": env["PASSWORD"]["secretKeyRef"] == {"name": "plain", "key": "password"},
            "secrets": env.get("GOOGLE_APPLICATION_CREDENTIALS") == "/etc/gcp/key.json" and env.get("HADOOP_TOKEN_FILE_LOCATION") == "/etc/token/hadoop.token"
            and "/etc/plain" in [m["mountPath"] for m in main["volumeMounts"]],
            "serviceAccount": pod["spec"]["serviceAccountName"] == "spark", "arguments": main["args"][-2:] == ["1", "two words"],
            "owner": [(o["kind"], o["name"], o.get("controller"), o.get("blockOwnerDeletion")) for o in owners] == [("SparkApplication", "full", True, True)],
            "proxyUser": "--proxy-user" in main["args"] and "alice" in main["args"],
        }
        expect("fields of the driver", all(facts.values()), [fact for fact, true in facts.items() if not true])

    def properties(self, name):
        """spark.properties of the application's driver."""
        uid = self.ask("pods", name)["metadata"]["uid"]
        maps = [m for m in self.cluster.ask("/api/v1/namespaces/default/configmaps")["items"]
                if any(o["uid"] == uid for o in m["metadata"].get("ownerReferences", []))]
        text = next(m["data"]["spark.properties"] for m in maps if "spark.properties" in m.get("data", {}))
        lines = [line for line in text.splitlines() if line and not line.startswith("#")]
        unescaped = [line.replace("\\:", ":").replace("\\=", "=").replace("\\ ", " ") for line in lines]
        return dict(line.split("=", 1) for line in unescaped), maps

    def check_executors(self):
        conf, maps = self.properties("full-pod")
        wanted = {
            "spark.kubernetes.driver.master": "k8s://https://master.example.com", "spark.executor.instances": "3", "spark.executor.cores": "2", "spark.executor.memory": "1g",
            "spark.executor.memoryOverhead": "512m", "spark.kubernetes.executor.request.cores": "1500m", "spark.kubernetes.executor.limit.cores": "2500m",
            "spark.kubernetes.executor.container.image": "spark:executor", "spark.kubernetes.executor.deleteOnTermination": "false",
            "spark.kubernetes.executor.label.role": "executor", "spark.kubernetes.executor.annotation.note": "executor", "spark.executorEnv.OLD": "executor",
            "spark.kubernetes.executor.secretKeyRef.PASSWORD": "plain:password", "spark.kubernetes.executor.secrets.plain": "/etc/plain",
            "spark.executorEnv.GOOGLE_APPLICATION_CREDENTIALS": "/etc/gcp/key.json", "spark.executorEnv.HADOOP_TOKEN_FILE_LOCATION": "/etc/token/hadoop.token",
            "spark.kubernetes.authenticate.executor.serviceAccountName": "spark", "spark.hadoop.fs.defaultFS": "hdfs://nn:8020", "spark.eventLog.enabled": "false",
            "spark.kubernetes.memoryOverheadFactor": "0.2", "spark.kubernetes.driver.service.annotation.service": "driver", "spark.kubernetes.driver.service.label.service": "label",
            "spark.metrics.namespace": "default.full", "spark.metrics.conf": "/etc/metrics/conf/metrics.properties", "spark.kubernetes.submission.waitAppCompletion": "false"}
        wrong = {key: conf.get(key) for key, value in wanted.items() if conf.get(key) != value}
        expect("configuration of the executors", not wrong, wrong)
        listed = {"spark.jars": "local:///a.jar", "spark.files": "local:///f", "spark.archives": "local:///z.zip"}
        expect("dependencies", all(value in conf.get(key, "") for key, value in listed.items()), {key: conf.get(key) for key in listed})
        expect("java options", "-Drole=executor" in conf["spark.executor.extraJavaOptions"] and "-javaagent:/jmx.jar=8091:/etc/metrics/conf/prometheus.yaml" in
               conf["spark.executor.extraJavaOptions"] and "-Drole=driver" in conf["spark.driver.extraJavaOptions"], conf.get("spark.executor.extraJavaOptions"))
        template = next(m for m in maps if m["metadata"]["name"].endswith("podspec-conf-map"))
        done = self.cluster.run_kubectl("create", "--dry-run=client", "--validate=false", "-o", "json", "-f", "-",
                                        text=next(iter(template["data"].values())))
        pod = json.loads(done.stdout)
        pod["spec"].setdefault("dnsPolicy", "")
        self.check_pod("executor", pod)
        owners = [(o["kind"], o["name"], o.get("controller")) for o in pod["metadata"].get("ownerReferences", [])]
        expect("executors belong to the application, too", owners == [("SparkApplication", "full", None)], owners)

    def check_exposed(self):
        wait_for(lambda: self.check.status("full")["driverInfo"].get("webUIIngressName"), "the ingress in the status")
        info = self.check.status("full")["driverInfo"]
        ui = self.ask("services", "full-ui-svc")
        port = ui["spec"]["ports"][0]
        facts = {
            "status": (info["webUIServiceName"], info["webUIPort"], info["webUIIngressName"]) == ("full-ui-svc", 4041, "full-ui-ingress"),
            "type": ui["spec"]["type"] == "NodePort", "port": (port["name"], port["port"], port["targetPort"]) == ("ui", 4041, 4040),
            "annotations": ui["metadata"]["annotations"].get("a") == "1", "only own labels": ui["metadata"]["labels"] == {"l": "1", "sparkoperator.k8s.io/created-by-spark-operator": "true"},
            "selector": ui["spec"]["selector"]["spark-role"] == "driver" and ui["spec"]["selector"]["sparkoperator.k8s.io/app-name"] == "full"}
        expect("the UI's service", all(facts.values()), (facts, ui))
        networking = "/apis/networking.k8s.io/v1"
        ingress = self.ask("ingresses", "full-ui-ingress", networking)
        rule = ingress["spec"]["rules"][0]
        path = rule["http"]["paths"][0]
        facts = {
            "host": rule["host"] == "full.example.com", "path": path["path"] == "/default(/|$)(.*)", "backend": path["backend"]["service"]["name"] == "full-ui-svc",
            "rewrite": ingress["metadata"]["annotations"].get("nginx.ingress.kubernetes.io/rewrite-target") == "/$2", "annotations": ingress["metadata"]["annotations"].get("i") == "1",
            "tls": ingress["spec"]["tls"] == TLS, "class": ingress["spec"].get("ingressClassName") == "nginx"}
        expect("the UI's ingress", all(facts.values()), (facts, ingress))
        extra, gate = self.ask("services", "full-driver-9999"), self.ask("ingresses", "full-ing-9999", networking)
        facts = {"service": extra["spec"]["ports"][0]["port"] == 9999 and extra["metadata"]["labels"].get("l") == "2" and extra["metadata"]["annotations"].get("a") == "2",
                 "ingress": gate["spec"]["rules"][0]["host"] == "full-extra.example.com" and gate["spec"]["tls"] == TLS and gate["metadata"]["annotations"].get("i") == "2"}
        expect("driverIngressOptions", all(facts.values()), (facts, extra, gate))
        budget = self.ask("poddisruptionbudgets", "full-pod", "/apis/policy/v1")
        expect("the disruption budget", budget["spec"]["minAvailable"] == 1, budget)
        metrics = self.ask("configmaps", "full-prom-conf")
        expect("the metrics config map", metrics["data"] == {"metrics.properties": "*.sink.jmx.class=x", "prometheus.yaml": "rules: []"} or
               set(metrics["data"]) == {"metrics.properties", "prometheus.yaml"}, metrics["data"])
        for item in (ui, ingress, extra, gate, budget, metrics):
            owners = [(o["kind"], o["name"]) for o in item["metadata"]["ownerReferences"]]
            expect(f"{item['kind']} {item['metadata']['name']} belongs to the application", owners == [("SparkApplication", "full")], owners)

    # -------------------------------------------------------------------------------------------------- the others

    def check_python(self):
        pod = self.ask("pods", "python-driver")
        conf, _ = self.properties("python-driver")
        wanted = {"spark.kubernetes.pyspark.pythonVersion": "3", "spark.dynamicAllocation.enabled": "true", "spark.dynamicAllocation.shuffleTracking.enabled": "true",
                  "spark.dynamicAllocation.initialExecutors": "2", "spark.dynamicAllocation.minExecutors": "0", "spark.dynamicAllocation.maxExecutors": "10",
                  "spark.dynamicAllocation.shuffleTracking.timeout": "6000000", "spark.kubernetes.node.selector.disk": "fast", "spark.metrics.conf": "/etc/m.properties"}
        wrong = {key: conf.get(key) for key, value in wanted.items() if conf.get(key) != value}
        expect("dynamic allocation, Python, node selector, metrics files", not wrong, wrong)
        expect("the node selector of the driver", pod["spec"]["nodeSelector"] == {"disk": "fast"}, pod["spec"].get("nodeSelector"))
        options = conf.get("spark.driver.extraJavaOptions", "")
        expect("the given exporter file", "-javaagent:/jmx.jar=8090:/etc/jmx.yaml" in options, options)

    def check_group(self):
        found = self.ask("podgroups", "spark-group-pg", "/apis/scheduling.volcano.sh/v1beta1")
        spec = found["spec"]
        expect("the group of Volcano", spec["minMember"] == 1 and spec["minResources"] == {"cpu": "3", "memory": "4Gi"} and spec["queue"] == "q" and
               spec["priorityClassName"] == "high", spec)
        pod = self.ask("pods", "group-driver")
        conf, maps = self.properties("group-driver")
        template = next((next(iter(m["data"].values())) for m in maps if m["metadata"]["name"].endswith("podspec-conf-map")), "")
        expect("node selectors of driver and executors", pod["spec"]["nodeSelector"] == {"disk": "fast"} and
               (conf.get("spark.kubernetes.executor.node.selector.disk") == "large" or 'disk: "large"' in template or "disk: large" in template), (conf, template))
        expect("Volcano schedules the driver", pod["spec"]["schedulerName"] == "volcano" and
               pod["metadata"]["annotations"]["scheduling.k8s.io/group-name"] == "spark-group-pg", pod["spec"]["schedulerName"])

    def check_told(self):
        """Fields that do nothing are told by an event."""
        def notes():
            events = self.cluster.ask("/apis/events.k8s.io/v1/namespaces/default/events")["items"]
            return [e["note"] for e in events if e["reason"] == "SparkApplicationFieldsWithoutEffect" and e["regarding"]["name"] == "full"]
        said = wait_for(notes, "the event of fields without effect")
        expect("fields without effect are told", all(field in said[0] for field in ("failureRetries", "retryInterval", "executor.memoryLimit")), said)
