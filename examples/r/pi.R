# Computes pi from random points in a square.
#
#     spark-submit --master 'local[2]' examples/r/pi.R [TASKS]

library(SparkR)

points <- 100000L # for each task
words <- commandArgs(trailingOnly = TRUE)
tasks <- if (length(words) > 0) as.integer(words[1]) else 2L

# Counts the points of one task that fall into the circle.
hits <- function(seed) {
  set.seed(seed)
  sum(runif(points)^2 + runif(points)^2 <= 1)
}

invisible(sparkR.session(appName = "pi", enableHiveSupport = FALSE))
inside <- sum(unlist(spark.lapply(seq_len(tasks), hits)))
cat("Pi is roughly", format(4 * inside / (tasks * points), digits = 7), "\n")
sparkR.session.stop()
