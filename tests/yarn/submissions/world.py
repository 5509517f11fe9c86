"""The files, configurations and programs for the argument lists of lists.py, below one directory."""
import os
import shutil
import zipfile

from submit import genuine, world as worlds

# Takes the place of java in containers: records what it finds, under the container's name. It lives until a file of the
# application's name tells that its context has been read, at most five minutes.
JAVA = """#!/bin/bash
record={records}/$CONTAINER_ID
/bin/mkdir -p $record.partial
printf '%s\\0' "$@" >$record.partial/words
/usr/bin/env -0 >$record.partial/environment
/usr/bin/find -L . -path ./__spark_conf__ -prune -o -name tmp -prune -o -name '*container*' -prune -o -printf '%P %y %s\\n' \\
    >$record.partial/files
/bin/cp -rL __spark_conf__ $record.partial/conf
/bin/mv $record.partial $record
name=${{CONTAINER_ID%_*_*}}
for ((i = 0; i < 3000; i++)); do
    [ -e {read}/application_${{name#container_}} ] && exit 0
    /bin/sleep 0.1
done
"""

LOG_SETTINGS = "rootLogger.level = info\nrootLogger.appenderRef.x.ref = x\nappender.x.type = Console\nappender.x.name = x\n"

# Of each jar, what a client reads besides classes.
READ_FROM_JARS = {"hadoop-client-api-": "-default.xml", "spark-yarn_": "config.properties", "spark-launcher_": ".none"}

# The directories for SPARK_CONF_DIR.
SPARK_CONF = {
    "empty": {},
    "logging": {"log4j2.properties": LOG_SETTINGS, "metrics.properties": "*.period=1\n"},
    "logging-xml": {"log4j2.xml": "<Configuration/>\n", "log4j2.yaml": "Configuration: {}\n", "log4j2.properties": LOG_SETTINGS},
    "xml": {"hive-site.xml": "<configuration/>\n", "core-site.xml": None, "notes.txt": "not sent\n", "fairscheduler.xml": "<x/>\n"},
    "defaults": {"spark-defaults.conf": "spark.yarn.queue fast\nspark.yarn.tags fromdefaults,two\nspark.executor.memory 2g\n"
                                        "spark.my.text a\\tb \\u00e9\nspark.my.password secret\n"},
    "environment": {"spark-env.sh": "export PYSPARK_PYTHON=/opt/env/python\nSPARK_DIST_CLASSPATH=/dist/a:/dist/b\n"
                                    "export SPARK_DIST_CLASSPATH\n"},
}

# The directories for HADOOP_CONF_DIR and YARN_CONF_DIR have the cluster's files and these.
HADOOP_CONF = {
    "plain": {},
    "more": {"topology.sh": "#!/bin/sh\n", ".hidden": "x\n", "log4j2.properties": LOG_SETTINGS, "empty": "",
             "sub/inner.xml": "<configuration/>\n", "metrics.properties": "*.period=2\n"},
    "other": {"ssl-client.xml": "<configuration/>\n", "with space.txt": "x\n", "topology.sh": "#!/bin/bash\n"},
    "values": {"mapred-site.xml": "<configuration><property><name>mapreduce.application.classpath</name>"
                                  "<value>/mr/*, /mr/lib/*</value></property><property><name>test.reference</name>"
                                  "<value>${fs.defaultFS}/x &lt;&amp;&gt;</value><final>true</final></property></configuration>"},
}


class World(worlds.World):
    """`records` is where JAVA records; `contexts_read` has a file for each application whose context has been read."""

    def __init__(self, directory, yarn_conf):
        super().__init__(directory)
        self.records, self.contexts_read = self.path("records"), self.path("contexts-read")
        os.makedirs(self.contexts_read)
        self.make_java()
        self.make_jars()
        for kind, directories in (("spark-conf", SPARK_CONF), ("hadoop-conf", HADOOP_CONF)):
            for name, files in directories.items():
                os.makedirs(self.path(kind, name))
                if kind == "hadoop-conf":
                    shutil.copytree(yarn_conf, self.path(kind, name), dirs_exist_ok=True)
                for file, text in files.items():
                    worlds.write(self.path(kind, name, file), self.site(yarn_conf) if text is None else text)
        for base in ("files", "cwd"):
            worlds.write_zip(self.path(base, "ünï cödé.jar"), {"u": "u"})
            worlds.write(self.path(base, "a+b%c.txt"), "odd\n")
            worlds.write(self.path(base, "other", "a.txt"), "another file of this name\n")
            worlds.write(self.path(base, "main script.py"), "print(2)\n")
        worlds.write(self.path("files", "user.keytab"), b"\x05\x02")
        os.makedirs(self.path("no-r", "jars"))

    @staticmethod
    def site(yarn_conf):
        with open(os.path.join(yarn_conf, "core-site.xml"), encoding="utf-8") as file:
            return file.read()

    def make_java(self):
        for name in ("java", "java-2"):
            program = self.path(name, "bin", "java")
            worlds.write(program, JAVA.format(records=self.records, read=self.contexts_read))
            os.chmod(program, 0o755)

    def make_jars(self):
        """Small jars in SPARK_HOME, with what Spark's client reads of the real ones."""
        real = genuine.jars_of("4.3")
        for name in sorted(os.listdir(real)):
            suffix = next((s for prefix, s in READ_FROM_JARS.items() if name.startswith(prefix)), None)
            if not suffix:
                continue
            with zipfile.ZipFile(os.path.join(real, name)) as jar:
                entries = {entry: jar.read(entry) for entry in jar.namelist() if entry.endswith(suffix)}
            worlds.write_zip(self.path("home", "jars", name), entries)

    def hdfs_files(self):
        """{path in HDFS: (content, permission of the file, of its directory)}"""
        def content(*parts):
            with open(self.path(*parts), "rb") as file:
                return file.read()
        files = {"/spark/libs.zip": (content("files", "x.zip"), 644, 755), "/closed/libs.zip": (content("files", "x.zip"), 644, 700),
                 "/closed/secret.txt": (b"x\n", 600, 700), "/spark/jars/no-jar.txt": (b"x\n", 644, 755)}
        for name in ("one.jar", "two.jar", "dep-1.jar"):
            files[f"/spark/jars/{name}"] = (content("files", name), 644, 755)
        for name in ("app.jar", "app.py", "app.R", "lib.py", "lib.zip", "lib.egg", "x.zip", "a.txt", "one.jar"):
            files[f"/data/{name}"] = (content("files", name), 644, 755)
        return files
