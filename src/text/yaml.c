/*
 * Builds trees from the module's tokens. Open mappings and sequences lie on a stack of YAML_MAX_DEPTH frames. A value
 * is added to its parent when it is complete. An anchor holds a reference to its value and an alias copies it, so that
 * no two places of a tree share a mutable value.
 */
#include "text/yaml.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/vec.h"
#include "base/module_loader.h"
#include "text/yaml_module.h"

#include <math.h>
#include <pthread.h>

static struct {
        pthread_mutex_t lock;
        const struct yaml_ops *ops;
} module = {PTHREAD_MUTEX_INITIALIZER, NULL};

static int yaml_load_locked(struct fst_error *error)
{
        on_demand_fn get;
        int r = on_demand_load("yaml", "libfiresteel-yaml.so", YAML_MODULE_SYMBOL, &get, error);
        if (r < 0)
                return r;
        const struct yaml_ops *ops = get();
        if (!ops || ops->abi != YAML_ABI)
                return error_set(error, -ELIBBAD,
                                 "libfiresteel-yaml.so is of another version of firesteel; install firesteel again");
        module.ops = ops;
        return 0;
}

static int yaml_load(const struct yaml_ops **ops, struct fst_error *error)
{
        pthread_mutex_lock(&module.lock);
        int r = module.ops ? 0 : yaml_load_locked(error);
        *ops = module.ops;
        pthread_mutex_unlock(&module.lock);
        return r;
}

struct yaml_frame {
        json_t *value; /* the object or array, owned */
        char *key;     /* in a mapping: the key of the next value */
        char *anchor;
        json_t *merged; /* the mappings that `<<` named, as an array, or NULL */
        bool merge;     /* the key is `<<` */
};

struct yaml_anchor {
        char *name;
        json_t *value;
};

struct yaml_reader {
        json_t *documents; /* an array */
        struct yaml_frame stack[YAML_MAX_DEPTH];
        size_t depth, nodes;
        VEC(struct yaml_anchor) anchors;
        json_t *root; /* root of the current document */
        struct fst_error *error;
};

static void forget_anchors(struct yaml_reader *rd)
{
        for (size_t i = 0; i < rd->anchors.len; i++) {
                free(rd->anchors.data[i].name);
                json_decref(rd->anchors.data[i].value);
        }
        rd->anchors.len = 0;
}

static void yaml_reader_deinit(struct yaml_reader *rd)
{
        while (rd->depth > 0) {
                struct yaml_frame *f = &rd->stack[--rd->depth];
                json_decref(f->value);
                json_decref(f->merged);
                free(f->key);
                free(f->anchor);
        }
        forget_anchors(rd);
        vec_deinit(&rd->anchors);
        json_decref(rd->root);
        json_decref(rd->documents);
}

/* Counts the values in @value and below, up to @limit. */
static size_t nodes_of(const json_t *value, size_t limit)
{
        size_t n = 1;
        if (json_is_object(value)) {
                for (void *i = json_object_iter((json_t *)value); i && n < limit;
                     i = json_object_iter_next((json_t *)value, i))
                        n += nodes_of(json_object_iter_value(i), limit - n);
        } else if (json_is_array(value)) {
                for (size_t i = 0; i < json_array_size(value) && n < limit; i++)
                        n += nodes_of(json_array_get(value, i), limit - n);
        }
        return n;
}

static int yaml_count(struct yaml_reader *rd, const struct yaml_token *t, size_t n)
{
        rd->nodes += n;
        if (rd->nodes > YAML_MAX_NODES)
                return error_set(rd->error, -EFBIG, "line %zu: more than %d values, copies of anchors included",
                                 t->line, YAML_MAX_NODES);
        return 0;
}

/* --------------------------------------------------------------------------------------------------------- scalars */

/* Returns the length of the JSON number at the start of @s. Sets *@whole if it has no fraction or exponent. */
static size_t number_length(const char *s, bool *whole)
{
        const char *p = s + (*s == '-');
        *whole = true;
        if (*p < '0' || *p > '9')
                return 0;
        p += *p == '0' ? 1 : strspn(p, "0123456789");
        if (*p == '.') {
                *whole = false;
                p += 1 + strspn(p + 1, "0123456789");
        }
        if (*p == 'e' || *p == 'E') {
                const char *digits = p + 1 + (p[1] == '-' || p[1] == '+');
                if (*digits < '0' || *digits > '9')
                        return 0;
                *whole = false;
                p = digits + strspn(digits, "0123456789");
        }
        return (size_t)(p - s);
}

enum scalar_kind { SCALAR_TEXT, SCALAR_NULL, SCALAR_BOOL, SCALAR_INT, SCALAR_FLOAT, SCALAR_NOT_FINITE };

static enum scalar_kind yaml_kind_of(const char *s, size_t len)
{
        bool whole;
        if (len == 0 || strcmp(s, "null") == 0)
                return SCALAR_NULL;
        if (strcmp(s, "true") == 0 || strcmp(s, "false") == 0)
                return SCALAR_BOOL;
        if (strcmp(s, ".inf") == 0 || strcmp(s, "-.inf") == 0 || strcmp(s, ".nan") == 0)
                return SCALAR_NOT_FINITE;
        if (number_length(s, &whole) == len)
                return whole ? SCALAR_INT : SCALAR_FLOAT;
        return SCALAR_TEXT;
}

/* Parses a double with a decimal point in any locale, by jansson's number reader. */
static json_t *yaml_real(const char *s, size_t len)
{
        /* JSON requires a digit after the point. */
        const char *point = memchr(s, '.', len);
        bool bare = point && !(point[1] >= '0' && point[1] <= '9');
        size_t head = point ? (size_t)(point + 1 - s) : len;
        _cleanup_free_ char *text = mem_printf("%.*s%s%s", (int)head, s, bare ? "0" : "", point ? point + 1 : "");
        return json_loads(text, JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL, NULL);
}

static json_t *whole_number(const char *s, size_t len)
{
        json_t *value = json_loads(s, JSON_DECODE_ANY, NULL);
        return value ? value : yaml_real(s, len); /* exceeds 64 bits */
}

/* Returns "!!int" for "tag:yaml.org,2002:int", or NULL for a tag of another kind. */
static const char *core_tag(const char *tag)
{
        static const char prefix[] = "tag:yaml.org,2002:";
        return strncmp(tag, prefix, sizeof(prefix) - 1) == 0 ? tag + sizeof(prefix) - 1 : NULL;
}

static int refuse_tag(struct yaml_reader *rd, const struct yaml_token *t)
{
        return error_set(rd->error, -EINVAL, "line %zu: unknown tag %s", t->line, t->tag);
}

static int yaml_scalar(struct yaml_reader *rd, const struct yaml_token *t, json_t **out)
{
        static const struct {
                const char *tag;
                enum scalar_kind kind;
        } tags[] = {{"str", SCALAR_TEXT}, {"null", SCALAR_NULL},   {"bool", SCALAR_BOOL},
                    {"int", SCALAR_INT},  {"float", SCALAR_FLOAT}, {"binary", SCALAR_TEXT}};
        if (strlen(t->text) != t->len)
                return error_set(rd->error, -EINVAL, "line %zu: a text with a NUL character", t->line);
        enum scalar_kind is = yaml_kind_of(t->text, t->len), kind = t->plain ? is : SCALAR_TEXT;
        const char *core = t->tag ? core_tag(t->tag) : NULL;
        if (t->tag && strcmp(t->tag, "!") == 0) {
                kind = SCALAR_TEXT;
        } else if (t->tag) {
                size_t i = 0;
                while (core && i < ARRAY_SIZE(tags) && strcmp(tags[i].tag, core) != 0)
                        i++;
                if (!core || i == ARRAY_SIZE(tags))
                        return refuse_tag(rd, t);
                kind = tags[i].kind;
                bool fits = kind == is || kind == SCALAR_TEXT || (kind == SCALAR_FLOAT && is == SCALAR_INT);
                if (!fits)
                        return error_set(rd->error, -EINVAL, "line %zu: \"%s\" is not a valid !!%s", t->line, t->text,
                                         core);
        }
        json_t *value = NULL;
        switch (kind) {
        case SCALAR_NULL:
                value = json_null();
                break;
        case SCALAR_BOOL:
                value = json_boolean(t->text[0] == 't');
                break;
        case SCALAR_INT:
                value = whole_number(t->text, t->len);
                break;
        case SCALAR_FLOAT:
                value = yaml_real(t->text, t->len);
                break;
        case SCALAR_TEXT:
                value = json_stringn(t->text, t->len);
                break;
        case SCALAR_NOT_FINITE:
                break;
        }
        if (!value && kind == SCALAR_TEXT)
                return error_set(rd->error, -EINVAL, "line %zu: a text that is not UTF-8", t->line);
        if (!value)
                return error_set(rd->error, -EINVAL, "line %zu: the number %s is too large; quote it if it is a text",
                                 t->line, t->text);
        *out = value;
        return 0;
}

/* ----------------------------------------------------------------------------------------------------------- trees */

static int set_anchor(struct yaml_reader *rd, const struct yaml_token *t, const char *name, json_t *value)
{
        for (size_t i = 0; i < rd->anchors.len; i++) {
                struct yaml_anchor *a = &rd->anchors.data[i];
                if (strcmp(a->name, name) == 0) {
                        json_decref(a->value);
                        a->value = json_incref(value);
                        return 0;
                }
        }
        if (rd->anchors.len == YAML_MAX_ANCHORS)
                return error_set(rd->error, -EFBIG, "line %zu: more than %d anchors", t->line, YAML_MAX_ANCHORS);
        vec_push(&rd->anchors, (struct yaml_anchor){mem_strdup(name), json_incref(value)});
        return 0;
}

static int yaml_alias(struct yaml_reader *rd, const struct yaml_token *t, json_t **out)
{
        for (size_t i = 0; i < rd->anchors.len; i++) {
                struct yaml_anchor *a = &rd->anchors.data[i];
                if (strcmp(a->name, t->text) != 0)
                        continue;
                int r = yaml_count(rd, t, nodes_of(a->value, YAML_MAX_NODES + 1));
                if (r == 0)
                        *out = json_deep_copy(a->value);
                return r;
        }
        return error_set(rd->error, -EINVAL, "line %zu: no anchor &%s precedes *%s", t->line, t->text, t->text);
}

static bool yaml_mappings(const json_t *value)
{
        if (json_is_object(value))
                return true;
        for (size_t i = 0; i < json_array_size(value); i++)
                if (!json_is_object(json_array_get(value, i)))
                        return false;
        return json_array_size(value) > 0;
}

/* Adds a complete value to its parent. Takes the reference. */
static int yaml_add(struct yaml_reader *rd, const struct yaml_token *t, json_t *value)
{
        if (rd->depth == 0) {
                rd->root = value;
                return 0;
        }
        struct yaml_frame *f = &rd->stack[rd->depth - 1];
        if (json_is_array(f->value)) {
                json_array_append_new(f->value, value);
                return 0;
        }
        if (!f->key) {
                const char *text = json_string_value(value);
                int r = text ? 0 : error_set(rd->error, -EINVAL, "line %zu: a key must be a text", t->line);
                if (r == 0 && json_object_get(f->value, text))
                        r = error_set(rd->error, -EINVAL, "line %zu: duplicate key \"%s\"", t->line, text);
                if (r == 0)
                        f->key = mem_strdup(text);
                json_decref(value);
                return r;
        }
        if (f->merge && yaml_mappings(value)) {
                if (!f->merged)
                        f->merged = json_array();
                if (json_is_array(value))
                        json_array_extend(f->merged, value);
                else
                        json_array_append(f->merged, value);
                json_decref(value);
        } else {
                json_object_set_new(f->value, f->key, value);
        }
        free(steal(f->key));
        f->merge = false;
        return 0;
}

static int open_frame(struct yaml_reader *rd, const struct yaml_token *t)
{
        bool mapping = t->kind == YAML_TOKEN_MAPPING;
        const char *core = t->tag ? core_tag(t->tag) : NULL;
        if (t->tag && strcmp(t->tag, "!") != 0 && (!core || strcmp(core, mapping ? "map" : "seq") != 0))
                return refuse_tag(rd, t);
        struct yaml_frame *over = rd->depth ? &rd->stack[rd->depth - 1] : NULL;
        if (over && json_is_object(over->value) && !over->key)
                return error_set(rd->error, -EINVAL, "line %zu: a key must be a text", t->line);
        if (rd->depth == YAML_MAX_DEPTH)
                return error_set(rd->error, -EFBIG, "line %zu: nested deeper than %d", t->line, YAML_MAX_DEPTH);
        rd->stack[rd->depth++] = (struct yaml_frame){.value = mapping ? json_object() : json_array(),
                                                     .anchor = t->anchor ? mem_strdup(t->anchor) : NULL};
        return 0;
}

static int close_frame(struct yaml_reader *rd, const struct yaml_token *t)
{
        struct yaml_frame f = rd->stack[--rd->depth];
        for (size_t i = 0; i < json_array_size(f.merged); i++)
                json_object_update_missing(f.value, json_array_get(f.merged, i));
        json_decref(f.merged);
        int r = f.anchor ? set_anchor(rd, t, f.anchor, f.value) : 0;
        free(f.anchor);
        if (r == 0)
                return yaml_add(rd, t, f.value);
        json_decref(f.value);
        return r;
}

/* A scalar in the place of a key is a text, whatever its form. */
static int take_scalar(struct yaml_reader *rd, const struct yaml_token *t)
{
        struct yaml_frame *f = rd->depth ? &rd->stack[rd->depth - 1] : NULL;
        bool key = f && json_is_object(f->value) && !f->key;
        struct yaml_token text = *t;
        json_t *value = NULL;
        int r;
        if (key) {
                text.plain = false;
                f->merge = t->plain && strcmp(t->text, "<<") == 0;
        }
        if ((r = yaml_scalar(rd, &text, &value)) < 0)
                return r;
        if (key && !json_is_string(value)) {
                json_decref(value);
                value = json_string(t->text);
        }
        if (t->anchor && (r = set_anchor(rd, t, t->anchor, value)) < 0) {
                json_decref(value);
                return r;
        }
        return yaml_add(rd, t, value);
}

static int yaml_take(void *context, const struct yaml_token *t)
{
        struct yaml_reader *rd = context;
        json_t *value = NULL;
        int r = 0;
        switch (t->kind) {
        case YAML_TOKEN_DOCUMENT:
                return 0;
        case YAML_TOKEN_DOCUMENT_END:
                if (rd->root && !json_is_null(rd->root))
                        json_array_append(rd->documents, rd->root);
                json_decref(steal(rd->root));
                forget_anchors(rd);
                return 0;
        case YAML_TOKEN_ALIAS:
                r = yaml_alias(rd, t, &value);
                return r < 0 ? r : yaml_add(rd, t, value);
        case YAML_TOKEN_END:
                return close_frame(rd, t);
        default:
                break;
        }
        if ((r = yaml_count(rd, t, 1)) < 0)
                return r;
        return t->kind == YAML_TOKEN_SCALAR ? take_scalar(rd, t) : open_frame(rd, t);
}

int yaml_parse_all(const char *text, size_t len, json_t **out, struct fst_error *error)
{
        const struct yaml_ops *ops;
        char message[512] = "";
        if (len > YAML_MAX_BYTES)
                return error_set(error, -EFBIG, "more than %u bytes of YAML", YAML_MAX_BYTES);
        int r = yaml_load(&ops, error);
        if (r < 0)
                return r;
        _cleanup_(yaml_reader_deinit) struct yaml_reader rd = {.documents = json_array(), .error = error};
        r = ops->parse(text, len, yaml_take, &rd, message, sizeof(message));
        if (r < 0)
                return message[0] ? error_set(error, r, "%s", message) : r;
        *out = steal(rd.documents);
        return 0;
}

int yaml_parse(const char *text, size_t len, json_t **out, struct fst_error *error)
{
        json_t *all;
        int r = yaml_parse_all(text, len, &all, error);
        if (r < 0)
                return r;
        if (json_array_size(all) > 1)
                r = error_set(error, -EINVAL, "%zu documents instead of one", json_array_size(all));
        else
                *out = json_array_size(all) ? json_incref(json_array_get(all, 0)) : json_null();
        json_decref(all);
        return r;
}
