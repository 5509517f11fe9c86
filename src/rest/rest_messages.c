/*
 * The messages of the REST protocol; see rest_messages.h.
 *
 * One table lists the fields that a reply of each kind has and requires. Reading, validating and writing use it.
 */
#include "rest/rest_messages.h"

#include "base/buf.h"
#include "base/error.h"
#include "conf/units.h"
#include "text/json.h"
#include "text/json_string.h"

#include <ctype.h>
#include <jansson.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ------------------------------------------------------------------------------------------------------ the request */

static bool rest_message_is_truth(const char *text)
{
        return strcasecmp(text, "true") == 0 || strcasecmp(text, "false") == 0;
}

/* As Java's Double.parseDouble: accepts surrounding blanks, a suffix d or f, and exactly NaN and Infinity. */
static bool rest_message_is_number(const char *text)
{
        while (*text && (unsigned char)*text <= ' ')
                text++;
        size_t n = strlen(text);
        while (n && (unsigned char)text[n - 1] <= ' ')
                n--;
        _cleanup_free_ char *copy = mem_strndup(text, n);
        const char *unsign = copy + (*copy == '-' || *copy == '+');
        if (strcmp(unsign, "NaN") == 0 || strcmp(unsign, "Infinity") == 0)
                return true;
        bool hex = unsign[0] == '0' && (unsign[1] == 'x' || unsign[1] == 'X');
        if (n > 1 && strchr("dDfF", copy[n - 1]) && (!hex || strpbrk(copy, "pP")))
                copy[n - 1] = '\0';
        if ((!isdigit((unsigned char)*unsign) && *unsign != '.') || (hex && !strpbrk(copy, "pP")))
                return false;
        char *end;
        strtod(copy, &end);
        return end > unsign && *end == '\0';
}

static bool rest_message_is_memory(const char *text)
{
        int64_t bytes;
        return units_parse_bytes(text, UNIT_B, UNIT_B, &bytes, NULL) == 0;
}

int rest_create_validate(const struct rest_create *c, struct fst_error *error)
{
        static const struct {
                const char *key, *type;
                bool (*fits)(const char *text);
        } checks[] = {
                {"spark.driver.supervise", "boolean", rest_message_is_truth},
                {"spark.driver.cores", "numeric", rest_message_is_number},
                {"spark.cores.max", "numeric", rest_message_is_number},
                {"spark.driver.memory", "memory", rest_message_is_memory},
                {"spark.executor.memory", "memory", rest_message_is_memory},
        };
        static const char failed[] = "Validation of message CreateSubmissionRequest failed!";
        if (!c->properties)
                return error_set(error, -EINVAL, "%s No Spark properties set!", failed);
        if (!c->app_resource)
                return error_set(error, -EINVAL, "%s 'appResource' is missing in message CreateSubmissionRequest.",
                                 failed);
        for (size_t i = 0; i < ARRAY_SIZE(checks); i++) {
                const char *value = strmap_get(c->properties, checks[i].key);
                if (value && !checks[i].fits(value))
                        return error_set(error, -EINVAL, "%s Property '%s' expected %s value: actual was '%s'.", failed,
                                         checks[i].key, checks[i].type, value);
        }
        return 0;
}

static void rest_message_put_texts(struct buf *b, char *const *list, size_t n)
{
        buf_puts(b, "[ ");
        for (size_t i = 0; i < n; i++) {
                buf_puts(b, i ? ", " : "");
                json_put_string(b, list[i]);
        }
        buf_puts(b, n ? " ]" : "]");
}

static void rest_message_put_map(struct buf *b, const struct strmap *map)
{
        const char *separator = "{\n    ";
        for (struct strmap_entry *e = NULL; map && (e = strmap_next(map, e));) {
                if (strcmp(e->key, REST_TOKEN_KEY) == 0)
                        continue;
                buf_puts(b, separator);
                json_put_string(b, e->key);
                buf_puts(b, " : ");
                json_put_string(b, e->value);
                separator = ",\n    ";
        }
        buf_puts(b, *separator == ',' ? "\n  }" : "{ }");
}

int rest_token_check(const char *token, struct fst_error *error)
{
        bool visible = *token != '\0';
        for (const char *p = token; *p; p++)
                visible &= *p > ' ' && *p < 0x7f;
        return visible ? 0
                       : error_set(error, -EINVAL,
                                   REST_TOKEN_KEY " is not a valid token: use visible ASCII characters without blanks");
}

char *rest_create_json(const struct rest_create *c)
{
        struct buf b = BUF_INIT;
        buf_reserve(&b, 2048);
        buf_puts(&b, "{\n  \"action\" : \"CreateSubmissionRequest\",\n  \"appArgs\" : ");
        rest_message_put_texts(&b, c->app_args, c->n_app_args);
        buf_puts(&b, ",\n  \"appResource\" : ");
        json_put_string(&b, c->app_resource);
        buf_puts(&b, ",\n  \"clientSparkVersion\" : \"" REST_SPARK_VERSION "\",\n  \"environmentVariables\" : ");
        rest_message_put_map(&b, c->environment);
        if (c->main_class) {
                buf_puts(&b, ",\n  \"mainClass\" : ");
                json_put_string(&b, c->main_class);
        }
        buf_puts(&b, ",\n  \"sparkProperties\" : ");
        rest_message_put_map(&b, c->properties);
        buf_puts(&b, "\n}");
        return buf_steal(&b);
}

void rest_environment(char *const *env, const char *compat, struct strmap *out)
{
        static const char *const kept[] = {"SPARK_ENV_LOADED", "SPARK_HOME", "SPARK_CONF_DIR", "SPARK_LOCAL_IP",
                                           "SPARK_LOCAL_HOSTNAME"};
        bool older = compat && (strcmp(compat, "3.5") == 0 || strcmp(compat, "2.4") == 0);
        size_t n_kept = older ? 3 : ARRAY_SIZE(kept);
        for (; *env; env++) {
                const char *equals = strchr(*env, '=');
                bool spark = strncmp(*env, "SPARK_", 6) == 0, mesos = older && strncmp(*env, "MESOS_", 6) == 0;
                if (!equals || (!spark && !mesos))
                        continue;
                _cleanup_free_ char *name = mem_strndup(*env, (size_t)(equals - *env));
                bool here = false;
                for (size_t i = 0; i < n_kept; i++)
                        here |= strcmp(name, kept[i]) == 0;
                if (!here)
                        strmap_set(out, name, equals + 1);
        }
}

/* ---------------------------------------------------------------------------------------------------------- replies */

enum { STATE = 1, HIGHEST = 2, MESSAGE = 4, VERSION = 8, ID = 16, SUCCESS = 32, UNKNOWN = 64, WORKER = 128 };
#define ALWAYS (MESSAGE | VERSION | SUCCESS | UNKNOWN) /* fields of every reply */

static const struct {
        const char *type;
        int has, must_have;
} kinds[] = {
        [REST_CREATE] = {"CreateSubmissionResponse", ALWAYS | ID, VERSION | SUCCESS},
        [REST_KILL] = {"KillSubmissionResponse", ALWAYS | ID, VERSION | ID | SUCCESS},
        [REST_KILL_ALL] = {"KillAllSubmissionResponse", ALWAYS, VERSION | SUCCESS},
        [REST_STATUS] = {"SubmissionStatusResponse", ALWAYS | ID | STATE | WORKER, VERSION | ID | SUCCESS},
        [REST_CLEAR] = {"ClearResponse", ALWAYS, VERSION | SUCCESS},
        [REST_READYZ] = {"ReadyzResponse", ALWAYS, VERSION | SUCCESS},
        [REST_ERROR] = {"ErrorResponse", ALWAYS | HIGHEST, VERSION | MESSAGE},
};

/* The text fields in alphabetical order. */
static const struct {
        const char *name;
        int flag;
        size_t offset;
} texts[] = {
        {"driverState", STATE, offsetof(struct rest_answer, driver_state)},
        {"highestProtocolVersion", HIGHEST, offsetof(struct rest_answer, highest_protocol_version)},
        {"message", MESSAGE, offsetof(struct rest_answer, message)},
        {"serverSparkVersion", VERSION, offsetof(struct rest_answer, server_spark_version)},
        {"submissionId", ID, offsetof(struct rest_answer, submission_id)},
        /* success, unknownFields */
        {"workerHostPort", WORKER, offsetof(struct rest_answer, worker_host_port)},
        {"workerId", WORKER, offsetof(struct rest_answer, worker_id)},
};
#define TEXTS_BEFORE_SUCCESS 5

static char **rest_message_text_field(const struct rest_answer *a, size_t i)
{
        return (char **)((char *)a + texts[i].offset);
}

void rest_answer_deinit(struct rest_answer *a)
{
        for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
                free(*rest_message_text_field(a, i));
        for (size_t i = 0; i < a->unknown_fields.len; i++)
                free(a->unknown_fields.data[i]);
        vec_deinit(&a->unknown_fields);
        *a = REST_ANSWER_INIT;
}

const char *rest_answer_type(const struct rest_answer *a)
{
        return kinds[a->kind].type;
}

bool rest_answer_from_backup(const struct rest_answer *a)
{
        static const char prefix[] = "Current state is not alive";
        return a->message && strncmp(a->message, prefix, strlen(prefix)) == 0;
}

static int rest_message_malformed(struct fst_error *error, const char *why, const char *what)
{
        return error_set(error, -EBADMSG, "Malformed response received from server: %s%.2000s", why, what);
}

bool rest_read_text(const json_t *value, char **out)
{
        switch (value ? json_typeof(value) : JSON_NULL) {
        case JSON_STRING:
                *out = mem_strdup(json_string_value(value));
                return true;
        case JSON_INTEGER:
                *out = mem_printf("%" JSON_INTEGER_FORMAT, json_integer_value(value));
                return true;
        case JSON_REAL:
                *out = mem_printf("%.17g", json_real_value(value));
                return true;
        case JSON_TRUE:
        case JSON_FALSE:
                *out = mem_strdup(json_is_true(value) ? "true" : "false");
                return true;
        case JSON_NULL:
                *out = NULL;
                return true;
        default:
                return false;
        }
}

static bool rest_message_read_truth(const json_t *value, enum rest_truth *out)
{
        const char *text = json_string_value(value);
        if (json_is_boolean(value) || json_is_integer(value))
                *out = json_is_true(value) || (json_is_integer(value) && json_integer_value(value)) ? REST_TRUE
                                                                                                    : REST_FALSE;
        else if (text && rest_message_is_truth(text))
                *out = strcasecmp(text, "true") == 0 ? REST_TRUE : REST_FALSE;
        else if (value && !json_is_null(value) && !(text && !*text))
                return false;
        return true;
}

static bool rest_message_read_names(const json_t *value, struct rest_answer *a)
{
        if (!value || json_is_null(value))
                return true;
        if (!json_is_array(value))
                return false;
        a->has_unknown_fields = true;
        for (size_t i = 0; i < json_array_size(value); i++) {
                char *name = NULL;
                if (!rest_read_text(json_array_get(value, i), &name))
                        return false;
                vec_push(&a->unknown_fields, name);
        }
        return true;
}

static int rest_message_read_fields(struct rest_answer *a, const json_t *root, struct fst_error *error)
{
        int has = kinds[a->kind].has;
        for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
                if ((has & texts[i].flag) &&
                    !rest_read_text(json_object_get(root, texts[i].name), rest_message_text_field(a, i)))
                        return rest_message_malformed(error, "expected a text in the field ", texts[i].name);
        if (!rest_message_read_truth(json_object_get(root, "success"), &a->success))
                return rest_message_malformed(error, "expected a boolean in the field ", "success");
        if (!rest_message_read_names(json_object_get(root, "unknownFields"), a))
                return rest_message_malformed(error, "expected a list of texts in the field ", "unknownFields");
        return 0;
}

static int rest_message_validate(const struct rest_answer *a, struct fst_error *error)
{
        int must_have = kinds[a->kind].must_have;
        const char *missing = NULL;
        for (size_t i = ARRAY_SIZE(texts); i-- > 0;)
                if ((must_have & texts[i].flag) && !*rest_message_text_field(a, i))
                        missing = texts[i].name;
        if ((must_have & VERSION) && !a->server_spark_version)
                missing = "serverSparkVersion"; /* checked first */
        if (!missing && (must_have & SUCCESS) && a->success == REST_UNSAID)
                missing = "success";
        if (!missing)
                return 0;
        _cleanup_free_ char *why = mem_printf("Validation of message %s failed! '%s' is missing in message %s.",
                                              rest_answer_type(a), missing, rest_answer_type(a));
        return rest_message_malformed(error, why, "");
}

static int rest_message_read_answer(struct rest_answer *a, const json_t *root, const char *json, size_t length,
                                    struct fst_error *error)
{
        const char *action = json_text_at(root, "action");
        if (!action) {
                _cleanup_free_ char *text = mem_strndup(json, MIN(length, (size_t)2000));
                return rest_message_malformed(error, "Action field not found in JSON:\n", text);
        }
        for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
                if (strcmp(action, kinds[i].type) == 0) {
                        a->kind = (enum rest_kind)i;
                        int r = rest_message_read_fields(a, root, error);
                        return r < 0 ? r : rest_message_validate(a, error);
                }
        if (strcmp(action, "CreateSubmissionRequest") == 0) {
                _cleanup_free_ char *text = mem_strndup(json, MIN(length, (size_t)2000));
                return rest_message_malformed(error, "Message received from server was not a response:\n", text);
        }
        return error_set(error, -ENOMSG, "Exception while waiting for response: unknown message type '%.200s'", action);
}

static bool rest_message_is_blank(const char *text, size_t n)
{
        while (n && strchr(" \t\r\n", text[n - 1]) && text[n - 1])
                n--;
        return n == 0;
}

int rest_answer_parse(struct rest_answer *a, const char *json, size_t length, struct fst_error *error)
{
        struct rest_answer read = REST_ANSWER_INIT;
        json_error_t at;
        json_t *root = json_loadb(json, length, 0, &at);
        int r;
        if (!root && rest_message_is_blank(json, length))
                r = rest_message_malformed(error, "Action field not found in JSON:\n", "");
        else if (!root)
                r = rest_message_malformed(error, at.text, "");
        else
                r = rest_message_read_answer(&read, root, json, length, error);
        json_decref(root);
        if (r == 0) {
                *a = read;
                return 0;
        }
        rest_answer_deinit(&read);
        return r;
}

static void rest_message_put_text(struct buf *b, const char *name, const char *value)
{
        buf_printf(b, ",\n  \"%s\" : ", name);
        json_put_string(b, value);
}

char *rest_answer_json(const struct rest_answer *a)
{
        struct buf b = BUF_INIT;
        buf_printf(&b, "{\n  \"action\" : \"%s\"", rest_answer_type(a));
        for (size_t i = 0; i <= ARRAY_SIZE(texts); i++) {
                if (i == TEXTS_BEFORE_SUCCESS && a->success != REST_UNSAID)
                        buf_printf(&b, ",\n  \"success\" : %s", a->success == REST_TRUE ? "true" : "false");
                if (i == TEXTS_BEFORE_SUCCESS && a->has_unknown_fields) {
                        buf_puts(&b, ",\n  \"unknownFields\" : ");
                        rest_message_put_texts(&b, a->unknown_fields.data, a->unknown_fields.len);
                }
                if (i < ARRAY_SIZE(texts) && *rest_message_text_field(a, i))
                        rest_message_put_text(&b, texts[i].name, *rest_message_text_field(a, i));
        }
        buf_puts(&b, "\n}");
        return buf_steal(&b);
}
