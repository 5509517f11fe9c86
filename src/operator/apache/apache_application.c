/* Reads and checks SparkApplications of spark.apache.org. */
#include "operator/apache/apache_application.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "operator/resources/operator_files.h"
#include "text/json.h"

#include <ctype.h>
#include <xxhash.h>

#define MAX_NAME 63 /* of a label's value */
#define MAX_ID 46   /* so that the name of the driver's service is a DNS label */
#define HASH_DIGITS 32

/* ------------------------------------------------------------------------------------------------------------- read */

bool apache_group_has(const json_t *object)
{
        return text_starts_with(json_text_or_empty(object, "apiVersion"), APACHE_GROUP "/");
}

int apache_check_object(const json_t *object, const char *kind, const struct field_table *fields,
                        struct field_problems *problems, struct fst_error *error)
{
        const char *version = json_text_or_empty(object, "apiVersion"), *found = json_text_or_empty(object, "kind");
        const json_t *spec = json_object_get(object, "spec");
        if (strcmp(found, kind) != 0)
                return error_set(error, -EINVAL, "the object has the kind \"%s\": a %s is needed", found, kind);
        if (strcmp(version, APACHE_API) != 0 && strcmp(version, APACHE_API "beta1") != 0)
                return error_set(error, -EINVAL, "%s has the version \"%s\": use " APACHE_API " (or v1beta1)", kind,
                                 version);
        if (!json_is_object(spec))
                return error_set(error, -EINVAL, "the %s has no spec", kind);
        field_check(fields, "spec", spec, false, problems);
        const struct field_problem *fatal = field_problems_fatal(problems);
        return fatal ? error_set(error, -EINVAL, "%s", fatal->message) : 0;
}

int apache_application_read(const json_t *object, struct apache_application *out, struct field_problems *problems,
                            struct fst_error *error)
{
        _cleanup_(field_problems_deinit) struct field_problems own = {0};
        struct field_problems *found = problems ? problems : &own;
        *out = (struct apache_application){0};
        int r = apache_check_object(object, "SparkApplication", &apache_application_fields, found, error);
        if (r < 0)
                return r;
        const char *namespace = json_text_at(object, "metadata.namespace");
        out->object = json_incref((json_t *)object);
        out->namespace = namespace ? namespace : "default";
        out->name = json_text_or_empty(object, "metadata.name");
        out->uid = json_text_or_empty(object, "metadata.uid");
        out->attempt = json_int_at(object, "status.currentAttemptSummary.attemptInfo.id");
        field_read(&apache_application_fields, json_object_get(object, "spec"), &out->spec);
        return 0;
}

void apache_application_deinit(struct apache_application *app)
{
        json_decref(app->object);
        *app = (struct apache_application){0};
}

/* --------------------------------------------------------------------------------------------------------- validate */

static int apache_validate_routes(const json_t *list, const struct field_table *table, const char *field,
                                  const char *route, struct fst_error *error)
{
        json_t *element;
        size_t i;
        json_array_foreach((json_t *)list, i, element) {
                struct apache_exposure_fields f = {0};
                field_read(table, element, &f);
                const char *missing = NULL;
                if (!*json_text_or_empty(f.service_metadata, "name"))
                        missing = "serviceMetadata.name";
                else if (!*json_text_or_empty(f.metadata, "name"))
                        missing = "Metadata.name";
                else if (json_array_size(json_object_get(f.spec, "parentRefs")) == 0)
                        missing = "Spec.parentRefs";
                if (missing)
                        return error_set(error, -EINVAL, "%s[%zu].%s%s is required.", field, i,
                                         *missing == 's' ? "" : route, missing);
        }
        return 0;
}

/* Whether @path, of a pod template, is a file of the machine that submits. */
static bool apache_is_operator_path(const char *path)
{
        return !strstr(path, "://") || text_starts_with(path, "file:") || text_starts_with(path, "local:");
}

static int apache_validate_conf(const struct apache_application *app, struct fst_error *error)
{
        const char *key;
        json_t *value;
        json_object_foreach((json_t *)app->spec.spark_conf, key, value) {
                const char *text = json_string_value(value);
                if (conf_reads_operator_file(key, text))
                        return error_set(error, -EINVAL, "sparkConf key \"%s\" is not allowed: " OPERATOR_FILE_REFUSAL,
                                         key);
                bool driver = strcmp(key, "spark.kubernetes.driver.podTemplateFile") == 0;
                if ((driver || strcmp(key, "spark.kubernetes.executor.podTemplateFile") == 0) &&
                    !(driver ? app->spec.driver.template : app->spec.executor.template) &&
                    apache_is_operator_path(text ? text : ""))
                        return error_set(
                                error, -EINVAL,
                                "sparkConf key \"%s\" is not allowed: it would read a file of the operator; use "
                                "spec.%sSpec.podTemplateSpec",
                                key, driver ? "driver" : "executor");
        }
        return 0;
}

int apache_application_validate(const struct apache_application *app, struct fst_error *error)
{
        const struct apache_application_spec *s = &app->spec;
        const char *const mains[] = {s->main_class, s->jars, s->py_files, s->spark_r_files};
        size_t i = 0;
        if (text_equals(s->deployment_mode, "ClientMode"))
                return error_set(error, -EINVAL, "Client mode is not supported yet.");
        if (strlen(app->name) > MAX_NAME)
                return error_set(
                        error, -EINVAL,
                        "metadata.name: \"%s\" has more than %d characters, and no label of a pod may have them",
                        app->name, MAX_NAME);
        const char *id = apache_application_conf(app, "spark.app.id");
        if (id && strlen(id) > MAX_NAME)
                return error_set(
                        error, -EINVAL,
                        "sparkConf key \"spark.app.id\" has more than %d characters, and no label of a pod may "
                        "have them",
                        MAX_NAME);
        while (i < ARRAY_SIZE(mains) && !(mains[i] && *mains[i]))
                i++;
        if (i == ARRAY_SIZE(mains))
                return error_set(error, -EINVAL,
                                 "spec.mainClass: it is required without spec.jars, spec.pyFiles and spec.sparkRFiles");
        int r = apache_validate_routes(s->http_routes, &apache_http_route_table, "driverHttpRouteList", "httpRoute",
                                       error);
        if (r == 0)
                r = apache_validate_routes(s->grpc_routes, &apache_grpc_route_table, "driverGrpcRouteList", "grpcRoute",
                                           error);
        return r == 0 ? apache_validate_conf(app, error) : r;
}

/* ------------------------------------------------------------------------------------------------------------ names */

const char *apache_application_conf(const struct apache_application *app, const char *key)
{
        return json_string_value(json_object_get(app->spec.spark_conf, key));
}

char *apache_attempt_id(const char *namespace, const char *name, int64_t attempt, const char *own)
{
        if (own && *own)
                return mem_strdup(own);
        char *preferred = mem_printf("%s-%lld", name, (long long)attempt);
        if (strlen(preferred) <= MAX_ID)
                return preferred;
        _cleanup_free_ char *whole = mem_printf("%s/%s/%lld", namespace, name, (long long)attempt);
        XXH128_hash_t hash = XXH3_128bits(whole, strlen(whole));
        char *id = mem_printf("%.*s-%016llx%016llx", MAX_ID - HASH_DIGITS - 1, preferred,
                              (unsigned long long)hash.high64, (unsigned long long)hash.low64);
        free(preferred);
        return id;
}

char *apache_application_id(const struct apache_application *app)
{
        return apache_attempt_id(app->namespace, app->name, app->attempt, apache_application_conf(app, "spark.app.id"));
}

/* The driver's service needs a label of DNS, which begins with a letter and has no dot. */
char *apache_attempt_prefix(const char *id)
{
        char *prefix = mem_strdup(id);
        for (char *c = prefix; *c; c++)
                if (*c == '.')
                        *c = '-';
        if (isdigit((unsigned char)*prefix))
                *prefix = 'x';
        return prefix;
}

char *apache_attempt_driver_pod(const char *id, const char *own)
{
        _cleanup_free_ char *prefix = apache_attempt_prefix(id);
        return own && *own ? mem_strdup(own) : mem_printf("%s-driver", prefix);
}

void apache_object_names(const json_t *object, char **id, char **driver_pod)
{
        const json_t *conf = json_at(object, "spec.sparkConf");
        *id = apache_attempt_id(json_text_or_empty(object, "metadata.namespace"),
                                json_text_or_empty(object, "metadata.name"),
                                json_int_at(object, "status.currentAttemptSummary.attemptInfo.id"),
                                json_string_value(json_object_get(conf, "spark.app.id")));
        *driver_pod = apache_attempt_driver_pod(
                *id, json_string_value(json_object_get(conf, "spark.kubernetes.driver.pod.name")));
}
