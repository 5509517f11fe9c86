"""A part of check_node: programs in R whose executors run in pods of an image with R and SparkR."""
import os
import subprocess
import sys

from cluster import TIMEOUT, expect

TAG = "firesteel-r:0.1.0"

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


def build_image(check, sparkr):
    program, archive = check.folder / "program.R", check.folder / "r.tar"
    program.write_text(PROGRAM)
    subprocess.run([check.build / "src" / "firesteel", "image", "build", "--tag", TAG, "--output", str(archive), "--r", "--add", str(program)],
                   check=True, timeout=TIMEOUT, env=dict(os.environ, R_LIBS=sparkr))
    check.node.load(archive)
    archive.unlink()
    return program


def run(check):
    sparkr = library()
    if not sparkr:
        print("skipped: R has no package SparkR: set FIRESTEEL_SPARKR_LIB to the directory that contains it", file=sys.stderr)
        return
    program = build_image(check, sparkr)
    image = [f"spark.kubernetes.container.image={TAG}"]
    with check.namespace("r") as n:
        done = n.submit(str(program), "client", mode="client", conf=[*image, f"spark.firesteel.r.library={sparkr}"])
        expect("an R program runs in client mode", done.returncode == 0 and FOUND + "client" in done.stdout and WORDS in done.stdout,
               done.stdout + done.stderr)
        expect("… its executors in pods", "-exec-" in done.stdout and n.executors() == [], done.stdout + done.stderr)
        done = n.submit("/opt/app/program.R", "cluster", conf=image)
        said = n.driver_log()
        expect("… and in cluster mode", done.returncode == 0 and FOUND + "cluster" in said and WORDS in said and "-exec-" in said,
               done.stderr + said)
        n.forget()
        done = n.submit("/opt/app/program.R", "fail", conf=image)
        said = n.driver_log()
        expect("… its error is in the driver's log, and its exit code the client's", done.returncode == 1 and "no such number" in said and
               "ended with exit code 1" in done.stderr, done.stderr + said)
        n.forget()
        done = n.submit("/opt/app/program.R", conf=[])
        said = n.driver_log()
        expect("… an image without R is told how to get it", done.returncode == 1 and "Rscript" in said, done.stderr + said)
