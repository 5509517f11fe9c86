/* The monotonic clock and the time of day.
 *
 * A time or duration without a unit in its name is an int64_t number of nanoseconds. Pure cores (docs/pure-cores.md)
 * use no other unit: settings are converted when they are read, deadlines when a timer is set. Numbers in another unit
 * carry it in their names (timeout_ms). A time of day is in ms since 1970.
 */
#pragma once

#include <pthread.h>
#include <stdint.h>
#include <time.h>

#define NS_PER_MS INT64_C(1000000)
#define NS_PER_SECOND INT64_C(1000000000)

/* Returns @ms in nanoseconds, limited to 146 years, so that the sum with a value of a clock does not overflow. */
static inline int64_t ms_to_ns(int64_t ms)
{
        const int64_t limit = INT64_MAX / 2 / NS_PER_MS;
        return (ms > limit ? limit : ms < -limit ? -limit : ms) * NS_PER_MS;
}

/* Returns the ms from @now to @deadline, rounded up, for a timer; 0 if it has passed. */
static inline uint64_t ms_until(int64_t deadline, int64_t now)
{
        return deadline <= now ? 0 : ((uint64_t)deadline - (uint64_t)now - 1) / NS_PER_MS + 1;
}

/* Returns a time of a clock, or a duration, of @ns ≥ 0 for functions of the C library. */
static inline struct timespec timespec_of_ns(int64_t ns)
{
        return (struct timespec){.tv_sec = ns / NS_PER_SECOND, .tv_nsec = ns % NS_PER_SECOND};
}

/* Initializes @cond, whose timed waits end by the clock of now_ns. */
static inline void cond_init_monotonic(pthread_cond_t *cond)
{
        pthread_condattr_t monotonic;
        pthread_condattr_init(&monotonic);
        pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
        pthread_cond_init(cond, &monotonic);
        pthread_condattr_destroy(&monotonic);
}

/* CLOCK_MONOTONIC, in nanoseconds. */
static inline int64_t now_ns(void)
{
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* CLOCK_MONOTONIC, in milliseconds. */
static inline int64_t now_ms(void)
{
        return now_ns() / 1000000;
}

/* The CPU time of this thread, in nanoseconds. */
static inline int64_t thread_cpu_ns(void)
{
        struct timespec t;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The wall clock, ms since 1970: for display and file dates, not for measuring. */
static inline int64_t time_of_day_ms(void)
{
        struct timespec t;
        clock_gettime(CLOCK_REALTIME, &t);
        return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}
