# A package that is not installed on the workers.
library(SparkR)
invisible(sparkR.session())
message <- tryCatch(spark.lapply(1, function(x) library(notInstalledAnywhere)), error = function(e) conditionMessage(e))
cat(grepl("there is no package called", message), grepl("notInstalledAnywhere", message), "\n")
print(unlist(spark.lapply(1:2, function(x) requireNamespace("notInstalledAnywhere", quietly = TRUE))))
