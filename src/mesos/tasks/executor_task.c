/* See executor_task.h. Follows createCommand and createExecutorInfo of Spark 3.5's backends. */
#include "mesos/tasks/executor_task.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "conf/conf.h"
#include "exec/executor.h"
#include "mesos/offers/offer_message.h"

#include <inttypes.h>

#define ENVIRONMENT_PREFIX "spark.executorEnv."

/* ---------------------------------------------------------------------------------------------------------- command */

/* Appends @word for a shell: as it is if no character of it is special, else in single quotes. */
static void command_put_word(struct buf *out, const char *word)
{
        static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@%+=:,./-_[]";
        if (*word && !word[strspn(word, plain)]) {
                buf_puts(out, word);
                return;
        }
        buf_putc(out, '\'');
        for (; *word; word++)
                if (*word == '\'')
                        buf_puts(out, "'\\''");
                else
                        buf_putc(out, *word);
        buf_putc(out, '\'');
}

static void command_put_option(struct buf *out, const char *name, const char *value)
{
        buf_printf(out, " %s ", name);
        command_put_word(out, value);
}

/* Adds the settings that a process needs before the driver sends it the configuration. */
static void command_put_settings(struct buf *out, const struct fst_conf *conf)
{
        for (struct strmap_entry *e = NULL; (e = strmap_next(&conf->set, e));) {
                if (!executor_startup_key(e->key) || strcmp(e->key, "spark.authenticate.secret") == 0)
                        continue;
                _cleanup_free_ char *setting = mem_printf("%s=%s", e->key, e->value);
                command_put_option(out, "--conf", setting);
        }
}

/* The command up to the arguments: `PREFIX "HOME/./bin/firesteel" executor`, or in an archive's directory. */
static int tasks_begin_command(struct executor_tasks *t, struct fst_error *error)
{
        const struct executor_tasks_options *o = &t->options;
        const char *word = o->fine ? "mesos-executor" : "executor";
        _cleanup_free_ char *library_path = NULL;
        _cleanup_free_ char *set_home = NULL;
        struct buf out = BUF_INIT;
        int r = conf_get_string(o->conf, "spark.executor.extraLibraryPath", &library_path, error);
        if (r == 0)
                r = conf_get_string(o->conf, "spark.mesos.executor.home", &set_home, error);
        if (r < 0)
                return r;
        const char *home = set_home ? set_home : o->home;
        if (!t->parts.archive && !home)
                return error_set(
                        error, -ENOENT,
                        "Executor Spark home `spark.mesos.executor.home` is not set! Set it to the directory of "
                        "Firesteel on the Mesos agents, or spark.executor.uri to an archive of it");
        if (t->parts.archive) {
                buf_puts(&out, "cd ");
                task_put_archive_directory(&out, t->parts.archive);
                buf_puts(&out, "; ");
        }
        if (library_path)
                buf_printf(&out, "LD_LIBRARY_PATH=\"%s:$LD_LIBRARY_PATH\"", library_path);
        if (t->parts.archive)
                buf_printf(&out, " ./bin/firesteel %s", word);
        else if (o->fine)
                buf_printf(&out, " %s/bin/firesteel %s", home, word);
        else
                buf_printf(&out, " \"%s/./bin/firesteel\" %s", home, word);
        t->begin = buf_steal(&out);
        return 0;
}

static char *executor_command(const struct executor_tasks *t, struct arena *arena, const struct mesos_offer *offer,
                              const struct mesos_launch *launch, const char *id)
{
        _cleanup_(buf_deinit) struct buf out = BUF_INIT;
        buf_puts(&out, t->begin);
        command_put_option(&out, "--driver-url", t->options.driver_url);
        command_put_option(&out, "--executor-id", id);
        buf_printf(&out, " --cores %" PRId64, launch->cores + t->extra_cores);
        command_put_option(&out, "--app-id", t->options.app_id);
        if (!t->has_network)
                command_put_option(&out, "--hostname", offer->hostname);
        buf_puts(&out, t->settings);
        return arena_copy(arena, buf_text(&out), out.len);
}

/* ------------------------------------------------------------------------------------------------------ environment */

static int tasks_read_environment(struct executor_tasks *t, struct fst_error *error)
{
        const struct executor_tasks_options *o = &t->options;
        int64_t memory;
        int r = conf_get_bytes(o->conf, "spark.executor.memory", &memory, error);
        if (r < 0)
                return r;
        _cleanup_free_ char *text = mem_printf("%" PRId64 "m", memory >> 20);
        strmap_set(&t->environment, "SPARK_USER", o->user);
        for (struct strmap_entry *e = NULL; (e = strmap_next(&o->conf->set, e));)
                if (text_starts_with(e->key, ENVIRONMENT_PREFIX))
                        strmap_set(&t->environment, e->key + strlen(ENVIRONMENT_PREFIX), e->value);
        strmap_set_if_missing(&t->environment, "SPARK_EXECUTOR_MEMORY", text);
        if (o->secret)
                strmap_set(&t->environment, "_SPARK_AUTH_SECRET", o->secret);
        return 0;
}

/* Appends @text with each @name replaced by @value. */
static void environment_replace(struct buf *out, const char *text, const char *name, const char *value)
{
        for (const char *at; (at = strstr(text, name)); text = at + strlen(name)) {
                buf_append(out, text, (size_t)(at - text));
                buf_puts(out, value);
        }
        buf_puts(out, text);
}

static Firesteel__Mesos__Environment *executor_environment(const struct executor_tasks *t, struct arena *arena,
                                                           const char *executor_id)
{
        _cleanup_(buf_deinit) struct buf with_app = BUF_INIT, options = BUF_INIT;
        Firesteel__Mesos__Environment *environment =
                mesos_message_new(arena, Firesteel__Mesos__Environment, firesteel__mesos__environment__init);
        const size_t most = t->environment.count + t->parts.n_secrets + 2;
        Firesteel__Mesos__Environment__Variable **v = arena_alloc(arena, most * sizeof(*v));
        size_t n = 0;

        environment_replace(&with_app, t->java_options, "{{APP_ID}}", t->options.app_id);
        environment_replace(&options, buf_text(&with_app), "{{EXECUTOR_ID}}", executor_id);
        if (t->class_path)
                v[n++] = task_variable_new(arena, "SPARK_EXECUTOR_CLASSPATH", t->class_path);
        v[n++] = task_variable_new(arena, "SPARK_EXECUTOR_OPTS", buf_text(&options));
        for (struct strmap_entry *e = NULL; (e = strmap_next(&t->environment, e));)
                v[n++] = task_variable_new(arena, e->key, e->value);
        for (size_t i = 0; i < t->parts.n_secrets; i++)
                v[n++] = t->parts.secrets[i];
        environment->variables = v;
        environment->n_variables = n;
        return environment;
}

/* ---------------------------------------------------------------------------------------------------- start and end */

static int tasks_read_conf(struct executor_tasks *t, struct fst_error *error)
{
        const struct fst_conf *conf = t->options.conf;
        struct buf settings = BUF_INIT;
        int r = conf_get_string(conf, "spark.executor.extraClassPath", &t->class_path, error);
        if (r == 0)
                r = conf_get_string(conf, "spark.executor.extraJavaOptions", &t->java_options, error);
        if (r == 0 && !t->java_options)
                t->java_options = mem_strdup("");
        if (r == 0)
                r = conf_get_int(conf, "spark.mesos.extra.cores", &t->extra_cores, error);
        if (r == 0 && (t->extra_cores < 0 || t->extra_cores > INT32_MAX))
                r = error_set(error, -EINVAL, "spark.mesos.extra.cores is %" PRId64 ": set it to 0 or more",
                              t->extra_cores);
        if (r == 0)
                r = tasks_read_environment(t, error);
        if (r < 0)
                return r;
        t->has_network = conf_contains(conf, "spark.mesos.network.name");
        command_put_settings(&settings, conf);
        buf_puts(&settings, "");
        t->settings = buf_steal(&settings);
        return 0;
}

int executor_tasks_init(struct executor_tasks *t, const struct executor_tasks_options *options, struct fst_error *error)
{
        *t = (struct executor_tasks){.options = *options, .environment = STRMAP_INIT};
        int r = task_parts_read(&t->parts, options->conf, options->fine ? TASK_OF_FINE_EXECUTOR : TASK_OF_EXECUTOR,
                                options->env, error);
        if (r == 0)
                r = tasks_begin_command(t, error);
        if (r == 0)
                r = tasks_read_conf(t, error);
        if (r < 0)
                executor_tasks_deinit(t);
        return r;
}

void executor_tasks_deinit(struct executor_tasks *t)
{
        task_parts_deinit(&t->parts);
        strmap_deinit(&t->environment);
        free(t->class_path);
        free(t->java_options);
        free(t->begin);
        free(t->settings);
        *t = (struct executor_tasks){.environment = STRMAP_INIT};
}

/* ------------------------------------------------------------------------------------------------------------ tasks */

static Firesteel__Mesos__CommandInfo *executor_command_info(const struct executor_tasks *t, struct arena *arena,
                                                            char *value, const char *executor_id)
{
        Firesteel__Mesos__CommandInfo *command =
                mesos_message_new(arena, Firesteel__Mesos__CommandInfo, firesteel__mesos__command_info__init);
        command->value = value;
        command->uris = t->parts.uris;
        command->n_uris = t->parts.n_uris;
        command->environment = executor_environment(t, arena, executor_id);
        return command;
}

/* A task with name, id, agent and resources. */
static Firesteel__Mesos__TaskInfo *task_new(struct arena *arena, char *name, const char *id,
                                            const struct mesos_offer *offer, const struct mesos_launch *launch)
{
        Firesteel__Mesos__TaskInfo *task =
                mesos_message_new(arena, Firesteel__Mesos__TaskInfo, firesteel__mesos__task_info__init);
        task->name = name;
        task->task_id = mesos_message_new(arena, Firesteel__Mesos__TaskID, firesteel__mesos__task_id__init);
        task->task_id->value = task_text(arena, id);
        task->agent_id = mesos_message_new(arena, Firesteel__Mesos__AgentID, firesteel__mesos__agent_id__init);
        task->agent_id->value = (char *)offer->agent;
        task->n_resources = launch->n_resources;
        task->resources = mesos_resources_message(arena, launch->resources, launch->n_resources);
        return task;
}

Firesteel__Mesos__TaskInfo *executor_task_new(const struct executor_tasks *t, struct arena *arena,
                                              const struct mesos_offer *offer, const struct mesos_launch *launch)
{
        _cleanup_free_ char *id = mem_printf("%" PRId64, launch->task);
        _cleanup_free_ char *name = mem_printf("%s %s", t->options.app_name, id);
        Firesteel__Mesos__TaskInfo *task = task_new(arena, task_text(arena, name), id, offer, launch);
        task->command = executor_command_info(t, arena, executor_command(t, arena, offer, launch, id), id);
        task->labels = t->parts.labels;
        task->container = t->parts.container;
        return task;
}

static Firesteel__Mesos__ExecutorInfo *fine_executor_new(const struct executor_tasks *t, struct arena *arena,
                                                         const struct mesos_offer *offer,
                                                         const struct mesos_launch *launch)
{
        Firesteel__Mesos__ExecutorInfo *executor =
                mesos_message_new(arena, Firesteel__Mesos__ExecutorInfo, firesteel__mesos__executor_info__init);
        executor->executor_id =
                mesos_message_new(arena, Firesteel__Mesos__ExecutorID, firesteel__mesos__executor_id__init);
        executor->executor_id->value = (char *)offer->agent;
        executor->n_resources = launch->n_executor_resources;
        executor->resources = mesos_resources_message(arena, launch->executor_resources, launch->n_executor_resources);
        executor->command = executor_command_info(t, arena, t->begin, offer->agent);
        executor->container = t->parts.container;
        executor->has_data = true;
        executor->data = (ProtobufCBinaryData){.data = (uint8_t *)t->options.data, .len = t->options.data_len};
        return executor;
}

Firesteel__Mesos__TaskInfo *fine_task_new(const struct executor_tasks *t, struct arena *arena,
                                          const struct mesos_offer *offer, const struct mesos_launch *launch,
                                          const char *name, const uint8_t *data, size_t len)
{
        _cleanup_free_ char *id = mem_printf("%" PRId64, launch->task);
        Firesteel__Mesos__TaskInfo *task = task_new(arena, task_text(arena, name), id, offer, launch);
        task->executor = fine_executor_new(t, arena, offer, launch);
        task->has_data = true;
        task->data = (ProtobufCBinaryData){.data = (uint8_t *)data, .len = len};
        return task;
}
