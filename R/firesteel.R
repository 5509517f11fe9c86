# Lets SparkR run on Firesteel, without Java, in an R that nobody started by spark-submit or sparkR: plain R, RStudio, a notebook.
#
#     Sys.setenv(SPARK_HOME = "/path/to/firesteel")
#     source(file.path(Sys.getenv("SPARK_HOME"), "R", "firesteel.R"))
#     firesteel.backend("--master", "local[2]")
#     library(SparkR)
#     sparkR.session()
#
# By itself, sparkR.session() asks for `java -version` before it starts spark-submit. It does not if it is told of a backend that runs
# already, as programs of spark-submit are. firesteel.backend() starts one and tells SparkR by the same variables.

.firesteel <- new.env()

# Starts the backend with words for spark-submit: options such as "--master" and "--conf". Sessions may start and stop any number of times.
# The backend ends with this R, or by firesteel.backend.stop().
firesteel.backend <- function(..., timeout = 60) {
  if (!is.null(.firesteel$monitor)) return(invisible(.firesteel$port))
  home <- Sys.getenv("SPARK_HOME")
  submit <- if (nzchar(home)) file.path(home, "bin", "spark-submit") else "spark-submit"
  if (!nzchar(Sys.which(submit))) stop("cannot find ", submit, ": set SPARK_HOME to Firesteel's directory")
  path <- tempfile("backend_port")
  words <- c(as.character(c(...)), "sparkr-shell", path)
  system2(submit, shQuote(words), wait = FALSE, stdout = "", stderr = "")
  waited <- 0
  while (!file.exists(path)) {
    if (waited > timeout) stop("the backend has not started within ", timeout, " s: spark-submit has printed the reason")
    Sys.sleep(0.05)
    waited <- waited + 0.05
  }
  f <- file(path, open = "rb")
  on.exit(close(f))
  number <- function() readBin(f, integer(), 1L, endian = "big")
  text <- function() rawToChar(readBin(f, raw(), number()))
  .firesteel$port <- number()
  monitor <- number()
  text()
  limit <- number()
  secret <- text()
  file.remove(path)
  .firesteel$monitor <- .firesteel$connect(monitor, secret, limit)
  Sys.setenv(EXISTING_SPARKR_BACKEND_PORT = .firesteel$port, SPARKR_BACKEND_AUTH_SECRET = secret, SPARKR_BACKEND_CONNECTION_TIMEOUT = limit)
  if (!nzchar(home)) Sys.setenv(SPARK_HOME = dirname(dirname(normalizePath(Sys.which(submit)))))
  invisible(.firesteel$port)
}

# Ends the backend. Call sparkR.session.stop() first.
firesteel.backend.stop <- function() {
  if (!is.null(.firesteel$monitor)) close(.firesteel$monitor)
  .firesteel$monitor <- NULL
  Sys.unsetenv(c("EXISTING_SPARKR_BACKEND_PORT", "SPARKR_BACKEND_AUTH_SECRET", "SPARKR_BACKEND_CONNECTION_TIMEOUT"))
  invisible(NULL)
}

# The connection by which the backend sees the end of this R.
.firesteel$connect <- function(port, secret, limit) {
  connection <- socketConnection(port = port, blocking = TRUE, open = "a+b", timeout = limit)
  writeBin(nchar(secret, "bytes") + 1L, connection, endian = "big")
  writeBin(secret, connection) # with a NUL
  flush(connection)
  answer <- readBin(connection, raw(), readBin(connection, integer(), 1L, endian = "big"))
  if (rawToChar(answer[answer != 0]) != "ok") stop("the backend refuses its own secret")
  connection
}
