/* Adds gang scheduling to pods of Volcano and YuniKorn. */
#include "kubernetes/pods/gang_scheduling.h"

#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "kubernetes/pods/executor_resources.h"
#include "kubernetes/executors/executor_pods_conf.h"
#include "kubernetes/conf/kube_conf.h"
#include "kubernetes/api/quantity.h"
#include "text/json.h"

#include <string.h>

#define GANG "spark.firesteel.kubernetes.gang."
#define YUNIKORN "yunikorn.apache.org/"
#define DRIVERS "spark-driver"
#define EXECUTORS "spark-executor"

static int read_least(const struct fst_conf *conf, int *out, struct fst_error *error)
{
        int64_t least;
        bool dynamic;
        int r = conf_get_bool(conf, "spark.dynamicAllocation.enabled", &dynamic, error);
        if (r || !dynamic)
                return r ? r : executor_instances_read(conf, out, error);
        r = conf_get_int(conf, "spark.dynamicAllocation.minExecutors", &least, error);
        if (r == 0)
                *out = (int)MAX(MIN(least, (int64_t)INT32_MAX), (int64_t)0);
        return r;
}

int gang_read(const struct fst_conf *conf, struct gang *out, struct fst_error *error)
{
        int r = conf_get_bool(conf, GANG "enabled", &out->wanted, error);
        if (r == 0)
                r = conf_get_ms(conf, GANG "timeout", &out->timeout_ms, error);
        return r ? r : read_least(conf, &out->executors, error);
}

/* --------------------------------------------------------------------------------------------------- quantities */

static int add_amount(json_t *sum, const char *name, const char *amount, int times, struct fst_error *error)
{
        const int places = strcmp(name, "cpu") == 0 ? 3 : 0;
        const char *before = json_string_value(json_object_get(sum, name));
        int64_t a = 0, b;
        int r = quantity_read(amount, places, &b, error);
        if (r == 0 && before)
                r = quantity_read(before, places, &a, error);
        if (r)
                return error_wrap(error, r, "%s", name);
        long long all;
        if (__builtin_mul_overflow(b, times, &all) || __builtin_add_overflow(a, all, &all))
                all = INT64_MAX; /* saturated by quantity_read: no cluster has that much */
        _cleanup_free_ char *text = mem_printf(places ? "%lldm" : "%lld", all);
        kube_put(sum, name, text);
        return 0;
}

/* Adds @requests to @sum the given number of times. */
static int add_amounts(json_t *sum, json_t *requests, int times, struct fst_error *error)
{
        const char *name;
        json_t *amount;
        int r = 0;
        json_object_foreach(requests, name, amount)
                if (r == 0 && json_is_string(amount))
                        r = add_amount(sum, name, json_string_value(amount), times, error);
        return r;
}

static json_t *requests_of(struct spark_pod *pod)
{
        return kube_child(kube_child(pod->container, "resources"), "requests");
}

/* ------------------------------------------------------------------------------------------------------ schedulers */

static json_t *task_group(const char *name, int members, json_t *requests)
{
        return json_pack("{s:s, s:i, s:O}", "name", name, "minMember", members, "minResource", requests);
}

static int put_yunikorn(const struct kube_conf *c, const struct gang *gang, struct spark_pod *pod,
                        struct fst_error *error)
{
        json_t *annotations = kube_child(pod_metadata(pod), "annotations"), *executor = NULL;
        kube_put_new(annotations, YUNIKORN "app-id", c->app_id);
        kube_put_new(annotations, YUNIKORN "task-group-name", c->role == KUBE_DRIVER ? DRIVERS : EXECUTORS);
        if (c->role != KUBE_DRIVER)
                return 0;
        int r = executor_requests_read(c, &executor, error);
        if (r)
                return r;
        json_t *groups = json_pack("[o, o]", task_group(DRIVERS, 1, requests_of(pod)),
                                   task_group(EXECUTORS, gang->executors, executor));
        _cleanup_free_ char *text = json_dumps(groups, JSON_COMPACT | JSON_SORT_KEYS);
        _cleanup_free_ char *style =
                mem_printf("placeholderTimeoutInSeconds=%lld gangSchedulingStyle=Hard",
                           (long long)(gang->timeout_ms ? MAX(gang->timeout_ms / 1000, 1) : INT32_MAX));
        kube_put_new(annotations, YUNIKORN "task-groups", text);
        kube_put_new(annotations, YUNIKORN "schedulingPolicyParameters", style);
        json_decref(groups);
        json_decref(executor);
        return 0;
}

static json_t *find_group(json_t *objects)
{
        json_t *object;
        size_t i;
        json_array_foreach(objects, i, object) {
                const char *kind = json_text_at(object, "kind");
                if (kind && strcmp(kind, "PodGroup") == 0)
                        return object;
        }
        return NULL;
}

/* minMember stays 1: the executors exist only after the driver has started. */
static int put_volcano(const struct kube_conf *c, const struct gang *gang, struct spark_pod *pod, json_t *group,
                       struct fst_error *error)
{
        json_t *spec = kube_child(group, "spec"), *executor = NULL;
        if (!json_object_get(spec, "minMember"))
                json_object_set_new(spec, "minMember", json_integer(1));
        if (json_object_get(spec, "minResources"))
                return 0;
        json_t *sum = kube_child(spec, "minResources");
        int r = executor_requests_read(c, &executor, error);
        if (r == 0)
                r = add_amounts(sum, requests_of(pod), 1, error);
        if (r == 0)
                r = add_amounts(sum, executor, gang->executors, error);
        json_decref(executor);
        return r;
}

int gang_put(const struct kube_conf *c, struct spark_pod *pod, json_t *pre_resources, struct fst_error *error)
{
        struct gang gang;
        const char *scheduler = json_text_at(pod_spec(pod), "schedulerName");
        int r = gang_read(c->conf, &gang, error);
        if (r || !gang.wanted || !scheduler)
                return r;
        if (strcmp(scheduler, "yunikorn") == 0)
                return put_yunikorn(c, &gang, pod, error);
        if (strcmp(scheduler, "volcano") != 0 || c->role != KUBE_DRIVER)
                return 0;
        json_t *group = find_group(pre_resources);
        if (!group)
                return error_set(error, -EINVAL,
                                 GANG
                                 "enabled is true and the scheduler is volcano, but the driver has no pod group: set "
                                 "spark.kubernetes.driver.pod.featureSteps and spark.kubernetes.executor.pod."
                                 "featureSteps to org.apache.spark.deploy.k8s.features.VolcanoFeatureStep");
        return put_volcano(c, &gang, pod, group, error);
}
