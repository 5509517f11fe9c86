/* Checks JSON objects against tables of fields, and reads them into structs. */
#include "operator/resources/field.h"

#include "base/buf.h"
#include "text/edit_distance.h"

#include <stdarg.h>
#include <stdio.h>

#define MAX_SHOWN_VALUE 60

/* --------------------------------------------------------------------------------------------------------- problems */

void field_problems_add(struct field_problems *problems, enum field_problem_kind kind, const char *format, ...)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        va_list args;
        if (problems->list.len >= MAX_FIELD_PROBLEMS)
                return;
        va_start(args, format);
        buf_vprintf(&text, format, args);
        va_end(args);
        vec_push(&problems->list, (struct field_problem){kind, buf_steal(&text)});
}

const struct field_problem *field_problems_fatal(const struct field_problems *problems)
{
        for (size_t i = 0; i < problems->list.len; i++) {
                const struct field_problem *p = &problems->list.data[i];
                if (p->kind == FIELD_INVALID || p->kind == FIELD_MISSING)
                        return p;
        }
        return NULL;
}

void field_problems_deinit(struct field_problems *problems)
{
        for (size_t i = 0; i < problems->list.len; i++)
                free(problems->list.data[i].message);
        vec_deinit(&problems->list);
}

/* ------------------------------------------------------------------------------------------------------------ check */

static bool field_exists_in(const struct field_row *f, bool v1beta1)
{
        return f->versions == FIELD_ALL_VERSIONS || (f->versions == FIELD_V1BETA1_ONLY) == v1beta1;
}

static const struct field_row *field_find(const struct field_table *table, const char *name, bool v1beta1)
{
        for (size_t i = 0; i < table->n; i++)
                if (strcmp(table->fields[i].name, name) == 0 && field_exists_in(&table->fields[i], v1beta1))
                        return &table->fields[i];
        return NULL;
}

/* Returns the known name closest to @name, or NULL. */
static const char *field_suggest(const struct field_table *table, const char *name, bool v1beta1)
{
        size_t len = strlen(name);
        int best = edit_distance_limit(len) + 1;
        const char *found = NULL;
        for (size_t i = 0; i < table->n; i++) {
                const char *other = table->fields[i].name;
                int distance = edit_distance(name, len, other, strlen(other), best);
                if (field_exists_in(&table->fields[i], v1beta1) && distance < best) {
                        best = distance;
                        found = other;
                }
        }
        return found;
}

/* Returns the start of @json as text, for messages. The caller owns it. */
static char *field_show_value(const json_t *json)
{
        _cleanup_free_ char *text = json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY);
        if (!text)
                return mem_strdup("?");
        if (strlen(text) <= MAX_SHOWN_VALUE)
                return steal(text);
        size_t end = MAX_SHOWN_VALUE;
        while (end > 0 && ((unsigned char)text[end] & 0xc0) == 0x80)
                end--;
        return mem_printf("%.*s…", (int)end, text);
}

static void field_refuse(struct field_problems *problems, const char *path, const json_t *json, const char *wanted)
{
        _cleanup_free_ char *shown = field_show_value(json);
        field_problems_add(problems, FIELD_INVALID, "%s: %s is not %s", path, shown, wanted);
}

static bool field_word_allowed(const char *words, const char *word)
{
        size_t len = strlen(word);
        for (const char *at = words; at; at = strchr(at, '|')) {
                at += *at == '|';
                if (strncmp(at, word, len) == 0 && (at[len] == '|' || at[len] == '\0'))
                        return true;
        }
        return false;
}

static void field_check_text(const struct field_row *f, const char *path, const json_t *json,
                             struct field_problems *problems)
{
        if (!json_is_string(json))
                field_refuse(problems, path, json, "a text; put it into quotes");
        else if (f->words && !field_word_allowed(f->words, json_string_value(json)))
                field_problems_add(problems, FIELD_INVALID, "%s: \"%s\" is not one of %s", path,
                                   json_string_value(json), f->words);
}

static void field_check_int(const struct field_row *f, const char *path, const json_t *json,
                            struct field_problems *problems)
{
        if (!json_is_integer(json)) {
                field_refuse(problems, path, json, "an integer");
                return;
        }
        int64_t value = json_integer_value(json);
        if (!f->wide && (value > INT32_MAX || value < INT32_MIN))
                field_refuse(problems, path, json, "an integer of 32 bits");
        else if (f->minimum.set && value < f->minimum.value)
                field_problems_add(problems, FIELD_INVALID, "%s: %lld is less than %lld", path, (long long)value,
                                   (long long)f->minimum.value);
        else if (f->maximum.set && value > f->maximum.value)
                field_problems_add(problems, FIELD_INVALID, "%s: %lld is more than %lld", path, (long long)value,
                                   (long long)f->maximum.value);
}

/* An object of Kubernetes: the API server checks it, except that a schema that keeps everything hides misspellings. */
static void field_check_kubernetes(const struct field_row *f, const char *path, const json_t *json,
                                   struct field_problems *problems)
{
        const char *name;
        json_t *value;
        if (!json_is_object(json)) {
                field_refuse(problems, path, json, "an object");
                return;
        }
        if (!f->members)
                return;
        json_object_foreach((json_t *)json, name, value) {
                bool known = false;
                for (const char *const *member = f->members; *member && !known; member++)
                        known = strcmp(*member, name) == 0;
                if (!known)
                        field_problems_add(problems, FIELD_UNKNOWN, "%s.%s: unknown field", path, name);
        }
}

static void field_check_value(const struct field_row *f, const char *path, const json_t *json, bool v1beta1,
                              struct field_problems *problems);

static void field_check_elements(const struct field_row *f, enum field_type type, const char *path, const json_t *json,
                                 bool v1beta1, struct field_problems *problems)
{
        struct field_row element = *f;
        json_t *value;
        size_t i;
        element.type = type;
        if (!json_is_array(json)) {
                field_refuse(problems, path, json, "a list");
                return;
        }
        json_array_foreach((json_t *)json, i, value) {
                _cleanup_free_ char *below = mem_printf("%s[%zu]", path, i);
                field_check_value(&element, below, value, v1beta1, problems);
        }
}

static void field_check_members(const struct field_row *f, enum field_type type, const char *path, const json_t *json,
                                bool v1beta1, struct field_problems *problems)
{
        struct field_row element = *f;
        const char *name;
        json_t *value;
        element.type = type;
        if (!json_is_object(json)) {
                field_refuse(problems, path, json, "an object");
                return;
        }
        json_object_foreach((json_t *)json, name, value) {
                _cleanup_free_ char *below = mem_printf("%s[\"%s\"]", path, name);
                field_check_value(&element, below, value, v1beta1, problems);
        }
}

static void field_check_value(const struct field_row *f, const char *path, const json_t *json, bool v1beta1,
                              struct field_problems *problems)
{
        switch (f->type) {
        case FIELD_STRING:
        case FIELD_TIME:
                field_check_text(f, path, json, problems);
                break;
        case FIELD_BOOL:
                if (!json_is_boolean(json))
                        field_refuse(problems, path, json, "true or false");
                break;
        case FIELD_INT:
                field_check_int(f, path, json, problems);
                break;
        case FIELD_NUMBER:
                if (!json_is_number(json))
                        field_refuse(problems, path, json, "a number");
                break;
        case FIELD_QUANTITY:
                if (!json_is_string(json) && !json_is_integer(json))
                        field_refuse(problems, path, json, "a quantity");
                break;
        case FIELD_OBJECT:
                if (json_is_object(json))
                        field_check(f->of, path, json, v1beta1, problems);
                else
                        field_refuse(problems, path, json, "an object");
                break;
        case FIELD_STRINGS:
                field_check_elements(f, FIELD_STRING, path, json, v1beta1, problems);
                break;
        case FIELD_STRING_MAP:
                field_check_members(f, FIELD_STRING, path, json, v1beta1, problems);
                break;
        case FIELD_QUANTITY_MAP:
                field_check_members(f, FIELD_QUANTITY, path, json, v1beta1, problems);
                break;
        case FIELD_OBJECTS:
                field_check_elements(f, FIELD_OBJECT, path, json, v1beta1, problems);
                break;
        case FIELD_OBJECT_MAP:
                field_check_members(f, FIELD_OBJECT, path, json, v1beta1, problems);
                break;
        case FIELD_KUBERNETES:
                field_check_kubernetes(f, path, json, problems);
                break;
        case FIELD_KUBERNETES_LIST:
                field_check_elements(f, FIELD_KUBERNETES, path, json, v1beta1, problems);
                break;
        }
}

static void field_check_unknown(const struct field_table *table, const char *path, const char *name, bool v1beta1,
                                struct field_problems *problems)
{
        const struct field_row *other = field_find(table, name, !v1beta1);
        const char *close = field_suggest(table, name, v1beta1);
        if (other)
                field_problems_add(problems, FIELD_UNKNOWN, "%s.%s: only %s has this field", path, name,
                                   v1beta1 ? "v1beta2" : "v1beta1");
        else if (close)
                field_problems_add(problems, FIELD_UNKNOWN, "%s.%s: unknown field; did you mean %s?", path, name,
                                   close);
        else
                field_problems_add(problems, FIELD_UNKNOWN, "%s.%s: unknown field", path, name);
}

void field_check(const struct field_table *table, const char *path, const json_t *json, bool v1beta1,
                 struct field_problems *problems)
{
        const char *name;
        json_t *value;
        json_object_foreach((json_t *)json, name, value) {
                const struct field_row *f = field_find(table, name, v1beta1);
                if (!f) {
                        field_check_unknown(table, path, name, v1beta1, problems);
                        continue;
                }
                if (json_is_null(value)) /* the API server drops it */
                        continue;
                _cleanup_free_ char *below = mem_printf("%s.%s", path, name);
                field_check_value(f, below, value, v1beta1, problems);
                if (f->no_effect)
                        field_problems_add(problems, FIELD_INEFFECTIVE, "%s: it has no effect: %s", below,
                                           f->no_effect);
        }
        for (size_t i = 0; i < table->n; i++) {
                const struct field_row *f = &table->fields[i];
                const json_t *present = json_object_get(json, f->name);
                if (f->required && field_exists_in(f, v1beta1) && (!present || json_is_null(present)))
                        field_problems_add(problems, FIELD_MISSING, "%s.%s: it is required", path, f->name);
        }
}

/* ------------------------------------------------------------------------------------------------------------- read */

static bool field_type_fits(enum field_type type, const json_t *json)
{
        switch (type) {
        case FIELD_STRINGS:
        case FIELD_OBJECTS:
        case FIELD_KUBERNETES_LIST:
                return json_is_array(json);
        case FIELD_NUMBER:
                return json_is_number(json);
        case FIELD_QUANTITY:
                return json_is_string(json) || json_is_number(json);
        default:
                return json_is_object(json);
        }
}

static void field_read_one(const struct field_row *f, const json_t *json, void *member)
{
        switch (f->type) {
        case FIELD_STRING:
        case FIELD_TIME:
                *(const char **)member = json_string_value(json);
                break;
        case FIELD_BOOL:
                if (json_is_boolean(json))
                        *(enum field_bool *)member = json_is_true(json) ? FIELD_TRUE : FIELD_FALSE;
                break;
        case FIELD_INT:
                if (json_is_integer(json))
                        *(struct field_int *)member = (struct field_int){true, json_integer_value(json)};
                break;
        case FIELD_OBJECT:
                if (json_is_object(json)) {
                        *(const json_t **)member = json;
                        field_read(f->of, json, member);
                }
                break;
        default:
                if (field_type_fits(f->type, json))
                        *(const json_t **)member = json;
                break;
        }
}

void field_read(const struct field_table *table, const json_t *json, void *out)
{
        *(const json_t **)out = json_is_object(json) ? json : NULL;
        for (size_t i = 0; json_is_object(json) && i < table->n; i++) {
                const struct field_row *f = &table->fields[i];
                const json_t *value = json_object_get(json, f->name);
                if (value && f->offset != FIELD_NO_MEMBER && f->versions != FIELD_V1BETA1_ONLY)
                        field_read_one(f, value, (char *)out + f->offset);
        }
}
