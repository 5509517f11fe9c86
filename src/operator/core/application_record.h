/* The core's record of one application. For the files of this directory only. */
#pragma once

#include "base/mem.h"
#include "base/queue.h"
#include "operator/core/application_core.h"
#include "operator/object_records.h"

/* The core keeps this of the driver's pod beside the shared record. Ids that are only compared are hashes (id_hash). */
struct application_driver {
        bool terminated;
        bool untold; /* it runs or has ended since before its submission was stored: no event says so */
        enum spark_pod_state phase;
        enum pod_loss loss; /* kept after the pod is gone, until the next submission */
        uint64_t spec_hash, owner_uid, submission_id;
        char *application_id, *loss_message; /* owned */
};

struct application_record {
        struct object_record object;
        int64_t generation, created_ms;
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

        enum application_action_kind under_way; /* if the object has a ticket */
        char *candidate;                        /* id of the submission under way */
        int64_t begun_ms;
        int64_t missing_since_ms; /* of the driver's pod, by this core; 0: it is present */
        int64_t ended_since_ms;   /* the first look of this core at the ended application; 0: none */
        bool missing_confirmed;   /* the API server does not know the driver's pod */
        int32_t loss_restarts;
};

struct application_core {
        struct application_core_options options;
        struct object_records records;
        QUEUE(struct application_action) actions;
        uint64_t last_ticket;
        bool synced;
};

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
        return a->object.driver.present && a->object.uid && a->driver.owner_uid == id_hash(a->object.uid);
}

static inline bool driver_is_current(const struct application_record *a)
{
        return driver_is_ours(a) && a->driver.submission_id &&
               a->driver.submission_id == id_hash(a->status.submission_id);
}
