/* See pod_adoption.h. */
#include "kubernetes/backend/pod_adoption.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "kubernetes/api/kube_client.h"
#include "kubernetes/api/kube_names.h"
#include "kubernetes/api/pod_state.h"
#include "kubernetes/conf/kube_conf.h"
#include "kubernetes/pods/executor_builder.h"
#include "process/loop_wait.h"
#include "text/json.h"

#include <stdio.h>
#include <xxhash.h>

#define LOG "KubernetesClusterSchedulerBackend"
#define LABEL "firesteel-journal"

struct adoption_run {
        const struct pod_adoption *adoption;
        size_t calls; /* without a response */
        int status;   /* of the list */
        struct fst_error *error;
};

/* A change of one pod. */
struct adopted_pod {
        struct adoption_run *run;
        struct expected_pod *expected;
};

char *pod_adoption_mark(struct fst_conf *settings, const char *directory, const char *journal)
{
        _cleanup_free_ char *place = mem_printf("%s/%s", directory, journal);
        const XXH128_hash_t hash = XXH3_128bits(place, strlen(place));
        char *value = mem_printf("%016llx%016llx", (unsigned long long)hash.high64, (unsigned long long)hash.low64);
        conf_set(settings, "spark.kubernetes.executor.label." LABEL, value);
        return value;
}

/* The labels and the owner that a new executor's pod would have. NULL with @error: it cannot be built. */
static json_t *adoption_patch(const struct pod_adoption *a, int32_t id, struct fst_error *error)
{
        _cleanup_(executor_spec_deinit) struct executor_pod_spec spec = {0};
        struct kube_conf conf = *a->conf;
        char text[12];
        snprintf(text, sizeof(text), "%d", id);
        conf.executor_id = text;
        if (executor_spec_build(&conf, &spec, error) < 0)
                return NULL;
        json_t *pod = executor_spec_pod(&spec), *labels = json_at(pod, "metadata.labels");
        json_object_del(labels, KUBE_LABEL_PROFILE_ID); /* it keeps its own */
        json_t *patch = json_pack("{s:{s:O,s:O*}}", "metadata", "labels", labels, "ownerReferences",
                                  json_at(pod, "metadata.ownerReferences"));
        json_decref(pod);
        return patch;
}

static void on_pod_adopted(void *owner, struct kube_call *call, int r, const struct kube_response *response)
{
        struct adopted_pod *pod = owner;
        pod->run->calls--;
        pod->expected->found = r == 0;
        if (r)
                log_warn(LOG, "The pod of executor %d of the earlier driver cannot be adopted: %s", pod->expected->id,
                         error_message(response->error));
        free(pod);
}

static void on_pod_deleted(void *owner, struct kube_call *call, int r, const struct kube_response *response)
{
        struct adoption_run *run = owner;
        run->calls--;
        if (r && r != FST_KUBE_E_NOT_FOUND && r != FST_KUBE_E_CONFLICT)
                log_warn(LOG, "An executor pod of an earlier driver cannot be deleted: %s",
                         error_message(response->error));
}

static void adoption_adopt_pod(struct adoption_run *run, struct expected_pod *expected, const char *path)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        json_t *patch = adoption_patch(run->adoption, expected->id, &error);
        if (!patch) {
                log_warn(LOG, "The pod of executor %d of the earlier driver cannot be adopted: %s", expected->id,
                         error_message(&error));
                return;
        }
        struct adopted_pod *pod = new0(struct adopted_pod);
        *pod = (struct adopted_pod){.run = run, .expected = expected};
        run->calls++;
        kube_patch(run->adoption->client, path, KUBE_PATCH_MERGE, patch, on_pod_adopted, pod);
        json_decref(patch);
}

static struct expected_pod *adoption_find(const struct pod_adoption *a, int32_t id)
{
        for (size_t i = 0; i < a->n; i++)
                if (a->expected[i].id == id)
                        return &a->expected[i];
        return NULL;
}

static int on_earlier_pod(void *owner, json_t *json)
{
        struct adoption_run *run = owner;
        const struct pod_adoption *a = run->adoption;
        const struct pod_rules rules = {.check_all = true};
        struct pod_state *pod;
        if (!json || pod_state_read(json, &rules, &pod) != 0) /* a list that begins anew has the same pods */
                return 0;
        _cleanup_free_ char *path = kube_path("v1", a->namespace, "pods", pod->name);
        struct expected_pod *expected = adoption_find(a, pod->id);
        if (expected && !pod->leaving && !pod_state_kind_is_final(pod->kind)) {
                adoption_adopt_pod(run, expected, path);
        } else if (a->delete_others && !pod->leaving) {
                run->calls++;
                kube_delete(a->client, path, &(struct kube_deletion){.uid = pod->uid}, on_pod_deleted, run);
        }
        pod_state_unref(pod);
        return 0;
}

static void on_pods_listed(void *owner, struct kube_call *call, int r, const struct kube_response *response)
{
        struct adoption_run *run = owner;
        run->calls--;
        if (r)
                run->status = error_set(run->error, r < 0 ? r : -EIO, "executor pods cannot be listed: %s",
                                        error_message(response->error));
}

static bool adoption_is_over(void *owner)
{
        const struct adoption_run *run = owner;
        return run->calls == 0;
}

int pod_adoption_run(const struct pod_adoption *a, struct fst_error *error)
{
        _cleanup_free_ char *path = kube_path("v1", a->namespace, "pods", NULL);
        _cleanup_free_ char *labels = mem_printf(LABEL "=%s," KUBE_LABEL_ROLE "=executor", a->journal);
        struct adoption_run run = {.adoption = a, .calls = 1, .error = error};
        kube_list_items(a->client, &(struct kube_listing){.path = path, .labels = labels, .item = on_earlier_pod},
                        on_pods_listed, &run);
        loop_wait(kube_client_loop(a->client), adoption_is_over, &run, LOOP_WAIT_FOREVER);
        return run.status;
}
