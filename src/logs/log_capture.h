/*
 * Sends this process's standard output and error to durable storage, too, by a process of its own (logs/log_shipper.h).
 *
 *      r = log_capture_start(&conf, app_id, "executor-3", false, error);
 *      log_capture_configure(&conf);                                      once the whole configuration is known
 *      log_capture_stop();                                                before a process ends whose output is awaited
 *
 * State of the process: descriptors 1 and 2 are pipes meanwhile. Without spark.firesteel.logs.dir nothing happens. An
 * output that is a terminal stays one, and is not captured.
 */
#pragma once

#include <stdbool.h>

struct fst_conf;
struct fst_error;

/*
 * @application NULL: spark.app.id of log_capture_configure. @cleans: removes old applications (spark.firesteel.logs.
 * maxAge). Copies its arguments. Returns 1 if it has begun, 0 if there is nothing to do, or negative with @error; then
 * nothing is captured.
 *
 * It forks. Only a program that makes a context without spark-submit may have threads then. Their locks are no danger:
 * the new process uses those of the C library, which fork makes usable, and of this library, which has no threads yet.
 */
int log_capture_start(const struct fst_conf *conf, const char *application, const char *process, bool cleans,
                      struct fst_error *error);

/* The same for a driver: cleans, warns instead of failing, and stops at exit. Only the first call has an effect. */
void log_capture_start_driver(const struct fst_conf *conf);

/*
 * Makes the C library's standard output line-buffered, also if it is a file or a pipe: a killed process then loses no
 * whole line. log_capture_start does it for an output that it captures.
 */
void log_capture_buffer_lines(void);

/* Passes spark.hadoop.*, spark.redaction.*, spark.app.id and the keys of durable logs on. Only the first call counts.
 */
void log_capture_configure(const struct fst_conf *conf);

/*
 * Gives the descriptors back if the process that stores the output was killed. Returns true if it did now: output that
 * could not be written just before is no error of its program. SIGPIPE, which is handled meanwhile, does it as well.
 */
bool log_capture_recover(void);

/* Restores the descriptors, and waits until the output so far has been passed on. */
void log_capture_stop(void);

/*
 * The descriptor to which output @fd (1 or 2) goes on, for a child that captures its own output; 0 if @fd is not
 * captured (what process/spawn.h takes for this process's own). Borrowed.
 */
int log_capture_previous(int fd);
