/*
 * When a framework subscribes with which master, and when it gives up: the pure core of mesos_scheduler.h. Events go
 * in, with the time; the action that is due comes out.
 *
 *      subscription_init(&s, seed, now);
 *      subscription_set_leader(&s, "10.0.0.7:5050", now);     ← master_detector
 *      subscription_answered(&s, &answer, now);               ← an answer that is not a stream
 *      subscription_subscribed(&s, 15, now);                  ← SUBSCRIBED
 *      subscription_received(&s, now);                        ← any event
 *      subscription_broken(&s, "…", now);                     ← the stream has ended
 *      while ((action = subscription_next(&s, now)) != SUBSCRIPTION_WAIT) …
 *      uv_timer_start(…, s.deadline - now)
 *
 * Behaviour, as Mesos's own library where the API allows it:
 *   - a broken stream, a master that is not ready (503) and an unreachable one are tried again, after 0.2 s doubling to
 *     10 s, each time with a random part taken off
 *   - a redirection is followed at once, up to MAX_REDIRECTIONS in a row
 *   - after MAX_LOST_HEARTBEATS intervals without an event the stream counts as dead
 *   - another leader is subscribed with at once. The old stream is closed first. While no master leads, the present one
 *     stays
 *   - an ERROR of the master and answers that do not change (400, 401, 403, 404 …) end the framework
 *
 * Invariant: at most one stream is open.
 *
 * Pure: opens nothing and reads no clock. Times are ns of any monotonic clock.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define SUBSCRIPTION_MAX_LOST_HEARTBEATS 5

enum subscription_action {
        SUBSCRIPTION_WAIT,      /* for an event or `deadline` (INT64_MAX: none) */
        SUBSCRIPTION_SUBSCRIBE, /* open a stream to the master at `target` */
        SUBSCRIPTION_CLOSE,     /* drop the stream: its end is not reported */
        SUBSCRIPTION_FAIL,      /* the framework has ended, for the reason in `failure`; once */
};

enum subscription_state {
        SUBSCRIPTION_NO_LEADER, /* waits for subscription_set_leader */
        SUBSCRIPTION_RESTING,   /* waits for `deadline` before it tries again */
        SUBSCRIPTION_READY,     /* SUBSCRIBE is the next action */
        SUBSCRIPTION_OPENING,   /* until SUBSCRIBED */
        SUBSCRIPTION_OPEN,      /* subscribed */
        SUBSCRIPTION_ENDED,
};

/* An HTTP answer to SUBSCRIBE other than the stream. Borrowed. */
struct subscription_answer {
        int status;
        const char *location;  /* of a redirection, or NULL */
        const char *text;      /* the body */
        const char *principal; /* that the framework names, or NULL; for messages */
        bool has_secret;       /* the request had a secret */
};

struct subscription {
        enum subscription_state state;
        char *leader; /* NULL: unknown */
        char *target; /* the master to subscribe with: the leader, or where it redirected to */
        int64_t deadline;
        int64_t heartbeat;          /* ns */
        uint64_t random;            /* state of a generator */
        int attempts, redirections; /* since the last success */
        bool close;                 /* CLOSE is due before anything else */
        bool reported;              /* FAIL was returned */
        char *failure;              /* ENDED: why */
        char *trouble;              /* why the last attempt failed, for the log; NULL: it did not */
};

void subscription_init(struct subscription *s, uint64_t seed);
void subscription_deinit(struct subscription *s);

/* The leader has changed: "host:port", copied, or NULL. */
void subscription_set_leader(struct subscription *s, const char *address, int64_t now);

void subscription_answered(struct subscription *s, const struct subscription_answer *answer, int64_t now);
void subscription_subscribed(struct subscription *s, double heartbeat_seconds, int64_t now);
void subscription_received(struct subscription *s, int64_t now);
void subscription_broken(struct subscription *s, const char *why, int64_t now);

/* The framework ends, because the master or the detector says so: FAIL is next, after CLOSE. */
void subscription_fail(struct subscription *s, const char *message);

/* The next action. Each is returned once. */
enum subscription_action subscription_next(struct subscription *s, int64_t now);
