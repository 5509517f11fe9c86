/* See acls.h. Groups are the system's (getgrouplist). They are read only where a list of groups can decide. */
#include "web/acls.h"

#include "base/error.h"
#include "base/mem.h"
#include "process/os_user.h"
#include "base/strmap.h"
#include "conf/conf.h"

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

struct list {
        struct strmap users, groups;
};

struct access {
        bool enabled;
        struct list view, modify, admin;
};

static int acls_add_names(const struct fst_conf *conf, const char *key, struct strmap *out, struct fst_error *error)
{
        _cleanup_free_ char *text = NULL;
        int r = conf_get_string(conf, key, &text, error);
        for (char *at = text, *word; r == 0 && (word = strsep(&at, ", \t\n"));)
                if (*word)
                        strmap_set(out, word, "");
        return r;
}

/* SPARK_USER, and the user of this process. */
static void acls_add_own_user(struct strmap *out)
{
        const char *set = getenv("SPARK_USER");
        const char *account = os_user_name();
        if (set && *set)
                strmap_set(out, set, "");
        if (account)
                strmap_set(out, account, "");
}

static int acls_read_list(const struct fst_conf *conf, const char *users, const char *groups, struct list *out,
                          struct fst_error *error)
{
        int r = acls_add_names(conf, "spark.admin.acls", &out->users, error);
        if (r == 0)
                r = acls_add_names(conf, "spark.admin.acls.groups", &out->groups, error);
        if (r == 0 && users)
                r = acls_add_names(conf, users, &out->users, error);
        if (r == 0 && groups)
                r = acls_add_names(conf, groups, &out->groups, error);
        return r;
}

static int acls_read_mapping(const struct fst_conf *conf, struct fst_error *error)
{
        static const char own[] = "org.apache.spark.security.ShellBasedGroupsMappingProvider";
        _cleanup_free_ char *name = NULL;
        int r = conf_get_string(conf, "spark.user.groups.mapping", &name, error);
        if (r == 0 && strcmp(name, own) != 0)
                r = error_set(
                        error, -EINVAL,
                        "spark.user.groups.mapping: %s is a JVM class, which Firesteel cannot load: use %s, the groups of the "
                        "system",
                        name, own);
        return r;
}

int access_new(const struct fst_conf *conf, struct access **out, struct fst_error *error)
{
        struct access *a = new0(struct access);
        int r = conf_get_bool(conf, "spark.acls.enable", &a->enabled, error);
        if (r == 0 && a->enabled)
                r = acls_read_mapping(conf, error);
        if (r == 0)
                r = acls_read_list(conf, "spark.ui.view.acls", "spark.ui.view.acls.groups", &a->view, error);
        if (r == 0)
                r = acls_read_list(conf, "spark.modify.acls", "spark.modify.acls.groups", &a->modify, error);
        if (r == 0)
                r = acls_read_list(conf, NULL, NULL, &a->admin, error);
        if (r < 0) {
                access_free(a);
                return r;
        }
        acls_add_own_user(&a->view.users);
        acls_add_own_user(&a->modify.users);
        *out = a;
        return 0;
}

static void acls_list_deinit(struct list *l)
{
        strmap_deinit(&l->users);
        strmap_deinit(&l->groups);
}

void access_free(struct access *a)
{
        if (!a)
                return;
        acls_list_deinit(&a->view);
        acls_list_deinit(&a->modify);
        acls_list_deinit(&a->admin);
        free(a);
}

static bool acls_is_in_groups(const struct strmap *groups, const char *user)
{
        struct passwd entry, *found = NULL;
        char text[4096];
        gid_t ids[256];
        int n = ARRAY_SIZE(ids);
        if (groups->count == 0 || getpwnam_r(user, &entry, text, sizeof(text), &found) != 0 || !found)
                return false;
        if (getgrouplist(user, found->pw_gid, ids, &n) < 0)
                n = ARRAY_SIZE(ids); /* the first of several */
        for (int i = 0; i < n; i++) {
                struct group group, *known = NULL;
                char names[16384];
                if (getgrgid_r(ids[i], &group, names, sizeof(names), &known) == 0 && known &&
                    strmap_get(groups, known->gr_name))
                        return true;
        }
        return false;
}

static bool acls_is_in(const struct list *l, const char *user)
{
        if (strmap_get(&l->users, "*") || strmap_get(&l->groups, "*"))
                return true;
        return user && (strmap_get(&l->users, user) || acls_is_in_groups(&l->groups, user));
}

bool access_may_view(const struct access *a, const char *user)
{
        return !a->enabled || acls_is_in(&a->view, user);
}

bool access_may_modify(const struct access *a, const char *user)
{
        return !a->enabled || acls_is_in(&a->modify, user);
}

bool access_is_admin(const struct access *a, const char *user)
{
        return !a->enabled || acls_is_in(&a->admin, user);
}
