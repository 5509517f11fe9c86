/* Builds the driver pod and its objects. */
#include "kubernetes/pods/driver_builder.h"

#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "kubernetes/pods/conf_files.h"
#include "kubernetes/pods/feature_step.h"
#include "kubernetes/pods/features/init_container.h"
#include "kubernetes/pods/gang_scheduling.h"
#include "kubernetes/pods/java_options.h"
#include "kubernetes/api/kube_names.h"
#include "kubernetes/pods/pod_template.h"
#include "kubernetes/pods/feature_step_list.h"
#include "text/shell_words.h"

#define VOLUME "spark-conf-volume-driver"

/* In Spark's order, which decides the order of variables, mounts and objects. Steps that Spark lacks follow. */
static const struct feature_step *const steps[] = {
        &basic_driver_step,       &driver_credentials_step,   &driver_service_step, &network_policy_step,
        &mount_secrets_step,      &env_secrets_step,          &mount_volumes_step,  &driver_command_step,
        &hadoop_conf_driver_step, &kerberos_conf_driver_step, &pod_template_step,   &local_dirs_step,
        &spark_scheduler_step,
};

/* The steps of Spark 2.3: features/init_container.h. */
static const struct feature_step *const classic_steps[] = {
        &classic_driver_step, &driver_credentials_step, &driver_service_step, &mount_secrets_step, &init_container_step,
};

int driver_spec_build(const struct kube_conf *c, struct driver_pod_spec *out, struct fst_error *error)
{
        _cleanup_(step_list_deinit) struct step_list list = {0};
        *out = (struct driver_pod_spec){.pre_resources = json_array(), .resources = json_array()};
        int r = pod_template_load(c, &out->pod, error);
        if (r == 0)
                r = pods_are_classic(c) ? step_list_make(c, classic_steps, ARRAY_SIZE(classic_steps), &list, error)
                                        : step_list_make(c, steps, ARRAY_SIZE(steps), &list, error);
        strmap_merge(&out->properties, &c->conf->set);
        for (size_t i = 0; r == 0 && i < list.len; i++)
                r = listed_step_run(&list.data[i], c, &out->pod, &out->properties, out->pre_resources, out->resources,
                                    error);
        return r ? r : gang_put(c, &out->pod, out->pre_resources, error);
}

void driver_spec_deinit(struct driver_pod_spec *spec)
{
        spark_pod_deinit(&spec->pod);
        json_decref(spec->pre_resources);
        json_decref(spec->resources);
        strmap_deinit(&spec->properties);
        *spec = (struct driver_pod_spec){0};
}

/* As Spark 2.3: passes the driver's properties as JVM options. */
static json_t *finish_classic(const struct driver_pod_spec *spec)
{
        struct spark_pod whole = {json_deep_copy(spec->pod.pod), json_deep_copy(spec->pod.container)};
        _cleanup_free_ struct strmap_entry **sorted = strmap_sorted(&spec->properties);
        _cleanup_(string_list_deinit) struct string_list options = {0};
        for (size_t i = 0; i < spec->properties.count; i++)
                if (strcmp(sorted[i]->key, "spark.driver.extraJavaOptions") != 0)
                        string_list_take(&options, mem_printf("-D%s=%s", sorted[i]->key, sorted[i]->value));
        command_string_split(strmap_get(&spec->properties, "spark.driver.extraJavaOptions"), &options);
        java_options_put(&options, &whole);
        json_array_append(kube_children(pod_spec(&whole), "containers"), whole.container);
        json_t *pod = json_incref(whole.pod);
        spark_pod_deinit(&whole);
        return pod;
}

int driver_spec_finish(const struct kube_conf *c, const struct driver_pod_spec *spec, json_t **pod, json_t **map,
                       struct fst_error *error)
{
        json_t *files = NULL;
        if (pods_are_classic(c)) {
                *pod = finish_classic(spec);
                *map = NULL;
                return 0;
        }
        int r = conf_files_read(c, &spec->properties, &files, error);
        if (r == 0)
                r = conf_files_map(c, files, NULL, map, error);
        if (r == 0) {
                struct spark_pod whole = {json_deep_copy(spec->pod.pod), json_deep_copy(spec->pod.container)};
                pod_add_env(&whole, "SPARK_CONF_DIR", KUBE_CONF_DIR);
                pod_add_mount(&whole, VOLUME, KUBE_CONF_DIR);
                pod_add_volume(&whole, conf_files_volume(c, VOLUME, files));
                json_array_append(kube_children(pod_spec(&whole), "containers"), whole.container);
                *pod = json_incref(whole.pod);
                spark_pod_deinit(&whole);
        }
        json_decref(files);
        return r;
}

void kube_set_owner(json_t *object, const json_t *pod)
{
        const json_t *metadata = json_object_get(pod, "metadata");
        json_t *owner = json_pack("{s:O?,s:b,s:O?,s:O?,s:O?}", "apiVersion", json_object_get(pod, "apiVersion"),
                                  "controller", 1, "kind", json_object_get(pod, "kind"), "name",
                                  json_object_get(metadata, "name"), "uid", json_object_get(metadata, "uid"));
        json_object_set_new(kube_child(object, "metadata"), "ownerReferences", json_pack("[o]", owner));
}

void kube_set_executors_owner(json_t *object, const struct kube_conf *c)
{
        if (c->lasting_owner)
                json_object_set_new(kube_child(object, "metadata"), "ownerReferences",
                                    json_pack("[O]", c->lasting_owner));
        else if (c->driver_pod)
                kube_set_owner(object, c->driver_pod);
}
