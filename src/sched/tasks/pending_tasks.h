/*
 * The tasks of a set that wait for a core.
 *
 * First attempts are a range that is walked once; what has to run again lies on a stack before it. A task may
 * be listed although it needs no attempt any more (another one succeeded): the taker looks.
 */
#pragma once

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct pending_tasks {
        int32_t next, n;      /* first attempts not yet taken */
        VEC(int32_t) retries; /* newest last */
};

static inline void pending_tasks_init(struct pending_tasks *p, int32_t n)
{
        *p = (struct pending_tasks){.n = n};
}

static inline void pending_tasks_deinit(struct pending_tasks *p)
{
        vec_deinit(&p->retries);
}

/* @index has to run again. */
static inline void pending_tasks_retry(struct pending_tasks *p, int32_t index)
{
        vec_push(&p->retries, index);
}

/* Take one: a retry (then *@retry is true) or the next first attempt; -1 if there is none. */
static inline int32_t pending_tasks_take(struct pending_tasks *p, bool *retry)
{
        *retry = p->retries.len > 0;
        if (*retry)
                return p->retries.data[--p->retries.len];
        return p->next < p->n ? p->next++ : -1;
}
