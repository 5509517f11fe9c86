/* See kube_operation.h. */
#include "deploy/kubernetes/kube_operation.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "conf/conf.h"
#include "conf/log4j2.h"
#include "deploy/kubernetes/kube_client.h"
#include "deploy/kubernetes/kube_conf.h"
#include "deploy/kubernetes/kube_names.h"
#include "deploy/kubernetes/kube_value.h"
#include "deploy/kubernetes/pod_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct operation {
        bool kill;
        const char *prefix; /* of the names of those that are meant; NULL: one of this name */
        const char *namespace;
        struct kube_client *client;
        struct kube_deletion deletion;
        json_t *pods;
        size_t pending;
        int result; /* the first failure, with its sentence: */
        struct fst_error error;
};

static const char *variable(const char *name)
{
        return getenv(name);
}

static const char *name_of(const json_t *pod)
{
        const char *name = json_string_value(json_object_get(json_object_get(pod, "metadata"), "name"));
        return name ? name : "";
}

static void fail(struct operation *o, int r, const struct fst_error *error)
{
        if (r == 0 || o->result != 0)
                return;
        o->result = r == FST_KUBE_E_FORBIDDEN || r == FST_KUBE_E_UNAUTHORIZED ? -EACCES : r > 0 ? -EIO : r;
        error_set(&o->error, o->result, "%s", error_message(error));
}

static int on_item(void *owner, json_t *pod)
{
        struct operation *o = owner;
        if (!pod)
                json_array_clear(o->pods);
        else if (text_starts_with(name_of(pod), o->prefix))
                json_array_append(o->pods, pod);
        return 0;
}

static void on_found(void *owner, struct kube_call *call, int r, const struct kube_answer *answer)
{
        struct operation *o = owner;
        o->pending--;
        if (r == 0 && !o->prefix)
                json_array_append(o->pods, answer->object);
        if (r != FST_KUBE_E_NOT_FOUND)
                fail(o, r, answer->error);
}

static void on_deleted(void *owner, struct kube_call *call, int r, const struct kube_answer *answer)
{
        struct operation *o = owner;
        o->pending--;
        if (r != FST_KUBE_E_NOT_FOUND)
                fail(o, r, answer->error);
}

static void run_pending(struct operation *o)
{
        while (o->pending > 0)
                uv_run(kube_client_loop(o->client), UV_RUN_ONCE);
}

static void find(struct operation *o, const char *pod)
{
        _cleanup_free_ char *path = kube_path("v1", o->namespace, "pods", o->prefix ? NULL : pod);
        o->pending++;
        if (o->prefix)
                kube_list_items(
                        o->client,
                        &(struct kube_listing){.path = path, .labels = KUBE_LABEL_ROLE "=driver", .item = on_item},
                        on_found, o);
        else
                kube_get(o->client, path, on_found, o);
        run_pending(o);
}

static void do_it(struct operation *o)
{
        json_t *pod;
        size_t i;
        json_array_foreach(o->pods, i, pod) {
                if (!o->kill) {
                        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
                        pod_text_state(pod, &text);
                        fprintf(stderr, "Application status (driver): %s\n", buf_text(&text));
                        continue;
                }
                if (o->prefix)
                        fprintf(stderr, "Deleting driver pod: %s.\n", name_of(pod));
                _cleanup_free_ char *path = kube_path("v1", o->namespace, "pods", name_of(pod));
                o->pending++;
                kube_delete(o->client, path, &o->deletion, on_deleted, o);
        }
        run_pending(o);
}

static int run(struct operation *o, const struct kube_config *server, const char *pod, struct fst_error *error)
{
        uv_loop_t loop;
        uv_loop_init(&loop);
        int r = kube_client_new(&loop, server, NULL, &o->client, error);
        if (r == 0) {
                find(o, pod);
                if (o->result == 0 && json_array_size(o->pods) == 0)
                        fputs(o->prefix ? "No applications found.\n" : "Application not found.\n", stderr);
                do_it(o);
                r = o->result;
                if (r < 0)
                        error_set(error, r, "%s", error_message(&o->error));
        }
        kube_client_free(o->client);
        uv_run(&loop, UV_RUN_DEFAULT);
        uv_loop_close(&loop);
        return r;
}

/* How long a killed driver may take, if that was set. */
static int read_grace(const struct fst_conf *conf, int64_t *seconds, bool *is_set, struct fst_error *error)
{
        static const char key[] = "spark.kubernetes.appKillPodDeletionGracePeriod";
        const struct kube_conf c = {.role = KUBE_DRIVER, .conf = conf, .env = variable};
        *is_set = kube_is_set(&c, key);
        return *is_set ? kube_seconds(&c, key, seconds, error) : 0;
}

static int operate(bool kill, const char *master, const char *id, const struct strmap *map, struct fst_error *error)
{
        const struct fst_conf conf = {.set = *map};
        struct kube_config server = KUBE_CONFIG_INIT;
        int64_t grace = 0;
        bool has_grace = false;
        const char *colon = strchr(id, ':'), *pod = colon ? colon + 1 : id;
        _cleanup_free_ char *namespace = colon ? mem_strndup(id, (size_t)(colon - id)) : NULL, *prefix = NULL;
        if (!*pod || (colon && !*namespace))
                return error_set(error, -EINVAL, "'%s' names no driver: it is namespace:pod, or the pod alone", id);
        if (text_ends_with(pod, "*"))
                prefix = mem_strndup(pod, strlen(pod) - 1);
        int r = log4j2_configure(&conf, getenv("SPARK_CONF_DIR"), error);
        if (r == 0 && kill)
                r = read_grace(&conf, &grace, &has_grace, error);
        if (r == 0)
                r = kube_config_from_conf(&conf, KUBE_SUBMISSION, master, &server, error);
        if (r < 0)
                return r;
        if (kill) {
                _cleanup_free_ char *seconds = has_grace ? mem_printf("%" PRId64, grace) : mem_strdup("not set.");
                fprintf(stderr, "Submitting a request to kill submission %s in %s. Grace period in secs: %s\n", id,
                        master, seconds);
        } else {
                fprintf(stderr, "Submitting a request for the status of submission %s in %s.\n", id, master);
        }
        struct operation o = {
                .kill = kill,
                .prefix = prefix,
                .namespace = namespace ? namespace : server.namespace,
                .deletion = {.grace_s = has_grace ? &grace : NULL, .propagation = "Background"},
                .pods = json_array(),
        };
        r = run(&o, &server, pod, error);
        json_decref(o.pods);
        error_deinit(&o.error);
        kube_config_deinit(&server);
        return r;
}

int kube_kill(const char *master, const char *id, const struct strmap *conf, struct fst_error *error)
{
        return operate(true, master, id, conf, error);
}

int kube_status(const char *master, const char *id, const struct strmap *conf, struct fst_error *error)
{
        return operate(false, master, id, conf, error);
}
