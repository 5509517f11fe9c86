/*
 * Reads SparkApplications: version, defaults, struct.
 *
 * v1beta1 differs in a few fields. Its cores are fractions: they become whole cores, rounded up, and the fraction
 * becomes the request of cores that the pod makes.
 */
#include "operator/resources/spark_application.h"

#include "base/error.h"
#include "base/mem.h"
#include "text/json.h"

#include <math.h>
#include <xxhash.h>

/* --------------------------------------------------------------------------------------------------------- versions */

/* Replaces the fractional cores of @pod, which may be NULL. */
static void application_convert_cores(json_t *pod)
{
        const json_t *cores = json_object_get(pod, "cores");
        if (!json_is_number(cores))
                return;
        double number = json_number_value(cores);
        if (!(number > 0) || number > INT32_MAX)
                return; /* field_check reports it */
        if (number != floor(number) && !json_object_get(pod, "coreRequest")) {
                _cleanup_free_ char *request = mem_printf("%.0fm", ceil(number * 1000));
                json_object_set_new(pod, "coreRequest", json_string(request));
        }
        json_object_set_new(pod, "cores", json_integer((json_int_t)ceil(number)));
}

/* Moves what v1beta1 calls the security context of the pod. */
static void application_convert_security(json_t *pod)
{
        json_t *context = json_object_get(pod, "securityContext");
        if (!context)
                return;
        json_object_set(pod, "podSecurityContext", context);
        json_object_del(pod, "securityContext");
}

static void application_convert_v1beta1(json_t *object)
{
        json_t *spec = json_object_get(object, "spec");
        json_t *pods[] = {json_object_get(spec, "driver"), json_object_get(spec, "executor")};
        for (size_t i = 0; i < ARRAY_SIZE(pods); i++) {
                application_convert_cores(pods[i]);
                application_convert_security(pods[i]);
        }
        json_object_set_new(object, "apiVersion", json_string(OPERATOR_GROUP "/v1beta2"));
}

/* --------------------------------------------------------------------------------------------------------- defaults */

static void default_text(json_t *object, const char *name, const char *value)
{
        const json_t *present = json_object_get(object, name);
        if (json_is_object(object) && (!present || json_is_null(present)))
                json_object_set_new(object, name, json_string(value));
}

static void default_int(json_t *object, const char *name, int value)
{
        const json_t *present = json_object_get(object, name);
        if (json_is_object(object) && (!present || json_is_null(present)))
                json_object_set_new(object, name, json_integer(value));
}

static void default_pod(json_t *spec, const char *role, const char *cores_key, const char *memory_key)
{
        json_t *pod = json_object_get(spec, role);
        const json_t *conf = json_object_get(spec, "sparkConf");
        if (!json_object_get(conf, cores_key))
                default_int(pod, "cores", 1);
        if (!json_object_get(conf, memory_key))
                default_text(pod, "memory", "1g");
}

void spark_application_defaults(json_t *spec)
{
        json_t *policy = json_object_get(spec, "restartPolicy");
        json_t *dynamic = json_object_get(spec, "dynamicAllocation");
        const json_t *conf = json_object_get(spec, "sparkConf");
        if (!json_is_object(spec))
                return;
        default_text(spec, "type", "Scala");
        default_text(spec, "mode", "cluster");
        if (!policy || json_is_null(policy)) {
                policy = json_object();
                json_object_set_new(spec, "restartPolicy", policy);
        }
        default_text(policy, "type", "Never");
        if (strcmp(json_text_or_empty(policy, "type"), "Never") != 0) {
                default_int(policy, "onFailureRetryInterval", 5);
                default_int(policy, "onSubmissionFailureRetryInterval", 5);
        }
        default_pod(spec, "driver", "spark.driver.cores", "spark.driver.memory");
        default_pod(spec, "executor", "spark.executor.cores", "spark.executor.memory");
        if (!json_object_get(conf, "spark.executor.instances") && !json_is_true(json_object_get(dynamic, "enabled")))
                default_int(json_object_get(spec, "executor"), "instances", 1);
        if (json_is_object(dynamic) && !json_is_boolean(json_object_get(dynamic, "shuffleTrackingEnabled")))
                json_object_set_new(dynamic, "shuffleTrackingEnabled", json_true());
}

/* ------------------------------------------------------------------------------------------------------------- read */

static int application_check_kind(const json_t *object, bool *v1beta1, struct fst_error *error)
{
        const char *version = json_text_at(object, "apiVersion"), *kind = json_text_at(object, "kind");
        if (!kind || strcmp(kind, "SparkApplication") != 0)
                return error_set(error, -EINVAL, "the object has the kind \"%s\": a SparkApplication is needed",
                                 kind ? kind : "");
        *v1beta1 = version && strcmp(version, OPERATOR_GROUP "/v1beta1") == 0;
        if (!*v1beta1 && (!version || strcmp(version, OPERATOR_GROUP "/v1beta2") != 0))
                return error_set(error, -EINVAL,
                                 "SparkApplication has the version \"%s\": use " OPERATOR_GROUP "/v1beta2 (or v1beta1)",
                                 version ? version : "");
        if (!json_is_object(json_object_get(object, "spec")))
                return error_set(error, -EINVAL, "the SparkApplication has no spec");
        return 0;
}

int spark_application_read(const json_t *object, struct spark_application *out, struct field_problems *problems,
                           struct fst_error *error)
{
        _cleanup_(field_problems_deinit) struct field_problems own = {0};
        struct field_problems *found = problems ? problems : &own;
        bool v1beta1 = false;
        *out = (struct spark_application){0};
        int r = application_check_kind(object, &v1beta1, error);
        if (r < 0)
                return r;
        field_check(&spark_application_fields, "spec", json_object_get(object, "spec"), v1beta1, found);
        const struct field_problem *fatal = field_problems_fatal(found);
        if (fatal)
                return error_set(error, -EINVAL, "%s", fatal->message);
        out->object = json_deep_copy(object);
        out->spec_hash = spark_spec_hash(json_object_get(object, "spec"));
        if (v1beta1)
                application_convert_v1beta1(out->object);
        spark_application_defaults(json_object_get(out->object, "spec"));
        const json_t *metadata = json_object_get(out->object, "metadata");
        const char *namespace = json_text_at(metadata, "namespace");
        out->namespace = namespace ? namespace : "default";
        out->name = json_text_or_empty(metadata, "name");
        out->uid = json_text_or_empty(metadata, "uid");
        out->labels = json_object_get(metadata, "labels");
        field_read(&spark_application_fields, json_object_get(out->object, "spec"), &out->spec);
        return 0;
}

void spark_application_deinit(struct spark_application *app)
{
        json_decref(app->object);
        *app = (struct spark_application){0};
}

char *spark_application_driver_pod(const struct spark_application *app)
{
        const char *conf = json_string_value(json_object_get(app->spec.spark_conf, "spark.kubernetes.driver.pod.name"));
        const char *own = app->spec.driver.pod_name;
        if (own && *own)
                return mem_strdup(own);
        return conf && *conf ? mem_strdup(conf) : mem_printf("%s-driver", app->name);
}

/* ------------------------------------------------------------------------------------------------------------- hash */

static uint64_t spec_hash_value(const json_t *json, bool outermost);

/* The sum of the members' hashes does not depend on their order. */
static uint64_t spec_hash_object(const json_t *json, bool outermost)
{
        uint64_t sum = 1;
        const char *key;
        json_t *value;
        json_object_foreach((json_t *)json, key, value) {
                if (json_is_null(value) ||
                    (outermost && (strcmp(key, "suspend") == 0 || strcmp(key, "timeToLiveSeconds") == 0)))
                        continue;
                sum += XXH3_64bits_withSeed(key, strlen(key), spec_hash_value(value, false));
        }
        return sum;
}

static uint64_t spec_hash_value(const json_t *json, bool outermost)
{
        if (json_is_object(json))
                return spec_hash_object(json, outermost);
        if (!json) /* an object without a spec */
                return 0;
        uint64_t hash = (uint64_t)json_typeof(json) + 2;
        if (json_is_array(json)) {
                json_t *value;
                size_t i;
                json_array_foreach((json_t *)json, i, value) {
                        uint64_t element = spec_hash_value(value, false);
                        hash = XXH3_64bits_withSeed(&element, sizeof(element), hash);
                }
                return hash;
        }
        if (json_is_string(json))
                return XXH3_64bits_withSeed(json_string_value(json), json_string_length(json), hash);
        double number = json_number_value(json);
        return json_is_number(json) ? XXH3_64bits_withSeed(&number, sizeof(number), 0) : hash;
}

uint64_t spark_spec_hash(const json_t *spec)
{
        uint64_t hash = spec_hash_value(spec, true);
        return hash ? hash : 1;
}
