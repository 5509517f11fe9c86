/*
 * SparkSubmit's checks of a complete submission; see arguments.h. They run in Spark's order, which decides which error
 * the user sees.
 */
#include "submit/options/arguments.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "conf/units.h"
#include "driver/backend/cluster_manager.h"
#include "io/fs/path.h"
#include "io/fs/remote_fs.h"

#include <limits.h>
#include <strings.h>

/* As Java's Integer.parseInt, for positive numbers. */
static bool arguments_validation_is_positive(const char *text)
{
        text += text[0] == '+';
        size_t n = strspn(text, "0123456789");
        long long value = 0;
        for (size_t i = 0; i < n && value <= INT_MAX; i++)
                value = value * 10 + text[i] - '0';
        return n > 0 && !text[n] && value > 0 && value <= INT_MAX;
}

/* "2.0": as a dispatcher of Spark on Mesos writes a whole number. */
static bool arguments_validation_is_whole_decimal(const char *text)
{
        const char *point = strchr(text, '.');
        if (!point || !point[1] || point[1 + strspn(point + 1, "0")])
                return arguments_validation_is_positive(text);
        _cleanup_free_ char *whole = mem_strndup(text, (size_t)(point - text));
        return arguments_validation_is_positive(whole);
}

static bool arguments_validation_is_memory(const char *text)
{
        int64_t bytes;
        return units_parse_bytes(text, UNIT_B, UNIT_B, &bytes, NULL) == 0 && bytes > 0;
}

static bool arguments_validation_is_set(const struct submit_arguments *a, const char *key)
{
        const char *value = strmap_get(&a->properties, key);
        return value && strcasecmp(value, "true") == 0;
}

/* Names key, option and value of a refused number, because Spark's sentence names neither key nor value. */
static char *arguments_validation_remedy(enum submit_field field, const char *value, bool is_memory)
{
        const struct submit_option *option = submit_option_of(field);
        return mem_printf("%s (%s) is '%s': use a %s", option->keys[0], option->name, value,
                          is_memory ? "size such as 512m or 4g" : "whole number of at least 1, such as 2");
}

static int arguments_validate_numbers(struct submit_arguments *a, struct fst_error *error)
{
        static const struct {
                enum submit_field field;
                bool (*good)(const char *text);
                const char *what;
        } checks[] = {
                {SUBMIT_DRIVER_MEMORY, arguments_validation_is_memory, "Driver memory"},
                {SUBMIT_EXECUTOR_MEMORY, arguments_validation_is_memory, "Executor memory"},
                {SUBMIT_DRIVER_CORES, arguments_validation_is_positive, "Driver cores"},
                {SUBMIT_EXECUTOR_CORES, arguments_validation_is_positive, "Executor cores"},
                {SUBMIT_TOTAL_EXECUTOR_CORES, arguments_validation_is_positive, "Total executor cores"},
                {SUBMIT_NUM_EXECUTORS, arguments_validation_is_positive, "Number of executors"},
        };
        const struct cluster_manager_class *manager = cluster_manager_by_prefix(submit_arguments_master(a));
        for (size_t i = 0; i < ARRAY_SIZE(checks); i++) {
                const char *value = a->value[checks[i].field];
                if (!value || checks[i].good(value))
                        continue;
                if (checks[i].field == SUBMIT_DRIVER_CORES && manager && manager->decimal_driver_cores &&
                    arguments_validation_is_whole_decimal(value))
                        continue;
                if (checks[i].field == SUBMIT_NUM_EXECUTORS &&
                    arguments_validation_is_set(a, "spark.dynamicAllocation.enabled"))
                        continue;
                if (checks[i].field == SUBMIT_DRIVER_CORES && a->compat == COMPAT_2_4)
                        continue;
                free(a->remedy);
                a->remedy = arguments_validation_remedy(checks[i].field, value,
                                                        checks[i].good == arguments_validation_is_memory);
                return error_set(error, -EINVAL, "%s must be a positive number", checks[i].what);
        }
        return 0;
}

bool submit_arguments_cluster_mode(const struct submit_arguments *a)
{
        const char *mode = a->value[SUBMIT_DEPLOY_MODE], *master = submit_arguments_master(a);
        const struct cluster_manager_class *manager = cluster_manager_by_prefix(master);
        if (!mode || strcmp(mode, "cluster") != 0)
                mode = manager && manager->deploy_mode ? manager->deploy_mode(master) : NULL;
        return mode && strcmp(mode, "cluster") == 0;
}

int submit_check_built(const struct cluster_manager_class *manager, bool cluster_mode, struct fst_error *error)
{
        bool built = cluster_mode ? manager->submit != NULL : manager->in_process || manager->executor_manager_new;
        if (built)
                return 0;
        return error_set(error, -ENOTSUP,
                         "Firesteel cannot submit to %s in %s mode: --dry-run shows what would be submitted",
                         manager->title, cluster_mode ? "cluster" : "client");
}

/* Gives no advice to a native application whose manager is not supported anyway. */
static int arguments_validate_hadoop_conf(const struct submit_arguments *a, const char *(*env)(const char *name),
                                          struct fst_error *error)
{
        const char *master = submit_arguments_master(a);
        const struct cluster_manager_class *manager = cluster_manager_by_prefix(master), *valid;
        int r = 0;
        if (!manager || !manager->needs_hadoop_conf || env("HADOOP_CONF_DIR") || env("YARN_CONF_DIR") ||
            env("SPARK_TESTING"))
                return 0;
        if (!a->dry_run && submit_is_native(a->primary_resource) &&
            cluster_manager_find(master, a->compat, &valid, NULL) == 0)
                r = submit_check_built(valid, submit_arguments_cluster_mode(a), error);
        if (r < 0)
                return r;
        return error_set(error, -EINVAL,
                         "When running with master '%s' either HADOOP_CONF_DIR or YARN_CONF_DIR must be set in the "
                         "environment.",
                         master);
}

/* A driver of cluster mode resolves the directory on its own machine, in a directory of its own. */
static int arguments_validate_resume_dir(const char *directory, struct fst_error *error)
{
        static const char key[] = "spark.firesteel.resume.dir";
        _cleanup_free_ char *path = NULL;
        if ((*directory != '/' && path_scheme_len(directory) == 0) || path_resolve(directory, &path, NULL) < 0)
                return error_set(error, -EINVAL,
                                 "%s is \"%s\": set it to a whole path, with its scheme (s3a://, hdfs:// or file://)",
                                 key, directory);
        if (text_starts_with(path, "file:") || remote_fs_knows(path))
                return 0;
        return error_set(error, -EINVAL,
                         "%s is \"%s\": no file system has the scheme \"%.*s\": set it to a path of s3a://, hdfs:// or "
                         "file://",
                         key, directory, (int)path_scheme_len(path), path);
}

/* Without a valid directory a driver ends at once, so that its supervisor would start it again forever. */
static int arguments_validate_resume(const struct submit_arguments *a, struct fst_error *error)
{
        const char *directory = strmap_get(&a->properties, "spark.firesteel.resume.dir");
        const bool supervised = a->supervise || arguments_validation_is_set(a, "spark.driver.supervise");
        if (!submit_arguments_cluster_mode(a) || !arguments_validation_is_set(a, "spark.firesteel.resume.enabled"))
                return 0;
        if (directory && *directory)
                return arguments_validate_resume_dir(directory, error);
        return error_set(error, -EINVAL,
                         "spark.firesteel.resume.enabled is true: set spark.firesteel.resume.dir to a directory that "
                         "the next driver can read%s",
                         supervised ? ", because a supervised driver without one would be restarted forever" : "");
}

static int arguments_validate_submit(struct submit_arguments *a, const char *(*env)(const char *name),
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
        int r = arguments_validate_numbers(a, error);
        if (r < 0)
                return r;
        r = arguments_validate_hadoop_conf(a, env, error);
        if (r < 0)
                return r;
        if (a->value[SUBMIT_PROXY_USER] && a->value[SUBMIT_PRINCIPAL])
                return error_set(error, -EINVAL, "Only one of --proxy-user or --principal can be provided.");
        return arguments_validate_resume(a, error);
}

/* Before Spark 3.0 only two managers supported this. */
static int arguments_validate_request(const struct submit_arguments *a, const char *asks, const char *what,
                                      struct fst_error *error)
{
        const char *master = submit_arguments_master(a);
        const struct cluster_manager_class *manager = cluster_manager_by_prefix(master);
        bool asked = manager && manager->scheme && text_starts_with(master, manager->scheme);
        if (a->compat == COMPAT_2_4 && (!asked || manager->requests_since > COMPAT_2_4))
                return error_set(error, -EINVAL, "%s is only supported in standalone or Mesos mode!", asks);
        return a->submission[0] ? 0 : error_set(error, -EINVAL, "Please specify a submission to %s.", what);
}

int submit_arguments_validate(struct submit_arguments *a, const char *(*env)(const char *name), struct fst_error *error)
{
        switch (a->action) {
        case SUBMIT_ACTION_SUBMIT:
                return arguments_validate_submit(a, env, error);
        case SUBMIT_ACTION_KILL:
                return arguments_validate_request(a, "Killing submissions", "kill", error);
        case SUBMIT_ACTION_STATUS:
                return arguments_validate_request(a, "Requesting submission statuses", "request status for", error);
        case SUBMIT_ACTION_VERSION:
        case SUBMIT_ACTION_HELP:
                return 0;
        }
        return 0;
}
