/*
 * A configuration: what was set, on top of the table of keys (conf/keys.h) that knows each key's type, unit,
 * default and meaning.
 *
 * The typed getters read a key of the table: the value that was set, or that of an older spelling of the key, or
 * the default; `${spark.x}`, `${env:X}` and `${system:x}` are substituted (conf/substitute.h). A value that cannot
 * be read is an error that names key, value and the expected unit. Asking for a key that the table does not have,
 * or as another type than the table says, is a bug and aborts.
 *
 * Once handed to a context a configuration is read from several threads and not changed any more.
 */
#pragma once

#include "base/strmap.h"

#include <firesteel/context.h>

#include <stdint.h>

struct fst_error;

struct fst_conf {
        struct strmap set;
        bool taken; /* of fst_conf_new: a context owns it */
};

/* Whether the application's @conf exists and was not taken over; now it is. */
bool conf_take(struct fst_conf *conf);

void conf_init(struct fst_conf *conf);
void conf_deinit(struct fst_conf *conf);
void conf_free(struct fst_conf *conf);

/* Set, replacing. A deprecated key is set all the same, with one warning in the life of the process. */
void conf_set(struct fst_conf *conf, const char *key, const char *value);
void conf_set_if_missing(struct fst_conf *conf, const char *key, const char *value);
bool conf_contains(const struct fst_conf *conf, const char *key);

/* The raw value that was set, without default or substitution; NULL if none was. Borrowed. */
const char *conf_get_raw(const struct fst_conf *conf, const char *key);

/* The value in force (set, older spelling, default) without substitution; NULL if there is none. Borrowed. */
const char *conf_get_value(const struct fst_conf *conf, const char *key);

/* Warn about each key of @set that has no effect on a native application (key_warn_unused). */
void conf_warn_unused(const struct strmap *set);

/*
 * What submit prepared for this process before the application's main runs, from which fst_conf_new starts. Set
 * once, before there are threads; borrowed, must stay. NULL while nothing was prepared.
 */
void conf_set_prepared(const struct fst_conf *conf);
const struct fst_conf *conf_prepared(void);

/*
 * Typed reads; 0, or -EINVAL with @error set and *@out untouched. Units of the result are fixed: bytes,
 * milliseconds. A string's result is NULL where neither value nor default exists; the caller owns it. The others
 * fail for such a key: ask conf_get_value or conf_contains first. Any key can be read as a string.
 */
int conf_get_string(const struct fst_conf *conf, const char *key, char **out, struct fst_error *error);
int conf_get_bool(const struct fst_conf *conf, const char *key, bool *out, struct fst_error *error);
int conf_get_int(const struct fst_conf *conf, const char *key, int64_t *out, struct fst_error *error);
int conf_get_double(const struct fst_conf *conf, const char *key, double *out, struct fst_error *error);
int conf_get_bytes(const struct fst_conf *conf, const char *key, int64_t *out, struct fst_error *error);
int conf_get_ms(const struct fst_conf *conf, const char *key, int64_t *out, struct fst_error *error);
