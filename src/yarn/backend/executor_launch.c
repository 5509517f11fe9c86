/* See executor_launch.h. */
#include "yarn/backend/executor_launch.h"

#include "base/mem.h"
#include "base/string_prefix.h"
#include "conf/conf.h"
#include "exec/executor.h"
#include "yarn/application/application_acl.h"
#include "yarn/application/container_links.h"
#include "yarn/application/log_links.h"

#include <string.h>

#define ENVIRONMENT_PREFIX "spark.executorEnv."

/* ------------------------------------------------------------------------------------------------------ the command */

/* Adds the settings that a process needs before the driver sends it the configuration. */
static void launch_end_command(struct container_launch *c, const struct executor_launch_options *options)
{
        for (struct strmap_entry *e = NULL; (e = strmap_next(&options->conf->set, e));) {
                if (!executor_startup_key(e->key) || strcmp(e->key, "spark.authenticate.secret") == 0)
                        continue;
                _cleanup_free_ char *setting = mem_printf("%s=%s", e->key, e->value);
                container_launch_add_option(c, "--conf", setting);
        }
        container_launch_add_logs(c);
}

static void executor_launch_add_command(struct container_launch *c, const struct executor_launch_options *options,
                                        const struct yarn_launch *launch)
{
        _cleanup_free_ char *number = mem_printf("%d", launch->executor);
        _cleanup_free_ char *cores = mem_printf("%d", options->cores);
        _cleanup_free_ char *profile = mem_printf("%d", launch->profile);
        container_launch_begin_firesteel(c, conf_get_value(options->conf, "spark.executor.extraLibraryPath"),
                                         "executor");
        container_launch_add_option(c, "--driver-url", options->driver_url);
        container_launch_add_option(c, "--executor-id", number);
        container_launch_add_option(c, "--hostname", launch->host);
        container_launch_add_option(c, "--cores", cores);
        container_launch_add_option(c, "--app-id", options->app_id);
        container_launch_add_option(c, "--resourceProfileId", profile);
        launch_end_command(c, options);
}

/* -------------------------------------------------------------------------------------------------- the environment */

static void launch_add_environment(struct strmap *env, const struct executor_launch_options *options)
{
        strmap_set(env, "SPARK_USER", options->user);
        if (options->staging_dir)
                strmap_set(env, "SPARK_YARN_STAGING_DIR", options->staging_dir);
}

static void executor_launch_add_environment(struct strmap *env, const struct executor_launch_options *options,
                                            const struct yarn_launch *launch)
{
        char container[YARN_ID_TEXT];
        yarn_container_text(launch->container, container);
        launch_add_environment(env, options);
        for (struct strmap_entry *e = NULL; (e = strmap_next(&options->conf->set, e));)
                if (text_starts_with(e->key, ENVIRONMENT_PREFIX))
                        strmap_set(env, e->key + strlen(ENVIRONMENT_PREFIX), e->value);
        if (launch->node_http_address)
                log_links_add(&(struct log_links){.conf = options->yarn_conf,
                                                  .container = container,
                                                  .user = options->user,
                                                  .http_address = launch->node_http_address,
                                                  .node_port = "-1"},
                              "SPARK_LOG_URL_", "SPARK_EXECUTOR_ATTRIBUTE_", env);
}

/* ------------------------------------------------------------------------------------------------------ the message */

static void launch_complete(struct executor_launch *out, const struct executor_launch_options *options)
{
        hadoop_credentials_write(options->credentials, &out->tokens);
        container_launch_message(&out->container, options->resources, &out->tokens, &out->arena, &out->message);
        if (options->view_acl)
                application_acl_attach(options->view_acl, options->modify_acl, &out->arena, &out->message);
}

void executor_launch_fill(struct executor_launch *out, const struct executor_launch_options *options,
                          const struct yarn_launch *launch)
{
        executor_launch_deinit(out);
        executor_launch_add_command(&out->container, options, launch);
        executor_launch_add_environment(&out->container.environment, options, launch);
        launch_complete(out, options);
}

void am_launch_fill(struct executor_launch *out, const struct executor_launch_options *options, const char *driver)
{
        struct container_launch *c = &out->container;
        executor_launch_deinit(out);
        container_launch_begin_firesteel(c, conf_get_value(options->conf, "spark.yarn.am.extraLibraryPath"), "yarn-am");
        container_launch_add_option(c, "--arg", driver);
        launch_end_command(c, options);
        launch_add_environment(&c->environment, options);
        /* Where Cyrus SASL looks for the mechanisms of the archive's library. */
        strmap_set(&c->environment, "SASL_PATH", "{{PWD}}/" YARN_PROGRAM_LINK "/lib/sasl2");
        launch_complete(out, options);
}

void executor_launch_deinit(struct executor_launch *launch)
{
        container_launch_deinit(&launch->container);
        buf_deinit_secret(&launch->tokens);
        arena_deinit(&launch->arena);
        *launch = (struct executor_launch){0};
}
