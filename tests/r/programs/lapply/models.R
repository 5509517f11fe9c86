# The usual case of spark.lapply: fit several models at once.
library(SparkR)
invisible(sparkR.session())
costs <- c(1, 2, 3)
train <- function(degree) {
  model <- lm(mpg ~ poly(wt, degree), data = mtcars)
  c(degree = degree, r2 = round(summary(model)$r.squared, 6))
}
print(do.call(rbind, spark.lapply(costs, train)))
