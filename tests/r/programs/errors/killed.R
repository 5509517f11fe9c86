# A worker that is killed, or that quits, fails its task.
library(SparkR)
invisible(sparkR.session())
message <- tryCatch(spark.lapply(1, function(x) tools::pskill(Sys.getpid(), 9L)), error = function(e) conditionMessage(e))
cat(grepl("Job aborted due to stage failure", message), grepl("R unexpectedly exited", message), "\n")
message <- tryCatch(spark.lapply(1, function(x) quit(status = 3)), error = function(e) conditionMessage(e))
cat(grepl("Job aborted due to stage failure", message), "\n")
print(unlist(spark.lapply(1:3, function(x) x + 0.5)))
