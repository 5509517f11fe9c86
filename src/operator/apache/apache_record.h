/* The core's record of one application of spark.apache.org. For the files of this directory only. */
#pragma once

#include "base/mem.h"
#include "base/queue.h"
#include "operator/apache/apache_core.h"
#include "operator/object_records.h"

struct apache_record {
        struct object_record object; /* the state of an executor is whether it is ready */
        int64_t generation, created_ms;
        int finalizer;
        int64_t since_ms; /* the first look of this core at the current state; 0: none */
        struct apache_policy policy;
        char *own_id, *own_driver_pod, *invalid, *labels;
        char *app_id, *driver_pod; /* of the current attempt */
        struct apache_status status;
        bool driver_ready, driver_started;
        enum apache_pod_end driver_end;
        char *driver_app_id; /* of the driver's pod */

        /* Steps done in the current state. */
        bool submitted, released, forced;
        bool driver_removed;    /* its pod was seen to go */
        bool missing_confirmed; /* the API server does not know the driver's pod */
        char *refusal;          /* why the submission failed */

        enum apache_action_kind under_way;   /* if the object has a ticket */
        struct apache_transition transition; /* that is being written */
        enum apache_state before;            /* the state that it leaves */
};

struct apache_core {
        struct apache_core_options options;
        struct object_records records;
        QUEUE(struct apache_action) actions;
        uint64_t last_ticket;
};

/* apache_steps.c: performs one step of @a. Returns the deadline. */
int64_t apache_step(struct apache_core *core, struct apache_record *a, int64_t now_ms);

/* apache_steps.c: emits the event and the transition of the state that was stored. */
void apache_emit_stored(struct apache_core *core, const struct apache_record *a, const char *message, int64_t now_ms);

/* apache_steps.c: the executors of the current attempt that are ready. */
int64_t apache_ready_executors(const struct apache_record *a);

/* Whether the driver's pod of the current attempt is known to exist. */
static inline bool apache_record_has_driver(const struct apache_record *a)
{
        return a->object.driver.present && a->driver_app_id && a->app_id && strcmp(a->driver_app_id, a->app_id) == 0;
}
