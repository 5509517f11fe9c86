# PageRank with joins.
library(SparkR)
invisible(sparkR.session(appName = "pagerank"))
sc <- SparkR:::getSparkContext()
links <- SparkR:::parallelize(sc, list(list("1", list("2", "3", "4")), list("2", list("1")), list("3", list("1")), list("4", list("1"))), 2L)
ranks <- SparkR:::mapValues(links, function(v) 1)
for (i in 1:3) {
  joined <- SparkR:::joinRDD(links, ranks, 2L)
  contributions <- SparkR:::flatMap(joined, function(p) lapply(p[[2]][[1]], function(to) list(to, p[[2]][[2]] / length(p[[2]][[1]]))))
  ranks <- SparkR:::mapValues(SparkR:::reduceByKey(contributions, "+", 2L), function(r) 0.15 + 0.85 * r)
}
for (p in SparkR:::collectRDD(SparkR:::sortByKey(ranks))) cat(p[[1]], round(p[[2]], 6), "\n")
