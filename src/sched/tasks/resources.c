/*
 * Spark 4's ExecutorResourcesAmounts: amounts are integers in parts of RESOURCE_ONE, so that ten tenths are one.
 * Invariant: free[i] lies between 0 and RESOURCE_ONE. The amounts of an address that batches hold, and its free amount,
 * add up to one.
 */
#include "sched/tasks/resources.h"

#include "base/mem.h"

void resource_pool_init(struct resource_pool *pool, int name, const struct executor_resource *resource)
{
        *pool = (struct resource_pool){.name = name};
        pool->n = MIN(resource->n, RESOURCE_MAX_ADDRESSES);
        pool->addresses = new_array(char *, (size_t)MAX(pool->n, 1));
        pool->free = new_array(int64_t, (size_t)MAX(pool->n, 1));
        for (int i = 0; i < pool->n; i++) {
                pool->addresses[i] = mem_strdup(resource->addresses[i]);
                pool->free[i] = RESOURCE_ONE;
        }
}

void resource_pool_deinit(struct resource_pool *pool)
{
        for (int i = 0; i < pool->n; i++)
                free(pool->addresses[i]);
        free(pool->addresses);
        free(pool->free);
        *pool = (struct resource_pool){0};
}

int resource_pool_slots(const struct resource_pool *pool, int64_t amount)
{
        if (amount >= RESOURCE_ONE)
                return (int)(pool->n / (amount / RESOURCE_ONE));
        return (int)(pool->n * (RESOURCE_ONE / amount));
}

int resource_pool_room(const struct resource_pool *pool, int64_t amount)
{
        int64_t whole = 0, parts = 0;

        for (int i = 0; i < pool->n; i++) {
                whole += pool->free[i] == RESOURCE_ONE;
                parts += pool->free[i] / amount;
        }
        return (int)(amount >= RESOURCE_ONE ? whole / (amount / RESOURCE_ONE) : parts);
}

bool resource_pool_fits(const struct resource_pool *pool, int64_t amount)
{
        int64_t whole = 0;

        for (int i = 0; i < pool->n; i++) {
                if (amount < RESOURCE_ONE && pool->free[i] >= amount)
                        return true;
                whole += pool->free[i] == RESOURCE_ONE;
        }
        return amount >= RESOURCE_ONE && whole >= amount / RESOURCE_ONE;
}

void resource_pool_take(struct resource_pool *pool, int64_t amount, struct resource_share *share)
{
        int wanted = amount < RESOURCE_ONE ? 1 : (int)(amount / RESOURCE_ONE);

        share->n = 0;
        share->amount = MIN(amount, RESOURCE_ONE);
        for (int i = 0; i < pool->n && share->n < wanted; i++) {
                if (pool->free[i] < share->amount)
                        continue;
                pool->free[i] -= share->amount;
                share->at[share->n] = (uint8_t)i;
                share->names[share->n++] = pool->addresses[i];
        }
}

void resource_pool_give(struct resource_pool *pool, const struct resource_share *share)
{
        for (int i = 0; i < share->n; i++)
                pool->free[share->at[i]] += share->amount;
}
