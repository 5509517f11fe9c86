# Several sessions one after another.
library(SparkR)
for (i in 1:3) {
  invisible(sparkR.session(appName = paste("session", i)))
  cat(unlist(sparkR.conf("spark.app.name")), unlist(spark.lapply(1:2, function(x) x * i)), "\n")
  sparkR.session.stop()
}
