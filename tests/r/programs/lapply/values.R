# spark.lapply with values of every kind that R's functions return.
library(SparkR)
invisible(sparkR.session())
k <- 3
f <- function(x) x * k
print(unlist(spark.lapply(1:10, f)))
print(spark.lapply(list(a = 1, b = "two", c = NULL, d = TRUE), function(x) list(class(x), length(x))))
print(spark.lapply(c("x", "y"), toupper))
print(spark.lapply(list(), function(x) x))
str(spark.lapply(1:2, function(i) list(n = i, text = rep("é", i), nested = list(list(i)))))
