/*
 * Runs the core of executor pods with an API server and a clock.
 *
 * Every event for the core ends in kube_executors_run, which performs the core's actions. Calls of the driver from
 * within an action append to the same queue, so that actions keep their order.
 */
#include "kubernetes/backend/kube_executor_backend.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "kubernetes/backend/driver_pod.h"
#include "kubernetes/executors/executor_pods_conf.h"
#include "kubernetes/api/kube_client.h"
#include "kubernetes/api/kube_names.h"
#include "kubernetes/backend/pod_requests.h"
#include "kubernetes/backend/pod_creator.h"
#include "kubernetes/backend/pods_snapshot_source.h"

#include <string.h>
#include <sys/random.h>

#define K8S "spark.kubernetes."
#define READINESS_INTERVAL_MS 100
#define MANY_PODS 100 /* delete by label above this number of pods */

struct kube_executors {
        struct kube_executors_options options;
        const struct kube_executors_ops *ops;
        void *owner;
        struct executor_pods pods;
        struct claim_need *claims; /* claims of each pod */
        int n_claims;
        struct pod_creator *creator;
        struct pod_requests *calls;
        struct pods_snapshot_source *source;
        struct driver_pod_wait *readiness;
        uv_timer_t timer;
        bool running; /* performing actions */

        bool watches, polls, from_cache, waits_for_driver;
        int64_t polling_interval;
        char *decommission_label, *decommission_value; /* NULL: none */
        struct {
                bool executors, config_map, claims, service;
        } deleted; /* objects to delete at the end */

        bool given_up, stopped, deleted_late;
};

static int64_t now_of(const struct kube_executors *x)
{
        return (int64_t)uv_now(x->timer.loop) * NS_PER_MS;
}

/* -------------------------------------------------------------------------------------------------------- actions */

static void kube_executors_give_up(struct kube_executors *x, int exit_code, const char *message)
{
        if (!x->given_up)
                x->ops->given_up(x->owner, exit_code, message);
        x->given_up = true;
}

static void kube_executors_create_pod(struct kube_executors *x, const struct pod_action *action)
{
        struct fst_error error = FST_ERROR_INIT;
        if (x->ops->creating)
                x->ops->creating(x->owner, action->create.id);
        if (action->create.recovery)
                conf_set(x->options.settings, K8S "allocation.recoveryMode.enabled", "true");
        if (pod_creator_create(x->creator, action->create.id, action->create.profile, action->create.claims,
                               action->create.n_claims, &error) < 0)
                pods_allocator_create_failed(x->pods.allocator, action->create.id, CREATE_REFUSED, 0,
                                             error_message(&error), now_of(x));
        error_deinit(&error);
}

static void kube_executors_perform(struct kube_executors *x, const struct pod_action *action)
{
        switch (action->kind) {
        case POD_ACTION_CREATE:
                kube_executors_create_pod(x, action);
                break;
        case POD_ACTION_DELETE_MANY:
                pod_requests_delete_pods(x->calls, action->delete_many.ids, action->delete_many.n,
                                         action->delete_many.pending);
                break;
        case POD_ACTION_DELETE:
                pod_requests_delete_pod(x->calls, action->delete.pod, action->delete.log_first);
                break;
        case POD_ACTION_LABEL_INACTIVE:
                pod_requests_label(x->calls, action->pod->name, KUBE_LABEL_INACTIVE, "true");
                break;
        case POD_ACTION_LIST_CLAIMS:
                pod_requests_list_claims(x->calls);
                break;
        case POD_ACTION_REMOVE_EXECUTOR:
                x->ops->removed(x->owner, action->remove.id, &action->remove.reason);
                break;
        case POD_ACTION_STOP_APPLICATION:
                kube_executors_give_up(x, action->stop.exit_code, action->stop.message);
                break;
        case POD_ACTION_LOG:
                log_at(action->log.level, action->log.component, "%s", action->log.line);
                break;
        }
}

static void kube_executors_on_timer(uv_timer_t *timer);

static void kube_executors_set_timer(struct kube_executors *x)
{
        const int64_t deadline = executor_pods_deadline(&x->pods), now = now_of(x);
        if (deadline == INT64_MAX || x->stopped)
                uv_timer_stop(&x->timer);
        else
                uv_timer_start(&x->timer, kube_executors_on_timer, ms_until(deadline, now), 0);
}

/* Performs the actions of an event and sets the timer for the next deadline. Called after each event. */
static void kube_executors_run(struct kube_executors *x)
{
        if (x->running)
                return;
        x->running = true;
        for (const struct pod_action *action; (action = executor_pods_next_action(&x->pods));)
                kube_executors_perform(x, action);
        x->running = false;
        kube_executors_set_timer(x);
}

static void kube_executors_on_timer(uv_timer_t *timer)
{
        struct kube_executors *x = timer->data;
        executor_pods_tick(&x->pods, now_of(x));
        kube_executors_run(x);
}

/* --------------------------------------------------------------------------------------------- responses */

static void on_creation(void *owner, const struct pod_creation *c)
{
        struct kube_executors *x = owner;
        if (c->throttled)
                pods_allocator_throttled(x->pods.allocator);
        if (c->outcome == CREATE_DONE)
                pods_allocator_created(x->pods.allocator, c->id, now_of(x));
        else
                pods_allocator_create_failed(x->pods.allocator, c->id, c->outcome, ms_to_ns(c->retry_after_ms),
                                             c->message, now_of(x));
        kube_executors_run(x);
}

static const struct pod_creator_ops creator_ops = {.answered = on_creation};

static void on_claims(void *owner, const struct pod_claim *claims, int n)
{
        struct kube_executors *x = owner;
        pods_allocator_claims(x->pods.allocator, claims, n, now_of(x));
        kube_executors_run(x);
}

static const struct pod_requests_ops calls_ops = {.claims = on_claims};

static void on_pods_changed(void *owner)
{
        kube_executors_run(owner);
}

static void on_forbidden(void *owner, const struct fst_error *error)
{
        struct kube_executors *x = owner;
        kube_executors_give_up(x, 1, error_message(error));
}

static const struct pods_snapshot_source_ops source_ops = {.changed = on_pods_changed, .forbidden = on_forbidden};

static void on_driver_ready(void *owner)
{
        struct kube_executors *x = owner;
        pods_allocator_driver_ready(x->pods.allocator, now_of(x));
        kube_executors_run(x);
}

/* ------------------------------------------------------------------------------------------------- start and stop */

static int kube_executors_read_settings(struct kube_executors *x, struct fst_error *error)
{
        const struct fst_conf *conf = x->options.settings;
        bool no_config_map;
        int r;
        if ((r = conf_get_bool(conf, K8S "executor.enableApiWatcher", &x->watches, error)) ||
            (r = conf_get_bool(conf, K8S "executor.enableApiPolling", &x->polls, error)) ||
            (r = conf_get_bool(conf, K8S "executor.enablePollingWithResourceVersion", &x->from_cache, error)) ||
            (r = conf_get_ms(conf, K8S "executor.apiPollingInterval", &x->polling_interval, error)) ||
            (r = conf_get_string(conf, K8S "executor.decommissionLabel", &x->decommission_label, error)) ||
            (r = conf_get_string(conf, K8S "executor.decommissionLabelValue", &x->decommission_value, error)) ||
            (r = conf_get_bool(conf, K8S "executor.disableConfigMap", &no_config_map, error)) ||
            (r = conf_get_bool(conf, K8S "executor.deleteOnTermination", &x->deleted.executors, error)) ||
            (r = conf_get_bool(conf, K8S "driver.ownPersistentVolumeClaim", &x->deleted.claims, error)) ||
            (r = conf_get_bool(conf, K8S "driver.service.deleteOnTermination", &x->deleted.service, error)))
                return r;
        x->deleted.config_map = x->deleted.executors && !no_config_map;
        x->deleted.service = x->deleted.service && x->options.driver_pod;
        if (!x->watches && !x->polls)
                return error_set(error, -EINVAL,
                                 K8S "executor.enableApiWatcher and .enableApiPolling are both false, but the "
                                     "driver needs one of them to see its executors: set one to true");
        const char *allocator = conf_get_value(conf, K8S "allocation.pods.allocator");
        if (strcmp(allocator, "direct") != 0)
                return error_set(error, -ENOTSUP,
                                 K8S "allocation.pods.allocator is '%s', but only direct is supported: remove "
                                     "the key",
                                 allocator);
        if (x->polling_interval < 1)
                return error_set(error, -EINVAL, K8S "executor.apiPollingInterval must be at least 1 ms");
        return 0;
}

static int make_core(struct kube_executors *x, struct fst_error *error)
{
        struct executor_pods_config config = EXECUTOR_PODS_DEFAULT;
        int r = executor_pods_config_read(x->options.settings, x->options.driver_pod != NULL, &config, error);
        if (r)
                return r;
        x->waits_for_driver = config.allocation.wait_for_driver;
        config.allocation.wall_offset = config.lifecycle.wall_offset = ms_to_ns(time_of_day_ms()) - now_of(x);
        if (getrandom(&config.allocation.window.seed, sizeof(config.allocation.window.seed), 0) < 0)
                config.allocation.window.seed = (uint64_t)time_of_day_ms();
        const char *container = config.lifecycle.rules.container;
        x->calls = pod_requests_new(
                &(struct pod_requests_options){.client = x->options.client,
                                               .namespace = x->options.namespace,
                                               .app_id = x->options.app_id,
                                               .container = container ? container : KUBE_EXECUTOR_CONTAINER},
                &calls_ops, x);
        x->creator = pod_creator_new(&(struct pod_creator_options){.client = x->options.client,
                                                                   .profiles = x->options.profiles,
                                                                   .namespace = x->options.namespace,
                                                                   .conf = x->options.conf,
                                                                   .driver_owns_claims = x->deleted.claims},
                                     &creator_ops, x);
        r = pod_creator_check(x->creator, &x->claims, &x->n_claims, error);
        config.allocation.claims = x->claims;
        config.allocation.n_claims = config.allocation.reuse_claims ? x->n_claims : 0;
        executor_pods_init(&x->pods, &config);
        return r;
}

int kube_executors_new(const struct kube_executors_options *options, const struct kube_executors_ops *ops, void *owner,
                       struct kube_executors **out, struct fst_error *error)
{
        struct kube_executors *x = new0(struct kube_executors);
        x->options = *options;
        x->ops = ops;
        x->owner = owner;
        uv_timer_init(kube_client_loop(options->client), &x->timer);
        x->timer.data = x;
        int r = kube_executors_read_settings(x, error);
        if (r == 0)
                r = make_core(x, error);
        if (r == 0)
                *out = x;
        else
                kube_executors_free(x);
        return r;
}

static void on_closed(uv_handle_t *handle)
{
        struct kube_executors *x = handle->data;
        executor_pods_deinit(&x->pods);
        for (int i = 0; i < x->n_claims; i++)
                free(x->claims[i].storage_class);
        free(x->claims);
        free(x->decommission_label);
        free(x->decommission_value);
        free(x);
}

void kube_executors_free(struct kube_executors *x)
{
        if (!x)
                return;
        driver_pod_wait_end(x->readiness);
        pods_snapshot_source_stop(x->source);
        pod_creator_free(x->creator);
        pod_requests_free(x->calls);
        uv_close((uv_handle_t *)&x->timer, on_closed);
}

void kube_executors_start(struct kube_executors *x)
{
        const struct kube_executors_options *o = &x->options;
        _cleanup_free_ char *labels = mem_printf(KUBE_LABEL_APP_ID "=%s," KUBE_LABEL_ROLE "=executor", o->app_id);
        pods_allocator_start(x->pods.allocator, now_of(x));
        x->source = pods_snapshot_source_start(
                &(struct pods_snapshot_source_options){.client = o->client,
                                                       .namespace = o->namespace,
                                                       .labels = labels,
                                                       .watches = x->watches,
                                                       .polls = x->polls,
                                                       .from_cache = x->from_cache,
                                                       .polling_interval = x->polling_interval},
                x->pods.store, &source_ops, x);
        if (x->waits_for_driver)
                x->readiness = driver_pod_wait_begin(o->client, o->namespace, o->driver_pod, READINESS_INTERVAL_MS,
                                                     on_driver_ready, x);
        kube_executors_run(x);
}

void kube_executors_stop(struct kube_executors *x)
{
        if (x->stopped)
                return;
        x->stopped = true;
        executor_pods_stop(&x->pods);
        pods_snapshot_source_stop(steal(x->source));
        driver_pod_wait_end(steal(x->readiness));
        uv_timer_stop(&x->timer);
        if (x->deleted.service)
                pod_requests_delete_all(x->calls, "services", NULL);
        const struct pods_snapshot *pods = snapshots_store_pods(x->pods.store);
        const bool many = pods->n > MANY_PODS;
        if (x->deleted.executors && pod_requests_fetching(x->calls) == 0) {
                if (many)
                        pod_requests_delete_known(x->calls, pods);
                else
                        pod_requests_delete_all(x->calls, "pods", "executor");
        }
        if (x->deleted.config_map)
                pod_requests_delete_all(x->calls, "configmaps", "executor");
        if (x->deleted.claims)
                pod_requests_delete_all(x->calls, "persistentvolumeclaims", NULL);
        x->deleted_late =
                !many && pods_allocator_in_flight(x->pods.allocator) == 0 && pod_requests_fetching(x->calls) == 0;
}

bool kube_executors_drained(struct kube_executors *x)
{
        if (!x->stopped || pods_allocator_in_flight(x->pods.allocator) > 0 || pod_requests_fetching(x->calls) > 0)
                return false;
        if (pod_requests_deleting(x->calls) > 0)
                return false;
        if (x->deleted_late || !x->deleted.executors)
                return true;
        x->deleted_late = true; /* pods created after the first deletion, or whose log was read first */
        pod_requests_delete_all(x->calls, "pods", "executor");
        return false;
}

/* ---------------------------------------------------------------------------------------- calls of the driver */

void kube_executors_set_target(struct kube_executors *x, int32_t profile, int target)
{
        pods_allocator_set_target(x->pods.allocator, profile, target, now_of(x));
        kube_executors_run(x);
}

void kube_executors_skip_ids(struct kube_executors *x, int32_t last)
{
        pods_allocator_skip_ids(x->pods.allocator, last);
}

void kube_executors_adopt(struct kube_executors *x, int32_t id, int32_t profile)
{
        pods_allocator_adopt(x->pods.allocator, id, profile, now_of(x));
}

void kube_executors_abandon(struct kube_executors *x, int32_t id)
{
        pods_allocator_abandon(x->pods.allocator, id);
}

void kube_executors_registered(struct kube_executors *x, int32_t id)
{
        executor_pods_registered(&x->pods, id, now_of(x));
        kube_executors_run(x);
}

void kube_executors_unregistered(struct kube_executors *x, int32_t id)
{
        executor_pods_unregistered(&x->pods, id, now_of(x));
        kube_executors_run(x);
}

bool kube_executors_refuse(const struct kube_executors *x, int32_t id)
{
        return pods_allocator_is_excluded(x->pods.allocator, id);
}

char *kube_executors_pending_reason(const struct kube_executors *x)
{
        const struct pods_snapshot *pods = snapshots_store_pods(x->pods.store);
        struct buf why = BUF_INIT;
        for (const struct pod_state *p = NULL; (p = pods_snapshot_next(pods, p));)
                if (p->kind == POD_PENDING && waiting_reason_describe(p, &why))
                        break;
        return why.len ? buf_steal(&why) : mem_strdup("");
}

int kube_executors_running(const struct kube_executors *x)
{
        return pods_allocator_counts(x->pods.allocator, -1).running;
}

void kube_executors_kill(struct kube_executors *x, int32_t id)
{
        kube_executors_decommissioned(x, id); /* as Spark, so that a service may watch the label */
        lifecycle_manager_killed(x->pods.lifecycle, &id, 1, now_of(x));
        kube_executors_run(x);
}

void kube_executors_decommissioned(struct kube_executors *x, int32_t id)
{
        const struct pod_state *pod = pods_snapshot_get(snapshots_store_pods(x->pods.store), id);
        lifecycle_manager_decommissioned(x->pods.lifecycle, id);
        if (pod && x->decommission_label)
                pod_requests_label(x->calls, pod->name, x->decommission_label,
                                   x->decommission_value ? x->decommission_value : "");
}
