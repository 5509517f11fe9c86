/* See mesos_world.h. */
#include "cmd/simulate/mesos_world.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>

#define DEFAULT_REFUSE_MS 5000

void mesos_world_init(struct mesos_world *w, uint64_t seed)
{
        *w = (struct mesos_world){.chance = world_chance_of_seed(seed)};
}

void mesos_world_deinit(struct mesos_world *w)
{
        vec_deinit(&w->agents);
        vec_deinit(&w->tasks);
        arena_deinit(&w->arena);
        free(w->chance.violation);
}

void mesos_world_add_agent(struct mesos_world *w, int cores, int64_t memory, bool debian)
{
        struct mesos_world_agent a = {.cpus = cores * 1000,
                                      .memory = memory * 1000,
                                      .reserved = w->agents.len % 3 == 0 ? cores * 500 : 0,
                                      .alive = true,
                                      .debian = debian};
        snprintf(a.id, sizeof(a.id), "agent%zu", w->agents.len);
        snprintf(a.host, sizeof(a.host), "host%zu", w->agents.len);
        vec_push(&w->agents, a);
}

/* ----------------------------------------------------------------------------------------------------------- offers */

/* Offers @cpus and @memory of the agent, cpus of the role "dev" first. */
static void world_add_offer(struct mesos_world *w, int number, int64_t cpus, int64_t memory)
{
        static const struct mesos_attribute debian = {.name = "os", .type = MESOS_VALUE_TEXT, .text = "debian"};
        static const struct mesos_range ports = {31000, 32000};
        const struct mesos_world_agent *a = &w->agents.data[number];
        const int64_t reserved = MIN(cpus, a->reserved);
        struct mesos_resource *r = arena_alloc(&w->arena, 4 * sizeof(*r));
        char *id = arena_alloc(&w->arena, 24);
        size_t n = 0;
        snprintf(id, 24, "%zu", w->n_offers);
        if (reserved)
                r[n++] = (struct mesos_resource){.name = "cpus", .role = "dev", .milli = reserved};
        if (cpus > reserved)
                r[n++] = (struct mesos_resource){.name = "cpus", .role = "*", .milli = cpus - reserved};
        if (memory)
                r[n++] = (struct mesos_resource){.name = "mem", .role = "*", .milli = memory};
        r[n++] = (struct mesos_resource){
                .name = "ports", .role = "*", .type = MESOS_VALUE_RANGES, .ranges = &ports, .n_ranges = 1};
        w->states[w->n_offers] = (struct mesos_world_offer){.agent = number, .cpus = cpus, .memory = memory};
        w->offers[w->n_offers++] = (struct mesos_offer){.id = id,
                                                        .agent = arena_copy(&w->arena, a->id, strlen(a->id)),
                                                        .hostname = arena_copy(&w->arena, a->host, strlen(a->host)),
                                                        .resources = r,
                                                        .n_resources = n,
                                                        .attributes = &debian,
                                                        .n_attributes = a->debian};
}

void mesos_world_allocate(struct mesos_world *w, double split)
{
        arena_reset(&w->arena);
        w->n_offers = 0;
        w->offers = arena_alloc(&w->arena, 2 * w->agents.len * sizeof(*w->offers));
        w->states = arena_alloc(&w->arena, 2 * w->agents.len * sizeof(*w->states));
        for (size_t i = 0; !w->suppressed && i < w->agents.len; i++) {
                const struct mesos_world_agent *a = &w->agents.data[i];
                const int64_t cpus = a->cpus - a->used_cpus, memory = a->memory - a->used_memory;
                if (!a->alive || a->filtered_until > w->now || (cpus == 0 && memory == 0))
                        continue;
                const int64_t part = world_chance_happens(&w->chance, split) && cpus >= 2000 ? cpus / 2000 * 1000 : 0;
                if (part)
                        world_add_offer(w, (int)i, part, memory / 2);
                world_add_offer(w, (int)i, cpus - part, part ? memory - memory / 2 : memory);
        }
        w->n_offered += (int64_t)w->n_offers;
}

void mesos_world_rescind(struct mesos_world *w, size_t index)
{
        w->states[index].rescinded = true;
}

/* The state of an offer that is answered. */
static struct mesos_world_offer *world_answer(struct mesos_world *w, const struct mesos_offer *offer)
{
        struct mesos_world_offer *s = &w->states[offer - w->offers];
        if (s->answers++ > 0)
                world_chance_violate(&w->chance, "offer %s of %s has a second answer", offer->id, offer->agent);
        return s;
}

static void world_filter(struct mesos_world *w, int agent, int64_t refuse_ms)
{
        const int64_t ms = refuse_ms == MESOS_REFUSE_DEFAULT ? DEFAULT_REFUSE_MS : refuse_ms;
        struct mesos_world_agent *a = &w->agents.data[agent];
        a->filtered_until = MAX(a->filtered_until, w->now + ms * 1000000);
}

static int64_t launch_sum(const struct mesos_launch *l, const char *name)
{
        return mesos_resources_sum(l->resources, l->n_resources, name);
}

/* Starts the task if its offers still hold, and charges the agent. */
static void world_launch(struct mesos_world *w, const struct mesos_launch *l, int agent, bool invalid, bool fine)
{
        struct mesos_world_agent *a = &w->agents.data[agent];
        struct mesos_world_task t = {.agent = agent,
                                     .expected = invalid,
                                     .state = WORLD_TASK_LAUNCHED,
                                     .invalid = invalid,
                                     .cpus = launch_sum(l, "cpus"),
                                     .memory = launch_sum(l, "mem")};
        if (t.cpus != l->cores * 1000)
                world_chance_violate(&w->chance, "task %" PRId64 " of %" PRId64 " cores takes %" PRId64 " thousandths",
                                     l->task, l->cores, t.cpus);
        if (fine && !invalid && !a->has_executor) {
                if (!l->starts_executor)
                        world_chance_violate(&w->chance, "task %" PRId64 " is for an executor that %s does not have",
                                             l->task, a->id);
                a->has_executor = true;
                a->executor_cpus = mesos_resources_sum(l->executor_resources, l->n_executor_resources, "cpus");
                a->executor_memory = mesos_resources_sum(l->executor_resources, l->n_executor_resources, "mem");
                a->used_cpus += a->executor_cpus;
                a->used_memory += a->executor_memory;
        }
        if (!invalid) {
                a->used_cpus += t.cpus;
                a->used_memory += t.memory;
        }
        if (a->used_cpus > a->cpus || a->used_memory > a->memory)
                world_chance_violate(&w->chance, "task %" PRId64 " takes more than %s has", l->task, a->id);
        w->n_launched++;
        while ((int64_t)w->tasks.len <= l->task)
                vec_push(&w->tasks, (struct mesos_world_task){.state = WORLD_TASK_NONE});
        if (w->tasks.data[l->task].state != WORLD_TASK_NONE)
                world_chance_violate(&w->chance, "task %" PRId64 " comes twice", l->task);
        w->tasks.data[l->task] = t;
}

void mesos_world_accept(struct mesos_world *w, const struct offer_action *action, bool fine)
{
        int64_t cpus = 0, memory = 0;
        const int agent = w->states[action->accept.offers[0] - w->offers].agent;
        bool invalid = !w->agents.data[agent].alive;
        for (size_t i = 0; i < action->accept.n_offers; i++) {
                const struct mesos_world_offer *s = world_answer(w, action->accept.offers[i]);
                if (s->agent != agent)
                        world_chance_violate(&w->chance, "one answer accepts offers of two agents");
                invalid |= s->rescinded;
                cpus += s->cpus;
                memory += s->memory;
        }
        w->n_accepted += (int64_t)action->accept.n_offers;
        if (action->accept.n_launches == 0)
                world_chance_violate(&w->chance, "an offer of %s is accepted without a task", w->agents.data[agent].id);
        for (size_t i = 0; i < action->accept.n_launches; i++) {
                const struct mesos_launch *l = &action->accept.launches[i];
                cpus -= launch_sum(l, "cpus");
                memory -= launch_sum(l, "mem");
                if (i == 0 && l->starts_executor) {
                        cpus -= mesos_resources_sum(l->executor_resources, l->n_executor_resources, "cpus");
                        memory -= mesos_resources_sum(l->executor_resources, l->n_executor_resources, "mem");
                }
                world_launch(w, l, agent, invalid, fine);
        }
        if (cpus < 0 || memory < 0)
                world_chance_violate(&w->chance, "tasks take more than the offers of %s hold",
                                     w->agents.data[agent].id);
        world_filter(w, agent, action->accept.refuse_ms);
}

void mesos_world_decline(struct mesos_world *w, const struct offer_action *action)
{
        for (size_t i = 0; i < action->decline.n_offers; i++)
                world_filter(w, world_answer(w, action->decline.offers[i])->agent, action->decline.refuse_ms);
        w->n_declined += (int64_t)action->decline.n_offers;
}

void mesos_world_revive(struct mesos_world *w)
{
        w->n_revived++;
        mesos_world_fail_over(w);
}

void mesos_world_fail_over(struct mesos_world *w)
{
        w->suppressed = false;
        for (size_t i = 0; i < w->agents.len; i++)
                w->agents.data[i].filtered_until = 0;
}

void mesos_world_check_answers(struct mesos_world *w)
{
        for (size_t i = 0; i < w->n_offers; i++)
                if (w->states[i].answers != 1)
                        world_chance_violate(&w->chance, "offer %s of %s has %d answers", w->offers[i].id,
                                             w->offers[i].agent, w->states[i].answers);
}

/* ------------------------------------------------------------------------------------------------------------ tasks */

void mesos_world_end_task(struct mesos_world *w, int64_t id)
{
        struct mesos_world_task *task = &w->tasks.data[id];
        struct mesos_world_agent *a = &w->agents.data[task->agent];
        task->state = WORLD_TASK_ENDED;
        if (task->invalid)
                return;
        a->used_cpus -= task->cpus;
        a->used_memory -= task->memory;
}

void mesos_world_end_executor(struct mesos_world *w, int agent)
{
        struct mesos_world_agent *a = &w->agents.data[agent];
        if (!a->has_executor)
                return;
        a->has_executor = false;
        a->used_cpus -= a->executor_cpus;
        a->used_memory -= a->executor_memory;
}
