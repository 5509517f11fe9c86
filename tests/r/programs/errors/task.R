# stop() in a task: the error has the text, and the session goes on.
library(SparkR)
invisible(sparkR.session())
failure <- function(expression) tryCatch({ expression; "no error" }, error = function(e) conditionMessage(e))
message <- failure(spark.lapply(1:2, function(x) if (x == 2) stop("bad value ", x) else x))
cat(grepl("Job aborted due to stage failure: Task 1 in stage 0.0 failed 1 times", message), grepl("Lost task 1.0 in stage 0.0", message),
    grepl("R unexpectedly exited", message), grepl("R worker produced errors", message), grepl("bad value 2", message), "\n")
message <- failure(spark.lapply(1, function(x) undefined_function(x)))
cat(grepl("could not find function \"undefined_function\"", message), "\n")
message <- failure(spark.lapply(1, function(x) 1 + "a"))
cat(grepl("non-numeric argument to binary operator", message), "\n")
print(unlist(spark.lapply(1:2, function(x) -x)))
