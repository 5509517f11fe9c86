# Rows piped through a command.
library(SparkR)
invisible(sparkR.session())
sc <- SparkR:::getSparkContext()
rdd <- SparkR:::parallelize(sc, c("one", "two", "three"), 2L)
print(unlist(SparkR:::collectRDD(SparkR:::pipeRDD(rdd, "cat"))))
print(unlist(SparkR:::collectRDD(SparkR:::pipeRDD(rdd, "rev"))))
