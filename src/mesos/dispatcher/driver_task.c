/* See driver_task.h. */
#include "mesos/dispatcher/driver_task.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "mesos/dispatcher/driver_description.h"
#include "mesos/offers/offer_message.h"
#include "rest/rest_request.h"

typedef Firesteel__Mesos__CommandInfo command_info;
typedef Firesteel__Mesos__Environment environment;

static environment *driver_task_environment(struct driver_task *t, const struct driver_command *c)
{
        _cleanup_(strmap_deinit) struct strmap variables = STRMAP_INIT;
        environment *e = mesos_message_new(&t->arena, environment, firesteel__mesos__environment__init);
        driver_command_environment(c, &variables);
        e->variables = arena_alloc(&t->arena, (variables.count + t->parts.n_secrets + 1) * sizeof(*e->variables));
        for (struct strmap_entry *v = NULL; (v = strmap_next(&variables, v));)
                e->variables[e->n_variables++] = task_variable_new(&t->arena, v->key, v->value);
        for (size_t i = 0; i < t->parts.n_secrets; i++)
                e->variables[e->n_variables++] = t->parts.secrets[i];
        return e;
}

static int driver_task_command(struct driver_task *t, const struct driver_command *c, command_info **out,
                               struct fst_error *error)
{
        _cleanup_(string_list_deinit) struct string_list uris = {0};
        _cleanup_(buf_deinit) struct buf line = BUF_INIT;
        bool cache = false;
        int r = driver_command_cache(c, &cache, error);
        if (r < 0)
                return r;
        command_info *m = mesos_message_new(&t->arena, command_info, firesteel__mesos__command_info__init);
        driver_command_put(c, &line);
        driver_command_uris(c, &uris);
        m->value = task_text(&t->arena, buf_text(&line));
        m->environment = driver_task_environment(t, c);
        m->uris = arena_alloc(&t->arena, (uris.len + 1) * sizeof(*m->uris));
        for (size_t i = 0; i < uris.len; i++)
                m->uris[m->n_uris++] = task_uri_new(&t->arena, uris.data[i], cache);
        *out = m;
        return 0;
}

static Firesteel__Mesos__TaskInfo *driver_task_info(struct driver_task *t, const struct driver_command *c,
                                                    const struct dispatcher_launch *launch, const char *agent)
{
        Firesteel__Mesos__TaskInfo *info =
                mesos_message_new(&t->arena, Firesteel__Mesos__TaskInfo, firesteel__mesos__task_info__init);
        _cleanup_free_ char *name = mem_printf(
                "Driver for %s", driver_description_get(c->request, "spark.app.name", c->request->main_class));
        info->name = task_text(&t->arena, name);
        info->task_id = mesos_message_new(&t->arena, Firesteel__Mesos__TaskID, firesteel__mesos__task_id__init);
        info->task_id->value = task_text(&t->arena, c->task_id);
        info->agent_id = mesos_message_new(&t->arena, Firesteel__Mesos__AgentID, firesteel__mesos__agent_id__init);
        info->agent_id->value = task_text(&t->arena, agent);
        info->resources = mesos_resources_message(&t->arena, launch->resources, launch->n_resources);
        info->n_resources = launch->n_resources;
        info->container = t->parts.container;
        info->labels = t->parts.labels;
        return info;
}

int driver_task_init(struct driver_task *t, const struct driver_command *c, const struct dispatcher_launch *launch,
                     const char *agent, struct fst_error *error)
{
        const struct fst_conf conf = {.set = c->request->properties}; /* borrowed */
        command_info *command = NULL;
        *t = (struct driver_task){.arena = ARENA_INIT};
        int r = task_parts_read(&t->parts, &conf, TASK_OF_DRIVER, conf_environment, error);
        if (r < 0)
                return r;
        r = driver_task_command(t, c, &command, error);
        if (r < 0) {
                driver_task_deinit(t);
                return r;
        }
        if (launch) {
                t->info = driver_task_info(t, c, launch, agent);
                t->info->command = command;
        }
        return 0;
}

void driver_task_deinit(struct driver_task *t)
{
        task_parts_deinit(&t->parts);
        arena_deinit(&t->arena);
        *t = (struct driver_task){0};
}
