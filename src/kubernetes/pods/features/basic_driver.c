/*
 * The basic driver pod: name, labels, image, ports, user, memory and cores. Spark's BasicDriverFeatureStep. Local files
 * in spark.jars, spark.files, spark.archives and spark.submit.pyFiles are uploaded, and the driver gets their new URIs.
 */
#include "kubernetes/pods/feature_step.h"

#include "base/error.h"
#include "base/mem.h"
#include "kubernetes/conf/file_upload.h"
#include "kubernetes/conf/kube_settings.h"
#include "kubernetes/pods/pod_parts.h"
#include "kubernetes/api/quantity.h"
#include "kubernetes/pods/resource_request.h"

#define FACTOR "spark.kubernetes.memoryOverheadFactor"
#define DRIVER_FACTOR "spark.driver.memoryOverheadFactor"

struct driver_size {
        char *cores; /* requested cores */
        char *limit; /* NULL: none */
        int64_t memory;
        double default_factor; /* overhead factor of executors without their own */
};

static void size_deinit(struct driver_size *s)
{
        free(s->cores);
        free(s->limit);
}

static int read_cores(const struct kube_conf *c, struct driver_size *s, struct fst_error *error)
{
        int64_t cores;
        int r = kube_int(c, "spark.driver.cores", &cores, error);
        if (r == 0)
                r = kube_string(c, "spark.kubernetes.driver.request.cores", &s->cores, error);
        if (r == 0 && !s->cores)
                s->cores = mem_printf("%lld", (long long)cores);
        return r < 0 ? r : kube_string(c, "spark.kubernetes.driver.limit.cores", &s->limit, error);
}

static int basic_driver_read_memory(const struct kube_conf *c, struct driver_size *s, struct fst_error *error)
{
        int64_t memory, least, overhead;
        double factor = strtod(KUBE_NATIVE_OVERHEAD, NULL);
        int r = kube_mib(c, "spark.driver.memory", &memory, error);
        if (r == 0 && (c->language == KUBE_JAVA || kube_is_set(c, FACTOR)))
                r = kube_double(c, FACTOR, &factor, error);
        s->default_factor = factor;
        if (r == 0)
                r = kube_mib(c, "spark.driver.minMemoryOverhead", &least, error);
        if (r == 0 && kube_is_set(c, DRIVER_FACTOR))
                r = kube_double(c, DRIVER_FACTOR, &factor, error);
        if (r < 0)
                return r;
        if (kube_is_set(c, "spark.driver.memoryOverhead"))
                r = kube_mib(c, "spark.driver.memoryOverhead", &overhead, error);
        else
                overhead = MAX(overhead_part(factor, memory), least);
        if (r == 0)
                s->memory = memory + overhead;
        return r;
}

static int basic_driver_read_size(const struct kube_conf *c, struct driver_size *s, struct fst_error *error)
{
        int r = read_cores(c, s, error);
        return r < 0 ? r : basic_driver_read_memory(c, s, error);
}

static int basic_driver_check(const struct kube_conf *c, struct fst_error *error)
{
        _cleanup_(size_deinit) struct driver_size size = {0};
        _cleanup_free_ char *name = NULL;
        _cleanup_free_ char *image = NULL;
        bool escalation;
        int r = kube_driver_pod_name(c, &name, error);
        if (r == 0)
                r = kube_image(c, &image, error);
        if (r == 0)
                r = kube_bool(c, "spark.kubernetes.driver.securityContext.allowPrivilegeEscalation", &escalation,
                              error);
        return r < 0 ? r : basic_driver_read_size(c, &size, error);
}

static int add_ports(const struct kube_conf *c, struct spark_pod *pod, struct fst_error *error)
{
        struct driver_ports ports;
        int r = driver_ports_read(c, &ports, error);
        if (r < 0)
                return r;
        pod_add_port(pod, "driver-rpc-port", ports.driver, "TCP");
        pod_add_port(pod, "blockmanager", ports.block_manager, "TCP");
        pod_add_port(pod, "spark-ui", ports.ui, "TCP");
        pod_add_port(pod, "spark-connect", ports.connect, "TCP");
        return 0;
}

static void basic_driver_add_environment(const struct kube_conf *c, struct spark_pod *pod)
{
        _cleanup_(strmap_deinit) struct strmap environment = STRMAP_INIT;
        kube_environment(c, &environment);
        pod_add_env(pod, "SPARK_USER", c->proxy_user ? c->proxy_user : c->user);
        pod_add_env(pod, "SPARK_APPLICATION_ID", c->app_id);
        for (struct strmap_entry *e = NULL; (e = strmap_next(&environment, e));)
                pod_add_env(pod, e->key, e->value);
        pod_add_field_env(pod, "SPARK_DRIVER_BIND_ADDRESS", "status.podIP");
}

static int basic_driver_add_resources(const struct kube_conf *c, struct spark_pod *pod, struct fst_error *error)
{
        _cleanup_(size_deinit) struct driver_size size = {0};
        _cleanup_(strmap_deinit) struct strmap custom = STRMAP_INIT;
        int r = basic_driver_read_size(c, &size, error);
        if (r == 0)
                r = quantity_check(size.cores, error);
        if (r == 0 && size.limit)
                r = quantity_check(size.limit, error);
        if (r == 0)
                r = resource_requests_read(c, "spark.driver.resource.", &custom, error);
        if (r < 0)
                return r;
        _cleanup_free_ char *memory = mem_printf("%lldMi", (long long)size.memory);
        json_t *resources = kube_child(pod->container, "resources");
        json_t *requests = kube_child(resources, "requests"), *limits = kube_child(resources, "limits");
        kube_put(requests, "cpu", size.cores);
        kube_put(limits, "cpu", size.limit);
        kube_put(requests, "memory", memory);
        kube_put(limits, "memory", memory);
        kube_put_all(limits, &custom);
        return 0;
}

static int basic_driver_configure(const struct kube_conf *c, struct spark_pod *pod, struct fst_error *error)
{
        _cleanup_free_ char *name = NULL;
        int r = pod_put_container(c, pod, "spark-kubernetes-driver", error);
        if (r == 0)
                r = add_ports(c, pod, error);
        if (r < 0)
                return r;
        basic_driver_add_environment(c, pod);
        r = basic_driver_add_resources(c, pod, error);
        if (r == 0)
                r = kube_driver_pod_name(c, &name, error);
        if (r < 0)
                return r;
        kube_put(pod_metadata(pod), "name", name);
        kube_put(pod_spec(pod), "restartPolicy", "Never");
        return pod_put_common(c, pod, error);
}

static int basic_driver_properties(const struct kube_conf *c, struct strmap *out, struct fst_error *error)
{
        static const char *const files[] = {"spark.jars", "spark.files", "spark.archives", "spark.submit.pyFiles"};
        _cleanup_(size_deinit) struct driver_size size = {0};
        _cleanup_free_ char *name = NULL;
        int r = kube_driver_pod_name(c, &name, error);
        if (r == 0)
                r = basic_driver_read_size(c, &size, error);
        if (r < 0)
                return r;
        _cleanup_free_ char *factor = kube_show_double(size.default_factor);
        strmap_set(out, "spark.kubernetes.driver.pod.name", name);
        strmap_set(out, "spark.app.id", c->app_id);
        strmap_set(out, "spark.kubernetes.submitInDriver", "true");
        strmap_set(out, FACTOR, factor);
        for (size_t i = 0; r == 0 && i < ARRAY_SIZE(files); i++)
                r = file_upload_list(c, files[i], out, error);
        return r;
}

const struct feature_step basic_driver_step = {
        .class_name = "org.apache.spark.deploy.k8s.features.BasicDriverFeatureStep",
        .check = basic_driver_check,
        .configure = basic_driver_configure,
        .properties = basic_driver_properties,
};
