/*
 * The driver's log as a file, and its copy in a file system that outlives the machine: spark.driver.log.*, as Spark's
 * DriverLogger.
 *
 * Lines go to driver.log in spark.driver.log.localDir, or in a directory of the application's own below spark.local.dir
 * that is removed at the end. With spark.driver.log.persistToDfs.enabled, in client mode, a thread appends what is new
 * every 5 seconds to APPLICATION_driver.log in spark.driver.log.dfsDir. Nothing here keeps an application from running:
 * what goes wrong is logged.
 *
 * Differs from Spark: a directory that the user named is kept when the application ends.
 */
#pragma once

#include <stdbool.h>

struct driver_log;
struct fst_conf;
struct fst_error;

/* Begin to write lines. NULL: @conf does not ask for it, or it is not possible, which is logged. */
struct driver_log *driver_log_start(const struct fst_conf *conf);

/* Begin to copy. @conf has the application's id; the file systems of the context are there until driver_log_free. */
void driver_log_persist(struct driver_log *log, const struct fst_conf *conf);

/* End: copy the rest, close the files, remove the directory that is the application's own. NULL is allowed. */
void driver_log_free(struct driver_log *log);

/* Where the lines go. Borrowed. */
const char *driver_log_path(const struct driver_log *log);

struct buf;
struct log_line;
/*
 * Append @line as the log4j pattern @layout has it: %d{yy/MM/dd HH:mm:ss.SSS}, %t, %p, %c, %c{1}, %m, %n, %ex, %%,
 * their long names and widths (%-5p). 0, or -EINVAL with the first part of the pattern that is not known.
 */
int driver_log_format(struct buf *out, const char *layout, const struct log_line *line, struct fst_error *error);
