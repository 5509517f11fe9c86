"""Native applications on genuine YARN: in client mode, without a container for the ApplicationMaster, in cluster mode."""
import os
import re
import subprocess

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
UNMANAGED = ("--conf", "spark.yarn.unmanagedAM.enabled=true")

FAILING = """#include <firesteel/firesteel.h>
int main(void)
{
        fst_context_stop(fst_context_new("failing"));
        return 3;
}
"""


class Application:
    def __init__(self, build, yarn, folder):
        self.program, self.folder = os.path.join(build, "src", "spark-submit"), folder
        os.makedirs(folder)
        self.environment = {"PATH": os.environ["PATH"], "HOME": folder, "HADOOP_CONF_DIR": yarn.conf}

    def command(self, *words):
        return [self.program, "--master", "yarn", "--num-executors", "1", "--executor-memory", "64m", "--driver-memory", "64m",
                 "--conf", "spark.executor.memoryOverhead=64m", "--conf", "spark.driver.memoryOverhead=64m",
                 "--conf", "spark.yarn.am.memory=64m", "--conf", "spark.yarn.am.memoryOverhead=64m",
                 "--conf", "spark.yarn.maxAppAttempts=1", "--conf", "spark.yarn.report.interval=100ms", *words]

    def run(self, *words, **more):
        """A variable of @more that is None is not set."""
        environment = {k: v for k, v in {**self.environment, **more}.items() if v is not None}
        return subprocess.run(self.command(*words), cwd=self.folder, env=environment, text=True, capture_output=True,
                              timeout=180, stdin=subprocess.DEVNULL, check=False)


def id_in(log):
    found = re.search(r"application_\d+_\d+", log)
    return found.group() if found else "no application"


def id_of(done):
    return id_in(done.stderr)


def check_words(yarn, application, expect):
    """Word count reads and writes HDFS in both modes."""
    yarn.write_file("/words/in/a.txt", b"to be or not\n")
    yarn.write_file("/words/in/b.txt", b"to be\n")
    words = os.path.join(TOP, "examples", "wordcount.c")
    for mode in ("client", "cluster"):
        done = application.run("--deploy-mode", mode, words, "hdfs:///words/in", f"/words/{mode}")
        files = yarn.read_folder(f"/words/{mode}") if done.returncode == 0 else {}
        lines = b"".join(files.values()).decode().split()
        expect(f"words are counted on HDFS in {mode} mode", (files, done.stderr), "_SUCCESS" in files and
               sorted(lines) == ["(be,2)", "(not,1)", "(or,1)", "(to,2)"])
        done = application.run("--deploy-mode", mode, words, "hdfs:///words/in", f"/words/{mode}")
        expect("… an output that exists is named", done.stderr, done.returncode == 1 and
               re.search(f"Output directory hdfs://[^ ]*/words/{mode} already exists", done.stderr))


def check(build, yarn, client, folder, expect):
    application = Application(build, yarn, folder)
    pi = os.path.join(TOP, "examples", "spark_pi.c")
    for name, words in (("client mode", ()), ("client mode, unmanaged", UNMANAGED),
                        ("with a secret", ("--conf", "spark.authenticate=true"))):
        done = application.run(*words, pi, "2")
        uploads = "Uploading resource file" in done.stderr
        expect(f"a native application runs in {name}" if "mode" in name else f"… {name}", done.stderr,
               done.returncode == 0 and "Pi is roughly 3.1" in done.stdout)
        expect("… the program is uploaded once", done.stderr, uploads == (name == "client mode"))
        expect("… it has succeeded", done.stderr, client.call("wait", id_of(done)).startswith("FINISHED SUCCEEDED"))
    done = application.run("--deploy-mode", "cluster", pi, "2")
    expect("it runs in cluster mode", done.stderr, done.returncode == 0 and "final status: SUCCEEDED" in done.stderr)
    check_words(yarn, application, expect)
    with open(os.path.join(folder, "failing.c"), "w", encoding="utf-8") as file:
        file.write(FAILING)
    done = application.run("--deploy-mode", "cluster", "failing.c")
    expect("… a driver's status fails it", done.stderr,
           done.returncode == 1 and "User application exited with status 3" in done.stderr)
    done = application.run("--queue", "nowhere", pi)
    expect("a wrong queue is named", done.stderr, done.returncode == 1 and "unknown queue: nowhere" in done.stderr)
    done = application.run("--executor-memory", "900g", pi)
    expect("too much memory is named", done.stderr, done.returncode == 1 and "Required executor memory (921600 MB)" in done.stderr)
