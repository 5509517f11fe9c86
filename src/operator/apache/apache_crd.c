/* See apache_crd.h. Versions, names and columns are those of Apache's operator. */
#include "operator/apache/apache_crd.h"

#include "operator/apache/apache_application.h"
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

static json_t *apache_crd_application(void)
{
        json_t *schema = crd_schema(&apache_application_fields, &apache_application_status_fields);
        json_object_del(schema, "required"); /* Apache's definition takes objects without a spec */
        json_t *old_columns = json_pack("[{s:s,s:s,s:s},{s:s,s:s,s:s}]", "name", "Current State", "type", "string",
                                        "jsonPath", STATE_PATH, "name", "Age", "type", "date", "jsonPath", AGE_PATH);
        json_t *columns = json_pack("[{s:s,s:s,s:s,s:i},{s:s,s:s,s:s,s:i}]", "name", "Age", "type", "date", "jsonPath",
                                    AGE_PATH, "priority", 0, "name", "Current State", "type", "string", "jsonPath",
                                    STATE_PATH, "priority", 0);
        json_t *old = apache_crd_version("v1beta1", false, old_columns, json_incref(schema));
        json_t *version = apache_crd_version("v1", true, columns, schema);
        return json_pack("{s:s,s:s,s:{s:s},s:{s:s,s:{s:s,s:s,s:s,s:s,s:[s]},s:s,s:[oo]}}", "apiVersion",
                         "apiextensions.k8s.io/v1", "kind", "CustomResourceDefinition", "metadata", "name",
                         "sparkapplications." APACHE_GROUP, "spec", "group", APACHE_GROUP, "names", "kind",
                         "SparkApplication", "listKind", "SparkApplicationList", "plural", "sparkapplications",
                         "singular", "sparkapplication", "shortNames", "sparkapp", "scope", "Namespaced", "versions",
                         version, old);
}

json_t *apache_crd_list(void)
{
        return json_pack("[o]", apache_crd_application());
}
