# Joins and cogroups.
library(SparkR)
invisible(sparkR.session())
sc <- SparkR:::getSparkContext()
a <- SparkR:::parallelize(sc, list(list(1L, "a"), list(2L, "b"), list(2L, "bb"), list(4L, "d")), 2L)
b <- SparkR:::parallelize(sc, list(list(2L, 20), list(3L, 30), list(4L, 40)), 3L)
show <- function(rdd) {
  rows <- SparkR:::collectRDD(rdd)
  lines <- sapply(rows, function(p) paste(p[[1]], ":", paste(sapply(p[[2]], function(v) if (is.null(v)) "NULL" else format(v)), collapse = " ")))
  cat(sort(lines), sep = "\n")
  cat("--\n")
}
show(SparkR:::joinRDD(a, b, 2L))
show(SparkR:::leftOuterJoin(a, b, 2L))
show(SparkR:::rightOuterJoin(a, b, 2L))
show(SparkR:::fullOuterJoin(a, b, 2L))
groups <- SparkR:::collectRDD(SparkR:::cogroup(a, b, numPartitions = 2L))
for (g in groups[order(sapply(groups, `[[`, 1))]) cat(g[[1]], "|", sort(unlist(g[[2]][[1]])), "|", unlist(g[[2]][[2]]), "\n")
show(SparkR:::subtractByKey(a, b))
