# More elements than cores.
library(SparkR)
invisible(sparkR.session())
done <- spark.lapply(1:60, function(i) i %% 7)
print(table(unlist(done)))
print(length(done))
