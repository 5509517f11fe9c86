/*
 * Who may see pages and who may change what they show: spark.acls.enable, spark.ui.view.acls, spark.modify.acls,
 * spark.admin.acls and their groups, as Spark's SecurityManager has them. The user whose process this is may do
 * everything.
 */
#pragma once

#include <stdbool.h>

struct access;
struct fst_conf;
struct fst_error;

/* Read once. -EINVAL with @error for a mapping of groups that is not the system's own. */
int access_new(const struct fst_conf *conf, struct access **out, struct fst_error *error);
void access_free(struct access *a); /* NULL is allowed */

/*
 * Without spark.acls.enable everybody may. With it, @user NULL (nobody knows who asks) may only what "*" may: Spark
 * lets such a one do everything.
 */
bool access_may_view(const struct access *a, const char *user);
bool access_may_modify(const struct access *a, const char *user);
bool access_is_admin(const struct access *a, const char *user);
