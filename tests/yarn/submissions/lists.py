"""Argument lists for submissions to YARN in cluster mode: each choice of the grid alone, mixtures by seed, and errors.

In words and values {w} is the directory of world.py, {fs} is fs.defaultFS and {http} is a web server.
"""
import random


class Case:
    """`fails`: genuine Spark's client refuses it, or the ResourceManager does."""

    def __init__(self, name, words, env=None, hadoop="plain", yarn=None, spark="empty", runs=True, fails=False):
        self.name, self.words, self.env = name, words, env or {}
        self.hadoop, self.yarn, self.spark, self.runs, self.fails = hadoop, yarn, spark, runs, fails


class Choice:
    """Options of a list. `environment`, `hadoop`, `yarn` and `spark` belong to the process."""

    def __init__(self, *words, env=None, hadoop=None, yarn=None, spark=None, runs=True):
        self.words, self.env, self.runs = list(words), env or {}, runs
        self.hadoop, self.yarn, self.spark = hadoop, yarn, spark


def conf(*pairs, **more):
    words = []
    for pair in pairs:
        words += ["--conf", pair]
    return Choice(*words, **more)


AWKWARD = ["", " ", "a b", "it's", '"q"', "$HOME", "${HOME}", "`echo hi`", "\\", "a\\b", "\\$x", "\\\\\"", "{{PWD}}/x", "{{NO_VAR}}",
           "}}", "{{", "<LOG_DIR>", "<CPS>", "%d%%", "a;b&c|d>e<f", "*", "?", "~", "#h", "é ü ß 漢字 😀", "tab\there", "!x", "(a)[b]",
           "a=b", "--class", "--jar", "-x", "'$x'", "''", "$(echo hi)", "a,b", "^", "two\nlines", "--", "$$", "'\"'\"'", "end\\"]

PRIMARIES = {
    "jar": ["app.jar", "{w}/files/app.jar", "file:{w}/files/app.jar", "file://{w}/files/app.jar", "hdfs:///data/app.jar",
            "{fs}/data/app.jar", "local:/opt/app.jar", "local:///opt/a%20b.jar", "ünï cödé.jar", "{w}/files/app.jar#renamed.jar"],
    "py": ["app.py", "{w}/files/app.py", "hdfs:///data/app.py", "{fs}/data/app.py", "local:/opt/app.py", "main script.py"],
    "r": ["app.R", "{w}/files/app.R", "app.r", "hdfs:///data/app.R"],
}

LIBRARIES = conf("spark.yarn.archive=hdfs:///spark/libs.zip")

GRID = {
    "libraries": [
        LIBRARIES, conf("spark.yarn.archive={fs}/spark/libs.zip"), conf("spark.yarn.archive=hdfs:///closed/libs.zip"),
        conf("spark.yarn.archive={w}/files/x.zip"), conf("spark.yarn.archive=hdfs:///spark/libs.zip#other"),
        conf("spark.yarn.jars=hdfs:///spark/jars/*"), conf("spark.yarn.jars=hdfs:///spark/jars/one.jar,{w}/files/two.jar"),
        conf("spark.yarn.jars={w}/files/*.jar"), conf("spark.yarn.jars=local:/opt/spark/jars/*"),
        conf("spark.yarn.jars=local:/opt/spark/jars/*,hdfs:///spark/jars/dep-?.jar"), Choice(),
        conf("spark.yarn.jars=hdfs:///spark/jars/*", "spark.yarn.archive=hdfs:///spark/libs.zip"),
        conf("spark.yarn.jars=hdfs:///spark/jars/{one,two}.jar")],
    "jars": [
        Choice("--jars", "one.jar"), Choice("--jars", "one.jar,two.jar,{w}/files/dep-1.jar"), Choice("--jars", "*.jar"),
        Choice("--jars", "hdfs:///data/one.jar"), Choice("--jars", "local:/opt/l.jar,one.jar#first.jar"),
        conf("spark.yarn.dist.jars={w}/files/two.jar"), conf("spark.jars={w}/files/two.jar,one.jar"), Choice("--jars", ""),
        conf("spark.yarn.dist.jars=one.jar, two.jar ,,"), Choice("--jars", "one.jar", "--conf", "spark.yarn.dist.jars={w}/files/two.jar"),
        Choice("--jars", "{http}/two.jar"), Choice("--jars", "ünï cödé.jar"), Choice("--jars", "one.jar,{w}/files/one.jar")],
    "files": [
        Choice("--files", "data.txt"), Choice("--files", "data.txt#alias,{w}/files/a.txt"), Choice("--files", "with space.txt"),
        Choice("--files", "hdfs:///data/a.txt#h.txt"), Choice("--files", "a+b%c.txt"), Choice("--files", "a.txt#b.txt"),
        conf("spark.yarn.dist.files=file:{w}/files/a.txt"), conf("spark.files={w}/files/b.txt"), Choice("--files", "local:/etc/x"),
        Choice("--files", "hdfs:///closed/secret.txt"), Choice("--files", "data.txt#é"), Choice("--files", "*.txt"),
        Choice("--files", "{http}/data.txt")],
    "archives": [
        Choice("--archives", "x.zip"), Choice("--archives", "x.zip#dir"), Choice("--archives", "{w}/files/x.zip#a,lib.zip#b"),
        Choice("--archives", "hdfs:///data/x.zip#unpacked"), conf("spark.yarn.dist.archives={w}/files/x.zip#y"),
        conf("spark.archives={w}/files/x.zip#z")],
    "python files": [
        Choice("--py-files", "lib.py"), Choice("--py-files", "lib.zip,lib.egg"), Choice("--py-files", "lib.py,{w}/files/lib.zip"),
        Choice("--py-files", "hdfs:///data/lib.py,hdfs:///data/lib.zip"), Choice("--py-files", "local:/opt/l.zip,local:/opt/l.py"),
        conf("spark.submit.pyFiles={w}/files/lib.zip"), Choice("--py-files", "one.jar"),
        Choice("--py-files", "lib.py", env={"PYTHONPATH": "/my/python:/other"}),
        Choice("--py-files", "lib.zip", "--conf", "spark.executorEnv.PYTHONPATH=/e", "--conf", "spark.yarn.appMasterEnv.PYTHONPATH=/d")],
    "queue": [Choice("--queue", "fast"), conf("spark.yarn.queue=fast"), Choice("--queue", "root.default"), Choice("--queue", "fast", spark="defaults")],
    "name": [Choice("--name", "my name"), Choice("--name", "naïve 漢字 😀 \"x\" $y"), conf("spark.app.name=conf name"), Choice("--name", ""),
             Choice(env={"SPARK_YARN_APP_NAME": "from env"})],
    "driver": [
        Choice("--driver-memory", "700m", "--driver-cores", "2"), Choice("--driver-memory", "2g"), Choice("--driver-memory", "1025000k"),
        conf("spark.driver.memoryOverhead=500m"), conf("spark.driver.memoryOverheadFactor=0.3", "spark.driver.memory=3g"),
        conf("spark.driver.minMemoryOverhead=1g"), conf("spark.driver.memory=1000"), conf("spark.driver.memoryOverhead=0"),
        conf("spark.driver.limitActiveProcessorCount.enabled=true", "spark.driver.cores=3"), conf("spark.yarn.am.memory=5g", "spark.yarn.am.cores=3"),
        conf("spark.yarn.am.memoryOverhead=100m"), conf("spark.yarn.driver.memoryOverhead=600")],
    "executors": [
        Choice("--executor-memory", "3g", "--executor-cores", "4"), Choice("--num-executors", "7"), conf("spark.dynamicAllocation.enabled=true"),
        conf("spark.executor.memoryOverheadFactor=0.4"), conf("spark.memory.offHeap.enabled=true", "spark.memory.offHeap.size=1g"),
        conf("spark.executor.pyspark.memory=500m"), conf("spark.executor.memoryOverhead=1g"), conf("spark.yarn.executor.memoryOverhead=1000"),
        conf("spark.executorEnv.A=b c", "spark.executorEnv.QUOTE='\"$x\\"), conf("spark.yarn.executor.nodeLabelExpression=x"),
        conf("spark.yarn.exclude.nodes=a,b"), Choice("--num-executors", "0")],
    "application": [
        conf("spark.yarn.tags=b,a, c ,a"), conf("spark.yarn.tags="), conf("spark.yarn.priority=7"), conf("spark.yarn.priority=0"),
        conf("spark.yarn.maxAppAttempts=1"), conf("spark.yarn.maxAppAttempts=9"), conf("spark.yarn.am.attemptFailuresValidityInterval=1h"),
        conf("spark.yarn.am.attemptFailuresValidityInterval=5000"), conf("spark.yarn.applicationType=MINE"), conf("spark.yarn.tags=UPPER,é,x y"),
        conf("spark.yarn.rolledLog.includePattern=.*log"), conf("spark.yarn.rolledLog.excludePattern=x*"),
        conf("spark.yarn.rolledLog.includePattern=a.*", "spark.yarn.rolledLog.excludePattern=b.*"), conf("spark.yarn.unmanagedAM.enabled=true"),
        conf("spark.yarn.am.nodeLabelExpression=labelled", runs=False), conf("spark.yarn.am.nodeLabelExpression=")],
    "resource types": [
        conf("spark.yarn.driver.resource.widget.amount=3"), conf("spark.yarn.driver.resource.widget.amount=2k"),
        conf("spark.yarn.driver.resource.unknown.amount=1"), conf("spark.driver.resource.gpu.amount=2", "spark.driver.resource.gpu.discoveryScript=/d"),
        conf("spark.yarn.executor.resource.widget.amount=1"), conf("spark.yarn.am.resource.widget.amount=1"),
        conf("spark.yarn.resourceGpuDeviceName=widget", "spark.driver.resource.gpu.amount=1"), conf("spark.driver.resource.gpu.amount=0"),
        conf("spark.yarn.driver.resource.a.b.amount=1")],
    "environment": [
        conf("spark.yarn.appMasterEnv.FOO=b c"), conf("spark.yarn.appMasterEnv.Q='\"$HOME`\\", "spark.yarn.appMasterEnv.EMPTY="),
        conf("spark.yarn.appMasterEnv.JAVA_HOME={w}/java-2"), conf("spark.yarn.appMasterEnv.CLASSPATH=/mine"),
        conf("spark.yarn.appMasterEnv.PATH_LIST={{PWD}}/x<CPS>y", "spark.yarn.appMasterEnv.UTF=漢 😀"),
        conf("spark.yarn.appMasterEnv.SPARK_USER=other"), conf("spark.yarn.appMasterEnv.PYSPARK_PYTHON=/conf/python"),
        Choice(env={"PYSPARK_PYTHON": "/env/python", "PYSPARK_DRIVER_PYTHON": "/env/driver python"}),
        conf("spark.pyspark.python=/p", "spark.pyspark.driver.python=/d"), Choice(env={"PYTHONHASHSEED": "7"}), Choice(env={"SPARK_DIST_CLASSPATH": "/d/*:/e"}),
        conf("spark.yarn.appMasterEnv.HADOOP_CONF_DIR=/conf"), Choice(env={"SPARK_PREFER_IPV6": "true"}), Choice(spark="environment"),
        conf("spark.yarn.appMasterEnv.LONG=" + "x" * 3000), conf("spark.yarn.appMasterEnv.SPARK_DIST_CLASSPATH=/y", env={"SPARK_DIST_CLASSPATH": "/x"}),
        conf("spark.yarn.appMasterEnv.Q=two\nlines"), Choice(env={"PYSPARK_PYTHON": "p$x"}), Choice(env={"SPARK_TESTING": "1"}),
        Choice(env={"JAVA_TOOL_OPTIONS": "-Dx=1", "SPARK_JAVA_OPTS_X": "no", "SPARK_USER": "somebody"}), Choice(env={"PYTHONPATH": "/p q"})],
    "java options": [
        Choice("--driver-java-options", "-Da=b -Dc='d e'"), conf("spark.driver.extraJavaOptions=-Dq=\"a b\" -Dd=$HOME -De=\\$x -Df=a\\ b"),
        conf("spark.driver.extraJavaOptions=-Dp={{PWD}}/x -Dq={{APP_ID}} -Dr={{EXECUTOR_ID}}"), conf("spark.driver.extraJavaOptions=-Du=é漢😀"),
        conf("spark.driver.defaultJavaOptions=-Dx=1", "spark.driver.extraJavaOptions=-Dx=2"), conf("spark.driver.extraJavaOptions= "),
        conf("spark.driver.extraJavaOptions=-Dx=it\\'s -Dy=`echo hi`"), conf("spark.yarn.am.extraJavaOptions=-Dam=1"),
        conf("spark.executor.extraJavaOptions=-Dx='a b' -Dq={{EXECUTOR_ID}}"), conf("spark.driver.defaultJavaOptions=-Dz='\"'"),
        conf("spark.driver.extraJavaOptions=-XX:+UseG1GC \n -Dnl=1\t-Dtab=2"), conf("spark.driver.extraJavaOptions=-Dx=\\\\ -Dy=a'b c'd\"e f\"g"),
        conf("spark.driver.extraJavaOptions=-Xmx3g"), conf("spark.executor.defaultJavaOptions=-Dy=1")],
    "paths": [
        Choice("--driver-class-path", "/a/*:/b c"), Choice("--driver-library-path", "/lib/a:/lib b"), conf("spark.driver.extraLibraryPath=/l/\"q\"$x'y"),
        conf("spark.driver.extraClassPath={{PWD}}/x"), conf("spark.executor.extraClassPath=/e", "spark.executor.extraLibraryPath=/f"),
        conf("spark.yarn.populateHadoopClasspath=true"), conf("spark.yarn.populateHadoopClasspath=false"), conf("spark.yarn.am.extraLibraryPath=/am"),
        conf("spark.yarn.populateHadoopClasspath=true", hadoop="values"), conf("spark.yarn.user.classpath.first=true"),
        conf("spark.yarn.user.classpath.first=true", "spark.yarn.dist.jars={w}/files/one.jar,local:/opt/x.jar"),
        conf("spark.driver.userClassPathFirst=true"),
        conf("spark.yarn.config.gatewayPath=/opt", "spark.yarn.config.replacementPath={{HADOOP_HOME}}", "spark.driver.extraClassPath=/opt/a:/opt/b",
             "spark.driver.extraLibraryPath=/opt/lib"),
        conf("spark.yarn.config.gatewayPath=/opt", "spark.yarn.config.replacementPath=/usr", "spark.yarn.jars=local:/opt/spark/*"),
        conf("spark.yarn.config.replacementPath=/usr", "spark.driver.extraClassPath=/opt/a")],
    "staging": [
        conf("spark.yarn.stagingDir=/stage"), conf("spark.yarn.stagingDir={fs}/stage"), conf("spark.yarn.stagingDir=hdfs:///stage/"),
        conf("spark.yarn.stagingDir=file:{w}/stage"), conf("spark.yarn.submit.file.replication=2"), conf("spark.yarn.preserve.staging.files=true"),
        conf("spark.yarn.stagingDir=/stage with space"), conf("spark.yarn.stagingDir=relative"), conf("spark.hadoop.dfs.replication=3")],
    "configuration": [
        Choice(hadoop="more"), Choice(hadoop="more", yarn="other"), Choice(hadoop="other", spark="xml"), Choice(spark="logging"), Choice(spark="logging-xml"),
        Choice(spark="defaults"), Choice(hadoop="values"), Choice(spark="xml"), Choice(spark="logging", hadoop="more"),
        conf("spark.hadoop.my.key=va<l>&ue", "spark.hadoop.fs.s3a.access.key=k"), conf("spark.hadoop.io.file.buffer.size=4096"),
        conf("spark.buffer.size=8192"), conf("spark.hadoop.mapreduce.fileoutputcommitter.algorithm.version=2"), conf("spark.my.key=é \\ = : # !\n\tx "),
        Choice("--properties-file", "{w}/properties/yarn.conf"), Choice("--properties-file", "{w}/properties/lists.conf"),
        Choice("--properties-file", "{w}/properties/one.conf", "--load-spark-defaults", spark="defaults"), Choice(hadoop=None, yarn="plain"),
        conf("spark.metrics.conf={w}/files/a.txt"), conf("spark.yarn.historyServer.address=h:18080"), conf("spark.yarn.metrics.namespace=x"),
        conf("spark.yarn.am.waitTime=10s", "spark.yarn.max.executor.failures=3", "spark.yarn.executor.failuresValidityInterval=1m"),
        conf("spark.yarn.shuffle.stopOnFailure=true", "spark.shuffle.service.enabled=true"), conf("spark.yarn.containerLauncherMaxThreads=5"),
        conf("spark.yarn.scheduler.heartbeat.interval-ms=1000", "spark.yarn.report.interval=2s"), conf("spark.authenticate=true"),
        conf("spark.acls.enable=true", "spark.ui.view.acls=b,a", "spark.modify.acls=c", "spark.admin.acls=d,a", "spark.admin.acls.groups=g"),
        conf("spark.ui.view.acls=*", "spark.modify.acls.groups=x,y"), conf("spark.yarn.am.tokenConfRegex=^dfs.nameservices$"), Choice("--verbose"),
        conf("spark.kerberos.principal=me@REALM", "spark.kerberos.access.hadoopFileSystems=hdfs:///x"),
        conf("spark.jars.ivySettings={w}/files/ivysettings.xml"), conf("spark.yarn.includeDriverLogsLink=true"), conf("spark.eventLog.enabled=true"),
        conf("spark.log.level=WARN"), conf("spark.yarn.clientLaunchMonitorInterval=5s"), Choice("--proxy-user", "other"),
        conf("spark.ui.proxyBase=/p"), conf("spark.redaction.regex=key", "spark.a.key=v"), conf("spark.submit.deployMode=client"),
        conf("spark.yarn.launchContainers=false"), Choice("--supervise"), Choice("--packages", "org.test:leaf:1.0", "--conf", "spark.jars.ivy={w}/ivy")],
}

# What ends a submission, each with a jar unless it has a program itself.
ERRORS = [
    Choice("--queue", "nowhere"), Choice("--executor-memory", "99g"), Choice("--driver-memory", "99g"), Choice("--driver-cores", "99"),
    Choice("--files", "missing.txt"), Choice("--jars", "missing.jar"), Choice("--archives", "missing.zip"), Choice("--files", "data.txt,data.txt"),
    Choice("--files", "data.txt,{w}/files/data.txt"), Choice("--files", "data.txt", "--archives", "data.txt"), Choice("--files", "data.txt#"),
    conf("spark.kerberos.keytab={w}/files/user.keytab"), conf("spark.kerberos.keytab={w}/files/none", "spark.kerberos.principal=a@B"),
    conf("spark.yarn.archive=local:/x.zip"), conf("spark.yarn.archive=hdfs:///none.zip"), conf("spark.yarn.driver.resource.memory.amount=1"),
    conf("spark.yarn.executor.resource.vcores.amount=1"), conf("spark.yarn.am.resource.memory-mb.amount=1", "spark.yarn.driver.resource.cores.amount=1"),
    conf("spark.yarn.driver.resource.widget=1"), conf("spark.yarn.driver.resource.widget.vendor=1"), conf("spark.yarn.driver.resource.widget.amount=x"),
    conf("spark.yarn.driver.resource.widget.amount=1x1"), conf("spark.yarn.driver.resource.yarn.io/gpu.amount=1"), conf("spark.yarn.priority=high"),
    conf("spark.yarn.maxAppAttempts=many"), conf("spark.yarn.am.attemptFailuresValidityInterval=soon"), conf("spark.memory.offHeap.enabled=true"),
    conf("spark.yarn.report.loggingFrequency=0"), conf("spark.yarn.jars={w}/none/*"), conf("spark.yarn.jars=hdfs:///none/*.jar"),
    conf("spark.driver.memory=lots"), conf("spark.driver.cores=x"), conf("spark.executor.memoryOverhead=x"), conf("spark.yarn.submit.waitAppCompletion=maybe"),
    conf("spark.yarn.stagingDir=nofs://x/y"), conf("spark.yarn.am.nodeLabelExpression=unknown"), conf("spark.yarn.driver.resource.widget.amount=9999"),
    conf("spark.yarn.populateHadoopClasspath=perhaps"), conf("spark.yarn.report.interval=x"), conf("spark.yarn.submit.file.replication=x"),
    conf("spark.yarn.preserve.staging.files=x"), conf("spark.jars.ivySettings={w}/files/none.xml"), conf("spark.jars.ivySettings=hdfs:///x.xml"),
    conf("spark.driver.extraJavaOptions=-Dx='open"), conf("spark.driver.memoryOverheadFactor=-1"), conf("spark.yarn.maxAppAttempts=0"),
    conf("spark.yarn.submit.file.replication=0"), conf("spark.driver.memoryOverhead=-5"), conf("spark.yarn.tags=" + "t" * 101),
    conf("spark.kerberos.keytab=local:/k", "spark.kerberos.principal=a@B"), conf("spark.driver.memory=0"), conf("spark.driver.resource.gpu.amount=x"),
    conf("spark.executor.memory=100"), conf("spark.executor.cores=0"), Choice("--num-executors", "-1"), Choice("--class", ""),
    conf("spark.ui.acls.enable=x"), conf("spark.acls.enable=x"), conf("spark.yarn.unmanagedAM.enabled=x"), conf("spark.yarn.isPython=x"),
    conf("spark.io.encryption.enabled=x"), conf("spark.driver.limitActiveProcessorCount.enabled=x"), conf("spark.yarn.priority=99999999999"),
    conf("spark.yarn.jars="), conf("spark.yarn.archive="), conf("spark.yarn.config.gatewayPath=", "spark.yarn.config.replacementPath=/x"),
    conf("spark.yarn.stagingDir="), conf("spark.yarn.queue="), conf("spark.yarn.applicationType="), Choice("--jars", "hdfs:///closed/none.jar"),
]

PYTHON_ERRORS = [Choice(env={"PYSPARK_ARCHIVES_PATH": "/none/pyspark.zip"}), Choice("--py-files", "missing.py"),
                 Choice(env={"SPARK_HOME": "{w}/bare"}), Choice("--py-files", "lib.py,{w}/files/lib.py")]
R_ERRORS = [Choice(env={"SPARK_HOME": "{w}/bare"})]

COMMON = ["--master", "yarn", "--deploy-mode", "cluster", "--conf", "spark.yarn.submit.waitAppCompletion=false"]


def build(name, kind, primary, choices, arguments=(), fails=False):
    """The list of @choices, one of each group at most."""
    words, env, places = list(COMMON), {}, {}
    for choice in choices:
        words += choice.words
        env.update(choice.env)
        places.update({place: getattr(choice, place) for place in ("hadoop", "yarn", "spark") if getattr(choice, place)})
        if choice.yarn and not choice.hadoop:
            places["hadoop"] = None
    if kind == "jar" and "--class" not in words:
        words += ["--class", "x.App"]
    runs = all(choice.runs for choice in choices)
    return Case(name, [*words, primary, *arguments], env, runs=runs, fails=fails, **places)


def with_libraries(group, choice):
    """Only some lists upload SPARK_HOME's jars: it takes long."""
    return [choice] if group == "libraries" or any("spark.yarn.jars" in word for word in choice.words) else [LIBRARIES, choice]


def grid(draw):
    """Each choice alone, with a kind of program that it can belong to."""
    for group, choices in GRID.items():
        for i, choice in enumerate(choices):
            kind = "py" if group == "python files" or i % 4 == 3 and group != "libraries" else "jar"
            yield build(f"{group} {i}", kind, f"app.{kind}", with_libraries(group, choice))
    for kind, primaries in PRIMARIES.items():
        for i, primary in enumerate(primaries):
            yield build(f"{kind} {i}", kind, primary, [LIBRARIES], ["an argument"])
    for i in range(0, len(AWKWARD), 6):
        kind = draw.choice(("jar", "py", "r"))
        yield build(f"arguments {i // 6}", kind, "app.R" if kind == "r" else f"app.{kind}", [LIBRARIES], AWKWARD[i:i + 6])
    yield build("archives path", "py", "app.py", [LIBRARIES, Choice(env={"PYSPARK_ARCHIVES_PATH": "local:/opt/pyspark.zip,{w}/files/lib.zip"})])


def mixtures(draw, count):
    for i in range(count):
        kind = draw.choice(("jar", "jar", "py", "py", "r"))
        groups = draw.sample(sorted(set(GRID) - {"libraries"}), draw.randint(3, 9))
        choices = [draw.choice(GRID["libraries"][:10])] + [draw.choice(GRID[group]) for group in groups]
        arguments = [draw.choice(AWKWARD) for _ in range(draw.randint(0, 5))]
        yield build(f"mixture {i}", kind, draw.choice(PRIMARIES[kind]), choices, arguments)


def errors():
    for kind, choices in (("jar", ERRORS), ("py", PYTHON_ERRORS), ("r", R_ERRORS)):
        for i, choice in enumerate(choices):
            name = next((word for word in choice.words if "=" in word), " ".join(choice.words))
            primary = "app.R" if kind == "r" else f"app.{kind}"
            yield build(f"error {kind} {i} {name[:60]}", kind, primary, with_libraries("", choice), fails=True)
    for kind, primary in (("jar", "none.jar"), ("py", "none.py"), ("r", "none.R"), ("jar", "hdfs:///none/none.jar")):
        yield build(f"error missing {primary}", kind, primary, [LIBRARIES], fails=True)


def all_cases(seed, count):
    draw = random.Random(seed)
    return [*grid(draw), *errors(), *mixtures(draw, count)]
