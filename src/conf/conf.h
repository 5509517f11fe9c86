/*
 * A configuration: the values that were set, on top of the table of keys (conf/keys.h) with each key's type, unit,
 * default and meaning.
 *
 * The typed getters read a key of the table: the value set for it, or for an older spelling of it, or its default. They
 * substitute `${spark.x}`, `${env:X}` and `${system:x}` (conf/substitute.h). For an invalid value, the error names key,
 * value and expected unit. A key or type that is not in the table is a bug and aborts.
 *
 * Threads: once a context has a configuration, several threads read it and none changes it.
 */
#pragma once

#include "base/strmap.h"

#include <firesteel/context.h>

#include <stdint.h>

struct fst_error;

struct fst_conf {
        struct strmap set;
        bool taken; /* by a context (for fst_conf_new) */
};

/* Take over the application's @conf. Returns false if it does not exist or was already taken. */
bool conf_take(struct fst_conf *conf);

void conf_init(struct fst_conf *conf);
void conf_deinit(struct fst_conf *conf);
void conf_free(struct fst_conf *conf);

/* Set a value, replacing the old one. A deprecated key is set too, with one warning in the life of the process. */
void conf_set(struct fst_conf *conf, const char *key, const char *value);
void conf_set_if_missing(struct fst_conf *conf, const char *key, const char *value);
bool conf_contains(const struct fst_conf *conf, const char *key);

/* Returns the value that was set, without default or substitution, or NULL. Borrowed. */
const char *conf_get_raw(const struct fst_conf *conf, const char *key);

/* Returns the effective value (set, older spelling, default) without substitution, or NULL. Borrowed. */
const char *conf_get_value(const struct fst_conf *conf, const char *key);

/* Warn about each key of @set that has no effect on a native application (key_warn_unused). */
void conf_warn_unused(const struct strmap *set);

/* Warn about each key of @set that is probably misspelled (key_warn_misspelled). */
void conf_warn_misspelled(const struct strmap *set);

/*
 * The configuration that submit prepared for this process, from which fst_conf_new starts. Set once, before there are
 * threads. Borrowed: it must stay. NULL: none.
 */
void conf_set_prepared(const struct fst_conf *conf);
const struct fst_conf *conf_prepared(void); /* for tests */

/*
 * Typed reads. They return 0, or -EINVAL with @error and *@out unchanged. Results are in bytes or milliseconds.
 * conf_get_string reads any key. Its result is NULL without value and default, and the caller owns it. The other
 * functions fail for such a key: check it with conf_get_value or conf_contains first.
 */
int conf_get_string(const struct fst_conf *conf, const char *key, char **out, struct fst_error *error);
int conf_get_bool(const struct fst_conf *conf, const char *key, bool *out, struct fst_error *error);
int conf_get_int(const struct fst_conf *conf, const char *key, int64_t *out, struct fst_error *error);
int conf_get_double(const struct fst_conf *conf, const char *key, double *out, struct fst_error *error);
int conf_get_bytes(const struct fst_conf *conf, const char *key, int64_t *out, struct fst_error *error);
int conf_get_ms(const struct fst_conf *conf, const char *key, int64_t *out, struct fst_error *error);

/*
 * Reads true or false in any case. Leaves *@out as it is if the key has neither a value nor a default. The table of
 * keys need not have it. Returns 0, or -EINVAL with @error.
 */
int conf_read_bool(const struct fst_conf *conf, const char *key, bool *out, struct fst_error *error);

/*
 * Reads a whole number that must fit an int. Leaves *@out as it is if the key has neither a value nor a default.
 * Returns 0, or -EINVAL with @error.
 */
int conf_read_int(const struct fst_conf *conf, const char *key, int *out, struct fst_error *error);

/* getenv, for functions that take the environment as a function. */
const char *conf_environment(const char *name);

/* Removes control characters and blanks from both ends, in place, as Java's String.trim. Returns the new start. */
char *conf_trim(char *text);
