/*
 * Masters and modes; see cluster_manager.h. The order of the checks is Spark's: of several things that are wrong the
 * user is told the same one.
 */
#include "submit/options/cluster_manager.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"

#include <ctype.h>
#include <strings.h>

/* -------------------------------------------------------------------------------------------- the application's kind
 */

enum submit_language submit_language_of(const char *resource, enum submit_compat compat)
{
        if (text_ends_with(resource, ".py") || strcmp(resource, "pyspark-shell") == 0)
                return LANGUAGE_PYTHON;
        if (text_ends_with(resource, ".R") || (compat > COMPAT_2_4 && text_ends_with(resource, ".r")) ||
            strcmp(resource, "sparkr-shell") == 0)
                return LANGUAGE_R;
        return LANGUAGE_JVM;
}

bool submit_is_shell(const char *resource)
{
        return strcmp(resource, "spark-shell") == 0 || strcmp(resource, "pyspark-shell") == 0 ||
               strcmp(resource, "sparkr-shell") == 0 || strcmp(resource, "connect-shell") == 0;
}

bool submit_is_internal(const char *resource)
{
        return strcmp(resource, "spark-internal") == 0;
}

bool submit_is_user_jar(const char *resource, enum submit_compat compat)
{
        return !submit_is_shell(resource) && !submit_is_internal(resource) &&
               submit_language_of(resource, compat) == LANGUAGE_JVM;
}

bool submit_is_native(const char *resource)
{
        size_t n = strcspn(resource, "#");
        return (n > 3 && memcmp(resource + n - 3, ".so", 3) == 0) || (n > 2 && memcmp(resource + n - 2, ".c", 2) == 0);
}

bool submit_is_sql_shell(const char *class)
{
        return class && strcmp(class, "org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver") == 0;
}

bool submit_is_connect_server(const char *class)
{
        return class && strcmp(class, "org.apache.spark.sql.connect.service.SparkConnectServer") == 0;
}

/* ------------------------------------------------------------------------------------------------------------ masters
 */

int cluster_manager_parse(const char *master, enum submit_compat compat, enum cluster_manager *out,
                          struct fst_error *error)
{
        static const struct {
                const char *start;
                enum cluster_manager manager;
                enum submit_compat first, last;
        } rows[] = {
                {"spark", MANAGER_STANDALONE, COMPAT_2_4, COMPAT_4_3},
                {"mesos", MANAGER_MESOS, COMPAT_2_4, COMPAT_3_5},
                {"k8s", MANAGER_KUBERNETES, COMPAT_2_4, COMPAT_3_5},
                {"k8s://", MANAGER_KUBERNETES, COMPAT_4_3, COMPAT_4_3},
                {"local", MANAGER_LOCAL, COMPAT_2_4, COMPAT_4_3},
        };
        if (strcmp(master, "yarn") == 0 ||
            (compat == COMPAT_2_4 && (strcmp(master, "yarn-client") == 0 || strcmp(master, "yarn-cluster") == 0))) {
                *out = MANAGER_YARN;
                return 0;
        }
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                if (compat >= rows[i].first && compat <= rows[i].last && text_starts_with(master, rows[i].start)) {
                        *out = rows[i].manager;
                        return 0;
                }
        }
        return error_set(error, -EINVAL, "Master must either be yarn or start with spark, %sk8s, or local",
                         compat == COMPAT_4_3 ? "" : "mesos, ");
}

const char *cluster_manager_yarn_mode(const char *master, const char *mode, int *r, struct fst_error *error)
{
        *r = 0;
        if (strcmp(master, "yarn-cluster") == 0) {
                if (mode && strcmp(mode, "client") == 0)
                        *r = error_set(error, -EINVAL,
                                       "Client deploy mode is not compatible with master \"yarn-cluster\"");
                return "cluster";
        }
        if (strcmp(master, "yarn-client") == 0) {
                if (mode && strcmp(mode, "cluster") == 0)
                        *r = error_set(error, -EINVAL,
                                       "Cluster deploy mode is not compatible with master \"yarn-client\"");
                return "client";
        }
        return NULL;
}

int kubernetes_master_resolve(const char *master, enum submit_compat compat, char **out, const char **warning,
                              struct fst_error *error)
{
        if (!text_starts_with(master, "k8s://"))
                return error_set(error, -EINVAL, "requirement failed: Kubernetes master URL must start with k8s://.");
        const char *url = master + strlen("k8s://");
        const char *end = strstr(url, "://");
        if (!end) {
                *out = mem_printf("k8s://https://%s", url);
                return 0;
        }
        size_t n = (size_t)(end - url);
        if (n == 0)
                return error_set(error, -EINVAL, "Expected scheme name at index 0: %s", url);
        for (size_t i = 0; i < n; i++) {
                bool good = isalpha((unsigned char)url[i]) || (i > 0 && strchr("+-.0123456789", url[i]));
                if (!good)
                        return error_set(error, -EINVAL, "Illegal character in scheme name at index %zu: %s", i, url);
        }
        if (!end[3])
                return error_set(error, -EINVAL, "Expected authority at index %zu: %s", n + 3, url);
        if (n == 4 && strncasecmp(url, "http", 4) == 0)
                *warning = "Kubernetes master URL uses HTTP instead of HTTPS.";
        else if (n != 5 || strncasecmp(url, "https", 5) != 0)
                return error_set(error, -EINVAL, "Invalid Kubernetes master scheme: %.*s%s%s", (int)n, url,
                                 compat == COMPAT_2_4 ? "" : " found in URL: ", compat == COMPAT_2_4 ? "" : url);
        *out = mem_strdup(master);
        return 0;
}

/* ------------------------------------------------------------------------------------------------- what is refused */

static int check_class(enum cluster_manager manager, const char *class, enum submit_compat compat,
                       struct fst_error *error)
{
        if (submit_is_sql_shell(class))
                return error_set(error, -EINVAL, "Cluster deploy mode is not applicable to Spark SQL shell.");
        if (class && strcmp(class, "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2") == 0)
                return error_set(error, -EINVAL, "Cluster deploy mode is not applicable to Spark Thrift server.");
        if (compat == COMPAT_2_4 || !submit_is_connect_server(class))
                return 0;
        if (compat == COMPAT_3_5)
                return error_set(error, -EINVAL, "Cluster deploy mode is not applicable to Spark Connect server.");
        if (manager == MANAGER_YARN)
                return 0;
        return error_set(error, -EINVAL,
                         "Launching Spark Connect server in cluster deploy mode is supported only for YARN");
}

int cluster_manager_check(enum cluster_manager manager, bool cluster_mode, const char *resource, const char *class,
                          enum submit_compat compat, struct fst_error *error)
{
        enum submit_language language = submit_language_of(resource, compat);
        if (!cluster_mode)
                return 0;
        if (manager == MANAGER_STANDALONE && language == LANGUAGE_PYTHON)
                return error_set(error, -EINVAL,
                                 "Cluster deploy mode is currently not supported for python applications on standalone "
                                 "clusters.");
        if (manager == MANAGER_STANDALONE && language == LANGUAGE_R)
                return error_set(error, -EINVAL,
                                 "Cluster deploy mode is currently not supported for R applications on standalone "
                                 "clusters.");
        if (manager == MANAGER_LOCAL)
                return error_set(error, -EINVAL, "Cluster deploy mode is not compatible with master \"local\"");
        if (submit_is_shell(resource))
                return error_set(error, -EINVAL, "Cluster deploy mode is not applicable to Spark shells.");
        return check_class(manager, class, compat, error);
}
