/*
 * Configurations; see conf.h.
 *
 * Set values are in a string map in the order of setting. A read tries the key, its older spellings, the table's
 * default, and the key whose value is the default. Only typed reads substitute, as in Spark, whose plain get() does
 * not. The prepared configuration is the only process-wide state: submit sets it once, before the application's main
 * runs.
 */
#include "conf/conf.h"

#include "base/error.h"
#include "base/live_handles.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/deprecated.h"
#include "conf/keys.h"
#include "conf/substitute.h"
#include "conf/units.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>

static const struct fst_conf *prepared;

void conf_init(struct fst_conf *conf)
{
        conf->set = STRMAP_INIT;
}

void conf_deinit(struct fst_conf *conf)
{
        strmap_deinit(&conf->set);
}

void conf_free(struct fst_conf *conf)
{
        if (!conf)
                return;
        int saved = errno;
        live_handle_remove(HANDLE_CONF, conf);
        conf_deinit(conf);
        free(conf);
        errno = saved;
}

void conf_set_prepared(const struct fst_conf *conf)
{
        prepared = conf;
}

const struct fst_conf *conf_prepared(void)
{
        return prepared;
}

void conf_set(struct fst_conf *conf, const char *key, const char *value)
{
        deprecated_warn(key);
        strmap_set(&conf->set, key, value);
}

void conf_set_if_missing(struct fst_conf *conf, const char *key, const char *value)
{
        if (strmap_set_if_missing(&conf->set, key, value))
                deprecated_warn(key);
}

void conf_warn_unused(const struct strmap *set)
{
        for (struct strmap_entry *e = NULL; (e = strmap_next(set, e));)
                key_warn_unused(e->key);
}

void conf_warn_misspelled(const struct strmap *set)
{
        for (struct strmap_entry *e = NULL; (e = strmap_next(set, e));)
                key_warn_misspelled(e->key);
}

const char *conf_get_raw(const struct fst_conf *conf, const char *key)
{
        return strmap_get(&conf->set, key);
}

/* Returns the value set for @key or else for the newest of its older spellings. */
static const char *conf_find_set(const struct fst_conf *conf, const struct key *key)
{
        const char *value = strmap_get(&conf->set, key->name);
        char name[128];
        for (const char *old = key->old; !value && *old;) {
                size_t length = strcspn(old, " ");
                assert(length < sizeof(name));
                memcpy(name, old, length);
                name[length] = '\0';
                value = strmap_get(&conf->set, name);
                old += length + (old[length] == ' ');
        }
        return value;
}

/*
 * Returns the effective value before substitution, or NULL. *@source receives the key that has it: @key, or one whose
 * value is its default. The table's fallbacks are not circular (keys_test).
 */
static const char *conf_find_value(const struct fst_conf *conf, const struct key *key, const char **source)
{
        struct key row = *key;
        for (;;) {
                const char *value = conf_find_set(conf, &row);
                if (!value)
                        value = row.value;
                *source = row.name;
                if (value || !row.same_as || !key_find(row.same_as, &row))
                        return value;
        }
}

bool conf_contains(const struct fst_conf *conf, const char *key)
{
        struct key row;
        return key_find(key, &row) ? conf_find_set(conf, &row) != NULL : strmap_get(&conf->set, key) != NULL;
}

const char *conf_get_value(const struct fst_conf *conf, const char *key)
{
        struct key row;
        const char *source;
        return key_find(key, &row) ? conf_find_value(conf, &row, &source) : strmap_get(&conf->set, key);
}

/* Gets the row of @key, which the caller knows to exist with one of @types (a set of bits). */
static void conf_find_row(const char *key, unsigned types, struct key *row)
{
        if (!key_find(key, row)) {
                fprintf(stderr, "firesteel: bug: the table of keys has no %s\n", key);
                abort();
        }
        if (types && !(types & 1u << row->type)) {
                fprintf(stderr, "firesteel: bug: %s is of type %s\n", key, key_type_name(row->type));
                abort();
        }
}

/* Sets *@out to the substituted value, or NULL without one. @row is the key's, with the name of the key that has the
 * value, for messages.
 */
static int conf_read_value(const struct fst_conf *conf, const char *key, unsigned types, struct key *row, char **out,
                           struct fst_error *error)
{
        conf_find_row(key, types, row);
        const char *source, *raw = conf_find_value(conf, row, &source);
        if (!raw) {
                *out = NULL;
                return 0;
        }
        row->name = source;
        return substitute(conf, raw, out, error);
}

const char *conf_environment(const char *name)
{
        return getenv(name);
}

char *conf_trim(char *text)
{
        while (*text && (unsigned char)*text <= ' ')
                text++;
        size_t n = strlen(text);
        while (n && (unsigned char)text[n - 1] <= ' ')
                text[--n] = '\0';
        return text;
}

static int conf_refuse_missing(const struct key *row, struct fst_error *error)
{
        return error_set(error, -EINVAL, "%s is not set and has no default: set it to a %s", row->name,
                         key_type_name(row->type));
}

int conf_get_string(const struct fst_conf *conf, const char *key, char **out, struct fst_error *error)
{
        struct key row;
        return conf_read_value(conf, key, 0, &row, out, error);
}

/* Reads the value of @key, which changes. */
static int conf_parse_bool(const char *key, char *value, bool *out, struct fst_error *error)
{
        const char *text = conf_trim(value);
        if (strcasecmp(text, "true") != 0 && strcasecmp(text, "false") != 0)
                return error_set(error, -EINVAL, "%s should be boolean, but was %s: use true or false", key, text);
        *out = strcasecmp(text, "true") == 0;
        return 0;
}

int conf_get_bool(const struct fst_conf *conf, const char *key, bool *out, struct fst_error *error)
{
        struct key row;
        _cleanup_free_ char *value = NULL;
        int r = conf_read_value(conf, key, 1u << KEY_BOOL, &row, &value, error);
        if (r < 0)
                return r;
        if (!value)
                return conf_refuse_missing(&row, error);
        return conf_parse_bool(row.name, value, out, error);
}

int conf_read_bool(const struct fst_conf *conf, const char *key, bool *out, struct fst_error *error)
{
        struct key row;
        const char *value = conf_get_value(conf, key);
        if (!value)
                return 0;
        if (key_find(key, &row))
                return conf_get_bool(conf, key, out, error);
        _cleanup_free_ char *text = mem_strdup(value);
        return conf_parse_bool(key, text, out, error);
}

/* Parses an optional sign and digits only, like Java. */
static bool conf_parse_long(const char *text, int64_t *out)
{
        const char *digits = text + (*text == '-' || *text == '+');
        if (!*digits || digits[strspn(digits, "0123456789")])
                return false;
        errno = 0;
        *out = strtoll(text, NULL, 10);
        return errno == 0;
}

int conf_get_int(const struct fst_conf *conf, const char *key, int64_t *out, struct fst_error *error)
{
        struct key row;
        _cleanup_free_ char *value = NULL;
        int r = conf_read_value(conf, key, 1u << KEY_INT | 1u << KEY_LONG, &row, &value, error);
        if (r < 0)
                return r;
        if (!value)
                return conf_refuse_missing(&row, error);
        int64_t number;
        if (!conf_parse_long(conf_trim(value), &number) ||
            (row.type == KEY_INT && (number < INT32_MIN || number > INT32_MAX)))
                return error_set(error, -EINVAL, "%s should be %s, but was %s", row.name, key_type_name(row.type),
                                 value);
        *out = number;
        return 0;
}

int conf_read_int(const struct fst_conf *conf, const char *key, int *out, struct fst_error *error)
{
        if (!conf_get_value(conf, key))
                return 0;
        int64_t value;
        int r = conf_get_int(conf, key, &value, error);
        if (r < 0)
                return r;
        if (value < INT32_MIN || value > INT32_MAX)
                return error_set(error, -EINVAL, "%s is %lld, but must be at most %d", key, (long long)value,
                                 INT32_MAX);
        *out = (int)value;
        return 0;
}

/* Parses like Java's Double.parseDouble, except its hexadecimal form. */
static bool conf_parse_double(const char *text, double *out)
{
        const char *bare = text + (*text == '-' || *text == '+');
        if (strcmp(bare, "NaN") == 0 || strcmp(bare, "Infinity") == 0) {
                *out = *bare == 'N' ? NAN : *text == '-' ? -INFINITY : INFINITY;
                return true;
        }
        if (!*bare || bare[strspn(bare, "0123456789.eE+-")])
                return false;
        char *end;
        *out = strtod(text, &end);
        return end != text && !*end;
}

int conf_get_double(const struct fst_conf *conf, const char *key, double *out, struct fst_error *error)
{
        struct key row;
        _cleanup_free_ char *value = NULL;
        int r = conf_read_value(conf, key, 1u << KEY_DOUBLE, &row, &value, error);
        if (r < 0)
                return r;
        if (!value)
                return conf_refuse_missing(&row, error);
        double number;
        if (!conf_parse_double(conf_trim(value), &number))
                return error_set(error, -EINVAL, "%s should be double, but was %s", row.name, value);
        *out = number;
        return 0;
}

static int conf_refuse_amount(const struct key *row, const char *value, int r, struct fst_error *error)
{
        return error_wrap(error, r, "%s=%s (a number without unit counts in %s)", row->name, value,
                          units_name(row->unit));
}

int conf_get_bytes(const struct fst_conf *conf, const char *key, int64_t *out, struct fst_error *error)
{
        struct key row;
        _cleanup_free_ char *value = NULL;
        int r = conf_read_value(conf, key, 1u << KEY_BYTES, &row, &value, error);
        if (r < 0)
                return r;
        if (!value)
                return conf_refuse_missing(&row, error);
        r = units_parse_bytes(value, row.unit, UNIT_B, out, error);
        return r < 0 ? conf_refuse_amount(&row, value, r, error) : 0;
}

int conf_get_ms(const struct fst_conf *conf, const char *key, int64_t *out, struct fst_error *error)
{
        struct key row;
        _cleanup_free_ char *value = NULL;
        int r = conf_read_value(conf, key, 1u << KEY_TIME, &row, &value, error);
        if (r < 0)
                return r;
        if (!value)
                return conf_refuse_missing(&row, error);
        r = units_parse_time(value, row.unit, UNIT_MS, out, error);
        return r < 0 ? conf_refuse_amount(&row, value, r, error) : 0;
}

fst_conf *fst_conf_new(void)
{
        struct fst_conf *conf = new0(struct fst_conf);
        conf_init(conf);
        if (prepared)
                strmap_merge(&conf->set, &prepared->set);
        live_handle_add(HANDLE_CONF, conf);
        return conf;
}

bool conf_take(struct fst_conf *conf)
{
        if (!live_handle_has(HANDLE_CONF, conf) || conf->taken)
                return false;
        conf->taken = true;
        return true;
}

/* Whether @function may use the application's configuration. Otherwise reports it. */
static bool conf_given(const fst_conf *conf, const char *key, const char *function)
{
        if (!live_handle_has(HANDLE_CONF, conf))
                log_error("SparkContext",
                          conf ? "%s was given a configuration that does not exist: it was freed, its context was "
                                 "stopped, or its variable was never set"
                               : "%s was given NULL instead of a configuration: fst_conf_new makes one",
                          function);
        else if (!key)
                log_error("SparkContext", "%s was given NULL instead of a key", function);
        else
                return true;
        return false;
}

void fst_conf_free(fst_conf *conf)
{
        if (!conf || !conf_given(conf, "", "conf_free"))
                return;
        if (conf->taken)
                log_error("SparkContext", "conf_free was given a configuration that belongs to a context: "
                                          "fst_context_stop frees it");
        else
                conf_free(conf);
}

void fst_conf_set(fst_conf *conf, const char *key, const char *value)
{
        if (!conf_given(conf, key, "conf_set"))
                return;
        if (value)
                conf_set(conf, key, value);
        else
                strmap_remove(&conf->set, key);
}

const char *fst_conf_get(const fst_conf *conf, const char *key)
{
        return conf_given(conf, key, "conf_get") ? conf_get_value(conf, key) : NULL;
}
