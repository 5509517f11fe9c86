/* See executor_containers.h. */
#include "yarn/backend/executor_containers.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "metrics/metrics_daemon.h"
#include "yarn/application/application_acl.h"
#include "yarn/conf/history_address.h"

#include <stdlib.h>
#include <string.h>

int executor_containers_init(struct executor_containers *c, const struct fst_conf *conf, struct fst_error *error)
{
        c->conf = conf;
        const int r = am_settings_read(conf, &c->settings, error);
        return r < 0 ? r : yarn_executor_size_read(conf, &c->size, error);
}

void executor_containers_deinit(struct executor_containers *c)
{
        executor_launch_deinit(&c->launch);
        hadoop_credentials_deinit(&c->credentials);
        local_resources_deinit(&c->resources);
        yarn_executor_size_deinit(&c->size);
        vec_deinit(&c->cores);
        am_settings_deinit(&c->settings);
        yarn_conf_deinit(&c->yarn_conf);
        free(c->driver_url);
        free(c->app_id);
        free(c->user);
        free(c->staging_dir);
        free(c->view_acl);
        free(c->modify_acl);
        *c = (struct executor_containers){0};
}

/* The secret travels in the containers' credentials, which other users cannot read. */
int executor_containers_add_secret(struct executor_containers *c, struct fst_error *error)
{
        bool wanted;
        const int r = conf_get_bool(c->conf, "spark.authenticate", &wanted, error);
        const char *secret = getenv("_SPARK_AUTH_SECRET");
        secret = secret ? secret : conf_get_raw(c->conf, "spark.authenticate.secret");
        if (r == 0 && wanted && secret)
                hadoop_credentials_add_secret(&c->credentials, HADOOP_SECRET_OF_SPARK, secret, strlen(secret));
        return r;
}

void executor_containers_add_tokens(struct executor_containers *c, const struct hadoop_credentials *own)
{
        for (size_t i = 0; i < own->tokens.len; i++)
                if (strcmp(own->tokens.data[i].kind, "YARN_AM_RM_TOKEN") != 0)
                        hadoop_credentials_add(&c->credentials, &own->tokens.data[i]);
}

/* ----------------------------------------------------------------------------------------------------------- events */

static void containers_on_registered(void *owner, int64_t memory_mb, int cores)
{
        log_info("YarnRMClient", "ApplicationMaster registered: containers have at most %lld MB and %d cores",
                 (long long)memory_mb, cores);
}

static int containers_cores_of(const struct executor_containers *c, int32_t profile)
{
        for (size_t i = 0; i < c->cores.len; i++)
                if (c->cores.data[i].profile == profile)
                        return c->cores.data[i].cores;
        return c->size.cores;
}

static const Firesteel__Yarn__ContainerLaunchContext *containers_on_launch(void *owner,
                                                                           const struct yarn_launch *launch)
{
        struct executor_containers *c = owner;
        c->last_executor = MAX(c->last_executor, launch->executor);
        if (c->ops->launching)
                c->ops->launching(c->owner, launch->executor);
        executor_launch_fill(&c->launch,
                             &(struct executor_launch_options){.conf = c->conf,
                                                               .driver_url = c->driver_url,
                                                               .app_id = c->app_id,
                                                               .user = c->user,
                                                               .staging_dir = c->staging_dir,
                                                               .yarn_conf = &c->yarn_conf,
                                                               .resources = &c->resources,
                                                               .credentials = &c->credentials,
                                                               .view_acl = c->view_acl,
                                                               .modify_acl = c->modify_acl,
                                                               .cores = containers_cores_of(c, launch->profile)},
                             launch);
        return &c->launch.message;
}

static void containers_on_exited(void *owner, int32_t executor, int exit_status, bool caused_by_app, const char *reason)
{
        const struct executor_containers *c = owner;
        c->ops->exited(c->owner, executor, exit_status, caused_by_app, reason);
}

static void containers_on_decommission(void *owner, int32_t executor, const char *host)
{
        const struct executor_containers *c = owner;
        c->ops->decommission(c->owner, executor, host);
}

static void containers_on_failed(void *owner, int exit_code, const char *message)
{
        const struct executor_containers *c = owner;
        log_info("ApplicationMaster", "Final app status: FAILED, exitCode: %d, (reason: %s)", exit_code, message);
        c->ops->failed(c->owner, exit_code, message);
}

static void containers_on_finished(void *owner)
{
        const struct executor_containers *c = owner;
        c->ops->finished(c->owner);
}

static const struct yarn_executors_ops containers_ops = {.registered = containers_on_registered,
                                                         .launch_context = containers_on_launch,
                                                         .exited = containers_on_exited,
                                                         .decommission = containers_on_decommission,
                                                         .failed = containers_on_failed,
                                                         .finished = containers_on_finished};

/* --------------------------------------------------------------------------------------------------------- requests */

static void containers_add_profile_of_size(struct executor_containers *c, int profile,
                                           const struct yarn_executor_size *size)
{
        const size_t n = size->resources.list.len;
        Firesteel__Yarn__ResourceValue *values = new_array(Firesteel__Yarn__ResourceValue, n + 1);
        Firesteel__Yarn__ResourceValue **list = new_array(Firesteel__Yarn__ResourceValue *, n + 1);
        _cleanup_(buf_deinit) struct buf custom = BUF_INIT;
        for (size_t i = 0; i < n; i++) {
                const struct container_resource *from = &size->resources.list.data[i];
                firesteel__yarn__resource_value__init(&values[i]);
                values[i].key = from->name;
                values[i].has_value = true;
                values[i].value = from->amount;
                values[i].units = from->units;
                list[i] = &values[i];
                buf_printf(&custom, "%s%s: %lld%s", i ? ", " : " with custom resources: ", from->name,
                           (long long)from->amount, from->units);
        }
        yarn_executors_add_profile(c->executors,
                                   &(struct yarn_profile){.id = profile,
                                                          .memory_mb = size->total_mb,
                                                          .cores = size->cores,
                                                          .tasks_per_executor = size->tasks,
                                                          .custom = custom.len ? custom.data : NULL},
                                   list, n);
        free(list);
        free(values);
}

static void containers_add_profile(struct executor_containers *c, const struct yarn_target *target)
{
        struct fst_error error = FST_ERROR_INIT;
        struct yarn_executor_size size = {0};
        for (size_t i = 0; i < c->cores.len; i++)
                if (c->cores.data[i].profile == target->profile)
                        return;
        if (target->settings && yarn_executor_size_read_profile(c->conf, target->settings, &size, &error) == 0) {
                vec_push(&c->cores, (struct profile_cores){target->profile, size.cores});
                containers_add_profile_of_size(c, target->profile, &size);
        } else {
                if (error.message)
                        log_error("YarnAllocator", "resource profile %d gets executors of the default size: %s",
                                  target->profile, error_message(&error));
                vec_push(&c->cores, (struct profile_cores){target->profile, c->size.cores});
                containers_add_profile_of_size(c, target->profile, &c->size);
        }
        yarn_executor_size_deinit(&size);
        error_deinit(&error);
}

void executor_containers_request(struct executor_containers *c, const struct yarn_target *target)
{
        containers_add_profile(c, target);
        yarn_executors_set_targets(c->executors, target, 1);
}

/* ---------------------------------------------------------------------------------------------------------- metrics */

/* Spark's ApplicationMasterSource. */
static void containers_measure(void *owner, struct metrics_snapshot *out)
{
        const struct executor_containers *c = owner;
        const char *namespace = conf_get_value(c->conf, "spark.yarn.metrics.namespace");
        const struct yarn_allocator_numbers n = yarn_executors_measure(c->executors);
        const struct {
                const char *name;
                int value;
        } gauges[] = {{"numExecutorsFailed", n.failed},
                      {"numExecutorsRunning", n.running},
                      {"numReleasedContainers", n.released},
                      {"numLocalityAwareTasks", n.locality_tasks},
                      {"numContainersPendingAllocate", n.pending}};
        for (size_t i = 0; i < ARRAY_SIZE(gauges); i++) {
                _cleanup_free_ char *name =
                        mem_printf("%s.applicationMaster.%s", namespace ? namespace : c->app_id, gauges[i].name);
                metrics_gauge(out, name, gauges[i].value);
        }
}

static int containers_start_metrics(struct executor_containers *c, uv_loop_t *loop, struct fst_error *error)
{
        return metrics_daemon_start(&(struct metrics_daemon_options){.loop = loop,
                                                                     .instance = "applicationMaster",
                                                                     .conf = c->conf,
                                                                     .app_id = c->app_id,
                                                                     .measure = containers_measure,
                                                                     .owner = c},
                                    &c->metrics, error);
}

void executor_containers_stop(struct executor_containers *c)
{
        metrics_daemon_stop(steal(c->metrics));
        yarn_executors_free(steal(c->executors));
}

int executor_containers_start(struct executor_containers *c, uv_loop_t *loop,
                              const struct executor_containers_start *start, const struct executor_containers_ops *ops,
                              void *owner, struct fst_error *error)
{
        const struct am_settings *s = &c->settings;
        int r = am_settings_limit(&c->settings, &c->yarn_conf, error);
        if (r < 0)
                return r;
        bool track_history;
        if ((r = conf_get_bool(c->conf, "spark.yarn.historyServer.allowTracking", &track_history, error)))
                return r;
        _cleanup_free_ char *history = history_address(c->conf, &c->yarn_conf, c->app_id, start->attempt);
        const struct yarn_executors_options options = {
                .conf = &c->yarn_conf,
                .token = start->token,
                .host = start->host,
                .tracking_url = start->tracking_url ? start->tracking_url
                                : track_history     ? history
                                                    : NULL,
                .history_url = history,
                .heartbeat_ms = s->heartbeat_ms,
                .initial_ms = s->initial_ms,
                .max_failures = s->max_heartbeat_failures,
                .node_label = s->executor_label,
                .max_final_message = s->max_final_message,
                .allocator = {.max_executor_failures = s->max_executor_failures,
                              .last_executor = start->last_executor,
                              .ignore_locality = s->executor_label != NULL,
                              .decommission = s->decommission,
                              .health = {.exclude_on_launch_failure = s->exclude_on_launch_failure,
                                         .max_failures = s->max_failures_per_node,
                                         .timeout = s->exclude_timeout,
                                         .excluded = s->excluded,
                                         .failures_validity = s->failures_validity}},
                .kept = start->kept,
                .n_kept = start->n_kept};
        c->ops = ops;
        c->owner = owner;
        c->last_executor = start->last_executor;
        r = c->view_acl ? 0 : application_acls(c->conf, c->user, &c->view_acl, &c->modify_acl, error);
        r = r < 0 ? r : yarn_executors_new(loop, &options, &containers_ops, c, &c->executors, error);
        r = r < 0 ? r : containers_start_metrics(c, loop, error);
        if (r < 0)
                return r;
        yarn_executors_register(c->executors);
        log_info("ApplicationMaster",
                 "Started progress reporter thread with (heartbeat: %lld, initial allocation: %lld) intervals",
                 (long long)s->heartbeat_ms, (long long)s->initial_ms);
        return r;
}
