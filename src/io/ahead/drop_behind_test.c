/* Tests that data which was written or read leaves the page cache, and that the default keeps it. */
#include "io/ahead/drop_behind.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define FILE_SIZE ((size_t)24 << 20)

static char *content;
static int fd = -1;

static int open_file(void **state)
{
        char name[] = "drop_behind_test.XXXXXX"; /* in the build's directory: /tmp may be in memory */
        content = malloc(FILE_SIZE);
        for (size_t i = 0; i < FILE_SIZE; i++)
                content[i] = (char)(i * 2654435761u >> 19);
        fd = mkstemp(name);
        unlink(name);
        return fd < 0;
}

static int close_file(void **state)
{
        drop_behind_configure(false);
        close(fd);
        free(content);
        return 0;
}

/* The bytes of the file that are in the page cache. */
static size_t cached(void)
{
        static unsigned char pages[FILE_SIZE / 4096];
        void *map = mmap(NULL, FILE_SIZE, PROT_READ, MAP_SHARED, fd, 0);
        size_t n = 0;
        assert_true(map != MAP_FAILED);
        assert_int_equal(mincore(map, FILE_SIZE, pages), 0);
        for (size_t i = 0; i < ARRAY_SIZE(pages); i++)
                n += pages[i] & 1;
        munmap(map, FILE_SIZE);
        return n * 4096;
}

/* Writes the file in odd pieces of two parts. */
static void write_file(void)
{
        for (size_t at = 0; at < FILE_SIZE;) {
                size_t first = MIN((size_t)70001, FILE_SIZE - at), second = MIN((size_t)190002, FILE_SIZE - at - first);
                struct iovec parts[] = {{content + at, first}, {content + at + first, second}};
                assert_int_equal(drop_behind_pwritev(fd, parts, 2, at), first + second);
                at += first + second;
        }
}

static void read_file(void)
{
        static char piece[200000];
        for (size_t at = 0; at < FILE_SIZE;) {
                ssize_t n = pread(fd, piece, sizeof(piece), (off_t)at);
                assert_true(n > 0);
                assert_memory_equal(piece, content + at, (size_t)n);
                errno = ENOENT;
                drop_behind_was_read(fd, at, (uint64_t)n);
                assert_int_equal(errno, ENOENT);
                at += (size_t)n;
        }
}

static void test_keeps_data_by_default(void **state)
{
        write_file();
        read_file();
        assert_int_equal(cached(), FILE_SIZE);
}

static void test_read_data_leaves_page_cache(void **state)
{
        assert_int_equal(fdatasync(fd), 0);
        posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
        if (cached() > 0) /* a file system in memory */
                skip();
        drop_behind_configure(true);
        read_file();
        assert_true(cached() <= FILE_SIZE / 4);
}

static void test_written_data_leaves_page_cache(void **state)
{
        posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
        if (cached() > FILE_SIZE / 2)
                skip();
        drop_behind_configure(true);
        write_file();
        assert_true(cached() <= FILE_SIZE / 2); /* all but the last window of 8 MiB, or parts of pages */
        read_file();
}

static void test_reports_errors(void **state)
{
        struct iovec part = {content, 10};
        int folder = open("/", O_RDONLY | O_DIRECTORY);
        for (int enabled = 0; enabled < 2; enabled++) {
                drop_behind_configure(enabled);
                errno = 0;
                assert_int_equal(drop_behind_pwritev(folder, &part, 1, 0), -1);
                assert_int_equal(errno, EBADF);
                drop_behind_was_read(-1, 0, 10 << 20);
                assert_int_equal(errno, EBADF);
        }
        close(folder);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_keeps_data_by_default),
                cmocka_unit_test(test_read_data_leaves_page_cache),
                cmocka_unit_test(test_written_data_leaves_page_cache),
                cmocka_unit_test(test_reports_errors),
        };
        return cmocka_run_group_tests(tests, open_file, close_file);
}
