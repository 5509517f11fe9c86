/* See worker_state.h. */
#include "deploy/standalone/worker_state.h"

#include "deploy/standalone/standalone_wire.h"

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
