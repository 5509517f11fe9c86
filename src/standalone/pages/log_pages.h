/*
 * The pages of logs, at a master and at a worker: of executors and drivers, and the daemon's own.
 *
 *      /logPage/?appId=APP&executorId=N&logType=stdout    a piece of a log; offset=, byteLength= (102400)
 *      /logPage/?driverId=DRIVER&logType=stderr
 *      /logPage/?self&logType=out                         the daemon's own, in SPARK_LOG_DIR
 *      /log/?…            the same as plain text, its first line "==== Bytes 0-10 of 20 of /work/… ===="
 *
 * Logs are read by threads of libuv's: a slow disk holds up nothing. What is being read when the pages end ends by
 * itself; the loop has to turn until then.
 */
#pragma once

#include <uv.h>

struct log_pages;
struct web_request;

struct log_pages_options {
        uv_loop_t *loop;
        const char *daemon;   /* "worker": whose own log it is */
        const char *work_dir; /* with the logs of executors and drivers; NULL: there are none. Borrowed. */
        const char *log_dir;  /* of the daemon's own log unless SPARK_LOG_DIR says another; borrowed */
};

struct log_pages *log_pages_new(const struct log_pages_options *options);
void log_pages_free(struct log_pages *p); /* before the site; NULL is allowed */

/* Answer @q, now or later. */
void log_pages_serve(struct log_pages *p, struct web_request *q);
