/* Refuses the applications that the genuine operator's validating webhook refuses, with its messages. */
#include "operator/resources/spark_application.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "operator/resources/operator_files.h"

#include <ctype.h>
#include <stdlib.h>

#define MAX_NAME 63

/* A name of DNS (RFC 1035): the driver's service needs it. */
static int validate_name(const char *name, struct fst_error *error)
{
        size_t n = strlen(name);
        bool good = n > 0 && islower((unsigned char)name[0]) && name[n - 1] != '-';
        for (size_t i = 0; i < n; i++)
                good = good && (islower((unsigned char)name[i]) || isdigit((unsigned char)name[i]) || name[i] == '-');
        if (n > MAX_NAME)
                return error_set(error, -EINVAL,
                                 "invalid SparkApplication name \"%s\": must be no more than 63 characters", name);
        if (!good)
                return error_set(error, -EINVAL,
                                 "invalid SparkApplication name \"%s\": a DNS-1035 label must consist of lower case "
                                 "alphanumeric characters or '-', start with an alphabetic character, and end with an "
                                 "alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
                                 "'[a-z]([-a-z0-9]*[a-z0-9])?')",
                                 name);
        return 0;
}

static int validate_template(const struct spark_application_spec *s, struct fst_error *error)
{
        bool template = s->driver.pod.template || s->executor.pod.template;
        const char *version = s->spark_version ? s->spark_version : "";
        version += *version == 'v';
        if (template && isdigit((unsigned char)version[0]) && strtol(version, NULL, 10) < 3)
                return error_set(error, -EINVAL, "pod template feature requires Spark version 3.0.0 or higher");
        return 0;
}

/* Quadratic in the number of options, which the size of an object limits to some thousands. */
static int validate_ingresses(const struct spark_application_spec *s, struct fst_error *error)
{
        size_t n = json_array_size(s->driver_ingress_options);
        struct driver_ingress_fields *all = new_array(struct driver_ingress_fields, n + 1);
        int r = 0;
        for (size_t i = 0; r == 0 && i < n; i++) {
                struct driver_ingress_fields *one = &all[i];
                field_read(&driver_ingress_table, json_array_get(s->driver_ingress_options, i), one);
                if (!one->service_port.set)
                        r = error_set(error, -EINVAL, "DriverIngressOptions has nill ServicePort");
                for (size_t j = 0; r == 0 && j < i; j++)
                        if (all[j].service_port.value == one->service_port.value)
                                r = error_set(error, -EINVAL, "DriverIngressOptions has duplicate ServicePort: %lld",
                                              (long long)one->service_port.value);
                if (r == 0 && (!one->ingress_url_format || !*one->ingress_url_format))
                        r = error_set(error, -EINVAL, "DriverIngressOptions has empty IngressURLFormat");
                for (size_t j = 0; r == 0 && j < i; j++)
                        if (strcmp(all[j].ingress_url_format, one->ingress_url_format) == 0)
                                r = error_set(error, -EINVAL, "DriverIngressOptions has duplicate IngressURLFormat: %s",
                                              one->ingress_url_format);
        }
        free(all);
        return r;
}

static const char *conf_refusal(const char *key, const char *value)
{
        static const char managed[] = "this value is managed by the operator";
        static const char image[] = "use the image field on the CRD instead";
        static const char account[] = "configure the service account via the CRD spec instead";
        static const struct {
                const char *key, *why;
        } refused[] = {
                {"spark.master", managed},
                {"spark.kubernetes.driver.master", managed},
                {"spark.kubernetes.container.image", image},
                {"spark.kubernetes.driver.container.image", image},
                {"spark.kubernetes.executor.container.image", image},
                {"spark.kubernetes.authenticate.driver.serviceAccountName", account},
                {"spark.kubernetes.authenticate.executor.serviceAccountName", account},
        };
        for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
                if (strcmp(refused[i].key, key) == 0)
                        return refused[i].why;
        if (text_starts_with(key, "spark.kubernetes.authenticate.") &&
            (text_ends_with(key, ".oauthToken") || text_ends_with(key, ".oauthTokenFile")))
                return "authentication credentials are managed by the operator";
        return conf_reads_operator_file(key, value) ? OPERATOR_FILE_REFUSAL : NULL;
}

static int validate_conf(const struct spark_application *app, struct fst_error *error)
{
        const char *key;
        json_t *value;
        json_object_foreach((json_t *)app->spec.spark_conf, key, value) {
                const char *text = json_string_value(value), *why = conf_refusal(key, text);
                if (why)
                        return error_set(error, -EINVAL, "sparkConf key \"%s\" is not allowed: %s", key, why);
                if (strcmp(key, "spark.kubernetes.namespace") == 0 && text && strcmp(text, app->namespace) != 0)
                        return error_set(error, -EINVAL,
                                         "sparkConf key \"%s\" is not allowed: must equal the application namespace "
                                         "\"%s\", got \"%s\"",
                                         key, app->namespace, text);
        }
        return 0;
}

int spark_application_validate(const struct spark_application *app, struct fst_error *error)
{
        const struct spark_application_spec *s = &app->spec;
        int r = validate_name(app->name, error);
        if (r == 0)
                r = validate_template(s, error);
        if (r == 0 && s->node_selector && (s->driver.pod.node_selector || s->executor.pod.node_selector))
                r = error_set(error, -EINVAL,
                              "node selector cannot be defined at both SparkApplication and Driver/Executor");
        if (r == 0)
                r = validate_ingresses(s, error);
        return r == 0 ? validate_conf(app, error) : r;
}
