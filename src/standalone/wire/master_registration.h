/* Registration of a worker or application with its masters: which master to connect to when, which one leads, and
 * when to give up. Pure (docs/pure-cores.md): events and the time come in, actions come out.
 *
 *      away        not connected; tried again after a growing pause
 *      reaching    connecting
 *      reached     connected and introduced: a standby, or no answer yet
 *      leading     it has accepted the registration; at most one
 *
 * Times are nanoseconds.
 *
 * Each master is tried quickly at first (0.1 s, 0.2 s, 0.4 s, …), then in the intervals of Spark's schedule: `quick`
 * attempts about 10 s apart, then 60 s, each multiplied by one random factor between 0.5 and 1.5 so that ten thousand
 * workers do not connect at once. While no master leads, these attempts are counted, and after `most` of them
 * registration gives up. At each attempt it introduces itself again to connected masters, because one may have become
 * leader without knowing this peer. With a leader, it tries the other masters forever.
 */
#pragma once

#include "base/clock.h"

struct registration;

struct registration_config {
        int masters;
        int quick, most; /* attempts: spark.worker.initialRegistrationRetries, .maxRegistrationRetries */
        int64_t short_pause, long_pause; /* between them: Spark's are 10 s and 60 s */
        double stretch;                  /* 0.5 … 1.5 */
};

enum registration_action_kind {
        REGISTRATION_REACH,     /* number: connect to this master → registration_reached or _unreachable */
        REGISTRATION_INTRODUCE, /* number: send the registration to this master over the existing connection */
        REGISTRATION_RETRYING,  /* number: of the attempt, for the log */
        REGISTRATION_GIVE_UP,
};

struct registration_action {
        enum registration_action_kind kind;
        int number;
};

/* There are no actions before registration_start, and none after REGISTRATION_GIVE_UP. */
struct registration *registration_new(const struct registration_config *config);

/* Drops actions that are still queued. NULL is allowed. */
void registration_free(struct registration *r);

/* Takes the oldest action out; NULL: the queue is empty. Borrowed until the next call. */
const struct registration_action *registration_next_action(struct registration *r);

/* Connects to all masters. */
void registration_start(struct registration *r, int64_t now);

/* Connected → introduce. */
void registration_reached(struct registration *r, int master, int64_t now);

/* The connection failed or was closed. */
void registration_unreachable(struct registration *r, int master, int64_t now);

/* The master accepted the registration, or announced that it leads. The previous leader no longer does. */
void registration_taken(struct registration *r, int master);

/* The master does not know this peer, or no longer leads: introduce again. */
void registration_again(struct registration *r, int64_t now);

/* Returns the leader's index; -1: none. */
int registration_leader(const struct registration *r);

/* Time of the next registration_tick; INT64_MAX: never. */
int64_t registration_deadline(const struct registration *r);
void registration_tick(struct registration *r, int64_t now);
