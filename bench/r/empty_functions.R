# Calls empty functions by spark.lapply: one task each. Prints the time of the second round.
suppressPackageStartupMessages(library(SparkR))
tasks <- as.integer(commandArgs(trailingOnly = TRUE)[1])
invisible(sparkR.session(enableHiveSupport = FALSE))
nothing <- function(x) NULL
invisible(spark.lapply(1:4, nothing))
begun <- proc.time()[[3]]
done <- spark.lapply(seq_len(tasks), nothing)
took <- proc.time()[[3]] - begun
cat("job:", format(took, nsmall = 3), "\n")
cat("results:", length(done), "\n")
sparkR.session.stop()
