/*
 * The settings of a submission to YARN: what the ApplicationMaster's container needs, how the application is
 * registered, and how the client behaves afterwards. Pure.
 *
 * In cluster mode the ApplicationMaster is the driver (spark.driver.*); in client mode it is small (spark.yarn.am.*).
 *
 * Follows Client and ResourceRequestHelper of Spark 4.3. Memory is in MiB.
 */
#pragma once

#include "base/string_list.h"
#include "yarn/conf/container_resources.h"
#include "yarn/conf/executor_size.h"

#include <stdbool.h>
#include <stdint.h>

struct fst_conf;
struct fst_error;

/* All strings are owned; NULL or a negative number: not set. */
struct yarn_settings {
        char *name, *queue, *type;
        int64_t memory, overhead, cores;      /* of the ApplicationMaster */
        struct container_resources resources; /* of the ApplicationMaster, besides memory and cores */
        struct yarn_executor_size executor;   /* only its memory */
        struct string_list tags;
        int64_t max_attempts, validity_ms, priority;
        bool has_priority;
        char *node_label, *rolled_include, *rolled_exclude;

        char *staging_dir;
        int64_t replication;
        bool has_replication;
        bool preserve_staging;
        bool python;

        bool wait, driver_logs_link;
        int64_t report_interval_ms, report_frequency;
};

/*
 * Reads @conf into @s, which the caller deinits in either case. spark.submit.deployMode is the mode. Returns 0, or
 * -EINVAL with @error, in Spark's words where it has some.
 */
int yarn_settings_read(struct yarn_settings *s, const struct fst_conf *conf, struct fst_error *error);
void yarn_settings_deinit(struct yarn_settings *s);

/*
 * Compares executor and ApplicationMaster with @maximum, the largest container of the cluster. Returns 0, or -EINVAL
 * with Spark's message.
 */
int yarn_settings_verify(const struct yarn_settings *s, int64_t maximum, struct fst_error *error);
