/*
 * The status of a SparkApplication of spark.apache.org: what the core needs of it, and the JSON patch of a transition.
 *
 * The status holds the history of all states. The core keeps only its last entries: a patch adds an entry, or moves the
 * history of an ended attempt, and leaves the others as the API server has them.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* In the order of Apache's operator. */
enum apache_state {
        APACHE_NEW, /* no status */
        APACHE_SUBMITTED,
        APACHE_SCHEDULED_TO_RESTART,
        APACHE_DRIVER_REQUESTED,
        APACHE_DRIVER_STARTED,
        APACHE_DRIVER_READY,
        APACHE_INITIALIZED_BELOW_THRESHOLD,
        APACHE_RUNNING_HEALTHY,
        APACHE_RUNNING_PARTIAL,
        APACHE_RUNNING_BELOW_THRESHOLD,
        APACHE_DRIVER_START_TIMED_OUT,
        APACHE_EXECUTORS_START_TIMED_OUT,
        APACHE_DRIVER_READY_TIMED_OUT,
        APACHE_SUCCEEDED,
        APACHE_FAILED,
        APACHE_SCHEDULING_FAILURE,
        APACHE_DRIVER_EVICTED,
        APACHE_RESOURCE_RELEASED,
        APACHE_TERMINATED_WITHOUT_RELEASE,
        APACHE_UNKNOWN, /* a status that no operator wrote */
        N_APACHE_STATES,
};

/* Returns "Submitted", …; "" for a new application. */
const char *apache_state_name(enum apache_state state);

/* NULL and "" are new. An unknown name is UNKNOWN. */
enum apache_state apache_state_parse(const char *name);

static inline bool apache_state_is_initializing(enum apache_state s)
{
        return s == APACHE_SUBMITTED || s == APACHE_SCHEDULED_TO_RESTART;
}

/* From the request of the driver until all executors are there. */
static inline bool apache_state_is_starting(enum apache_state s)
{
        return s >= APACHE_DRIVER_REQUESTED && s <= APACHE_INITIALIZED_BELOW_THRESHOLD;
}

static inline bool apache_state_has_driver(enum apache_state s)
{
        return s >= APACHE_DRIVER_REQUESTED && s <= APACHE_RUNNING_BELOW_THRESHOLD;
}

/* The attempt has ended, and what follows is not decided. */
static inline bool apache_state_is_stopping(enum apache_state s)
{
        return s >= APACHE_DRIVER_START_TIMED_OUT && s <= APACHE_DRIVER_EVICTED;
}

static inline bool apache_state_is_terminated(enum apache_state s)
{
        return s == APACHE_RESOURCE_RELEASED || s == APACHE_TERMINATED_WITHOUT_RELEASE;
}

static inline bool apache_state_is_failure(enum apache_state s)
{
        return apache_state_is_stopping(s) && s != APACHE_SUCCEEDED;
}

/* A failure that the application did not cause. */
static inline bool apache_state_is_infrastructure_failure(enum apache_state s)
{
        return s == APACHE_DRIVER_START_TIMED_OUT || s == APACHE_EXECUTORS_START_TIMED_OUT ||
               s == APACHE_SCHEDULING_FAILURE;
}

/* attemptInfo. The counters of failures are of failures in succession. */
struct apache_attempt {
        int64_t id, restarts, failures, scheduling_failures;
};

/* Times are ms since 1970. */
struct apache_status {
        enum apache_state state;
        int64_t transition_ms; /* when it was entered */
        bool has_history;
        int64_t entry;            /* the state's number in stateTransitionHistory */
        int64_t before_ms;        /* when the state before it in the history was entered, else @transition_ms */
        int64_t attempt_began_ms; /* when the first state of this attempt was entered */
        bool restarted;           /* previousAttemptSummary is present */
        enum apache_state before; /* the last state of the previous attempt */
        struct apache_attempt attempt;
};

/* Reads an object's status. NULL reads as a new application's. */
void apache_status_read(const json_t *json, struct apache_status *out);

/*
 * Return when the driver of this attempt, or what a cluster consists of, was requested, and when the attempt ended, as
 * texts, or NULL. Borrowed from @json, an object's status.
 */
const char *apache_status_submitted(const json_t *json);
const char *apache_status_ended(const json_t *json);

/* A change of the state. */
struct apache_transition {
        enum apache_state to;
        char *message; /* owned, or NULL */
        int64_t at_ms;
        bool wants_driver; /* the state records the status of the driver's pod */
        bool restart;      /* begins @attempt: the history so far becomes the previous attempt's */
        struct apache_attempt attempt;
};

void apache_transition_deinit(struct apache_transition *t);

/* Changes @s as the API server does when it takes the patch. */
void apache_status_apply(struct apache_status *s, const struct apache_transition *t);

/*
 * Returns the JSON patch of a transition from @s. The server refuses it if the object has not the version @version.
 * @driver: status of the driver's pod, or NULL. The caller owns the result.
 */
json_t *apache_status_patch(const struct apache_status *s, const struct apache_transition *t, uint64_t version,
                            const json_t *driver);
