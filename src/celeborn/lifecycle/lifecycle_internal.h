/*
 * Shared by the lifecycle manager's files: lifecycle.c (events, requests, workers, masters), lifecycle_slots.c
 * (locations: register, reserve, revive), lifecycle_commit.c (commit, answers).
 */
#pragma once

#include "base/queue.h"
#include "base/vec.h"
#include "celeborn/lifecycle/lifecycle.h"
#include "celeborn/protocol/celeborn.pb-c.h"
#include "celeborn/protocol/celeborn_message.h"

struct lifecycle_worker {
        struct celeborn_worker at;
        int64_t excluded_until; /* 0: it is not */
        bool refused;           /* the master excludes it, does not know it, or it shuts down */
};

/* The state of one copy of a location. */
enum copy_state {
        COPY_NONE,     /* there is none, or it was given up */
        COPY_QUEUED,   /* will be reserved soon */
        COPY_ASKED,    /* ReserveSlots is on its way */
        COPY_RESERVED, /* can be written */
        COPY_COMMITTED,
        COPY_EMPTY, /* nothing was written */
        COPY_LOST,
};

struct lifecycle_location {
        int32_t partition, epoch;
        int32_t worker[2]; /* by enum celeborn_mode; -1: none */
        int32_t mount[2];  /* index of the mount point that the master chose; -1: none */
        uint8_t storage[2];
        uint8_t copy[2]; /* enum copy_state */
        bool journaled;
        bool dead;              /* a copy could not be reserved: no executor learns of it */
        bool awaits_candidates; /* will be replaced when the master has named workers */
        int32_t previous;       /* location of the partition with a lower epoch; -1: none */
};

enum shuffle_phase {
        SHUFFLE_REGISTERING,
        SHUFFLE_OPEN,
        SHUFFLE_COMMITTING,
        SHUFFLE_COMMITTED,
        SHUFFLE_LOST,
        SHUFFLE_FAILED, /* no slots; asked again, it registers again */
        SHUFFLE_DROPPED,
};

struct lifecycle_waiter {
        void *asker;
        struct celeborn_question question;
};

struct lifecycle_shuffle {
        int32_t id;
        enum shuffle_phase phase;
        int maps, partitions;
        bool requested;    /* the master may know it */
        bool announced;    /* the master had registered it when the last heartbeat was sent */
        int tries;         /* of registration */
        int round;         /* of reservation, since something last succeeded */
        int outstanding;   /* ReserveSlots or CommitFiles without an answer */
        int64_t next;      /* when queued locations are reserved, or registration is tried again; INT64_MAX: never */
        int32_t *attempts; /* with which an earlier driver began to commit; NULL: it did not */
        char *failure;     /* of SHUFFLE_FAILED */
        VEC(struct lifecycle_location) locations;
        int32_t *newest; /* by partition: index of its location; -1: none */
        VEC(int32_t) candidates;
        bool extending;      /* the master is asked for more candidates */
        size_t cursor;       /* the next candidate */
        VEC(int32_t) queued; /* locations */
        VEC(int32_t) failed; /* partitions whose newest location could not be reserved */
        VEC(struct lifecycle_waiter) waiters;
};

/* A copy in a request. */
struct lifecycle_copy {
        int32_t worker, location;
        uint8_t mode;
};

typedef VEC(struct lifecycle_copy) copy_list;

struct lifecycle_request {
        uint64_t id;
        bool master, sent;
        int32_t shuffle; /* -1: none */
        int32_t worker;
        size_t leader; /* master that got it */
        int type;
        uint8_t *body;
        size_t len;
        int tries, max_tries;
        int64_t timeout, wait;
        int64_t at; /* sent: when it times out; else when it is sent */
        copy_list copies;
};

struct lifecycle {
        struct celeborn_config config; /* strings are owned, but for the masters */
        VEC(struct lifecycle_master) masters;
        size_t leader;
        VEC(struct lifecycle_worker) workers;
        VEC(char *) mounts;
        VEC(struct lifecycle_shuffle *) shuffles; /* by id; NULL: not begun */
        VEC(int32_t) timed;                       /* shuffles with `next` */
        VEC(struct lifecycle_request *) requests;
        QUEUE(struct lifecycle_action) actions;
        uint64_t next_request, next_master_id;
        int64_t last_heartbeat, next_heartbeat, stop_at;
        int64_t written, files;  /* since the last heartbeat */
        int64_t begun, reported; /* shuffles; of them those that the last heartbeat counted */
        bool first_heartbeat_sent, stopping, stopped;
        bool answered; /* by a master, since the application began */
        bool unheard;  /* no master has accepted the last heartbeat */
        size_t journaled_workers;
        int64_t restored_columns; /* maps and partitions of the shuffles of earlier drivers */
};

/* ------------------------------------------------------------------------------------------------- lifecycle.c */

void lifecycle_log(struct lifecycle *l, enum log_level level, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

/* The shuffle of a number, NULL if it has not begun. */
struct lifecycle_shuffle *lifecycle_shuffle(const struct lifecycle *l, int32_t id);

/* Adds a shuffle, which is new. */
struct lifecycle_shuffle *lifecycle_add(struct lifecycle *l, int32_t id, int maps, int partitions);

/* Frees what a shuffle without waiters holds, but for its entry. */
void lifecycle_forget(struct lifecycle_shuffle *shuffle);

/* The index of a worker, which is added if it is new. */
int32_t lifecycle_worker_index(struct lifecycle *l, const struct celeborn_worker *at);
bool lifecycle_worker_is_usable(const struct lifecycle *l, int32_t worker, int64_t now);
void lifecycle_exclude(struct lifecycle *l, int32_t worker, const char *why, int64_t now);

/* Creates and sends a request to a worker, or, with @worker -1, to the master. Packs @message. */
struct lifecycle_request *lifecycle_send(struct lifecycle *l, int32_t shuffle, int32_t worker, int type,
                                         const ProtobufCMessage *message, int64_t now);

/* "uuid#n" for the next request to the master. The caller frees it. */
char *lifecycle_request_id(struct lifecycle *l);

/* Sets shuffle->next, at which lifecycle_slots_tick is called. */
void lifecycle_set_timer(struct lifecycle *l, struct lifecycle_shuffle *shuffle, int64_t at);

/* ------------------------------------------------------------------------------------------- lifecycle_slots.c */

void slots_register(struct lifecycle *l, struct lifecycle_shuffle *shuffle, int64_t now);
void slots_on_requested(struct lifecycle *l, struct lifecycle_shuffle *shuffle,
                        const Celeborn__RequestSlotsResponse *reply, int64_t now);

/* Registration failed; @why is shown to the user. */
void slots_on_refused(struct lifecycle *l, struct lifecycle_shuffle *shuffle, const char *why, bool final, int64_t now);

/* The end of a ReserveSlots. @why NULL: it succeeded. */
void slots_on_reserved(struct lifecycle *l, struct lifecycle_shuffle *shuffle, const struct lifecycle_request *request,
                       const char *why, int64_t now);

/* Makes new locations for those of the question that are still the newest. */
void slots_revive(struct lifecycle *l, struct lifecycle_shuffle *shuffle, const struct celeborn_question *question,
                  int64_t now);
void slots_on_timer(struct lifecycle *l, struct lifecycle_shuffle *shuffle, int64_t now);

/* The location of a partition and an epoch; NULL: there is none. */
struct lifecycle_location *lifecycle_location_of(struct lifecycle_shuffle *shuffle, int32_t partition, int32_t epoch);

/* True while a location is queued or being reserved. */
bool location_is_pending(const struct lifecycle_location *at);

/* True if executors may write it. */
bool location_is_open(const struct lifecycle_location *at);

/* ------------------------------------------------------------------------------------------ lifecycle_commit.c */

void commit_begin(struct lifecycle *l, struct lifecycle_shuffle *shuffle, const int32_t *attempts, int64_t now);

/* The end of a CommitFiles. @reply NULL: there was none. */
void commit_on_answered(struct lifecycle *l, struct lifecycle_shuffle *shuffle, const struct lifecycle_request *request,
                        const Celeborn__CommitFilesResponse *reply, const char *why, int64_t now);

/* Answers the questions of a shuffle that can be answered. */
void answers_flush(struct lifecycle *l, struct lifecycle_shuffle *shuffle);

/* ----------------------------------------------------------------------------------------- lifecycle_journal.c */

/* Journals the newest locations of which executors may learn. */
void journal_locations(struct lifecycle *l, struct lifecycle_shuffle *shuffle);

/* The shuffle's maps have ended: durable before a worker learns it. */
void journal_committing(struct lifecycle *l, const struct lifecycle_shuffle *shuffle, const int32_t *attempts);
void journal_committed(struct lifecycle *l, const struct lifecycle_shuffle *shuffle);
/* It is dropped or lost. If maps may still write, it is durable before the master learns it: they would fail. */
void journal_gone(struct lifecycle *l, const struct lifecycle_shuffle *shuffle);
void journal_stopped(struct lifecycle *l);
