/*
 * How many creations may be under way at a time, by what became of the others: the pace of pods_allocator.h.
 *
 *      struct create_window w;
 *      create_window_init(&w, &config);
 *      for (int n = create_window_room(&w, now); n > 0; n--) { create_window_sent(&w); … }
 *      create_window_answered(&w, CREATE_DONE, 0, now);
 *
 * As TCP: the window begins with `start`, doubles with each windowful of creations that succeed, from half of what was
 * too much it grows by one with each, and is halved when the server says that it is too much (429, 503, or 409 of two
 * that count the same quota at once); then nothing is sent for as long as the server asks, or a pause that doubles. A
 * quota that is used up or a server that cannot be reached leaves a window of one and a longer pause; what the server
 * refuses for good is tried `start` at a time with an even pause, as Spark does, until somebody gives up.
 *
 * Pure: no clock, no randomness but the seed's (pauses vary by a quarter, so that applications do not knock together).
 */
#pragma once

#include "base/clock.h"

#include <stdbool.h>

enum create_outcome {
        CREATE_DONE,
        CREATE_SLOW_DOWN,    /* 429, 503, 409 conflict: nothing was created, come back later */
        CREATE_UNKNOWN,      /* no answer, or 500: it may have been created */
        CREATE_QUOTA,        /* a quota of the namespace is used up */
        CREATE_REFUSED,      /* wrong, or not allowed: the same again will be refused again */
        CREATE_CLAIM_FAILED, /* the pod was created, one of its persistent volume claims was not */
};

struct create_window_config {
        int start;          /* the first window: at least 1 */
        int most;           /* it never grows above; at least `start` */
        int64_t pause;      /* the first of those that double */
        int64_t long_pause; /* where quota and unreachable servers begin */
        int64_t most_pause;
        uint64_t seed;
};

#define CREATE_WINDOW_DEFAULT                                                                                          \
        ((struct create_window_config){.start = 20,                                                                    \
                                       .most = 128,                                                                    \
                                       .pause = 100 * NS_PER_MS,                                                       \
                                       .long_pause = NS_PER_SECOND,                                                    \
                                       .most_pause = 30 * NS_PER_SECOND,                                               \
                                       .seed = 1})

struct create_window {
        struct create_window_config config;
        int size;      /* of the window */
        int threshold; /* above, it grows by one at a time */
        int in_flight; /* sent, not answered */
        int grown;     /* successes since it grew last, above the threshold */
        bool was_full; /* since it changed last: it is what held creations back */
        int settling;  /* answers to what was sent before it was halved: they do not halve it again */
        int64_t held;  /* nothing is sent before; 0: no pause */
        int64_t pause; /* the last one; 0: the next is the first */
        bool quota;    /* held because of it */
        uint64_t random;
};

void create_window_init(struct create_window *w, const struct create_window_config *config);

/* How many may be sent now. */
int create_window_room(const struct create_window *w, int64_t now);
void create_window_sent(struct create_window *w);

/* One was answered. @retry_after: how long the server asked to wait; 0: it did not say. */
void create_window_answered(struct create_window *w, enum create_outcome outcome, int64_t retry_after, int64_t now);

/* The server has throttled one that it took in the end: it is not answered yet, but there are too many of them. */
void create_window_throttled(struct create_window *w);

/* Something of the application's ended: if a quota is what holds it, there may be room now. */
void create_window_freed(struct create_window *w, int64_t now);

/* When a pause ends; INT64_MAX: there is none. */
int64_t create_window_deadline(const struct create_window *w, int64_t now);
