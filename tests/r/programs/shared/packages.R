# Packages that workers load for a program.
library(SparkR)
invisible(sparkR.session())
sc <- SparkR:::getSparkContext()
SparkR:::includePackage(sc, splines)
rdd <- SparkR:::parallelize(sc, 1:2, 2L)
print(unlist(SparkR:::collectRDD(SparkR:::lapply(rdd, function(x) "package:splines" %in% search()))))
print(unlist(SparkR:::collectRDD(SparkR:::lapply(rdd, function(x) dim(bs(1:10, df = 4))))))
