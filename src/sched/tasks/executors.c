/*
 * A table of executors by index. Hosts, racks and ids have numbers, so that each query of an offer is an array access.
 *
 * The queue has the order in which executors got a free core. Entries have ascending numbers: a task set that found no
 * task for the executors up to some number checks only those after it.
 *
 * Invariants: an executor is queued if and only if it is alive, enabled, not decommissioned and has the cores for a
 * task of some profile (profile and resources are checked later). A profile's slots are the sum over all usable
 * executors.
 */
#include "sched/tasks/executors.h"

#include "sched/tasks/profile.h"
#include "sched/tasks/task_set.h"

#include <errno.h>
#include <limits.h>

/* ------------------------------------------------------------------------------------------------------ names */

static uint64_t hash_name(const char *name)
{
        uint64_t h = 14695981039346656037u;

        for (; *name; name++)
                h = (h ^ (unsigned char)*name) * 1099511628211u;
        return h ^ (h >> 29);
}

static size_t name_slot(const struct name_index *x, const char *name)
{
        size_t i = hash_name(name) & (x->n_slots - 1);

        while (x->slots[i] && strcmp(x->names.data[x->slots[i] - 1], name) != 0)
                i = (i + 1) & (x->n_slots - 1);
        return i;
}

int name_index_find(const struct name_index *x, const char *name)
{
        return x->n_slots == 0 ? -1 : x->slots[name_slot(x, name)] - 1;
}

int name_index_add(struct name_index *x, const char *name, bool *added)
{
        if (2 * (x->names.len + 1) > x->n_slots) {
                x->n_slots = x->n_slots ? 2 * x->n_slots : 16;
                free(x->slots);
                x->slots = new_array(int32_t, x->n_slots);
                for (size_t i = 0; i < x->names.len; i++)
                        x->slots[name_slot(x, x->names.data[i])] = (int32_t)i + 1;
        }
        size_t slot = name_slot(x, name);

        *added = !x->slots[slot];
        if (*added) {
                vec_push(&x->names, mem_strdup(name));
                x->slots[slot] = (int32_t)x->names.len;
        }
        return x->slots[slot] - 1;
}

void name_index_deinit(struct name_index *x)
{
        for (size_t i = 0; i < x->names.len; i++)
                free(x->names.data[i]);
        vec_deinit(&x->names);
        free(x->slots);
        *x = (struct name_index){0};
}

/* -------------------------------------------------------------------------------------------------- the queue */

void executors_unqueue(struct executors *x, int index)
{
        struct sched_executor *e = executors_at(x, index);

        if (!e->queued)
                return;
        for (size_t i = 0; i < x->cursors.len && e->cursors > 0; i++) {
                struct task_set *set = x->cursors.data[i];

                if (set->cursor != index)
                        continue;
                set->cursor = e->next;
                e->cursors--;
                if (e->next >= 0)
                        executors_at(x, e->next)->cursors++;
        }
        e->queued = false;
        *(e->prev >= 0 ? &executors_at(x, e->prev)->next : &x->first) = e->next;
        *(e->next >= 0 ? &executors_at(x, e->next)->prev : &x->last) = e->prev;
}

static bool executors_is_usable(const struct executors *x, const struct sched_executor *e)
{
        return e->alive && e->enabled && !e->decommissioned && !e->excluded && !x->hosts.data[e->host].excluded;
}

bool executors_usable(const struct executors *x, int index)
{
        return executors_is_usable(x, &x->at.data[index]);
}

void executors_queue(struct executors *x, int index)
{
        struct sched_executor *e = executors_at(x, index);

        executors_unqueue(x, index);
        if (!executors_is_usable(x, e) || e->free < x->min_cpus)
                return;
        e->queued = true;
        e->seq = ++x->next_seq;
        e->prev = x->last;
        e->next = -1;
        *(e->prev >= 0 ? &executors_at(x, e->prev)->next : &x->first) = index;
        x->last = index;
}

void executors_lend(struct executors *x, int executor, int cores)
{
        struct sched_executor *e = executors_at(x, executor);

        e->lent = true;
        e->free = cores;
        executors_queue(x, executor);
}

/* ------------------------------------------------------------------------------------------------------- life */

void executors_init(struct executors *x, const struct task_profile *profile)
{
        *x = (struct executors){.first = -1, .last = -1, .min_cpus = INT_MAX};
        executors_add_profile(x, profile);
}

void executors_deinit(struct executors *x)
{
        for (size_t i = 0; i < x->at.len; i++) {
                struct sched_executor *e = &x->at.data[i];

                for (int k = 0; k < e->n_resources; k++)
                        resource_pool_deinit(&e->resources[k]);
                free(e->resources);
                free(e->id);
        }
        for (size_t i = 0; i < x->hosts.len; i++)
                free(x->hosts.data[i].name);
        for (size_t i = 0; i < x->profiles.len; i++)
                sched_profile_free(x->profiles.data[i]);
        vec_deinit(&x->profiles);
        vec_deinit(&x->at);
        vec_deinit(&x->hosts);
        vec_deinit(&x->by_id);
        vec_deinit(&x->alive_on_rack);
        vec_deinit(&x->cursors);
        name_index_deinit(&x->ids);
        name_index_deinit(&x->host_names);
        name_index_deinit(&x->racks);
        name_index_deinit(&x->resource_names);
}

/* ------------------------------------------------------------------------------------------------ the profiles */

struct sched_profile *executors_profile(const struct executors *x, int id)
{
        for (size_t i = 0; i < x->profiles.len; i++)
                if (x->profiles.data[i]->id == id)
                        return x->profiles.data[i];
        return NULL;
}

/* Counts an executor that became usable, or (@by -1) unusable. */
static void executors_count_slots(struct executors *x, const struct sched_executor *e, int by)
{
        for (size_t i = 0; i < x->profiles.len; i++)
                x->profiles.data[i]->slots += by * sched_profile_slots_on(x->profiles.data[i], e);
}

struct sched_profile *executors_add_profile(struct executors *x, const struct task_profile *profile)
{
        struct sched_profile *p = executors_profile(x, profile->id);

        if (p)
                return p;
        p = sched_profile_new(profile, &x->resource_names);
        vec_push(&x->profiles, p);
        for (size_t i = 0; i < x->at.len; i++) {
                const struct sched_executor *e = &x->at.data[i];
                int slots = sched_profile_slots_on(p, e);

                p->slots += executors_is_usable(x, e) ? slots : 0;
                p->slots_of_one = MAX(p->slots_of_one, slots);
        }
        if (p->cpus < x->min_cpus) {
                x->min_cpus = p->cpus;
                for (size_t i = 0; i < x->at.len; i++) /* its cores were too few for other tasks */
                        if (!x->at.data[i].queued)
                                executors_queue(x, (int)i);
        }
        return p;
}

/* ---------------------------------------------------------------------------------------------- the executors */

static int host_index(struct executors *x, const char *name, const char *(*rack)(void *, const char *), void *owner)
{
        bool added;
        int index = name_index_add(&x->host_names, name, &added);
        const char *rack_name;

        if (!added)
                return index;
        vec_push(&x->hosts, (struct host){.name = mem_strdup(name), .rack = -1, .executors = -1});
        rack_name = rack ? rack(owner, name) : NULL;
        if (!rack_name)
                return index;
        x->hosts.data[index].rack = name_index_add(&x->racks, rack_name, &added);
        if (added)
                vec_push(&x->alive_on_rack, 0);
        return index;
}

int executors_host_index(struct executors *x, const char *name, const char *(*rack)(void *, const char *), void *owner)
{
        return host_index(x, name, rack, owner);
}

static void join_host(struct executors *x, int index, bool join)
{
        struct sched_executor *e = executors_at(x, index);
        struct host *host = &x->hosts.data[e->host];

        host->n_alive += join ? 1 : -1;
        if (host->rack >= 0)
                x->alive_on_rack.data[host->rack] += join ? 1 : -1;
        if (join) {
                e->prev_on = -1;
                e->next_on = host->executors;
                if (host->executors >= 0)
                        executors_at(x, host->executors)->prev_on = index;
                host->executors = index;
        } else {
                *(e->prev_on >= 0 ? &executors_at(x, e->prev_on)->next_on : &host->executors) = e->next_on;
                if (e->next_on >= 0)
                        executors_at(x, e->next_on)->prev_on = e->prev_on;
        }
}

static struct resource_pool *make_pools(struct executors *x, const struct executor_spec *spec)
{
        struct resource_pool *pools =
                spec->n_resources ? new_array(struct resource_pool, (size_t)spec->n_resources) : NULL;
        bool added;

        for (int i = 0; i < spec->n_resources; i++)
                resource_pool_init(&pools[i], name_index_add(&x->resource_names, spec->resources[i].name, &added),
                                   &spec->resources[i]);
        return pools;
}

int executors_add(struct executors *x, const struct executor_spec *spec, const char *(*rack)(void *, const char *),
                  void *owner)
{
        bool added;
        int id = name_index_add(&x->ids, spec->id, &added);

        if (!added && executors_alive(x, x->by_id.data[id]))
                return -EEXIST;
        if (added)
                vec_push(&x->by_id, -1);
        int host = host_index(x, spec->host, rack, owner);

        vec_push(&x->at, (struct sched_executor){.id = mem_strdup(spec->id),
                                                 .host = host,
                                                 .profile = spec->profile,
                                                 .cores = spec->cores,
                                                 .free = spec->cores,
                                                 .alive = true,
                                                 .enabled = true,
                                                 .prev = -1,
                                                 .next = -1,
                                                 .resources = make_pools(x, spec),
                                                 .n_resources = spec->n_resources});
        int index = (int)x->at.len - 1;

        x->by_id.data[id] = index;
        if (executors_is_usable(x, executors_at(x, index)))
                executors_count_slots(x, executors_at(x, index), 1);
        for (size_t i = 0; i < x->profiles.len; i++)
                x->profiles.data[i]->slots_of_one =
                        MAX(x->profiles.data[i]->slots_of_one,
                            sched_profile_slots_on(x->profiles.data[i], executors_at(x, index)));
        x->n_alive++;
        x->membership++;
        join_host(x, index, true);
        executors_queue(x, index);
        return index;
}

/* Updates slots and the queue after a change of usability from @before. */
static void usability_changed(struct executors *x, int index, bool before)
{
        struct sched_executor *e = executors_at(x, index);

        if (before == executors_is_usable(x, e))
                return;
        executors_count_slots(x, e, before ? -1 : 1);
        if (before)
                executors_unqueue(x, index);
        else
                executors_queue(x, index);
}

void executors_set_dead(struct executors *x, int index)
{
        struct sched_executor *e = executors_at(x, index);
        bool before = executors_is_usable(x, e);

        if (!e->alive)
                return;
        e->alive = false;
        x->n_alive--;
        x->membership++;
        join_host(x, index, false);
        usability_changed(x, index, before);
}

void executors_set_enabled(struct executors *x, int index, bool enabled)
{
        bool before = executors_is_usable(x, executors_at(x, index));

        executors_at(x, index)->enabled = enabled;
        usability_changed(x, index, before);
}

void executors_set_decommissioned(struct executors *x, int index, bool host_too)
{
        bool before = executors_is_usable(x, executors_at(x, index));

        executors_at(x, index)->decommissioned = true;
        executors_at(x, index)->host_too |= host_too;
        x->membership++;
        usability_changed(x, index, before);
}

void executors_set_excluded(struct executors *x, int index, bool excluded)
{
        bool before = executors_is_usable(x, executors_at(x, index));

        executors_at(x, index)->excluded = excluded;
        usability_changed(x, index, before);
}

void executors_set_host_excluded(struct executors *x, int host, bool excluded)
{
        struct host *h = &x->hosts.data[host];
        bool was = h->excluded;

        for (int e = h->executors; e >= 0; e = executors_at(x, e)->next_on) {
                h->excluded = was;
                bool before = executors_is_usable(x, executors_at(x, e));

                h->excluded = excluded;
                usability_changed(x, e, before);
        }
        h->excluded = excluded;
}
