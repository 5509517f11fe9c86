"""spark-submit to genuine YARN in cluster mode. A script takes the place of java: it records what its container has."""
import os
import signal
import subprocess
import sys

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import submitter as library  # noqa: E402

JAVA = """#!/bin/bash
record={folder}/record
mkdir -p $record
printf '%s\\n' "$@" > $record/words
printf '%s\\n' "$CLASSPATH" > $record/class_path
printf '%s\\n' "$FOO" > $record/foo
cat alias.txt e.d/in.txt __app__.jar __spark_libs__/one.jar __spark_conf__/__spark_conf__.properties > $record/content
ls __spark_conf__/__hadoop_conf__ > $record/hadoop
exit {status}
"""


WAITING = "#!/bin/sh\nexec sleep 100\n"


class Submitter:
    def __init__(self, build, yarn, folder):
        self.program, self.folder = os.path.join(build, "src", "spark-submit"), folder
        self.environment = {"PATH": os.environ["PATH"], "HOME": folder, "HADOOP_CONF_DIR": yarn.conf,
                            "SPARK_HOME": os.path.join(folder, "spark")}
        self.write("spark/jars/one.jar", "library\n")
        self.write("spark/jars/spark-launcher_2.13-4.3.0.jar", "")
        self.write("app.jar", "application\n")
        self.write("f.txt", "file\n")
        self.write("e/in.txt", "archived\n")
        subprocess.run(["tar", "-czf", "e.tgz", "-C", "e", "in.txt"], cwd=folder, check=True)
        self.java(0)

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def java(self, status):
        os.chmod(self.write("java/bin/java", JAVA.format(folder=self.folder, status=status)), 0o755)

    def record(self, name):
        with open(os.path.join(self.folder, "record", name), encoding="utf-8") as file:
            return file.read()

    def words(self, *words):
        return ["--master", "yarn", "--deploy-mode", "cluster", "--class", "x.App", "--driver-memory", "64m",
                "--conf", "spark.driver.memoryOverhead=64m", "--executor-memory", "64m", "--conf", "spark.yarn.maxAppAttempts=1",
                "--conf", f"spark.yarn.appMasterEnv.JAVA_HOME={self.folder}/java", "--conf", "spark.yarn.report.interval=100ms",
                *words]

    def start(self, *words):
        return subprocess.Popen([self.program, *self.words(*words)], cwd=self.folder, env=self.environment, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def run(self, *words):
        with self.start(*words) as process:
            log = process.communicate(timeout=120)[1]
        return process.returncode, log


def check_library(submitter, expect):
    """firesteel/submit.h in this process: an application that fails, and two that are ended."""
    for name in [n for n in os.environ if n.startswith(("SPARK_", "HADOOP_"))]:
        del os.environ[name]
    os.environ.update(submitter.environment)
    many = library.Submitter(os.path.dirname(submitter.program))
    jar = os.path.join(submitter.folder, "app.jar")
    submitter.java(3)
    app = many.new(*submitter.words(jar)).listen()
    app.call("set_watch", 100)
    expect("the library submits", app.parsed, app.parsed == 0 and app.call("start") == 0)
    end = app.end()
    expect("… and reports how an application ended", (end, app.heard, app.text("error")),
           end == "FAILED" and app.heard[-1] == "FAILED" and "id" in app.heard and "exitCode: 3" in app.text("error")
           and app.text("id").startswith("application_"))
    submitter.write("java/bin/java", WAITING)
    for how in ("stop", "kill"):
        app = many.new(*submitter.words(jar)).listen()
        app.call("set_watch", 100)
        app.call("start")
        many.dispatch_until(lambda a=app: a.state() == "SUBMITTED")
        expect(f"… and {how} kills one", app.heard, app.call(how) == 0 and app.end() == "KILLED")
    many.close()


def check(build, yarn, client, folder, expect):
    submitter = Submitter(build, yarn, folder)
    status, log = submitter.run("--files", "f.txt#alias.txt", "--archives", "e.tgz#e.d", "--conf", "spark.yarn.appMasterEnv.FOO=b c",
                                "--conf", "spark.driver.extraJavaOptions=-Dx='a b' -Dhome=$HOME", "app.jar", "it's", '"$HOME"')
    expect("an application that does not register fails", log,
           status == 1 and "finished with failed status" in log and "Deleted staging directory" in log)
    words = submitter.record("words").splitlines()
    expect("its command has the options and arguments as they were given", words,
           "-Dx=a b" in words and "-Dhome=$HOME" in words and words[words.index("--arg"):][:4] == ["--arg", "it's", "--arg", '"$HOME"']
           and "-Xmx64m" in words)
    expect("… its container the files", submitter.record("content"), submitter.record("content").startswith(
        "file\narchived\napplication\nlibrary\n#Spark configuration.\n"))
    expect("… its environment the variables", submitter.record("foo"), submitter.record("foo") == "b c\n")
    expect("… and its configuration that of Hadoop", submitter.record("hadoop"), {"core-site.xml", "hdfs-site.xml", "yarn-site.xml"}
           <= set(submitter.record("hadoop").split()))

    status, log = submitter.run("--queue", "nowhere", "app.jar")
    expect("an unknown queue is refused", log, status == 1 and "to unknown queue: nowhere" in log)
    status, log = submitter.run("--executor-memory", "99g", "app.jar")
    expect("too much memory is refused", log, status == 1 and "is above the max threshold" in log)
    status, log = submitter.run("--conf", "spark.yarn.submit.waitAppCompletion=false", "app.jar")
    expect("an application need not be waited for", log, status == 0 and "(state: " in log)

    submitter.write("java/bin/java", WAITING)
    with submitter.start("app.jar") as process:
        lines = []
        for line in process.stderr:
            lines.append(line)
            if "(state: ACCEPTED)" in line:
                break
        process.send_signal(signal.SIGINT)
        lines += process.communicate(timeout=300)[1].splitlines()
    application = next(line.split()[-1] for line in lines if "Submitted application" in line)
    expect("Ctrl-C ends the waiting", "".join(lines), process.returncode == 130)
    answer = client.call("kill", application)
    expect("… and the application continues", answer, answer.startswith("KILLED KILLED"))
    check_library(submitter, expect)
