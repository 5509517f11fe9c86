# Ranks pages by their links. Each line of FILE is a link: the page that has it and the page that it names.
#
#     spark-submit --master 'local[2]' examples/r/pagerank.R FILE ROUNDS

library(SparkR)

words <- commandArgs(trailingOnly = TRUE)
if (length(words) != 2) stop("usage: pagerank.R FILE ROUNDS")

invisible(sparkR.session(appName = "pagerank", enableHiveSupport = FALSE))
sc <- SparkR:::getSparkContext()
links <- SparkR:::lapply(SparkR:::textFile(sc, words[1]), function(line) as.list(strsplit(line, " ")[[1]]))
links <- SparkR:::cacheRDD(SparkR:::groupByKey(links, 2L))
ranks <- SparkR:::mapValues(links, function(pages) 1)

for (round in seq_len(as.integer(words[2]))) {
  joined <- SparkR:::joinRDD(links, ranks, 2L)
  parts <- SparkR:::flatMap(joined, function(p) {
    pages <- p[[2]][[1]]
    lapply(pages, function(page) list(page, p[[2]][[2]] / length(pages)))
  })
  ranks <- SparkR:::mapValues(SparkR:::reduceByKey(parts, "+", 2L), function(sum) 0.15 + 0.85 * sum)
}
for (p in SparkR:::collectRDD(SparkR:::sortByKey(ranks))) cat(p[[1]], format(p[[2]], digits = 7), "\n")
sparkR.session.stop()
