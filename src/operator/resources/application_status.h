/* The status of a SparkApplication: states, attempts, the driver, executors. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In the order of the genuine operator's diagram. */
enum application_state {
        APPLICATION_NEW,
        APPLICATION_SUBMITTED,
        APPLICATION_RUNNING,
        APPLICATION_COMPLETED,
        APPLICATION_FAILED,
        APPLICATION_SUBMISSION_FAILED,
        APPLICATION_PENDING_RERUN,
        APPLICATION_INVALIDATING,
        APPLICATION_SUCCEEDING,
        APPLICATION_FAILING,
        APPLICATION_SUSPENDING,
        APPLICATION_SUSPENDED,
        APPLICATION_RESUMING,
        APPLICATION_UNKNOWN,
        N_APPLICATION_STATES,
};

enum spark_pod_state {
        SPARK_POD_PENDING,
        SPARK_POD_RUNNING,
        SPARK_POD_COMPLETED,
        SPARK_POD_FAILED,
        SPARK_POD_UNKNOWN,
};

/* Return "" for a new one, "SUBMITTED", …; "PENDING", … */
const char *application_state_name(enum application_state state);
const char *spark_pod_state_name(enum spark_pod_state state);

/*
 * The status of the condition "Ready": "True" while the driver runs, and once the application has completed, else
 * "False" or "Unknown".
 */
const char *application_state_ready(enum application_state state);

/* An unknown name is UNKNOWN. NULL is new. */
enum application_state application_state_parse(const char *name);
enum spark_pod_state spark_pod_state_parse(const char *name);

/* COMPLETED or FAILED. */
static inline bool application_state_is_final(enum application_state s)
{
        return s == APPLICATION_COMPLETED || s == APPLICATION_FAILED;
}

struct executor_entry {
        char *pod; /* owned */
        enum spark_pod_state state;
};

/* Owns its texts. NULL and 0 are absent. Times are ms since 1970, without a fraction of a second when written. */
struct application_status {
        enum application_state state;
        char *message;
        char *application_id, *submission_id;
        int64_t last_submission_attempt_ms, termination_ms;
        int32_t execution_attempts, submission_attempts;
        char *pod_name, *ui_service, *ui_address, *ui_ingress, *ui_ingress_address;
        int32_t ui_port;
        struct executor_entry *executors; /* sorted by pod */
        size_t n_executors;
        /* Conditions: why it waits or failed, in words. "" hides; written only by our own definition's status. */
        char *reason, *explanation;
        int64_t transition_ms;       /* when the condition's status last changed */
        int64_t observed_generation; /* of the object, when this was written */
};

void application_status_deinit(struct application_status *s);
void application_status_copy(struct application_status *to, const struct application_status *from);
bool application_status_equal(const struct application_status *a, const struct application_status *b);

/* Reads an object's status. NULL and absent members read as a new application's. */
void application_status_read(const json_t *json, struct application_status *out);

/* Returns the status as the genuine operator writes it, and conditions. The caller owns it. */
json_t *application_status_json(const struct application_status *s, int64_t generation);

/* Replaces an owned text by a copy of @value, which may be NULL. */
void status_text_set(char **text, const char *value);

/* Sets an executor's state. Returns true if that changed it. */
bool application_status_set_executor(struct application_status *s, const char *pod, enum spark_pod_state state);
