/*
 * The objects of one kind and their pods, as a state machine knows them: what SparkApplications of both groups share.
 *
 *      struct pi_record { struct object_record object; … };        the kind's record begins with the shared one
 *      struct object_records t = {.record_size = sizeof(struct pi_record), .deinit = pi_record_deinit};
 *      struct object_record *r = object_records_get(&t, namespace, name);
 *
 * A record exists while its object or one of its pods does: pods may be observed before their object. Pods are found by
 * their names, too, because a list after an interruption tells only names and uids of what is gone.
 *
 * Pure. Times are ms since 1970. Records have keys "namespace/name". One thread.
 */
#pragma once

#include "base/hash_table.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LONGEST_OBJECT_PAUSE_MS 30000

/* The driver's pod as last seen. Owns its texts, which are kept after the pod is gone. */
struct driver_pod {
        bool present; /* it exists */
        bool leaving; /* it is being deleted */
        int exit_code;
        uint64_t version;
        char *name, *uid, *reason, *message, *waiting, *waiting_message; /* NULL: unknown */
};

struct executor_pod {
        char *name;       /* owned */
        uint64_t attempt; /* hash of the id of the submission that it belongs to */
        uint64_t version;
        int state; /* of the kind's own enumeration */
};

struct object_record {
        struct object_record *prev, *next;
        const char *key, *namespace, *name; /* owned, as one block */
        char *uid;                          /* of the object; NULL: only pods are known */
        uint64_t version;                   /* resourceVersion */
        bool leaving;                       /* the object has a deletion timestamp */
        struct driver_pod driver;
        VEC(struct executor_pod) executors; /* present pods, sorted by name */
        uint64_t ticket;                    /* of the action under way; 0: none */
        int failures;                       /* of actions, one after the other */
        int64_t retry_at_ms;                /* no action before */
};

struct object_records {
        size_t record_size;
        void (*deinit)(struct object_record *r); /* releases what the kind's record owns; not the shared part */
        size_t max_executors;                    /* of a record; 0: no limit */
        struct object_table table, pods;         /* pods: the record of each present pod */
        struct object_record *first, *last;
};

/* Frees all records. */
void object_records_deinit(struct object_records *t);

/* Returns the record or NULL. */
struct object_record *object_records_find(const struct object_records *t, const char *namespace, const char *name);

/* Returns the record, which is zero but for its key if it is new. */
struct object_record *object_records_get(struct object_records *t, const char *namespace, const char *name);

/* Returns the record of a known object, or NULL. @uid NULL: any object of this name. */
struct object_record *object_records_find_object(const struct object_records *t, const char *namespace,
                                                 const char *name, const char *uid);

/* Frees @r if neither its object nor a pod exists. */
void object_records_drop_if_empty(struct object_records *t, struct object_record *r);

/* Another object has the name, or none (@uid NULL). Its pods stay until they are removed. */
void object_record_begin(struct object_record *r, const char *uid);

/* Whether @version of what is known at @known is news. 0: not a number, which always is. */
static inline bool object_version_is_news(uint64_t version, uint64_t known)
{
        return !version || version > known;
}

/* ------------------------------------------------------------------------------------------------------------- pods */

/* A driver's pod as it was read. Texts are borrowed for the call. */
struct seen_driver {
        const char *name, *uid, *reason, *message, *waiting, *waiting_message;
        bool leaving;
        int exit_code;
        uint64_t version;
};

void object_records_set_driver(struct object_records *t, struct object_record *r, const struct seen_driver *seen);

/* Takes an executor's pod, unless @version is old. Returns true if it is new, or has another @state. */
bool object_records_set_executor(struct object_records *t, struct object_record *r, const char *name, uint64_t attempt,
                                 uint64_t version, int state);

/* Returns the index of the executor's pod, or of its place. */
size_t object_record_executor_place(const struct object_record *r, const char *name, bool *found);

/*
 * Returns the record of a present pod, or NULL, and whether the pod is its driver's. @uid: the pod's, or NULL. The uids
 * of executors are not known.
 */
struct object_record *object_records_find_pod(const struct object_records *t, const char *namespace, const char *name,
                                              const char *uid, bool *is_driver);

/* Removes a pod of @r. Returns true if it was known, and whether it was the driver's. Frees no record. */
bool object_records_remove_pod(struct object_records *t, struct object_record *r, const char *name, const char *uid,
                               bool *is_driver);

/* ----------------------------------------------------------------------------------------------------------- pauses */

/* The pause after so many failures. */
int64_t object_pause_ms(int failures);

/* Begins a pause before the next action, longer after each failure. */
void object_record_pause(struct object_record *r, int64_t now_ms);

/* Whether a pause lasts, until retry_at_ms. A clock that was set back does not prolong it. */
static inline bool object_record_pauses(const struct object_record *r, int64_t now_ms)
{
        return r->retry_at_ms > now_ms && r->retry_at_ms - now_ms <= LONGEST_OBJECT_PAUSE_MS;
}
