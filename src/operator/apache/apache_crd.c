/* See apache_crd.h. Versions, names and columns are those of Apache's operator. */
#include "operator/apache/apache_crd.h"

#include "base/mem.h"
#include "operator/apache/apache_cluster.h"
#include "operator/resources/crd.h"

#define STATE_PATH ".status.currentState.currentStateSummary"
#define AGE_PATH ".metadata.creationTimestamp"

/* Returns a version of the definition. @columns and @schema are stolen. */
static json_t *apache_crd_version(const char *name, bool storage, json_t *columns, json_t *schema)
{
        return json_pack("{s:s,s:b,s:b,s:{s:{}},s:o,s:{s:o}}", "name", name, "served", 1, "storage", storage,
                         "subresources", "status", "additionalPrinterColumns", columns, "schema", "openAPIV3Schema",
                         schema);
}

static json_t *apache_crd_make(const char *kind, const char *plural, const char *singular, const char *short_name,
                               const struct field_table *spec, const struct field_table *status)
{
        _cleanup_free_ char *name = mem_printf("%s." APACHE_GROUP, plural), *list = mem_printf("%sList", kind);
        json_t *schema = crd_schema(spec, status);
        json_object_del(schema, "required"); /* Apache's definition takes objects without a spec */
        json_t *old_columns = json_pack("[{s:s,s:s,s:s},{s:s,s:s,s:s}]", "name", "Current State", "type", "string",
                                        "jsonPath", STATE_PATH, "name", "Age", "type", "date", "jsonPath", AGE_PATH);
        json_t *columns = json_pack("[{s:s,s:s,s:s,s:i},{s:s,s:s,s:s,s:i}]", "name", "Age", "type", "date", "jsonPath",
                                    AGE_PATH, "priority", 0, "name", "Current State", "type", "string", "jsonPath",
                                    STATE_PATH, "priority", 0);
        json_t *old = apache_crd_version("v1beta1", false, old_columns, json_incref(schema));
        json_t *version = apache_crd_version("v1", true, columns, schema);
        return json_pack("{s:s,s:s,s:{s:s},s:{s:s,s:{s:s,s:s,s:s,s:s,s:[s]},s:s,s:[oo]}}", "apiVersion",
                         "apiextensions.k8s.io/v1", "kind", "CustomResourceDefinition", "metadata", "name", name,
                         "spec", "group", APACHE_GROUP, "names", "kind", kind, "listKind", list, "plural", plural,
                         "singular", singular, "shortNames", short_name, "scope", "Namespaced", "versions", version,
                         old);
}

json_t *apache_crd_list(void)
{
        json_t *application = apache_crd_make("SparkApplication", "sparkapplications", "sparkapplication", "sparkapp",
                                              &apache_application_fields, &apache_application_status_fields);
        json_t *cluster = apache_crd_make("SparkCluster", "sparkclusters", "sparkcluster", "sparkcluster",
                                          &apache_cluster_fields, &apache_cluster_status_fields);
        return json_pack("[o,o]", application, cluster);
}
