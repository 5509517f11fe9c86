/*
 * The logs of an application's containers: of a running application from the NodeManagers, of an ended one from the
 * files of YARN's log aggregation.
 *
 *      r = application_logs_print(&(struct application_logs_options){.conf = &conf, .application =
 * "application_1_0001", .executor = -1, .out = stdout}, error);
 */
#pragma once

#include "base/string_list.h"

#include <stdbool.h>
#include <stdio.h>

struct fst_conf;
struct fst_error;

struct application_logs_options {
        const struct fst_conf *conf;
        const char *application;  /* its id */
        const char *user;         /* its owner; NULL: as the ResourceManager says, else the user */
        const char *container;    /* only this container; NULL: all */
        int executor;             /* only the container of this executor; -1: all */
        bool driver;              /* only the containers of ApplicationMasters: in cluster mode, of the driver */
        struct string_list names; /* of logs; empty: all */
        bool list;                /* names and sizes only */
        bool follow;              /* until the application has ended */
        FILE *out;
};

/*
 * Prints the logs as they are read, each between lines that name it, like `yarn logs`. Returns 0; -ENOENT if there are
 * no such logs, -EINVAL for an invalid id, or another error, with @error.
 */
int application_logs_print(const struct application_logs_options *options, struct fst_error *error);
