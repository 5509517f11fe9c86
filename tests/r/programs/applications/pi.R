# Pi by random points, as Spark's example.
library(SparkR)
invisible(sparkR.session(appName = "pi"))
slices <- 4L
points <- 20000L
inside <- spark.lapply(1:slices, function(s) { set.seed(s); sum(runif(points)^2 + runif(points)^2 <= 1) })
cat("Pi is roughly", 4 * sum(unlist(inside)) / (slices * points), "\n")
