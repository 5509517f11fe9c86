# How parallelize cuts vectors, lists and data frames into partitions.
library(SparkR)
invisible(sparkR.session())
sc <- SparkR:::getSparkContext()
shape <- function(x, n) {
  rdd <- SparkR:::parallelize(sc, x, n)
  parts <- SparkR:::collectRDD(SparkR:::lapplyPartition(rdd, function(part) list(length(part))))
  cat(SparkR:::getNumPartitionsRDD(rdd), ":", unlist(parts), "\n")
}
shape(1:10, 3L)
shape(1:2, 5L)
shape(as.list(1:7), 2L)
shape(letters, 4L)
shape(cars[1:5, ], 2L)
shape(list(), 2L)
shape(list(1), 1L)
shape(1:100, 10)
