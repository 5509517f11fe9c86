/* What SparkSubmit checks of a complete submission; see arguments.h. The order is Spark's, because it shows. */
#include "submit/options/arguments.h"

#include "base/error.h"
#include "base/mem.h"
#include "conf/units.h"

#include <limits.h>
#include <strings.h>

/* Java's Integer.parseInt, for numbers above 0. */
static bool is_positive(const char *text)
{
        text += text[0] == '+';
        size_t n = strspn(text, "0123456789");
        long long value = 0;
        for (size_t i = 0; i < n && value <= INT_MAX; i++)
                value = value * 10 + text[i] - '0';
        return n > 0 && !text[n] && value > 0 && value <= INT_MAX;
}

static bool is_memory(const char *text)
{
        int64_t bytes;
        return units_parse_bytes(text, UNIT_B, UNIT_B, &bytes, NULL) == 0 && bytes > 0;
}

static bool dynamic_allocation(const struct submit_arguments *a)
{
        const char *value = strmap_get(&a->properties, "spark.dynamicAllocation.enabled");
        return value && strcasecmp(value, "true") == 0;
}

static int validate_numbers(const struct submit_arguments *a, struct fst_error *error)
{
        static const struct {
                enum submit_field field;
                bool (*good)(const char *text);
                const char *what;
        } checks[] = {
                {SUBMIT_DRIVER_MEMORY, is_memory, "Driver memory"},
                {SUBMIT_EXECUTOR_MEMORY, is_memory, "Executor memory"},
                {SUBMIT_DRIVER_CORES, is_positive, "Driver cores"},
                {SUBMIT_EXECUTOR_CORES, is_positive, "Executor cores"},
                {SUBMIT_TOTAL_EXECUTOR_CORES, is_positive, "Total executor cores"},
                {SUBMIT_NUM_EXECUTORS, is_positive, "Number of executors"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(checks); i++) {
                const char *value = a->value[checks[i].field];
                if (!value || checks[i].good(value))
                        continue;
                if (checks[i].field == SUBMIT_NUM_EXECUTORS && dynamic_allocation(a))
                        continue;
                if (checks[i].field == SUBMIT_DRIVER_CORES && a->compat == COMPAT_2_4)
                        continue;
                return error_set(error, -EINVAL, "%s must be a positive number", checks[i].what);
        }
        return 0;
}

static int validate_submit(const struct submit_arguments *a, const char *(*env)(const char *name),
                           struct fst_error *error)
{
        bool local_connect = a->compat < COMPAT_4_3 && strmap_get(&a->properties, "spark.local.connect");
        if (a->value[SUBMIT_REMOTE] && !local_connect && (a->value[SUBMIT_MASTER] || a->value[SUBMIT_DEPLOY_MODE]))
                return error_set(error, -EINVAL, "Remote cannot be specified with master and/or deploy mode.");
        if (!a->application)
                return error_set(error, -EINVAL, "Must specify a primary resource (JAR or Python or R file)");
        if (a->compat == COMPAT_2_4 && !a->value[SUBMIT_CLASS] && !submit_is_native(a->primary_resource) &&
            submit_is_user_jar(a->primary_resource, a->compat))
                return error_set(error, -EINVAL, "No main class set in JAR; please specify one with --class");
        int r = validate_numbers(a, error);
        if (r < 0)
                return r;
        const char *master = submit_arguments_master(a);
        bool has_hadoop = env("HADOOP_CONF_DIR") || env("YARN_CONF_DIR") || env("SPARK_TESTING");
        if (strncmp(master, "yarn", 4) == 0 && !has_hadoop)
                return error_set(error, -EINVAL,
                                 "When running with master '%s' either HADOOP_CONF_DIR or YARN_CONF_DIR must be set in "
                                 "the environment.",
                                 master);
        if (a->value[SUBMIT_PROXY_USER] && a->value[SUBMIT_PRINCIPAL])
                return error_set(error, -EINVAL, "Only one of --proxy-user or --principal can be provided.");
        return 0;
}

/* Before Spark 3.0 only two managers could be asked. */
static int validate_request(const struct submit_arguments *a, const char *asks, const char *what,
                            struct fst_error *error)
{
        const char *master = submit_arguments_master(a);
        if (a->compat == COMPAT_2_4 && strncmp(master, "spark://", 8) != 0 && strncmp(master, "mesos://", 8) != 0)
                return error_set(error, -EINVAL, "%s is only supported in standalone or Mesos mode!", asks);
        return a->submission[0] ? 0 : error_set(error, -EINVAL, "Please specify a submission to %s.", what);
}

int submit_arguments_validate(struct submit_arguments *a, const char *(*env)(const char *name), struct fst_error *error)
{
        switch (a->action) {
        case SUBMIT_ACTION_SUBMIT:
                return validate_submit(a, env, error);
        case SUBMIT_ACTION_KILL:
                return validate_request(a, "Killing submissions", "kill", error);
        case SUBMIT_ACTION_STATUS:
                return validate_request(a, "Requesting submission statuses", "request status for", error);
        case SUBMIT_ACTION_VERSION:
        case SUBMIT_ACTION_HELP:
                return 0;
        }
        return 0;
}
