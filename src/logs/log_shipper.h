/*
 * The process that carries the output of a driver or an executor to durable storage. It is forked before its parent has
 * threads (logs/log_capture.h), reads the parent's output from pipes, passes it on to where it went before, and writes
 * pieces (logs/log_pieces.h) on a thread. It outlives its parent until all output is stored, at most LOG_SHIPPER_END_TIMEOUT_MS:
 * what a killed process has written is not lost.
 *
 * A task that writes waits only for the place to which the output went before, as without durable logs; never for the
 * storage: output that the storage does not take in time is left out of the durable log.
 *
 * It ignores SIGTERM, SIGINT and SIGHUP, and leads a session of its own, since whoever ends its parent often ends the
 * whole group.
 */
#pragma once

#include <stdbool.h>

struct fst_conf;

#define LOG_OUTPUTS 2 /* stdout, stderr */

/* The name of the process (/proc/PID/comm), by which the first process of a container knows it. */
#define LOG_SHIPPER_NAME "log-shipper"

/* How long it stores what is left after its parent's end. */
#define LOG_SHIPPER_END_TIMEOUT_MS 10000

struct log_shipper_options {
        const struct fst_conf *conf; /* of the start; settings that come later replace its values */
        const char *application;     /* NULL: the settings name it as spark.app.id */
        const char *process;         /* "executor-3" */
        int outputs[LOG_OUTPUTS];    /* what the parent writes */
        int previous[LOG_OUTPUTS];   /* where it goes on */
        int settings;                /* pairs of key and value, each with its NUL, until its end */
        int passed_on;               /* a socket: after its end, closed once the output so far has been passed on */
        bool cleans;                 /* removes old applications first */
};

/* Returns when all is stored. Takes the descriptors. The caller then leaves by _exit. */
void log_shipper_run(const struct log_shipper_options *options);
