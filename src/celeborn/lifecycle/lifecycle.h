/*
 * Celeborn's lifecycle manager: the driver's part of Apache Celeborn, as a pure core (docs/pure-cores.md).
 *
 *      lifecycle_begin(core, shuffle, maps, partitions, now);       a map stage starts: slots are requested and
 * reserved lifecycle_ask(core, asker, &question, now);                  an executor asks: locations, revives, files
 *      lifecycle_maps_ended(core, shuffle, attempts, now);          all maps have succeeded: workers commit their files
 *      lifecycle_drop(core, shuffle, now);                          not needed any more, or given up
 *      while (lifecycle_next_action(core, &action)) …               requests to masters and workers, answers to
 * executors lifecycle_reply(core, id, type, body, len, now);             the answer to a request, or
 *      lifecycle_failed(core, id, why, now);                        there will be none
 *      lifecycle_tick(core, now) at lifecycle_deadline(core);
 *
 * A shuffle here is Celeborn's. Its numbers are dense, and the caller gives a new one to each try of a map stage
 * (celeborn/protocol/celeborn_wire.h).
 *
 * Locations. A partition has one location for each epoch: a file at a primary and, replicated, at another worker.
 * Executors learn the newest. A revive makes a location with the next epoch, unless there is one already, so that many
 * executors that lose the same worker cause one change. Changes are collected for a short time and reserved with one
 * request to each worker. A worker that fails is excluded for a while. New locations are at workers that the master
 * named when the shuffle was registered (its candidates), or that it names later, when too few of these are usable.
 *
 * Commit. Each location that executors may know is committed. A copy is then committed, empty, or lost. A shuffle whose
 * primary and replica of one location are lost is lost as a whole.
 *
 * Requests. Each is repeated with the same bytes, thus the same request id or commit epoch, a limited number of times.
 * A request to the master goes to the next master after a failure, or to the leader that the failure names. A reply to
 * a request that was given up is ignored.
 */
#pragma once

#include "base/log.h"
#include "celeborn/protocol/celeborn_wire.h"

#include <stddef.h>

struct lifecycle;

struct lifecycle_master {
        char *host;
        int port;
};

struct celeborn_config {
        const char *app_id, *hostname, *tenant, *user, *tags; /* copied, as the masters */
        const struct lifecycle_master *masters;               /* at least one */
        int n_masters;
        uint64_t seed[2]; /* makes request ids unique */
        bool replicate, rack_aware;
        bool dynamic;            /* the master names workers for a shuffle also while it is open … */
        double dynamic_factor;   /* … if at least this share of those that it has is not usable */
        bool revise;             /* registers shuffles again that the master has lost */
        bool journaled;          /* a driver may resume the application: LIFECYCLE_JOURNAL */
        int64_t split_threshold; /* bytes of a file */
        int split_mode;          /* enum celeborn_split_mode */
        int max_workers;
        int storage_types;       /* CELEBORN_STORAGE_…; 0: any */
        int64_t push_timeout_ms; /* that workers use for replicas */
        int64_t heartbeat, revive_interval, excluded_timeout;
        int64_t master_timeout, reserve_timeout, commit_timeout; /* of one try */
        int64_t master_wait, register_wait, commit_wait;         /* before the next one */
        int master_retries, register_retries, reserve_retries, commit_retries;
        int64_t stop_timeout;
};

enum lifecycle_action_kind {
        LIFECYCLE_SEND,   /* to a master's or worker's RPC port; answered by lifecycle_reply or lifecycle_failed */
        LIFECYCLE_ANSWER, /* to an executor */
        LIFECYCLE_LOG,
        LIFECYCLE_JOURNAL, /* append the record; if strict, go on when it is durable */
        LIFECYCLE_STOPPED, /* the master knows that the application ended, or does not answer */
};

struct lifecycle_action {
        enum lifecycle_action_kind kind;
        union {
                struct {
                        uint64_t id;
                        bool master; /* else a worker */
                        char *host;
                        int port;
                        int type; /* enum celeborn_message_type */
                        uint8_t *body;
                        size_t len;
                } send;
                struct {
                        void *asker;
                        struct celeborn_answer answer;
                } answer;
                struct {
                        enum log_level level;
                        char *line;
                } log;
                struct {
                        struct buf record; /* lifecycle_journal.h */
                        bool strict;
                } journal;
        };
};

void lifecycle_action_deinit(struct lifecycle_action *action);

/* Copies @config deeply. Sends the first heartbeat, which makes the application known. Never NULL. */
struct lifecycle *lifecycle_new(const struct celeborn_config *config, int64_t now);

/* Pending questions get no answer. NULL is allowed. */
void lifecycle_free(struct lifecycle *l);

/* Moves the oldest action to *@action, which the caller deinits. Returns false if there is none. */
bool lifecycle_next_action(struct lifecycle *l, struct lifecycle_action *action);

/* The time of the next lifecycle_tick; INT64_MAX: never. */
int64_t lifecycle_deadline(const struct lifecycle *l);
void lifecycle_tick(struct lifecycle *l, int64_t now);

/* A map stage with @maps maps writes @partitions partitions to @shuffle, which is new. */
void lifecycle_begin(struct lifecycle *l, int32_t shuffle, int maps, int partitions, int64_t now);

/* All maps have succeeded, with @attempts, one for each map. Later calls for the same shuffle have no effect. */
void lifecycle_maps_ended(struct lifecycle *l, int32_t shuffle, const int32_t *attempts, int64_t now);

/* Unregisters a shuffle. Its questions are answered with CELEBORN_SHUFFLE_UNREGISTERED. */
void lifecycle_drop(struct lifecycle *l, int32_t shuffle, int64_t now);

/* Takes the question's content. One LIFECYCLE_ANSWER for @asker follows, at once or later. */
void lifecycle_ask(struct lifecycle *l, void *asker, struct celeborn_question *question, int64_t now);

/* The answer to a request: a message of celeborn.proto, untrusted. */
void lifecycle_reply(struct lifecycle *l, uint64_t request, int type, const uint8_t *body, size_t len, int64_t now);

/* A request failed: no connection, or an exception with the text @why. */
void lifecycle_failed(struct lifecycle *l, uint64_t request, const char *why, int64_t now);

/* The connection to a master has ended: the next heartbeat is sent soon. A master that starts again without its state
 * learns from it which shuffles there are, if possible before workers ask which of their files are needed. */
void lifecycle_master_disconnected(struct lifecycle *l, int64_t now);

/* Announces the end of the application, which drops all shuffles. LIFECYCLE_STOPPED follows within config.stop_timeout.
 * If no master has ever answered, each is tried at once: LIFECYCLE_STOPPED follows when all connections are refused. */
void lifecycle_stop(struct lifecycle *l, int64_t now);

/* For tests: the number of requests without an answer. */
int lifecycle_requests(const struct lifecycle *l);
