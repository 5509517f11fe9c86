"""A part of check_node: programs in Python whose executors run in pods of an image with pyspark."""
import io
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile

import profile_program
from cluster import TIMEOUT, expect
from fake_registry import Depot, s3_settings
from node import ADDRESS

TAG = "firesteel-python:0.1.0"
PYTHON = os.environ.get("FIRESTEEL_PYTHON", "python3")
PROFILE_CORES = 2  # of executors of the second profile

# Prints where tasks ran, and words counted after a shuffle.
PROGRAM = """import os, socket, sys
import helper
from pyspark import SparkContext
sc = SparkContext()
def place(x):
    return socket.gethostname(), sys.executable, helper.answer()
places = set(sc.parallelize(range(40), 20).map(place).collect())
print("places", sorted(host for host, _, _ in places))
print("answers", {answer for _, _, answer in places}, sys.argv[1:])
words = sc.parallelize(["to be", "or not to be"], 2).flatMap(str.split).map(lambda word: (word, 1))
print("words", words.reduceByKey(lambda a, b: a + b).sortByKey().collect(), flush=True)
if "fail" in sys.argv:
    sc.parallelize([1], 1).map(lambda x: x / 0).collect()
"""
WORDS = "words [('be', 2), ('not', 1), ('or', 1), ('to', 2)]"

# What --archives brings: data, and an environment with a module and the image's Python.
ARCHIVE_PROGRAM = """import sys
from pyspark import SparkContext
sc = SparkContext()
def look(_):
    import in_environment
    with open("data/inner.txt") as inner:
        return "/env/bin/" in sys.executable, in_environment.number(), inner.read()
print("tasks", set(sc.parallelize(range(8), 8).map(look).collect()), flush=True)
if "driver" in sys.argv:
    print("driver", look(0), flush=True)
"""
IN_TASKS, IN_DRIVER = "tasks {(True, 44, 'inner')}", "driver (True, 44, 'inner')"


def missing():
    """Why the part cannot run, or None."""
    done = subprocess.run([PYTHON, "-c", "import pyspark, py4j"], capture_output=True, check=False)
    return f"{PYTHON} has no pyspark: set FIRESTEEL_PYTHON to an interpreter that has it" if done.returncode else None


def build_image(check):
    program, helper, profiles = (check.folder / name for name in ("program.py", "helper.py", "profiles.py"))
    program.write_text(PROGRAM)
    profiles.write_text(profile_program.program(PROFILE_CORES))
    helper.write_text("def answer():\n    return 42\n")
    archive = check.folder / "python.tar"
    subprocess.run([check.build / "src" / "firesteel", "image", "build", "--tag", TAG, "--output", str(archive), f"--python={PYTHON}",
                    "--add", str(program), "--add", str(helper), "--add", str(profiles)], check=True, timeout=TIMEOUT)
    check.node.load(archive)
    archive.unlink()
    return program, helper


def check_profiles(check, image):
    """Pods of two resource profiles. They stay after the program's end. In client mode they have no memory for Python beside that
    of the configuration or the profile, as in Spark."""
    program = check.folder / "profiles.py"
    settings = [one for one in profile_program.SETTINGS if not one.startswith("spark.ui.port=")]  # a container has no port 0
    client = [f"spark.pyspark.driver.python={PYTHON}", "spark.pyspark.python=python3"]
    with check.namespace("python-profiles") as n:
        for mode, application, more, memory in (("client", str(program), client, ("360Mi", "450Mi")),
                                                ("cluster", f"/opt/app/{program.name}", [], ("560Mi", "750Mi"))):
            done = n.submit(application, mode=mode, conf=[*image, *settings, *more, "spark.executor.memory=300m",
                                                          "spark.executor.memoryOverhead=60m",
                                                          "spark.kubernetes.executor.deleteOnTermination=false"])
            output = done.stdout if mode == "client" else "".join(n.log(pod["metadata"]["name"]) for pod in n.pods("driver"))
            seen = sorted((pod["metadata"]["labels"]["spark-exec-resourceprofile-id"], container["resources"]["requests"],
                           container["resources"]["limits"]) for pod in n.executor_pods() for container in pod["spec"]["containers"])
            expect(f"pods of two profiles have their sizes in {mode} mode", seen == [
                ("0", {"cpu": "1", "memory": memory[0]}, {"memory": memory[0]}),
                ("1", {"cpu": str(PROFILE_CORES), "memory": memory[1]}, {"memory": memory[1]})], f"{seen}\n{output}{done.stderr}")
            lines = profile_program.output(PROFILE_CORES)
            expect("… the workers their limits, and the result is right", done.returncode == 0 and all(
                line in output.splitlines() for line in lines), output + done.stderr)
            n.forget()


def check_venv_pack(check, image):
    """An archive of venv-pack without pyspark, whose Python is the image's."""
    tool, base = shutil.which("venv-pack"), subprocess.run([PYTHON, "-c", "import sys; print(sys.base_prefix, end='')"],
                                                           capture_output=True, text=True, check=True).stdout
    if not tool or not os.path.exists(f"{base}/bin/python"):
        print("skipped: no venv-pack in PATH" if not tool else f"skipped: {base}/bin has no python", file=sys.stderr)
        return
    environment, archive, data = (check.folder / name for name in ("packed", "packed.tar.gz", "inner.zip"))
    subprocess.run([f"{base}/bin/python", "-m", "venv", str(environment)], check=True, timeout=TIMEOUT)
    [packages] = environment.glob("lib/*/site-packages")
    (packages / "in_environment.py").write_text("def number():\n    return 44\n")
    subprocess.run([tool, "-q", "-p", str(environment), "-o", str(archive), "--python-prefix", "/opt/python"], check=True, timeout=TIMEOUT)
    with zipfile.ZipFile(data, "w") as packed:
        packed.writestr("inner.txt", "inner")
    program = check.folder / "packed.py"
    program.write_text(ARCHIVE_PROGRAM)
    with check.namespace("python-packed") as n:
        done = n.submit(str(program), words=("--archives", f"{archive}#env,{data}#data"), mode="client", conf=[
            *image, f"spark.pyspark.driver.python={PYTHON}", "spark.pyspark.python=./env/bin/python"])
        expect("an archive of venv-pack without pyspark serves executors", done.returncode == 0 and IN_TASKS in done.stdout,
               done.stdout + done.stderr)


def pack_environment(path, name):
    """Makes the archive of a virtual environment of the image's Python, which has @name, as venv-pack does."""
    texts = {"pyvenv.cfg": "home = /opt/python/bin\ninclude-system-site-packages = true\n",
             f"lib/{name}/site-packages/in_environment.py": "def number():\n    return 44\n"}
    with tarfile.open(path, "w:gz") as archive:
        link = tarfile.TarInfo("bin/python")
        link.type, link.linkname = tarfile.SYMTYPE, f"/opt/python/bin/{name}"
        archive.addfile(link)
        for entry, text in texts.items():
            file = tarfile.TarInfo(entry)
            file.size = len(text)
            archive.addfile(file, io.BytesIO(text.encode()))
    return path


def check_uploads(check, helper, image):
    """A program, a module, a package and archives of this machine, in cluster mode."""
    package, data = check.folder / "package.zip", check.folder / "data.zip"
    for path, entry, text in ((package, "packed/__init__.py", "def answer():\n    return 43\n"), (data, "inner.txt", "inner")):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(entry, text)
    uploaded, archived = check.folder / "uploaded.py", check.folder / "archived.py"
    uploaded.write_text(PROGRAM.replace("import helper\n", "import helper, packed\n")
                        .replace("helper.answer()", "helper.answer() + packed.answer()"))
    archived.write_text(ARCHIVE_PROGRAM)
    name = subprocess.run([PYTHON, "-c", "import sys; print('python%d.%d' % sys.version_info[:2], end='')"],
                          capture_output=True, text=True, check=True).stdout
    environment = pack_environment(check.folder / "env.tar.gz", name)
    archives = ("--archives", f"file://{environment}#env,file://{data}#data")
    with check.namespace("python-uploads") as n, Depot(ADDRESS) as depot:
        conf = [*image, "spark.kubernetes.file.upload.path=s3a://bucket/up", *s3_settings(depot)]
        done = n.submit(f"file://{uploaded}", "up", words=["--py-files", f"file://{helper},file://{package}"], conf=conf)
        said = n.driver_log()
        expect("a Python program of this machine runs in cluster mode", done.returncode == 0 and WORDS in said, done.stderr + said)
        expect("… its executors have the uploaded module and package", "answers {85} ['up']" in said and "-exec-" in said, said)
        stored = sorted(path.rsplit("/", 1)[1] for path in depot.files)
        expect("… which are stored", stored == ["helper.py", "package.zip", "uploaded.py"], str(stored))
        n.forget()
        done = n.submit(f"file://{archived}", "driver", words=archives, conf=[*conf, "spark.pyspark.python=./env/bin/python"])
        said = n.driver_log()
        expect("uploaded archives give a driver and its executors data and a Python", done.returncode == 0 and IN_TASKS in said and
               IN_DRIVER in said, done.stderr + said)
        n.forget()
        done = n.submit(str(archived), words=archives, mode="client", conf=[
            *image, f"spark.pyspark.driver.python={PYTHON}", "spark.pyspark.python=./env/bin/python"])
        expect("… and executors of a driver in client mode", done.returncode == 0 and IN_TASKS in done.stdout,
               done.stdout + done.stderr)


def run(check, only_profiles=False):
    reason = missing()
    if reason:
        print(f"skipped: {reason}", file=sys.stderr)
        return
    program, helper = build_image(check)
    image = [f"spark.kubernetes.container.image={TAG}"]
    check_profiles(check, image)
    check_venv_pack(check, image)
    if only_profiles:
        return
    check_uploads(check, helper, image)
    with check.namespace("python") as n:
        def cluster(*arguments, words=("--py-files", "local:///opt/app/helper.py")):
            done = n.submit("/opt/app/program.py", *arguments, conf=image, words=words)
            said = n.driver_log()
            n.forget()
            return done, said
        done, said = cluster("one", "two words")
        expect("a Python program runs in cluster mode", done.returncode == 0 and WORDS in said, done.stderr + said)
        expect("… its executors in pods, with --py-files", "answers {42} ['one', 'two words']" in said and "-exec-" in said, said)
        done, said = cluster("fail")
        expect("… its exception is in the driver's log, and its exit code the client's", done.returncode == 1 and
               "ZeroDivisionError: division by zero" in said and "ended with exit code 1" in done.stderr, done.stderr + said)
        done, said = cluster(words=("--py-files", "local:///opt/app/none.py"))
        expect("… a file that the image lacks is named", done.returncode == 1 and "/opt/app/none.py" in done.stderr + said, done.stderr + said)
        done = n.submit(str(program), "three", mode="client", words=["--py-files", str(helper)],
                        conf=[*image, f"spark.pyspark.driver.python={PYTHON}", "spark.pyspark.python=python3"])
        expect("it runs in client mode", done.returncode == 0 and WORDS in done.stdout, done.stdout + done.stderr)
        expect("… its executors in pods, with --py-files", "answers {42} ['three']" in done.stdout and
               "-exec-" in done.stdout and n.executors() == [], done.stdout + done.stderr)
