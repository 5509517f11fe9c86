/* See worker_state.h. */
#include "standalone/worker/worker_state.h"

#include "base/mem.h"
#include "exec/executor_resources.h"
#include "standalone/wire/standalone_wire.h"

#include <string.h>

struct resource_addresses *worker_resources_copy(Firesteel__Standalone__Resource *const *resources, size_t n)
{
        struct resource_addresses *copy = new_array(struct resource_addresses, n);
        for (size_t i = 0; i < n; i++) {
                const char **addresses = new_array(const char *, resources[i]->n_addresses);
                for (size_t a = 0; a < resources[i]->n_addresses; a++)
                        addresses[a] = mem_strdup(resources[i]->addresses[a]);
                copy[i].name = mem_strdup(resources[i]->name);
                copy[i].addresses = addresses;
                copy[i].n = (int)resources[i]->n_addresses;
        }
        return copy;
}

void worker_resources_deinit(struct resource_addresses *resources, int n)
{
        for (int i = 0; i < n; i++) {
                for (int a = 0; a < resources[i].n; a++)
                        free((char *)resources[i].addresses[a]);
                free((void *)resources[i].addresses);
                free((char *)resources[i].name);
        }
        free(resources);
}

int worker_resources_write(const struct resource_addresses *resources, int n, const char *component,
                           const char *directory, char **path, struct fst_error *error)
{
        *path = NULL;
        if (n == 0)
                return 0;
        struct executor_resources written = {.list = new_array(Firesteel__Resource *, (size_t)n), .n = (size_t)n};
        for (int i = 0; i < n; i++) {
                Firesteel__Resource *r = written.list[i] = mem_alloc(sizeof(*r));
                firesteel__resource__init(r);
                r->name = (char *)resources[i].name;
                r->addresses = (char **)resources[i].addresses;
                r->n_addresses = (size_t)resources[i].n;
        }
        *path = mem_printf("%s/resource-%s.json", directory, strrchr(component, '.') + 1);
        int r = executor_resources_write(&written, component, *path, error);
        for (int i = 0; i < n; i++)
                free(written.list[i]);
        free(written.list);
        return r;
}

void worker_executor_state_deinit(struct worker_executor_state *state)
{
        free(state->app_id);
        free(state->app_name);
        free(state->app_user);
        free(state->directory);
        free(state->command);
        worker_resources_deinit(state->resources, state->n_resources);
}

void worker_driver_state_deinit(struct worker_driver_state *state)
{
        free(state->id);
        free(state->main_class);
        free(state->exception);
        free(state->directory);
        worker_resources_deinit(state->resources, state->n_resources);
}

Firesteel__Standalone__Resource **worker_resources_message(const struct resource_addresses *resources, int n,
                                                           struct arena *arena)
{
        Firesteel__Standalone__Resource **list =
                arena_alloc(arena, (size_t)n * sizeof(Firesteel__Standalone__Resource *));
        for (int i = 0; i < n; i++) {
                list[i] = arena_alloc(arena, sizeof(*list[i]));
                firesteel__standalone__resource__init(list[i]);
                list[i]->name = (char *)resources[i].name;
                list[i]->addresses = (char **)resources[i].addresses;
                list[i]->n_addresses = (size_t)resources[i].n;
        }
        return list;
}

static Firesteel__Standalone__ExecutorReport *executor_message(const struct worker_executor_state *x,
                                                               struct arena *arena)
{
        Firesteel__Standalone__ExecutorReport *report = arena_alloc(arena, sizeof(*report));
        firesteel__standalone__executor_report__init(report);
        report->app_id = x->app_id;
        report->executor = x->id;
        report->profile = x->profile;
        report->cores = x->cores;
        report->memory = x->memory;
        report->state = (char *)executor_state_name(x->state);
        report->resources = worker_resources_message(x->resources, x->n_resources, arena);
        report->n_resources = (size_t)x->n_resources;
        return report;
}

static Firesteel__Standalone__DriverReport *driver_message(const struct worker_driver_state *d, struct arena *arena)
{
        Firesteel__Standalone__DriverReport *report = arena_alloc(arena, sizeof(*report));
        firesteel__standalone__driver_report__init(report);
        report->driver_id = d->id;
        report->resources = worker_resources_message(d->resources, d->n_resources, arena);
        report->n_resources = (size_t)d->n_resources;
        return report;
}

Firesteel__Standalone__WorkerState *worker_state_message(const struct worker_view *v, const char *id,
                                                         struct arena *arena)
{
        Firesteel__Standalone__WorkerState *m = arena_alloc(arena, sizeof(*m));
        firesteel__standalone__worker_state__init(m);
        m->worker_id = (char *)id;
        m->n_executors = v->executors.len;
        m->executors = arena_alloc(arena, m->n_executors * sizeof(Firesteel__Standalone__ExecutorReport *));
        for (size_t i = 0; i < m->n_executors; i++)
                m->executors[i] = executor_message(v->executors.data[i], arena);
        m->n_drivers = v->drivers.len;
        m->drivers = arena_alloc(arena, m->n_drivers * sizeof(Firesteel__Standalone__DriverReport *));
        for (size_t i = 0; i < m->n_drivers; i++)
                m->drivers[i] = driver_message(v->drivers.data[i], arena);
        return m;
}
