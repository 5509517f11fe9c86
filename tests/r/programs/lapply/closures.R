# Functions bring the functions and variables that they use, from each environment.
library(SparkR)
invisible(sparkR.session())
base <- 10
helper <- function(x) x + base
deeper <- function(x) helper(x) * 2
make <- function(n) { inner <- n; function(x) deeper(x) + inner }
print(unlist(spark.lapply(1:3, make(100))))
"%+%" <- function(a, b) paste0(a, b)
print(unlist(spark.lapply(c("a", "b"), function(x) x %+% "!")))
