/*
 * Warns that no executor accepts tasks: every spark.starvation.timeout, from the first task set until the first task is
 * launched. The job keeps waiting.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct starvation {
        int64_t interval; /* ns */
        int64_t next;     /* time of the next warning; INT64_MAX: none */
        bool over;        /* a task was launched, or no task is needed */
};

void starvation_init(struct starvation *s, int64_t interval);

/* A task set is waiting. */
void starvation_submitted(struct starvation *s, int64_t now);

/* A task was launched. */
static inline void starvation_launched(struct starvation *s)
{
        s->over = true;
        s->next = INT64_MAX;
}

/* Warn if s->next has passed. */
void starvation_tick(struct starvation *s, int64_t now);
