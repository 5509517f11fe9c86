/* Builds and creates executor pods: Spark's ExecutorPodsAllocator.requestNewExecutors from the pod on. */
#include "kubernetes/backend/pod_creator.h"

#include "base/error.h"
#include "base/vec.h"
#include "driver/resources/resource_profiles.h"
#include "kubernetes/pods/driver_builder.h"
#include "kubernetes/pods/executor_builder.h"
#include "kubernetes/api/kube_client.h"
#include "kubernetes/conf/kube_conf.h"
#include "kubernetes/api/quantity.h"
#include "text/json.h"

#include <stdio.h>
#include <string.h>

struct creation {
        struct pod_creator *creator;
        size_t place; /* index in creator->creations */
        int32_t id;
        json_t *claims; /* an array */
        size_t pending; /* claims without a response */
        int throttled;
        int64_t retry_after_ms;
        char *message; /* from the first failed claim */
};

struct pod_creator {
        struct pod_creator_options options;
        const struct pod_creator_ops *ops;
        void *owner;
        VEC(struct creation *) creations;
};

struct pod_creator *pod_creator_new(const struct pod_creator_options *options, const struct pod_creator_ops *ops,
                                    void *owner)
{
        struct pod_creator *creator = new0(struct pod_creator);
        creator->options = *options;
        creator->ops = ops;
        creator->owner = owner;
        return creator;
}

static void creation_free(struct creation *c)
{
        json_decref(c->claims);
        free(c->message);
        free(c);
}

void pod_creator_free(struct pod_creator *creator)
{
        if (!creator)
                return;
        for (size_t i = 0; i < creator->creations.len; i++)
                creation_free(creator->creations.data[i]);
        vec_deinit(&creator->creations);
        free(creator);
}

static struct creation *creation_new(struct pod_creator *creator, int32_t id, json_t *claims)
{
        struct creation *c = new0(struct creation);
        *c = (struct creation){
                .creator = creator, .place = creator->creations.len, .id = id, .claims = json_incref(claims)};
        vec_push(&creator->creations, c);
        return c;
}

/* --------------------------------------------------------------------------------------------- responses */

static void pod_creator_answer(struct creation *c, enum create_outcome outcome, const char *message)
{
        struct pod_creator *creator = c->creator;
        const struct pod_creation creation = {.id = c->id,
                                              .outcome = outcome,
                                              .throttled = c->throttled,
                                              .retry_after_ms = c->retry_after_ms,
                                              .message = message};
        struct creation *last = creator->creations.data[--creator->creations.len];
        creator->creations.data[c->place] = last;
        last->place = c->place;
        creator->ops->answered(creator->owner, &creation);
        creation_free(c);
}

static enum create_outcome outcome_of(int r, int status)
{
        switch (r) {
        case 0:
                return CREATE_DONE;
        case FST_KUBE_E_TOO_MANY:
        case FST_KUBE_E_CONFLICT:
                return CREATE_SLOW_DOWN;
        case FST_KUBE_E_UNAVAILABLE:
                return status == 503 ? CREATE_SLOW_DOWN : CREATE_UNKNOWN;
        case FST_KUBE_E_QUOTA:
                return CREATE_QUOTA;
        default:
                return r < 0 ? CREATE_UNKNOWN : CREATE_REFUSED;
        }
}

static void pod_creator_note(struct creation *c, const struct kube_response *a)
{
        c->throttled += a->throttled;
        c->retry_after_ms = a->retry_after_ms;
}

static void pod_creator_on_claim(void *owner, struct kube_call *call, int r, const struct kube_response *a)
{
        struct creation *c = owner;
        pod_creator_note(c, a);
        if (r != 0 && !c->message)
                c->message = mem_strdup(error_message(a->error));
        if (--c->pending == 0)
                pod_creator_answer(c, c->message ? CREATE_CLAIM_FAILED : CREATE_DONE, c->message);
}

static void create_claims(struct creation *c, const json_t *pod)
{
        const struct pod_creator_options *o = &c->creator->options;
        json_t *claim;
        size_t i;
        c->pending = json_array_size(c->claims);
        json_array_foreach(c->claims, i, claim) {
                if (o->driver_owns_claims && o->conf->driver_pod)
                        kube_set_executors_owner(claim, o->conf);
                else
                        kube_set_owner(claim, pod);
                kube_create(o->client, o->namespace, claim, pod_creator_on_claim, c);
        }
}

static void pod_creator_on_pod(void *owner, struct kube_call *call, int r, const struct kube_response *a)
{
        struct creation *c = owner;
        pod_creator_note(c, a);
        if (r == 0 && json_array_size(c->claims))
                create_claims(c, a->object);
        else
                pod_creator_answer(c, outcome_of(r, a->status), r ? error_message(a->error) : NULL);
}

/* -------------------------------------------------------------------------------------------------------- building */

/* Replaces the claim @from by @to in the pod's volumes. */
static void replace_claim(json_t *pod, const char *from, const char *to)
{
        json_t *volume;
        size_t i;
        json_array_foreach(json_at(pod, "spec.volumes"), i, volume) {
                json_t *source = json_object_get(volume, "persistentVolumeClaim");
                const char *name = json_text_at(source, "claimName");
                if (name && strcmp(name, from) == 0)
                        json_object_set_new(source, "claimName", json_string(to));
        }
}

/* Returns the claims to create with the pod: those without a reused claim, which replaces them in the pod. */
static json_t *claims_to_create(const json_t *resources, char *const *reused, int n_reused, json_t *pod)
{
        json_t *claims = json_array(), *claim;
        size_t i;
        json_array_foreach((json_t *)resources, i, claim) {
                if ((int)i < n_reused && reused[i])
                        replace_claim(pod, json_text_at(claim, "metadata.name"), reused[i]);
                else
                        json_array_append(claims, claim);
        }
        return claims;
}

static struct claim_need claim_need_read(const json_t *claim)
{
        const char *storage = json_text_at(claim, "spec.resources.requests.storage");
        const char *class = json_text_at(claim, "spec.storageClassName");
        struct claim_need need = {.storage_class = class ? mem_strdup(class) : NULL};
        struct fst_error error = FST_ERROR_INIT;
        if (storage && quantity_read(storage, 0, &need.size, &error) < 0)
                error_deinit(&error);
        return need;
}

static int pod_creator_build(struct pod_creator *creator, int32_t id, int32_t profile, struct executor_pod_spec *spec,
                             struct fst_error *error)
{
        char text[12];
        const struct fst_resource_profile *p = profile && creator->options.profiles
                                                       ? resource_profiles_find(creator->options.profiles, profile)
                                                       : NULL;
        _cleanup_free_ struct kube_amount *amounts =
                p ? new_array(struct kube_amount, (size_t)p->n_executor + 1) : NULL;
        const struct kube_profile other = {.id = profile, .amounts = amounts, .n = p ? (size_t)p->n_executor : 0};
        struct kube_conf conf = *creator->options.conf;
        for (size_t i = 0; i < other.n; i++)
                amounts[i] = (struct kube_amount){p->executor[i].name, (int64_t)p->executor[i].amount,
                                                  p->executor[i].vendor};
        snprintf(text, sizeof(text), "%d", id);
        conf.executor_id = text;
        conf.profile = profile ? &other : NULL;
        return executor_spec_build(&conf, spec, error);
}

int pod_creator_create(struct pod_creator *creator, int32_t id, int32_t profile, char *const *reused, int n_reused,
                       struct fst_error *error)
{
        _cleanup_(executor_spec_deinit) struct executor_pod_spec spec = {0};
        int r = pod_creator_build(creator, id, profile, &spec, error);
        if (r < 0)
                return r;
        json_t *pod = executor_spec_pod(&spec);
        json_t *claims = claims_to_create(spec.resources, reused, n_reused, pod);
        kube_create(creator->options.client, creator->options.namespace, pod, pod_creator_on_pod,
                    creation_new(creator, id, claims));
        json_decref(claims);
        json_decref(pod);
        return 0;
}

int pod_creator_check(struct pod_creator *creator, struct claim_need **claims, int *n_claims, struct fst_error *error)
{
        _cleanup_(executor_spec_deinit) struct executor_pod_spec spec = {0};
        json_t *claim;
        size_t i;
        int r = pod_creator_build(creator, 1, 0, &spec, error);
        if (r < 0)
                return r;
        *n_claims = (int)json_array_size(spec.resources);
        *claims = new_array(struct claim_need, (size_t)MAX(*n_claims, 1));
        json_array_foreach(spec.resources, i, claim)
                (*claims)[i] = claim_need_read(claim);
        return 0;
}
