/* Kills drivers or prints their status. */
#include "kubernetes/driver/kube_submit_operation.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "conf/conf.h"
#include "conf/log4j2.h"
#include "kubernetes/api/kube_client.h"
#include "kubernetes/api/kube_names.h"
#include "kubernetes/api/pod_description.h"
#include "kubernetes/conf/kube_conf.h"
#include "kubernetes/conf/kube_settings.h"
#include "process/loop_wait.h"
#include "text/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct kube_operation {
        struct kube_operation_options options;
        char *path, *prefix; /* prefix of the names; NULL: one exact name */
        struct kube_client *client;
        kube_operation_done *done;
        void *owner;
        struct kube_pending_call *first;
        json_t *pods;
        bool found;
        int result; /* the first failure and its message: */
        struct fst_error error;
};

/* A call in flight. */
struct kube_pending_call {
        struct kube_operation *operation;
        struct kube_pending_call *next;
        struct kube_call *call;
};

static void kube_submit_operation_fail(struct kube_operation *o, int r, const struct fst_error *error)
{
        if (r == 0 || o->result != 0)
                return;
        o->result = r == FST_KUBE_E_FORBIDDEN || r == FST_KUBE_E_UNAUTHORIZED ? -EACCES : r > 0 ? -EIO : r;
        error_set(&o->error, o->result, "%s", error_message(error));
}

static void delete_drivers(struct kube_operation *o);

static struct kube_pending_call *pending_call_add(struct kube_operation *o)
{
        struct kube_pending_call *p = new0(struct kube_pending_call);
        p->operation = o;
        p->next = o->first;
        return o->first = p;
}

static void pending_call_remove(struct kube_pending_call *p)
{
        struct kube_pending_call **at = &p->operation->first;
        while (*at != p)
                at = &(*at)->next;
        *at = p->next;
        free(p);
}

static int kube_submit_operation_on_item(void *owner, json_t *pod)
{
        struct kube_pending_call *p = owner;
        struct kube_operation *o = p->operation;
        if (!pod)
                json_array_clear(o->pods);
        else if (text_starts_with(json_text_or_empty(pod, "metadata.name"), o->prefix))
                json_array_append(o->pods, pod);
        return 0;
}

/* The response to any call. */
static void kube_submit_operation_on_answer(void *owner, struct kube_call *call, int r,
                                            const struct kube_response *response)
{
        struct kube_pending_call *p = owner;
        struct kube_operation *o = p->operation;
        pending_call_remove(p);
        if (r == 0 && !o->found && !o->prefix && response->object)
                json_array_append(o->pods, response->object);
        if (r != FST_KUBE_E_NOT_FOUND)
                kube_submit_operation_fail(o, r, response->error);
        if (!o->found && o->result == 0) {
                o->found = true;
                if (o->options.found)
                        o->options.found(o->owner, o->pods);
                if (o->options.kill)
                        delete_drivers(o);
        }
        if (!o->first)
                o->done(o->owner, o->result, o->pods, o->result < 0 ? &o->error : NULL);
}

static void delete_drivers(struct kube_operation *o)
{
        const struct kube_deletion how = {.grace_s = o->options.grace_s >= 0 ? &o->options.grace_s : NULL,
                                          .propagation = "Background"};
        json_t *pod;
        size_t i;
        json_array_foreach(o->pods, i, pod) {
                struct kube_pending_call *p = pending_call_add(o);
                _cleanup_free_ char *path = mem_printf("%s%s%s", o->path, o->prefix ? "/" : "",
                                                       o->prefix ? json_text_or_empty(pod, "metadata.name") : "");
                p->call = kube_delete(o->client, path, &how, kube_submit_operation_on_answer, p);
        }
}

int kube_operation_check(const char *id, struct fst_error *error)
{
        const char *colon = strchr(id, ':'), *pod = colon ? colon + 1 : id;
        return *pod && colon != id
                       ? 0
                       : error_set(error, -EINVAL, "'%s' is not a valid driver (write namespace:pod, or pod)", id);
}

struct kube_operation *kube_operation_begin(struct kube_client *client, const struct kube_operation_options *options,
                                            kube_operation_done *done, void *owner)
{
        const char *id = options->id, *colon = strchr(id, ':'), *pod = colon ? colon + 1 : id;
        _cleanup_free_ char *namespace = colon ? mem_strndup(id, (size_t)(colon - id)) : NULL;
        struct kube_operation *o = new0(struct kube_operation);
        o->options = *options;
        o->options.id = NULL;
        o->client = client;
        o->done = done;
        o->owner = owner;
        o->pods = json_array();
        o->error = FST_ERROR_INIT;
        if (text_ends_with(pod, "*"))
                o->prefix = mem_strndup(pod, strlen(pod) - 1);
        o->path = kube_path("v1", namespace ? namespace : kube_client_config(client)->namespace, "pods",
                            o->prefix ? NULL : pod);
        struct kube_pending_call *p = pending_call_add(o);
        if (o->prefix)
                p->call = kube_list_items(client,
                                          &(struct kube_listing){.path = o->path,
                                                                 .labels = KUBE_LABEL_ROLE "=driver",
                                                                 .item = kube_submit_operation_on_item},
                                          kube_submit_operation_on_answer, p);
        else
                p->call = kube_get(client, o->path, kube_submit_operation_on_answer, p);
        return o;
}

void kube_operation_free(struct kube_operation *o)
{
        if (!o)
                return;
        while (o->first) {
                kube_cancel(o->first->call);
                pending_call_remove(o->first);
        }
        json_decref(o->pods);
        error_deinit(&o->error);
        free(o->path);
        free(o->prefix);
        free(o);
}

int kube_operation_grace(const struct fst_conf *conf, int64_t *seconds, struct fst_error *error)
{
        static const char key[] = "spark.kubernetes.appKillPodDeletionGracePeriod";
        const struct kube_conf c = {.role = KUBE_DRIVER, .conf = conf, .env = conf_environment};
        *seconds = -1;
        return kube_is_set(&c, key) ? kube_seconds(&c, key, seconds, error) : 0;
}

/* ------------------------------------------------------------------------------------------------- spark-submit */

struct operation_outcome {
        bool kill, pattern, over;
        int result;
        struct fst_error *error;
};

static void print_drivers(void *owner, const json_t *pods)
{
        const struct operation_outcome *t = owner;
        json_t *pod;
        size_t i;
        if (json_array_size(pods) == 0)
                fputs(t->pattern ? "No applications found.\n" : "Application not found.\n", stderr);
        json_array_foreach((json_t *)pods, i, pod) {
                if (t->kill && t->pattern)
                        fprintf(stderr, "Deleting driver pod: %s.\n", json_text_or_empty(pod, "metadata.name"));
                if (t->kill)
                        continue;
                _cleanup_(buf_deinit) struct buf text = BUF_INIT;
                pod_text_state(pod, &text);
                fprintf(stderr, "Application status (driver): %s\n", buf_text(&text));
        }
}

static void on_done(void *owner, int r, const json_t *pods, const struct fst_error *error)
{
        struct operation_outcome *t = owner;
        t->over = true;
        t->result = r < 0 ? error_set(t->error, r, "%s", error_message(error)) : 0;
}

static int kube_submit_operation_run(const struct kube_config *server, const struct kube_operation_options *options,
                                     struct operation_outcome *outcome, struct fst_error *error)
{
        struct kube_client *client = NULL;
        struct kube_operation *o = NULL;
        uv_loop_t loop;
        uv_loop_init(&loop);
        int r = kube_client_new(&loop, server, NULL, &client, error);
        if (r == 0)
                o = kube_operation_begin(client, options, on_done, outcome);
        if (r == 0)
                loop_wait_for_flag(&loop, &outcome->over);
        kube_operation_free(o);
        kube_client_free(client);
        uv_run(&loop, UV_RUN_DEFAULT);
        uv_loop_close(&loop);
        return r < 0 ? r : outcome->result;
}

static int run_operation(bool kill, const char *master, const char *id, const struct strmap *map,
                         struct fst_error *error)
{
        const struct fst_conf conf = {.set = *map};
        struct kube_config server = KUBE_CONFIG_INIT;
        int64_t grace = -1;
        int r = kube_operation_check(id, error);
        if (r == 0)
                r = log4j2_configure(&conf, getenv("SPARK_CONF_DIR"), error);
        if (r == 0 && kill)
                r = kube_operation_grace(&conf, &grace, error);
        if (r == 0)
                r = kube_config_from_conf(&conf, KUBE_SUBMISSION, master, &server, error);
        if (r < 0)
                return r;
        if (kill) {
                _cleanup_free_ char *seconds = grace >= 0 ? mem_printf("%" PRId64, grace) : mem_strdup("not set.");
                fprintf(stderr, "Submitting a request to kill submission %s in %s. Grace period in secs: %s\n", id,
                        master, seconds);
        } else {
                fprintf(stderr, "Submitting a request for the status of submission %s in %s.\n", id, master);
        }
        struct operation_outcome outcome = {.kill = kill, .pattern = text_ends_with(id, "*"), .error = error};
        r = kube_submit_operation_run(
                &server,
                &(struct kube_operation_options){.id = id, .kill = kill, .grace_s = grace, .found = print_drivers},
                &outcome, error);
        kube_config_deinit(&server);
        return r;
}

int kube_kill(const char *master, const char *id, const struct strmap *conf, struct fst_error *error)
{
        return run_operation(true, master, id, conf, error);
}

int kube_status(const char *master, const char *id, const struct strmap *conf, struct fst_error *error)
{
        return run_operation(false, master, id, conf, error);
}
