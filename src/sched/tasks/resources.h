/* Custom resources of one executor ("gpu"): its addresses and the free fraction of each. Internal to this room.
 *
 * A task that requests whole addresses gets unused ones. One that requests a fraction shares an address with others:
 * the first with enough left.
 */
#pragma once

#include "sched/sched.h"

enum { RESOURCE_MAX_ADDRESSES = 64 }; /* of one resource on one executor, and so for one task */

struct resource_pool {
        int name; /* number of the resource's name */
        int n;
        char **addresses;
        int64_t *free; /* by address, in parts of RESOURCE_ONE */
};

/* A run's share of one resource. */
struct resource_share {
        int n;
        int64_t amount;                            /* of each address */
        uint8_t at[RESOURCE_MAX_ADDRESSES];        /* indexes of addresses */
        const char *names[RESOURCE_MAX_ADDRESSES]; /* for the launch */
};

void resource_pool_init(struct resource_pool *pool, int name, const struct executor_resource *resource);
void resource_pool_deinit(struct resource_pool *pool);

/* The number of tasks that request @amount and fit at once. */
int resource_pool_slots(const struct resource_pool *pool, int64_t amount);

/* The number of tasks that request @amount and fit beside those that hold addresses now. */
int resource_pool_room(const struct resource_pool *pool, int64_t amount);

/* Returns true if @amount is available now. */
bool resource_pool_fits(const struct resource_pool *pool, int64_t amount);

/* Takes @amount, which must fit. */
void resource_pool_take(struct resource_pool *pool, int64_t amount, struct resource_share *share);
void resource_pool_give(struct resource_pool *pool, const struct resource_share *share);
