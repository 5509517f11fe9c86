/*
 * Parses submission requests. Accepts scalars for strings, as Jackson does. The checks and their order are those of
 * Spark 4.3's CreateSubmissionRequest. Exceptions are named without their stacks.
 */
#include "rest/rest_request.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "text/json.h"
#include "rest/rest_messages.h"

#include <jansson.h>

#define PROTOCOL "org.apache.spark.deploy.rest.SubmitRestProtocolException: "
#define MISSING "org.apache.spark.deploy.rest.SubmitRestMissingFieldException: "
#define MOST_SHOWN 2000 /* bytes of the request in a message */

static const char *const fields[] = {
        "action",    "appArgs", "appResource",    "clientSparkVersion", "environmentVariables",
        "mainClass", "message", "sparkProperties"};

static const char *const other_messages[] = {
        "CreateSubmissionResponse",
        "KillSubmissionResponse",
        "KillAllSubmissionResponse",
        "SubmissionStatusResponse",
        "ClearResponse",
        "ReadyzResponse",
        "ErrorResponse",
};

void rest_request_deinit(struct rest_request *q)
{
        free(q->app_resource);
        free(q->main_class);
        for (size_t i = 0; i < q->app_args.len; i++)
                free(q->app_args.data[i]);
        vec_deinit(&q->app_args);
        for (size_t i = 0; i < q->unknown.len; i++)
                free(q->unknown.data[i]);
        vec_deinit(&q->unknown);
        strmap_deinit(&q->properties);
        strmap_deinit(&q->environment);
        *q = REST_REQUEST_INIT;
}

/* ---------------------------------------------------------------------------------------------------- reading */

static int field_mismatch(const char *field, const char *wanted, struct fst_error *error)
{
        return error_set(error, -EBADMSG,
                         "com.fasterxml.jackson.databind.exc.MismatchedInputException: the field %s holds no %s", field,
                         wanted);
}

static int read_field(const json_t *root, const char *name, char **out, struct fst_error *error)
{
        return rest_read_text(json_object_get(root, name), out) ? 0 : field_mismatch(name, "text", error);
}

/* Stores in *@found whether the map exists. */
static int read_map(json_t *root, const char *name, struct strmap *out, bool *found, struct fst_error *error)
{
        json_t *map = json_object_get(root, name), *value;
        const char *key;
        *found = map && !json_is_null(map);
        if (!*found)
                return 0;
        if (!json_is_object(map))
                return field_mismatch(name, "object", error);
        json_object_foreach(map, key, value) {
                _cleanup_free_ char *text = NULL;
                if (!rest_read_text(value, &text))
                        return field_mismatch(name, "object of texts", error);
                if (text)
                        strmap_set(out, key, text);
        }
        return 0;
}

static int read_args(struct rest_request *q, const json_t *root, struct fst_error *error)
{
        const json_t *list = json_object_get(root, "appArgs");
        if (list && !json_is_null(list) && !json_is_array(list))
                return field_mismatch("appArgs", "list", error);
        for (size_t i = 0; i < json_array_size(list); i++) {
                char *text = NULL;
                if (!rest_read_text(json_array_get(list, i), &text))
                        return field_mismatch("appArgs", "list of texts", error);
                vec_push(&q->app_args, text ? text : mem_strdup("null"));
        }
        return 0;
}

/* By Spark's rule, lists fields of the request that the server would not write in this message. */
static void read_unknown(struct rest_request *q, json_t *root)
{
        const char *key;
        json_t *value;
        json_object_foreach(root, key, value) {
                bool known = false;
                for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
                        known |= strcmp(key, fields[i]) == 0;
                if (!known || json_is_null(value))
                        vec_push(&q->unknown, mem_strdup(key));
        }
}

/* With these variables the dynamic linker of the worker's host would load the client's code before the driver starts.
 */
static int check_environment(const struct strmap *environment, struct fst_error *error)
{
        for (struct strmap_entry *e = NULL; (e = strmap_next(environment, e));)
                if (text_starts_with(e->key, "LD_"))
                        return error_set(error, -EBADMSG,
                                         PROTOCOL "environmentVariables may not set %.100s for the dynamic linker; set "
                                                  "spark.driver.extraLibraryPath for libraries of the driver",
                                         e->key);
        return 0;
}

static int read_request(struct rest_request *q, json_t *root, struct fst_error *error)
{
        static const char failed[] = PROTOCOL "Validation of message CreateSubmissionRequest failed!";
        _cleanup_free_ char *version = NULL;
        bool has_properties = false, has_environment = false;
        int r = read_field(root, "appResource", &q->app_resource, error);
        if (r == 0)
                r = read_field(root, "mainClass", &q->main_class, error);
        if (r == 0)
                r = read_field(root, "clientSparkVersion", &version, error);
        if (r == 0)
                r = read_args(q, root, error);
        if (r == 0)
                r = read_map(root, "sparkProperties", &q->properties, &has_properties, error);
        if (r == 0)
                r = read_map(root, "environmentVariables", &q->environment, &has_environment, error);
        if (r == 0)
                r = check_environment(&q->environment, error);
        if (r < 0)
                return r;
        if (!version)
                return error_set(error, -EBADMSG,
                                 "%s 'clientSparkVersion' is missing in message CreateSubmissionRequest.", failed);
        struct rest_create check = {.app_resource = q->app_resource,
                                    .main_class = q->main_class,
                                    .properties = has_properties ? &q->properties : NULL};
        r = rest_create_validate(&check, error);
        if (r < 0)
                return error_wrap(error, -EBADMSG, "org.apache.spark.deploy.rest.SubmitRestProtocolException");
        if (!q->main_class)
                return error_set(error, -EBADMSG, MISSING "Main class is missing.");
        read_unknown(q, root);
        return 0;
}

static int read_message(struct rest_request *q, json_t *root, const char *json, size_t len, struct fst_error *error)
{
        const char *action = json_text_at(root, "action");
        if (!action)
                return error_set(error, -EBADMSG, MISSING "Action field not found in JSON:\n%.*s",
                                 (int)MIN(len, (size_t)MOST_SHOWN), json);
        for (size_t i = 0; i < ARRAY_SIZE(other_messages); i++)
                if (strcmp(action, other_messages[i]) == 0)
                        return error_set(error, -ENOMSG, "Received message of unexpected type %s.", action);
        if (strcmp(action, "CreateSubmissionRequest") != 0)
                return error_set(error, -EBADMSG,
                                 "java.lang.ClassNotFoundException: org.apache.spark.deploy.rest.%.200s", action);
        return read_request(q, root, error);
}

int rest_request_parse(struct rest_request *q, const char *json, size_t len, struct fst_error *error)
{
        json_error_t at;
        json_t *root = json_loadb(json, len, JSON_DECODE_ANY, &at);
        int r;
        *q = REST_REQUEST_INIT;
        if (!root)
                return error_set(error, -EBADMSG,
                                 "com.fasterxml.jackson.core.JsonParseException: %s (line %d, column %d)", at.text,
                                 at.line, at.column);
        r = read_message(q, root, json, len, error);
        json_decref(root);
        if (r < 0)
                rest_request_deinit(q);
        return r;
}
