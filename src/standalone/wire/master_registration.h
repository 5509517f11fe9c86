/*
 * How a worker or an application comes to a master and stays with it: which master to reach when, which one leads, and
 * when to give up. Pure, as the master's core: events and the time come in, operations come out.
 *
 *      away        nobody is connected to it; it is tried again after a pause, which grows
 *      reaching    it is being connected to
 *      reached     connected and registering_role: it stands by, or has not answered yet
 *      leading     it has taken us: one at most
 *
 * Each master is tried quickly at first (0.1 s, 0.2 s, 0.4 s, …), then in the intervals of Spark's schedule: `quick`
 * attempts some 10 s apart, then 60 s, each stretched by one random factor between 0.5 and 1.5 so that ten thousand
 * workers do not come at once. As long as no master leads, those attempts are counted, and after `most` of them it
 * gives up; whoever is connected is registering_role again at each, because a master may have become leader without
 * knowing us. With a leader, others are tried for ever.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct registration;

struct registration_config {
        int masters;
        int quick, most; /* attempts: spark.worker.initialRegistrationRetries, .maxRegistrationRetries */
        int64_t short_pause, long_pause; /* ms between them: Spark's are 10 s and 60 s */
        double stretch;                  /* 0.5 … 1.5 */
};

struct registration_ops {
        void (*reach)(void *owner, int master);     /* connect → registration_reached, _unreachable or _lost */
        void (*introduce)(void *owner, int master); /* say who we are, over the connection that there is */
        void (*retrying)(void *owner, int attempt); /* for the log */
        void (*give_up)(void *owner);
};

/* @ops and @owner are borrowed. No operation is called before registration_start. */
struct registration *registration_new(const struct registration_config *config, const struct registration_ops *ops,
                                      void *owner);
void registration_free(struct registration *r);

/* Reach all masters. */
void registration_start(struct registration *r, int64_t now);

/* Connected → introduce. */
void registration_reached(struct registration *r, int master, int64_t now);

/* It could not be connected to, or the connection is gone. */
void registration_unreachable(struct registration *r, int master, int64_t now);

/* It has taken us, or says that it leads. Whoever led does so no longer. */
void registration_taken(struct registration *r, int master);

/* It does not know us, or leads no longer: introduce, as if newly started. */
void registration_again(struct registration *r, int64_t now);

/* Who leads; -1: nobody. */
int registration_leader(const struct registration *r);

/* When registration_tick has something to do; INT64_MAX: never. */
int64_t registration_deadline(const struct registration *r);
void registration_tick(struct registration *r, int64_t now);
