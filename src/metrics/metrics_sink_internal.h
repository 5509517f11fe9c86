/* A sink, for the files that implement them. */
#pragma once

#include "base/strmap.h"
#include "metrics/metrics_snapshot.h"

#include <pthread.h>
#include <regex.h>

#define SPARK_SINKS "org.apache.spark.metrics.sink."

struct fst_error;
struct http_client;
struct metrics_system;

struct metrics_sink {
        struct metrics_system *system;
        const struct metrics_sink_class *class;
        const struct strmap *options;
        int64_t period_ms;
        char host[256];
        int port, fd; /* fd -1: not connected */
        bool udp, has_regex, failed, last;
        regex_t regex;
        struct http_client *http;
        char *url, *labels;
        pthread_t thread;
};

struct metrics_sink_class {
        const char *name;
        const char *options; /* its own ones, each with a blank behind it */
        int (*open)(struct metrics_sink *sink, struct fst_error *error);
        int (*report)(struct metrics_sink *sink, const struct metrics_snapshot *m, struct fst_error *error);
        void (*end)(struct metrics_sink *sink); /* after the last report; NULL: nothing */
};

/* Returns an option of the sink, or @otherwise if it is not set. */
const char *metrics_sink_option(const struct metrics_sink *sink, const char *name, const char *otherwise);

/* metrics_file_sinks.c */
extern const struct metrics_sink_class metrics_console_sink, metrics_csv_sink;
