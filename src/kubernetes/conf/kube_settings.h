/*
 * Reads settings for building pods, with Spark's ranges and messages. conf/keys.h describes the keys. References in
 * values are substituted.
 */
#pragma once

#include "base/string_list.h"

#include <stdbool.h>
#include <stdint.h>

struct fst_error;
struct kube_conf;

/*
 * Sets *@out to the value or default, NULL for none. The caller owns it. Returns -EINVAL with @error for a value that
 * is not among the choices.
 */
int kube_string(const struct kube_conf *c, const char *key, char **out, struct fst_error *error);

/* As above, for keys with a value or default. Times are in seconds, sizes in MiB. */
int kube_bool(const struct kube_conf *c, const char *key, bool *out, struct fst_error *error);
int kube_int(const struct kube_conf *c, const char *key, int64_t *out, struct fst_error *error);
int kube_double(const struct kube_conf *c, const char *key, double *out, struct fst_error *error);
int kube_mib(const struct kube_conf *c, const char *key, int64_t *out, struct fst_error *error);
int kube_seconds(const struct kube_conf *c, const char *key, int64_t *out, struct fst_error *error);

/* Appends the elements of a list. */
int kube_list(const struct kube_conf *c, const char *key, struct string_list *out, struct fst_error *error);

/* Sets *@out to the set number, or to @otherwise, whatever the table's default is. */
int kube_number(const struct kube_conf *c, const char *key, int64_t otherwise, int64_t *out, struct fst_error *error);

/* Formats a double as Java does: "0.1". The caller owns it. */
char *kube_show_double(double number);

/* Whether the key is set. */
bool kube_is_set(const struct kube_conf *c, const char *key);
