# Runs programs one after another in this R, so that they share one start of the engine.
#
#     Rscript run_programs.R OUTPUT_FOLDER PROGRAM.R...
#
# Each program, GROUP/NAME.R, starts its own session. What it prints goes to OUTPUT_FOLDER/GROUP/NAME.out, with the path of the
# temporary folder masked. An error that leaves the program becomes the last line of that file. Standard output of this process
# gets a line before and after each program: `begin GROUP/NAME`, `end GROUP/NAME SECONDS`. programs.py reads them.
.runner <- new.env()

.runner$mask <- function(lines) gsub(tempdir(), "<tmp>", gsub("(app|local)-[0-9]{13,14}(-[0-9]+)?", "<application>", lines), fixed = TRUE)

.runner$run <- function(program, printed) {
  sink(printed)
  on.exit(sink())
  tryCatch(sys.source(program, envir = globalenv(), keep.source = FALSE),
           error = function(e) cat("\nError:", strsplit(conditionMessage(e), "\n")[[1]][1], "\n"))
}

.runner$main <- function(arguments) {
  for (program in arguments[-1]) {
    name <- sub("[.]R$", "", paste(utils::tail(strsplit(program, "/")[[1]], 2), collapse = "/"))
    begun <- proc.time()[[3]]
    cat("begin", name, "\n")
    flush(stdout())
    printed <- tempfile("printed")
    .runner$run(program, printed)
    invisible(utils::capture.output(SparkR::sparkR.session.stop()))
    rm(list = ls(globalenv()), envir = globalenv())
    to <- file.path(arguments[1], paste0(name, ".out"))
    dir.create(dirname(to), showWarnings = FALSE, recursive = TRUE)
    writeLines(.runner$mask(readLines(printed, warn = FALSE, encoding = "UTF-8")), to, useBytes = TRUE)
    cat("end", name, round(proc.time()[[3]] - begun, 2), "\n")
    flush(stdout())
  }
}

.runner$main(commandArgs(trailingOnly = TRUE))
