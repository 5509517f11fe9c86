/* The tasks of a set that wait for a core.
 *
 * First attempts are a range that is walked once. Retries are a stack that comes first. A listed task may need no
 * attempt any more (another one succeeded): the taker checks.
 */
#pragma once

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct pending_tasks {
        int32_t next, n;      /* first attempts that were not taken yet */
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

/* @index must run again. */
static inline void pending_tasks_retry(struct pending_tasks *p, int32_t index)
{
        vec_push(&p->retries, index);
}

/* Takes a retry (then *@retry is true) or the next first attempt; -1 if there is none. */
static inline int32_t pending_tasks_take(struct pending_tasks *p, bool *retry)
{
        *retry = p->retries.len > 0;
        if (*retry)
                return p->retries.data[--p->retries.len];
        return p->next < p->n ? p->next++ : -1;
}
