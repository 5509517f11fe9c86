/*
 * The actions of the core that allocates containers (yarn_allocator.h), in order. The shell takes them one by one and
 * performs them.
 *
 * An action owns the strings that it points to. The shell borrows it until it takes the next one.
 */
#pragma once

#include "base/log.h"
#include "base/queue.h"
#include "yarn/protocol/yarn_ids.h"

enum yarn_action_kind {
        /* ask: put this row of the ResourceManager's table of requests into the next heartbeat. */
        YARN_ACTION_ASK,
        /* container: give it back with the next heartbeat. */
        YARN_ACTION_RELEASE,
        /* host: ask the ResourceManager with the next heartbeat for no containers there, or for containers again. */
        YARN_ACTION_EXCLUDE,
        YARN_ACTION_INCLUDE,
        /* launch: start an executor in the container. Answered by yarn_allocator_launched or _launch_failed. */
        YARN_ACTION_LAUNCH,
        /* exited: report to the driver that the executor is gone. */
        YARN_ACTION_EXECUTOR_EXITED,
        /* decommission: tell the driver that the executors on the host should finish and leave. */
        YARN_ACTION_DECOMMISSION,
        YARN_ACTION_LOG,
};

struct yarn_action {
        enum yarn_action_kind kind;
        union {
                struct {
                        int32_t profile; /* its priority has the same number */
                        char *location;  /* "*", a rack or a host */
                        int32_t count;   /* absolute: replaces what was asked before for profile and location */
                } ask;
                struct yarn_container_id container;
                char *host;
                struct {
                        struct yarn_container_id container;
                        int32_t executor, profile;
                } launch;
                struct {
                        int32_t executor, exit_status;
                        bool caused_by_app; /* counts as a failure of its tasks */
                        char *reason;
                } exited;
                struct {
                        int32_t executor;
                        char *host;
                } decommission;
                struct {
                        enum log_level level;
                        char *line;
                } log;
        };
};

struct yarn_actions {
        QUEUE(struct yarn_action) queue;
        struct yarn_action current; /* the last action taken */
        bool has_current;
};

void yarn_actions_deinit(struct yarn_actions *actions);

/* The next action, or NULL. Borrowed until the next call. */
const struct yarn_action *yarn_actions_next(struct yarn_actions *actions);

void yarn_actions_log(struct yarn_actions *actions, enum log_level level, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
