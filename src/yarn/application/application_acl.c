/* See application_acl.h. Follows SecurityManager and YarnSparkHadoopUtil of Spark 4.3. */
#include "yarn/application/application_acl.h"

#include "base/buf.h"
#include "base/mem.h"
#include "process/os_user.h"
#include "base/string_list.h"
#include "conf/conf_list.h"

#include <string.h>
#include <unistd.h>

enum { ACCESS_VIEW = 1, ACCESS_MODIFY = 2 };

static bool application_acl_has(const struct string_list *list, const char *name)
{
        for (size_t i = 0; i < list->len; i++)
                if (strcmp(list->data[i], name) == 0)
                        return true;
        return false;
}

/* Appends the distinct names of the list @first, of @users (NULL: none) and of the list @last; "*" alone if it is among
 * them. */
static int application_acl_put(const struct fst_conf *conf, const char *first, const char *const *users,
                               const char *last, struct buf *out, struct fst_error *error)
{
        _cleanup_(string_list_deinit) struct string_list all = {0};
        struct string_list *names = &all;
        int r = conf_list_read(conf, first, names, error);
        for (; users && *users; users++)
                string_list_add(names, *users);
        if (r == 0)
                r = conf_list_read(conf, last, names, error);
        if (application_acl_has(names, "*"))
                buf_putc(out, '*');
        for (size_t i = 0; i < names->len && !application_acl_has(names, "*"); i++) {
                const struct string_list before = {.data = names->data, .len = i};
                if (!application_acl_has(&before, names->data[i]))
                        buf_printf(out, "%s%s", i ? "," : "", names->data[i]);
        }
        return r;
}

int application_acl(const struct fst_conf *conf, const char *os_user, const char *user, bool view, char **out,
                    struct fst_error *error)
{
        const char *const users[] = {os_user, user, NULL};
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        int r = application_acl_put(conf, "spark.admin.acls", users, view ? "spark.ui.view.acls" : "spark.modify.acls",
                                    &text, error);
        buf_putc(&text, ' ');
        if (r == 0)
                r = application_acl_put(conf, "spark.admin.acls.groups", NULL,
                                        view ? "spark.ui.view.acls.groups" : "spark.modify.acls.groups", &text, error);
        if (r == 0)
                *out = buf_steal(&text);
        return r;
}

int application_acls(const struct fst_conf *conf, const char *user, char **view, char **modify, struct fst_error *error)
{
        const char *account = os_user_name(), *os_user = account ? account : user;
        _cleanup_free_ char *first = NULL;
        int r = application_acl(conf, os_user, user, true, &first, error);
        r = r < 0 ? r : application_acl(conf, os_user, user, false, modify, error);
        if (r == 0)
                *view = steal(first);
        return r;
}

static Firesteel__Yarn__ApplicationAcl *application_acl_message(struct arena *arena, int access, char *text)
{
        Firesteel__Yarn__ApplicationAcl *m = arena_alloc(arena, sizeof(*m));
        firesteel__yarn__application_acl__init(m);
        m->has_access = true;
        m->access = access;
        m->acl = text;
        return m;
}

void application_acl_attach(char *view, char *modify, struct arena *arena,
                            Firesteel__Yarn__ContainerLaunchContext *container)
{
        container->n_acls = 2;
        container->acls = arena_alloc(arena, 2 * sizeof(*container->acls));
        container->acls[0] = application_acl_message(arena, ACCESS_VIEW, view);
        container->acls[1] = application_acl_message(arena, ACCESS_MODIFY, modify);
}
