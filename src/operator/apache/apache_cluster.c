/* See apache_cluster.h. */
#include "operator/apache/apache_cluster.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "kubernetes/api/kube_names.h"
#include "kubernetes/pods/spark_pod.h"
#include "operator/apache/apache_objects.h"
#include "text/json.h"

#include <ctype.h>
#include <stdarg.h>

#define MAX_CLUSTER_NAME (63 - 11) /* "-master-svc" */
#define IMAGE_KEY "spark.kubernetes.container.image"
#define SHUFFLE_KEY "spark.shuffle.service.enabled"
#define SPARK_CLASS "/opt/spark/bin/spark-class"
#define MASTER_PORT 7077
#define MASTER_UI_PORT 8080
#define REST_PORT 6066
#define WORKER_UI_PORT 8081

/* ------------------------------------------------------------------------------------------------------------- read */

int apache_cluster_read(const json_t *object, struct apache_cluster *out, struct field_problems *problems,
                        struct fst_error *error)
{
        _cleanup_(field_problems_deinit) struct field_problems own = {0};
        struct field_problems *found = problems ? problems : &own;
        *out = (struct apache_cluster){0};
        int r = apache_check_object(object, "SparkCluster", &apache_cluster_fields, found, error);
        if (r < 0)
                return r;
        const char *namespace = json_text_at(object, "metadata.namespace");
        out->object = json_incref((json_t *)object);
        out->namespace = namespace ? namespace : "default";
        out->name = json_text_or_empty(object, "metadata.name");
        out->uid = json_text_or_empty(object, "metadata.uid");
        field_read(&apache_cluster_fields, json_object_get(object, "spec"), &out->spec);
        return 0;
}

void apache_cluster_deinit(struct apache_cluster *cluster)
{
        json_decref(cluster->object);
        *cluster = (struct apache_cluster){0};
}

/* Its services need a label of DNS, which begins with a letter and has no dot. */
static bool cluster_name_is_valid(const char *name)
{
        size_t n = strlen(name);
        bool good = n > 0 && n <= MAX_CLUSTER_NAME && islower((unsigned char)*name);
        for (size_t i = 0; i < n; i++)
                good = good && (islower((unsigned char)name[i]) || isdigit((unsigned char)name[i]) || name[i] == '-');
        return good;
}

static const char *cluster_conf(const struct apache_cluster *c, const char *key)
{
        return json_string_value(json_object_get(c->spec.spark_conf, key));
}

int apache_cluster_validate(const struct apache_cluster *c, struct fst_error *error)
{
        const struct apache_worker_count_fields *w = &c->spec.tolerations.workers;
        const char *image = cluster_conf(c, IMAGE_KEY);
        if (!cluster_name_is_valid(c->name))
                return error_set(error, -EINVAL,
                                 "metadata.name: \"%s\" does not fit the names of services: use at most %d lower-case "
                                 "letters, digits and dashes, and a letter first",
                                 c->name, MAX_CLUSTER_NAME);
        if (w->min.value < 0 || w->init.value < 0 || w->max.value > INT32_MAX || w->init.value > INT32_MAX ||
            w->min.value > w->max.value)
                return error_set(error, -EINVAL,
                                 "spec.clusterTolerations.instanceConfig: minWorkers %lld, initWorkers %lld and "
                                 "maxWorkers %lld are not in order, from 0 on",
                                 (long long)w->min.value, (long long)w->init.value, (long long)w->max.value);
        if (!image || !*image)
                return error_set(error, -EINVAL, "spec.sparkConf: set " IMAGE_KEY ", the image of master and workers");
        return 0;
}

/* ---------------------------------------------------------------------------------------------------------- objects */

struct cluster_role {
        const char *role;    /* the label spark-role, and the container */
        const char *options; /* the variable of its daemon's settings */
        const char *host;    /* the variable of its own address */
        const struct apache_role_fields *fields;
        json_int_t replicas;
};

/* Returns "-Dkey=\"value\" …" for the daemons. The caller owns it. */
static char *cluster_options(const struct apache_cluster *c)
{
        struct buf out = BUF_INIT;
        const char *key;
        json_t *value;
        if (!cluster_conf(c, SHUFFLE_KEY)) /* so that applications may have dynamic allocation */
                buf_puts(&out, "-D" SHUFFLE_KEY "=\"true\" ");
        json_object_foreach((json_t *)c->spec.spark_conf, key, value) {
                buf_printf(&out, "-D%s=\"", key);
                for (const char *v = json_string_value(value); v && *v; v++) {
                        if (*v == '"' || *v == '\\')
                                buf_putc(&out, '\\');
                        buf_putc(&out, *v);
                }
                buf_puts(&out, "\" ");
        }
        return buf_steal(&out);
}

/* Sets labels that say whose an object is, its owner and its namespace. */
static void cluster_mark(const struct apache_cluster *c, json_t *object, const char *role)
{
        json_t *metadata = kube_child(object, "metadata"), *labels = kube_child(metadata, "labels");
        kube_put(metadata, "namespace", c->namespace);
        kube_put(labels, APACHE_LABEL_OPERATOR, APACHE_OPERATOR_NAME);
        kube_put(labels, APACHE_LABEL_CLUSTER, c->name);
        kube_put(labels, "spark-version", c->spec.versions.spark);
        kube_put(labels, KUBE_LABEL_ROLE, role);
        json_object_set_new(metadata, "ownerReferences",
                            json_pack("[{s:s,s:s,s:s,s:s,s:b}]", "apiVersion", APACHE_API, "kind", "SparkCluster",
                                      "name", c->name, "uid", c->uid, "blockOwnerDeletion", 1));
}

/* Returns an object with copies of @metadata and @spec, which may be NULL, and the name. */
static json_t *cluster_object(const struct apache_cluster *c, const char *api, const char *kind, const json_t *metadata,
                              const json_t *spec, const char *role, const char *format, ...)
        __attribute__((format(printf, 7, 8)));

static json_t *cluster_object(const struct apache_cluster *c, const char *api, const char *kind, const json_t *metadata,
                              const json_t *spec, const char *role, const char *format, ...)
{
        _cleanup_(buf_deinit) struct buf name = BUF_INIT;
        json_t *object = json_pack("{s:s,s:s,s:o,s:o}", "apiVersion", api, "kind", kind, "metadata",
                                   metadata ? json_deep_copy(metadata) : json_object(), "spec",
                                   spec ? json_deep_copy(spec) : json_object());
        va_list args;
        va_start(args, format);
        buf_vprintf(&name, format, args);
        va_end(args);
        kube_put(json_object_get(object, "metadata"), "name", buf_text(&name));
        cluster_mark(c, object, role);
        return object;
}

static json_t *cluster_pod_labels(const struct apache_cluster *c, const char *role)
{
        return json_pack("{s:s,s:s}", APACHE_LABEL_CLUSTER, c->name, KUBE_LABEL_ROLE, role);
}

static void cluster_add_port(json_t *ports, const char *member, const char *name, int port)
{
        json_t *one = json_pack("{s:s,s:i}", "name", name, member, port);
        if (strcmp(member, "port") == 0)
                json_object_set_new(one, "targetPort", json_string(name));
        json_array_append_new(ports, one);
}

/* @member: "port" of a service, "containerPort" of a container. */
static void cluster_add_ports(json_t *ports, const char *member, bool master)
{
        cluster_add_port(ports, member, "web", master ? MASTER_UI_PORT : WORKER_UI_PORT);
        if (!master)
                return;
        cluster_add_port(ports, member, "spark", MASTER_PORT);
        cluster_add_port(ports, member, "rest", REST_PORT);
}

static json_t *cluster_service(const struct apache_cluster *c, const struct cluster_role *r)
{
        json_t *service = cluster_object(c, "v1", "Service", r->fields->service_metadata, r->fields->service_spec,
                                         r->role, "%s-%s-svc", c->name, r->role);
        json_t *spec = json_object_get(service, "spec"), *labels = cluster_pod_labels(c, r->role);
        kube_put(spec, "clusterIP", "None");
        json_object_update(kube_child(spec, "selector"), labels);
        cluster_add_ports(kube_children(spec, "ports"), "port", strcmp(r->role, "master") == 0);
        json_decref(labels);
        return service;
}

/* Returns the container of the role, which is added unless the template has it. Borrowed. */
static json_t *cluster_container(json_t *pod_spec, const char *name)
{
        json_t *containers = kube_children(pod_spec, "containers"), *found = json_find_named(containers, name);
        if (!found) {
                found = json_pack("{s:s}", "name", name);
                json_array_append_new(containers, found);
        }
        return found;
}

static void cluster_add_env(json_t *container, const char *name, const char *value)
{
        json_array_append_new(kube_children(container, "env"), json_pack("{s:s,s:s}", "name", name, "value", value));
}

static void cluster_fill_container(const struct apache_cluster *c, const struct cluster_role *r, json_t *container)
{
        _cleanup_free_ char *options = cluster_options(c), *image = NULL;
        bool master = strcmp(r->role, "master") == 0;
        image = apache_image_of_version(cluster_conf(c, IMAGE_KEY), c->spec.versions.spark);
        kube_put(container, "image", image);
        cluster_add_env(container, r->options, options);
        json_array_append_new(
                kube_children(container, "env"),
                json_pack("{s:s,s:{s:{s:s}}}", "name", r->host, "valueFrom", "fieldRef", "fieldPath", "status.podIP"));
        if (master) {
                json_object_set_new(container, "command",
                                    json_pack("[s,s,s,s,s,s]", SPARK_CLASS, "org.apache.spark.deploy.master.Master",
                                              "--port", "7077", "--webui-port", "8080"));
        } else {
                _cleanup_free_ char *url = mem_printf("spark://%s-master-svc:%d", c->name, MASTER_PORT);
                json_object_set_new(container, "command",
                                    json_pack("[s,s,s,s,s]", SPARK_CLASS, "org.apache.spark.deploy.worker.Worker",
                                              "--webui-port", "8081", url));
        }
        json_object_del(container, "args");
        cluster_add_ports(kube_children(container, "ports"), "containerPort", master);
}

/* Containers may not gain privileges, unless the template says so. */
static void cluster_secure(json_t *containers)
{
        json_t *container;
        size_t i;
        json_array_foreach(containers, i, container) {
                if (!json_is_object(container)) /* the API server refuses it */
                        continue;
                json_t *context = kube_child(container, "securityContext");
                if (!json_is_boolean(json_object_get(context, "allowPrivilegeEscalation")))
                        json_object_set_new(context, "allowPrivilegeEscalation", json_false());
        }
}

static json_t *cluster_stateful_set(const struct apache_cluster *c, const struct cluster_role *r)
{
        json_t *set = cluster_object(c, "apps/v1", "StatefulSet", r->fields->set_metadata, r->fields->set_spec, r->role,
                                     "%s-%s", c->name, r->role);
        json_t *spec = json_object_get(set, "spec"), *labels = cluster_pod_labels(c, r->role);
        json_t *template = kube_child(spec, "template"), *pod = kube_child(template, "spec");
        json_t *pod_labels = kube_child(kube_child(template, "metadata"), "labels");
        const char *scheduler = cluster_conf(c, "spark.kubernetes.scheduler.name");
        _cleanup_free_ char *service = mem_printf("%s-%s-svc", c->name, r->role);
        kube_put(spec, "podManagementPolicy", "Parallel");
        kube_put(spec, "serviceName", service);
        json_object_set_new(spec, "replicas", json_integer(r->replicas));
        json_object_update(kube_child(kube_child(spec, "selector"), "matchLabels"), labels);
        json_object_update(pod_labels, labels);
        kube_put(pod_labels, APACHE_LABEL_OPERATOR, APACHE_OPERATOR_NAME);
        kube_put(pod_labels, "spark-version", c->spec.versions.spark);
        kube_put(pod, "schedulerName", scheduler ? scheduler : "default-scheduler");
        json_object_set_new(pod, "terminationGracePeriodSeconds", json_integer(0));
        cluster_fill_container(c, r, cluster_container(pod, r->role));
        cluster_secure(json_object_get(pod, "initContainers"));
        cluster_secure(json_object_get(pod, "containers"));
        json_decref(labels);
        return set;
}

/* Admits the cluster's own pods and drivers to workers. */
static json_t *cluster_policy(const struct apache_cluster *c)
{
        json_t *spec =
                json_pack("{s:{s:o},s:[{s:[{s:{s:{s:s}}},{s:{s:{s:s}}}]}]}", "podSelector", "matchLabels",
                          cluster_pod_labels(c, "worker"), "ingress", "from", "podSelector", "matchLabels",
                          APACHE_LABEL_CLUSTER, c->name, "podSelector", "matchLabels", KUBE_LABEL_ROLE, "driver");
        json_t *policy =
                cluster_object(c, "networking.k8s.io/v1", "NetworkPolicy", NULL, spec, NULL, "%s-worker", c->name);
        json_decref(spec);
        return policy;
}

/* Without a spec of the user: 30 % of the workers' CPU, one worker more a minute, one less in ten. */
static json_t *cluster_autoscaler(const struct apache_cluster *c)
{
        const struct apache_worker_count_fields *w = &c->spec.tolerations.workers;
        _cleanup_free_ char *target = mem_printf("%s-worker", c->name);
        json_t *defaults =
                json_pack("{s:[{s:s,s:{s:s,s:s,s:{s:s,s:i}}}],s:{s:{s:[{s:s,s:i,s:i}]},s:{s:[{s:s,s:i,s:i}]}}}",
                          "metrics", "type", "ContainerResource", "containerResource", "name", "cpu", "container",
                          "worker", "target", "type", "Utilization", "averageUtilization", 30, "behavior", "scaleUp",
                          "policies", "type", "Pods", "value", 1, "periodSeconds", 60, "scaleDown", "policies", "type",
                          "Pods", "value", 1, "periodSeconds", 600);
        const json_t *own = c->spec.worker.autoscaler;
        json_t *scaler = cluster_object(c, "autoscaling/v2", "HorizontalPodAutoscaler", NULL, own ? own : defaults,
                                        NULL, "%s-worker-hpa", c->name);
        json_t *spec = json_object_get(scaler, "spec");
        json_object_set_new(spec, "scaleTargetRef",
                            json_pack("{s:s,s:s,s:s}", "apiVersion", "apps/v1", "kind", "StatefulSet", "name", target));
        json_object_set_new(spec, "minReplicas", json_integer(w->min.value));
        json_object_set_new(spec, "maxReplicas", json_integer(w->max.value));
        json_decref(defaults);
        return scaler;
}

static json_t *cluster_budget(const struct apache_cluster *c)
{
        json_t *spec = json_pack("{s:i,s:{s:o}}", "minAvailable", 1, "selector", "matchLabels",
                                 cluster_pod_labels(c, "worker"));
        json_t *budget =
                cluster_object(c, "policy/v1", "PodDisruptionBudget", NULL, spec, NULL, "%s-worker-pdb", c->name);
        json_decref(spec);
        return budget;
}

json_t *apache_cluster_objects(const struct apache_cluster *c)
{
        const struct apache_worker_count_fields *w = &c->spec.tolerations.workers;
        const struct cluster_role roles[] = {
                {"master", "SPARK_MASTER_OPTS", "SPARK_MASTER_HOST", &c->spec.master, 1},
                {"worker", "SPARK_WORKER_OPTS", "SPARK_LOCAL_IP", &c->spec.worker, w->init.value},
        };
        json_t *objects = json_array();
        for (size_t i = 0; i < ARRAY_SIZE(roles); i++)
                json_array_append_new(objects, cluster_service(c, &roles[i]));
        for (size_t i = 0; i < ARRAY_SIZE(roles); i++)
                json_array_append_new(objects, cluster_stateful_set(c, &roles[i]));
        json_array_append_new(objects, cluster_policy(c));
        if (w->min.value < w->max.value)
                json_array_append_new(objects, cluster_autoscaler(c));
        if (w->min.value >= 1)
                json_array_append_new(objects, cluster_budget(c));
        return objects;
}
