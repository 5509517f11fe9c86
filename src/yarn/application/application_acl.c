/* See application_acl.h. Follows SecurityManager and YarnSparkHadoopUtil of Spark 4.3. */
#include "yarn/application/application_acl.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/string_list.h"
#include "yarn/conf/conf_list.h"

#include <string.h>

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
