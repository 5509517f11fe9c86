/*
 * Support for Palantir's scheduler (k8s-spark-scheduler, `spark-scheduler`), which reserves room for a driver and its
 * executors together. Adds annotations to the driver pod with both sizes and the number of executors, one label to all
 * pods, and node selectors as affinity, in which that scheduler looks for the instance group.
 *
 * Runs for pods with that scheduler name, from spark.kubernetes.*.scheduler.name or a template. The user's values stay.
 * Differs from Spark, where users write all this into pod templates.
 */
#include "kubernetes/pods/feature_step.h"

#include "base/error.h"
#include "base/mem.h"
#include "kubernetes/pods/executor_resources.h"
#include "kubernetes/pods/gang_scheduling.h"
#include "kubernetes/conf/kube_settings.h"
#include "text/json.h"

#define SCHEDULER "spark-scheduler"
#define GPU "nvidia.com/gpu"

static bool has_spark_scheduler(struct spark_pod *pod)
{
        const char *name = json_text_at(pod_spec(pod), "schedulerName");
        return name && strcmp(name, SCHEDULER) == 0;
}

static const char *spark_scheduler_request_of(struct spark_pod *pod, const char *kind, const char *name)
{
        json_t *resources = json_object_get(pod->container, "resources");
        return json_string_value(json_object_get(json_object_get(resources, kind), name));
}

static void annotate_driver(struct spark_pod *pod, json_t *annotations)
{
        kube_put_new(annotations, "spark-driver-cpu", spark_scheduler_request_of(pod, "requests", "cpu"));
        kube_put_new(annotations, "spark-driver-mem", spark_scheduler_request_of(pod, "requests", "memory"));
        kube_put_new(annotations, "spark-driver-" GPU, spark_scheduler_request_of(pod, "limits", GPU));
}

static int annotate_executors(const struct kube_conf *c, json_t *annotations, struct fst_error *error)
{
        json_t *requests = NULL;
        int r = executor_requests_read(c, &requests, error);
        if (r < 0)
                return r;
        kube_put_new(annotations, "spark-executor-cpu", json_text_at(requests, "cpu"));
        kube_put_new(annotations, "spark-executor-mem", json_text_at(requests, "memory"));
        kube_put_new(annotations, "spark-executor-" GPU, json_string_value(json_object_get(requests, GPU)));
        json_decref(requests);
        return 0;
}

static int annotate_count(const struct kube_conf *c, json_t *annotations, struct fst_error *error)
{
        struct gang gang = {0};
        int64_t most = 0;
        bool dynamic = false;
        int r = gang_read(c->conf, &gang, error);
        if (r == 0)
                r = kube_bool(c, "spark.dynamicAllocation.enabled", &dynamic, error);
        if (r == 0)
                r = kube_int(c, "spark.dynamicAllocation.maxExecutors", &most, error);
        if (r < 0)
                return r;
        _cleanup_free_ char *least_text = mem_printf("%d", gang.executors);
        _cleanup_free_ char *most_text = mem_printf("%lld", (long long)most);
        if (!dynamic) {
                kube_put_new(annotations, "spark-executor-count", least_text);
                return 0;
        }
        kube_put_new(annotations, "spark-dynamic-allocation-enabled", "true");
        kube_put_new(annotations, "spark-dynamic-allocation-min-executor-count", least_text);
        kube_put_new(annotations, "spark-dynamic-allocation-max-executor-count", most_text);
        return 0;
}

static bool spark_scheduler_has_key(const json_t *expressions, const char *key)
{
        json_t *expression;
        size_t i;
        json_array_foreach((json_t *)expressions, i, expression) {
                const char *name = json_text_at(expression, "key");
                if (name && strcmp(name, key) == 0)
                        return true;
        }
        return false;
}

/* Terms are alternatives, so the selector goes into each. */
static void add_node_affinity(struct spark_pod *pod)
{
        const json_t *selectors = json_object_get(pod_spec(pod), "nodeSelector");
        if (json_object_size(selectors) == 0)
                return;
        json_t *node = kube_child(kube_child(pod_spec(pod), "affinity"), "nodeAffinity");
        json_t *required = kube_child(node, "requiredDuringSchedulingIgnoredDuringExecution");
        json_t *terms = kube_children(required, "nodeSelectorTerms"), *term, *value;
        const char *key;
        size_t i;
        if (json_array_size(terms) == 0)
                json_array_append_new(terms, json_object());
        json_array_foreach(terms, i, term) {
                json_t *expressions = kube_children(term, "matchExpressions");
                json_object_foreach((json_t *)selectors, key, value)
                        if (!spark_scheduler_has_key(expressions, key))
                                json_array_append_new(expressions, json_pack("{s:s,s:s,s:[O]}", "key", key, "operator",
                                                                             "In", "values", value));
        }
}

static int spark_scheduler_configure(const struct kube_conf *c, struct spark_pod *pod, struct fst_error *error)
{
        if (!has_spark_scheduler(pod))
                return 0;
        kube_put_new(kube_child(pod_metadata(pod), "labels"), "spark-app-id", c->app_id);
        add_node_affinity(pod);
        if (c->role == KUBE_EXECUTOR)
                return 0;
        json_t *annotations = kube_child(pod_metadata(pod), "annotations");
        annotate_driver(pod, annotations);
        int r = annotate_executors(c, annotations, error);
        return r < 0 ? r : annotate_count(c, annotations, error);
}

const struct feature_step spark_scheduler_step = {
        .class_name = "firesteel.SparkSchedulerFeatureStep",
        .configure = spark_scheduler_configure,
};
