# NULL, NA, NaN and infinite values go to the workers and back.
library(SparkR)
invisible(sparkR.session())
given <- list(NULL, NA, NA_integer_, NA_character_, NA_real_, NaN, Inf, -Inf, character(0), integer(0))
for (x in spark.lapply(given, identity)) print(x)
print(unlist(spark.lapply(given, function(x) length(x) == 0 || is.na(x[1]))))
print(identical(spark.lapply(given, identity), given))
