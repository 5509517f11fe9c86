/* Helpers of the micro benchmarks: a pinned thread, its CPU clock, random numbers, the best of several rounds. */
#pragma once

#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

static inline void bench_pin(void)
{
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(1, &one);
        if (sched_setaffinity(0, sizeof(one), &one) != 0)
                fputs("not pinned: there is no second processor\n", stderr);
}

static inline double bench_now(void)
{
        struct timespec t;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline uint64_t bench_random(uint64_t *state)
{
        uint64_t z = *state += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
}
