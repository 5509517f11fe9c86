/* The log pages of a master and a worker: logs of executors and drivers, and the daemon's own.
 *
 *      /logPage/?appId=APP&executorId=N&logType=stdout    part of a log; offset=, byteLength= (102400)
 *      /logPage/?driverId=DRIVER&logType=stderr
 *      /logPage/?self&logType=out                         the daemon's own, in SPARK_LOG_DIR
 *      /log/?…            the same as plain text, its first line "==== Bytes 0-10 of 20 of /work/… ===="
 *
 * Threads of libuv's pool read the logs, so a slow disk does not block the loop. Reads in progress when the pages are
 * freed end by themselves. The loop must run until then.
 */
#pragma once

#include <uv.h>

struct log_pages;
struct web_request;

struct log_pages_options {
        uv_loop_t *loop;
        const char *daemon;   /* "worker": the daemon whose own log it is */
        const char *work_dir; /* directory of executors' and drivers' logs; NULL: none. Borrowed. */
        const char *log_dir;  /* of the daemon's own log unless SPARK_LOG_DIR is set; borrowed */
};

struct log_pages *log_pages_new(const struct log_pages_options *options);
void log_pages_free(struct log_pages *p); /* before the site; NULL is allowed */

/* Answers @q, now or later. */
void log_pages_serve(struct log_pages *p, struct web_request *q);
