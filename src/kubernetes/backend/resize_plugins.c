/* See resize_plugins.h. Each request has a struct resize_call, so that the end can cancel all of them. */
#include "kubernetes/backend/resize_plugins.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "conf/conf.h"
#include "driver/plugins.h"
#include "kubernetes/api/kube_client.h"
#include "kubernetes/api/kube_names.h"
#include "kubernetes/api/quantity.h"

#include <stdio.h>
#include <string.h>

#define MEMORY_LOG "ExecutorResizeDriverPlugin"
#define CLAIMS_LOG "ExecutorPVCResizeDriverPlugin"
#define K8S "spark.kubernetes.executor."
#define ALLOCATOR "spark.kubernetes.allocation.pods.allocator"

enum resize_kind { RESIZE_MEMORY, RESIZE_CLAIMS };

struct resize_plugins {
        struct resize_plugins_options options;
        struct resize_plugin {
                struct resize_plugins *plugins;
                enum resize_kind kind;
                bool active;
                double threshold, factor;
                uv_timer_t timer;
        } kinds[2];
        VEC(struct resize_call *) calls;
        struct strmap failed;    /* claims whose resize was refused */
        struct strmap requested; /* claim -> the size that was requested last */
        int open;                /* timers that are not closed yet */
};

/* A request that has no response yet. */
struct resize_call {
        struct resize_plugins *plugins;
        struct resize_plugin *plugin;
        struct kube_call *call;
        json_t *pod;       /* NULL: none */
        char *claim;       /* NULL: none */
        char *executor_id; /* NULL: none */
        double usage;
        int64_t size; /* that a claim is to get */
};

/* --------------------------------------------------------------------------------------------------------- requests */

static struct resize_call *resize_call_new(struct resize_plugin *plugin, json_t *pod, const char *executor_id)
{
        struct resize_call *c = new0(struct resize_call);
        c->plugins = plugin->plugins;
        c->plugin = plugin;
        c->pod = json_incref(pod);
        c->executor_id = executor_id ? mem_strdup(executor_id) : NULL;
        vec_push(&c->plugins->calls, c);
        return c;
}

static void resize_call_free(struct resize_call *c)
{
        struct resize_plugins *p = c->plugins;
        for (size_t i = 0; i < p->calls.len; i++)
                if (p->calls.data[i] == c) {
                        p->calls.data[i] = p->calls.data[--p->calls.len];
                        break;
                }
        json_decref(c->pod);
        free(c->claim);
        free(c->executor_id);
        free(c);
}

static const json_t *json_at(const json_t *object, const char *a, const char *b, const char *c)
{
        object = json_object_get(object, a);
        object = b ? json_object_get(object, b) : object;
        return c ? json_object_get(object, c) : object;
}

/* The quantity in bytes; -1 if there is none. */
static int64_t json_bytes(const json_t *quantity)
{
        const char *text = json_string_value(quantity);
        int64_t bytes;
        return text && quantity_read(text, 0, &bytes, NULL) == 0 ? bytes : -1;
}

static int64_t resized_bytes(int64_t size, double factor)
{
        double larger = (double)size * (1 + factor);
        return larger < (double)INT64_MAX ? (int64_t)larger : INT64_MAX;
}

/* The executor's container of @list, else the first one. */
static const json_t *executor_container(const json_t *list)
{
        size_t i;
        const json_t *container;
        json_array_foreach(list, i, container) {
                const char *name = json_string_value(json_object_get(container, "name"));
                if (name && strcmp(name, KUBE_EXECUTOR_CONTAINER) == 0)
                        return container;
        }
        return json_array_get(list, 0);
}

/* ----------------------------------------------------------------------------------------------------------- memory */

static void memory_on_patched(void *owner, struct kube_call *call, int r, const struct kube_response *response)
{
        struct resize_call *c = owner;
        if (r)
                log_info(MEMORY_LOG, "Failed to update %s: %s", c->executor_id, error_message(response->error));
        resize_call_free(c);
}

static void memory_patch(struct resize_call *from, const char *container, int64_t size)
{
        struct resize_call *c = resize_call_new(from->plugin, from->pod, from->executor_id);
        const struct resize_plugins_options *o = &c->plugins->options;
        char text[24];
        snprintf(text, sizeof(text), "%lld", (long long)size);
        json_t *patch = json_pack("{s:{s:[{s:s, s:{s:{s:s}, s:{s:s}}}]}}", "spec", "containers", "name", container,
                                  "resources", "limits", "memory", text, "requests", "memory", text);
        _cleanup_free_ char *name =
                mem_printf("%s/resize", json_string_value(json_at(c->pod, "metadata", "name", NULL)));
        _cleanup_free_ char *path = kube_path("v1", o->namespace, "pods", name);
        c->call = kube_patch(o->client, path, KUBE_PATCH_STRATEGIC, patch, memory_on_patched, c);
        json_decref(patch);
}

static void memory_on_metrics(void *owner, struct kube_call *call, int r, const struct kube_response *response)
{
        struct resize_call *c = owner;
        const json_t *container = executor_container(json_at(c->pod, "spec", "containers", NULL));
        const json_t *measured = r == 0 ? executor_container(json_object_get(response->object, "containers")) : NULL;
        const int64_t usage = json_bytes(json_at(measured, "usage", "memory", NULL));
        const int64_t limit = json_bytes(json_at(container, "resources", "limits", "memory"));
        const char *name = json_string_value(json_object_get(container, "name"));
        if (r)
                log_debug(MEMORY_LOG, "Failed to handle %s: %s", c->executor_id, error_message(response->error));
        if (usage >= 0 && limit >= 0 && name && (double)usage > (double)limit * c->plugin->threshold) {
                const int64_t size = resized_bytes(limit, c->plugin->factor);
                log_info(MEMORY_LOG,
                         "Increase executor %s container memory from %lld to %lld as usage %lld exceeded threshold.",
                         c->executor_id, (long long)limit, (long long)size, (long long)usage);
                memory_patch(c, name, size);
        }
        resize_call_free(c);
}

static void memory_check(struct resize_plugin *plugin, json_t *pod, const char *executor_id)
{
        struct resize_call *c = resize_call_new(plugin, pod, executor_id);
        const struct resize_plugins_options *o = &c->plugins->options;
        _cleanup_free_ char *path = kube_path("metrics.k8s.io/v1beta1", o->namespace, "pods",
                                              json_string_value(json_at(pod, "metadata", "name", NULL)));
        c->call = kube_get(o->client, path, memory_on_metrics, c);
}

/* ----------------------------------------------------------------------------------------------------------- claims */

static void claim_failed(struct resize_call *c, const struct kube_response *response)
{
        strmap_set(&c->plugins->failed, c->claim, "");
        log_info(CLAIMS_LOG, "Failed to expand PVC %s; will skip subsequent attempts. %s", c->claim,
                 error_message(response->error));
}

static void claim_on_patched(void *owner, struct kube_call *call, int r, const struct kube_response *response)
{
        struct resize_call *c = owner;
        _cleanup_free_ char *size = mem_printf("%lld", (long long)c->size);
        if (r)
                claim_failed(c, response);
        else
                strmap_set(&c->plugins->requested, c->claim, size);
        resize_call_free(c);
}

static void claim_patch(struct resize_call *from, int64_t size)
{
        struct resize_call *c = resize_call_new(from->plugin, NULL, from->executor_id);
        const struct resize_plugins_options *o = &c->plugins->options;
        _cleanup_free_ char *text = mem_printf("%lld", (long long)size);
        _cleanup_free_ char *path = kube_path("v1", o->namespace, "persistentvolumeclaims", from->claim);
        json_t *patch = json_pack("{s:{s:{s:{s:s}}}}", "spec", "resources", "requests", "storage", text);
        c->claim = mem_strdup(from->claim);
        c->size = size;
        c->call = kube_patch(o->client, path, KUBE_PATCH_STRATEGIC, patch, claim_on_patched, c);
        json_decref(patch);
}

static void claim_resize(struct resize_call *c, const json_t *claim)
{
        const int64_t current = json_bytes(json_object_get(json_at(claim, "spec", "resources", "requests"), "storage"));
        const int64_t capacity = json_bytes(json_at(claim, "status", "capacity", "storage"));
        if (current < 0)
                return;
        if (capacity >= 0 && current > capacity) {
                log_info(CLAIMS_LOG, "PVC %s resize is in progress or failed (spec=%lld, status=%lld); skip.", c->claim,
                         (long long)current, (long long)capacity);
                return;
        }
        const int64_t size = resized_bytes(current, c->plugin->factor);
        const char *requested = strmap_get(&c->plugins->requested, c->claim);
        _cleanup_free_ char *text = mem_printf("%lld", (long long)size);
        if (requested && strcmp(requested, text) == 0)
                return;
        log_info(CLAIMS_LOG, "Increase PVC %s storage from %lld to %lld as usage ratio exceeded threshold.", c->claim,
                 (long long)current, (long long)size);
        claim_patch(c, size);
}

static void claim_on_got(void *owner, struct kube_call *call, int r, const struct kube_response *response)
{
        struct resize_call *c = owner;
        if (r == 0)
                claim_resize(c, response->object);
        else if (r != FST_KUBE_E_NOT_FOUND)
                claim_failed(c, response);
        resize_call_free(c);
}

/* The claim that the volume @name of @pod is; NULL if it is something else. */
static const char *claim_of_volume(const json_t *pod, const char *name)
{
        size_t i;
        const json_t *volume;
        json_array_foreach(json_at(pod, "spec", "volumes", NULL), i, volume) {
                const char *its = json_string_value(json_object_get(volume, "name"));
                if (its && name && strcmp(its, name) == 0)
                        return json_string_value(json_at(volume, "persistentVolumeClaim", "claimName", NULL));
        }
        return NULL;
}

static void claims_check(struct resize_plugin *plugin, json_t *pod, const char *executor_id)
{
        const struct resize_plugins_options *o = &plugin->plugins->options;
        const json_t *container = executor_container(json_at(pod, "spec", "containers", NULL)), *mount;
        const double usage = o->disk_usage(o->owner, executor_id);
        _cleanup_(strmap_deinit) struct strmap seen = STRMAP_INIT;
        size_t i;
        json_array_foreach(json_object_get(container, "volumeMounts"), i, mount) {
                const char *claim = claim_of_volume(pod, json_string_value(json_object_get(mount, "name")));
                if (usage < 0 || !claim || strmap_get(&plugin->plugins->failed, claim) ||
                    !strmap_set_if_missing(&seen, claim, ""))
                        continue;
                log_info(CLAIMS_LOG, "Try to resize executor %s PVC %s with ratio %g (threshold %g).", executor_id,
                         claim, usage, plugin->threshold);
                if (usage <= plugin->threshold)
                        continue;
                struct resize_call *c = resize_call_new(plugin, NULL, executor_id);
                _cleanup_free_ char *path = kube_path("v1", o->namespace, "persistentvolumeclaims", claim);
                c->claim = mem_strdup(claim);
                c->call = kube_get(o->client, path, claim_on_got, c);
        }
}

/* ----------------------------------------------------------------------------------------------------------- rounds */

static int resize_on_pod(void *owner, json_t *pod)
{
        struct resize_call *c = owner;
        const char *id =
                json_string_value(json_object_get(json_at(pod, "metadata", "labels", NULL), KUBE_LABEL_EXECUTOR_ID));
        if (id && c->plugin->kind == RESIZE_MEMORY)
                memory_check(c->plugin, pod, id);
        else if (id)
                claims_check(c->plugin, pod, id);
        return 0;
}

static void resize_on_listed(void *owner, struct kube_call *call, int r, const struct kube_response *response)
{
        struct resize_call *c = owner;
        if (r)
                log_error(c->plugin->kind == RESIZE_MEMORY ? MEMORY_LOG : CLAIMS_LOG, "Executors cannot be listed: %s",
                          error_message(response->error));
        resize_call_free(c);
}

static void resize_on_timer(uv_timer_t *timer)
{
        struct resize_plugin *plugin = timer->data;
        for (size_t i = 0; i < plugin->plugins->calls.len; i++)
                if (plugin->plugins->calls.data[i]->plugin == plugin) /* rounds do not overlap */
                        return;
        struct resize_call *c = resize_call_new(plugin, NULL, NULL);
        const struct resize_plugins_options *o = &c->plugins->options;
        _cleanup_free_ char *path = kube_path("v1", o->namespace, "pods", NULL);
        _cleanup_free_ char *labels = mem_printf(KUBE_LABEL_APP_ID "=%s," KUBE_LABEL_ROLE "=executor", o->app_id);
        c->call = kube_list_items(o->client,
                                  &(struct kube_listing){.path = path, .labels = labels, .item = resize_on_pod},
                                  resize_on_listed, c);
}

/* ---------------------------------------------------------------------------------------------------- begin and end */

static int resize_plugin_read(struct resize_plugin *plugin, const struct fst_conf *conf, int64_t *interval_ms,
                              struct fst_error *error)
{
        const bool memory = plugin->kind == RESIZE_MEMORY;
        int r = conf_get_ms(conf, memory ? K8S "resizeInterval" : K8S "pvc.resizeInterval", interval_ms, error);
        if (r == 0)
                r = conf_get_double(conf, memory ? K8S "resizeThreshold" : K8S "pvc.resizeThreshold",
                                    &plugin->threshold, error);
        if (r == 0)
                r = conf_get_double(conf, memory ? K8S "resizeFactor" : K8S "pvc.resizeFactor", &plugin->factor, error);
        return r;
}

static bool resize_plugin_is_active(const struct resize_plugin *plugin, const struct fst_conf *conf,
                                    int64_t interval_ms)
{
        const bool memory = plugin->kind == RESIZE_MEMORY;
        const char *allocator = conf_get_value(conf, ALLOCATOR);
        if (!plugin_is_named(conf, memory ? PLUGIN_EXECUTOR_RESIZE : PLUGIN_EXECUTOR_PVC_RESIZE))
                return false;
        if (interval_ms <= 0) {
                log_info(memory ? MEMORY_LOG : CLAIMS_LOG, "%s disabled (interval <= 0).",
                         memory ? "ResizePlugin" : "PVCResizePlugin");
                return false;
        }
        if (memory && allocator && strcmp(allocator, "direct") != 0) {
                log_warn(MEMORY_LOG,
                         "ExecutorResizePlugin requires the 'direct' pods allocator; " ALLOCATOR
                         " is %s. Plugin will not start.",
                         allocator);
                return false;
        }
        return true;
}

int resize_plugins_begin(const struct resize_plugins_options *options, struct resize_plugins **out,
                         struct fst_error *error)
{
        struct resize_plugins *p = new0(struct resize_plugins);
        int64_t interval_ms[ARRAY_SIZE(p->kinds)];
        int r = 0;
        *out = NULL;
        p->options = *options;
        for (size_t i = 0; i < ARRAY_SIZE(p->kinds) && r == 0; i++) {
                p->kinds[i].plugins = p;
                p->kinds[i].kind = (enum resize_kind)i;
                r = resize_plugin_read(&p->kinds[i], options->conf, &interval_ms[i], error);
                p->kinds[i].active = r == 0 && resize_plugin_is_active(&p->kinds[i], options->conf, interval_ms[i]);
                p->open += p->kinds[i].active;
        }
        if (r || !p->open) {
                free(p);
                return r;
        }
        for (size_t i = 0; i < ARRAY_SIZE(p->kinds); i++) {
                struct resize_plugin *plugin = &p->kinds[i];
                if (!plugin->active)
                        continue;
                uv_timer_init(kube_client_loop(options->client), &plugin->timer);
                plugin->timer.data = plugin;
                uv_timer_start(&plugin->timer, resize_on_timer, (uint64_t)interval_ms[i], (uint64_t)interval_ms[i]);
        }
        *out = p;
        return 0;
}

static void resize_plugins_on_closed(uv_handle_t *handle)
{
        struct resize_plugins *p = ((struct resize_plugin *)handle->data)->plugins;
        if (--p->open > 0)
                return;
        strmap_deinit(&p->failed);
        strmap_deinit(&p->requested);
        free(p);
}

void resize_plugins_end(struct resize_plugins *p)
{
        if (!p)
                return;
        while (p->calls.len) {
                struct resize_call *c = p->calls.data[p->calls.len - 1];
                kube_cancel(c->call);
                resize_call_free(c);
        }
        vec_deinit(&p->calls);
        for (size_t i = 0; i < ARRAY_SIZE(p->kinds); i++)
                if (p->kinds[i].active)
                        uv_close((uv_handle_t *)&p->kinds[i].timer, resize_plugins_on_closed);
}
