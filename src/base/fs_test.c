/* Creates nested directories, existing ones, and ones whose path a file blocks. */
#include "base/fs.h"

#include "base/mem.h"
#include "unit/temp_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void test_all_of_a_path_is_made(void **state)
{
        struct stat st;
        _cleanup_free_ char *deep = temp_dir_path("a//b/c/"), *file = temp_dir_path("file"),
                            *below = temp_dir_path("file/x/y"), *at_file = temp_dir_path("a/b");
        assert_int_equal(make_dirs(deep, 0700), 0);
        assert_int_equal(make_dirs(deep, 0700), 0);
        assert_int_equal(stat(at_file, &st), 0);
        assert_int_equal(st.st_mode & 0777, 0700);
        close(open(file, O_CREAT | O_WRONLY, 0600));
        assert_int_equal(make_dirs(file, 0700), -ENOTDIR);
        assert_int_equal(make_dirs(below, 0700), -ENOTDIR);
        assert_int_equal(make_dirs("", 0700), -ENOENT);
        assert_int_equal(make_dirs("/proc/none/x", 0700), -ENOENT);
}

int main(void)
{
        const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_of_a_path_is_made)};
        return cmocka_run_group_tests(tests, temp_dir_make, temp_dir_remove);
}
