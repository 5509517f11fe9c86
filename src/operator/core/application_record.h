/* The core's record of one application. For the files of this directory only. */
#pragma once

#include "base/hash_table.h"
#include "base/mem.h"
#include "base/queue.h"
#include "operator/core/application_core.h"

/* The driver's pod as last seen. Owns its texts. Ids that are only compared are hashes (id_hash). */
struct application_driver {
        bool present; /* it exists */
        bool leaving, terminated, has_status;
        enum spark_pod_state phase;
        int exit_code;
        enum pod_loss loss; /* kept after the pod is gone, until the next submission */
        uint64_t spec_hash, version;
        uint64_t owner_uid, submission_id;
        int64_t created_ms;
        char *name, *uid, *application_id, *reason, *message, *loss_message, *waiting, *waiting_message;
};

struct application_executor {
        char *name;          /* owned */
        uint64_t submission; /* hash of its submission's id */
        enum spark_pod_state state;
        uint64_t version;
};

struct application_record {
        struct application_record *prev, *next;
        const char *key, *namespace, *name; /* within texts */
        char *uid;                          /* NULL: only pods are known */
        bool leaving;
        int64_t generation, created_ms;
        uint64_t version;
        struct application_policy policy;
        char *driver_pod, *invalid, *labels;
        struct application_status status; /* the next one to write, or the stored one */
        enum application_state stored;    /* the state that the server has */
        bool dirty;                       /* @status is not stored */
        bool entered;                     /* its state was entered and is not stored: the next step waits for that */
        bool spec_changed;
        bool deleted;         /* the resources of this state are deleted */
        bool cleaned;         /* the batch scheduler's group is deleted */
        bool expose_due;      /* UI service and ingresses are still to be created */
        int64_t expose_at_ms; /* not before */
        int expose_failures;
        int64_t written_ms; /* when the last write of the status began */
        struct application_driver driver;
        VEC(struct application_executor) executors; /* present pods, sorted by name */

        uint64_t ticket; /* of the action under way; 0: none */
        enum application_action_kind under_way;
        char *candidate; /* id of the submission under way */
        int64_t begun_ms;
        int64_t missing_since_ms; /* of the driver's pod, by this core; 0: it is present */
        bool missing_confirmed;   /* the API server does not know the driver's pod */
        int failures;
        int64_t retry_at_ms;
        int32_t loss_restarts;
        char texts[]; /* namespace and key */
};

struct application_core {
        struct application_core_options options;
        struct object_table table;
        struct object_table pods; /* the record of each present pod, by the pod's namespace and name */
        struct application_record *first, *last;
        QUEUE(struct application_action) actions;
        uint64_t last_ticket;
        bool synced;
};

/* application_core.c: returns the index of the executor's pod, or of its place. */
size_t application_executor_place(const struct application_record *a, const char *name, bool *found);

/* application_core.c: the pause after so many failures. */
int64_t application_pause_ms(int failures);

/* application_steps.c: performs one step of @a. Returns the deadline. */
int64_t application_step(struct application_core *core, struct application_record *a, int64_t now_ms);

/* Results of actions other than WRITE_STATUS. */
void application_step_done(struct application_core *core, struct application_record *a,
                           enum application_action_kind kind, const struct application_answer *answer, int64_t now_ms);

/* application_events.c: emits events and the transition from a->stored to a->status.state, which was stored. */
void application_emit_stored(struct application_core *core, struct application_record *a, int64_t now_ms);
void application_emit_driver(struct application_core *core, struct application_record *a);
void application_emit_executor(struct application_core *core, struct application_record *a, const char *pod,
                               const struct pod_observation *o);
void application_emit_executor_ended(struct application_core *core, const struct application_record *a, bool succeeded);
void application_emit_event(struct application_core *core, const struct application_record *a, const char *type,
                            const char *reason, char *message); /* steals @message */

/* Returns the action that is pushed, to be filled. Valid until the next push. */
struct application_action *application_push(struct application_core *core, const struct application_record *a,
                                            enum application_action_kind kind);

/* Returns the hash of an id that is only compared, and 0 for NULL. */
static inline uint64_t id_hash(const char *id)
{
        return id ? object_hash_text(id) : 0;
}

static inline bool driver_is_ours(const struct application_record *a)
{
        return a->driver.present && a->uid && a->driver.owner_uid == id_hash(a->uid);
}

static inline bool driver_is_current(const struct application_record *a)
{
        return driver_is_ours(a) && a->driver.submission_id &&
               a->driver.submission_id == id_hash(a->status.submission_id);
}
