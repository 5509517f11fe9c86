/*
 * Pushes of an executor to Celeborn's workers: which batch goes where and when. A pure core; the shell is push_client.
 *
 *      push_core_locate(core, shuffle, answer)            the driver's locations, at first and after a revive
 *      attempt = push_core_begin(core, shuffle, map, id)
 *      push_core_add(core, attempt, &batch)               …
 *      while (push_core_next(core, now, &action))         → PUSH_SEND, PUSH_REVIVE, PUSH_CLOSE
 *              shell_do(action);
 *      push_core_answered(…), push_core_failed(…), push_core_disconnected(…)   ← workers
 *      attempt->released                                  batches that the core does not need any more
 *      attempt->pending == 0                              all are answered; attempt->status says whether they are
 * stored push_core_end(core, attempt)
 *
 * Batches of one attempt for the same pair of workers (primary and replica) share a body while it is small. A worker
 * has a window of bodies in flight, which halves when the worker is congested and grows again by one per window.
 *
 * A batch that is not acknowledged goes to a newer location of its partition under the same id, so that readers can
 * drop a second copy. The core asks the driver for newer locations: one question of a shuffle at a time, with all
 * partitions that need one. Splits may happen any number of times, failures max_tries times for a batch.
 *
 * Invariants. A batch is in one body at a time. It is released exactly once. After its attempt has failed, no batch of
 * the attempt is sent.
 *
 * Pure: no I/O and no clock; times are ns of any monotonic clock. One thread at a time.
 */
#pragma once

#include "base/error.h"
#include "base/list.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct celeborn_answer;
struct celeborn_push_answer;
struct celeborn_revive;
struct push_attempt;
struct push_core;
struct push_lane;
struct push_shuffle;

struct push_core_config {
        int per_worker;  /* bodies in flight to one worker: spark.celeborn.client.push.maxReqsInFlight.perWorker */
        int total;       /* to all of them: spark.celeborn.client.push.maxReqsInFlight.total */
        int max_tries;   /* further tries of a batch: spark.celeborn.client.push.revive.maxRetries */
        size_t body;     /* bytes up to which batches share a body; more than one batch header */
        int64_t timeout; /* of a body: spark.celeborn.client.push.timeout */
};

/* A batch, embedded in what the shell pushes. The shell sets `size`; the rest is the core's. */
struct push_batch {
        struct push_batch *prev, *next;
        struct push_attempt *attempt;
        uint32_t size; /* bytes behind the header */
        int32_t partition;
        int32_t id;    /* within the attempt, over all partitions */
        int32_t epoch; /* of the location that it goes to */
        int tries;
};

typedef LIST(struct push_batch) push_batch_list;

/* One attempt of a map task. */
struct push_attempt {
        struct push_attempt *prev, *next; /* in the core */
        struct push_shuffle *shuffle;
        int32_t map, id;
        int32_t next_batch;
        bool collecting;          /* push_core_collect */
        int pending;              /* batches that are not released */
        push_batch_list released; /* for the shell, which empties it */
        LIST(struct push_lane) lanes;
        int status; /* 0, or negative: the attempt has failed */
        struct fst_error error;
};

/* A worker's push port, as the core numbers it. */
struct push_worker_name {
        char *host;
        int port;
};

/* A request to a worker. The core owns it until it is answered, or the connection is lost. */
struct push_body {
        struct push_body *prev, *next; /* in flight to the worker, oldest first */
        int64_t request;               /* unique in the core */
        struct push_attempt *attempt;
        push_batch_list batches;
        int n;
        size_t bytes; /* of the batches, with their headers */
        int worker;
        int64_t deadline;
};

enum push_action_kind {
        PUSH_SEND,   /* send `body` to its worker; connect first if necessary */
        PUSH_REVIVE, /* ask the driver. The answer is push_core_locate, or push_core_revive_failed */
        PUSH_CLOSE,  /* the worker does not answer: close the connection, then call push_core_disconnected */
};

struct push_action {
        enum push_action_kind kind;
        struct push_body *body;          /* SEND */
        int worker;                      /* CLOSE */
        int32_t shuffle;                 /* REVIVE: Celeborn's number */
        struct celeborn_revive *revives; /* REVIVE; the shell frees it */
        int n;
};

struct push_core *push_core_new(const struct push_core_config *config); /* never NULL */

/* Frees the core. No attempt is left. NULL is allowed. */
void push_core_free(struct push_core *core);

/* True if locations of the shuffle are known. */
bool push_core_has_shuffle(const struct push_core *core, int32_t shuffle);

/* Forgets the locations of a shuffle once no attempt uses them. */
void push_core_forget_shuffle(struct push_core *core, int32_t shuffle);

/*
 * Notes the driver's answer of kind LOCATIONS or REVIVE. Batches that wait for a partition go to its newer location. If
 * it has none, their attempts fail. A status other than success fails the attempts with waiting batches. The answer is
 * borrowed.
 */
void push_core_locate(struct push_core *core, int32_t shuffle, const struct celeborn_answer *answer);

/* A question of kind PUSH_REVIVE failed: so do the attempts with waiting batches. */
void push_core_revive_failed(struct push_core *core, int32_t shuffle, int status, const char *why);

/* Begins an attempt of map @map. The shuffle is known. @id is less than 2^31, and no other attempt has it. */
struct push_attempt *push_core_begin(struct push_core *core, int32_t shuffle, int32_t map, int32_t id);

/*
 * Adds a batch for a partition, with the next id. If the attempt has failed, it is released at once. Returns true if
 * push_core_next may have it for an action now.
 */
bool push_core_add(struct push_core *core, struct push_attempt *attempt, int32_t partition, struct push_batch *batch);

/*
 * More batches of the attempt follow soon: those for a pair of workers are sent when they fill more than half a body.
 * Without, what is there is sent.
 */
void push_core_collect(struct push_core *core, struct push_attempt *attempt, bool collecting);

/* Fails an attempt, for the caller's reason. Batches that are not in flight are released. */
void push_core_abandon(struct push_core *core, struct push_attempt *attempt, int status, const char *why);

/* Ends and frees an attempt that has nothing pending and nothing released. */
void push_core_end(struct push_core *core, struct push_attempt *attempt);

/* Gets an action. Returns false if there is none. */
bool push_core_next(struct push_core *core, int64_t now, struct push_action *action);

/* Returns the time at which push_core_next has an action even without an event; INT64_MAX: never. */
int64_t push_core_deadline(const struct push_core *core);

/* A worker has answered. Unknown requests are ignored. Returns false for an answer that has no meaning. */
bool push_core_answered(struct push_core *core, int worker, int64_t request, const struct celeborn_push_answer *answer);

/* Returns the body in flight with this request, or NULL. */
const struct push_body *push_core_body(const struct push_core *core, int worker, int64_t request);

/* A worker has answered with a failure. @cause is an enum celeborn_status. */
void push_core_failed(struct push_core *core, int worker, int64_t request, int cause);

/* The connection could not be made, or is lost: nothing in flight is sent or referred to by the shell any more. */
void push_core_disconnected(struct push_core *core, int worker, int cause);

/* True if nothing is in flight to the worker. */
bool push_core_is_idle(const struct push_core *core, int worker);

int push_core_workers(const struct push_core *core);                                /* for tests */
struct push_worker_name push_core_worker(const struct push_core *core, int worker); /* borrowed */

/* Celeborn's number of the shuffle of an attempt. */
int32_t push_attempt_shuffle(const struct push_attempt *attempt);
