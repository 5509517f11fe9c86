# A shuffle with more keys than partitions, twice.
library(SparkR)
invisible(sparkR.session())
sc <- SparkR:::getSparkContext()
pairs <- SparkR:::lapply(SparkR:::parallelize(sc, 1:2000, 4L), function(x) list(x %% 97L, x))
sums <- SparkR:::reduceByKey(pairs, "+", 3L)
print(SparkR:::countRDD(sums))
again <- SparkR:::reduceByKey(SparkR:::lapply(sums, function(p) list(p[[1]] %% 5L, p[[2]])), "+", 2L)
for (p in SparkR:::collectRDD(SparkR:::sortByKey(again))) cat(p[[1]], p[[2]], "\n")
