"""R programs with genuine SparkR on genuine YARN, in client and cluster mode: R and its workers are in containers."""
import os
import subprocess

import native

PROGRAM = """suppressPackageStartupMessages(library(SparkR))
invisible(sparkR.session(enableHiveSupport = FALSE))
sc <- SparkR:::getSparkContext()
k <- 3
where <- function(x) list(x * k, readLines(spark.getSparkFiles("words.txt")), grepl("/container_", getwd()))
found <- spark.lapply(1:4, where)
cat("found", sapply(found, `[[`, 1), unique(sapply(found, `[[`, 2)), all(sapply(found, `[[`, 3)), commandArgs(trailingOnly = TRUE), "\\n")
words <- SparkR:::flatMap(SparkR:::textFile(sc, "hdfs:///r/in"), function(line) strsplit(line, " ")[[1]])
counts <- SparkR:::reduceByKey(SparkR:::lapply(words, function(w) list(w, 1L)), "+", 2L)
SparkR:::saveAsTextFile(SparkR:::lapply(counts, function(p) paste(p[[1]], p[[2]])), paste0("hdfs:///r/out-", commandArgs(trailingOnly = TRUE)[1]))
sparkR.session.stop()
"""


def check(build, yarn, client, folder, expect):
    named = os.environ.get("FIRESTEEL_SPARKR_LIB", "").split(":")[0]
    found = subprocess.run(["Rscript", "--vanilla", "-e", "cat(dirname(find.package('SparkR')))"], capture_output=True, text=True, check=False) if not named else None
    if not named and found.returncode:
        print("skipped: R has no package SparkR: set FIRESTEEL_SPARKR_LIB to the directory that contains it")
        return
    application = native.Application(build, yarn, folder)
    for name, text in (("program.R", PROGRAM), ("words.txt", "words\n")):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
    yarn.write_file("/r/in/a.txt", b"to be or not\nto be\n")
    for mode in ("client", "cluster"):
        done = application.run("--deploy-mode", mode, "--files", "words.txt", "--conf", f"spark.firesteel.r.library={named or found.stdout}", "program.R", mode)
        expect(f"an R program runs in {mode} mode", done.stdout + done.stderr,
               done.returncode == 0 and (mode == "cluster" or "found 3 6 9 12 words TRUE client" in done.stdout))
        lines = b"".join(yarn.read_folder(f"/r/out-{mode}").values()).decode().split("\n")
        expect("… it reads and writes HDFS", lines, sorted(filter(None, lines)) == ["be 2", "not 1", "or 1", "to 2"])
        expect("… and has succeeded", done.stderr, client.call("wait", native.id_of(done)).startswith("FINISHED SUCCEEDED"))
