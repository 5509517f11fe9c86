/* See operator_files.h. */
#include "operator/resources/operator_files.h"

#include "base/mem.h"
#include "base/string_prefix.h"

#include <string.h>

bool conf_reads_operator_file(const char *key, const char *value)
{
        static const char *const keys[] = {
                "spark.kubernetes.authenticate.driver.caCertFile",
                "spark.kubernetes.authenticate.driver.clientKeyFile",
                "spark.kubernetes.authenticate.driver.clientCertFile",
                "spark.kubernetes.kerberos.krb5.path",
        };
        for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
                if (strcmp(keys[i], key) == 0)
                        return true;
        if (text_starts_with(key, "spark.kubernetes.authenticate.") && text_ends_with(key, ".oauthTokenFile"))
                return true;
        return strcmp(key, "spark.kerberos.keytab") == 0 && !(value && text_starts_with(value, "local:"));
}
