/* See coarse_offers.h. */
#include "mesos/offers/coarse_offers.h"

#include "base/mem.h"

#include <inttypes.h>

/* After so many failures of executors an agent gets no more. */
#define MAX_AGENT_FAILURES 2

/* A driver that dies may have launched so many executors that have not registered: their ids are not used again. */
#define MAX_UNREGISTERED 100

struct coarse_host {
        struct coarse_host *prev, *next;
        char *name;
        int64_t n_executors; /* on all agents of that name */
        bool preferred;      /* by tasks */
        bool excluded;       /* by the scheduler */
};

struct coarse_agent {
        struct coarse_agent *prev, *next;
        char *id; /* "": unknown, of an adopted executor */
        struct coarse_host *host;
        int failures;
        bool shuffle_registered;
};

struct coarse_executor {
        struct coarse_executor *prev, *next;
        int64_t id, cores, gpus;
        struct coarse_agent *agent;
        bool expected; /* to end: it was killed or decommissioned */
        bool awaited;  /* an earlier driver had it, and no update has said that it runs */
};

/* A launch of the event at hand, before the calls are made of it. */
struct coarse_launch {
        struct mesos_launch launch;
        struct coarse_launch *older;
};

/* An offer of the event at hand that meets the constraints. */
struct coarse_candidate {
        const struct mesos_offer *offer;
        struct coarse_agent *agent;        /* NULL: it never had an executor */
        const struct coarse_host *host;    /* NULL: not known */
        int64_t cores, memory_milli, gpus; /* what is left; cores and gpus are whole */
        struct mesos_resources rest;       /* copied with the first launch */
        struct coarse_launch *newest;
        size_t n_launches;
        bool no_port; /* the port of the configuration is not there, or is used */
};

/* ----------------------------------------------------------------------------------------------------------- tables */

static bool host_has_name(const void *object, const void *key)
{
        return strcmp(((const struct coarse_host *)object)->name, key) == 0;
}

static bool agent_has_id(const void *object, const void *key)
{
        return strcmp(((const struct coarse_agent *)object)->id, key) == 0;
}

static bool executor_has_number(const void *object, const void *key)
{
        return ((const struct coarse_executor *)object)->id == *(const int64_t *)key;
}

static struct coarse_host *coarse_host_find(const struct coarse_offers *c, const char *name)
{
        return object_table_find(&c->by_host, object_hash_text(name), host_has_name, name);
}

static struct coarse_host *coarse_host_get(struct coarse_offers *c, const char *name)
{
        struct coarse_host *h = coarse_host_find(c, name);
        if (h)
                return h;
        h = new0(struct coarse_host);
        h->name = mem_strdup(name);
        list_append(&c->hosts, h);
        object_table_put(&c->by_host, object_hash_text(name), h);
        return h;
}

static struct coarse_agent *coarse_agent_find(const struct coarse_offers *c, const char *id)
{
        return object_table_find(&c->by_agent, object_hash_text(id), agent_has_id, id);
}

static struct coarse_agent *coarse_agent_add(struct coarse_offers *c, const char *id, const char *host)
{
        struct coarse_agent *a = new0(struct coarse_agent);
        a->id = mem_strdup(id);
        a->host = coarse_host_get(c, host);
        list_append(&c->agents, a);
        if (*id)
                object_table_put(&c->by_agent, object_hash_text(a->id), a);
        return a;
}

static struct coarse_executor *coarse_executor_find(const struct coarse_offers *c, int64_t id)
{
        return object_table_find(&c->by_executor, object_hash_number((uint64_t)id), executor_has_number, &id);
}

static struct coarse_executor *coarse_executor_add(struct coarse_offers *c, struct coarse_agent *agent, int64_t id,
                                                   int64_t cores, int64_t gpus)
{
        struct coarse_executor *e = new0(struct coarse_executor);
        *e = (struct coarse_executor){.id = id, .cores = cores, .gpus = gpus, .agent = agent};
        list_append(&c->executors, e);
        object_table_put(&c->by_executor, object_hash_number((uint64_t)e->id), e);
        agent->host->n_executors++;
        c->n_executors++;
        c->cores += e->cores;
        c->gpus += gpus;
        return e;
}

static void coarse_executor_remove(struct coarse_offers *c, struct coarse_executor *e)
{
        list_remove(&c->executors, e);
        object_table_remove(&c->by_executor, object_hash_number((uint64_t)e->id), e);
        e->agent->host->n_executors--;
        c->n_executors--;
        c->cores -= e->cores;
        c->gpus -= e->gpus;
        free(e);
}

/* ---------------------------------------------------------------------------------------------------- start and end */

void coarse_offers_init(struct coarse_offers *c, const struct coarse_offers_config *config)
{
        *c = (struct coarse_offers){.config = config, .limit = config->limit, .next_executor = config->first_executor};
}

void coarse_offers_deinit(struct coarse_offers *c)
{
        for (struct coarse_executor *e; (e = list_pop(&c->executors));)
                free(e);
        for (struct coarse_agent *a; (a = list_pop(&c->agents));) {
                free(a->id);
                free(a);
        }
        for (struct coarse_host *h; (h = list_pop(&c->hosts));) {
                free(h->name);
                free(h);
        }
        object_table_deinit(&c->by_agent);
        object_table_deinit(&c->by_host);
        object_table_deinit(&c->by_executor);
        offer_actions_deinit(&c->actions);
}

void coarse_offers_adopt(struct coarse_offers *c, const struct coarse_adopted *executors, size_t n, int64_t next)
{
        c->resumed = true;
        c->next_executor = MAX(c->next_executor, next + MAX_UNREGISTERED);
        for (size_t i = 0; i < n; i++) {
                struct coarse_agent *unknown = coarse_agent_add(c, "", executors[i].host);
                coarse_executor_add(c, unknown, executors[i].executor, executors[i].cores, 0)->awaited = true;
        }
}

const struct offer_action *coarse_offers_next_action(struct coarse_offers *c)
{
        return offer_actions_next(&c->actions);
}

static bool coarse_is_at_limit(const struct coarse_offers *c)
{
        return c->limit != COARSE_OFFERS_NO_LIMIT && c->n_executors >= c->limit;
}

static bool coarse_wants_executors(const struct coarse_offers *c)
{
        return !c->stopped && !coarse_is_at_limit(c) && c->cores < c->config->max_cores;
}

static void coarse_revive(struct coarse_offers *c)
{
        if (!coarse_wants_executors(c))
                return;
        c->suppressed = false;
        queue_push(&c->actions.queue, (struct offer_action){.kind = OFFER_ACTION_REVIVE});
}

static void coarse_suppress(struct coarse_offers *c)
{
        if (c->suppressed || coarse_wants_executors(c))
                return;
        c->suppressed = true;
        queue_push(&c->actions.queue, (struct offer_action){.kind = OFFER_ACTION_SUPPRESS});
}

void coarse_offers_subscribed(struct coarse_offers *c)
{
        c->suppressed = false;
}

void coarse_offers_stop(struct coarse_offers *c)
{
        c->stopped = true;
}

/* ----------------------------------------------------------------------------------------------------------- offers */

static struct coarse_candidate coarse_candidate_of(const struct coarse_offers *c, const struct mesos_offer *offer)
{
        const struct mesos_resource *r = offer->resources;
        const size_t n = offer->n_resources;
        struct coarse_agent *agent = coarse_agent_find(c, offer->agent);
        return (struct coarse_candidate){
                .offer = offer,
                .agent = agent,
                .host = agent                            ? agent->host
                        : c->n_preferred + c->n_excluded ? coarse_host_find(c, offer->hostname)
                                                         : NULL,
                .cores = mesos_resources_sum(r, n, "cpus") / 1000,
                .memory_milli = mesos_resources_sum(r, n, "mem"),
                .gpus = c->config->max_gpus ? mesos_resources_sum(r, n, "gpus") / 1000 : 0,
                .no_port = c->config->port && !mesos_resources_have_port(r, n, c->config->port),
        };
}

/* The cores of an executor on the candidate; 0: none fits. */
static int64_t candidate_cores(const struct coarse_offers *c, const struct coarse_candidate *x)
{
        const int64_t left = c->config->max_cores - c->cores;
        const int64_t cores = c->config->executor_cores ? c->config->executor_cores : MIN(x->cores, left);
        return cores > 0 && cores <= x->cores && cores <= left ? cores : 0;
}

/* While tasks prefer hosts, offers of other hosts, and of hosts with executors, wait. */
static bool candidate_is_local(const struct coarse_offers *c, const struct coarse_candidate *x, int64_t now)
{
        if (!c->config->prefers_hosts || c->n_preferred == 0 || now - c->wait_start > c->config->locality_wait)
                return true;
        return x->host && x->host->preferred && x->host->n_executors == 0;
}

static bool candidate_fits(const struct coarse_offers *c, const struct coarse_candidate *x, int64_t now)
{
        return candidate_cores(c, x) > 0 && x->memory_milli >= c->config->executor_memory * 1000 &&
               !coarse_is_at_limit(c) && !(x->agent && x->agent->failures >= MAX_AGENT_FAILURES) &&
               !(x->host && x->host->excluded) && !x->no_port && candidate_is_local(c, x, now);
}

static void candidate_launch(struct coarse_offers *c, struct coarse_candidate *x)
{
        struct arena *arena = &c->actions.arena;
        const int64_t cores = candidate_cores(c, x);
        const int64_t gpus = MIN(MAX(0, c->config->max_gpus - c->gpus), x->gpus);
        struct coarse_launch *launch = arena_alloc(arena, sizeof(*launch));
        struct mesos_resources used;

        if (!x->newest)
                mesos_resources_init(&x->rest, arena, x->offer->resources, x->offer->n_resources);
        mesos_resources_init(&used, arena, NULL, 0);
        mesos_resources_take(&x->rest, "cpus", cores * 1000, &used);
        mesos_resources_take(&x->rest, "mem", c->config->executor_memory * 1000, &used);
        if (c->config->port)
                mesos_resources_take_port(&x->rest, c->config->port, &used);
        mesos_resources_take(&x->rest, "gpus", gpus * 1000, &used);
        *launch = (struct coarse_launch){
                .launch = {.task = c->next_executor++, .cores = cores, .resources = used.data, .n_resources = used.len},
                .older = x->newest};
        x->newest = launch;
        x->n_launches++;
        x->cores = mesos_resources_sum(x->rest.data, x->rest.len, "cpus") / 1000;
        x->memory_milli -= c->config->executor_memory * 1000;
        x->gpus -= gpus;
        x->no_port = c->config->port != 0;
        if (!x->agent)
                x->agent = coarse_agent_find(c, x->offer->agent); /* two offers of one event may be of one agent */
        if (!x->agent)
                x->agent = coarse_agent_add(c, x->offer->agent, x->offer->hostname);
        x->host = x->agent->host;
        coarse_executor_add(c, x->agent, launch->launch.task, cores, gpus);
}

/*
 * Launches executors on the @n candidates in turn, until none fits. A candidate that does not fit once never fits later
 * in the same event: nothing is given back meanwhile.
 */
static void coarse_launch_in_turn(struct coarse_offers *c, struct coarse_candidate *candidates, size_t n, int64_t now)
{
        struct coarse_candidate **open = arena_alloc(&c->actions.arena, n * sizeof(struct coarse_candidate *));
        size_t n_open = n;
        for (size_t i = 0; i < n; i++)
                open[i] = &candidates[i];
        while (n_open > 0) {
                size_t kept = 0;
                for (size_t i = 0; i < n_open; i++)
                        if (candidate_fits(c, open[i], now)) {
                                candidate_launch(c, open[i]);
                                open[kept++] = open[i];
                        }
                n_open = kept;
        }
}

static void coarse_accept(struct coarse_offers *c, const struct coarse_candidate *x)
{
        const struct mesos_offer **offer = arena_alloc(&c->actions.arena, sizeof(struct mesos_offer *));
        struct mesos_launch *launches = arena_alloc(&c->actions.arena, x->n_launches * sizeof(*launches));
        size_t n = 0;
        *offer = x->offer;
        for (const struct coarse_launch *l = x->newest; l; l = l->older) /* newest first, as Spark does */
                launches[n++] = l->launch;
        queue_push(&c->actions.queue, (struct offer_action){.kind = OFFER_ACTION_ACCEPT,
                                                            .accept = {.offers = offer,
                                                                       .n_offers = 1,
                                                                       .launches = launches,
                                                                       .n_launches = n,
                                                                       .refuse_ms = MESOS_REFUSE_DEFAULT}});
}

/* Declines all offers for the default time. */
static void coarse_decline_all(struct coarse_offers *c, const struct mesos_offer *offers, size_t n)
{
        const struct mesos_offer **all = arena_alloc(&c->actions.arena, n * sizeof(struct mesos_offer *));
        for (size_t i = 0; i < n; i++)
                all[i] = &offers[i];
        offer_actions_decline(&c->actions, all, n, MESOS_REFUSE_DEFAULT);
}

void coarse_offers_received(struct coarse_offers *c, const struct mesos_offer *offers, size_t n, int64_t now)
{
        const struct coarse_offers_config *config = c->config;
        struct arena *arena = &c->actions.arena;

        offer_actions_begin(&c->actions);
        if (c->stopped || coarse_is_at_limit(c)) {
                c->launching = false;
                coarse_decline_all(c, offers, n);
                coarse_suppress(c);
                return;
        }
        if (!c->launching)
                c->wait_start = now;
        c->launching = true;

        struct coarse_candidate *candidates = arena_alloc(arena, n * sizeof(*candidates));
        const struct mesos_offer **unused = arena_alloc(arena, n * sizeof(struct mesos_offer *));
        size_t n_candidates = 0, n_unused = 0;
        for (size_t i = 0; i < n; i++)
                if (mesos_constraints_match(&config->constraints, offers[i].attributes, offers[i].n_attributes))
                        candidates[n_candidates++] = coarse_candidate_of(c, &offers[i]);
                else
                        unused[n_unused++] = &offers[i];
        offer_actions_decline(&c->actions, unused, n_unused, config->refuse_unmet_ms);

        coarse_launch_in_turn(c, candidates, n_candidates, now);
        n_unused = 0;
        for (size_t i = 0; i < n_candidates; i++)
                if (candidates[i].newest)
                        coarse_accept(c, &candidates[i]);
                else
                        unused[n_unused++] = candidates[i].offer;
        offer_actions_decline(&c->actions, unused, n_unused,
                              c->cores >= config->max_cores ? config->refuse_max_cores_ms : MESOS_REFUSE_DEFAULT);
        coarse_suppress(c);
}

/* ---------------------------------------------------------------------------------------------------------- updates */

/* The task has ended: reports its executor as gone. */
static void coarse_executor_ended(struct coarse_offers *c, struct coarse_executor *e,
                                  const struct coarse_update *update)
{
        struct arena *arena = &c->actions.arena;
        const enum task_outcome outcome = task_outcome_of(update->state);
        struct coarse_agent *agent = e->agent;
        const bool expected = e->expected || e->awaited;
        _cleanup_free_ char *reason =
                mem_printf("Executor finished with state %s%s%s", task_outcome_name(outcome),
                           update->message && *update->message ? ": " : "", update->message ? update->message : "");

        coarse_executor_remove(c, e);
        if (task_outcome_is_failure(outcome) && !expected && !update->invalid_offer &&
            ++agent->failures == MAX_AGENT_FAILURES)
                offer_actions_log(&c->actions, LOG_INFO,
                                  "Excluding Mesos agent %s due to too many failures; is Spark installed on it?",
                                  agent->id);
        queue_push(&c->actions.queue,
                   (struct offer_action){.kind = OFFER_ACTION_EXECUTOR_ENDED,
                                         .ended = {.executor = update->executor,
                                                   .agent = agent->id,
                                                   .outcome = outcome,
                                                   .caused_by_app = !expected && !update->invalid_offer,
                                                   .reason = arena_copy(arena, reason, strlen(reason))}});
        coarse_revive(c);
}

/* The update comes from the agent of an executor that an earlier driver has launched. */
static void coarse_executor_found(struct coarse_offers *c, struct coarse_executor *e, const char *agent)
{
        struct coarse_agent *found = coarse_agent_find(c, agent);

        if (!found)
                found = coarse_agent_add(c, agent, e->agent->host->name);
        e->agent->host->n_executors--;
        e->agent = found;
        e->agent->host->n_executors++;
}

void coarse_offers_updated(struct coarse_offers *c, const struct coarse_update *update)
{
        struct coarse_executor *e = coarse_executor_find(c, update->executor);
        const enum task_outcome outcome = task_outcome_of(update->state);

        offer_actions_begin(&c->actions);
        if (!e && c->resumed && !task_outcome_is_final(outcome)) {
                offer_actions_log(&c->actions, LOG_INFO,
                                  "Mesos task %" PRId64 " of an earlier driver had not registered: "
                                  "killing it",
                                  update->executor);
                queue_push(&c->actions.queue,
                           (struct offer_action){.kind = OFFER_ACTION_KILL,
                                                 .kill = {.task = update->executor,
                                                          .agent = arena_copy(&c->actions.arena, update->agent,
                                                                              strlen(update->agent))}});
        }
        if (!e)
                return;
        offer_actions_log(&c->actions, LOG_INFO, "Mesos task %" PRId64 " is now %s", update->executor,
                          mesos_state_name(update->state));
        if (!*e->agent->id && *update->agent)
                coarse_executor_found(c, e, update->agent);
        e->awaited = e->awaited && outcome != TASK_OUTCOME_RUNNING;
        if (outcome == TASK_OUTCOME_RUNNING && c->config->shuffle_service && !e->agent->shuffle_registered) {
                e->agent->shuffle_registered = true;
                queue_push(&c->actions.queue,
                           (struct offer_action){.kind = OFFER_ACTION_SHUFFLE_SERVICE, .host = e->agent->host->name});
        }
        if (task_outcome_is_final(outcome))
                coarse_executor_ended(c, e, update);
}

/* ---------------------------------------------------------------------------------------------------------- targets */

void coarse_offers_set_limit(struct coarse_offers *c, int64_t limit, const char *const *hosts, size_t n, int64_t now)
{
        const bool grows = c->limit != COARSE_OFFERS_NO_LIMIT && (limit == COARSE_OFFERS_NO_LIMIT || limit > c->limit);

        offer_actions_begin(&c->actions);
        for (struct coarse_host *h = c->n_preferred ? c->hosts.first : NULL; h; h = h->next)
                h->preferred = false;
        c->n_preferred = 0;
        for (size_t i = 0; i < n; i++) {
                struct coarse_host *h = coarse_host_get(c, hosts[i]);
                c->n_preferred += !h->preferred;
                h->preferred = true;
        }
        if (limit != c->limit)
                offer_actions_log(&c->actions, LOG_INFO, "Capping the total amount of executors to %" PRId64, limit);
        c->limit = limit;
        c->wait_start = now;
        if (grows || c->suppressed)
                coarse_revive(c);
}

void coarse_offers_set_excluded(struct coarse_offers *c, const char *const *hosts, size_t n)
{
        for (struct coarse_host *h = c->n_excluded ? c->hosts.first : NULL; h; h = h->next)
                h->excluded = false;
        c->n_excluded = 0;
        for (size_t i = 0; i < n; i++) {
                struct coarse_host *h = coarse_host_get(c, hosts[i]);
                c->n_excluded += !h->excluded;
                h->excluded = true;
        }
}

void coarse_offers_kill(struct coarse_offers *c, int64_t executor)
{
        struct coarse_executor *e = coarse_executor_find(c, executor);
        offer_actions_begin(&c->actions);
        if (!e)
                return;
        e->expected = true;
        queue_push(&c->actions.queue,
                   (struct offer_action){.kind = OFFER_ACTION_KILL, .kill = {.task = executor, .agent = e->agent->id}});
}

void coarse_offers_expect_end(struct coarse_offers *c, int64_t executor)
{
        struct coarse_executor *e = coarse_executor_find(c, executor);
        if (e)
                e->expected = true;
}

bool coarse_offers_knows(const struct coarse_offers *c, int64_t executor)
{
        return coarse_executor_find(c, executor) != NULL;
}

void coarse_offers_each(const struct coarse_offers *c,
                        void (*visit)(void *context, int64_t executor, const char *agent), void *context)
{
        for (const struct coarse_executor *e = c->executors.first; e; e = e->next)
                visit(context, e->id, e->agent->id);
}
