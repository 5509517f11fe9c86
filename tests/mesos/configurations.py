"""The configurations in which what genuine Spark 3.5 asks of Mesos is recorded, and compared with ours.

Each is a Configuration: settings, and the agents whose offers come. `jobs`: tasks of a job that runs, for the fine-grained mode.
"""
import dataclasses

LARGE = "cpus:4;mem:4096;disk:10000;ports:[31000-31099]"
SMALL = "cpus:2;mem:2048;disk:10000;ports:[31000-31099]"
AGENTS = ((LARGE, "os:debian;rack:12;zones:[1-5]"), (SMALL, "os:ubuntu;rack:7"))
DOCKER = {"spark.mesos.executor.docker.image": "registry/spark:3"}
SECRETS = "spark.mesos.executor.secret."


@dataclasses.dataclass
class Configuration:
    name: str
    conf: dict
    agents: tuple = AGENTS
    tasks: int = 0               # of a job; 0: none
    environment: dict = dataclasses.field(default_factory=dict)
    credentials: dict = None     # of the master
    failing: bool = False        # each task fails once it runs


def coarse(name, conf=None, /, **more):
    return Configuration(name, conf or {}, **more)


def mesos(**settings):
    return {f"spark.mesos.{key.replace('__', '.')}": value for key, value in settings.items()}


COARSE = [
    coarse("default"),
    coarse("executor_cores_1", {"spark.executor.cores": "1"}),
    coarse("executor_cores_3", {"spark.executor.cores": "3"}),
    coarse("executor_cores_too_many", {"spark.executor.cores": "8"}),
    coarse("cores_max_3", {"spark.cores.max": "3"}),
    coarse("cores_max_1", {"spark.cores.max": "1"}),
    coarse("cores_max_5_executor_cores_2", {"spark.cores.max": "5", "spark.executor.cores": "2"}),
    coarse("cores_max_below_executor_cores", {"spark.cores.max": "2", "spark.executor.cores": "3"}),
    coarse("cores_max_reached", {"spark.cores.max": "4", "spark.executor.cores": "4", "spark.mesos.rejectOfferDuration": "30s"}),
    coarse("cores_max_reached_own_duration", {"spark.cores.max": "4", "spark.executor.cores": "4",
                                              "spark.mesos.rejectOfferDurationForReachedMaxCores": "77s"}),
    coarse("fractional_cpus", agents=(("cpus:2.5;mem:2000", ""), ("cpus:0.9;mem:2000", ""))),
    coarse("executor_memory", {"spark.executor.memory": "1500m", "spark.executor.cores": "1"}),
    coarse("executor_memory_too_large", {"spark.executor.memory": "8g"}),
    coarse("executor_memory_3g_factor", {"spark.executor.memory": "2500m", "spark.executor.memoryOverheadFactor": "0.4"}),
    coarse("executor_memory_overhead_of_spark", {"spark.executor.memoryOverhead": "100"}),
    coarse("executor_memory_overhead", {"spark.mesos.executor.memoryOverhead": "64", "spark.executor.cores": "1"}),
    coarse("constraint_text", mesos(constraints="os:debian")),
    coarse("constraint_one_of", mesos(constraints="os:ubuntu,debian")),
    coarse("constraint_scalar", mesos(constraints="rack:8")),
    coarse("constraint_range", mesos(constraints="zones:3")),
    coarse("constraint_presence", mesos(constraints="zones:")),
    coarse("constraint_two", mesos(constraints="os:debian;rack:5")),
    coarse("constraint_unmet", mesos(constraints="gpu:yes", rejectOfferDurationForUnmetConstraints="44s")),
    coarse("constraint_bad", mesos(constraints="os;rack:1:2")),
    coarse("role", mesos(role="dev"), agents=(("cpus:2;cpus(dev):2;mem:512;mem(dev):3000", ""), ("cpus(other):4;mem(other):4096", ""))),
    coarse("role_split_memory", {**mesos(role="dev"), "spark.executor.cores": "3"},
           agents=(("cpus:2;cpus(dev):2;mem:1000;mem(dev):1000", ""),)),
    coarse("extra_cores", mesos(extra__cores="2")),
    coarse("labels", mesos(task__labels="team:data,key\\:colon:va\\,lue")),
    coarse("labels_malformed", mesos(task__labels="team")),
    coarse("uris", mesos(uris="file:///a/b.tgz, http://h/c.conf")),
    coarse("executor_uri", {"spark.executor.uri": "hdfs://n/spark-3.5.6-bin.tgz"}),
    coarse("executor_uri_cached", {"spark.executor.uri": "http://h/x/spark.tgz", **mesos(fetcherCache__enable="true", uris="http://h/a")}),
    coarse("executor_uri_of_environment", environment={"SPARK_EXECUTOR_URI": "http://h/env-spark.tgz"}),
    coarse("executor_home", mesos(executor__home="/opt/spark")),
    coarse("docker", DOCKER),
    coarse("docker_of_mesos", {**DOCKER, **mesos(containerizer="mesos")}),
    coarse("docker_no_image", mesos(containerizer="mesos")),
    coarse("docker_of_mesos_forced", {**DOCKER, **mesos(containerizer="mesos", executor__docker__forcePullImage="true")}),
    coarse("docker_forced_ports", {**DOCKER, **mesos(executor__docker__forcePullImage="true",
                                                     executor__docker__portmaps="8080:80,53:53:udp,bad")}),
    coarse("docker_parameters", {**DOCKER, **mesos(executor__docker__parameters="env=A=1,user=me,bad")}),
    coarse("docker_volumes", {**DOCKER, **mesos(executor__docker__volumes="/a:/b:ro,/c:/d:rw,/e:/f,/g,/h:/i:bad,/j:ro")}),
    coarse("docker_home", {**DOCKER, **mesos(executor__home="/opt/spark")}),
    coarse("volumes_without_image", mesos(executor__docker__volumes="/a:/b:ro")),
    coarse("network", mesos(network__name="net1")),
    coarse("network_labels", mesos(network__name="net1", network__labels="a:1,b:2")),
    coarse("network_labels_alone", mesos(network__labels="a:1")),
    coarse("network_docker", {**DOCKER, **mesos(network__name="net1")}),
    coarse("network_docker_of_mesos", {**DOCKER, **mesos(network__name="net1", containerizer="mesos")}),
    coarse("secret_values_in_variables", {f"{SECRETS}values": "guessme,second", f"{SECRETS}envkeys": "PASSWORD,OTHER"}),
    coarse("secret_values_in_files", {f"{SECRETS}values": "guessme", f"{SECRETS}filenames": "/topsecret"}),
    coarse("secret_names_in_variables", {f"{SECRETS}names": "/path/to/secret", f"{SECRETS}envkeys": "PASSWORD"}),
    coarse("secret_names_in_files", {f"{SECRETS}names": "/path/to/secret", f"{SECRETS}filenames": "/topsecret"}),
    coarse("secret_names_and_values", {f"{SECRETS}names": "/a", f"{SECRETS}values": "b", f"{SECRETS}envkeys": "C"}),
    coarse("secret_unequal", {f"{SECRETS}values": "a,b", f"{SECRETS}envkeys": "C"}),
    coarse("secret_docker", {**DOCKER, f"{SECRETS}values": "guessme", f"{SECRETS}filenames": "/topsecret"}),
    coarse("gpus", mesos(gpus__max="1"), agents=((LARGE + ";gpus:2", ""), (SMALL, ""))),
    coarse("gpus_of_several", mesos(gpus__max="3"), agents=((LARGE + ";gpus:2", ""), (LARGE + ";gpus:2", ""))),
    coarse("gpus_unwanted", agents=((LARGE + ";gpus:2", ""), (SMALL, ""))),
    coarse("port", {"spark.blockManager.port": "31010", "spark.executor.cores": "1"}),
    coarse("port_not_offered", {"spark.blockManager.port": "40000"}),
    coarse("port_of_ranges", {"spark.blockManager.port": "31150"},
           agents=(("cpus:2;mem:2048;ports:[31000-31010,31100-31200]", ""),)),
    coarse("failover_timeout", mesos(driver__failoverTimeout="30")),
    coarse("framework_id", mesos(driver__frameworkId="given-id")),
    coarse("web_ui_url", mesos(driver__webui__url="http://proxy/ui")),
    coarse("principal", mesos(principal="p1")),
    coarse("principal_and_secret", mesos(principal="p1", secret="s1"), credentials={"p1": "s1"}),
    coarse("secret_without_principal", mesos(secret="s1")),
    coarse("public_dns", environment={"SPARK_PUBLIC_DNS": "public.example"}),
    coarse("class_path_and_options", {"spark.executor.extraClassPath": "/a.jar:/b.jar", "spark.executor.extraJavaOptions":
                                      "-Dapp={{APP_ID}} -Dx='a b' -De={{EXECUTOR_ID}}", "spark.executor.extraLibraryPath": "/lib/a"}),
    coarse("environment", {"spark.executorEnv.A": "1", "spark.executorEnv.B": "two words", "spark.executor.memory": "512m"}),
    coarse("app_name", {"spark.app.name": "a name, with 'quotes'"}),
    coarse("failures", {"spark.executor.cores": "2"}, failing=True, agents=((SMALL, ""),)),
    coarse("io_encryption", {"spark.io.encryption.enabled": "true"}),
    coarse("dynamic_allocation", {"spark.dynamicAllocation.enabled": "true", "spark.shuffle.service.enabled": "true",
                                  "spark.dynamicAllocation.initialExecutors": "1", "spark.dynamicAllocation.minExecutors": "1",
                                  "spark.executor.cores": "1"}),
    coarse("dynamic_allocation_of_none", {"spark.dynamicAllocation.enabled": "true", "spark.shuffle.service.enabled": "true"}),
    coarse("small_ratio", {"spark.cores.max": "4", "spark.scheduler.minRegisteredResourcesRatio": "0.1",
                           "spark.scheduler.maxRegisteredResourcesWaitingTime": "1s"}),
    coarse("no_agents", agents=()),
]


def fine(name, conf=None, /, tasks=4, **more):
    return Configuration(f"fine_{name}", {"spark.mesos.coarse": "false", **(conf or {})}, tasks=tasks, **more)


FINE = [
    fine("default"),
    fine("one_task", tasks=1),
    fine("eight_tasks", tasks=8),
    fine("executor_cores_half", mesos(mesosExecutor__cores="0.5")),
    fine("executor_cores_2", mesos(mesosExecutor__cores="2")),
    fine("executor_cores_too_many", mesos(mesosExecutor__cores="6")),
    fine("task_cpus", {"spark.task.cpus": "2"}),
    fine("memory", {"spark.executor.memory": "2g"}),
    fine("constraint", mesos(constraints="os:debian", rejectOfferDurationForUnmetConstraints="44s")),
    fine("executor_uri", {"spark.executor.uri": "http://h/x/spark-3.tgz", **mesos(uris="http://h/a", fetcherCache__enable="true")}),
    fine("executor_home", mesos(executor__home="/opt/spark")),
    fine("docker", {**DOCKER, **mesos(executor__docker__volumes="/a:/b:ro", network__name="net1")}),
    fine("class_path_and_options", {"spark.executor.extraClassPath": "/a.jar", "spark.executor.extraJavaOptions": "-Dx=1",
                                    "spark.executor.extraLibraryPath": "/lib/a", "spark.executorEnv.A": "1"}),
    fine("role", mesos(role="dev"), agents=(("cpus:2;cpus(dev):3;mem:1000;mem(dev):1000", ""),)),
    fine("labels_and_failover", mesos(task__labels="a:1", driver__failoverTimeout="30", gpus__max="1")),
]

ALL = COARSE + FINE
