/* The core's record of one application of spark.apache.org. For the files of this directory only. */
#pragma once

#include "base/hash_table.h"
#include "base/mem.h"
#include "base/queue.h"
#include "base/vec.h"
#include "operator/apache/apache_core.h"

/* The driver's pod as last seen. Owns its texts. */
struct apache_driver {
        bool present, leaving, ready, started;
        enum apache_pod_end end;
        int exit_code;
        uint64_t version;
        char *name, *uid, *app_id, *reason, *message, *waiting, *waiting_message;
};

struct apache_executor {
        char *name;      /* owned */
        uint64_t app_id; /* its hash */
        uint64_t version;
        bool ready;
};

struct apache_record {
        struct apache_record *prev, *next;
        char *key, *namespace, *name, *uid; /* uid NULL: only pods are known */
        uint64_t version;
        bool leaving;
        struct apache_policy policy;
        char *own_id, *own_driver_pod, *invalid;
        char *app_id, *driver_pod; /* of the current attempt */
        struct apache_status status;
        struct apache_driver driver;
        VEC(struct apache_executor) executors; /* present pods, sorted by name */

        /* Steps done in the current state. */
        bool submitted, released, forced;
        bool driver_removed;    /* its pod was seen to go */
        bool missing_confirmed; /* the API server does not know the driver's pod */
        char *refusal;          /* why the submission failed */

        uint64_t ticket; /* of the action under way; 0: none */
        enum apache_action_kind under_way;
        struct apache_transition transition; /* that is being written */
        int failures;
        int64_t retry_at_ms;
};

struct apache_core {
        struct apache_core_options options;
        struct object_table table;
        struct object_table pods; /* the record of each present pod, by the pod's namespace and name */
        struct apache_record *first, *last;
        QUEUE(struct apache_action) actions;
        uint64_t last_ticket;
};

/* apache_steps.c: performs one step of @a. Returns the deadline. */
int64_t apache_step(struct apache_core *core, struct apache_record *a, int64_t now_ms);

/* apache_steps.c: emits the event of the state that was stored. */
void apache_emit_stored(struct apache_core *core, const struct apache_record *a, const char *message);

/* Whether the driver's pod of the current attempt is known to exist. */
static inline bool apache_record_has_driver(const struct apache_record *a)
{
        return a->driver.present && a->driver.app_id && a->app_id && strcmp(a->driver.app_id, a->app_id) == 0;
}
