"""Normalizes and compares the results of genuine Spark and of Firesteel for a case.

Only two things are normalised, on both sides: names of temporary files (the element below {w}/tmp or {w}/tmp-ours, or
spark-UUID in the working directory) and the time of submission (spark.app.submitTime). Warnings and the report of
--verbose are compared as sets of lines, as Spark prints some in the order of a hash table; Ivy's report on its progress
and log lines are not compared. Of a usage text the options are compared.
"""
import json
import os
import re
import subprocess


def environment(case, world):
    """The whole environment of a case, with what spark-env.sh adds."""
    env = {"PATH": world.path("bin") + ":" + os.environ["PATH"], "HOME": world.path("user"), "USER": "tester",
           "LC_ALL": "C.UTF-8", "DEFAULT_ARTIFACT_REPOSITORY": "file://" + world.path("maven") + "/"}
    if case.home:
        env["SPARK_HOME"] = world.path(case.home)
    if case.defaults:
        env["SPARK_CONF_DIR"] = world.path("conf", case.defaults)
    if case.hadoop:
        env["HADOOP_CONF_DIR"] = world.path("hadoop")
    env.update({key: world.fill(value) for key, value in case.env.items()})
    return env


def sourced(env):
    """The variables that bin/load-spark-env.sh sets from spark-env.sh."""
    script = os.path.join(env.get("SPARK_CONF_DIR", ""), "spark-env.sh")
    if not env.get("SPARK_CONF_DIR") or not os.path.exists(script):
        return env
    output = subprocess.run(["bash", "-c", 'set -a; . "$1" >/dev/null; exec env -0', "bash", script], env=env, check=True,
                            stdout=subprocess.PIPE).stdout.decode()
    pairs = (pair.split("=", 1) for pair in output.split("\0") if pair)
    return {key: value for key, value in pairs if key not in ("_", "SHLVL", "PWD", "OLDPWD")}


def genuine(case, world, spark, trace=False):
    if case.changes_directory():
        world.restore()
    env = sourced(environment(case, world))
    hadoop = env.get("HADOOP_CONF_DIR") or env.get("YARN_CONF_DIR")
    answer = spark.ask([world.fill(word) for word in case.words], env, [hadoop] if hadoop else [], trace=trace)
    if case.changes_directory():
        world.restore()
    return answer


def command(case, world, program, output="json"):
    from .cases import compat
    return [program, "--dry-run", "--output", output] + compat(case.version) + [world.fill(word) for word in case.words]


def all_ours(all_cases, world, program, pool):
    """The results of all cases. Those that change the working directory run last, one at a time."""
    answers = dict(zip(map(id, all_cases), pool.map(
        lambda case: None if case.changes_directory() else ours(case, world, program), all_cases)))
    for case in all_cases:
        if case.changes_directory():
            world.restore()
            answers[id(case)] = ours(case, world, program)
    world.restore()
    return [answers[id(case)] for case in all_cases]


def ours(case, world, program):
    env = dict(environment(case, world), TMPDIR=world.path("tmp-ours"), https_proxy="http://127.0.0.1:1")
    done = subprocess.run(command(case, world, program), env=env, cwd=world.path("cwd"), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    answer = {"exit": done.returncode, "printed": done.stderr.decode("utf-8", "replace"),
              "said": done.stdout.decode("utf-8", "replace")}
    try:
        answer.update(json.loads(answer["said"]))
    except (json.JSONDecodeError, TypeError):
        pass
    if isinstance(answer.get("conf"), dict):
        answer["conf"].pop("spark.firesteel.compat", None)
    return answer


def normalised(value, world):
    if isinstance(value, str):
        value = re.sub(re.escape(world.w) + r"/(tmp(-ours)?/[^/,#:;'\"\])\s]+|cwd/spark-[0-9a-f-]{36})", "{temporary}", value)
        return value.replace(world.w, "{w}").replace(world.server.address, "{http}")
    if isinstance(value, list):
        return [normalised(element, world) for element in value]
    if isinstance(value, dict):
        return {normalised(key, world): "{now}" if key == "spark.app.submitTime" and re.fullmatch(r"\d{13}", element or "")
                else normalised(element, world) for key, element in value.items()}
    return value


# Ivy's, and what Spark says around it.
PROGRESS = re.compile(r"\t|::|Ivy Default Cache|The jars for the packages|.* added as a (dependency|remote repository)|"
                      r"downloading |Resolving|:: loading")


# Our log, as Spark's driver runs with its own off.
LOG = re.compile(r"\d\d/\d\d/\d\d \d\d:\d\d:\d\d (DEBUG|INFO|WARN|ERROR) ")

# Errors that are excused: the subject of the row of docs/differences.md that says so, Spark's sentence, and what of the
# command line it is about (None: anything). Where there is to be an error of ours in its place, REFUSED says so.
REFUSED, TAKEN = True, False
NO_S3A = r"java\.lang\.ClassNotFoundException: Class org\.apache\.hadoop\.fs\.s3a\..* not found"
NO_MAIN_CLASS = r"Failed to get main class in JAR with error '{}'\.  Please specify one with --class\."
EXCUSED = [
    ("names that make Java fail", r"Cannot invoke .* because .* is null", None, REFUSED),
    ("names that make Java fail", r"Illegal file pattern: error parsing regexp: invalid escape sequence: .*", None, REFUSED),
    ("causes of errors", r"Failed when loading Ivy settings from .*", None, REFUSED),
    ("hdfs:// files of a submission and of jobs", r"java\.net\.UnknownHostException: .*|Incomplete HDFS URI, no host: .*", None, REFUSED),
    ("S3 files of a submission and of jobs", NO_S3A, r"s3[an]?://.*", TAKEN),
    ("S3 files of a submission and of jobs", NO_MAIN_CLASS.format(NO_S3A), r"s3[an]?://.*", TAKEN),
    ("a file of a driver's pod that is missing, or that lies in its working directory already", r"(\{w\}|/)\S*", None, REFUSED),
    ("the class of a shared object", NO_MAIN_CLASS.format(r".*getManifest\(\)\" is null"), r".*\.so", TAKEN),
    ("the class of a shared object", r"Cannot load main class from JAR file:.*\.so", r".*\.so", TAKEN),
]


def excused_subjects():
    """The subjects of EXCUSED that have a row in docs/differences.md."""
    with open(os.path.join(os.path.dirname(__file__), "../../../docs/differences.md")) as file:
        rows = [line.split("|")[1].strip() for line in file if line.startswith("| ")]
    return {subject for subject, *_ in EXCUSED if subject in rows}


def is_excused(case, error, mine, subjects=excused_subjects()):
    return any(subject in subjects and re.fullmatch(pattern, error, re.DOTALL) and ("error" in mine or not refused) and
               (about is None or any(re.fullmatch(about, word) for word in case.words))
               for subject, pattern, about, refused in EXCUSED)


def in_order(case, name, value):
    """In 2.4 the files of a pattern have the order on disk (docs/differences.md), so any order is right."""
    patterns = case.version == "2.4" and any(re.search(r"[*?]", word) for word in case.words)
    if not patterns or name not in ("classpath", "conf") or value is None:
        return value
    return sorted(value if name == "classpath" else value.split(","))


def help_options(text):
    """The options of a usage text, with their groups. Its sentences may differ."""
    found = []
    for line in text.splitlines():
        option = re.match(r" +(--[a-z-]+)", line)
        if option and option.group(1) not in ("--dry-run", "--output"):
            found.append(option.group(1))
    return sorted(set(found))


def lines(answer):
    text = answer.get("printed", "") + "\n" + (answer.get("parsed") or "")
    return sorted(line.rstrip() for line in text.splitlines()
                  if line.strip() and "spark.firesteel.compat" not in line and not PROGRESS.match(line) and not LOG.match(line))


def differences(case, spark, mine):
    """[(item, genuine, ours)] of two normalised results, empty if they agree."""
    found = []
    if "arguments" in spark and "error" not in spark:
        for what in ("arguments", "classpath", "mainClass"):
            if in_order(case, what, spark[what]) != in_order(case, what, mine.get(what)):
                found.append((what, spark[what], mine.get(what, mine.get("error"))))
        theirs, here = spark["conf"], mine.get("conf") or {}
        for key in sorted(theirs.keys() | here.keys()):
            if in_order(case, "conf", theirs.get(key)) != in_order(case, "conf", here.get(key)) and "conf" in mine:
                found.append((f"conf {key}", theirs.get(key), here.get(key)))
        if lines(spark) != lines(mine):
            missing = [line for line in lines(spark) if line not in lines(mine)]
            extra = [line for line in lines(mine) if line not in lines(spark)]
            found.append(("printed", missing, extra))
    elif "error" in spark:
        if is_excused(case, spark["error"], mine):
            return [] if "error" not in mine or mine["exit"] == spark["exit"] else [("exit", spark["exit"], mine["exit"])]
        if spark["error"] != mine.get("error"):
            found.append(("error", spark["error"], mine.get("error", mine["said"] or mine["printed"])))
    elif spark.get("action") in (None, "PRINT_VERSION"):
        theirs, here = help_options(spark["printed"]), help_options(mine["printed"] + mine["said"])
        if spark.get("action") is None and theirs != here:
            found.append(("options of the usage", sorted(set(theirs) - set(here)), sorted(set(here) - set(theirs))))
    if spark.get("exit", 0) != mine["exit"]:
        found.append(("exit", spark.get("exit", 0), mine["exit"]))
    return found
