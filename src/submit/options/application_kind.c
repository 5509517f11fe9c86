/* Application kinds; see application_kind.h. */
#include "submit/options/application_kind.h"

#include "base/string_prefix.h"

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

bool submit_is_thrift_server(const char *class)
{
        return class && strcmp(class, "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2") == 0;
}
