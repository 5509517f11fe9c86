"""A part of check_node: programs in R whose executors run in pods. R is the machine's own: its directories are volumes of the pods."""
import os
import subprocess
import sys

from cluster import expect

# Prints where tasks ran, and words counted after a shuffle.
PROGRAM = """suppressPackageStartupMessages(library(SparkR))
invisible(sparkR.session(enableHiveSupport = FALSE))
sc <- SparkR:::getSparkContext()
k <- 3
found <- spark.lapply(1:8, function(x) list(x * k, Sys.info()[["nodename"]]))
cat("found", sapply(found, `[[`, 1), "of", commandArgs(trailingOnly = TRUE), "\\n")
cat("places", unique(sapply(found, `[[`, 2)), "\\n")
words <- SparkR:::flatMap(SparkR:::parallelize(sc, list("to be", "or not to be"), 2L), function(line) strsplit(line, " ")[[1]])
counts <- SparkR:::collectRDD(SparkR:::reduceByKey(SparkR:::lapply(words, function(w) list(w, 1L)), "+", 2L))
cat("words", sort(sapply(counts, function(p) paste0(p[[1]], p[[2]]))), "\\n")
if ("fail" %in% commandArgs(trailingOnly = TRUE)) spark.lapply(1:2, function(x) stop("no such number"))
sparkR.session.stop()
"""
FOUND, WORDS = "found 3 6 9 12 15 18 21 24 of ", "words be2 not1 or1 to2"
# What R needs of the machine besides SparkR. The image has its own libraries in /lib.
DIRECTORIES = {"usr": "/usr", "bin": "/bin", "r": "/etc/R", "alternatives": "/etc/alternatives"}


def library():
    """The directory that contains SparkR, or None."""
    named = os.environ.get("FIRESTEEL_SPARKR_LIB", "").split(":")[0]
    if named:
        return named
    try:
        found = subprocess.run(["Rscript", "--vanilla", "-e", "cat(dirname(find.package('SparkR')))"], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return found.stdout if found.returncode == 0 else None


def volumes(who, directories):
    return [f"spark.kubernetes.{who}.volumes.hostPath.{name}.{key}" for name, path in directories.items()
            for key in (f"mount.path={path}", f"options.path={path}", "mount.readOnly=true")]


def run(check):
    sparkr = library()
    if not sparkr:
        print("skipped: R has no package SparkR: set FIRESTEEL_SPARKR_LIB to the directory that contains it", file=sys.stderr)
        return
    program = check.folder / "r"
    program.mkdir()
    program.chmod(0o755)
    (program / "program.R").write_text(PROGRAM)
    directories = {**DIRECTORIES, "sparkr": sparkr, "program": str(program)}
    conf = [f"spark.firesteel.r.library={sparkr}", *volumes("executor", directories)]
    with check.namespace("r") as n:
        done = n.submit(str(program / "program.R"), "client", mode="client", conf=conf)
        expect("an R program runs in client mode", done.returncode == 0 and FOUND + "client" in done.stdout and WORDS in done.stdout,
               done.stdout + done.stderr)
        expect("… its executors in pods", "-exec-" in done.stdout and n.executors() == [], done.stdout + done.stderr)
        both = [*conf, *volumes("driver", directories)]
        done = n.submit(f"{program}/program.R", "cluster", conf=both)
        said = n.driver_log()
        expect("… and in cluster mode", done.returncode == 0 and FOUND + "cluster" in said and WORDS in said and "-exec-" in said,
               done.stderr + said)
        n.forget()
        done = n.submit(f"{program}/program.R", "fail", conf=both)
        said = n.driver_log()
        expect("… its error is in the driver's log, and its exit code the client's", done.returncode == 1 and "no such number" in said and
               "ended with exit code 1" in done.stderr, done.stderr + said)
        n.forget()
        done = n.submit(f"{program}/program.R", conf=[one for one in both if ".usr." not in one and ".bin." not in one])
        said = n.driver_log()
        expect("… an image without R is told how to get it", done.returncode == 1 and "Rscript" in said, done.stderr + said)
