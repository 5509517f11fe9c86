# Fits several models at once, which is what spark.lapply is for: polynomials of rising degree, judged by points they have not seen.
#
#     spark-submit --master 'local[2]' examples/r/models.R [DEGREES]

library(SparkR)

words <- commandArgs(trailingOnly = TRUE)
degrees <- seq_len(if (length(words) > 0) as.integer(words[1]) else 6L)

set.seed(1)
data <- data.frame(x = runif(400, -2, 2))
data$y <- data$x^3 - 2 * data$x + rnorm(400, sd = 0.5)

# The root of the mean square error of one model, over ten parts of the data that it was not fitted to.
judge <- function(degree) {
  part <- rep(1:10, length.out = nrow(data))
  errors <- unlist(lapply(1:10, function(i) {
    model <- lm(y ~ poly(x, degree), data = data[part != i, ])
    data$y[part == i] - predict(model, data[part == i, ])
  }))
  sqrt(mean(errors^2))
}

invisible(sparkR.session(appName = "models", enableHiveSupport = FALSE))
errors <- unlist(spark.lapply(degrees, judge))
for (i in degrees) cat("degree", i, "error", format(errors[i], digits = 5), if (i == which.min(errors)) "(best)", "\n")
sparkR.session.stop()
