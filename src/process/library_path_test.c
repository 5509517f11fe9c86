/* LD_LIBRARY_PATH without this program's own directory. */
#include "process/library_path.h"

#include "base/fs.h"
#include "base/mem.h"
#include "unit/temp_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static void assert_left(const char *list, const char *folder, const char *left)
{
        _cleanup_free_ char *path = library_path_without(list, folder);
        assert_string_equal(path, left);
}

static void leaves_one_directory_out(void **state)
{
        assert_left("/own", "/own", "");
        assert_left("/a:/own:/b", "/own", "/a:/b");
        assert_left("/own:/a:/own", "/own", "/a");
        assert_left("/a:/owner:/b", "/own", "/a:/owner:/b");
        assert_left(":/a::/b:", "/own", "/a:/b"); /* an empty element would be the working directory */
        assert_left("", "/own", "");
}

static void follows_links(void **state)
{
        _cleanup_free_ char *folder = temp_dir_path("lib"), *link = temp_dir_path("link");
        assert_int_equal(make_dirs(folder, 0700), 0);
        assert_int_equal(symlink(folder, link), 0);
        _cleanup_free_ char *real = realpath(folder, NULL), *list = mem_printf("%s:/a", link);
        assert_left(list, real, "/a");
}

static void keeps_others(void **state)
{
        setenv("LD_LIBRARY_PATH", "/does/not/exist", 1);
        assert_null(library_path_of_programs());
        unsetenv("LD_LIBRARY_PATH");
        assert_null(library_path_of_programs());
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(leaves_one_directory_out),
                cmocka_unit_test(follows_links),
                cmocka_unit_test(keeps_others),
        };
        return cmocka_run_group_tests(tests, temp_dir_make, temp_dir_remove);
}
