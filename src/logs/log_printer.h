/* Prints durable logs of an application, as `firesteel logs` does. */
#pragma once

#include "base/string_list.h"

#include <stdbool.h>
#include <stdio.h>

struct fst_conf;
struct fst_error;

struct log_printer_options {
        const struct fst_conf *conf; /* with spark.firesteel.logs.dir */
        const char *application;
        int executor;             /* only this executor; -1: all processes */
        bool driver;              /* only the driver */
        struct string_list names; /* "stderr", "stdout"; empty: both */
        bool list;                /* names and sizes only */
        bool follow;              /* until the driver, or the executor, has ended */
        bool wait;                /* following: also for an application unlike all that have logs */
        FILE *out;
};

/*
 * Prints each log between lines that name it; when following, a line before bytes of another log than before. Following
 * waits for an application without logs; a line on stderr says so. Returns 0; -ENOENT if there are no such logs, or if
 * only other applications have some for a while, or another error, with @error.
 */
int log_printer_print(const struct log_printer_options *options, struct fst_error *error);
