# Functions use packages that R brings, by name and by library().
library(SparkR)
invisible(sparkR.session())
print(unlist(spark.lapply(1:3, function(x) { library(stats4); is.function(stats4::mle) })))
print(unlist(spark.lapply(c("a.txt", "b.tar.gz"), function(x) tools::file_ext(x))))
