/*
 * The basic executor pod of Spark 2.3: the container is called "executor", and the memory request excludes the
 * overhead. ExecutorPodFactory of that version.
 */
#include "kubernetes/pods/feature_step.h"

#include "base/error.h"
#include "base/mem.h"
#include "kubernetes/pods/driver_builder.h"
#include "kubernetes/pods/java_options.h"
#include "kubernetes/api/kube_names.h"
#include "kubernetes/conf/kube_settings.h"
#include "kubernetes/pods/pod_parts.h"
#include "kubernetes/api/quantity.h"

#include <errno.h>

static int executor_v2_3_driver_url(const struct kube_conf *c, char **out, struct fst_error *error)
{
        _cleanup_free_ char *host = NULL;
        int64_t port;
        int r = kube_string(c, "spark.driver.host", &host, error);
        if (r == 0)
                r = kube_number(c, "spark.driver.port", KUBE_DRIVER_PORT, &port, error);
        if (r == 0 && !host)
                r = error_set(error, -EINVAL,
                              "spark.driver.host is not set: executors do not know where the driver is");
        if (r == 0)
                *out = mem_printf("spark://CoarseGrainedScheduler@%s:%lld", host, (long long)port);
        return r;
}

static int executor_v2_3_add_environment(const struct kube_conf *c, struct spark_pod *pod, struct fst_error *error)
{
        _cleanup_(strmap_deinit) struct strmap environment = STRMAP_INIT;
        _cleanup_(string_list_deinit) struct string_list options = {0};
        _cleanup_free_ char *url = NULL;
        _cleanup_free_ char *memory = NULL;
        _cleanup_free_ char *cores = NULL;
        _cleanup_free_ char *class_path = NULL;
        int r = executor_v2_3_driver_url(c, &url, error);
        if (r == 0)
                r = kube_string(c, "spark.executor.memory", &memory, error);
        if (r == 0)
                r = kube_string(c, "spark.executor.cores", &cores, error);
        if (r == 0)
                r = kube_string(c, "spark.executor.extraClassPath", &class_path, error);
        if (r == 0)
                r = java_options_read(c, &options, error);
        if (r < 0)
                return r;
        pod_add_env(pod, "SPARK_DRIVER_URL", url);
        pod_add_env(pod, "SPARK_EXECUTOR_CORES", cores);
        pod_add_env(pod, "SPARK_EXECUTOR_MEMORY", memory);
        pod_add_env(pod, "SPARK_APPLICATION_ID", c->resumed_app_id ? c->resumed_app_id : c->app_id);
        pod_add_env(pod, "SPARK_EXECUTOR_ID", c->executor_id);
        kube_environment(c, &environment);
        for (struct strmap_entry *e = NULL; (e = strmap_next(&environment, e));)
                pod_add_env(pod, e->key, e->value);
        pod_add_field_env(pod, "SPARK_EXECUTOR_POD_IP", "status.podIP");
        java_options_put(&options, pod);
        pod_add_env(pod, "SPARK_CLASSPATH", class_path);
        pod_add_env(pod, "_SPARK_AUTH_SECRET", c->secret);
        return 0;
}

static int executor_v2_3_configure_container(const struct kube_conf *c, struct spark_pod *pod, struct fst_error *error)
{
        _cleanup_free_ char *limit = NULL;
        _cleanup_free_ char *cores = NULL;
        struct classic_memory memory;
        int64_t port;
        int r = pod_put_container(c, pod, "executor", error);
        json_object_del(pod->container, "securityContext");
        if (r == 0)
                r = executor_v2_3_add_environment(c, pod, error);
        if (r == 0)
                r = classic_memory_read(c, &memory, error);
        if (r == 0)
                r = kube_string(c, "spark.executor.cores", &cores, error);
        if (r == 0)
                r = kube_string(c, "spark.kubernetes.executor.limit.cores", &limit, error);
        if (r == 0 && limit)
                r = quantity_check(limit, error);
        if (r == 0)
                r = kube_number(c, "spark.blockManager.port", KUBE_BLOCK_MANAGER_PORT, &port, error);
        if (r < 0)
                return r;
        classic_resources_put(pod, cores, limit, &memory);
        pod_add_port(pod, "blockmanager", port, NULL);
        pod_add_argument(pod, "executor");
        return 0;
}

static int executor_v2_3_configure(const struct kube_conf *c, struct spark_pod *pod, struct fst_error *error)
{
        _cleanup_free_ char *name = mem_printf("%s-exec-%s", c->prefix, c->executor_id);
        size_t n = strlen(name);
        int r = executor_v2_3_configure_container(c, pod, error);
        if (r < 0)
                return r;
        kube_put(pod_metadata(pod), "name", name);
        kube_set_executors_owner(pod->pod, c);
        kube_put(pod_spec(pod), "hostname", name + (n > MAX_KUBE_LABEL ? n - MAX_KUBE_LABEL : 0));
        kube_put(pod_spec(pod), "restartPolicy", "Never");
        return pod_put_common(c, pod, error);
}

const struct feature_step classic_executor_step = {
        .class_name = "org.apache.spark.scheduler.cluster.k8s.ExecutorPodFactory",
        .configure = executor_v2_3_configure,
};
