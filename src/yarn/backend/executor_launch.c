/* See executor_launch.h. */
#include "yarn/backend/executor_launch.h"

#include "base/mem.h"
#include "base/string_prefix.h"
#include "conf/conf.h"
#include "exec/executor.h"
#include "io/fs/path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENVIRONMENT_PREFIX "spark.executorEnv."
#define TYPE_ARCHIVE 1

char *container_command_quote(const char *text)
{
        _cleanup_(buf_deinit) struct buf b = BUF_INIT;
        buf_putc(&b, '\'');
        for (const char *p = text; *p; p++) {
                if (*p == '\'')
                        buf_puts(&b, "'\\''");
                else if (strchr("$\"`\\", *p)) /* double quotes surround it */
                        buf_printf(&b, "\\%c", *p);
                else
                        buf_putc(&b, *p);
                if (*p == '<' || (strchr("{}", *p) && p[1] == *p)) /* YARN replaces "{{", "}}" and "<LOG_DIR>" */
                        buf_puts(&b, "''");
        }
        buf_putc(&b, '\'');
        return buf_steal(&b);
}

/* ------------------------------------------------------------------------------------------------------ the command */

static void executor_launch_add_option(struct buf *command, const char *name, const char *value)
{
        _cleanup_free_ char *quoted = container_command_quote(value);
        buf_printf(command, " %s %s", name, quoted);
}

/* `exec`, so that YARN's signals reach the program. @own: library paths of the user, or NULL. */
static void launch_begin_command(struct buf *command, const char *own, const char *name)
{
        buf_printf(command,
                   "LD_LIBRARY_PATH='%s%s{{PWD}}/" EXECUTOR_LAUNCH_PROGRAM "/lib' exec " EXECUTOR_LAUNCH_PROGRAM
                   "/bin/firesteel %s",
                   own ? own : "", own ? ":" : "", name);
}

/* Adds the settings that a process needs before the driver sends it the configuration. */
static void launch_end_command(struct executor_launch *out, const struct executor_launch_options *options)
{
        struct buf *c = &out->command;
        for (struct strmap_entry *e = NULL; (e = strmap_next(&options->conf->set, e));) {
                if (!executor_startup_key(e->key) || strcmp(e->key, "spark.authenticate.secret") == 0)
                        continue;
                _cleanup_free_ char *setting = mem_printf("%s=%s", e->key, e->value);
                executor_launch_add_option(c, "--conf", setting);
        }
        buf_puts(c, " 1><LOG_DIR>/stdout 2><LOG_DIR>/stderr");
        out->command_text = c->data;
        out->message.n_command = 1;
        out->message.command = &out->command_text;
}

static void executor_launch_add_command(struct executor_launch *out, const struct executor_launch_options *options,
                                        const struct yarn_launch *launch)
{
        struct buf *c = &out->command;
        _cleanup_free_ char *number = mem_printf("%d", launch->executor);
        _cleanup_free_ char *cores = mem_printf("%d", options->cores);
        _cleanup_free_ char *profile = mem_printf("%d", launch->profile);
        launch_begin_command(c, conf_get_value(options->conf, "spark.executor.extraLibraryPath"), "executor");
        executor_launch_add_option(c, "--driver-url", options->driver_url);
        executor_launch_add_option(c, "--executor-id", number);
        executor_launch_add_option(c, "--hostname", launch->host);
        executor_launch_add_option(c, "--cores", cores);
        executor_launch_add_option(c, "--app-id", options->app_id);
        executor_launch_add_option(c, "--resourceProfileId", profile);
        launch_end_command(out, options);
}

/* -------------------------------------------------------------------------------------------------- the environment */

/* Takes @value. A later value of the same variable replaces the first one. */
static void executor_launch_set(struct executor_launch *out, const char *name, char *value)
{
        for (size_t i = 0; i < out->variables.len; i++) {
                if (strcmp(out->variables.data[i]->key, name) != 0)
                        continue;
                free(out->variables.data[i]->value);
                out->variables.data[i]->value = value;
                return;
        }
        Firesteel__Yarn__Variable *v = new0(Firesteel__Yarn__Variable);
        firesteel__yarn__variable__init(v);
        v->key = mem_strdup(name);
        v->value = value;
        vec_push(&out->variables, v);
}

static void launch_add_environment(struct executor_launch *out, const struct executor_launch_options *options)
{
        executor_launch_set(out, "SPARK_USER", mem_strdup(options->user));
        if (options->staging_dir)
                executor_launch_set(out, "SPARK_YARN_STAGING_DIR", mem_strdup(options->staging_dir));
}

static void executor_launch_add_environment(struct executor_launch *out, const struct executor_launch_options *options,
                                            const struct yarn_launch *launch)
{
        static const char *const logs[][2] = {{"SPARK_LOG_URL_STDERR", "stderr"}, {"SPARK_LOG_URL_STDOUT", "stdout"}};
        char container[YARN_ID_TEXT];
        yarn_container_text(launch->container, container);
        launch_add_environment(out, options);
        for (struct strmap_entry *e = NULL; (e = strmap_next(&options->conf->set, e));)
                if (text_starts_with(e->key, ENVIRONMENT_PREFIX))
                        executor_launch_set(out, e->key + strlen(ENVIRONMENT_PREFIX), mem_strdup(e->value));
        for (size_t i = 0; i < ARRAY_SIZE(logs) && launch->node_http_address; i++)
                executor_launch_set(out, logs[i][0],
                                    mem_printf("%s%s/node/containerlogs/%s/%s/%s?start=-4096", options->http_scheme,
                                               launch->node_http_address, container, options->user, logs[i][1]));
}

/* -------------------------------------------------------------------------------------------- files and credentials */

/* "hdfs://host:port/path" in the parts of YARN's message. */
static void executor_launch_split(struct executor_launch *out, const char *path)
{
        const size_t scheme = path_scheme_len(path);
        const char *rest = path + scheme + 1;
        firesteel__yarn__url__init(&out->url);
        out->url.scheme = out->scheme = mem_strndup(path, scheme);
        if (text_starts_with(rest, "//")) {
                const size_t len = strcspn(rest + 2, "/");
                out->url.host = out->host = mem_strndup(rest + 2, len);
                rest += 2 + len;
                char *port = strrchr(out->host, ':');
                if (port && port[1] && port[1 + strspn(port + 1, "0123456789")] == '\0') {
                        out->url.has_port = true;
                        out->url.port = atoi(port + 1);
                        *port = '\0';
                }
        }
        out->url.file = (char *)rest;
}

static void executor_launch_add_program(struct executor_launch *out, const struct cluster_file *program)
{
        executor_launch_split(out, program->path);
        firesteel__yarn__local_resource__init(&out->local);
        out->local.resource = &out->url;
        out->local.has_size = out->local.has_timestamp = out->local.has_type = out->local.has_visibility = true;
        out->local.size = program->size;
        out->local.timestamp = program->modified_ms;
        out->local.type = TYPE_ARCHIVE;
        out->local.visibility = (int32_t)program->visibility;
        firesteel__yarn__named_resource__init(&out->resource);
        out->resource.key = (char *)EXECUTOR_LAUNCH_PROGRAM;
        out->resource.value = &out->local;
        out->resources = &out->resource;
        out->message.n_local_resources = 1;
        out->message.local_resources = &out->resources;
}

/* The lists no longer move. */
static void launch_complete(struct executor_launch *out, const struct executor_launch_options *options)
{
        out->message.n_environment = out->variables.len;
        out->message.environment = out->variables.data;
        executor_launch_add_program(out, options->program);
        hadoop_credentials_write(options->credentials, &out->tokens);
        out->message.has_tokens = true;
        out->message.tokens.data = (uint8_t *)out->tokens.data;
        out->message.tokens.len = out->tokens.len;
}

void executor_launch_fill(struct executor_launch *out, const struct executor_launch_options *options,
                          const struct yarn_launch *launch)
{
        executor_launch_deinit(out);
        firesteel__yarn__container_launch_context__init(&out->message);
        executor_launch_add_command(out, options, launch);
        executor_launch_add_environment(out, options, launch);
        launch_complete(out, options);
}

void am_launch_fill(struct executor_launch *out, const struct executor_launch_options *options, const char *driver)
{
        executor_launch_deinit(out);
        firesteel__yarn__container_launch_context__init(&out->message);
        launch_begin_command(&out->command, conf_get_value(options->conf, "spark.yarn.am.extraLibraryPath"), "yarn-am");
        executor_launch_add_option(&out->command, "--arg", driver);
        launch_end_command(out, options);
        launch_add_environment(out, options);
        /* Where Cyrus SASL looks for the mechanisms of the archive's library. */
        executor_launch_set(out, "SASL_PATH", mem_strdup("{{PWD}}/" EXECUTOR_LAUNCH_PROGRAM "/lib/sasl2"));
        launch_complete(out, options);
}

void executor_launch_deinit(struct executor_launch *launch)
{
        for (size_t i = 0; i < launch->variables.len; i++) {
                free(launch->variables.data[i]->key);
                free(launch->variables.data[i]->value);
                free(launch->variables.data[i]);
        }
        vec_deinit(&launch->variables);
        buf_deinit(&launch->command);
        if (launch->tokens.data)
                explicit_bzero(launch->tokens.data, launch->tokens.cap);
        buf_deinit(&launch->tokens);
        free(launch->scheme);
        free(launch->host);
        *launch = (struct executor_launch){0};
}
