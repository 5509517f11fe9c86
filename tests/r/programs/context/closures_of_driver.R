# Functions get the values that variables have when the RDD is made, and do not change the driver's variables.
library(SparkR)
invisible(sparkR.session())
sc <- SparkR:::getSparkContext()
counter <- 0
print(unlist(spark.lapply(1:3, function(x) { mine <- counter + x; mine })))
print(counter)
factor <- 10
scaled <- SparkR:::lapply(SparkR:::parallelize(sc, 1:3, 2L), function(x) x * factor)
factor <- 1000
print(unlist(SparkR:::collectRDD(scaled)))
