# Clusters points by k-means. Each line of FILE is a point: numbers, separated by blanks.
#
#     spark-submit --master 'local[2]' examples/r/kmeans.R FILE K ROUNDS

library(SparkR)

words <- commandArgs(trailingOnly = TRUE)
if (length(words) != 3) stop("usage: kmeans.R FILE K ROUNDS")
k <- as.integer(words[2])

invisible(sparkR.session(appName = "kmeans", enableHiveSupport = FALSE))
sc <- SparkR:::getSparkContext()
points <- SparkR:::lapply(SparkR:::textFile(sc, words[1]), function(line) as.numeric(strsplit(line, " ")[[1]]))
invisible(SparkR:::cacheRDD(points))
centers <- SparkR:::takeRDD(points, k)

for (round in seq_len(as.integer(words[3]))) {
  nearest <- function(p) which.min(vapply(centers, function(c) sum((p - c)^2), 0))
  sums <- SparkR:::reduceByKey(SparkR:::lapply(points, function(p) list(nearest(p), c(p, 1))), "+", 2L)
  for (s in SparkR:::collectRDD(sums)) centers[[s[[1]]]] <- head(s[[2]], -1) / tail(s[[2]], 1)
}
for (center in centers) cat(format(center, digits = 6), "\n")
sparkR.session.stop()
