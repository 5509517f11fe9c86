/*
 * The arguments of the driver's container: "driver", the properties, the class, the application.
 * DriverCommandFeatureStep.
 */
#include "kubernetes/pods/feature_step.h"

#include "base/mem.h"
#include "base/string_prefix.h"
#include "kubernetes/conf/file_upload.h"
#include "kubernetes/api/kube_names.h"
#include "kubernetes/conf/kube_settings.h"

static void add_command(const struct kube_conf *c, struct spark_pod *pod, const char *resource)
{
        pod_add_argument(pod, "driver");
        if (c->proxy_user) {
                pod_add_argument(pod, "--proxy-user");
                pod_add_argument(pod, c->proxy_user);
        }
        pod_add_argument(pod, "--properties-file");
        pod_add_argument(pod, KUBE_CONF_DIR "/" KUBE_CONF_FILE);
        pod_add_argument(pod, "--class");
        pod_add_argument(pod, c->main_class);
        pod_add_argument(pod, resource);
        for (size_t i = 0; i < c->n_arguments; i++)
                pod_add_argument(pod, c->arguments[i]);
}

/*
 * A local jar is in spark.jars, which the driver adds to its class path, so the class name suffices. A native
 * application has no class path: the driver gets its uploaded URI, which is in spark.jars too.
 */
static int configure_java(const struct kube_conf *c, struct spark_pod *pod, struct fst_error *error)
{
        _cleanup_free_ char *uploaded = NULL;
        bool local = c->resource && file_is_local(c->resource);
        int r = local && text_ends_with(c->resource, ".so") ? file_upload_target(c, c->resource, &uploaded, error) : 0;
        if (r < 0)
                return r;
        add_command(c, pod, uploaded ? uploaded : !c->resource || local ? "spark-internal" : c->resource);
        return 0;
}

static int configure_python(const struct kube_conf *c, struct spark_pod *pod, struct fst_error *error)
{
        _cleanup_free_ char *python = NULL;
        _cleanup_free_ char *driver_python = NULL;
        _cleanup_free_ char *resource = NULL;
        int r = kube_string(c, "spark.pyspark.python", &python, error);
        if (r == 0)
                r = kube_string(c, "spark.pyspark.driver.python", &driver_python,
                                error); /* else spark.pyspark.python */
        if (r == 0 && file_is_local(c->resource))
                r = file_upload(c, c->resource, &resource, error);
        if (r < 0)
                return r;
        const char *found = driver_python ? driver_python : c->env("PYSPARK_DRIVER_PYTHON");
        add_command(c, pod, resource ? resource : c->resource);
        pod_add_env(pod, "PYSPARK_PYTHON", python ? python : c->env("PYSPARK_PYTHON"));
        pod_add_env(pod, "PYSPARK_DRIVER_PYTHON", found ? found : c->env("PYSPARK_PYTHON"));
        return 0;
}

static int driver_command_configure(const struct kube_conf *c, struct spark_pod *pod, struct fst_error *error)
{
        switch (c->language) {
        case KUBE_PYTHON:
                return configure_python(c, pod, error);
        case KUBE_R:
                add_command(c, pod, c->resource);
                return 0;
        default:
                return configure_java(c, pod, error);
        }
}

static int driver_command_properties(const struct kube_conf *c, struct strmap *out, struct fst_error *error)
{
        static const char *const types[] = {[KUBE_JAVA] = "java", [KUBE_PYTHON] = "python", [KUBE_R] = "r"};
        strmap_set(out, "spark.kubernetes.resource.type", types[c->language]);
        return 0;
}

const struct feature_step driver_command_step = {
        .class_name = "org.apache.spark.deploy.k8s.features.DriverCommandFeatureStep",
        .configure = driver_command_configure,
        .properties = driver_command_properties,
};
