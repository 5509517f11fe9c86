/* See step_list.h. */
#include "deploy/kubernetes/step_list.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/vec.h"
#include "base/word_list.h"
#include "deploy/kubernetes/kube_value.h"

#include <errno.h>

/* Steps that are not run unless they are named. */
static const struct feature_step *const optional[] = {&volcano_step};

static const struct feature_step *find_optional(const char *name)
{
        for (size_t i = 0; i < ARRAY_SIZE(optional); i++)
                if (strcmp(optional[i]->class_name, name) == 0)
                        return optional[i];
        return NULL;
}

static int add_named(const struct kube_conf *c, struct step_list *out, struct fst_error *error)
{
        static const char features[] = "org.apache.spark.deploy.k8s.features.";
        _cleanup_free_ char *key = mem_printf("spark.kubernetes.%s.pod.featureSteps", kube_role_name(c));
        _cleanup_(word_list_deinit) struct word_list names = {0};
        int r = kube_list(c, key, &names, error);
        for (size_t i = 0; r == 0 && i < names.len; i++) {
                const struct feature_step *step = find_optional(names.data[i]);
                const char *prefix = c->role == KUBE_DRIVER ? features : "";
                if (!step)
                        return error_set(error, -EINVAL,
                                         "Failed to initialize feature step: %s, please make sure your %s side feature "
                                         "steps are implemented by `%sKubernetes%sCustomFeatureConfigStep` or "
                                         "`%sKubernetesFeatureConfigStep`.",
                                         names.data[i], kube_role_name(c), prefix,
                                         c->role == KUBE_DRIVER ? "Driver" : "Executor", prefix);
                vec_push(out, step);
        }
        return r;
}

static bool contains(const struct word_list *list, const char *word)
{
        for (size_t i = 0; i < list->len; i++)
                if (strcmp(list->data[i], word) == 0)
                        return true;
        return false;
}

int step_list_make(const struct kube_conf *c, const struct feature_step *const *built_in, size_t n,
                   struct step_list *out, struct fst_error *error)
{
        _cleanup_free_ char *key = mem_printf("spark.kubernetes.%s.pod.excludedFeatureSteps", kube_role_name(c));
        _cleanup_(word_list_deinit) struct word_list excluded = {0};
        size_t kept = 0;
        for (size_t i = 0; i < n; i++)
                vec_push(out, built_in[i]);
        int r = add_named(c, out, error);
        for (size_t i = 0; r == 0 && i < out->len; i++)
                r = out->data[i]->check ? out->data[i]->check(c, error) : 0;
        if (r == 0)
                r = kube_list(c, key, &excluded, error);
        for (size_t i = 0; r == 0 && i < out->len; i++)
                if (!contains(&excluded, out->data[i]->class_name))
                        out->data[kept++] = out->data[i];
        if (r == 0)
                out->len = kept;
        return r;
}

void step_list_deinit(struct step_list *list)
{
        vec_deinit(list);
}
