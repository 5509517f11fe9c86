/* The tolerations of an application of spark.apache.org, with Apache's defaults, and what they decide. Pure. */
#pragma once

#include "operator/apache/apache_application.h"
#include "operator/apache/apache_status.h"

enum apache_restart {
        APACHE_RESTART_NEVER,
        APACHE_RESTART_ALWAYS,
        APACHE_RESTART_ON_FAILURE,
        APACHE_RESTART_ON_INFRASTRUCTURE_FAILURE,
};

enum apache_retain { APACHE_RETAIN_NEVER, APACHE_RETAIN_ALWAYS, APACHE_RETAIN_ON_FAILURE };

/* Times are ms. */
struct apache_policy {
        enum apache_restart restart;
        int64_t max_restarts, backoff_ms;
        int64_t counter_reset_ms;                                    /* negative: never */
        int64_t max_failures, max_scheduling_failures;               /* negative: unset */
        int64_t failure_backoff_ms, scheduling_backoff_ms;           /* negative: unset */
        int64_t driver_start_ms, driver_ready_ms, executor_start_ms; /* 0 or less: no limit */
        int64_t force_ms;
        int64_t init_executors, min_executors, max_executors;
        bool dynamic_allocation;
        enum apache_retain retain;
        int64_t retain_ms, ttl_ms; /* negative: for ever */
};

void apache_policy_read(const struct apache_application_spec *spec, struct apache_policy *out);

/* @ms later than @at, or INT64_MAX. Negative durations are 0. */
int64_t apache_time_after(int64_t at, int64_t ms);

/* How long to wait before the attempt that follows one that ended in @state. */
int64_t apache_policy_backoff_ms(const struct apache_policy *p, enum apache_state state);

/* Whether the resources of an attempt that ended in @state, the last one, are kept. */
bool apache_policy_retains(const struct apache_policy *p, enum apache_state state);

/* How long retained resources are kept, or negative: for ever. */
int64_t apache_policy_retain_ms(const struct apache_policy *p);

/*
 * Sets *@t to the step after a stopping state @s: another attempt, or the end with or without the resources of the
 * attempt.
 * @may_restart false: no other attempt. The caller must deinit @t.
 */
void apache_policy_end(const struct apache_policy *p, const struct apache_status *s, bool may_restart, int64_t now_ms,
                       struct apache_transition *t);

/* The state of an application with a ready driver and @ready executors. */
enum apache_state apache_policy_running(const struct apache_policy *p, enum apache_state state, int64_t ready);
