/* Writes custom resource definitions (apiextensions.k8s.io/v1). */
#include "operator/resources/crd.h"

#include "operator/resources/spark_application.h"

static json_t *crd_table_schema(const struct field_table *table);

static json_t *crd_typed(const char *type)
{
        return json_pack("{s:s}", "type", type);
}

/* Any member is allowed and kept. */
static json_t *crd_open_object(void)
{
        return json_pack("{s:s,s:b}", "type", "object", "x-kubernetes-preserve-unknown-fields", 1);
}

static json_t *crd_list_of(json_t *items)
{
        return json_pack("{s:s,s:o}", "type", "array", "items", items);
}

static json_t *crd_map_of(json_t *values)
{
        return json_pack("{s:s,s:o}", "type", "object", "additionalProperties", values);
}

static json_t *crd_int_schema(const struct field_row *f)
{
        json_t *schema = json_pack("{s:s,s:s}", "type", "integer", "format", f->wide ? "int64" : "int32");
        if (f->minimum.set)
                json_object_set_new(schema, "minimum", json_integer(f->minimum.value));
        if (f->maximum.set)
                json_object_set_new(schema, "maximum", json_integer(f->maximum.value));
        return schema;
}

static json_t *crd_text_schema(const struct field_row *f)
{
        json_t *schema = crd_typed("string");
        if (!f->words)
                return schema;
        json_t *words = json_array();
        for (const char *at = f->words; *at;) {
                size_t len = strcspn(at, "|");
                json_array_append_new(words, json_stringn(at, len));
                at += len + (at[len] == '|');
        }
        json_object_set_new(schema, "enum", words);
        return schema;
}

static json_t *crd_field_schema(const struct field_row *f)
{
        static const char quantity[] = "x-kubernetes-int-or-string";
        switch (f->type) {
        case FIELD_STRING:
                return crd_text_schema(f);
        case FIELD_BOOL:
                return crd_typed("boolean");
        case FIELD_INT:
                return crd_int_schema(f);
        case FIELD_NUMBER:
                return crd_typed("number");
        case FIELD_TIME:
                return json_pack("{s:s,s:s}", "type", "string", "format", "date-time");
        case FIELD_QUANTITY:
                return json_pack("{s:b}", quantity, 1);
        case FIELD_QUANTITY_MAP:
                return crd_map_of(json_pack("{s:b}", quantity, 1));
        case FIELD_OBJECT:
                return crd_table_schema(f->of);
        case FIELD_STRINGS:
                return crd_list_of(crd_typed("string"));
        case FIELD_STRING_MAP:
                return crd_map_of(crd_typed("string"));
        case FIELD_OBJECTS:
                return crd_list_of(crd_table_schema(f->of));
        case FIELD_OBJECT_MAP:
                return crd_map_of(crd_table_schema(f->of));
        case FIELD_KUBERNETES:
                return crd_open_object();
        case FIELD_KUBERNETES_LIST:
                return crd_list_of(crd_open_object());
        }
        return NULL;
}

static json_t *crd_table_schema(const struct field_table *table)
{
        json_t *schema = crd_typed("object"), *properties = json_object(), *required = json_array();
        for (size_t i = 0; i < table->n; i++) {
                const struct field_row *f = &table->fields[i];
                if (f->versions == FIELD_V1BETA1_ONLY)
                        continue;
                json_t *field = crd_field_schema(f);
                if (f->nullable)
                        json_object_set_new(field, "nullable", json_true());
                json_object_set_new(properties, f->name, field);
                if (f->required)
                        json_array_append_new(required, json_string(f->name));
        }
        json_object_set_new(schema, "properties", properties);
        if (json_array_size(required) > 0)
                json_object_set(schema, "required", required);
        json_decref(required);
        return schema;
}

json_t *crd_schema(const struct field_table *spec, const struct field_table *status)
{
        return json_pack("{s:s,s:[ss],s:{s:{s:s},s:{s:s},s:{s:s},s:o,s:o}}", "type", "object", "required", "metadata",
                         "spec", "properties", "apiVersion", "type", "string", "kind", "type", "string", "metadata",
                         "type", "object", "spec", crd_table_schema(spec), "status", crd_table_schema(status));
}

struct crd_column {
        const char *name, *type, *path;
};

struct crd_kind {
        const char *kind, *plural, *singular, *short_name;
        const struct field_table *spec, *status;
        const struct crd_column *columns;
        size_t n_columns;
};

/*
 * v1beta1 has the same schema: the API server stores its objects as v1beta2 and converts nothing else. It refuses what
 * has no equal there (half a core), and drops fields that v1beta2 does not know (kubectl refuses those).
 */
static json_t *crd_old_version(const json_t *version)
{
        json_t *old = json_deep_copy(version);
        json_object_set_new(old, "name", json_string("v1beta1"));
        json_object_set_new(old, "storage", json_false());
        json_object_set_new(old, "deprecated", json_true());
        json_object_set_new(old, "deprecationWarning",
                            json_string(OPERATOR_GROUP "/v1beta1 is deprecated: write " OPERATOR_GROUP "/v1beta2"));
        return old;
}

static json_t *crd_make(const struct crd_kind *kind)
{
        json_t *columns = json_array();
        for (size_t i = 0; i < kind->n_columns; i++) {
                const struct crd_column *c = &kind->columns[i];
                json_array_append_new(
                        columns, json_pack("{s:s,s:s,s:s}", "name", c->name, "type", c->type, "jsonPath", c->path));
        }
        json_t *schema = crd_schema(kind->spec, kind->status);
        json_t *version = json_pack("{s:s,s:b,s:b,s:{s:{}},s:o,s:{s:o}}", "name", "v1beta2", "served", 1, "storage", 1,
                                    "subresources", "status", "additionalPrinterColumns", columns, "schema",
                                    "openAPIV3Schema", schema);
        json_t *old = crd_old_version(version);
        json_t *crd = json_pack("{s:s,s:s,s:{},s:{s:s,s:{s:s,s:s,s:s,s:s,s:[s]},s:s,s:[oo]}}", "apiVersion",
                                "apiextensions.k8s.io/v1", "kind", "CustomResourceDefinition", "metadata", "spec",
                                "group", OPERATOR_GROUP, "names", "kind", kind->kind, "listKind", "", "plural",
                                kind->plural, "singular", kind->singular, "shortNames", kind->short_name, "scope",
                                "Namespaced", "versions", version, old);
        _cleanup_free_ char *name = mem_printf("%s." OPERATOR_GROUP, kind->plural);
        _cleanup_free_ char *list = mem_printf("%sList", kind->kind);
        json_t *metadata = json_object_get(crd, "metadata");
        json_object_set_new(metadata, "name", json_string(name));
        /* The API server refuses a definition in a group of k8s.io without it. */
        json_object_set_new(metadata, "annotations",
                            json_pack("{s:s}", "api-approved.kubernetes.io",
                                      "https://github.com/kubeflow/spark-operator/pull/1298"));
        json_object_set_new(json_object_get(json_object_get(crd, "spec"), "names"), "listKind", json_string(list));
        return crd;
}

json_t *crd_list(void)
{
        static const struct crd_column application_columns[] = {
                {"Suspend", "boolean", ".spec.suspend"},
                {"Status", "string", ".status.applicationState.state"},
                {"Attempts", "string", ".status.executionAttempts"},
                {"Start", "string", ".status.lastSubmissionAttemptTime"},
                {"Finish", "string", ".status.terminationTime"},
                {"Age", "date", ".metadata.creationTimestamp"},
        };
        static const struct crd_column schedule_columns[] = {
                {"Schedule", "string", ".spec.schedule"},
                {"TimeZone", "string", ".spec.timeZone"},
                {"Suspend", "string", ".spec.suspend"},
                {"Last Run", "date", ".status.lastRun"},
                {"Last Run Name", "string", ".status.lastRunName"},
                {"Age", "date", ".metadata.creationTimestamp"},
        };
        static const struct crd_kind kinds[] = {
                {"SparkApplication", "sparkapplications", "sparkapplication", "sparkapp", &spark_application_fields,
                 &spark_application_status_fields, application_columns, ARRAY_SIZE(application_columns)},
                {"ScheduledSparkApplication", "scheduledsparkapplications", "scheduledsparkapplication",
                 "scheduledsparkapp", &scheduled_application_fields, &scheduled_application_status_fields,
                 schedule_columns, ARRAY_SIZE(schedule_columns)},
        };
        json_t *list = json_array();
        for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
                json_array_append_new(list, crd_make(&kinds[i]));
        return list;
}
