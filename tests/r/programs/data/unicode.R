# Text of several scripts, in values, names and collected lines.
library(SparkR)
invisible(sparkR.session())
sc <- SparkR:::getSparkContext()
text <- c("naïve", "Straße", "日本語", "😀 smile", "tab\tand \"quotes\"", "")
rdd <- SparkR:::parallelize(sc, as.list(text), 3L)
back <- unlist(SparkR:::collectRDD(rdd))
print(identical(back, text))
print(unlist(SparkR:::collectRDD(SparkR:::lapply(rdd, function(x) c(nchar(x), nchar(x, "bytes"))))))
counted <- SparkR:::collectRDD(SparkR:::sortByKey(SparkR:::reduceByKey(SparkR:::lapply(SparkR:::flatMap(rdd,
  function(x) strsplit(x, "")[[1]]), function(c) list(utf8ToInt(c), 1L)), "+", 2L)))
for (pair in counted[1:5]) cat(pair[[1]], pair[[2]], "\n")
cat(length(counted), "\n")
