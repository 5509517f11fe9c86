/*
 * Writes the driver's log to a file, and copies it to a file system that outlives the machine: spark.driver.log.*, as
 * Spark's DriverLogger.
 *
 * Lines go to driver.log in spark.driver.log.localDir, or in a directory below spark.local.dir that is removed at the
 * end. With spark.driver.log.persistToDfs.enabled in client mode, a thread appends new lines every 5 seconds to
 * APPLICATION_driver.log in spark.driver.log.dfsDir. Errors are logged and never stop the application.
 *
 * Differs from Spark: a directory that the user named is kept when the application ends.
 */
#pragma once

#include <stdbool.h>

struct driver_log;
struct fst_conf;
struct fst_error;

/* Start to write lines. Returns NULL if @conf disables it, or after logging an error. */
struct driver_log *driver_log_start(const struct fst_conf *conf);

/* Start to copy. @conf has the application's id. The context's file systems must live until driver_log_free. */
void driver_log_persist(struct driver_log *log, const struct fst_conf *conf);

/* Copy the rest, close the files, and remove the directory unless the user named it. NULL is allowed. */
void driver_log_free(struct driver_log *log);

struct buf;
struct log_line;
/*
 * Append @line in the log4j pattern @layout: %d{yy/MM/dd HH:mm:ss.SSS}, %t, %p, %c, %c{1}, %m, %n, %ex, %%, their long
 * names and widths (%-5p). Returns 0, or -EINVAL with @error, which names the first unknown part of the pattern.
 */
int driver_log_format(struct buf *out, const char *layout, const struct log_line *line, struct fst_error *error);
