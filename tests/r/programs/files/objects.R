# Object files keep R's values.
library(SparkR)
invisible(sparkR.session())
sc <- SparkR:::getSparkContext()
out <- tempfile("objects")
rows <- list(1:3, "text", list(a = NULL, b = as.Date("2024-01-01")), NULL)
SparkR:::saveAsObjectFile(SparkR:::parallelize(sc, rows, 2L), out)
print(sort(list.files(out, pattern = "^[^.]")))
print(identical(SparkR:::collectRDD(SparkR:::objectFile(sc, out)), rows))
