# Counts the words of a text and prints them, the most frequent first.
#
#     spark-submit --master 'local[2]' examples/r/wordcount.R FILE

library(SparkR)

words <- commandArgs(trailingOnly = TRUE)
if (length(words) != 1) stop("usage: wordcount.R FILE")

invisible(sparkR.session(appName = "wordcount", enableHiveSupport = FALSE))
sc <- SparkR:::getSparkContext()
lines <- SparkR:::textFile(sc, words[1])

# Counts within a partition first, so that few pairs travel.
counted <- SparkR:::mapPartitions(lines, function(part) {
  counts <- table(unlist(strsplit(unlist(part), "[[:space:]]+")))
  counts <- counts[names(counts) != ""]
  lapply(seq_along(counts), function(i) list(names(counts)[i], as.integer(counts[i])))
})
pairs <- SparkR:::collectRDD(SparkR:::reduceByKey(counted, "+", 2L))

names <- vapply(pairs, function(p) p[[1]], "")
counts <- vapply(pairs, function(p) p[[2]], 0L)
for (i in order(-counts, names)) cat(names[i], ": ", counts[i], "\n", sep = "")
sparkR.session.stop()
