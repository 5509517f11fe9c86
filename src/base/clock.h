/* The clock that measures, which never goes back and is no time of day; and the time of day. */
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

/* The same in milliseconds. */
static inline int64_t now_ms(void)
{
        return now_ns() / 1000000;
}

/* The time of day, ms since 1970: for what is shown and for files' dates, not to measure. */
static inline int64_t time_of_day_ms(void)
{
        struct timespec t;
        clock_gettime(CLOCK_REALTIME, &t);
        return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}
