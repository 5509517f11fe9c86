# A missing input file is an error of the action.
library(SparkR)
invisible(sparkR.session())
sc <- SparkR:::getSparkContext()
nowhere <- SparkR:::textFile(sc, "/nowhere/at/all")
message <- tryCatch(SparkR:::collectRDD(nowhere), error = function(e) conditionMessage(e))
cat(grepl("Input path does not exist: file:/nowhere/at/all", message), "\n")
print(class(tryCatch(SparkR:::saveAsTextFile(SparkR:::parallelize(sc, 1, 1L), "/proc/none/out"), error = function(e) e))[1])
