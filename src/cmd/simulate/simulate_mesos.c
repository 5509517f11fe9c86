/*
 * firesteel simulate --mesos: the cores that answer Mesos' offers (mesos/offers) against a simulated master, in virtual
 * allocations of one second. Tasks fail, agents are lost and replaced, offers are rescinded before the answer comes,
 * the master fails over, and in coarse-grained mode the driver changes its target, kills executors and excludes hosts,
 * all drawn from a seed.
 *
 * Checked at every step: each offer is answered once, no task id comes twice, tasks take no more than their offers
 * hold, constraints, excluded hosts and failing agents are respected, cores and executors stay below their limits, each
 * executor ends once. When the faults end, the target is reached, or all tasks run, and after that nothing is left.
 */
#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "cmd/simulate/mesos_world.h"
#include "cmd/simulate/simulate.h"
#include "mesos/offers/coarse_offers.h"
#include "mesos/offers/fine_offers.h"

#include <inttypes.h>
#include <stdio.h>

#define MAX_SETTLING_ROUNDS 1000
#define MAX_AGENT_FAILURES 2
#define EXECUTOR_MEMORY 1408

const char simulate_mesos_help[] =
        "Usage: firesteel simulate --mesos [OPTIONS]\n"
        "\n"
        "Run the cores that answer the offers of a Mesos master against a simulated one, with failures. Check that each offer\n"
        "is answered once and that no executor is lost. Print how long it takes to answer the largest event.\n"
        "\n"
        "  --agents N                (10000) agents, all of them in the first event\n"
        "  --cores N                 (8) cores of each agent\n"
        "  --executor-cores N        (4) cores of an executor; 0: all of an offer\n"
        "  --executors N             (1000) executors that the driver wants; with --fine, tasks that must run\n"
        "  --rounds N                (20) allocations with faults\n"
        "  --failures P              (0) a running task fails between two allocations\n"
        "  --lost-agents P           (0) an agent is lost between two allocations; another one replaces it\n"
        "  --rescinds P              (0) an offer is rescinded before its answer comes\n"
        "  --splits P                (0) an agent makes two offers\n"
        "  --targets P               (0) the driver changes its target between two allocations\n"
        "  --kills P                 (0) the driver kills an executor between two allocations\n"
        "  --exclusions P            (0) the driver excludes other hosts between two allocations\n"
        "  --restarts P              (0) the master fails over between two allocations\n"
        "  --constraints P           (0) an agent does not meet the constraints\n"
        "  --fine N                  (0) 1: fine-grained mode\n"
        "  --seed N                  (1) seed of the random numbers: the same seed gives the same run\n"
        "  --seeds A..B              a run for each seed from A to B\n"
        "  --output text|json        (text) how results are printed\n"
        "  --help                    show this\n";

struct mesos_request {
        int agents, cores, executor_cores, executors, rounds, fine;
        double failures, lost_agents, rescinds, splits, targets, kills, exclusions, restarts, constraints;
        uint64_t seed, last_seed;
        bool json;
};

struct mesos_run {
        const struct mesos_request *request;
        struct mesos_world world;
        struct coarse_offers coarse;
        struct fine_offers fine;
        int64_t excluded;   /* coarse-grained: the host of this agent; -1: none */
        int64_t limit;      /* coarse-grained: the target */
        int64_t n_ended;    /* executors that the core reported */
        int64_t todo;       /* fine-grained: tasks that wait for an offer */
        int64_t next_task;  /* fine-grained */
        int64_t longest_ns; /* CPU time of an event with offers */
        int64_t n_failed, n_lost, n_rescinded, n_restarts, n_rounds;
};

static bool world_task_lives(const struct mesos_world_task *t)
{
        return t->state != WORLD_TASK_NONE && t->state != WORLD_TASK_ENDED;
}

/* Every fourth agent has memory for one executor only. */
static void run_add_agent(struct mesos_run *x, bool debian)
{
        const int cores = x->request->cores;
        const int64_t executors = x->world.agents.len % 4 == 0 ? 1 : cores;
        mesos_world_add_agent(&x->world, cores, executors * EXECUTOR_MEMORY + 1000, debian);
}

/* A random task that lives, or -1. */
static int64_t run_choose_task(struct mesos_run *x)
{
        const size_t n = x->world.tasks.len;
        const size_t first = n ? world_chance_draw(&x->world.chance, (uint32_t)n) : 0;
        for (size_t i = 0; i < n; i++)
                if (world_task_lives(&x->world.tasks.data[(first + i) % n]))
                        return (int64_t)((first + i) % n);
        return -1;
}

/* @start: of the event in CPU time of this thread, which other processes do not lengthen. */
static void run_time_event(struct mesos_run *x, int64_t start)
{
        x->longest_ns = MAX(x->longest_ns, thread_cpu_ns() - start);
}

/* -------------------------------------------------------------------------------------------------- coarse-grained */

/* The part of an answer that follows from the driver's settings alone. */
static void coarse_check_launch(struct mesos_run *x, const struct offer_action *action)
{
        struct mesos_world *w = &x->world;
        const int agent = w->states[action->accept.offers[0] - w->offers].agent;
        const struct mesos_world_agent *a = &w->agents.data[agent];
        if (!a->debian)
                world_chance_violate(&w->chance, "%s does not meet the constraints", a->id);
        if (agent == x->excluded)
                world_chance_violate(&w->chance, "%s is excluded", a->host);
        if (a->failures >= MAX_AGENT_FAILURES)
                world_chance_violate(&w->chance, "%s has failed %d times", a->id, a->failures);
        for (size_t i = 0; i < action->accept.n_launches; i++) {
                const struct mesos_launch *l = &action->accept.launches[i];
                if (mesos_resources_sum(l->resources, l->n_resources, "mem") != EXECUTOR_MEMORY * 1000 ||
                    (x->request->executor_cores && l->cores != x->request->executor_cores))
                        world_chance_violate(&w->chance, "executor %" PRId64 " gets less than it needs", l->task);
        }
}

static void coarse_kill_task(struct mesos_run *x, int64_t id)
{
        struct mesos_world_task *t = (size_t)id < x->world.tasks.len ? &x->world.tasks.data[id] : NULL;
        if (!t || !world_task_lives(t)) {
                world_chance_violate(&x->world.chance, "task %" PRId64 ", which does not run, is killed", id);
                return;
        }
        t->state = WORLD_TASK_KILLING;
        t->expected = true;
}

static void coarse_drain(struct mesos_run *x)
{
        struct mesos_world *w = &x->world;
        for (const struct offer_action *a; (a = coarse_offers_next_action(&x->coarse));)
                switch (a->kind) {
                case OFFER_ACTION_ACCEPT:
                        coarse_check_launch(x, a);
                        mesos_world_accept(w, a, false);
                        break;
                case OFFER_ACTION_DECLINE:
                        mesos_world_decline(w, a);
                        break;
                case OFFER_ACTION_REVIVE:
                        mesos_world_revive(w);
                        break;
                case OFFER_ACTION_SUPPRESS:
                        if (w->suppressed)
                                world_chance_violate(&w->chance, "offers are suppressed twice");
                        w->n_suppressed++;
                        w->suppressed = true;
                        break;
                case OFFER_ACTION_KILL:
                        coarse_kill_task(x, a->kill.task);
                        break;
                case OFFER_ACTION_EXECUTOR_ENDED:
                        x->n_ended++;
                        break;
                case OFFER_ACTION_SHUFFLE_SERVICE:
                case OFFER_ACTION_LOG:
                        break;
                }
}

static void coarse_update_task(struct mesos_run *x, int64_t id, mesos_task_state state)
{
        const struct mesos_world_task *t = &x->world.tasks.data[id];
        const struct coarse_update update = {.executor = id,
                                             .agent = x->world.agents.data[t->agent].id,
                                             .state = state,
                                             .invalid_offer = t->invalid};
        coarse_offers_updated(&x->coarse, &update);
        coarse_drain(x);
}

/* The task ends: the core must report its executor then, and not when the update comes again. */
static void coarse_end_task(struct mesos_run *x, int64_t id, mesos_task_state state)
{
        const int64_t before = x->n_ended;
        const struct mesos_world_task *t = &x->world.tasks.data[id];
        mesos_world_end_task(&x->world, id);
        if (task_outcome_is_failure(task_outcome_of(state)) && !t->expected)
                x->world.agents.data[t->agent].failures++;
        coarse_update_task(x, id, state);
        coarse_update_task(x, id, state);
        if (x->n_ended != before + 1)
                world_chance_violate(&x->world.chance, "the end of executor %" PRId64 " is reported %" PRId64 " times",
                                     id, x->n_ended - before);
}

static void coarse_lose_agent(struct mesos_run *x)
{
        const int agent = (int)world_chance_draw(&x->world.chance, (uint32_t)x->world.agents.len);
        if (!x->world.agents.data[agent].alive)
                return;
        x->n_lost++;
        x->world.agents.data[agent].alive = false;
        for (size_t i = 0; i < x->world.tasks.len; i++)
                if (x->world.tasks.data[i].agent == agent && world_task_lives(&x->world.tasks.data[i]))
                        coarse_end_task(x, (int64_t)i, MESOS_TASK_LOST);
        run_add_agent(x, true);
}

/* The tasks that were launched run, those that were killed or lost end, and some fail. */
static void coarse_run_tasks(struct mesos_run *x, double failures)
{
        for (size_t i = 0; i < x->world.tasks.len; i++) {
                struct mesos_world_task *t = &x->world.tasks.data[i];
                if (!world_task_lives(t))
                        continue;
                if (t->invalid) {
                        coarse_end_task(x, (int64_t)i, MESOS_TASK_LOST);
                } else if (t->state == WORLD_TASK_KILLING) {
                        coarse_end_task(x, (int64_t)i, MESOS_TASK_KILLED);
                } else if (world_chance_happens(&x->world.chance, failures)) {
                        x->n_failed++;
                        coarse_end_task(x, (int64_t)i, MESOS_TASK_FAILED);
                } else if (t->state == WORLD_TASK_LAUNCHED) {
                        t->state = WORLD_TASK_RUNNING;
                        coarse_update_task(x, (int64_t)i, MESOS_TASK_RUNNING);
                }
        }
}

static void coarse_set_limit(struct mesos_run *x, int64_t limit)
{
        const char *hosts[3];
        const uint32_t n = world_chance_draw(&x->world.chance, 4);
        for (uint32_t i = 0; i < n; i++)
                hosts[i] =
                        x->world.agents.data[world_chance_draw(&x->world.chance, (uint32_t)x->world.agents.len)].host;
        x->limit = limit;
        coarse_offers_set_limit(&x->coarse, limit, hosts, n, x->world.now);
        coarse_drain(x);
}

static void coarse_exclude(struct mesos_run *x, int64_t agent)
{
        const char *const host = agent < 0 ? NULL : x->world.agents.data[agent].host;
        x->excluded = agent;
        coarse_offers_set_excluded(&x->coarse, &host, agent >= 0);
}

static void coarse_disturb(struct mesos_run *x)
{
        const struct mesos_request *r = x->request;
        struct mesos_world *w = &x->world;
        if (world_chance_happens(&w->chance, r->lost_agents))
                coarse_lose_agent(x);
        if (world_chance_happens(&w->chance, r->targets))
                coarse_set_limit(x, world_chance_draw(&w->chance, (uint32_t)r->executors + 1));
        if (world_chance_happens(&w->chance, r->exclusions))
                coarse_exclude(x, (int64_t)world_chance_draw(&w->chance, (uint32_t)w->agents.len));
        if (world_chance_happens(&w->chance, r->kills)) {
                coarse_offers_kill(&x->coarse, MAX(run_choose_task(x), 0));
                coarse_drain(x);
        }
        if (world_chance_happens(&w->chance, r->restarts)) {
                x->n_restarts++;
                mesos_world_fail_over(w);
                coarse_offers_subscribed(&x->coarse);
        }
}

/* An allocation: the offers of all agents and the core's answers. */
static void coarse_round(struct mesos_run *x, bool faults)
{
        struct mesos_world *w = &x->world;
        const int64_t executors = x->coarse.n_executors;
        w->now += MESOS_WORLD_ALLOCATION_NS;
        x->n_rounds++;
        if (faults)
                coarse_disturb(x);
        mesos_world_allocate(w, x->request->splits);
        for (size_t i = 0; faults && i < w->n_offers; i++)
                if (world_chance_happens(&w->chance, x->request->rescinds)) {
                        x->n_rescinded++;
                        mesos_world_rescind(w, i);
                }
        if (w->n_offers) {
                const int64_t start = thread_cpu_ns();
                coarse_offers_received(&x->coarse, w->offers, w->n_offers, w->now);
                run_time_event(x, start);
        }
        coarse_drain(x);
        mesos_world_check_answers(w);
        if (x->coarse.n_executors > MAX(x->limit, executors) || x->coarse.cores > x->coarse.config->max_cores)
                world_chance_violate(
                        &w->chance, "%" PRId64 " executors with %" PRId64 " cores run, although %" PRId64 " are wanted",
                        x->coarse.n_executors, x->coarse.cores, x->limit);
        coarse_run_tasks(x, faults ? x->request->failures : 0);
}

/* Rounds without faults until @wanted executors run. Agents that failed are replaced. */
static void coarse_settle(struct mesos_run *x, int64_t wanted)
{
        const struct mesos_request *r = x->request;
        for (int i = 0; i < r->agents && x->n_failed + x->n_lost; i++)
                run_add_agent(x, true);
        for (int i = 0; !x->world.chance.violation && i < MAX_SETTLING_ROUNDS; i++) {
                coarse_round(x, false);
                if (x->coarse.n_executors == wanted)
                        return;
        }
        world_chance_violate(&x->world.chance, "%" PRId64 " executors run, although %" PRId64 " are wanted",
                             x->coarse.n_executors, wanted);
}

static void coarse_check_end(struct mesos_run *x)
{
        struct mesos_world *w = &x->world;
        coarse_round(x, false);
        if (!w->suppressed)
                world_chance_violate(&w->chance, "offers are not suppressed, although no executor is wanted");
        for (size_t i = 0; i < w->tasks.len; i++)
                if (world_task_lives(&w->tasks.data[i]))
                        world_chance_violate(&w->chance, "executor %zu is left", i);
        for (size_t i = 0; i < w->agents.len; i++)
                if (w->agents.data[i].used_cpus || w->agents.data[i].used_memory)
                        world_chance_violate(&w->chance, "resources of %s are still in use", w->agents.data[i].id);
        if (x->n_ended != w->n_launched)
                world_chance_violate(&w->chance, "%" PRId64 " executors were launched and %" PRId64 " ended",
                                     w->n_launched, x->n_ended);
}

static void coarse_run(struct mesos_run *x)
{
        const struct mesos_request *r = x->request;
        struct coarse_offers_config config = {.executor_memory = EXECUTOR_MEMORY,
                                              .executor_cores = r->executor_cores,
                                              .limit = 0,
                                              .refuse_unmet_ms = 120000,
                                              .refuse_max_cores_ms = 120000,
                                              .locality_wait = 3 * MESOS_WORLD_ALLOCATION_NS,
                                              .prefers_hosts = true};
        config.max_cores = (int64_t)r->executors * MAX(r->executor_cores, r->cores);
        mesos_constraints_parse(&config.constraints, "os:debian", NULL);
        coarse_offers_init(&x->coarse, &config);
        coarse_set_limit(x, r->executors);
        for (int i = 0; !x->world.chance.violation && i < r->rounds; i++)
                coarse_round(x, true);
        coarse_exclude(x, -1);
        coarse_set_limit(x, r->executors);
        coarse_settle(x, r->executors);
        coarse_offers_kill(&x->coarse, MAX(run_choose_task(x), 0)); /* another one must start without a new target */
        coarse_drain(x);
        coarse_round(x, false);
        coarse_settle(x, r->executors);
        coarse_set_limit(x, 0);
        for (size_t i = 0; i < x->world.tasks.len; i++)
                coarse_offers_kill(&x->coarse, (int64_t)i);
        coarse_drain(x);
        coarse_settle(x, 0);
        coarse_check_end(x);
        coarse_offers_deinit(&x->coarse);
        mesos_constraints_deinit(&config.constraints);
}

/* ---------------------------------------------------------------------------------------------------- fine-grained */

static void fine_drain(struct mesos_run *x)
{
        struct mesos_world *w = &x->world;
        for (const struct offer_action *a; (a = fine_offers_next_action(&x->fine));)
                if (a->kind == OFFER_ACTION_ACCEPT)
                        mesos_world_accept(w, a, true);
                else if (a->kind == OFFER_ACTION_DECLINE)
                        mesos_world_decline(w, a);
                else if (a->kind == OFFER_ACTION_REVIVE)
                        mesos_world_revive(w);
                else if (a->kind == OFFER_ACTION_EXECUTOR_ENDED)
                        x->n_ended++;
}

/* A task ends. One that did not finish is to run again. */
static void fine_end_task(struct mesos_run *x, int64_t id, mesos_task_state state, bool by_executor)
{
        const struct fine_update update = {.task = id,
                                           .state = state,
                                           .by_executor = by_executor,
                                           .not_launched = x->world.tasks.data[id].invalid};
        mesos_world_end_task(&x->world, id);
        if (!fine_offers_updated(&x->fine, &update) || fine_offers_updated(&x->fine, &update))
                world_chance_violate(&x->world.chance, "task %" PRId64 " does not end once", id);
        x->todo += state != MESOS_TASK_FINISHED;
        fine_drain(x);
}

/* The executor of an agent ends, with its tasks. */
static void fine_end_executor(struct mesos_run *x, int agent)
{
        struct mesos_world *w = &x->world;
        mesos_world_end_executor(w, agent);
        for (size_t i = 0; i < w->tasks.len; i++)
                if (w->tasks.data[i].agent == agent && world_task_lives(&w->tasks.data[i]))
                        fine_end_task(x, (int64_t)i, MESOS_TASK_LOST, false);
        fine_offers_executor_lost(&x->fine, w->agents.data[agent].id, false, "lost");
        fine_drain(x);
        if (fine_offers_has_executor(&x->fine, w->agents.data[agent].id))
                world_chance_violate(&w->chance, "the core knows an executor on %s, which is lost",
                                     w->agents.data[agent].id);
}

static void fine_run_tasks(struct mesos_run *x, bool faults)
{
        for (size_t i = 0; i < x->world.tasks.len; i++) {
                struct mesos_world_task *t = &x->world.tasks.data[i];
                if (!world_task_lives(t))
                        continue;
                if (t->invalid) {
                        fine_end_task(x, (int64_t)i, MESOS_TASK_LOST, false);
                        continue;
                }
                fine_offers_registered(&x->fine, x->world.agents.data[t->agent].id);
                if (faults && world_chance_happens(&x->world.chance, x->request->failures)) {
                        x->n_failed++;
                        if (world_chance_happens(&x->world.chance, 0.5))
                                fine_end_task(x, (int64_t)i, MESOS_TASK_FAILED, true);
                        else
                                fine_end_executor(x, t->agent);
                } else if (world_chance_happens(&x->world.chance, 0.5)) {
                        fine_end_task(x, (int64_t)i, MESOS_TASK_FINISHED, true);
                }
        }
}

static void fine_lose_agent(struct mesos_run *x)
{
        const int agent = (int)world_chance_draw(&x->world.chance, (uint32_t)x->world.agents.len);
        if (!x->world.agents.data[agent].alive)
                return;
        x->n_lost++;
        x->world.agents.data[agent].alive = false;
        fine_end_executor(x, agent);
        run_add_agent(x, true);
}

static void fine_round(struct mesos_run *x, bool faults)
{
        struct mesos_world *w = &x->world;
        w->now += MESOS_WORLD_ALLOCATION_NS;
        x->n_rounds++;
        if (faults && world_chance_happens(&w->chance, x->request->lost_agents))
                fine_lose_agent(x);
        if (faults && world_chance_happens(&w->chance, x->request->restarts)) {
                x->n_restarts++;
                mesos_world_fail_over(w);
        }
        if (x->todo && world_chance_happens(&w->chance, 0.5))
                fine_offers_revive(&x->fine);
        fine_drain(x);
        mesos_world_allocate(w, x->request->splits);
        for (size_t i = 0; faults && i < w->n_offers; i++)
                if (world_chance_happens(&w->chance, x->request->rescinds)) {
                        x->n_rescinded++;
                        mesos_world_rescind(w, i);
                }
        const int64_t start = thread_cpu_ns();
        fine_offers_received(&x->fine, w->offers, w->n_offers);
        for (size_t i = 0; i < x->fine.n_usable; i++)
                while (x->todo > 0 && fine_offers_add_task(&x->fine, i, x->next_task)) {
                        x->next_task++;
                        x->todo--;
                }
        fine_offers_answer(&x->fine);
        if (w->n_offers)
                run_time_event(x, start);
        fine_drain(x);
        mesos_world_check_answers(w);
        fine_run_tasks(x, faults);
}

static void fine_run(struct mesos_run *x)
{
        const struct mesos_request *r = x->request;
        struct fine_offers_config config = {.executor_cores_milli = 500,
                                            .executor_memory = EXECUTOR_MEMORY,
                                            .task_cores = 1,
                                            .refuse_unmet_ms = 120000};
        mesos_constraints_parse(&config.constraints, "os:debian", NULL);
        fine_offers_init(&x->fine, &config);
        x->todo = r->executors;
        for (int i = 0; !x->world.chance.violation && i < r->rounds; i++)
                fine_round(x, true);
        for (int i = 0; !x->world.chance.violation && i < MAX_SETTLING_ROUNDS && (x->todo || run_choose_task(x) >= 0);
             i++)
                fine_round(x, false);
        if (x->todo || run_choose_task(x) >= 0)
                world_chance_violate(&x->world.chance, "%" PRId64 " tasks were never launched", x->todo);
        fine_offers_deinit(&x->fine);
        mesos_constraints_deinit(&config.constraints);
}

/* -------------------------------------------------------------------------------------------------------------- run */

static void simulate_mesos_report(const struct mesos_run *x, uint64_t seed, double seconds)
{
        const struct mesos_world *w = &x->world;
        const double longest = (double)x->longest_ns / 1e6;
        if (x->request->json)
                printf("{\"seed\": %" PRIu64 ", \"rounds\": %" PRId64 ", \"offers\": %" PRId64
                       ", \"accepted\": %" PRId64 ", \"declined\": %" PRId64 ", \"launched\": %" PRId64
                       ", \"ended\": %" PRId64 ", \"failed\": %" PRId64 ", \"lostAgents\": %" PRId64
                       ", \"rescinded\": %" PRId64 ", \"restarts\": %" PRId64 ", \"revived\": %" PRId64
                       ", \"suppressed\": %" PRId64
                       ", \"longestEventMs\": %.3f, \"seconds\": %.3f, \"violation\": %s%s%s}\n",
                       seed, x->n_rounds, w->n_offered, w->n_accepted, w->n_declined, w->n_launched, x->n_ended,
                       x->n_failed, x->n_lost, x->n_rescinded, x->n_restarts, w->n_revived, w->n_suppressed, longest,
                       seconds, w->chance.violation ? "\"" : "", w->chance.violation ? w->chance.violation : "null",
                       w->chance.violation ? "\"" : "");
        else
                printf("seed %" PRIu64 ": %" PRId64 " offers in %" PRId64 " allocations, %" PRId64 " accepted, %" PRId64
                       " tasks, %" PRId64 " failed, %" PRId64 " agents lost, %" PRId64 " offers rescinded, %" PRId64
                       " restarts, longest event %.3f ms, %.3f s\n",
                       seed, w->n_offered, x->n_rounds, w->n_accepted, w->n_launched, x->n_failed, x->n_lost,
                       x->n_rescinded, x->n_restarts, longest, seconds);
}

static int simulate_mesos_run(const struct mesos_request *r, uint64_t seed)
{
        struct mesos_run x = {.request = r, .excluded = -1};
        const int64_t start = now_ns();
        mesos_world_init(&x.world, seed);
        for (int i = 0; i < r->agents; i++)
                run_add_agent(&x, !world_chance_happens(&x.world.chance, r->constraints));
        if (r->fine)
                fine_run(&x);
        else
                coarse_run(&x);
        simulate_mesos_report(&x, seed, (double)(now_ns() - start) / 1e9);
        if (x.world.chance.violation)
                fprintf(stderr, "Error: seed %" PRIu64 ": %s\n", seed, x.world.chance.violation);
        const int status = x.world.chance.violation ? 1 : 0;
        mesos_world_deinit(&x.world);
        return status;
}

/* --------------------------------------------------------------------------------------------------------- options */

static int simulate_mesos_usage(const char *problem, const char *word)
{
        fprintf(stderr, "Error: %s '%s' (see `firesteel simulate --mesos --help`)\n", problem, word);
        return 2;
}

static bool mesos_request_set(struct mesos_request *r, const char *name, const char *value, bool *known)
{
        const struct simulate_option options[] = {
                {"--agents", &r->agents, NULL, 1, 100000},
                {"--cores", &r->cores, NULL, 2, 40},
                {"--executor-cores", &r->executor_cores, NULL, 0, 40},
                {"--executors", &r->executors, NULL, 1, 1000000},
                {"--rounds", &r->rounds, NULL, 0, 100000},
                {"--fine", &r->fine, NULL, 0, 1},
                {"--failures", NULL, &r->failures, 0, 1},
                {"--lost-agents", NULL, &r->lost_agents, 0, 1},
                {"--rescinds", NULL, &r->rescinds, 0, 1},
                {"--splits", NULL, &r->splits, 0, 1},
                {"--targets", NULL, &r->targets, 0, 1},
                {"--kills", NULL, &r->kills, 0, 1},
                {"--exclusions", NULL, &r->exclusions, 0, 1},
                {"--restarts", NULL, &r->restarts, 0, 1},
                {"--constraints", NULL, &r->constraints, 0, 1},
        };
        const struct simulate_common common = {&r->seed, &r->last_seed, &r->json};
        return simulate_set_option(options, ARRAY_SIZE(options), &common, name, value, known);
}

int simulate_mesos(int argc, char **argv)
{
        struct mesos_request r = {.agents = 10000,
                                  .cores = 8,
                                  .executor_cores = 4,
                                  .executors = 1000,
                                  .rounds = 20,
                                  .seed = 1,
                                  .last_seed = 1};
        int status = 0;
        for (int i = 1; i < argc; i++) {
                bool known;
                if (strcmp(argv[i], "--mesos") == 0)
                        continue;
                if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
                        return fputs(simulate_mesos_help, stdout) < 0;
                const bool valid = mesos_request_set(&r, argv[i], i + 1 < argc ? argv[i + 1] : "", &known);
                if (!known)
                        return simulate_mesos_usage("unknown option", argv[i]);
                if (i + 1 == argc)
                        return simulate_mesos_usage("a value is missing after", argv[i]);
                if (!valid)
                        return simulate_mesos_usage("invalid value:", argv[i + 1]);
                i++;
        }
        if (!r.fine && (r.executors > r.agents || r.executor_cores > r.cores)) /* one on each agent fits surely */
                return simulate_mesos_usage("the agents have no room for the executors: raise", "--agents");
        for (uint64_t seed = r.seed; seed <= r.last_seed; seed++)
                status = MAX(status, simulate_mesos_run(&r, seed));
        return fflush(stdout) == 0 ? status : 1;
}
