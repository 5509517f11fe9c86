/* The monotonic clock, for measuring, and the wall clock. */
#pragma once

#include <stdint.h>
#include <time.h>

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

/* The wall clock, ms since 1970: for display and file dates, not for measuring. */
static inline int64_t time_of_day_ms(void)
{
        struct timespec t;
        clock_gettime(CLOCK_REALTIME, &t);
        return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}
