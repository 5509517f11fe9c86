/*
 * Permissions to view pages and to modify what they show: spark.acls.enable, spark.ui.view.acls, spark.modify.acls,
 * spark.admin.acls and their groups (Spark: SecurityManager). The user of this process may do everything.
 */
#pragma once

#include <stdbool.h>

struct access;
struct fst_conf;
struct fst_error;

/* Reads the settings once. Returns -EINVAL with @error for a group mapping other than the system's. */
int access_new(const struct fst_conf *conf, struct access **out, struct fst_error *error);
void access_free(struct access *a); /* NULL is allowed */

/*
 * Without spark.acls.enable everyone may. With it, an unknown user (@user NULL) may only what "*" may. Spark lets an
 * unknown user do everything.
 */
bool access_may_view(const struct access *a, const char *user);
bool access_may_modify(const struct access *a, const char *user);
bool access_is_admin(const struct access *a, const char *user);
