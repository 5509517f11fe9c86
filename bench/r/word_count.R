# Counts the words of a text by SparkR's RDD functions, as examples/r/wordcount.R, and prints their number and the most frequent one.
suppressPackageStartupMessages(library(SparkR))
invisible(sparkR.session(enableHiveSupport = FALSE))
sc <- SparkR:::getSparkContext()
begun <- proc.time()[[3]]
counted <- SparkR:::mapPartitions(SparkR:::textFile(sc, commandArgs(trailingOnly = TRUE)[1], 2L), function(part) {
  counts <- table(unlist(strsplit(unlist(part), "[[:space:]]+")))
  counts <- counts[names(counts) != ""]
  lapply(seq_along(counts), function(i) list(names(counts)[i], as.integer(counts[i])))
})
pairs <- SparkR:::collectRDD(SparkR:::reduceByKey(counted, "+", 2L))
cat("job:", format(proc.time()[[3]] - begun, nsmall = 3), "\n")
counts <- vapply(pairs, function(p) p[[2]], 0L)
cat("words:", sum(counts), length(counts), max(counts), "\n")
sparkR.session.stop()
