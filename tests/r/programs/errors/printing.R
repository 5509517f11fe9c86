# What workers print does not reach this program and does not disturb rows.
library(SparkR)
invisible(sparkR.session())
f <- function(x) { print(x); cat("no line end"); message("on standard error"); write("more", stdout()); warning("a warning"); x * 2 }
print(unlist(spark.lapply(1:4, f)))
print(unlist(spark.lapply(1:2, function(x) { system("echo from a child"); x })))
