/*
 * Celeborn in a simulation: its servers, what executors know of locations, and the driver's attempts at shuffles.
 * Internal to simulator_celeborn.c and simulator_celeborn_drivers.c.
 */
#pragma once

#include "sched/simulator/simulation.h"

#include "celeborn/lifecycle/lifecycle.h"

struct celeborn_worker_state {
        bool dead;
        int64_t died_at;
};

/* A file at one worker or, replicated, two. */
struct celeborn_place {
        int32_t partition, epoch;
        int32_t worker[2]; /* by enum celeborn_mode; -1: none */
        int32_t previous;  /* place of the partition with a lower epoch; -1: none */
        bool pushed;       /* it has data */
        bool committed[2];
        bool named;          /* to readers, with … */
        int32_t readable[2]; /* … these workers */
};

struct celeborn_waiter {
        int32_t run;
        uint32_t generation;
};

/* An attempt to write a shuffle; its index is Celeborn's number of it. */
struct celeborn_attempt {
        int32_t shuffle, maps, partitions;
        bool ended, dropped;
        bool asked[CELEBORN_ASK_FILES + 1]; /* by question: there is no answer yet */
        bool located, readable, lost;
        bool revived_late; /* locations were asked for when its maps ended: tasks do not know all */
        int revives;       /* in a row that did not help */
        VEC(struct celeborn_place) places;
        int32_t *newest;    /* by partition: the place that tasks push to; -1: none */
        size_t fresh;       /* places from here on have no data */
        size_t deaths_seen; /* deaths since which all places that count had a living worker */
        VEC(struct celeborn_waiter) waiters;
        int64_t *written_by; /* by map: the task whose batches count; NULL: the maps have not ended */
};

/* A message that is on its way. */
struct celeborn_packet {
        uint64_t id;
        bool reply;
        int worker; /* -1: the master */
        int type;
        uint8_t *body;
        size_t len;
        const char *failure; /* of a reply; NULL: none */
};

/* The newest attempt at a shuffle. */
struct celeborn_newest {
        int32_t attempt; /* -1: none */
        bool earlier;    /* of an earlier driver, … */
        bool adopted;    /* … of which outputs count */
};

struct sim_celeborn {
        struct lifecycle *core;
        VEC(struct celeborn_worker_state) workers;
        VEC(struct celeborn_attempt *) attempts;
        VEC(struct celeborn_newest) newest; /* by shuffle */
        size_t deaths;
        int waiting; /* tasks */
        int64_t life_ns;
        int64_t ms;   /* ns: a millisecond, or in a random world a thousandth of a task */
        int64_t left; /* when its driver died */
};

/* The newest attempt at a shuffle, which is added. */
struct celeborn_newest *celeborn_newest_of(struct sim_celeborn *c, int shuffle);

/* Performs the actions of the lifecycle manager. */
void celeborn_perform(struct sim *sim);

/* A request reaches its server, even if its driver has died. */
void celeborn_serve(struct sim *sim, const struct celeborn_packet *packet);
void celeborn_packet_free(struct celeborn_packet *packet);

/* A worker that lives will die. */
void celeborn_plan_death(struct sim *sim, int worker);

/* Frees all but the lifecycle manager, which NULL marks. */
void sim_celeborn_release(struct sim_celeborn *c);

/* ------------------------------------------------------------------------------- simulator_celeborn_drivers.c */

/* Appends a record of the lifecycle manager to the journal, if there is one. @strict: it is durable. Steals @record. */
void celeborn_journal(struct sim *sim, struct buf *record, bool strict);

/* The servers that the earlier driver has left, or new ones. */
struct sim_celeborn *celeborn_take_servers(struct sim *sim);

/* The driver dies: requests that are on their way reach servers, or are lost. The journal gets the servers. */
void celeborn_leave_servers(struct sim *sim);
