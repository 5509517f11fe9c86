/*
 * Settings as Spark's table reads them, where pods are made: with the ranges it has for them, and its sentences. What
 * a key is comes from conf/keys.h; references in values are substituted.
 */
#pragma once

#include "base/string_list.h"

#include <stdbool.h>
#include <stdint.h>

struct fst_error;
struct kube_conf;

/* The value or default in *@out, NULL for none; the caller's. -EINVAL with @error for one that is not among the
 * choices. */
int kube_string(const struct kube_conf *c, const char *key, char **out, struct fst_error *error);

/* The same for keys with a value or default. Times are in seconds, sizes in MiB. */
int kube_bool(const struct kube_conf *c, const char *key, bool *out, struct fst_error *error);
int kube_int(const struct kube_conf *c, const char *key, int64_t *out, struct fst_error *error);
int kube_double(const struct kube_conf *c, const char *key, double *out, struct fst_error *error);
int kube_mib(const struct kube_conf *c, const char *key, int64_t *out, struct fst_error *error);
int kube_seconds(const struct kube_conf *c, const char *key, int64_t *out, struct fst_error *error);

/* Append the elements of a list. */
int kube_list(const struct kube_conf *c, const char *key, struct string_list *out, struct fst_error *error);

/* A number that was set, or @otherwise, whatever the table says. */
int kube_number(const struct kube_conf *c, const char *key, int64_t otherwise, int64_t *out, struct fst_error *error);

/* As Java prints it: "0.1". The caller owns it. */
char *kube_show_double(double number);

/* Whether it was set. */
bool kube_is_set(const struct kube_conf *c, const char *key);
