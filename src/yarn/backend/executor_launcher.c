/* See executor_launcher.h. */
#include "yarn/backend/executor_launcher.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "conf/log4j2.h"
#include "net/security.h"
#include "process/loop_wait.h"
#include "rpc/rpc.h"
#include "yarn/application/container_links.h"
#include "yarn/backend/executor_containers.h"
#include "yarn/protocol/am.pb-c.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define AM_LOG "ApplicationMaster"
#define DRAIN_MS 1000

struct launcher {
        uv_loop_t loop;
        const struct executor_launcher_options *options;
        char app_id[YARN_ID_TEXT];
        int32_t attempt;
        struct hadoop_credentials credentials; /* of this container */
        struct fst_conf conf;                  /* the application's */
        struct security *security;
        struct rpc_env *rpc;
        struct rpc_ref *driver;
        struct executor_containers containers;
        bool configured, finishing, over;
        int exit_status;
};

/* ---------------------------------------------------------------------------------------------------------- the end */

static void launcher_end(struct launcher *l)
{
        l->over = true;
}

/* Unregisters, unless it never registered. */
static void launcher_finish(struct launcher *l, int final_status, int exit_status, const char *message)
{
        if (l->finishing)
                return;
        l->finishing = true;
        l->exit_status = exit_status;
        log_info(AM_LOG, "Final app status: %s, exitCode: %d%s%s%s", yarn_final_status_name(final_status), exit_status,
                 message ? ", (reason: " : "", message ? message : "", message ? ")" : "");
        if (l->containers.executors)
                yarn_executors_finish(l->containers.executors, (enum yarn_final_status)final_status, message);
        else
                launcher_end(l);
}

/* It leaves without unregistering, so that YARN starts another attempt if there may be one. */
static void launcher_die(struct launcher *l, const char *message)
{
        log_error(AM_LOG, "Uncaught exception: %s", message);
        l->finishing = true;
        l->exit_status = YARN_AM_EXIT_UNCAUGHT_EXCEPTION;
        launcher_end(l);
}

/* ---------------------------------------------------------------------------------------- what becomes of executors */

static void launcher_send(struct launcher *l, int type, const ProtobufCMessage *body)
{
        rpc_send_packed(l->driver, (uint16_t)type, body, NULL);
}

static void launcher_on_exited(void *owner, int32_t executor, int exit_status, bool caused_by_app, const char *reason)
{
        Firesteel__Yarn__AmExecutorExited message = FIRESTEEL__YARN__AM_EXECUTOR_EXITED__INIT;
        message.executor = executor;
        message.exit_status = exit_status;
        message.caused_by_app = caused_by_app;
        message.reason = (char *)reason;
        launcher_send(owner, FIRESTEEL__YARN__AM_TYPE__EXECUTOR_EXITED, &message.base);
}

static void launcher_on_decommission(void *owner, int32_t executor, const char *host)
{
        Firesteel__Yarn__AmDecommission message = FIRESTEEL__YARN__AM_DECOMMISSION__INIT;
        message.executor = executor;
        message.host = (char *)host;
        launcher_send(owner, FIRESTEEL__YARN__AM_TYPE__EXECUTOR_DECOMMISSION, &message.base);
}

static void launcher_on_failed(void *owner, int exit_code, const char *reason)
{
        Firesteel__Yarn__AmFailed message = FIRESTEEL__YARN__AM_FAILED__INIT;
        message.exit_code = exit_code;
        message.message = (char *)reason;
        launcher_send(owner, FIRESTEEL__YARN__AM_TYPE__APPLICATION_FAILED, &message.base);
        launcher_finish(owner, YARN_FINAL_FAILED, exit_code, reason);
}

static void launcher_on_finished(void *owner)
{
        launcher_end(owner);
}

static const struct executor_containers_ops launcher_ops = {.exited = launcher_on_exited,
                                                            .decommission = launcher_on_decommission,
                                                            .failed = launcher_on_failed,
                                                            .finished = launcher_on_finished};

/* -------------------------------------------------------------------------------------------------- from the driver */

static void launcher_request(struct launcher *l, const Firesteel__Yarn__AmTargets *targets)
{
        for (size_t i = 0; targets && i < targets->n_targets; i++) {
                const Firesteel__Yarn__AmTarget *t = targets->targets[i];
                struct yarn_host_tasks *hosts = new_array(struct yarn_host_tasks, t->n_hosts + 1);
                for (size_t k = 0; k < t->n_hosts; k++)
                        hosts[k] = (struct yarn_host_tasks){.host = t->hosts[k]->host, .tasks = t->hosts[k]->tasks};
                _cleanup_(strmap_deinit) struct strmap settings = STRMAP_INIT;
                for (size_t k = 0; k < t->n_settings; k++)
                        strmap_set(&settings, t->settings[k]->key, t->settings[k]->value);
                executor_containers_request(&l->containers,
                                            &(struct yarn_target){.profile = t->profile,
                                                                  .settings = t->n_settings ? &settings : NULL,
                                                                  .total = t->executors,
                                                                  .locality_tasks = t->local_tasks,
                                                                  .hosts = hosts,
                                                                  .n_hosts = t->n_hosts});
                free(hosts);
        }
}

static void launcher_exclude(struct launcher *l, const Firesteel__Yarn__AmHosts *hosts)
{
        if (hosts)
                yarn_executors_set_excluded(l->containers.executors, (const char *const *)hosts->hosts, hosts->n_hosts);
}

static const char *launcher_no_variable(const char *name)
{
        return NULL;
}

static void launcher_take_files(struct executor_containers *c, const Firesteel__Yarn__AmConfig *config)
{
        for (size_t i = 0; i < config->n_files; i++) {
                const Firesteel__Yarn__AmFile *file = config->files[i];
                local_resources_add_copy(&c->resources, &(struct local_resource){.link = file->link,
                                                                                 .path = file->path,
                                                                                 .size = file->size,
                                                                                 .modified_ms = file->modified_ms,
                                                                                 .archive = file->archive,
                                                                                 .is_public = file->is_public});
        }
}

/* Delegation tokens for containers that start from now on. */
static void launcher_use_tokens(struct launcher *l, const Firesteel__Yarn__AmTokens *tokens)
{
        _cleanup_(hadoop_credentials_deinit) struct hadoop_credentials fresh = {0};
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        if (!tokens || !tokens->stream.len)
                return;
        if (hadoop_credentials_read(&fresh, tokens->stream.data, tokens->stream.len, &error) < 0)
                log_warn(AM_LOG, "the driver's delegation tokens: %s", error_message(&error));
        executor_containers_add_tokens(&l->containers, &fresh);
}

static int launcher_start(struct launcher *l, const Firesteel__Yarn__AmConfig *config, struct fst_error *error)
{
        struct executor_containers *c = &l->containers;
        const struct hadoop_token *token = hadoop_credentials_find(&l->credentials, "YARN_AM_RM_TOKEN", NULL);
        if (!token)
                return error_set(error, -EACCES, "the container's credentials hold no token for the ResourceManager");
        launcher_take_files(c, config);
        if (!local_resources_find(&c->resources, YARN_PROGRAM_LINK))
                return error_set(error, -EBADMSG, "the driver does not name the archive of Firesteel");
        for (size_t i = 0; i < config->n_properties; i++)
                conf_set(&l->conf, config->properties[i]->key, config->properties[i]->value);
        int r = log4j2_configure(&l->conf, getenv("SPARK_CONF_DIR"), error);
        r = r < 0 ? r : executor_containers_init(c, &l->conf, error);
        r = r < 0 ? r : yarn_conf_load(&c->yarn_conf, &l->conf.set, launcher_no_variable, error);
        r = r < 0 ? r : executor_containers_add_secret(c, error);
        if (r < 0)
                return r;
        executor_containers_add_tokens(c, &l->credentials);
        launcher_use_tokens(l, config->tokens);
        c->driver_url = mem_strdup(config->driver_url);
        c->app_id = mem_strdup(l->app_id);
        c->user = mem_strdup(config->user);
        c->staging_dir = *config->staging_dir ? mem_strdup(config->staging_dir) : NULL;
        const char *host = getenv("NM_HOST");
        r = executor_containers_start(c, &l->loop,
                                      &(struct executor_containers_start){
                                              .token = token,
                                              .host = host ? host : "",
                                              .tracking_url = conf_get_value(&l->conf, "spark.driver.appUIAddress"),
                                              .last_executor = config->last_executor,
                                              .attempt = l->attempt},
                                      &launcher_ops, l, error);
        if (r == 0) {
                launcher_exclude(l, config->excluded);
                launcher_request(l, config->targets);
        }
        return r;
}

static void launcher_on_config(void *owner, struct rpc_answer *answer)
{
        struct launcher *l = owner;
        struct fst_error error = FST_ERROR_INIT;
        Firesteel__Yarn__AmConfig *config =
                answer->status == 0 ? firesteel__yarn__am_config__unpack(NULL, answer->len, answer->body) : NULL;
        int r = 0;
        if (answer->status)
                r = error_set(&error, -ENOTCONN, "Failed to connect to driver at %s: %s", l->options->driver,
                              answer->message ? answer->message : strerror(-answer->status));
        else if (!config)
                r = error_set(&error, -EBADMSG, "the driver's answer cannot be decoded");
        else
                r = launcher_start(l, config, &error);
        l->configured = r == 0;
        if (r < 0)
                launcher_die(l, error_message(&error));
        error_deinit(&error);
        if (config)
                firesteel__yarn__am_config__free_unpacked(config, NULL);
}

static void launcher_take_finish(struct launcher *l, const struct rpc_message *m)
{
        Firesteel__Yarn__AmFinish *f = firesteel__yarn__am_finish__unpack(NULL, m->len, m->body);
        if (!f)
                return;
        launcher_finish(l, f->status, f->status == YARN_FINAL_FAILED ? YARN_AM_EXIT_EARLY : YARN_AM_EXIT_SUCCESS,
                        *f->diagnostics ? f->diagnostics : NULL);
        firesteel__yarn__am_finish__free_unpacked(f, NULL);
}

static void launcher_take_targets(struct launcher *l, const struct rpc_message *m)
{
        Firesteel__Yarn__AmTargets *targets = firesteel__yarn__am_targets__unpack(NULL, m->len, m->body);
        if (!targets)
                return;
        launcher_request(l, targets);
        firesteel__yarn__am_targets__free_unpacked(targets, NULL);
}

static void launcher_take_excluded(struct launcher *l, const struct rpc_message *m)
{
        Firesteel__Yarn__AmHosts *hosts = firesteel__yarn__am_hosts__unpack(NULL, m->len, m->body);
        if (!hosts)
                return;
        launcher_exclude(l, hosts);
        firesteel__yarn__am_hosts__free_unpacked(hosts, NULL);
}

static void launcher_take_new_tokens(struct launcher *l, const struct rpc_message *m)
{
        Firesteel__Yarn__AmTokens *tokens = firesteel__yarn__am_tokens__unpack(NULL, m->len, m->body);
        if (!tokens)
                return;
        log_info(AM_LOG, "Updating delegation tokens.");
        launcher_use_tokens(l, tokens);
        firesteel__yarn__am_tokens__free_unpacked(tokens, NULL);
}

static void launcher_take_kill(struct launcher *l, const struct rpc_message *m)
{
        Firesteel__Yarn__AmExecutor *x = firesteel__yarn__am_executor__unpack(NULL, m->len, m->body);
        if (!x)
                return;
        log_info(AM_LOG, "Driver requested to kill executor(s) %d.", x->executor);
        yarn_executors_kill(l->containers.executors, x->executor);
        firesteel__yarn__am_executor__free_unpacked(x, NULL);
}

static void launcher_receive(void *owner, struct rpc_message *m)
{
        struct launcher *l = owner;
        if (!l->configured || l->finishing)
                return;
        switch (m->type) {
        case FIRESTEEL__YARN__AM_TYPE__REQUEST_EXECUTORS:
                launcher_take_targets(l, m);
                break;
        case FIRESTEEL__YARN__AM_TYPE__KILL_EXECUTOR:
                launcher_take_kill(l, m);
                break;
        case FIRESTEEL__YARN__AM_TYPE__EXCLUDE_HOSTS:
                launcher_take_excluded(l, m);
                break;
        case FIRESTEEL__YARN__AM_TYPE__UPDATE_TOKENS:
                launcher_take_new_tokens(l, m);
                break;
        case FIRESTEEL__YARN__AM_TYPE__FINISH:
                launcher_take_finish(l, m);
                break;
        default:
                break;
        }
}

/* Without a word, the driver has ended by itself: Spark takes that for success unless told otherwise. */
static void launcher_disconnected(void *owner, struct rpc_peer *peer, const char *why)
{
        struct launcher *l = owner;
        bool failed = false;
        if (!l->configured || l->finishing)
                return;
        conf_get_bool(&l->conf, "spark.yarn.am.clientModeTreatDisconnectAsFailed", &failed, NULL);
        log_info(AM_LOG, "Driver terminated or disconnected! Shutting down. %s", why);
        if (failed)
                launcher_finish(l, YARN_FINAL_FAILED, YARN_AM_EXIT_DISCONNECTED,
                                "Application Master lost connection with driver! Shutting down.");
        else
                launcher_finish(l, YARN_FINAL_SUCCEEDED, YARN_AM_EXIT_SUCCESS, NULL);
}

static const struct rpc_endpoint_class launcher_class = {.receive = launcher_receive,
                                                         .disconnected = launcher_disconnected};

/* --------------------------------------------------------------------------------------------------------- starting */

static int launcher_read_container(struct launcher *l, struct fst_error *error)
{
        const char *container = getenv("CONTAINER_ID"), *tokens = getenv("HADOOP_TOKEN_FILE_LOCATION");
        struct yarn_container_id id;
        if (!container || !tokens)
                return error_set(error, -EINVAL,
                                 "CONTAINER_ID or HADOOP_TOKEN_FILE_LOCATION is not set: only YARN starts this "
                                 "program");
        int r = yarn_container_parse(container, &id, error);
        if (r < 0)
                return r;
        yarn_application_text(id.application, l->app_id);
        l->attempt = id.attempt;
        r = hadoop_credentials_load(&l->credentials, tokens, error);
        const struct buf *secret = r < 0 ? NULL : hadoop_credentials_secret(&l->credentials, HADOOP_SECRET_OF_SPARK);
        if (secret && !getenv("_SPARK_AUTH_SECRET"))
                setenv("_SPARK_AUTH_SECRET", buf_text(secret), 1);
        return r;
}

static int launcher_connect(struct launcher *l, struct fst_error *error)
{
        _cleanup_free_ char *url = mem_printf("spark://YarnScheduler@%s", l->options->driver);
        Firesteel__Yarn__RegisterAm question = FIRESTEEL__YARN__REGISTER_AM__INIT;
        struct rpc_options options;
        int r;
        rpc_options_init(&options);
        if ((r = security_new(l->options->conf, l->app_id, SECURITY_EXECUTOR, &l->security, error)) ||
            (r = rpc_options_configure(&options, l->options->conf, error)))
                return r;
        options.name = "sparkYarnAM";
        options.app_id = l->app_id;
        options.security = l->security;
        if ((r = rpc_env_new(&l->loop, &options, &l->rpc, error)) ||
            (r = rpc_env_register(l->rpc, "YarnAM", &launcher_class, l, error)) ||
            (r = rpc_env_ref(l->rpc, url, &l->driver, error)))
                return r;
        log_info(AM_LOG, "ApplicationMaster of %s: connecting to the driver at %s", l->app_id, l->options->driver);
        question.container = getenv("CONTAINER_ID");
        r = rpc_ask_packed(l->driver, FIRESTEEL__YARN__AM_TYPE__REGISTER_AM, &question.base, NULL, 0,
                           launcher_on_config, l);
        return r < 0 ? error_set(error, r, "Failed to connect to driver at %s: %s", l->options->driver, strerror(-r))
                     : 0;
}

static void launcher_on_rpc_closed(void *owner)
{
}

static void launcher_deinit(struct launcher *l)
{
        executor_containers_stop(&l->containers);
        rpc_ref_unref(l->driver);
        if (l->rpc)
                rpc_env_close(l->rpc, DRAIN_MS, launcher_on_rpc_closed, l);
        uv_run(&l->loop, UV_RUN_DEFAULT);
        uv_loop_close(&l->loop);
        executor_containers_deinit(&l->containers);
        security_free(l->security);
        hadoop_credentials_deinit(&l->credentials);
        conf_deinit(&l->conf);
}

static bool launcher_is_over(void *owner)
{
        const struct launcher *l = owner;
        return l->over || !uv_loop_alive(&l->loop);
}

int executor_launcher_run(const struct executor_launcher_options *options)
{
        struct launcher l = {.options = options};
        struct fst_error error = FST_ERROR_INIT;
        uv_loop_init(&l.loop);
        conf_init(&l.conf);
        int r = log4j2_configure(options->conf, getenv("SPARK_CONF_DIR"), &error);
        r = r < 0 ? r : launcher_read_container(&l, &error);
        r = r < 0 ? r : launcher_connect(&l, &error);
        if (r < 0)
                launcher_die(&l, error_message(&error));
        error_deinit(&error);
        loop_wait(&l.loop, launcher_is_over, &l, LOOP_WAIT_FOREVER);
        launcher_deinit(&l);
        return l.exit_status;
}
