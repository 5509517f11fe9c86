/*
 * See profile.h. Spark's ResourceProfileManager.canBeScheduled and ResourceProfile.maxTasksPerExecutor.
 *
 * An executor has a pool for each custom resource that it registered with, whatever profiles exist, so that tasks of
 * several profiles share its addresses.
 */
#include "sched/tasks/profile.h"

#include "base/mem.h"

struct sched_profile *sched_profile_new(const struct task_profile *from, struct name_index *resource_names)
{
        struct sched_profile *p = new0(struct sched_profile);
        bool added;

        p->id = from->id;
        p->cpus = MAX(from->cpus, 1);
        p->any_executor = from->any_executor;
        p->n_needs = from->n_requests;
        p->needs = new_array(struct profile_need, (size_t)MAX(p->n_needs, 1));
        for (int i = 0; i < p->n_needs; i++)
                p->needs[i] = (struct profile_need){name_index_add(resource_names, from->requests[i].name, &added),
                                                    from->requests[i].amount};
        return p;
}

void sched_profile_free(struct sched_profile *p)
{
        if (!p)
                return;
        free(p->needs);
        free(p);
}

static struct resource_pool *profile_pool(const struct sched_executor *e, int resource)
{
        for (int i = 0; i < e->n_resources; i++)
                if (e->resources[i].name == resource)
                        return &e->resources[i];
        return NULL;
}

int sched_profile_slots_on(const struct sched_profile *p, const struct sched_executor *e)
{
        int slots = sched_profile_runs_on(p, e) ? e->cores / p->cpus : 0;

        for (int i = 0; i < p->n_needs && slots > 0; i++) {
                const struct resource_pool *pool = profile_pool(e, p->needs[i].resource);

                slots = MIN(slots, pool ? resource_pool_slots(pool, p->needs[i].amount) : 0);
        }
        return slots;
}

int sched_profile_room_on(const struct sched_profile *p, const struct sched_executor *e)
{
        int room = sched_profile_runs_on(p, e) ? e->free / p->cpus : 0;

        for (int i = 0; i < p->n_needs && room > 0; i++) {
                const struct resource_pool *pool = profile_pool(e, p->needs[i].resource);

                room = MIN(room, pool ? resource_pool_room(pool, p->needs[i].amount) : 0);
        }
        return room;
}

bool sched_profile_fits(const struct sched_profile *p, const struct sched_executor *e)
{
        if (!sched_profile_runs_on(p, e) || e->free < p->cpus)
                return false;
        for (int i = 0; i < p->n_needs; i++) {
                const struct resource_pool *pool = profile_pool(e, p->needs[i].resource);

                if (!pool || !resource_pool_fits(pool, p->needs[i].amount))
                        return false;
        }
        return true;
}

void sched_profile_take(const struct sched_profile *p, struct sched_executor *e, struct resource_share *shares)
{
        e->free -= p->cpus;
        for (int i = 0; i < p->n_needs; i++)
                resource_pool_take(profile_pool(e, p->needs[i].resource), p->needs[i].amount, &shares[i]);
}

void sched_profile_give(const struct sched_profile *p, struct sched_executor *e, const struct resource_share *shares)
{
        if (!e->lent)
                e->free += p->cpus;
        for (int i = 0; i < p->n_needs; i++)
                resource_pool_give(profile_pool(e, p->needs[i].resource), &shares[i]);
}
