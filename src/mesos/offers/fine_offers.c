/* See fine_offers.h. */
#include "mesos/offers/fine_offers.h"

#include "base/mem.h"

/* How long Mesos keeps the rest of an offer that was used. */
#define REST_REFUSE_MS 1000
/* After so many executors in a row that ended before they registered, an agent gets no more. */
#define MAX_AGENT_FAILURES 2
#define LOG "MesosFineGrainedSchedulerBackend"

struct fine_agent {
        struct fine_agent *prev, *next;
        char *id;
        bool has_executor;
        bool registered;                 /* its executor, with the driver */
        int failures;                    /* executors in a row that ended before they registered */
        int64_t executors;               /* that have ended so far */
        struct mesos_resources executor; /* what it takes; each of its tasks repeats it */
        struct arena arena;              /* of `executor` */
        struct fine_usable *usable;      /* of the event at hand, or NULL */
};

struct fine_task {
        struct fine_task *prev, *next;
        int64_t id;
        struct fine_agent *agent;
        int64_t executor; /* agent->executors when it was launched */
};

/* ----------------------------------------------------------------------------------------------------------- tables */

static bool fine_agent_has_id(const void *object, const void *key)
{
        return strcmp(((const struct fine_agent *)object)->id, key) == 0;
}

static bool fine_task_has_number(const void *object, const void *key)
{
        return ((const struct fine_task *)object)->id == *(const int64_t *)key;
}

static struct fine_agent *fine_agent_find(const struct fine_offers *f, const char *id)
{
        return object_table_find(&f->by_agent, object_hash_text(id), fine_agent_has_id, id);
}

static struct fine_agent *fine_agent_get(struct fine_offers *f, const char *id)
{
        struct fine_agent *a = fine_agent_find(f, id);
        if (a)
                return a;
        a = new0(struct fine_agent);
        a->id = mem_strdup(id);
        list_append(&f->agents, a);
        object_table_put(&f->by_agent, object_hash_text(a->id), a);
        return a;
}

static struct fine_task *fine_task_find(const struct fine_offers *f, int64_t id)
{
        return object_table_find(&f->by_task, object_hash_number((uint64_t)id), fine_task_has_number, &id);
}

static void fine_task_add(struct fine_offers *f, int64_t id, struct fine_agent *agent)
{
        struct fine_task *t = new0(struct fine_task);
        t->id = id;
        t->agent = agent;
        t->executor = agent->executors;
        list_append(&f->tasks, t);
        object_table_put(&f->by_task, object_hash_number((uint64_t)id), t);
}

static void fine_task_remove(struct fine_offers *f, struct fine_task *t)
{
        list_remove(&f->tasks, t);
        object_table_remove(&f->by_task, object_hash_number((uint64_t)t->id), t);
        free(t);
}

/* ---------------------------------------------------------------------------------------------------- start and end */

void fine_offers_init(struct fine_offers *f, const struct fine_offers_config *config)
{
        *f = (struct fine_offers){.config = config};
}

void fine_offers_deinit(struct fine_offers *f)
{
        for (struct fine_task *t; (t = list_pop(&f->tasks));)
                free(t);
        for (struct fine_agent *a; (a = list_pop(&f->agents));) {
                arena_deinit(&a->arena);
                free(a->id);
                free(a);
        }
        object_table_deinit(&f->by_agent);
        object_table_deinit(&f->by_task);
        offer_actions_deinit(&f->actions);
}

const struct offer_action *fine_offers_next_action(struct fine_offers *f)
{
        return offer_actions_next(&f->actions);
}

void fine_offers_stop(struct fine_offers *f)
{
        f->stopped = true;
}

void fine_offers_revive(struct fine_offers *f)
{
        if (!f->stopped)
                queue_push(&f->actions.queue, (struct offer_action){.kind = OFFER_ACTION_REVIVE});
}

bool fine_offers_has_executor(const struct fine_offers *f, const char *agent)
{
        const struct fine_agent *a = fine_agent_find(f, agent);
        return a && a->has_executor;
}

/* ----------------------------------------------------------------------------------------------------------- offers */

/* Puts the offer to the others of its agent in this event. */
static void fine_group_offer(struct fine_offers *f, const struct mesos_offer *offer, struct fine_agent *agent)
{
        struct arena *arena = &f->actions.arena;
        struct fine_usable *u = agent->usable;
        if (!u) {
                u = agent->usable = &f->usable[f->n_usable++];
                *u = (struct fine_usable){.agent = agent};
                mesos_resources_init(&u->rest, arena, NULL, 0);
        }
        const struct mesos_offer **offers = arena_alloc(arena, (u->n_offers + 1) * sizeof(struct mesos_offer *));
        if (u->n_offers)
                memcpy(offers, u->offers, u->n_offers * sizeof(struct mesos_offer *));
        offers[u->n_offers++] = offer;
        u->offers = offers;
        for (size_t i = 0; i < offer->n_resources; i++)
                mesos_resources_add(&u->rest, &offer->resources[i]);
}

/*
 * The whole cores of an agent for tasks; 0: its offers are of no use. An agent without an executor needs room for it.
 */
static int64_t fine_task_cores(const struct fine_offers *f, const struct fine_usable *u)
{
        const struct fine_offers_config *c = f->config;
        int64_t cpus = mesos_resources_sum(u->rest.data, u->rest.len, "cpus");
        if (!u->agent->has_executor) {
                if (u->agent->failures >= MAX_AGENT_FAILURES)
                        return 0;
                if (mesos_resources_sum(u->rest.data, u->rest.len, "mem") < c->executor_memory * 1000)
                        return 0;
                cpus -= c->executor_cores_milli;
        }
        return cpus >= c->task_cores * 1000 ? cpus / 1000 : 0;
}

/* Takes the resources of the agent's executor out of its offers. */
static void fine_reserve_executor(struct fine_offers *f, struct fine_usable *u)
{
        struct mesos_resources taken;
        mesos_resources_init(&taken, &f->actions.arena, NULL, 0);
        mesos_resources_take(&u->rest, "cpus", f->config->executor_cores_milli, &taken);
        mesos_resources_take(&u->rest, "mem", f->config->executor_memory * 1000, &taken);
        arena_reset(&u->agent->arena);
        mesos_resources_copy(&u->agent->executor, &u->agent->arena, taken.data, taken.len);
        u->starts_executor = true;
}

/* Keeps the agents of which tasks can use the offers, and declines the others' offers. */
static void fine_choose_usable(struct fine_offers *f, const struct mesos_offer **useless, size_t n_useless)
{
        size_t kept = 0;
        for (size_t i = 0; i < f->n_usable; i++) {
                struct fine_usable *u = &f->usable[i];
                u->agent->usable = NULL;
                u->cores = fine_task_cores(f, u);
                for (size_t k = 0; u->cores == 0 && k < u->n_offers; k++)
                        useless[n_useless++] = u->offers[k];
                if (u->cores == 0)
                        continue;
                if (!u->agent->has_executor)
                        fine_reserve_executor(f, u);
                f->usable[kept] = *u;
                f->usable[kept].agent->usable = &f->usable[kept];
                kept++;
        }
        f->n_usable = kept;
        offer_actions_decline(&f->actions, useless, n_useless, MESOS_REFUSE_DEFAULT);
}

void fine_offers_received(struct fine_offers *f, const struct mesos_offer *offers, size_t n)
{
        const struct fine_offers_config *c = f->config;
        struct arena *arena = &f->actions.arena;

        offer_actions_begin(&f->actions);
        const struct mesos_offer **unmet = arena_alloc(arena, n * sizeof(struct mesos_offer *));
        const struct mesos_offer **useless = arena_alloc(arena, n * sizeof(struct mesos_offer *));
        size_t n_unmet = 0, n_useless = 0;
        f->usable = arena_alloc(arena, n * sizeof(*f->usable));
        f->n_usable = 0;
        for (size_t i = 0; i < n; i++)
                if (f->stopped)
                        useless[n_useless++] = &offers[i];
                else if (!mesos_constraints_match(&c->constraints, offers[i].attributes, offers[i].n_attributes))
                        unmet[n_unmet++] = &offers[i];
                else
                        fine_group_offer(f, &offers[i], fine_agent_get(f, offers[i].agent));
        offer_actions_decline(&f->actions, unmet, n_unmet, c->refuse_unmet_ms);
        fine_choose_usable(f, useless, n_useless);
}

bool fine_offers_add_task(struct fine_offers *f, size_t index, int64_t task)
{
        struct fine_usable *u = &f->usable[index];
        struct mesos_resources used;
        if (u->cores < f->config->task_cores)
                return false;
        if (u->n_launches == u->room) {
                struct mesos_launch *old = u->launches;
                u->room = u->room ? u->room * 2 : 8;
                u->launches = arena_alloc(&f->actions.arena, u->room * sizeof(*u->launches));
                if (u->n_launches)
                        memcpy(u->launches, old, u->n_launches * sizeof(*u->launches));
        }
        mesos_resources_init(&used, &f->actions.arena, NULL, 0);
        mesos_resources_take(&u->rest, "cpus", f->config->task_cores * 1000, &used);
        u->launches[u->n_launches++] = (struct mesos_launch){.task = task,
                                                             .cores = f->config->task_cores,
                                                             .starts_executor = u->starts_executor,
                                                             .resources = used.data,
                                                             .n_resources = used.len,
                                                             .executor_resources = u->agent->executor.data,
                                                             .n_executor_resources = u->agent->executor.len};
        u->cores -= f->config->task_cores;
        u->agent->has_executor = true;
        fine_task_add(f, task, u->agent);
        return true;
}

bool fine_offers_add_task_on(struct fine_offers *f, const char *agent, int64_t task)
{
        const struct fine_agent *a = fine_agent_find(f, agent);
        return a && a->usable && fine_offers_add_task(f, (size_t)(a->usable - f->usable), task);
}

void fine_offers_answer(struct fine_offers *f)
{
        size_t n_offers = 0, n_unused = 0;
        for (size_t i = 0; i < f->n_usable; i++)
                n_offers += f->usable[i].n_offers;
        const struct mesos_offer **unused = arena_alloc(&f->actions.arena, n_offers * sizeof(struct mesos_offer *));
        for (size_t i = 0; i < f->n_usable; i++) {
                const struct fine_usable *u = &f->usable[i];
                u->agent->usable = NULL;
                for (size_t k = 0; u->n_launches == 0 && k < u->n_offers; k++)
                        unused[n_unused++] = u->offers[k];
                if (u->n_launches)
                        queue_push(&f->actions.queue, (struct offer_action){.kind = OFFER_ACTION_ACCEPT,
                                                                            .accept = {.offers = u->offers,
                                                                                       .n_offers = u->n_offers,
                                                                                       .launches = u->launches,
                                                                                       .n_launches = u->n_launches,
                                                                                       .refuse_ms = REST_REFUSE_MS}});
        }
        f->usable = NULL;
        f->n_usable = 0;
        offer_actions_decline(&f->actions, unused, n_unused, MESOS_REFUSE_DEFAULT);
}

/* ---------------------------------------------------------------------------------------------------------- updates */

static void fine_count_failure(struct fine_offers *f, struct fine_agent *agent)
{
        if (++agent->failures == MAX_AGENT_FAILURES)
                offer_actions_log(&f->actions, LOG_WARN,
                                  "Excluding Mesos agent %s: its last %d executors ended before they registered; is "
                                  "Firesteel installed on it?",
                                  agent->id, MAX_AGENT_FAILURES);
}

static void fine_forget_executor(struct fine_offers *f, struct fine_agent *agent, enum task_outcome outcome,
                                 bool caused_by_app, bool is_failure, const char *reason)
{
        if (!agent->has_executor)
                return;
        if (is_failure && !agent->registered)
                fine_count_failure(f, agent);
        agent->has_executor = agent->registered = false;
        agent->executors++;
        queue_push(&f->actions.queue,
                   (struct offer_action){.kind = OFFER_ACTION_EXECUTOR_ENDED,
                                         .ended = {.executor = -1,
                                                   .agent = agent->id,
                                                   .outcome = outcome,
                                                   .caused_by_app = caused_by_app,
                                                   .reason = arena_copy(&f->actions.arena, reason, strlen(reason))}});
}

bool fine_offers_updated(struct fine_offers *f, const struct fine_update *update)
{
        struct fine_task *t = fine_task_find(f, update->task);
        const enum task_outcome outcome = task_outcome_of(update->state);

        offer_actions_begin(&f->actions);
        if (!t)
                return false;
        struct fine_agent *agent = t->agent;
        const bool is_current = t->executor == agent->executors; /* the agent may have another executor by now */
        if (task_outcome_is_final(outcome))
                fine_task_remove(f, t);
        if (task_outcome_is_failure(outcome) && !update->by_executor && is_current)
                fine_forget_executor(f, agent, outcome, true, !update->not_launched,
                                     update->message && *update->message ? update->message : "Lost executor");
        return true;
}

void fine_offers_executor_lost(struct fine_offers *f, const char *agent, bool caused_by_app, const char *reason)
{
        struct fine_agent *a = fine_agent_find(f, agent);
        offer_actions_begin(&f->actions);
        if (a)
                fine_forget_executor(f, a, caused_by_app ? TASK_OUTCOME_FAILED : TASK_OUTCOME_LOST, caused_by_app,
                                     caused_by_app, reason);
}

void fine_offers_registered(struct fine_offers *f, const char *agent)
{
        struct fine_agent *a = fine_agent_find(f, agent);
        if (!a || !a->has_executor)
                return;
        a->registered = true;
        a->failures = 0;
}

void fine_offers_each(const struct fine_offers *f, void (*visit)(void *context, int64_t task, const char *agent),
                      void *context)
{
        for (const struct fine_task *t = f->tasks.first; t; t = t->next)
                visit(context, t->id, t->agent->id);
}
