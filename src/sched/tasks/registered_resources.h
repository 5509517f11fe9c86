/* Decides whether enough executors have registered to start the first task:
 * spark.scheduler.minRegisteredResourcesRatio and spark.scheduler.maxRegisteredResourcesWaitingTime. Until then the
 * driver does not call sched_revive.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct registered_resources {
        double ratio;
        int64_t until; /* after this time any number is enough */
        bool ready;    /* stays true */
};

static inline void registered_resources_init(struct registered_resources *r, double ratio, int64_t waiting_time,
                                             int64_t now)
{
        r->ratio = ratio < 1.0 ? ratio : 1.0;
        r->until = waiting_time > INT64_MAX - now ? INT64_MAX : now + waiting_time;
        r->ready = r->ratio <= 0;
}

/* @registered of @expected cores (or executors) have registered; @expected ≤ 0: unknown. */
static inline bool registered_resources_ready(struct registered_resources *r, int64_t registered, int64_t expected,
                                              int64_t now)
{
        if (!r->ready)
                r->ready = (double)registered >= (double)expected * r->ratio || now >= r->until;
        return r->ready;
}

/* When the result of registered_resources_ready may change without events; INT64_MAX: never. */
static inline int64_t registered_resources_deadline(const struct registered_resources *r)
{
        return r->ready ? INT64_MAX : r->until;
}
