/* The headless service through which executors find the driver (spark.driver.host). DriverServiceFeatureStep. */
#include "kubernetes/pods/feature_step.h"

#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "kubernetes/api/kube_names.h"
#include "kubernetes/conf/kube_settings.h"
#include "kubernetes/pods/pod_parts.h"

#include <errno.h>

#define SERVICE "spark.kubernetes.driver.service."

/* The service's ports. Unlike the pod's they ignore spark.blockManager.port. */
static int read_ports(const struct kube_conf *c, struct driver_ports *ports, struct fst_error *error)
{
        int r = driver_ports_read(c, ports, error);
        return r < 0 ? r
                     : kube_number(c, "spark.driver.blockManager.port", KUBE_BLOCK_MANAGER_PORT, &ports->block_manager,
                                   error);
}

static int driver_service_check(const struct kube_conf *c, struct fst_error *error)
{
        struct driver_ports ports;
        _cleanup_free_ char *policy = NULL;
        _cleanup_free_ char *families = NULL;
        bool early;
        if (conf_get_raw(c->conf, "spark.driver.bindAddress"))
                return error_set(error, -EINVAL,
                                 "requirement failed: spark.driver.bindAddress is not supported in Kubernetes mode, as "
                                 "the driver's bind address is managed and set to the driver pod's IP address.");
        if (conf_get_raw(c->conf, "spark.driver.host"))
                return error_set(error, -EINVAL,
                                 "requirement failed: spark.driver.host is not supported in Kubernetes mode, as the "
                                 "driver's hostname will be managed via a Kubernetes service.");
        int r = kube_string(c, SERVICE "ipFamilyPolicy", &policy, error);
        if (r == 0)
                r = kube_string(c, SERVICE "ipFamilies", &families, error);
        if (r == 0)
                r = kube_bool(c, SERVICE "publishNotReadyAddresses", &early, error);
        return r < 0 ? r : read_ports(c, &ports, error);
}

static int driver_service_properties(const struct kube_conf *c, struct strmap *out, struct fst_error *error)
{
        struct driver_ports ports;
        _cleanup_free_ char *namespace = NULL;
        int r = read_ports(c, &ports, error);
        if (r == 0)
                r = kube_string(c, "spark.kubernetes.namespace", &namespace, error);
        if (r < 0)
                return r;
        _cleanup_free_ char *host = mem_printf("%s.%s.svc", c->service_name, namespace);
        _cleanup_free_ char *port = mem_printf("%lld", (long long)ports.driver);
        _cleanup_free_ char *blocks = mem_printf("%lld", (long long)ports.block_manager);
        strmap_set(out, "spark.driver.host", host);
        strmap_set(out, "spark.driver.port", port);
        strmap_set(out, "spark.driver.blockManager.port", blocks);
        return 0;
}

static json_t *add_port(json_t *spec, const char *name, int64_t port)
{
        json_t *added =
                json_pack("{s:s,s:I,s:I}", "name", name, "port", (json_int_t)port, "targetPort", (json_int_t)port);
        json_array_append_new(kube_children(spec, "ports"), added);
        return added;
}

static int put_metadata(const struct kube_conf *c, json_t *metadata)
{
        _cleanup_(strmap_deinit) struct strmap annotations = STRMAP_INIT, labels = STRMAP_INIT;
        kube_pairs(c, SERVICE "annotation.", &annotations);
        kube_pairs(c, SERVICE "label.", &labels);
        kube_put(metadata, "name", c->service_name);
        kube_put_below(metadata, "annotations", &annotations);
        kube_put(kube_child(metadata, "labels"), KUBE_LABEL_APP_ID, c->app_id);
        kube_put_all(kube_child(metadata, "labels"), &labels);
        return 0;
}

static int put_spec(const struct kube_conf *c, json_t *spec, struct fst_error *error)
{
        struct driver_ports ports;
        _cleanup_(strmap_deinit) struct strmap labels = STRMAP_INIT;
        _cleanup_(string_list_deinit) struct string_list families = {0};
        _cleanup_free_ char *policy = NULL;
        bool early;
        int r = read_ports(c, &ports, error);
        if (r == 0)
                r = kube_string(c, SERVICE "ipFamilyPolicy", &policy, error);
        if (r == 0)
                r = kube_list(c, SERVICE "ipFamilies", &families, error);
        if (r == 0)
                r = kube_bool(c, SERVICE "publishNotReadyAddresses", &early, error);
        if (r == 0)
                r = kube_labels(c, &labels, error);
        if (r < 0)
                return r;
        kube_put(spec, "clusterIP", "None");
        json_object_set_new(spec, "publishNotReadyAddresses", json_boolean(early));
        kube_put(spec, "ipFamilyPolicy", policy);
        for (size_t i = 0; i < families.len; i++)
                json_array_append_new(kube_children(spec, "ipFamilies"), json_string(families.data[i]));
        kube_put_below(spec, "selector", &labels);
        add_port(spec, "driver-rpc-port", ports.driver);
        add_port(spec, "blockmanager", ports.block_manager);
        add_port(spec, "spark-ui", ports.ui);
        kube_put(add_port(spec, "spark-connect", ports.connect), "appProtocol", "grpc");
        return 0;
}

static int driver_service_resources(const struct kube_conf *c, json_t *out, struct fst_error *error)
{
        json_t *service = json_pack("{s:s,s:s,s:{},s:{}}", "apiVersion", "v1", "kind", "Service", "metadata", "spec");
        json_array_append_new(out, service);
        put_metadata(c, kube_child(service, "metadata"));
        return put_spec(c, kube_child(service, "spec"), error);
}

const struct feature_step driver_service_step = {
        .class_name = "org.apache.spark.deploy.k8s.features.DriverServiceFeatureStep",
        .check = driver_service_check,
        .properties = driver_service_properties,
        .resources = driver_service_resources,
};
