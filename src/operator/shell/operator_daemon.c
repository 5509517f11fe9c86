/*
 * The daemon: one kube_watch for each kind and namespace feeds the cores, the work queue has the keys that need a look,
 * and a pump takes them out while this operator leads and fewer than `most_calls` requests are under way.
 *
 * Deadlines of the cores are times of day. The queue's clock is monotonic, so that no deadline is more than
 * LONGEST_WAIT away there: a clock that was set differently is seen then.
 */
#include "operator/shell/operator_daemon.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/fs.h"
#include "base/log.h"
#include "kubernetes/api/kube_watch.h"
#include "operator/apache/apache_application.h"
#include "operator/resources/spark_application.h"
#include "operator/shell/apache_actions.h"
#include "operator/shell/application_actions.h"
#include "operator/shell/daemon_internal.h"
#include "operator/shell/lease_keeper.h"
#include "operator/shell/probe_server.h"
#include "text/json.h"

#include <malloc.h>
#include <unistd.h>

#define LONGEST_WAIT (20 * NS_PER_SECOND)
#define DEFAULT_CALLS 64
#define OBJECTS_OF_A_PAGE 1000       /* of a list that failed as a whole. Lists are read object by object */
#define MAX_WAITING_BYTES (4u << 20) /* the texts of some 4,000 applications */
#define MANY_CALLS 16                /* at once, whose memory is worth returning */

/* The cores of the first kinds wait for those of all namespaces. */
enum watched_kind {
        WATCHED_POD,
        WATCHED_APPLICATION,
        WATCHED_SCHEDULE,
        N_SYNCED_KINDS,
        WATCHED_APACHE_POD = N_SYNCED_KINDS,
        WATCHED_APACHE_APPLICATION,
        WATCHED_SPARK_CLUSTER,
        N_WATCHED_KINDS,
};

static const struct {
        const char *api, *resource, *labels;
} watched_kinds[N_WATCHED_KINDS] = {
        [WATCHED_POD] = {"v1", "pods", LABEL_LAUNCHED "=true"},
        [WATCHED_APPLICATION] = {OPERATOR_API, APPLICATIONS_RESOURCE},
        [WATCHED_SCHEDULE] = {OPERATOR_API, SCHEDULES_RESOURCE},
        [WATCHED_APACHE_POD] = {"v1", "pods", APACHE_LABEL_OPERATOR "=" APACHE_OPERATOR_NAME},
        [WATCHED_APACHE_APPLICATION] = {APACHE_API, APPLICATIONS_RESOURCE},
        [WATCHED_SPARK_CLUSTER] = {APACHE_API, CLUSTERS_RESOURCE},
};

struct operator_watch {
        struct operator_daemon *daemon;
        struct operator_scope *scope;
        enum watched_kind kind;
        struct kube_watch *watch; /* NULL before it starts */
        bool synced, warned;
};

/* A namespace, or all of them. */
struct operator_scope {
        struct operator_scope *prev, *next;
        char *namespace; /* NULL: all */
        struct operator_watch watches[N_WATCHED_KINDS];
        bool set_aside; /* it could not be read: the operator begins without it */
};

struct operator_daemon {
        struct operator_context context;
        uv_loop_t *loop;
        const struct operator_conf *conf;
        struct kube_config kube;
        LIST(struct operator_scope) scopes;
        struct kube_watch *selected; /* the namespaces of --namespace-selector, or NULL */
        bool selected_synced, selected_warned;
        size_t most_calls;
        struct lease_keeper *lease;
        struct probe_server *probes, *metrics;
        uv_timer_t timer;
        uv_timer_t sync_timer; /* until scopes that are not known yet are set aside */
        bool synced, pumping, ending, closed;
        int n_timers;  /* that are not closed */
        int n_threads; /* that read the context */
        bool trim_due; /* many calls have run since memory was returned to the system */
        int status;
        void (*ended)(void *owner, int status);
        void *owner;
};

static void operator_daemon_pump(struct operator_daemon *d);

struct operator_context *operator_daemon_context(struct operator_daemon *d)
{
        return &d->context;
}

/* --------------------------------------------------------------------------------------------------------- calls */

void operator_call_begin(struct operator_call *call, struct operator_daemon *d)
{
        call->daemon = d;
        list_append(&d->context.calls, call);
        d->context.n_calls++;
}

void operator_call_end(struct operator_call *call, enum work_kind kind, const char *namespace, const char *name,
                       bool queue, bool failed)
{
        struct operator_daemon *d = call->daemon;
        struct work_queue *q = d->context.queue;
        if (queue && failed)
                work_queue_add_failed(q, kind, namespace, name, now_ns());
        else if (queue)
                work_queue_add(q, kind, namespace, name);
        if (!failed)
                work_queue_forget_failures(q, kind, namespace, name);
        list_remove(&d->context.calls, call);
        d->context.n_calls--;
        call->free(call);
        operator_daemon_pump(d);
}

static void operator_calls_cancel(struct operator_daemon *d)
{
        for (struct operator_call *call; (call = list_pop(&d->context.calls));) {
                if (call->call)
                        kube_cancel(call->call);
                call->free(call);
        }
        d->context.n_calls = 0;
}

/* ---------------------------------------------------------------------------------------------------------- work */

static void operator_daemon_on_timer(uv_timer_t *timer)
{
        operator_daemon_pump(timer->data);
}

static bool operator_daemon_acts(const struct operator_daemon *d)
{
        return d->synced && !d->ending && (!d->lease || lease_keeper_leads(d->lease));
}

static void operator_daemon_reconcile(struct operator_daemon *d, const struct work_item *item)
{
        struct operator_context *c = &d->context;
        /* The item is the queue's until it is changed. */
        _cleanup_free_ char *namespace = mem_strdup(item->namespace), *name = mem_strdup(item->name);
        int64_t wall = time_of_day_ms();
        int64_t deadline;
        if (item->kind == WORK_APPLICATION) {
                deadline = application_core_reconcile(c->applications, namespace, name, wall);
                application_actions_drain(d);
        } else if (item->kind == WORK_APACHE_APPLICATION) {
                deadline = apache_core_reconcile(c->apache, namespace, name, wall);
                apache_actions_drain(d);
        } else if (item->kind == WORK_SPARK_CLUSTER) {
                deadline = apache_core_reconcile(c->clusters, namespace, name, wall);
                apache_actions_drain(d);
        } else {
                deadline = schedule_core_reconcile(c->schedules, namespace, name, wall);
                for (struct schedule_action action; schedule_core_next_action(c->schedules, &action);)
                        schedule_action_perform(d, &action);
        }
        if (deadline == INT64_MAX)
                return;
        int64_t wait = deadline <= wall ? 0 : MIN(ms_to_ns(deadline - wall), LONGEST_WAIT);
        work_queue_add_at(c->queue, item->kind, namespace, name, now_ns() + wait);
}

static void operator_daemon_pump(struct operator_daemon *d)
{
        struct work_item item;
        if (d->pumping || !operator_daemon_acts(d))
                return;
        d->pumping = true; /* a call that ends at once calls this function again */
        while (d->context.n_calls < d->most_calls && work_queue_next(d->context.queue, now_ns(), &item))
                operator_daemon_reconcile(d, &item);
        d->pumping = false;
        d->trim_due = d->trim_due || d->context.n_calls >= MANY_CALLS;
        if (d->trim_due && d->context.n_calls == 0) {
                malloc_trim(0);
                d->trim_due = false;
        }
        int64_t now = now_ns(), deadline = work_queue_deadline(d->context.queue, now);
        if (deadline == INT64_MAX || d->context.n_calls >= d->most_calls)
                uv_timer_stop(&d->timer);
        else
                uv_timer_start(&d->timer, operator_daemon_on_timer, ms_until(deadline, now), 0);
}

/* ------------------------------------------------------------------------------------------------------- watches */

static void operator_watch_on_schedule(struct operator_daemon *d, enum kube_event what, const json_t *object)
{
        struct operator_context *c = &d->context;
        struct schedule_observation o;
        schedule_observation_read(object, &o);
        if (what == KUBE_DELETED) {
                schedule_core_removed(c->schedules, o.namespace, o.name);
                work_queue_remove(c->queue, WORK_SCHEDULE, o.namespace, o.name);
        } else if (schedule_core_observe(c->schedules, &o)) {
                work_queue_add(c->queue, WORK_SCHEDULE, o.namespace, o.name);
        }
        schedule_status_deinit(&o.status);
}

/* A SparkApplication, which may be the run of a schedule. @listed: the first list was complete before. */
static void operator_watch_on_application(struct operator_daemon *d, enum kube_event what, const json_t *object,
                                          bool listed)
{
        struct operator_context *c = &d->context;
        const char *namespace = json_text_or_empty(object, "metadata.namespace");
        const char *name = json_text_or_empty(object, "metadata.name"),
                   *uid = json_text_or_empty(object, "metadata.uid");
        struct run_observation run;
        if (what == KUBE_DELETED) {
                /* After a list, only name and uid of a deleted object are known. */
                const char *schedule = schedule_core_run_removed(c->schedules, namespace, name, uid);
                if (schedule)
                        work_queue_add(c->queue, WORK_SCHEDULE, namespace, schedule);
                work_queue_remove(c->queue, WORK_APPLICATION, namespace, name);
                waiting_objects_drop(c->waiting, namespace, name);
                if (application_core_removed(c->applications, namespace, name, uid))
                        work_queue_add(c->queue, WORK_APPLICATION, namespace, name);
                return;
        }
        if (run_observation_read(object, &run) && schedule_core_observe_run(c->schedules, &run))
                work_queue_add(c->queue, WORK_SCHEDULE, run.namespace, run.schedule);
        _cleanup_free_ char *labels = operator_metrics_labels(c->metrics, object);
        if (what == KUBE_ADDED && listed)
                operator_metrics_add_application(c->metrics, labels);
        if (application_observe(c, object, labels))
                work_queue_add(c->queue, WORK_APPLICATION, namespace, name);
}

static void operator_watch_on_pod(struct operator_daemon *d, enum kube_event what, const json_t *object)
{
        struct operator_context *c = &d->context;
        struct pod_observation pod;
        const char *namespace = json_text_or_empty(object, "metadata.namespace");
        if (what == KUBE_DELETED && !json_object_get(json_object_get(object, "metadata"), "labels")) {
                pod = (struct pod_observation){.namespace = namespace,
                                               .name = json_text_or_empty(object, "metadata.name"),
                                               .uid = json_text_or_empty(object, "metadata.uid")};
                /* After a list, only name and uid of a deleted object are known. */
                pod.application =
                        application_core_pod_owner(c->applications, namespace, pod.name, pod.uid, &pod.is_driver);
                if (!pod.application)
                        return;
        } else if (!pod_observation_read(object, &pod)) {
                return;
        }
        bool queue = what == KUBE_DELETED ? application_core_pod_removed(c->applications, &pod)
                                          : application_core_observe_pod(c->applications, &pod);
        if (queue && pod.application)
                work_queue_add(c->queue, WORK_APPLICATION, namespace, pod.application);
}

static bool operator_scope_is_synced(const struct operator_scope *s)
{
        size_t i = 0;
        while (i < N_SYNCED_KINDS && s->watches[i].synced)
                i++;
        return i == N_SYNCED_KINDS;
}

/* The cores act once all objects are known, but for those of namespaces that are set aside. */
static void operator_daemon_check_synced(struct operator_daemon *d)
{
        size_t n_synced = 0, n_aside = 0;
        if (d->synced || (d->selected && !d->selected_synced))
                return;
        for (const struct operator_scope *s = d->scopes.first; s; s = s->next) {
                bool synced = operator_scope_is_synced(s);
                if (!synced && !s->set_aside)
                        return;
                n_synced += synced;
                n_aside += !synced;
        }
        if (n_aside > 0 && n_synced == 0)
                return;
        d->synced = true;
        if (n_aside > 0)
                log_error(OPERATOR_LOG, "The objects of %zu namespaces are known; %zu could not be read yet.", n_synced,
                          n_aside);
        else
                log_info(OPERATOR_LOG, "All objects are known.");
        malloc_trim(0); /* of the lists, whose objects are larger than what the cores keep of them */
        schedule_core_synced(d->context.schedules);
        application_core_synced(d->context.applications);
}

static void operator_watch_start_next(struct operator_watch *w);

static void operator_watch_on_event(void *owner, enum kube_event what, json_t *object)
{
        struct operator_watch *w = owner;
        struct operator_daemon *d = w->daemon;
        if (what == KUBE_SYNCED) {
                w->synced = true;
                w->warned = false;
                if (w->scope->set_aside && operator_scope_is_synced(w->scope)) {
                        w->scope->set_aside = false;
                        log_info(OPERATOR_LOG, "The objects of namespace %s are known, too.",
                                 w->scope->namespace ? w->scope->namespace : "*");
                }
                operator_watch_start_next(w);
                operator_daemon_check_synced(d);
        } else if (w->kind == WATCHED_POD) {
                operator_watch_on_pod(d, what, object);
        } else if (w->kind == WATCHED_SCHEDULE) {
                operator_watch_on_schedule(d, what, object);
        } else if (w->kind == WATCHED_APACHE_POD) {
                apache_watch_on_pod(d, what, object);
        } else if (w->kind == WATCHED_APACHE_APPLICATION) {
                apache_watch_on_application(d, what, object, w->synced);
        } else if (w->kind == WATCHED_SPARK_CLUSTER) {
                apache_watch_on_cluster(d, what, object);
        } else {
                operator_watch_on_application(d, what, object, w->synced);
        }
        operator_daemon_pump(d);
}

static void operator_watch_on_failed(void *owner, int r, const struct fst_error *error, int64_t again_ms)
{
        struct operator_watch *w = owner;
        if (r == FST_KUBE_E_NOT_FOUND && !w->warned)
                log_error(OPERATOR_LOG,
                          "The API server does not know %s of %s: install the custom resource definitions (%s)",
                          watched_kinds[w->kind].resource, watched_kinds[w->kind].api,
                          w->kind < N_SYNCED_KINDS ? "packaging/kubernetes/operator"
                                                   : "firesteel operator crds --group " APACHE_GROUP);
        else if (!w->warned)
                log_warn(OPERATOR_LOG, "%s", error_message(error));
        w->warned = true;
        if (r == FST_KUBE_E_FORBIDDEN && !w->synced && w->kind < N_SYNCED_KINDS) {
                w->scope->set_aside = true;
                operator_daemon_check_synced(w->daemon);
                operator_daemon_pump(w->daemon);
        }
}

/* --cache-sync-timeout is over: what cannot be read does not hold up the rest. */
static void operator_daemon_on_sync_timeout(uv_timer_t *timer)
{
        struct operator_daemon *d = timer->data;
        if (d->synced)
                return;
        for (struct operator_scope *s = d->scopes.first; s; s = s->next) {
                if (operator_scope_is_synced(s))
                        continue;
                s->set_aside = true;
                log_error(OPERATOR_LOG, "The objects of namespace %s could not be read within --cache-sync-timeout.",
                          s->namespace ? s->namespace : "*");
        }
        operator_daemon_check_synced(d);
        operator_daemon_pump(d);
}

static void operator_watch_start(struct operator_watch *w)
{
        static const struct kube_watch_ops ops = {.event = operator_watch_on_event, .failed = operator_watch_on_failed};
        _cleanup_free_ char *path =
                kube_path(watched_kinds[w->kind].api, w->scope->namespace, watched_kinds[w->kind].resource, NULL);
        w->watch = kube_watch_start(w->daemon->context.client,
                                    &(struct kube_watch_options){.path = path,
                                                                 .labels = watched_kinds[w->kind].labels,
                                                                 .page = OBJECTS_OF_A_PAGE,
                                                                 .whole = true},
                                    &ops, w);
}

static struct operator_scope *operator_scope_add(struct operator_daemon *d, const char *namespace)
{
        struct operator_scope *s = new0(struct operator_scope);
        s->namespace = mem_strdup_if(namespace);
        for (size_t i = 0; i < N_WATCHED_KINDS; i++)
                s->watches[i] = (struct operator_watch){.daemon = d, .scope = s, .kind = (enum watched_kind)i};
        list_append(&d->scopes, s);
        return s;
}

static void operator_scope_free(struct operator_daemon *d, struct operator_scope *s)
{
        for (size_t i = 0; i < N_WATCHED_KINDS; i++)
                kube_watch_free(s->watches[i].watch);
        list_remove(&d->scopes, s);
        free(s->namespace);
        free(s);
}

/*
 * In each namespace, pods are known before applications, and these before schedules: the cores may act already, and an
 * application whose driver is not known yet would seem to have lost it.
 */
static void operator_watch_start_next(struct operator_watch *w)
{
        size_t next = (size_t)w->kind + 1, n = w->daemon->context.apache ? N_WATCHED_KINDS : N_SYNCED_KINDS;
        if (next < n && !w->scope->watches[next].watch)
                operator_watch_start(&w->scope->watches[next]);
}

static struct operator_scope *operator_scope_find(struct operator_daemon *d, const char *namespace)
{
        struct operator_scope *s = d->scopes.first;
        while (s && strcmp(s->namespace, namespace) != 0)
                s = s->next;
        return s;
}

/* Forgets the objects of a namespace, schedules first, so that no schedule misses its runs. Deletes nothing there. */
static void operator_scope_withdraw(struct operator_daemon *d, struct operator_scope *s)
{
        for (size_t i = N_WATCHED_KINDS; i-- > 0;)
                kube_watch_withdraw(steal(s->watches[i].watch));
        operator_scope_free(d, s);
}

static void operator_namespaces_on_event(void *owner, enum kube_event what, json_t *object)
{
        struct operator_daemon *d = owner;
        const char *name = json_text_or_empty(object, "metadata.name");
        struct operator_scope *s = object ? operator_scope_find(d, name) : NULL;
        if (what == KUBE_SYNCED) {
                d->selected_synced = true;
                d->selected_warned = false;
        } else if (what == KUBE_DELETED && s) {
                log_info(OPERATOR_LOG, "Watches namespace %s no longer.", name);
                operator_scope_withdraw(d, s);
        } else if (what != KUBE_DELETED && !s) {
                log_info(OPERATOR_LOG, "Watches namespace %s.", name);
                operator_watch_start(&operator_scope_add(d, name)->watches[0]);
        }
        operator_daemon_check_synced(d);
        operator_daemon_pump(d);
}

static void operator_namespaces_on_failed(void *owner, int r, const struct fst_error *error, int64_t again_ms)
{
        struct operator_daemon *d = owner;
        if (!d->selected_warned)
                log_warn(OPERATOR_LOG, "--namespace-selector: %s", error_message(error));
        d->selected_warned = true;
}

static void operator_daemon_watch(struct operator_daemon *d)
{
        static const struct kube_watch_ops ops = {.event = operator_namespaces_on_event,
                                                  .failed = operator_namespaces_on_failed};
        const struct string_list *namespaces = &d->conf->namespaces;
        if (*d->conf->namespace_selector) {
                _cleanup_free_ char *path = kube_path("v1", NULL, "namespaces", NULL);
                d->selected = kube_watch_start(
                        d->context.client,
                        &(struct kube_watch_options){.path = path, .labels = d->conf->namespace_selector}, &ops, d);
                return;
        }
        for (size_t i = 0; i < MAX(namespaces->len, (size_t)1); i++) {
                struct operator_scope *s = operator_scope_add(d, namespaces->len > 0 ? namespaces->data[i] : NULL);
                operator_watch_start(&s->watches[0]);
        }
}

/* -------------------------------------------------------------------------------------------------- begin and end */

static void operator_daemon_unset_render(struct operator_daemon *d)
{
        struct render_options *o = &d->context.render;
        free((char *)o->master);
        free((char *)o->kube_scheduler_names);
        json_decref((json_t *)o->ingress_tls);
        json_decref((json_t *)o->ingress_annotations);
}

/* Parses the JSON of a flag. "" is NULL. */
static int operator_daemon_parse_json(const char *flag, const char *text, const json_t **out, struct fst_error *error)
{
        json_error_t problem;
        if (*text && !(*out = json_loads(text, 0, &problem)))
                return error_set(error, -EINVAL, "--%s is not JSON: %s", flag, problem.text);
        return 0;
}

/* The address that drivers use: that of the pod's environment, as the genuine operator takes it, else our own. */
static int operator_daemon_set_render(struct operator_daemon *d, struct fst_error *error)
{
        const struct operator_conf *conf = d->conf;
        struct render_options *o = &d->context.render;
        const char *host = getenv("KUBERNETES_SERVICE_HOST"), *port = getenv("KUBERNETES_SERVICE_PORT");
        struct buf schedulers = BUF_INIT;
        for (size_t i = 0; i < conf->kube_schedulers.len; i++)
                buf_printf(&schedulers, "%s%s", i ? "," : "", conf->kube_schedulers.data[i]);
        *o = (struct render_options){
                .master = host && *host && port
                                  ? mem_printf(strchr(host, ':') ? "k8s://https://[%s]:%s" : "k8s://https://%s:%s",
                                               host, port)
                                  : mem_printf("k8s://%s", d->kube.server),
                .ui_service = conf->enable_ui_service,
                .ingress_url_format = *conf->ingress_url_format ? conf->ingress_url_format : NULL,
                .ingress_class_name = *conf->ingress_class ? conf->ingress_class : NULL,
                .driver_disruption_budget = conf->enable_driver_pdb,
                .batch_scheduler = conf->enable_batch_scheduler,
                .default_batch_scheduler = *conf->default_batch_scheduler ? conf->default_batch_scheduler : NULL,
                .kube_scheduler_names = schedulers.len > 0 ? buf_steal(&schedulers) : NULL,
                .load_spark_defaults = conf->load_spark_defaults};
        int r = operator_daemon_parse_json("ingress-tls", conf->ingress_tls, &o->ingress_tls, error);
        return r < 0 ? r
                     : operator_daemon_parse_json("ingress-annotations", conf->ingress_annotations,
                                                  &o->ingress_annotations, error);
}

/* Frees the daemon after it has closed and the last thread has ended. */
static void operator_daemon_release(struct operator_daemon *d)
{
        if (!d->closed || d->n_threads > 0)
                return;
        void (*ended)(void *owner, int status) = d->ended;
        void *owner = d->owner;
        int status = d->status;
        operator_daemon_unset_render(d);
        kube_config_deinit(&d->kube);
        free(d);
        ended(owner, status);
}

static void operator_daemon_on_closed(uv_handle_t *handle)
{
        struct operator_daemon *d = handle->data;
        d->closed = --d->n_timers == 0;
        operator_daemon_release(d);
}

void operator_daemon_thread_began(struct operator_daemon *d)
{
        d->n_threads++;
}

void operator_daemon_thread_ended(struct operator_daemon *d)
{
        d->n_threads--;
        operator_daemon_release(d);
}

static void operator_daemon_free(struct operator_daemon *d)
{
        struct operator_context *c = &d->context;
        operator_calls_cancel(d);
        kube_watch_free(d->selected);
        while (d->scopes.first)
                operator_scope_free(d, d->scopes.first);
        lease_keeper_free(d->lease);
        probe_server_free(d->probes);
        probe_server_free(d->metrics);
        kube_event_recorder_free(c->events);
        kube_client_free(c->client);
        schedule_core_free(c->schedules);
        application_core_free(c->applications);
        apache_core_free(c->apache);
        apache_core_free(c->clusters);
        operator_metrics_free(c->metrics);
        waiting_objects_free(c->waiting);
        work_queue_free(c->queue);
        uv_close((uv_handle_t *)&d->timer, operator_daemon_on_closed);
        uv_close((uv_handle_t *)&d->sync_timer, operator_daemon_on_closed);
}

static void operator_daemon_on_leading(void *owner)
{
        operator_daemon_pump(owner);
}

static void operator_daemon_on_lost(void *owner)
{
        struct operator_daemon *d = owner;
        log_error(OPERATOR_LOG, "leader election lost");
        d->ending = true;
        d->status = 1;
        operator_daemon_free(d);
}

static void operator_daemon_on_released(void *owner)
{
        operator_daemon_free(owner);
}

void operator_daemon_stop(struct operator_daemon *d, int status)
{
        if (d->ending)
                return;
        d->ending = true;
        d->status = status;
        if (d->lease)
                lease_keeper_release(d->lease);
        else
                operator_daemon_free(d);
}

static bool operator_daemon_ready(void *owner)
{
        const struct operator_daemon *d = owner;
        return d->synced && !d->ending;
}

static void operator_daemon_add_running(void *owner, const char *labels, bool application, size_t executors)
{
        operator_metrics_add_running(owner, labels, application, executors);
}

static void operator_daemon_metrics(void *owner, struct buf *out)
{
        const struct operator_daemon *d = owner;
        const struct operator_context *c = &d->context;
        operator_metrics_clear_running(c->metrics);
        application_core_visit_running(c->applications, operator_daemon_add_running, c->metrics);
        apache_metrics_add_running(c);
        operator_metrics_put(c->metrics,
                             &(struct operator_gauges){.queue_depth = work_queue_depth(c->queue),
                                                       .leading = operator_daemon_acts(d)},
                             out);
}

/* The namespace of the lease: the flag, else the pod's or the kubeconfig's. */
static void operator_daemon_elect(struct operator_daemon *d)
{
        static const struct lease_keeper_ops ops = {.leading = operator_daemon_on_leading,
                                                    .lost = operator_daemon_on_lost,
                                                    .released = operator_daemon_on_released};
        char host[256] = "", uuid[UUID_TEXT];
        gethostname(host, sizeof(host) - 1);
        uuid_draw(uuid);
        _cleanup_free_ char *identity = mem_printf("%s_%s", host, uuid);
        const struct operator_conf *conf = d->conf;
        struct lease_options options = {.namespace = *conf->lock_namespace ? conf->lock_namespace : d->kube.namespace,
                                        .name = conf->lock_name,
                                        .identity = identity,
                                        .duration = conf->lease_duration,
                                        .renew_deadline = conf->renew_deadline,
                                        .retry = conf->retry_period};
        d->lease = lease_keeper_start(d->context.client, &options, &ops, d);
}

int operator_daemon_new(uv_loop_t *loop, const struct operator_conf *conf, void (*ended)(void *owner, int status),
                        void *owner, struct operator_daemon **out, struct fst_error *error)
{
        static const struct probe_server_ops ops = {.ready = operator_daemon_ready, .metrics = operator_daemon_metrics};
        struct operator_daemon *d = new0(struct operator_daemon);
        struct operator_context *c = &d->context;
        d->loop = loop;
        d->conf = conf;
        d->ended = ended;
        d->owner = owner;
        d->kube = KUBE_CONFIG_INIT;
        d->most_calls = conf->controller_threads > 0 ? (size_t)conf->controller_threads : DEFAULT_CALLS;
        int r = kube_config_read_here(conf->kubeconfig, &d->kube, error);
        if (r == 0)
                r = operator_metrics_new(&(struct operator_metrics_options){.prefix = conf->metrics_prefix,
                                                                            .start_buckets = conf->start_buckets,
                                                                            .submit_buckets = conf->submit_buckets,
                                                                            .labels = &conf->metrics_labels},
                                         &c->metrics, error);
        if (r == 0)
                r = operator_daemon_set_render(d, error);
        if (r == 0)
                r = kube_client_new(loop, &d->kube, "firesteel-operator/" FIRESTEEL_VERSION, &c->client, error);
        if (r == 0)
                r = probe_server_new(loop, conf->health_address, NULL, &ops, d, &d->probes, error);
        if (r == 0 && conf->enable_metrics)
                r = probe_server_new(loop, conf->metrics_address, conf->metrics_endpoint, &ops, d, &d->metrics, error);
        if (r < 0) {
                probe_server_free(d->probes);
                kube_client_free(c->client);
                operator_metrics_free(c->metrics);
                operator_daemon_unset_render(d);
                kube_config_deinit(&d->kube);
                free(d);
                return r;
        }
        for (size_t i = 0; i < conf->ineffective.len; i++)
                log_warn(OPERATOR_LOG, "The flag --%s has no effect here.", conf->ineffective.data[i]);
        if (conf->enforce_quotas)
                log_warn(OPERATOR_LOG, "The flag --enable-resource-quota-enforcement has no effect here: give it to "
                                       "`firesteel operator webhook start`.");
        c->schedules = schedule_core_new(conf->precision);
        c->applications = application_core_new(
                &(struct application_core_options){.driver_creation_grace_ms = conf->driver_creation_grace / NS_PER_MS,
                                                   .default_time_to_live_s = conf->default_time_to_live_s,
                                                   .max_tracked_executors = (int32_t)conf->max_tracked_executors,
                                                   .partial_restart = conf->partial_restart,
                                                   .ui_service = conf->enable_ui_service,
                                                   .batch_schedulers = conf->enable_batch_scheduler,
                                                   .default_batch_scheduler = *conf->default_batch_scheduler != '\0'});
        c->waiting = waiting_objects_new(MAX_WAITING_BYTES);
        if (conf->apache_applications) {
                c->apache = apache_core_new(
                        &(struct apache_core_options){.driver_grace_ms = conf->driver_creation_grace / NS_PER_MS});
                c->clusters = apache_core_new(&(struct apache_core_options){.clusters = true});
        }
        c->events = kube_event_recorder_new(c->client);
        c->queue = work_queue_new(&(struct work_queue_options){
                .rate = (int)conf->queue_rate, .burst = (int)conf->queue_burst, .most_pause = conf->queue_most_pause});
        uv_timer_init(loop, &d->timer);
        uv_timer_init(loop, &d->sync_timer);
        d->timer.data = d->sync_timer.data = d;
        d->n_timers = 2;
        uv_timer_start(&d->sync_timer, operator_daemon_on_sync_timeout, (uint64_t)(conf->sync_timeout / NS_PER_MS), 0);
        _cleanup_free_ char *where = kube_config_describe(&d->kube);
        log_info(OPERATOR_LOG, "Watches %s.", where);
        operator_daemon_watch(d);
        if (conf->leader_election)
                operator_daemon_elect(d);
        *out = d;
        return 0;
}
