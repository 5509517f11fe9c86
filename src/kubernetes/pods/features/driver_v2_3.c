/*
 * The basic driver pod of Spark 2.3: variables hold the command, and the memory request excludes the overhead.
 * BasicDriverConfigurationStep of that version.
 */
#include "kubernetes/pods/feature_step.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "kubernetes/conf/kube_settings.h"
#include "kubernetes/pods/pod_parts.h"
#include "kubernetes/api/quantity.h"

#include <errno.h>

#define NAME_ANNOTATION "spark-app-name"

static void add_words(const struct kube_conf *c, struct spark_pod *pod)
{
        _cleanup_(buf_deinit) struct buf words = BUF_INIT;
        for (size_t i = 0; i < c->n_arguments; i++)
                buf_printf(&words, "%s%s", i ? " " : "", c->arguments[i]);
        pod_add_env(pod, "SPARK_DRIVER_CLASS", c->main_class);
        pod_add_env(pod, "SPARK_DRIVER_ARGS", buf_text(&words));
}

static int driver_v2_3_add_environment(const struct kube_conf *c, struct spark_pod *pod, struct fst_error *error)
{
        _cleanup_(strmap_deinit) struct strmap environment = STRMAP_INIT;
        _cleanup_free_ char *class_path = NULL;
        _cleanup_free_ char *memory = NULL;
        int r = kube_string(c, "spark.driver.extraClassPath", &class_path, error);
        if (r == 0)
                r = kube_string(c, "spark.driver.memory", &memory, error);
        if (r < 0)
                return r;
        kube_environment(c, &environment);
        for (struct strmap_entry *e = NULL; (e = strmap_next(&environment, e));)
                pod_add_env(pod, e->key, e->value);
        pod_add_env(pod, "SPARK_CLASSPATH", class_path);
        pod_add_env(pod, "SPARK_DRIVER_MEMORY", memory);
        add_words(c, pod);
        pod_add_field_env(pod, "SPARK_DRIVER_BIND_ADDRESS", "status.podIP");
        return 0;
}

static int driver_v2_3_add_resources(const struct kube_conf *c, struct spark_pod *pod, struct fst_error *error)
{
        _cleanup_free_ char *limit = NULL;
        const char *cores = conf_get_raw(c->conf, "spark.driver.cores");
        struct classic_memory memory;
        int r = classic_memory_read(c, &memory, error);
        if (r == 0)
                r = kube_string(c, "spark.kubernetes.driver.limit.cores", &limit, error);
        if (r == 0 && limit)
                r = quantity_check(limit, error);
        if (r == 0)
                classic_resources_put(pod, cores ? cores : "1", limit, &memory);
        return r;
}

static int driver_v2_3_configure(const struct kube_conf *c, struct spark_pod *pod, struct fst_error *error)
{
        _cleanup_free_ char *name = NULL;
        int r = pod_put_container(c, pod, "spark-kubernetes-driver", error);
        json_object_del(pod->container, "securityContext");
        if (r == 0)
                r = driver_v2_3_add_environment(c, pod, error);
        if (r == 0)
                r = driver_v2_3_add_resources(c, pod, error);
        if (r == 0)
                r = kube_driver_pod_name(c, &name, error);
        if (r < 0)
                return r;
        pod_add_argument(pod, "driver");
        kube_put(pod_metadata(pod), "name", name);
        kube_put(pod_spec(pod), "restartPolicy", "Never");
        r = pod_put_common(c, pod, error);
        kube_put(kube_child(pod_metadata(pod), "annotations"), NAME_ANNOTATION, kube_app_name(c));
        return r;
}

static int driver_v2_3_check(const struct kube_conf *c, struct fst_error *error)
{
        _cleanup_free_ char *image = NULL;
        _cleanup_(strmap_deinit) struct strmap annotations = STRMAP_INIT;
        kube_annotations(c, &annotations);
        if (strmap_get(&annotations, NAME_ANNOTATION))
                return error_set(error, -EINVAL,
                                 "requirement failed: Annotation with key " NAME_ANNOTATION
                                 " is not allowed as it is reserved for Spark bookkeeping operations.");
        if (c->language != KUBE_JAVA)
                return error_set(error, -EINVAL, "%s applications are currently not supported for Kubernetes.",
                                 c->language == KUBE_PYTHON ? "Python" : "R");
        return kube_image(c, &image, error);
}

static int driver_v2_3_properties(const struct kube_conf *c, struct strmap *out, struct fst_error *error)
{
        _cleanup_free_ char *name = NULL;
        int r = kube_driver_pod_name(c, &name, error);
        if (r < 0)
                return r;
        strmap_set(out, "spark.kubernetes.driver.pod.name", name);
        strmap_set(out, "spark.app.id", c->app_id);
        strmap_set(out, "spark.kubernetes.executor.podNamePrefix", c->prefix);
        return 0;
}

const struct feature_step classic_driver_step = {
        .class_name = "org.apache.spark.deploy.k8s.submit.steps.BasicDriverConfigurationStep",
        .check = driver_v2_3_check,
        .configure = driver_v2_3_configure,
        .properties = driver_v2_3_properties,
};
