/*
 * The warning that no executor takes any task: from the first task set on, each spark.starvation.timeout, until the
 * first task is launched. It tells the user why nothing happens; the job waits on.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct starvation {
        int64_t interval; /* ns */
        int64_t next;     /* the next warning; INT64_MAX: none is due */
        bool over;        /* tasks run, or need none */
};

void starvation_init(struct starvation *s, int64_t interval);

/* Tasks wait. */
void starvation_submitted(struct starvation *s, int64_t now);

/* One was launched. */
static inline void starvation_launched(struct starvation *s)
{
        s->over = true;
        s->next = INT64_MAX;
}

/* Warn if it is time: to be called at s->next. */
void starvation_tick(struct starvation *s, int64_t now);
