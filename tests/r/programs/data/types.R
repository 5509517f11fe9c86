# Factors, dates, times, complex numbers, matrices, data frames and raw bytes keep their classes.
library(SparkR)
invisible(sparkR.session())
given <- list(factor(c("b", "a", "b"), levels = c("b", "a")), as.Date("2024-02-29"), as.POSIXct(1.5e9, origin = "1970-01-01", tz = "UTC"), 1+2i,
              matrix(1:6, nrow = 2), head(cars, 2), as.raw(c(0, 1, 255)), quote(a + b), as.difftime(5, units = "mins"))
back <- spark.lapply(given, function(x) list(x, class(x)))
for (i in seq_along(given)) cat(i, identical(back[[i]][[1]], given[[i]]), back[[i]][[2]], "\n")
print(back[[1]][[1]])
print(back[[6]][[1]])
