/* Writes of several parts that the system takes piece by piece, and their failures. */
#include "io/durable_file.h"

#include "base/mem.h"
#include "unit/temp_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static size_t most;                    /* bytes that a call takes */
static int n_calls, fails_at, failure; /* the call that fails, and its errno; 0: it writes nothing */

static ssize_t short_pwritev(int fd, const struct iovec *parts, int n, off_t at)
{
        if (++n_calls == fails_at) {
                errno = failure;
                return failure ? -1 : 0;
        }
        return pwrite(fd, parts->iov_base, MIN(parts->iov_len, most), at);
}

static int failing_fsync(int fd)
{
        errno = ENOSPC;
        return -1;
}

static const struct durable_file_calls faulty = {.pwritev = short_pwritev, .fsync = failing_fsync};

static int durable_file_test_reset(void **state)
{
        durable_file_calls = &durable_file_default;
        n_calls = fails_at = 0;
        return 0;
}

/* Writes "abcdef" in three parts, one of them empty, behind "12". Returns the result, and the @content of the file. */
static int write_parts(char content[16])
{
        struct iovec parts[] = {{(char *)"", 0}, {(char *)"abc", 3}, {(char *)"", 0}, {(char *)"def", 3}};
        _cleanup_free_ char *path = mem_printf("%s/file", temp_dir);
        int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        assert_int_equal(pwrite(fd, "12", 2, 0), 2);
        int r = durable_file_write(fd, parts, 4, 2);
        ssize_t n = pread(fd, content, 15, 0);
        content[MAX(n, 0)] = '\0';
        close(fd);
        return r;
}

static void writes_all_parts(void **state)
{
        char content[16];
        assert_int_equal(write_parts(content), 0);
        assert_string_equal(content, "12abcdef");
        durable_file_calls = &faulty;
        for (most = 1; most < 5; most++) {
                assert_int_equal(write_parts(content), 0);
                assert_string_equal(content, "12abcdef");
        }
        assert_int_equal(durable_file_write(-1, NULL, 0, 0), 0);
}

static void continues_after_an_interruption(void **state)
{
        char content[16];
        durable_file_calls = &faulty;
        most = 2;
        fails_at = 2;
        failure = EINTR;
        assert_int_equal(write_parts(content), 0);
        assert_string_equal(content, "12abcdef");
}

static void returns_the_error_of_a_failed_write(void **state)
{
        char content[16];
        durable_file_calls = &faulty;
        most = 2;
        fails_at = 3;
        failure = ENOSPC;
        assert_int_equal(write_parts(content), -ENOSPC);
        assert_string_equal(content, "12abc");
        n_calls = failure = 0;
        assert_int_equal(write_parts(content), -EIO); /* no error, and no progress */
}

static void syncs_directories(void **state)
{
        _cleanup_free_ char *missing = mem_printf("%s/missing", temp_dir);
        assert_int_equal(durable_file_sync_directory(temp_dir), 0);
        assert_int_equal(durable_file_sync_directory(missing), -ENOENT);
        durable_file_calls = &faulty;
        assert_int_equal(durable_file_sync_directory(temp_dir), -ENOSPC);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_teardown(writes_all_parts, durable_file_test_reset),
                cmocka_unit_test_teardown(continues_after_an_interruption, durable_file_test_reset),
                cmocka_unit_test_teardown(returns_the_error_of_a_failed_write, durable_file_test_reset),
                cmocka_unit_test_teardown(syncs_directories, durable_file_test_reset),
        };
        return cmocka_run_group_tests(tests, temp_dir_make, temp_dir_remove);
}
