/* Random worlds: drivers that fail, masters and dispatchers that end, offers that are void, and updates that come twice
 * or in another order. No driver has two tasks, nothing is lost, nothing waits in vain.
 */
#include "mesos/dispatcher/dispatcher_core.h"

#include "base/clock.h"
#include "base/mem.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

typedef VEC(char *) sim_ids;

enum { WORLDS = 300, STEPS = 400, AGENTS = 3, MAX_DRIVERS = 40, CPUS = 2 };

/* A task as Mesos knows it. */
struct sim_mesos_task {
        char *id;
        int agent;
        mesos_task_state state;
        bool ended;
};

/* A driver as its submitter knows it. */
struct sim_driver {
        char *id;
        bool supervise, killed;
        int removed; /* times that its record was removed */
};

struct sim_record {
        struct mesos_driver_record record; /* owns its texts */
};

static struct sim_world {
        uint64_t random, seed;
        int64_t now;
        struct dispatcher_config config;
        struct dispatcher d;
        VEC(struct sim_mesos_task) tasks;
        struct sim_driver drivers[MAX_DRIVERS];
        int n_drivers;
        VEC(struct sim_record) records;
        int used[AGENTS];
        bool revived;
} w;

#define HOLDS(condition)                                                                                               \
        do {                                                                                                           \
                if (!(condition))                                                                                      \
                        fail_msg("seed %llu: %s", (unsigned long long)w.seed, #condition);                             \
        } while (0)

static int sim_random(int n)
{
        w.random = w.random * 6364136223846793005u + 1442695040888963407u;
        return (int)((w.random >> 33) % (uint64_t)n);
}

/* ------------------------------------------------------------------------------------------------- records */

static void sim_record_deinit(struct sim_record *r)
{
        free((char *)r->record.id);
        free((char *)r->record.task_id);
        free((char *)r->record.agent);
        free((char *)r->record.hostname);
}

static void sim_remove_record(const char *id)
{
        for (size_t i = 0; i < w.records.len; i++)
                if (strcmp(w.records.data[i].record.id, id) == 0) {
                        sim_record_deinit(&w.records.data[i]);
                        w.records.data[i] = w.records.data[--w.records.len];
                        return;
                }
}

static void sim_store(const struct mesos_driver *driver)
{
        struct sim_record r;
        mesos_driver_to_record(&w.d, driver, &r.record);
        r.record.id = mem_strdup(r.record.id);
        r.record.task_id = mem_strdup_if(r.record.task_id);
        r.record.agent = mem_strdup_if(r.record.agent);
        r.record.hostname = mem_strdup_if(r.record.hostname);
        r.record.status = NULL;
        r.record.status_size = 0;
        r.record.spec = (struct mesos_driver_spec){
                .cpus_milli = 1000, .memory = 1, .supervise = driver->supervise}; /* the texts of the driver end */
        sim_remove_record(r.record.id);
        vec_push(&w.records, r);
}

static struct sim_driver *sim_driver(const char *id)
{
        for (int i = 0; i < w.n_drivers; i++)
                if (strcmp(w.drivers[i].id, id) == 0)
                        return &w.drivers[i];
        return NULL;
}

/* ------------------------------------------------------------------------------------------------- Mesos */

static struct sim_mesos_task *sim_task(const char *id)
{
        for (size_t i = 0; i < w.tasks.len; i++)
                if (strcmp(w.tasks.data[i].id, id) == 0)
                        return &w.tasks.data[i];
        return NULL;
}

static void sim_take_actions(void);

static void sim_update(const char *task_id, mesos_task_state state, bool reconciliation, bool invalid)
{
        dispatcher_updated(
                &w.d,
                &(struct dispatcher_update){
                        .task_id = task_id, .state = state, .reconciliation = reconciliation, .invalid_offer = invalid},
                w.now);
        sim_take_actions();
}

static void sim_end_task(struct sim_mesos_task *task, mesos_task_state state)
{
        if (task->ended)
                return;
        task->ended = true;
        task->state = state;
        w.used[task->agent]--;
}

static int sim_living_tasks(const char *driver_id)
{
        int n = 0;
        const size_t length = strlen(driver_id);
        for (size_t i = 0; i < w.tasks.len; i++)
                n += !w.tasks.data[i].ended && strncmp(w.tasks.data[i].id, driver_id, length) == 0;
        return n;
}

static void sim_accept(const struct dispatcher_action *a, bool valid, sim_ids *lost)
{
        const int agent = atoi(a->accept.offer->agent);
        for (size_t i = 0; i < a->accept.n_launches; i++) {
                const struct mesos_driver *driver = a->accept.launches[i].driver;
                HOLDS(sim_living_tasks(driver->id) == 0);
                HOLDS(!sim_driver(driver->id)->killed);
                HOLDS(!sim_task(driver->task_id));
                bool stored = false;
                for (size_t r = 0; r < w.records.len; r++)
                        stored |= strcmp(w.records.data[r].record.id, driver->id) == 0 &&
                                  w.records.data[r].record.state == MESOS_DRIVER_LAUNCHED;
                HOLDS(stored);
                if (!valid)
                        continue;
                vec_push(&w.tasks, (struct sim_mesos_task){.id = mem_strdup(driver->task_id),
                                                           .agent = agent,
                                                           .state = MESOS_TASK_RUNNING});
                w.used[agent]++;
                HOLDS(w.used[agent] <= CPUS);
        }
        for (size_t i = 0; !valid && i < a->accept.n_launches; i++)
                vec_push(lost, mem_strdup(a->accept.launches[i].driver->task_id));
}

static void sim_take_actions(void)
{
        sim_ids lost = {0}, killed = {0}, asked = {0};
        for (const struct dispatcher_action *a; (a = dispatcher_next_action(&w.d));) {
                if (a->kind == DISPATCHER_STORE) {
                        sim_store(a->driver);
                } else if (a->kind == DISPATCHER_REMOVE) {
                        sim_remove_record(a->id);
                        HOLDS(sim_driver(a->id));
                        sim_driver(a->id)->removed++;
                } else if (a->kind == DISPATCHER_ACCEPT) {
                        sim_accept(a, sim_random(5) > 0, &lost);
                } else if (a->kind == DISPATCHER_KILL) {
                        vec_push(&killed, mem_strdup(a->driver->task_id));
                } else if (a->kind == DISPATCHER_RECONCILE) {
                        for (size_t i = 0; i < a->reconcile.n_drivers; i++)
                                vec_push(&asked, mem_strdup(a->reconcile.drivers[i]->task_id));
                }
                w.revived |= a->kind == DISPATCHER_REVIVE;
        }
        for (size_t i = 0; i < lost.len; i++) {
                sim_update(lost.data[i], MESOS_TASK_LOST, false, true);
                free(lost.data[i]);
        }
        for (size_t i = 0; i < killed.len; i++) {
                struct sim_mesos_task *task = sim_task(killed.data[i]);
                if (task)
                        sim_end_task(task, sim_random(4) ? MESOS_TASK_KILLED : MESOS_TASK_LOST);
                sim_update(killed.data[i], task ? task->state : MESOS_TASK_LOST, !task, false);
                free(killed.data[i]);
        }
        for (size_t i = 0; i < asked.len; i++) {
                const struct sim_mesos_task *task = sim_task(asked.data[i]);
                sim_update(asked.data[i], task ? task->state : MESOS_TASK_LOST, true, false);
                free(asked.data[i]);
        }
        vec_deinit(&lost);
        vec_deinit(&killed);
        vec_deinit(&asked);
}

/* ------------------------------------------------------------------------------------------------- what happens */

static void sim_submit(void)
{
        if (w.n_drivers == MAX_DRIVERS)
                return;
        struct mesos_driver_spec spec = {.name = "a", .cpus_milli = 1000, .memory = 1, .supervise = sim_random(2) == 0};
        const bool supervise = spec.supervise;
        struct dispatcher_reply reply = dispatcher_submit(&w.d, &spec, w.now);
        if (reply.success)
                w.drivers[w.n_drivers++] =
                        (struct sim_driver){.id = mem_strdup(reply.driver_id), .supervise = supervise};
        sim_take_actions();
}

static void sim_kill(void)
{
        if (w.n_drivers == 0)
                return;
        struct sim_driver *driver = &w.drivers[sim_random(w.n_drivers)];
        struct dispatcher_reply reply = dispatcher_kill(&w.d, driver->id, w.now);
        driver->killed |= reply.success;
        sim_take_actions();
}

static void sim_offer(void)
{
        const int agent = sim_random(AGENTS);
        const struct mesos_resource resources[] = {
                {.name = "cpus", .role = "*", .milli = (CPUS - w.used[agent]) * 1000},
                {.name = "mem", .role = "*", .milli = 1000000}};
        const char name[] = {(char)('0' + agent), 0};
        const struct mesos_offer o = {
                .id = "o", .agent = name, .hostname = name, .resources = resources, .n_resources = 2};
        if (w.used[agent] == CPUS)
                return;
        dispatcher_received(&w.d, &o, 1, w.now);
        sim_take_actions();
}

static void sim_change_task(void)
{
        static const mesos_task_state ends[] = {MESOS_TASK_FINISHED, MESOS_TASK_FAILED, MESOS_TASK_LOST,
                                                     MESOS_TASK_ERROR};
        if (w.tasks.len == 0)
                return;
        struct sim_mesos_task *task = &w.tasks.data[sim_random((int)w.tasks.len)];
        if (!task->ended && sim_random(3) == 0)
                sim_end_task(task, ends[sim_random(4)]);
        _cleanup_free_ char *id = mem_strdup(task->id);
        const mesos_task_state state = task->state;
        sim_update(id, state, false, false);
        if (sim_random(5) == 0)
                sim_update(id, state, false, false);
}

/* The next dispatcher knows the records. Updates to the last one may be lost. */
static void sim_restart(void)
{
        dispatcher_deinit(&w.d);
        dispatcher_init(&w.d, &w.config);
        dispatcher_recover_framework(&w.d, "fw");
        for (size_t i = 0; i < w.records.len; i++)
                dispatcher_recover(&w.d, &w.records.data[i].record, w.now);
        dispatcher_subscribed(&w.d, "fw", w.now);
        sim_take_actions();
}

static void sim_step(void)
{
        w.now += sim_random(2000) * NS_PER_MS;
        if (dispatcher_deadline(&w.d) <= w.now) {
                w.revived = false;
                dispatcher_tick(&w.d, w.now);
                sim_take_actions();
                HOLDS(w.revived);
        }
        const int what = sim_random(100);
        if (what < 15)
                sim_submit();
        else if (what < 22)
                sim_kill();
        else if (what < 60)
                sim_offer();
        else if (what < 95)
                sim_change_task();
        else if (what < 97)
                sim_restart();
        else if (what < 99)
                dispatcher_subscribed(&w.d, "fw", w.now), sim_take_actions();
        else
                dispatcher_ask_states(&w.d), sim_take_actions();
        HOLDS(w.records.len == w.d.n_queued + w.d.n_launched + w.d.n_retrying);
        for (int i = 0; i < w.n_drivers; i++)
                HOLDS(sim_living_tasks(w.drivers[i].id) <= 1);
}

/* Offers come and tasks end well: everything ends. */
static void sim_finish(void)
{
        for (int round = 0; round < 5000 && w.records.len > 0; round++) {
                w.now += NS_PER_SECOND;
                dispatcher_tick(&w.d, w.now);
                sim_take_actions();
                sim_offer();
                for (size_t i = 0; i < w.tasks.len; i++) {
                        if (w.tasks.data[i].ended)
                                continue;
                        sim_end_task(&w.tasks.data[i], MESOS_TASK_FINISHED);
                        _cleanup_free_ char *id = mem_strdup(w.tasks.data[i].id);
                        sim_update(id, MESOS_TASK_FINISHED, false, false);
                }
                if (round % 10 == 0) /* updates that a dispatcher that ended had received */
                        dispatcher_ask_states(&w.d), sim_take_actions();
        }
        HOLDS(w.records.len == 0);
        for (int i = 0; i < w.n_drivers; i++)
                HOLDS(w.drivers[i].removed == 1 && sim_living_tasks(w.drivers[i].id) == 0);
}

static void sim_world(uint64_t seed)
{
        memset(&w, 0, sizeof(w));
        w.seed = w.random = seed;
        w.config = (struct dispatcher_config){.max_drivers = 1 + sim_random(6),
                                              .retained_drivers = 1 + sim_random(20),
                                              .max_retry_wait = (1 + sim_random(8)) * NS_PER_SECOND};
        dispatcher_init(&w.d, &w.config);
        dispatcher_subscribed(&w.d, "fw", 0);
        sim_take_actions();
        for (int i = 0; i < STEPS; i++)
                sim_step();
        sim_finish();
        dispatcher_deinit(&w.d);
        for (size_t i = 0; i < w.tasks.len; i++)
                free(w.tasks.data[i].id);
        vec_deinit(&w.tasks);
        for (int i = 0; i < w.n_drivers; i++)
                free(w.drivers[i].id);
        vec_deinit(&w.records);
}

static void drivers_end_once_in_random_worlds(void **state)
{
        const char *one = getenv("SEED");
        if (one)
                return sim_world(strtoull(one, NULL, 10));
        for (uint64_t seed = 1; seed <= WORLDS; seed++)
                sim_world(seed);
}

int main(void)
{
        const struct CMUnitTest tests[] = {cmocka_unit_test(drivers_end_once_in_random_worlds)};
        return cmocka_run_group_tests(tests, NULL, NULL);
}
