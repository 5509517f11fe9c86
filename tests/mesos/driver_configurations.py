"""The drivers whose tasks a dispatcher of genuine Spark 3.5 made, which are recorded and compared with ours.

Each is a Driver: what its client submits, and the settings of its dispatcher, whose offers come from one agent.
"""
import dataclasses

AGENT = ("cpus:64;mem:65536;ports:[31000-31099]", "os:debian;rack:12")
RESERVED = ("cpus:1;cpus(dev):3;mem:512;mem(dev):8192", "")
IMAGE = {"spark.mesos.executor.docker.image": "registry/spark:3"}


@dataclasses.dataclass
class Driver:
    name: str
    conf: dict = dataclasses.field(default_factory=dict)
    resource: str = "hdfs://n/apps/app.jar"
    main_class: str = "org.example.Main"
    arguments: tuple = ()
    environment: dict = dataclasses.field(default_factory=dict)
    dispatcher: dict = dataclasses.field(default_factory=dict)
    agent: tuple = AGENT
    fits: bool = True  # the agent's offer

    def submission(self, version):
        return {"action": "CreateSubmissionRequest", "clientSparkVersion": version, "appResource": self.resource,
                "mainClass": self.main_class, "appArgs": list(self.arguments), "environmentVariables": self.environment,
                "sparkProperties": {"spark.app.name": "recorded", "spark.master": "mesos://d:7077", "spark.submit.deployMode": "cluster",
                                    "spark.jars": self.resource, **self.conf}}


def mesos(**settings):
    return {f"spark.mesos.{key.replace('__', '.')}": value for key, value in settings.items()}


def secret(**settings):
    return {f"spark.mesos.driver.secret.{key}": value for key, value in settings.items()}


DEFAULTS = {"spark.mesos.dispatcher.driverDefault.spark.task.cpus": "2", "spark.mesos.dispatcher.driverDefault.spark.locality.wait": "1s",
            **mesos(fetcherCache__enable="true", uris="http://h/dispatcher.conf")}

DRIVERS = [
    Driver("default"),
    Driver("cores_and_memory", {"spark.driver.cores": "2", "spark.driver.memory": "2g"}),
    Driver("fraction_of_a_core", {"spark.driver.cores": "0.5"}),
    Driver("memory_5g", {"spark.driver.memory": "5g"}),
    Driver("memory_overhead", {"spark.driver.memory": "512m", "spark.driver.memoryOverhead": "1000"}),
    Driver("memory_overhead_of_mesos", {"spark.driver.memory": "512m", **mesos(driver__memoryOverhead="64")}),
    Driver("memory_overhead_factor", {"spark.driver.memory": "5g", "spark.driver.memoryOverheadFactor": "0.3"}),
    Driver("arguments", arguments=("plain", "two words", "a\"b", "$HOME", "'quoted'", "semi;colon", "back\\slash", "x=y&z", "*.txt")),
    Driver("settings_with_special_characters", {"spark.executor.extraJavaOptions": "-Da=\"b c\" -Dd=$X", "spark.app.name": "an app (1)"}),
    Driver("numbers_of_executors", {"spark.executor.memory": "3g", "spark.cores.max": "12", "spark.executor.cores": "4"}),
    Driver("python", {"spark.submit.pyFiles": "http://h/a.py,hdfs://n/b.zip"}, "http://h/app.py", ""),
    Driver("local_jar", resource="local:/opt/apps/app.jar"),
    Driver("file_jar", resource="file:/opt/apps/app.jar"),
    Driver("variables", mesos(driverEnv__COLOR="blue", driverEnv__PLACE="a b"), environment={"SPARK_SUBMIT_OPTS": "-Dx=y", "SPARK_USER": "u"}),
    Driver("uris", mesos(uris="http://h/c.conf, file:/d", fetcherCache__enable="true")),
    Driver("archive", {"spark.executor.uri": "hdfs://n/spark-3.5.6-bin.tgz"}),
    Driver("archive_with_libraries", {"spark.executor.uri": "http://h/spark.tgz", "spark.driver.extraLibraryPath": "/l"}),
    Driver("archive_of_environment", environment={"SPARK_EXECUTOR_URI": "http://h/env-spark.tgz"}),
    Driver("archive_of_python", {"spark.executor.uri": "http://h/spark.tgz", "spark.submit.pyFiles": "http://h/a.py"}, "http://h/app.py", ""),
    Driver("home", mesos(executor__home="/opt/spark/")),
    Driver("image", IMAGE),
    Driver("image_with_everything", {**IMAGE, **mesos(
        executor__docker__forcePullImage="true", executor__docker__volumes="/a:/b:ro,/c", executor__docker__portmaps="80:8080,53:53:udp,bad",
        executor__docker__parameters="a=1,b=2=3,bad")}),
    Driver("image_of_mesos", {**IMAGE, **mesos(containerizer="mesos")}),
    Driver("image_with_application", {**IMAGE, **mesos(appJar__local__resolution__mode="container")}, "local:///opt/app.jar"),
    Driver("image_with_python_files", {**IMAGE, "spark.submit.pyFiles": "http://h/a.py"}, "http://h/app.py", ""),
    Driver("network", mesos(network__name="net", network__labels="k:v,k2:v2")),
    Driver("image_and_network", {**IMAGE, **mesos(network__name="net")}),
    Driver("labels", mesos(driver__labels="team:data,key\\:colon:va\\,lue")),
    Driver("secret_in_variable", secret(names="/path,/other", envkeys="A,B")),
    Driver("secret_in_file", secret(names="/path", filenames="secret.txt")),
    Driver("secret_by_value", secret(values="sesame", envkeys="A")),
    Driver("constraint", mesos(driver__constraints="os:debian;rack:5")),
    Driver("constraint_unmet", mesos(driver__constraints="os:ubuntu"), fits=False),
    Driver("too_large", {"spark.driver.cores": "65"}, fits=False),
    Driver("supervised", {"spark.driver.supervise": "true"}),
    Driver("dispatcher_defaults", {"spark.task.cpus": "3"}, dispatcher=DEFAULTS),
    Driver("dispatcher_defaults_and_uris", mesos(uris="http://h/driver.conf"), dispatcher=DEFAULTS),
    Driver("role", {"spark.driver.cores": "2"}, dispatcher=mesos(role="dev", rejectOfferDuration="44s"), agent=RESERVED),
    Driver("role_and_too_large", {"spark.driver.cores": "5"}, dispatcher=mesos(role="dev", rejectOfferDuration="44s"), agent=RESERVED,
           fits=False),
]
