/* Selects and runs the steps of a pod. */
#include "kubernetes/pods/feature_step_list.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/vec.h"
#include "base/string_list.h"
#include "kubernetes/conf/kube_settings.h"

#include <errno.h>
#include <stdlib.h>

/* Steps that run only if the user names them. */
static const struct feature_step *const optional[] = {&volcano_step};

static const struct feature_step *find_optional(const char *name)
{
        for (size_t i = 0; i < ARRAY_SIZE(optional); i++)
                if (strcmp(optional[i]->class_name, name) == 0)
                        return optional[i];
        return NULL;
}

/* Rejects a Java class. The message begins as Spark's. */
static int feature_step_list_refuse(const struct kube_conf *c, const char *name, struct fst_error *error)
{
        bool driver = c->role == KUBE_DRIVER;
        const char *prefix = driver ? "org.apache.spark.deploy.k8s.features." : "";
        return error_set(error, -EINVAL,
                         "Failed to initialize feature step: %s, please make sure your %s side feature steps are "
                         "implemented by `%sKubernetes%sCustomFeatureConfigStep` or `%sKubernetesFeatureConfigStep`. "
                         "Java classes cannot be loaded: name a shared object with its absolute path "
                         "(/…/step.so, see firesteel/pod_step.h)",
                         name, kube_role_name(c), prefix, driver ? "Driver" : "Executor", prefix);
}

static int add_named(const struct kube_conf *c, struct step_list *out, struct fst_error *error)
{
        _cleanup_free_ char *key = mem_printf("spark.kubernetes.%s.pod.featureSteps", kube_role_name(c));
        _cleanup_(string_list_deinit) struct string_list names = {0};
        int r = kube_list(c, key, &names, error);
        for (size_t i = 0; r == 0 && i < names.len; i++) {
                struct listed_step step = {.built_in = find_optional(names.data[i])};
                if (!step.built_in && native_step_is_named(names.data[i])) {
                        r = native_step_load(names.data[i], &step.native, error);
                        step.name = r == 0 ? mem_strdup(names.data[i]) : NULL;
                } else if (!step.built_in) {
                        r = feature_step_list_refuse(c, names.data[i], error);
                }
                if (r == 0)
                        vec_push(out, step);
        }
        return r;
}

static bool feature_step_list_contains(const struct string_list *list, const char *word)
{
        for (size_t i = 0; i < list->len; i++)
                if (strcmp(list->data[i], word) == 0)
                        return true;
        return false;
}

static int feature_step_list_check(const struct kube_conf *c, const struct listed_step *step, struct fst_error *error)
{
        return step->built_in && step->built_in->check ? step->built_in->check(c, error) : 0;
}

int step_list_make(const struct kube_conf *c, const struct feature_step *const *built_in, size_t n,
                   struct step_list *out, struct fst_error *error)
{
        _cleanup_free_ char *key = mem_printf("spark.kubernetes.%s.pod.excludedFeatureSteps", kube_role_name(c));
        _cleanup_(string_list_deinit) struct string_list excluded = {0};
        size_t kept = 0;
        for (size_t i = 0; i < n; i++)
                vec_push(out, ((struct listed_step){.built_in = built_in[i]}));
        int r = add_named(c, out, error);
        for (size_t i = 0; r == 0 && i < out->len; i++)
                r = feature_step_list_check(c, &out->data[i], error);
        if (r == 0)
                r = kube_list(c, key, &excluded, error);
        if (r < 0)
                return r;
        for (size_t i = 0; i < out->len; i++) {
                struct listed_step step = out->data[i];
                if (feature_step_list_contains(&excluded, step.name ? step.name : step.built_in->class_name))
                        free(step.name);
                else
                        out->data[kept++] = step;
        }
        out->len = kept;
        return 0;
}

void step_list_deinit(struct step_list *list)
{
        for (size_t i = 0; i < list->len; i++)
                free(list->data[i].name);
        vec_deinit(list);
}

int listed_step_run(const struct listed_step *step, const struct kube_conf *c, struct spark_pod *pod,
                    struct strmap *properties, json_t *before, json_t *after, struct fst_error *error)
{
        const struct feature_step *ours = step->built_in;
        if (step->native)
                return native_step_run(step->native, step->name, c, pod, properties, before, after, error);
        int r = ours->configure ? ours->configure(c, pod, error) : 0;
        if (r == 0 && ours->properties && properties)
                r = ours->properties(c, properties, error);
        if (r == 0 && ours->pre_resources && before)
                r = ours->pre_resources(c, before, error);
        return r == 0 && ours->resources ? ours->resources(c, after, error) : r;
}
