# Errors and warnings that a function handles by itself.
library(SparkR)
invisible(sparkR.session())
f <- function(x) tryCatch(if (x > 1) stop("no ", x) else warning("hm ", x), error = function(e) conditionMessage(e),
                          warning = function(w) paste("warned:", conditionMessage(w)))
print(unlist(spark.lapply(1:3, f)))
print(unlist(spark.lapply(c("1", "x"), function(s) suppressWarnings(as.numeric(s)))))
print(unlist(spark.lapply(c("1", "x"), function(s) as.numeric(s))))
