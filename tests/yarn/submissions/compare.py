"""Compares what genuine Spark and Firesteel made YARN do for a list.

Normalised on both sides: ids of applications and containers, the time of submission, temporary directories, names with
random parts (__spark_libs__ archives, keytabs, Ivy settings), cache directories of the NodeManager and its ports.
"""
import os
import re

RANDOM = [
    (re.compile(r"application_\d+_\d+"), "application_ID"),
    (re.compile(r"container_(e\d+_)?\d+_\d+_\d+_\d+"), "container_ID"),
    (re.compile(r"appattempt_\d+_\d+_\d+"), "appattempt_ID"),
    (re.compile(r"__spark_libs__[0-9a-f-]+\.zip"), "__spark_libs__RANDOM.zip"),
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "UUID"),
    (re.compile(r"filecache/\d+"), "filecache/N"),
    (re.compile(r"nmPrivate/[^\"' ]*"), "nmPrivate/PATH"),
]

# What rows of docs/differences.md excuse: the row's subject, the item, what genuine Spark gives, and what we give.
EXCUSED = [
    ("configuration values of the wrong type", "error", r"\[INVALID_CONF_VALUE\.TYPE_MISMATCH\] The value .*",
     r".*(should be|must be specified as) .*"),
    ("`spark.yarn.report.interval`, `spark.yarn.report.loggingFrequency` and `spark.yarn.preserve.staging.files` with invalid values",
     "exit|application", r"0 |application_.*", r"1 Error: .*spark\.yarn\.(report|preserve)\..*|None"),
    ("`spark.yarn.stagingDir` with a space or another character that a URI escapes", "exit|application",
     r"1 File does not exist: .*%20.*|None", r"0 .*|application_.*"),
    ("`spark.yarn.submit.file.replication` that HDFS refuses", "error", r"Requested replication factor of .*",
     r"Error: .*Invalid parameter range: replication = .*"),
    ("`spark.yarn.am.tokenConfRegex`", "container tokens conf", r"(00)+", r"None"),
    ("names that make Java fail", "error", r"java\.net\.URISyntaxException: .*", r"Error: .*"),
]


def normalise_text(text, submitter):
    text = re.sub(re.escape(submitter.world.w) + r"/tmp(-ours)?/[^/,#:;'\"\])\s]+", "{temporary}", text)
    for pattern, name in RANDOM:
        text = pattern.sub(name, text)
    return text.replace(submitter.world.w, "{w}")


def normalise(value, submitter):
    if isinstance(value, str):
        return normalise_text(value, submitter)
    if isinstance(value, (list, tuple)):
        return [normalise(inner, submitter) for inner in value]
    if isinstance(value, dict):
        return {normalise(key, submitter): "{time}" if key.endswith(" spark.app.submitTime") else
                normalise(inner, submitter) for key, inner in value.items()}
    return value


def excused_subjects():
    """The subjects of docs/differences.md."""
    with open(os.path.join(os.path.dirname(__file__), "../../../docs/differences.md"), encoding="utf-8") as file:
        return {line.split("|")[1].strip() for line in file if line.startswith("| ")}


SUBJECTS = excused_subjects()


def excuse(name, spark, own):
    """The subject of the row that excuses a difference, or None."""
    for subject, item, theirs, ours in EXCUSED:
        if subject in SUBJECTS and re.fullmatch(item, name) and re.fullmatch(theirs, str(spark), re.DOTALL) and \
                re.fullmatch(ours, str(own), re.DOTALL):
            return subject
    return None


LOG = re.compile(r"\d\d/\d\d/\d\d \d\d:\d\d:\d\d (DEBUG|INFO) ")


def problem(text):
    """What our program printed, without the log."""
    return "\n".join(line for line in text.splitlines() if not LOG.match(line))


def differences(theirs, mine, spark, own, submitter):
    """([(item, genuine, ours)], [subjects of rows that excuse others])"""
    found = []
    if bool(theirs["exit"]) != bool(mine["exit"]) or theirs["exit"] and theirs["exit"] != mine["exit"]:
        found.append(("exit", f'{theirs["exit"]} {theirs["error"]}', f'{mine["exit"]} {problem(mine["error"])}'))
    elif theirs["exit"]:
        error, text = normalise_text(theirs["error"], submitter).strip(), normalise_text(mine["error"], submitter)
        if error.split("\n")[0] not in text:
            found.append(("error", error, problem(text)))
    if bool(theirs["application"]) != bool(mine["application"]):
        found.append(("application", theirs["application"], mine["application"]))
    for name in sorted(spark.keys() | own.keys()) if spark and own else ():
        values = spark.get(name), own.get(name)
        if name == "launch_container.sh" and None not in values:
            values = [[line for line in a if line not in b] for a, b in (values, values[::-1])]
        if values[0] != values[1]:
            found.append((name, *values))
    excuses = [excuse(*item) for item in found]
    return [item for item, subject in zip(found, excuses) if not subject], sorted({subject for subject in excuses if subject})
