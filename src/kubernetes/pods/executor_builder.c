/* Builds executor pods. */
#include "kubernetes/pods/executor_builder.h"

#include "base/mem.h"
#include "kubernetes/pods/conf_files.h"
#include "kubernetes/pods/feature_step.h"
#include "kubernetes/pods/features/init_container.h"
#include "kubernetes/pods/gang_scheduling.h"
#include "kubernetes/api/kube_names.h"
#include "kubernetes/conf/kube_settings.h"
#include "kubernetes/pods/pod_template.h"
#include "kubernetes/pods/feature_step_list.h"

/* In Spark's order. */
static const struct feature_step *const steps[] = {
        &basic_executor_step, &executor_credentials_step, &mount_secrets_step, &env_secrets_step,
        &mount_volumes_step,  &hadoop_conf_executor_step, &local_dirs_step,    &spark_scheduler_step,
};

/* The steps of Spark 2.3. */
static const struct feature_step *const classic_steps[] = {
        &classic_executor_step,
        &executor_credentials_step,
        &mount_secrets_step,
        &init_container_step,
};

int executor_spec_build(const struct kube_conf *c, struct executor_pod_spec *out, struct fst_error *error)
{
        _cleanup_(step_list_deinit) struct step_list list = {0};
        *out = (struct executor_pod_spec){.resources = json_array()};
        int r = pod_template_load(c, &out->pod, error);
        if (r == 0)
                r = pods_are_classic(c) ? step_list_make(c, classic_steps, ARRAY_SIZE(classic_steps), &list, error)
                                        : step_list_make(c, steps, ARRAY_SIZE(steps), &list, error);
        for (size_t i = 0; r == 0 && i < list.len; i++)
                r = listed_step_run(&list.data[i], c, &out->pod, NULL, NULL, out->resources, error);
        return r ? r : gang_put(c, &out->pod, NULL, error);
}

void executor_spec_deinit(struct executor_pod_spec *spec)
{
        spark_pod_deinit(&spec->pod);
        json_decref(spec->resources);
        *spec = (struct executor_pod_spec){0};
}

json_t *executor_spec_pod(const struct executor_pod_spec *spec)
{
        struct spark_pod whole = {json_deep_copy(spec->pod.pod), json_deep_copy(spec->pod.container)};
        json_array_append(kube_children(pod_spec(&whole), "containers"), whole.container);
        json_t *pod = json_incref(whole.pod);
        spark_pod_deinit(&whole);
        return pod;
}

int executor_config_map(const struct kube_conf *c, json_t **out, struct fst_error *error)
{
        static const char namespace_key[] = "spark.kubernetes.namespace";
        _cleanup_(strmap_deinit) struct strmap labels = STRMAP_INIT, properties = STRMAP_INIT;
        _cleanup_free_ char *namespace = NULL;
        json_t *files = NULL;
        bool disabled;
        int r = kube_bool(c, "spark.kubernetes.executor.disableConfigMap", &disabled, error);
        if (r == 0)
                r = kube_string(c, namespace_key, &namespace, error);
        if (r < 0 || disabled) {
                *out = NULL;
                return r;
        }
        strmap_set(&labels, KUBE_LABEL_APP_ID, c->app_id);
        strmap_set(&labels, KUBE_LABEL_ROLE, "executor");
        strmap_set(&properties, namespace_key, namespace);
        r = conf_files_read(c, &properties, &files, error);
        if (r == 0)
                r = conf_files_map(c, files, &labels, out, error);
        json_decref(files);
        return r;
}
