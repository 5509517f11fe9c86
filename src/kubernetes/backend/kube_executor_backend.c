/*
 * See kube_executors.h. Operations of the pods' core must not call back into it, and ours may: what would is kept
 * (struct errand) until the core has returned.
 */
#include "kubernetes/backend/kube_executor_backend.h"

#include "base/error.h"
#include "base/log.h"
#include "base/vec.h"
#include "kubernetes/backend/driver_pod.h"
#include "kubernetes/executors/executor_pods_conf.h"
#include "kubernetes/api/kube_client.h"
#include "kubernetes/conf/kube_conf.h"
#include "kubernetes/api/kube_names.h"
#include "kubernetes/backend/pod_requests.h"
#include "kubernetes/backend/pod_creator.h"
#include "kubernetes/backend/pods_snapshot_source.h"

#include <string.h>
#include <sys/random.h>
#include <time.h>

#define K8S "spark.kubernetes."
#define READINESS_INTERVAL_MS 100
#define MANY_PODS 100 /* for one call to delete */

enum errand_kind { NOT_BUILT, REMOVED, GIVEN_UP };

struct errand {
        enum errand_kind kind;
        int32_t id;
        struct exit_reason reason; /* its message alone, but of REMOVED */
};

struct kube_executors {
        struct kube_executors_options options;
        const struct kube_executors_ops *ops;
        void *owner;
        struct executor_pods *pods;
        struct pod_creator *creator;
        struct pod_calls *calls;
        struct pods_source *source;
        struct driver_pod_wait *readiness;
        uv_timer_t timer;
        VEC(struct errand) errands;
        bool running_errands;

        bool watches, polls, from_cache;
        int64_t polling_interval;
        char *decommission_label, *decommission_value; /* NULL: none */
        struct {
                bool executors, config_map, claims, service;
        } deleted; /* at the end */

        bool given_up, stopped, deleted_late;
};

static int64_t now_of(const struct kube_executors *x)
{
        return (int64_t)uv_now(x->timer.loop);
}

/* ------------------------------------------------------------------------------------------------ what is put off */

static void put_off(struct kube_executors *x, enum errand_kind kind, int32_t id, const struct exit_reason *reason)
{
        struct errand e = {.kind = kind, .id = id, .reason = *reason};
        e.reason.message = mem_strdup(reason->message);
        vec_push(&x->errands, e);
}

static void run_errand(struct kube_executors *x, const struct errand *e)
{
        switch (e->kind) {
        case NOT_BUILT:
                executor_pods_create_failed(x->pods, e->id, CREATE_REFUSED, 0, e->reason.message, now_of(x));
                break;
        case REMOVED:
                x->ops->removed(x->owner, e->id, &e->reason);
                break;
        case GIVEN_UP:
                if (!x->given_up)
                        x->ops->given_up(x->owner, e->reason.code, e->reason.message);
                x->given_up = true;
                break;
        }
}

static void on_timer(uv_timer_t *timer);

static void set_timer(struct kube_executors *x)
{
        const int64_t deadline = executor_pods_deadline(x->pods), now = now_of(x);
        if (deadline == INT64_MAX || x->stopped)
                uv_timer_stop(&x->timer);
        else
                uv_timer_start(&x->timer, on_timer, (uint64_t)MAX(deadline - now, 0), 0);
}

/* After each event: what was put off, and when there is something to do next. */
static void settle(struct kube_executors *x)
{
        if (x->running_errands)
                return;
        x->running_errands = true;
        for (size_t i = 0; i < x->errands.len; i++) {
                struct errand e = x->errands.data[i]; /* the vector may grow */
                run_errand(x, &e);
                exit_reason_deinit(&e.reason);
        }
        x->errands.len = 0;
        x->running_errands = false;
        set_timer(x);
}

static void on_timer(uv_timer_t *timer)
{
        struct kube_executors *x = timer->data;
        executor_pods_tick(x->pods, now_of(x));
        settle(x);
}

/* ------------------------------------------------------------------------------------------------ what the core asks
 */

static void core_create_pod(void *owner, int32_t id, int32_t profile, bool recovery)
{
        struct kube_executors *x = owner;
        struct fst_error error = FST_ERROR_INIT;
        if (recovery)
                conf_set(x->options.settings, K8S "allocation.recoveryMode.enabled", "true");
        if (pod_creator_create(x->creator, id, profile, &error) < 0)
                put_off(x, NOT_BUILT, id, &(struct exit_reason){.message = (char *)error_message(&error)});
        error_deinit(&error);
}

static void core_delete_pods(void *owner, const int32_t *ids, int n, bool pending)
{
        struct kube_executors *x = owner;
        pod_calls_delete_pods(x->calls, ids, n, pending);
}

static void core_delete_pod(void *owner, const struct pod_state *pod, bool log_first)
{
        struct kube_executors *x = owner;
        pod_calls_delete_pod(x->calls, pod, log_first);
}

static void core_label_inactive(void *owner, const struct pod_state *pod)
{
        struct kube_executors *x = owner;
        pod_calls_label(x->calls, pod->name, KUBE_LABEL_INACTIVE, "true");
}

static void core_list_claims(void *owner)
{
        struct kube_executors *x = owner;
        pod_calls_list_claims(x->calls);
}

static void core_remove_executor(void *owner, int32_t id, const struct exit_reason *reason)
{
        put_off(owner, REMOVED, id, reason);
}

static void core_stop_application(void *owner, int exit_code, const char *message)
{
        put_off(owner, GIVEN_UP, 0, &(struct exit_reason){.code = exit_code, .message = (char *)message});
}

static void core_log(void *owner, enum log_level level, const char *component, const char *line)
{
        log_at(level, component, "%s", line);
}

static const struct executor_pods_ops core_ops = {
        .create_pod = core_create_pod,
        .delete_pods = core_delete_pods,
        .delete_pod = core_delete_pod,
        .label_inactive = core_label_inactive,
        .list_claims = core_list_claims,
        .remove_executor = core_remove_executor,
        .stop_application = core_stop_application,
        .log = core_log,
};

/* ------------------------------------------------------------------------------------------------ what is answered */

static const char *on_claim_wanted(void *owner, int32_t id, const char *storage_class, int64_t size)
{
        struct kube_executors *x = owner;
        return executor_pods_take_claim(x->pods, id, storage_class, size);
}

static void on_creation(void *owner, const struct pod_creation *c)
{
        struct kube_executors *x = owner;
        if (c->throttled)
                executor_pods_throttled(x->pods);
        if (c->outcome == CREATE_DONE)
                executor_pods_created(x->pods, c->id, now_of(x));
        else
                executor_pods_create_failed(x->pods, c->id, c->outcome, c->retry_after_ms, c->message, now_of(x));
        settle(x);
}

static const struct pod_creator_ops creator_ops = {.take_claim = on_claim_wanted, .answered = on_creation};

static void on_claims(void *owner, const struct pod_claim *claims, int n)
{
        struct kube_executors *x = owner;
        executor_pods_claims(x->pods, claims, n, now_of(x));
        settle(x);
}

static const struct pod_calls_ops calls_ops = {.claims = on_claims};

static void on_told(void *owner)
{
        settle(owner);
}

static void on_forbidden(void *owner, const struct fst_error *error)
{
        struct kube_executors *x = owner;
        put_off(x, GIVEN_UP, 0, &(struct exit_reason){.code = 1, .message = (char *)error_message(error)});
        settle(x);
}

static const struct pods_source_ops source_ops = {.told = on_told, .forbidden = on_forbidden};

static void on_driver_ready(void *owner)
{
        struct kube_executors *x = owner;
        executor_pods_driver_ready(x->pods, now_of(x));
        settle(x);
}

/* ------------------------------------------------------------------------------------------------- start and end */

static int read_settings(struct kube_executors *x, struct fst_error *error)
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
                                 K8S "executor.enableApiWatcher and .enableApiPolling are both false: nothing would "
                                     "be known of executor pods; set one of them to true");
        const char *allocator = conf_get_value(conf, K8S "allocation.pods.allocator");
        if (strcmp(allocator, "direct") != 0)
                return error_set(error, -ENOTSUP,
                                 K8S "allocation.pods.allocator is '%s', but executors' pods are created one by one "
                                     "here (direct): leave it out",
                                 allocator);
        if (x->polling_interval < 1)
                return error_set(error, -EINVAL, K8S "executor.apiPollingInterval must be at least 1 ms");
        return 0;
}

static int64_t wall_clock_ms(void)
{
        struct timespec t;
        clock_gettime(CLOCK_REALTIME, &t);
        return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int make_core(struct kube_executors *x, struct fst_error *error)
{
        struct executor_pods_config config = EXECUTOR_PODS_DEFAULT;
        int r = executor_pods_config_read(x->options.settings, x->options.driver_pod != NULL, &config, error);
        if (r)
                return r;
        config.allocation.wall_offset = config.lifecycle.wall_offset = wall_clock_ms() - now_of(x);
        if (getrandom(&config.allocation.window.seed, sizeof(config.allocation.window.seed), 0) < 0)
                config.allocation.window.seed = (uint64_t)wall_clock_ms();
        const char *container = config.lifecycle.rules.container;
        x->calls =
                pod_calls_new(&(struct pod_calls_options){.client = x->options.client,
                                                          .namespace = x->options.namespace,
                                                          .app_id = x->options.app_id,
                                                          .container = container ? container : KUBE_EXECUTOR_CONTAINER},
                              &calls_ops, x);
        x->creator = pod_creator_new(&(struct pod_creator_options){.client = x->options.client,
                                                                   .namespace = x->options.namespace,
                                                                   .conf = x->options.conf,
                                                                   .driver_owns_claims = x->deleted.claims},
                                     &creator_ops, x);
        x->pods = executor_pods_new(&config, &core_ops, x);
        return pod_creator_check(x->creator, error);
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
        int r = read_settings(x, error);
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
        executor_pods_free(x->pods);
        for (size_t i = 0; i < x->errands.len; i++)
                exit_reason_deinit(&x->errands.data[i].reason);
        vec_deinit(&x->errands);
        free(x->decommission_label);
        free(x->decommission_value);
        free(x);
}

void kube_executors_free(struct kube_executors *x)
{
        if (!x)
                return;
        driver_pod_wait_end(x->readiness);
        pods_source_stop(x->source);
        pod_creator_free(x->creator);
        pod_calls_free(x->calls);
        uv_close((uv_handle_t *)&x->timer, on_closed);
}

void kube_executors_start(struct kube_executors *x)
{
        const struct kube_executors_options *o = &x->options;
        _cleanup_free_ char *labels = mem_printf(KUBE_LABEL_APP_ID "=%s," KUBE_LABEL_ROLE "=executor", o->app_id);
        executor_pods_start(x->pods, now_of(x));
        x->source = pods_source_start(&(struct pods_source_options){.client = o->client,
                                                                    .namespace = o->namespace,
                                                                    .labels = labels,
                                                                    .watches = x->watches,
                                                                    .polls = x->polls,
                                                                    .from_cache = x->from_cache,
                                                                    .polling_interval = x->polling_interval},
                                      x->pods, &source_ops, x);
        if (o->driver_pod)
                x->readiness = driver_pod_wait_begin(o->client, o->namespace, o->driver_pod, READINESS_INTERVAL_MS,
                                                     on_driver_ready, x);
        settle(x);
}

void kube_executors_stop(struct kube_executors *x)
{
        if (x->stopped)
                return;
        x->stopped = true;
        executor_pods_stop(x->pods);
        pods_source_stop(steal(x->source));
        driver_pod_wait_end(steal(x->readiness));
        uv_timer_stop(&x->timer);
        if (x->deleted.service)
                pod_calls_delete_all(x->calls, "services", NULL);
        const struct pods_snapshot *pods = executor_pods_known(x->pods);
        const bool many = pods->n > MANY_PODS;
        if (x->deleted.executors && pod_calls_fetching(x->calls) == 0) {
                if (many)
                        pod_calls_delete_known(x->calls, pods);
                else
                        pod_calls_delete_all(x->calls, "pods", "executor");
        }
        if (x->deleted.config_map)
                pod_calls_delete_all(x->calls, "configmaps", "executor");
        if (x->deleted.claims)
                pod_calls_delete_all(x->calls, "persistentvolumeclaims", NULL);
        x->deleted_late = !many && executor_pods_in_flight(x->pods) == 0 && pod_calls_fetching(x->calls) == 0;
}

bool kube_executors_drained(struct kube_executors *x)
{
        if (!x->stopped || executor_pods_in_flight(x->pods) > 0 || pod_calls_fetching(x->calls) > 0)
                return false;
        if (pod_calls_deleting(x->calls) > 0)
                return false;
        if (x->deleted_late || !x->deleted.executors)
                return true;
        x->deleted_late = true; /* those that were created after the others were deleted, or read to their end first */
        pod_calls_delete_all(x->calls, "pods", "executor");
        return false;
}

/* ------------------------------------------------------------------------------------------------ from the driver */

void kube_executors_set_target(struct kube_executors *x, int32_t profile, int target)
{
        executor_pods_set_target(x->pods, profile, target, now_of(x));
        settle(x);
}

void kube_executors_registered(struct kube_executors *x, int32_t id)
{
        executor_pods_registered(x->pods, id, now_of(x));
        settle(x);
}

void kube_executors_unregistered(struct kube_executors *x, int32_t id)
{
        executor_pods_unregistered(x->pods, id, now_of(x));
        settle(x);
}

bool kube_executors_refuse(const struct kube_executors *x, int32_t id)
{
        return executor_pods_is_excluded(x->pods, id);
}

char *kube_executors_pending_reason(const struct kube_executors *x)
{
        const struct pods_snapshot *pods = executor_pods_known(x->pods);
        struct buf why = BUF_INIT;
        for (const struct pod_state *p = NULL; (p = pods_snapshot_next(pods, p));)
                if (p->kind == POD_PENDING && waiting_reason_describe(p, &why))
                        break;
        return why.len ? buf_steal(&why) : mem_strdup("");
}

int kube_executors_running(const struct kube_executors *x)
{
        return executor_pods_counts(x->pods, -1).running;
}

void kube_executors_kill(struct kube_executors *x, int32_t id)
{
        kube_executors_decommissioned(x, id); /* as Spark: a service may want to know whom it need not keep */
        executor_pods_kill(x->pods, &id, 1, now_of(x));
        settle(x);
}

void kube_executors_decommissioned(struct kube_executors *x, int32_t id)
{
        const struct pod_state *pod = executor_pods_get(x->pods, id);
        if (pod && x->decommission_label)
                pod_calls_label(x->calls, pod->name, x->decommission_label,
                                x->decommission_value ? x->decommission_value : "");
}
