# set.seed in a function makes it repeatable; the driver's generator stays as it is.
library(SparkR)
invisible(sparkR.session())
set.seed(42)
before <- runif(1)
drawn <- spark.lapply(1:4, function(i) { set.seed(i); round(runif(2), 8) })
print(drawn)
set.seed(42)
print(identical(before, runif(1)))
