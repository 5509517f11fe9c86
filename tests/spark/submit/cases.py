"""Command lines for spark-submit: some written out, most drawn from a seed.

Three kinds: every manager x deploy mode x language with random options (the grid); each refusal and each unusual path
once or more, written out (the list); and random ones of everything together. A case is a Case; paths are those of
world.py.
"""
import dataclasses
import itertools
import random
import shlex

MASTERS = {
    "yarn": ["yarn"],
    "standalone": ["spark://master:7077", "spark://a:7077,b:7077", "spark://[::1]:7077"],
    "mesos": ["mesos://m:5050", "mesos://zk://z:2181/mesos"],
    "kubernetes": ["k8s://https://kube:6443", "k8s://kube:443", "k8s://http://kube:8080", "k8s://[fd00::1]:6443"],
    "local": ["local", "local[2]", "local[*]", "local[2,3]", "local-cluster[1,1,1024]"],
}

# What is submitted: words that choose the class, then the resources of client mode, then more of cluster mode.
LANGUAGES = {
    "jar": (["--class", "org.example.Main"], ["{w}/files/app.jar", "app.jar", "file:{w}/files/app.jar",
                                              "local:/opt/app.jar", "{http}/app.jar", "missing.jar"],
            ["hdfs://nn:8020/apps/app.jar", "s3a://bucket/app.jar", "https://host/app.jar"]),
    "manifest": ([], ["{w}/files/app.jar", "app.jar"], ["{w}/files/nomain.jar"]),
    "native": (["--class", "main"], ["{w}/files/app.so"], []),
    "python": ([], ["{w}/files/app.py", "app.py", "local:/opt/app.py", "{http}/app.py"], ["hdfs://nn/app.py"]),
    "r": ([], ["{w}/files/app.R", "app.r"], []),
    "spark-shell": (["--class", "org.apache.spark.repl.Main"], ["spark-shell"], []),
    "pyspark-shell": ([], ["pyspark-shell"], []),
    "sparkr-shell": ([], ["sparkr-shell"], []),
    "internal": (["--class", "org.example.Inside"], ["spark-internal"], []),
    "sql": (["--class", "org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver"], ["spark-internal"], []),
    "thrift": (["--class", "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"], ["spark-internal"], []),
    "connect": (["--class", "org.apache.spark.sql.connect.service.SparkConnectServer"], ["spark-internal"], []),
}

MODES = ["client", "cluster"]

LOCAL_LISTS = {
    "--jars": ["{w}/files/one.jar", "one.jar,two.jar", "file:{w}/files/one.jar,{w}/files/two.jar", "{w}/files/dep-*.jar",
               "local:/opt/l.jar,one.jar", "one.jar,,two.jar", "{http}/one.jar", "missing.jar", "{w}/files/app.jar"],
    "--files": ["data.txt", "{w}/files/a.txt,{w}/files/b.txt", "data.txt#renamed", "{w}/files/?.txt", "{http}/a.txt",
                "local:/etc/hosts", "with space.txt", "missing.txt#x"],
    "--archives": ["x.zip", "x.zip#here", "{w}/files/x.zip#a,{w}/files/lib.zip#b"],
    "--py-files": ["lib.py", "lib.zip,lib.egg", "{w}/files/lib.py,{w}/files/lib.zip", "{http}/lib.py", "{w}/files/lib.*",
                   "local:/opt/p.py"],
}

VALUES = {
    "--name": ["a name", "", "x"],
    "--driver-memory": ["512m", "2g", "1073741824", "1T"],
    "--executor-memory": ["512m", "3g", "1536m"],
    "--driver-cores": ["1", "4"],
    "--executor-cores": ["1", "2", "16"],
    "--total-executor-cores": ["1", "64"],
    "--num-executors": ["1", "10"],
    "--queue": ["default", "root.fast"],
    "--driver-class-path": ["/opt/a.jar:/opt/b", "x.jar"],
    "--driver-default-class-path": ["/opt/default"],
    "--driver-java-options": ["-Da=b -Dc=\"d e\"", "-XX:+UseG1GC"],
    "--driver-library-path": ["/opt/lib", "/opt/lib:/usr/lib"],
    "--proxy-user": ["someone"],
    "--principal": ["me@REALM"],
    "--keytab": ["{w}/files/keytab", "local:/etc/keytab", "file:{w}/files/keytab"],
    "--exclude-packages": ["org.none:none"],
    "--repositories": ["file://{w}/maven"],
    **LOCAL_LISTS,
}

CONF = [
    "spark.executor.memory=4g", "spark.executor.cores=6", "spark.executor.instances=3", "spark.cores.max=9",
    "spark.driver.memory=800m", "spark.driver.cores=3", "spark.driver.host=10.0.0.9", "spark.driver.supervise=true",
    "spark.driver.extraClassPath=/conf/cp", "spark.driver.extraJavaOptions=-Dconf=1", "spark.driver.extraLibraryPath=/l",
    "spark.driver.defaultJavaOptions=-Ddefault=1", "spark.app.name=of conf", "spark.jars={w}/files/two.jar",
    "spark.jars=two.jar,local:/opt/x.jar", "spark.files=a.txt", "spark.archives=x.zip#c", "spark.submit.pyFiles=lib.py",
    "spark.submit.pyFiles=file:{w}/files/lib.zip,local:/opt/z.py", "spark.yarn.queue=conf", "spark.yarn.dist.jars=one.jar",
    "spark.yarn.dist.files=data.txt#d", "spark.yarn.dist.archives={w}/files/x.zip#y", "spark.yarn.dist.pyFiles=lib.py",
    "spark.yarn.dist.forceDownloadSchemes=http", "spark.yarn.dist.forceDownloadSchemes=*",
    "spark.master.rest.enabled=true", "spark.master.rest.enabled=false", "spark.dynamicAllocation.enabled=true",
    "spark.hadoop.fs.x=y", "spark.hadoop.io.file.buffer.size=4096", "spark.ui.showConsoleProgress=false",
    "spark.kubernetes.submitInDriver=true", "spark.kubernetes.namespace=n", "spark.buffer.size=1234",
    "spark.kubernetes.container.image=i:1", "spark.my.secret.token=hush", "spark.redaction.regex=(?i)hush",
    "spark.submit.proxyUser.allowCustomClasspathInClusterMode=true", "spark.jars.excludes=org.x:y",
    "spark.jars.repositories=file://{w}/maven", "spark.jars.ivy={w}/ivy-conf", "spark.kerberos.principal=p@R",
    "spark.kerberos.keytab={w}/files/keytab", "spark.yarn.principal=y@R", "spark.yarn.keytab={w}/files/keytab",
    "spark.akka.frameSize=10", "spark.yarn.executor.memoryOverhead=1g", "spark.x=a=b", "spark.empty=", "other.key=1",
    "spark.local.dir={w}/tmp", "spark.pyspark.python=python3", "spark.ui.port=0", "spark.executor.extraJavaOptions=-Dq",
    "spark.mesos.coarse=true", "spark.authenticate=true", "spark.authenticate.secret=s", "spark.ssl.enabled=false",
]

ENVIRONMENT = [
    ("MASTER", "local[7]"), ("DEPLOY_MODE", "client"), ("DEPLOY_MODE", "cluster"), ("SPARK_DRIVER_MEMORY", "650m"),
    ("SPARK_EXECUTOR_MEMORY", "750m"), ("SPARK_EXECUTOR_CORES", "8"), ("SPARK_YARN_APP_NAME", "of environment"),
    ("AWS_ACCESS_KEY_ID", "AKIA"), ("AWS_SECRET_ACCESS_KEY", "secret"), ("AWS_SESSION_TOKEN", "token"),
    ("SPARK_MEM", "3g"), ("SPARK_DIST_CLASSPATH", "/opt/dist/*"), ("PYSPARK_PYTHON", "python3"), ("SPARK_USER", "u"),
    ("SPARK_LOCAL_DIRS", "/tmp"), ("PYSPARK_DRIVER_PYTHON", "ipython"), ("SPARK_SUBMIT_OPTS", "-Dopt=1"),
]

ARGUMENTS = [[], ["one"], ["--name", "not mine"], ["a b", "", "--conf", "x"], ["-h"], ["--verbose", "--jars", "q.jar"],
             ["é", "\"quoted\"", "$HOME", "a,b"]]

PROPERTY_FILES = ["one", "yarn", "k8s", "lists", "empty"]
DEFAULT_DIRECTORIES = ["plain", "master", "yarn", "lists", "extra", "odd", "ivy", "kerberos", "environment"]


@dataclasses.dataclass
class Case:
    version: str
    words: list
    env: dict = dataclasses.field(default_factory=dict)
    home: str = "home"          # SPARK_HOME: of the world, or None for none
    defaults: str = None        # SPARK_CONF_DIR: of the world, or None for SPARK_HOME/conf
    hadoop: bool = False        # HADOOP_CONF_DIR
    kind: str = "random"        # grid, list or random
    cell: tuple = None          # of the grid: manager, mode, language

    def changes_directory(self):
        """Returns whether a driver's pod localizes files, so that the working directory must be restored."""
        return any("submitInDriver" in word or "k8s.conf" in word for word in self.words)

    def __str__(self):
        parts = [f"SPARK_HOME={self.home}" if self.home else "", f"SPARK_CONF_DIR={self.defaults}" if self.defaults else "",
                 "HADOOP_CONF_DIR=hadoop" if self.hadoop else ""]
        parts += [f"{key}={shlex.quote(value)}" for key, value in self.env.items()]
        return " ".join([part for part in parts if part] + [f"spark-submit[{self.version}]", shlex.join(self.words)])


def compat(version):
    return [] if version == "4.3" else ["--conf", f"spark.firesteel.compat={version}"]


def managers(version):
    return [name for name in MASTERS if name != "mesos" or version != "4.3"]


def languages(version):
    return [name for name in LANGUAGES if name != "connect" or version != "2.4"]


class Generator:
    """Draws cases for one version. `options` and `switches` are those of its Spark, reported by its driver."""

    def __init__(self, version, options, seed):
        self.version = version
        self.random = random.Random(f"{seed} {version}")
        self.options = [spellings[0] for spellings in options if spellings[0] in VALUES]

    def pick(self, values):
        return self.random.choice(values)

    def chance(self, probability):
        return self.random.random() < probability

    def spelled(self, option, value):
        if value and self.chance(0.25) and not option.startswith("-c"):
            return [f"{option}={value}"]
        return [option, value]

    def values(self, option, manager, mode):
        values = VALUES[option]
        if option in ("--principal", "--keytab") and mode == "cluster" and manager == "mesos":
            return values
        return values

    def some_options(self, manager, mode, expected=3.0):
        words = []
        for option in self.options:
            if self.chance(expected / len(self.options)):
                words += self.spelled(option, self.pick(self.values(option, manager, mode)))
                if self.chance(0.03):
                    words += self.spelled(option, self.pick(self.values(option, manager, mode)))
        if self.chance(0.15):
            words.append("--supervise")
        if self.chance(0.12):
            words.append(self.pick(["--verbose", "-v"]))
        for _ in range(self.pick([0, 0, 1, 1, 2, 4])):
            words += self.spelled(self.pick(["--conf", "--conf", "-c"]), self.pick(CONF))
        if self.chance(0.12):
            words += self.spelled("--properties-file", "{w}/properties/" + self.pick(PROPERTY_FILES) + ".conf")
            if self.version == "4.3" and self.chance(0.4):
                words.append("--load-spark-defaults")
                if self.chance(0.5):
                    words += [self.pick(["--properties-file", "--extra-properties-file"]),
                              "{w}/properties/" + self.pick(PROPERTY_FILES) + ".conf"]
        return words

    def surroundings(self, case):
        if self.chance(0.3):
            case.defaults = self.pick(DEFAULT_DIRECTORIES)
        if self.chance(0.15):
            case.home = self.pick(["bare", None])
        for _ in range(self.pick([0, 0, 0, 1, 2])):
            name, value = self.pick(ENVIRONMENT)
            case.env[name] = value
        case.hadoop = case.hadoop or self.chance(0.15)
        return case

    def grid_case(self, manager, mode, language, plain):
        choosing, resources, more = LANGUAGES[language]
        if mode == "cluster":
            resources = resources + more
        words = self.spelled("--master", self.pick(MASTERS[manager]))
        if mode == "cluster" or self.chance(0.5):
            words += self.spelled("--deploy-mode", mode)
        words += choosing
        if not plain:
            words += self.some_options(manager, mode)
        words += [self.pick(resources)] + self.pick(ARGUMENTS)
        case = Case(self.version, words, hadoop=manager == "yarn", kind="grid", cell=(manager, mode, language))
        return case if plain else self.surroundings(case)

    def grid(self, times):
        cells = list(itertools.product(managers(self.version), MODES, languages(self.version)))
        for round in range(times):
            for cell in cells:
                yield self.grid_case(*cell, plain=round == 0)

    def random_case(self):
        language = self.pick(languages(self.version))
        choosing, resources, more = LANGUAGES[language]
        words = []
        manager, mode = self.pick(managers(self.version)), self.pick(MODES)
        if self.chance(0.7):
            words += self.spelled("--master", self.pick(MASTERS[manager]))
        if self.chance(0.5):
            words += self.spelled("--deploy-mode", mode)
        if self.chance(0.8):
            words += choosing
        words += self.some_options(manager, mode, 4.0)
        if self.chance(0.04):
            words.insert(self.random.randrange(len(words) + 1), self.pick(["--nonsense", "-x", "--conf", "--jars", "stray",
                                                                           "--jars=", "--supervise=true", "--help"]))
        words += [self.pick(resources + more if mode == "cluster" else resources)] + self.pick(ARGUMENTS)
        return self.surroundings(Case(self.version, words))

    def all(self, times, randoms):
        yield from listed(self.version)
        yield from self.grid(times)
        for _ in range(randoms):
            yield self.random_case()


JAR = ["--class", "org.example.Main", "app.jar"]
EVERYTHING = ["--name", "n", "--driver-memory", "1g", "--driver-cores", "2", "--driver-class-path", "/c",
              "--driver-java-options", "-Dd", "--driver-library-path", "/l", "--executor-memory", "2g", "--executor-cores",
              "3", "--num-executors", "4", "--total-executor-cores", "12", "--queue", "q", "--jars", "one.jar", "--files",
              "data.txt", "--archives", "x.zip", "--py-files", "lib.py", "--supervise", "--principal", "p@R", "--keytab",
              "{w}/files/keytab"]
PACKAGES = ["--repositories", "file://{w}/maven", "--exclude-packages", "org.none:none",
            "--conf", "spark.jars.ivy={w}/ivy", "--packages"]
MERGED = ["--conf", "spark.yarn.dist.jars=two.jar", "--conf", "spark.yarn.dist.files=a.txt", "--conf",
          "spark.yarn.dist.archives=lib.zip", "--conf", "spark.yarn.dist.pyFiles=lib.zip"]


def listed(version):
    """The explicit cases."""
    new, old = version == "4.3", version == "2.4"

    def case(*words, **more):
        return Case(version, [word for part in words for word in (part if isinstance(part, (list, tuple)) else [part])],
                    kind="list", **more)

    # Every row of the table, for each manager and mode: everything at once.
    rest = ["--conf", "spark.master.rest.enabled=true"]
    for manager, mode in itertools.product(managers(version), MODES):
        for master in MASTERS[manager]:
            for rows in (EVERYTHING, EVERYTHING + MERGED):
                yield case("--master", master, "--deploy-mode", mode, rest, rows, JAR, hadoop=True)
                yield case("--master", master, "--deploy-mode", mode, rest, rows, "app.py", hadoop=True)
        # Packages are resolved at the client, except in standalone and Mesos clusters, which only hand them on.
        for coordinates in ("org.test:leaf:1.0", "org.test:top:3.0,org.test:leaf:1.0"):
            yield case("--master", MASTERS[manager][0], "--deploy-mode", mode, rest, PACKAGES, coordinates, JAR,
                       hadoop=True)
        yield case("--master", MASTERS[manager][0], "--deploy-mode", mode, rest, "--conf", "spark.jars.ivy={w}/ivy",
                   "--conf", "spark.jars.ivySettings={w}/files/ivysettings.xml", "--packages", "org.test:leaf:1.1", "app.py",
                   hadoop=True)
        # A driver's pod submits once more, in client mode.
        yield case("--master", MASTERS[manager][0], "--deploy-mode", mode, "--conf", "spark.kubernetes.submitInDriver=true",
                   "--jars", "{http}/one.jar", "--files", "{http}/a.txt", "--py-files", "{http}/lib.py", "--archives",
                   "{http}/x.zip#z", "{http}/app.py", hadoop=True)
        yield case("--master", MASTERS[manager][0], "--deploy-mode", mode, "--conf", "spark.kubernetes.submitInDriver=true",
                   "--jars", "{http}/one.jar", "--files", "a.txt,{http}/b.txt", "--archives", "x.zip", "--class", "x.Y",
                   "{http}/app.jar", hadoop=True)
    # Masters.
    for master in ("bogus", "mesosx", "sparky", "localhost", "yarnish", "yarn-client", "yarn-cluster", "k8s:kube",
                   "k8s://ftp://kube:1", "k8s://https://", "k8s://", "k8s://kube", "k8s://HTTPS://kube:1",
                   "k8s://http://[::1]:80", "local-cluster[2,1,512]", "spark", "k8s", "", "YARN", "mesos://m:5050"):
        for mode in ([], ["--deploy-mode", "client"], ["--deploy-mode", "cluster"]):
            yield case("--master", master, mode, JAR, hadoop=True)
    yield case("--deploy-mode", "nowhere", JAR)
    yield case("--conf", "spark.submit.deployMode=nowhere", JAR)
    yield case(JAR, env={"DEPLOY_MODE": "nowhere"})
    yield case("--master", "local", "--deploy-mode", "cluster", JAR)
    for name, value in itertools.product(("HADOOP_CONF_DIR", "YARN_CONF_DIR"), ("", "{w}/hadoop")):
        yield case("--master", "yarn", JAR, env={name: value})
    yield case("--master", "yarn", JAR)
    yield case("--conf", "spark.master=yarn", JAR, env={"SPARK_YARN_APP_NAME": "n"}, hadoop=True)
    # Memory and numbers.
    for option, values in (("--driver-memory", ("0", "-1", "abc", "1.5g", "10x", "0m", "")), ("--executor-memory", ("0g", "-1g", "q")),
                           ("--executor-cores", ("0", "-2", "two", "1.5")), ("--total-executor-cores", ("0", "x")),
                           ("--driver-cores", ("0", "-1", "x")), ("--num-executors", ("0", "-1", "n"))):
        for value in values:
            yield case("--master", "local", option, value, JAR)
    yield case("--num-executors", "0", "--conf", "spark.dynamicAllocation.enabled=TRUE", JAR)
    yield case("--num-executors", "0", "--conf", "spark.dynamicAllocation.enabled=false", JAR)
    yield case("--conf", "spark.driver.memory=-5", JAR)
    yield case(JAR, env={"SPARK_DRIVER_MEMORY": "no"})
    yield case(JAR, env={"SPARK_EXECUTOR_CORES": "0"})
    # Words.
    yield case("--no-such-option", JAR)
    yield case("-q", JAR)
    yield case("--no-such=option", JAR)
    yield case("--conf")
    yield case("--jars")
    yield case("--master", "local", "--files")
    yield case("--conf", "no equals", JAR)
    yield case("-c", "spark.x", JAR)
    yield case("--conf=spark.a=b=c", JAR)
    yield case("--supervise", "--class=org.example.Main", "app.jar")
    yield case("--master", "local")
    yield case("--class", "a.B")
    yield case("--help")
    yield case("-h")
    yield case("--master", "local", "--help", "app.jar")
    yield case("--usage-error")
    yield case("--class", "a.B", "--nope")
    yield case("--help", env={"_SPARK_CMD_USAGE": "Usage: ./bin/mine [options]"})
    yield case("--version")
    yield case("--version", "--nonsense")
    yield case("--name", "x", "--name", "y", "--conf", "spark.app.name=z", JAR)
    yield case("--conf", "spark.a=1", "--conf", "spark.a=2", "-c", "spark.a=3", JAR)
    yield case("--driver-memory", "2g", "--conf", "spark.driver.memory=3g", JAR)
    yield case("--conf", "spark.driver.memory=3g", "--driver-memory", "2g", JAR)
    yield case("--conf", "spark.executor.memory=3g", "--executor-memory", "2g", JAR)
    yield case("--driver-java-options", "-Xmx2g", JAR)
    yield case("--driver-java-options", "-Da -Xmx2g", "--master", "yarn", "--deploy-mode", "cluster", JAR, hadoop=True)
    yield case("--conf", "spark.driver.extraJavaOptions=-Xmx1g", JAR)
    yield case("--conf", "spark.driver.defaultJavaOptions=-Xmx1g", JAR)
    yield case("--properties-file", "{w}/properties/xmx.conf", JAR)
    # Kill and status.
    for action in ("--kill", "--status"):
        yield case(action + "=driver-1", "--master=spark://m:6066")
        for master in ("spark://m:6066", "k8s://https://kube:1", "yarn", "local", "bogus", "mesos://m:1"):
            yield case(action, "driver-1", "--master", master, hadoop=True)
        yield case(action, "driver-1")
    yield case("--kill", "a", "--status", "b", "--master", "spark://m:1")
    yield case("--status", "a", "--kill", "b", "--master", "spark://m:1")
    # Properties files.
    for name in ("one", "yarn", "k8s", "lists", "empty", "malformed"):
        yield case("--properties-file", "{w}/properties/" + name + ".conf", "--class", "x.Y", "app.jar", hadoop=True)
        yield case("--verbose", "--properties-file={w}/properties/" + name + ".conf", "--class", "x.Y", "app.jar",
                   hadoop=True, defaults="extra")
    yield case("--properties-file", "{w}/no/such.conf", JAR)
    if new:
        yield case("--extra-properties-file", "{w}/no/such.conf", JAR)
        yield case("--properties-file", "{w}/properties/one.conf", "--extra-properties-file", "{w}/files", JAR)
    yield case("--properties-file", "{w}/files", JAR)
    for defaults in DEFAULT_DIRECTORIES + ["none"]:
        yield case("--class", "x.Y", "app.jar", defaults=defaults, hadoop=True)
        yield case("--verbose", "--class", "x.Y", "app.jar", defaults=defaults, hadoop=True)
        yield case("--verbose", "app.py", defaults=defaults, hadoop=True)
        if new:
            yield case("--load-spark-defaults", "--class", "x.Y", "app.jar", defaults=defaults, hadoop=True)
            for extra in (["--extra-properties-file", "{w}/properties/k8s.conf"],
                          ["--extra-properties-file={w}/properties/one.conf", "--extra-properties-file",
                           "{w}/properties/yarn.conf"]):
                yield case(extra, "--class", "x.Y", "--verbose", "app.jar", defaults=defaults, hadoop=True)
                yield case(extra, "--properties-file", "{w}/properties/lists.conf", "--class", "x.Y", "app.jar",
                           defaults=defaults, hadoop=True)
            yield case("--load-spark-defaults", "--properties-file", "{w}/properties/one.conf", "--verbose", "--class",
                       "x.Y", "app.jar", defaults=defaults, hadoop=True)
            yield case("--properties-file", "{w}/properties/one.conf", "--properties-file", "{w}/properties/k8s.conf",
                       "--class", "x.Y", "--verbose", "app.jar", defaults=defaults, hadoop=True)
    # Main classes.
    yield case("app.jar")
    yield case("nomain.jar")
    yield case("missing.jar")
    yield case("data.txt")
    yield case("{w}/files/notajar.jar")
    yield case("--master", "yarn", "--deploy-mode", "cluster", "{http}/app.jar", hadoop=True)
    yield case("{http}/app.jar")
    yield case("{http}/nomain.jar")
    yield case("local:{w}/files/app.jar")
    yield case("--name", "x", "nomain.jar", "--class", "y")
    yield case("spark-internal")
    yield case("hdfs:///app.jar", home=None)
    # Shells and servers.
    for language in ("spark-shell", "pyspark-shell", "sparkr-shell", "sql", "thrift", "connect"):
        choosing, resources, _ = LANGUAGES[language]
        for master, mode in itertools.product(("yarn", "k8s://https://k:1", "spark://m:1", "local"), MODES):
            yield case("--master", master, "--deploy-mode", mode, choosing, resources, hadoop=True)
        yield case(choosing, resources, "-e", "select 1", "--hiveconf", "a=b")
        yield case(choosing, "--conf", "spark.ui.showConsoleProgress=false", resources)
    yield case("--class", "org.apache.spark.repl.Main", "--name", "Spark shell", "spark-shell", "-i", "script.scala")
    yield case("--class", "org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver", "-e", "select 1")
    yield case("--class", "org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver", "--help")
    # Kerberos.
    for manager in managers(version):
        for mode in MODES:
            for keytab in ("{w}/no.keytab", "local:/no/keytab", "file:/no/keytab", "{w}/files/keytab"):
                yield case("--master", MASTERS[manager][0], "--deploy-mode", mode, rest, "--principal", "a@B", "--keytab",
                           keytab, JAR, hadoop=True)
    yield case("--proxy-user", "u", "--principal", "a@B", JAR)
    yield case("--proxy-user", "u", JAR)
    for master, mode, allowed in itertools.product(("yarn", "k8s://https://k:1", "spark://m:1", "local"), MODES, ([], [
            "--conf", "spark.submit.proxyUser.allowCustomClasspathInClusterMode=true"])):
        yield case("--master", master, "--deploy-mode", mode, allowed, "--proxy-user", "u", "--jars", "one.jar", JAR,
                   hadoop=True)
        yield case("--master", master, "--deploy-mode", mode, allowed, "--proxy-user", "u", PACKAGES, "org.test:leaf:1.0",
                   JAR, hadoop=True)
    # R in YARN wants archives of SPARK_HOME; R packages come out of jars.
    for home, mode, master in itertools.product(("home", "bare", None), MODES, ("yarn", "local", "k8s://https://k:1",
                                                                             "spark://m:1")):
        yield case("--master", master, "--deploy-mode", mode, "app.R", "x", home=home, hadoop=True)
        yield case("--master", master, "--deploy-mode", mode, "--archives", "x.zip", "app.R", home=home, hadoop=True)
    for master in [MASTERS[manager][0] for manager in managers(version)]:
        for jars in ("{w}/files/r.jar", "one.jar,{w}/files/r.jar", "{w}/files/r-broken.jar", "one.jar", "missing.jar"):
            for verbose in ([], ["--verbose"]):
                yield case("--master", master, verbose, "--jars", jars, "app.R", hadoop=True)
    # Lists of files. Of 2.4 only Spark's own sentences are compared: Hadoop and its expressions are those of 4.3.
    for option in LOCAL_LISTS:
        for value in () if old else ("a:b", "{w}/files/{a,b}.txt", "unknown://x/y", "C:\\x\\y.jar"):
            yield case("--master", "local", option, value, JAR)
            yield case("--master", "yarn", "--deploy-mode", "cluster", option, value, "app.py", hadoop=True)
        for value in ("{w}/files/dep-*.jar", "{w}/files/dep-?.jar#x", "{w}/files/dep-*.jar#x", "{w}/files/none-*.jar", "file:///",
                      "{w}/files/[ab].txt", "  one.jar , two.jar ", ",", "{w}/files/dep-1.jar,{w}/files/dep-1.jar",
                      "{http}/one.jar", "{http}/none.jar", "{http}/one.jar#frag", "a b.jar", "%41.jar", "x?y", "x#y#z",
                      "#only", "file:rel.jar", "file://host/x.jar", "//host/x.jar", "~/x.jar", "é.jar"):
            yield case("--master", "local", option, value, JAR)
            yield case("--master", "yarn", "--deploy-mode", "cluster", option, value, "app.py", hadoop=True)
    for resource in ("a b.jar", "x#y.jar", "%20.jar", "http://", "unknown://h/app.jar", "app.jar#f", "file://host/app.jar",
                     "app.PY", "x.R#y", "/a//b.jar", "../app.jar", "./app.py", "dir/", "{w}/files/*.jar", "é.py", "a:b.jar"):
        yield case("--master", "yarn", "--deploy-mode", "cluster", "--class", "X", resource, hadoop=True)
        yield case("--class", "X", resource)
    yield case("--py-files", "a.jar,b.py", "app.py")
    yield case("--py-files", "a.py", JAR)
    yield case("--conf", "spark.submit.pyFiles={http}/lib.py", JAR)
    yield case("--conf", "spark.submit.pyFiles=unknown://x/lib.py", JAR)
    for schemes in ("http", "https", "*", "http,file", ""):
        yield case("--master", "yarn", "--conf", "spark.yarn.dist.forceDownloadSchemes=" + schemes, "--jars", "{http}/one.jar",
                   "--files", "{http}/a.txt", "--archives", "{http}/x.zip", "--py-files", "{http}/lib.py", JAR, hadoop=True)
        yield case("--master", "yarn", "--deploy-mode", "cluster", "--conf", "spark.yarn.dist.forceDownloadSchemes=" + schemes,
                   "--jars", "{http}/one.jar", "--files", "{http}/a.txt", "--archives", "{http}/x.zip", "--py-files",
                   "{http}/lib.py", "app.py", hadoop=True)
    # Packages.
    for coordinates in ("org.test:leaf", "org.test:leaf:1.0:x", ":leaf:1.0", "org.test::1.0", "org.test:leaf:", " :leaf:1.0",
                        "org.test: :1", "org.test:leaf: ", "org.test/leaf:1.0", "org.test:none:1.0", ",", "org.test:leaf:9"):
        yield case("--conf", "spark.jars.ivySettings={w}/files/ivysettings.xml", "--conf", "spark.jars.ivy={w}/ivy",
                   "--packages", coordinates, JAR)
    yield case("--conf", "spark.jars.ivySettings={w}/files/ivysettings.xml", "--conf", "spark.jars.ivy={w}/ivy",
               "--exclude-packages", "broken", "--packages", "org.test:leaf:1.0", JAR)
    yield case("--conf", "spark.jars.ivySettings={w}/files/ivysettings.xml", "--conf", "spark.jars.ivy={w}/ivy",
               "--exclude-packages", "org.test:leaf", "--packages", "org.test:middle:2.0", "--jars", "one.jar", "app.py")
    yield case("--conf", "spark.jars.ivySettings={w}/files/ivysettings.xml", "--conf", "spark.jars.ivy={w}/ivy",
               "--packages=org.test:leaf:1.0", JAR)
    for settings in ("{w}/none.xml", "{w}/files", "{w}/files/broken.xml", "s3://x/y.xml", "file:{w}/files/ivysettings.xml",
                     "ivysettings.xml"):
        yield case("--conf", "spark.jars.ivySettings=" + settings, "--conf", "spark.jars.ivy={w}/ivy", "--packages",
                   "org.test:leaf:1.0", JAR)
    # Spark Connect.
    if not old:
        yield case("--remote", "sc://h:1", JAR)
        yield case("--remote", "sc://h:1", "--master", "local", JAR)
        yield case("--remote", "sc://h:1", "--deploy-mode", "cluster", JAR)
        yield case("--conf", "spark.remote=sc://h", JAR)
        yield case("--conf", "spark.remote=sc://h", "--master", "local", "app.py")
        yield case("--remote", "local", "pyspark-shell")
        yield case("--conf", "spark.remote=local", "--conf", "spark.master=local", JAR)
        yield case("--conf", "spark.api.mode=connect", "--master", "local", "app.py")
        yield case("--conf", "spark.api.mode=connect", "--master", "local", "pyspark-shell")
        yield case("--conf", "spark.api.mode=connect", "--master", "local", JAR)
        yield case("--remote", "sc://h:1", "connect-shell")
        for words in (["--remote", "sc://h:1"], ["--remote=sc://h:1"]):
            yield case(words, JAR)
            yield case(words, "app.py", "x")
            yield case(words, "pyspark-shell")
    # Environment.
    for name, value in ENVIRONMENT:
        yield case(JAR, env={name: value})
        yield case("--master", "yarn", "app.py", env={name: value}, hadoop=True)
    aws = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_SESSION_TOKEN": "c"}
    yield case("--verbose", JAR, env=aws)
    yield case(JAR, home=None)
    yield case("--master", "yarn", "app.py", home=None, hadoop=True)
