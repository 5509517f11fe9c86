# K-means with the RDD functions.
library(SparkR)
invisible(sparkR.session(appName = "kmeans"))
sc <- SparkR:::getSparkContext()
set.seed(7)
points <- c(lapply(1:30, function(i) rnorm(2, 0, 0.1)), lapply(1:30, function(i) rnorm(2, 5, 0.1)))
data <- SparkR:::cacheRDD(SparkR:::parallelize(sc, points, 3L))
centers <- list(c(1, 1), c(4, 4))
for (round in 1:4) {
  nearest <- function(p) which.min(sapply(centers, function(c) sum((c - p)^2)))
  sums <- SparkR:::reduceByKey(SparkR:::lapply(data, function(p) list(nearest(p), c(p, 1))), "+", 2L)
  for (s in SparkR:::collectRDD(sums)) centers[[s[[1]]]] <- s[[2]][1:2] / s[[2]][3]
}
for (center in centers) cat(round(center, 4), "\n")
