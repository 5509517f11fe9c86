/* Access lists: each user once, "*" alone. */
#include "yarn/application/application_acl.h"

#include "base/mem.h"
#include "conf/conf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void access_lists_name_users_once(void **state)
{
        struct fst_conf conf;
        conf_init(&conf);
        _cleanup_free_ char *view = NULL, *modify = NULL, *all = NULL;
        assert_int_equal(application_acl(&conf, "root", "root", true, &view, NULL), 0);
        assert_string_equal(view, "root ");
        conf_set(&conf, "spark.admin.acls", "boss");
        conf_set(&conf, "spark.modify.acls", "ann,bob");
        conf_set(&conf, "spark.modify.acls.groups", "g,h");
        assert_int_equal(application_acl(&conf, "root", "me", false, &modify, NULL), 0);
        assert_string_equal(modify, "boss,root,me,ann,bob g,h");
        conf_set(&conf, "spark.ui.view.acls", "x,*");
        assert_int_equal(application_acl(&conf, "root", "me", true, &all, NULL), 0);
        assert_string_equal(all, "* ");
        conf_deinit(&conf);
}

int main(void)
{
        const struct CMUnitTest tests[] = {cmocka_unit_test(access_lists_name_users_once)};
        return cmocka_run_group_tests(tests, NULL, NULL);
}
