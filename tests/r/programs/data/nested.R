# Lists within lists, with names and attributes.
library(SparkR)
invisible(sparkR.session())
sc <- SparkR:::getSparkContext()
rows <- list(list(id = 1L, tags = list("a", "b"), more = list(deep = list(deeper = 1:3))),
             list(id = 2L, tags = list(), more = structure(list(x = 1), class = "own", note = "kept")))
back <- SparkR:::collectRDD(SparkR:::parallelize(sc, rows, 2L))
print(identical(back, rows))
print(attributes(back[[2]]$more))
print(SparkR:::collectRDD(SparkR:::lapply(SparkR:::parallelize(sc, rows, 1L), function(row) length(unlist(row)))))
