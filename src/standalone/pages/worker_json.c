/* A worker's state as JSON. Resources in use are those of running executors and drivers. */
#include "standalone/pages/worker_json.h"

#include "standalone/pages/master_json.h"

static void worker_json_put_resources(struct json_out *j, const char *name, const struct resource_addresses *resources,
                                      int n)
{
        json_begin_in(j, name);
        for (int i = 0; i < n; i++) {
                json_begin_resource(j, resources[i].name);
                for (int k = 0; k < resources[i].n; k++)
                        json_text(j, NULL, resources[i].addresses[k]);
                json_end_resource(j);
        }
        json_end(j);
}

static void put_addresses_of(struct json_out *j, const struct resource_addresses *resources, int n, const char *name)
{
        for (int i = 0; i < n; i++)
                for (int k = 0; k < resources[i].n && strcmp(resources[i].name, name) == 0; k++)
                        json_text(j, NULL, resources[i].addresses[k]);
}

static void put_used(struct json_out *j, const struct worker_view *v)
{
        json_begin_in(j, "resourcesused");
        for (int i = 0; i < v->n_resources; i++) {
                const char *name = v->resources[i].name;
                json_begin_resource(j, name);
                for (size_t k = 0; k < v->executors.len; k++)
                        put_addresses_of(j, v->executors.data[k]->resources, v->executors.data[k]->n_resources, name);
                for (size_t k = 0; k < v->drivers.len; k++)
                        put_addresses_of(j, v->drivers.data[k]->resources, v->drivers.data[k]->n_resources, name);
                json_end_resource(j);
        }
        json_end(j);
}

static void worker_json_put_needs(struct json_out *j, const char *name, const struct worker_executor_state *e)
{
        json_list(j, name);
        for (int i = 0; i < e->n_resources; i++) {
                json_begin(j);
                json_text(j, "name", e->resources[i].name);
                json_int(j, "amount", e->resources[i].n);
                json_end(j);
        }
        json_list_end(j);
}

static void put_executor(struct json_out *j, const struct worker_executor_state *e)
{
        json_begin(j);
        json_int(j, "id", e->id);
        json_int(j, "memory", e->memory);
        worker_json_put_resources(j, "resources", e->resources, e->n_resources);
        json_text(j, "appid", e->app_id);
        json_begin_in(j, "appdesc");
        json_text(j, "name", e->app_name);
        json_int(j, "cores", e->app_max_cores);
        json_int(j, "memoryperexecutor", e->memory);
        worker_json_put_needs(j, "resourcesperexecutor", e);
        json_int(j, "memoryperslave", e->memory);
        worker_json_put_needs(j, "resourcesperslave", e);
        json_text(j, "user", e->app_user);
        json_text(j, "command", e->command);
        json_end(j);
        json_end(j);
}

void worker_json_put(const struct worker_view *v, struct buf *out)
{
        struct json_out j = {.out = out};
        json_begin(&j);
        json_text(&j, "id", v->id);
        json_text(&j, "masterurl", v->master_url);
        json_text(&j, "masterwebuiurl", v->master_web_ui);
        json_int(&j, "cores", v->cores);
        json_int(&j, "coresused", v->cores_used);
        json_int(&j, "memory", v->memory);
        json_int(&j, "memoryused", v->memory_used);
        worker_json_put_resources(&j, "resources", v->resources, v->n_resources);
        put_used(&j, v);
        json_list(&j, "executors");
        for (size_t i = 0; i < v->executors.len; i++)
                put_executor(&j, v->executors.data[i]);
        json_list_end(&j);
        json_list(&j, "finishedexecutors");
        for (size_t i = 0; i < v->finished_executors.len; i++)
                put_executor(&j, v->finished_executors.data[i]);
        json_list_end(&j);
        json_end(&j);
}
