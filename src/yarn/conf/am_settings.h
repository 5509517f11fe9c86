/* How an ApplicationMaster behaves: heartbeats, failures of executors, hosts that it leaves out. */
#pragma once

#include "base/string_list.h"

#include <stdbool.h>
#include <stdint.h>

struct fst_conf;
struct fst_error;
struct yarn_conf;

struct am_settings {
        int64_t heartbeat_ms, initial_ms; /* spark.yarn.scheduler.* */
        int max_heartbeat_failures;       /* in a row */
        int initial_executors;            /* without dynamic allocation */
        int max_executor_failures;
        int64_t failures_validity; /* ns; 0: failures count for ever */
        int64_t exclude_timeout;   /* ns */
        int max_failures_per_node;
        bool exclude_on_launch_failure;
        bool decommission; /* executors on nodes that leave the cluster are decommissioned */
        struct string_list excluded;
        char *executor_label;      /* NULL: none */
        int64_t max_final_message; /* bytes */
};

/* Returns 0, or -EINVAL with @error. @out is zeroed; deinit it in either case. */
int am_settings_read(const struct fst_conf *conf, struct am_settings *out, struct fst_error *error);

/* spark.yarn.am.waitTime and spark.yarn.am.finalMessageLimit. They return 0, or -EINVAL with @error. */
int am_wait_time_read(const struct fst_conf *conf, int64_t *out_ms, struct fst_error *error);
int am_final_message_limit_read(const struct fst_conf *conf, int64_t *out, struct fst_error *error);

/*
 * The diagnostics @text for the ResourceManager, with at most @limit bytes (4 or more; 0: without limit): a longer text
 * ends with "...". Characters stay whole. The caller owns the result.
 */
char *am_final_message(const char *text, int64_t limit);

/* Two heartbeats fit into the time after which the ResourceManager gives an application up. -EINVAL with @error. */
int am_settings_limit(struct am_settings *s, const struct yarn_conf *yarn, struct fst_error *error);
void am_settings_deinit(struct am_settings *s);
