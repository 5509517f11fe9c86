/* See resource_quota.h. */
#include "operator/webhook/resource_quota.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "kubernetes/api/quantity.h"
#include "operator/render/application_demand.h"
#include "operator/resources/application_status.h"
#include "text/json.h"

enum quota_unit { QUOTA_CORES, QUOTA_BYTES, QUOTA_COUNT };

/* The resources of a quota, and what an application adds to each. */
static const struct {
        const char *name;
        enum quota_unit unit;
        size_t demand; /* offset of an int64_t */
} quota_resources[] = {
        {"cpu", QUOTA_CORES, offsetof(struct application_demand, milli_cores)},
        {"requests.cpu", QUOTA_CORES, offsetof(struct application_demand, milli_cores)},
        {"limits.cpu", QUOTA_CORES, offsetof(struct application_demand, milli_core_limit)},
        {"memory", QUOTA_BYTES, offsetof(struct application_demand, bytes)},
        {"requests.memory", QUOTA_BYTES, offsetof(struct application_demand, bytes)},
        {"limits.memory", QUOTA_BYTES, offsetof(struct application_demand, bytes)},
        {"pods", QUOTA_COUNT, offsetof(struct application_demand, pods)},
        {"count/pods", QUOTA_COUNT, offsetof(struct application_demand, pods)},
};

bool resource_quota_concerns(const json_t *request)
{
        const char *operation = json_text_or_empty(request, "operation");
        const json_t *object = json_object_get(request, "object"), *old = json_object_get(request, "oldObject");
        const json_t *spec = json_object_get(object, "spec");
        if (strcmp(json_text_or_empty(request, "kind.group"), OPERATOR_GROUP) != 0 ||
            strcmp(json_text_or_empty(object, "kind"), "SparkApplication") != 0 ||
            json_at(object, "metadata.deletionTimestamp") || json_is_true(json_object_get(spec, "suspend")))
                return false;
        if (strcmp(operation, "CREATE") == 0)
                return true;
        return strcmp(operation, "UPDATE") == 0 && !json_equal(spec, json_object_get(old, "spec"));
}

static int quota_read_demand(const json_t *object, struct application_demand *out, struct fst_error *error)
{
        struct spark_application app;
        int r = spark_application_read(object, &app, NULL, error);
        if (r == 0)
                r = application_demand_read(&app, out, error);
        spark_application_deinit(&app);
        return r;
}

/* Whether the pods of the object count as used in the quotas. */
static bool quota_object_has_pods(const json_t *object)
{
        static const bool has_pods[N_APPLICATION_STATES] = {
                [APPLICATION_SUBMITTED] = true,
                [APPLICATION_RUNNING] = true,
                [APPLICATION_UNKNOWN] = true,
        };
        return has_pods[application_state_parse(json_text_at(object, "status.applicationState.state"))];
}

static char *quota_show(enum quota_unit unit, int64_t amount)
{
        return unit == QUOTA_CORES   ? quantity_of_cores(amount)
               : unit == QUOTA_BYTES ? quantity_of_bytes(amount)
                                     : mem_printf("%lld", (long long)amount);
}

/* Checks one resource of a quota, in its unit: thousandths of a core, bytes, pods. */
static int quota_check_resource(const json_t *quota, size_t k, int64_t wanted, struct fst_error *error)
{
        const char *name = quota_resources[k].name;
        const enum quota_unit unit = quota_resources[k].unit;
        const int places = unit == QUOTA_CORES ? 3 : 0;
        const char *limit = json_string_value(json_object_get(json_at(quota, "spec.hard"), name));
        const char *use = json_string_value(json_object_get(json_at(quota, "status.used"), name));
        int64_t hard, used = 0, sum;
        if (!limit || wanted <= 0 || quantity_read(limit, places, &hard, NULL) < 0 ||
            (use && quantity_read(use, places, &used, NULL) < 0))
                return 0; /* the API server refuses pods by a quota that this program cannot read */
        if (!__builtin_add_overflow(used, wanted, &sum) && sum <= hard)
                return 0;
        _cleanup_free_ char *wants = quota_show(unit, wanted);
        return error_set(error, -EDQUOT,
                         "failed to validate resource quota \"%s/%s\": %s is limited to %s, of which %s are used, and "
                         "the application requests %s: lower its cores, memory or instances, wait until others end, or "
                         "raise the quota",
                         json_text_or_empty(quota, "metadata.namespace"), json_text_or_empty(quota, "metadata.name"),
                         name, limit, use ? use : "0", wants);
}

static bool quota_has_scopes(const json_t *quota)
{
        return json_at(quota, "spec.scopeSelector") || json_array_size(json_at(quota, "spec.scopes")) > 0;
}

int resource_quota_check(const json_t *request, const json_t *quotas, struct fst_error *error)
{
        const json_t *old = json_object_get(request, "oldObject");
        struct application_demand demand, before = {0};
        int r = quota_read_demand(json_object_get(request, "object"), &demand, error);
        if (r < 0)
                return r;
        if (quota_object_has_pods(old) && quota_read_demand(old, &before, NULL) < 0)
                before = (struct application_demand){0};
        size_t i;
        const json_t *quota;
        json_array_foreach(quotas, i, quota) {
                for (size_t k = 0; !quota_has_scopes(quota) && r == 0 && k < ARRAY_SIZE(quota_resources); k++) {
                        size_t at = quota_resources[k].demand;
                        int64_t wanted = *(int64_t *)((char *)&demand + at) - *(int64_t *)((char *)&before + at);
                        r = quota_check_resource(quota, k, wanted, error);
                }
        }
        return r;
}
