/* Invariants of the simulated master; master_sim_test.c lists them. */
#include "standalone/core/master_sim.h"

#include <stdlib.h>

static void check_worker(const struct master_worker *mw)
{
        int cores = 0, addresses = 0, executors = 0, drivers = 0;
        int64_t memory = 0;

        for (const struct master_executor *e = mw->executors; e; e = e->next_on_worker, executors++) {
                HOLDS(e->worker == mw && !executor_state_is_finished(e->state));
                cores += e->cores;
                memory += e->memory;
                for (int i = 0; i < e->n_holds; i++)
                        addresses += e->holds[i].n;
        }
        for (const struct master_driver *d = mw->drivers; d; d = d->next_on_worker, drivers++) {
                cores += d->cores;
                memory += d->memory;
        }
        HOLDS(cores == mw->cores_used && cores <= mw->cores);
        HOLDS(memory == mw->memory_used && memory <= mw->memory);
        HOLDS(executors == mw->n_executors && drivers == mw->n_drivers);
        if (mw->n_resources) {
                int used = 0;

                for (int i = 0; i < mw->resources[0].n; i++)
                        used += mw->resources[0].used[i];
                HOLDS(used == addresses && mw->resources[0].free == mw->resources[0].n - used);
        }
        HOLDS((mw->state == WORKER_ALIVE) == mw->node.inside);
}

static void master_sim_check_check_records(void)
{
        int expected = world.m->n_apps + world.m->n_drivers;

        for (const struct master_worker *mw = world.m->workers.first; mw; mw = mw->next)
                expected += mw->state != WORKER_DECOMMISSIONED;
        HOLDS(world.n_records == expected);
        for (int i = 0; i < world.n_records; i++) {
                const char *id = world.records[i].id;

                switch (world.records[i].kind) {
                case MASTER_RECORD_APP:
                        HOLDS(master_app(world.m, id));
                        HOLDS((master_app(world.m, id)->state == APP_WAITING_FOR_DRIVER) == world.records[i].waiting);
                        break;
                case MASTER_RECORD_DRIVER:
                        HOLDS(master_driver(world.m, id));
                        HOLDS(master_driver(world.m, id)->was_launched == world.records[i].launched);
                        break;
                case MASTER_RECORD_WORKER:
                        HOLDS(master_worker(world.m, id));
                        break;
                case MASTER_RECORD_FRAMEWORK:
                        HOLDS(false);
                }
        }
}

void world_check(void)
{
        size_t n_alive = 0;

        for (const struct master_worker *mw = world.m->workers.first; mw; mw = mw->next) {
                check_worker(mw);
                n_alive += mw->state == WORKER_ALIVE;
        }
        HOLDS(n_alive == world.m->alive.len);
        for (const struct master_app *app = world.m->apps.first; app; app = app->next) {
                int cores = 0, running = 0, n = 0;

                for (const struct master_executor *e = app->executors; e; e = e->next_in_app) {
                        HOLDS(!e->left || e->worker);
                        cores += e->left ? 0 : e->cores;
                        n += !e->left;
                        running += !e->left && e->state == EXECUTOR_RUNNING;
                }
                HOLDS((app->state == APP_WAITING_FOR_DRIVER) == (app->lost != 0));
                HOLDS(cores == app->cores_granted && running == app->n_running && n == app->n_executors);
        }
        master_sim_check_check_records();
        for (int i = 0; i < APPS; i++)
                HOLDS(!world.clients[i].lives || world.clients[i].gone || master_app(world.m, world.clients[i].id));
        int times[TOKENS] = {0};

        for (const struct master_driver *d = world.m->drivers.first; d; d = d->next)
                times[atoi(d->main_class)]++;
        for (int i = 0; i < world.n_tokens; i++) {
                HOLDS(times[i] <= 1);
                HOLDS(times[i] == 1 || world.over[i] || !world.supervised[i]);
        }
}

void world_check_no_starvation(void)
{
        if (world.m->status != MASTER_ALIVE)
                return;
        for (const struct master_worker *mw = world.m->workers.first; mw; mw = mw->next) {
                if (mw->state != WORKER_ALIVE)
                        continue;
                for (const struct master_app *app = world.m->apps.first; app; app = app->next)
                        for (size_t i = 0; i < app->profiles.len; i++) {
                                const struct app_profile *p = app->profiles.data[i];

                                HOLDS(!p->known || app->lost || p->executors >= p->target ||
                                      app_cores_left(app) < MAX(p->cores, 1) ||
                                      !worker_has(mw, MAX(p->cores, 1), p->memory, &p->needs));
                        }
                for (const struct master_driver *d = world.m->drivers.first; d; d = d->next)
                        HOLDS(!d->waiting || !worker_has(mw, d->cores, d->memory, &d->needs) ||
                              world.m->n_drivers - world.m->n_waiting_drivers >= world.m->config.max_drivers);
        }
}
