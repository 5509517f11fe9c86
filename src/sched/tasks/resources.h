/*
 * Custom resources of one executor ("gpu"): its addresses and how much of each is free. For this room only.
 *
 * A task that asks for whole addresses gets such that nobody uses; one that asks for a part shares one address with
 * others, the first on which so much is free.
 */
#pragma once

#include "sched/sched.h"

enum { RESOURCE_MAX_ADDRESSES = 64 }; /* of one resource on one executor, and so for one task */

struct resource_pool {
        int n;
        char **addresses;
        int64_t *free; /* by address, in parts of RESOURCE_ONE */
};

/* What a run holds of one resource. */
struct resource_share {
        int n;
        int64_t amount;                            /* of each address */
        uint8_t at[RESOURCE_MAX_ADDRESSES];        /* indexes of addresses */
        const char *names[RESOURCE_MAX_ADDRESSES]; /* for the launch */
};

void resource_pool_init(struct resource_pool *pool, const struct executor_resource *resource);
void resource_pool_deinit(struct resource_pool *pool);

/* How many tasks that ask for @amount the addresses can serve at a time. */
int resource_pool_slots(const struct resource_pool *pool, int64_t amount);

/* Whether a task that asks for @amount could be served now. */
bool resource_pool_fits(const struct resource_pool *pool, int64_t amount);

/* Take it; it must fit. */
void resource_pool_take(struct resource_pool *pool, int64_t amount, struct resource_share *share);
void resource_pool_give(struct resource_pool *pool, const struct resource_share *share);
