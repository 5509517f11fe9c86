/*
 * Limits the number of concurrent creations by the results of earlier ones: the pace of pods_allocator.h.
 *
 *      struct create_window w;
 *      create_window_init(&w, &config);
 *      for (int n = create_window_room(&w, now); n > 0; n--) { create_window_sent(&w); … }
 *      create_window_answered(&w, CREATE_DONE, 0, now);
 *
 * Congestion control as in TCP. The window starts with `start` and doubles with each full window of successes. Above
 * half of the size that was too much it grows by one per window. It is halved when the server throttles (429, 503, or
 * 409 if two creations update a quota's counter). Then nothing is sent for Retry-After, or for a pause that doubles. An
 * exhausted quota or an unreachable server reduces the window to one and lengthens the pause. Permanent refusals are
 * retried `start` at a time with an even pause, as in Spark, until the application gives up.
 *
 * Pure: no clock, and randomness only from the seed (pauses vary by a quarter, so that applications do not
 * synchronize).
 */
#pragma once

#include "base/clock.h"

#include <stdbool.h>

enum create_outcome {
        CREATE_DONE,
        CREATE_SLOW_DOWN,    /* 429, 503, 409 conflict: not created, retry later */
        CREATE_UNKNOWN,      /* no response, or 500: possibly created */
        CREATE_QUOTA,        /* a quota of the namespace is exhausted */
        CREATE_REFUSED,      /* invalid or forbidden: a repetition fails again */
        CREATE_CLAIM_FAILED, /* the pod was created, but not one of its persistent volume claims */
};

struct create_window_config {
        int start;          /* the first window, at least 1 */
        int most;           /* the maximum, at least `start` */
        int64_t pause;      /* the first of the doubling pauses */
        int64_t long_pause; /* the first pause after an exhausted quota or an unreachable server */
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
        int threshold; /* above it, the window grows by one at a time */
        int in_flight; /* sent, not answered */
        int grown;     /* successes since the last growth, above the threshold */
        bool was_full; /* since the last change: the window limited creations */
        int settling;  /* responses still due from before the window was halved, which do not halve it again */
        int64_t held;  /* send nothing before this time; 0: no pause */
        int64_t pause; /* the last pause; 0: start with the first */
        bool quota;    /* held by a quota */
        uint64_t random;
};

void create_window_init(struct create_window *w, const struct create_window_config *config);

/* Returns how many creations may be sent now. */
int create_window_room(const struct create_window *w, int64_t now);
void create_window_sent(struct create_window *w);

/* Reports a response. @retry_after: the server's Retry-After; 0: none. */
void create_window_answered(struct create_window *w, enum create_outcome outcome, int64_t retry_after, int64_t now);

/* Reports a creation that the server throttled and that the client retries: no response yet, but too many in flight. */
void create_window_throttled(struct create_window *w);

/* Reports that a pod of the application ended, which may have made room in the quota. */
void create_window_freed(struct create_window *w, int64_t now);

/* Returns the end of the pause, or INT64_MAX without one. */
int64_t create_window_deadline(const struct create_window *w, int64_t now);
