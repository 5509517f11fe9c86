/* Tests how local files are read: from the page cache, ahead of computation when it is cold, and with O_DIRECT. */
#include "io/fs/local_fs.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "io/ahead/read_ahead.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define FILE_SIZE ((size_t)3 << 20 | 1234)

static char local[] = "local_fs_test.XXXXXX"; /* in the build's directory: /tmp may be in memory */
static char *path;
static unsigned char *content;

static int make_file(void **state)
{
        char folder[4096];
        content = malloc(FILE_SIZE);
        for (size_t i = 0; i < FILE_SIZE; i++)
                content[i] = (unsigned char)(i * 2654435761u >> 13);
        int fd = mkstemp(local);
        bool written = fd >= 0 && write(fd, content, FILE_SIZE) == (ssize_t)FILE_SIZE && fdatasync(fd) == 0;
        close(fd);
        if (!written || !getcwd(folder, sizeof(folder)))
                return -1;
        path = mem_printf("file:%s/%s", folder, local);
        return 0;
}

static int remove_file(void **state)
{
        unlink(local);
        free(path);
        free(content);
        return 0;
}

static int reset(void **state)
{
        local_fs_configure(true, false);
        read_ahead_configure(8, READ_AHEAD_ANY);
        return 0;
}

/* Removes the file from the page cache, where its file system allows. */
static void evict(void)
{
        int fd = open(local, O_RDONLY);
        posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
        close(fd);
}

static struct open_file open_test_file(uint64_t wanted)
{
        struct open_file file = OPEN_FILE_INIT;
        struct fst_error error = FST_ERROR_INIT;
        assert_int_equal(local_fs.open(&local_fs, path, &file, &error), 0);
        file.wanted = wanted;
        return file;
}

static void check_range(struct open_file *file, uint64_t at, size_t size)
{
        struct fst_error error = FST_ERROR_INIT;
        unsigned char *got = malloc(size);
        size_t want = at < FILE_SIZE ? MIN(size, FILE_SIZE - at) : 0;
        assert_int_equal(local_fs.read_at(file, got, size, at, &error), want);
        assert_memory_equal(got, content + MIN(at, FILE_SIZE), want);
        free(got);
}

static void check_whole(struct open_file *file)
{
        for (uint64_t at = 0; at <= FILE_SIZE; at += 100000)
                check_range(file, at, 100000);
        check_range(file, FILE_SIZE, 10);
}

static void test_cached_file_is_not_read_ahead(void **state)
{
        struct open_file file = open_test_file(0);
        check_whole(&file);
        local_fs.close(&file, NULL);
        file = open_test_file(FILE_SIZE);
        check_whole(&file);
        assert_null(file.state);
        local_fs.close(&file, NULL);
}

static void test_cold_file_is_read_ahead(void **state)
{
        static const enum read_ahead_engine engines[] = {READ_AHEAD_ANY, READ_AHEAD_THREAD};
        for (size_t i = 0; i < ARRAY_SIZE(engines); i++) {
                read_ahead_configure(4, engines[i]);
                evict();
                struct open_file file = open_test_file(2 << 20);
                check_range(&file, 0, 5000);
                bool cold = file.state != NULL; /* not in a file system in memory */
                check_whole(&file);
                check_range(&file, 7, 300000);
                local_fs.close(&file, NULL);
                assert_null(file.state);
                if (!cold)
                        skip();
        }
}

static void test_nothing_is_read_ahead_without_need(void **state)
{
        static const uint64_t wanted[] = {0, 4096, READ_AHEAD_BLOCK};
        for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
                evict();
                struct open_file file = open_test_file(wanted[i]);
                check_range(&file, 0, 1000);
                assert_null(file.state);
                local_fs.close(&file, NULL);
        }
        local_fs_configure(false, false);
        evict();
        struct open_file file = open_test_file(FILE_SIZE);
        check_whole(&file);
        assert_null(file.state);
        local_fs.close(&file, NULL);
}

/* True if a read that may not wait finds nothing in the page cache. */
static bool is_cold(void)
{
        struct open_file file = open_test_file(FILE_SIZE);
        check_range(&file, 1 << 20, 4096);
        bool cold = file.state != NULL;
        local_fs.close(&file, NULL);
        return cold;
}

static void test_direct_reads_leave_page_cache_alone(void **state)
{
        evict();
        if (!is_cold()) /* a file system in memory */
                skip();
        evict();
        local_fs_configure(true, true);
        struct open_file file = open_test_file(FILE_SIZE);
        if (!(fcntl(file.fd, F_GETFL) & O_DIRECT)) {
                local_fs.close(&file, NULL);
                skip();
        }
        check_whole(&file);
        check_range(&file, 12345, 7);
        local_fs.close(&file, NULL);
        local_fs_configure(true, false);
        assert_true(is_cold());
}

static void test_direct_is_refused_by_some_file_systems(void **state)
{
        struct open_file file = OPEN_FILE_INIT;
        struct fst_error error = FST_ERROR_INIT;
        char got[5] = "";
        local_fs_configure(true, true);
        assert_int_equal(local_fs.open(&local_fs, "file:/proc/version", &file, &error), 0);
        assert_int_equal(fcntl(file.fd, F_GETFL) & O_DIRECT, 0);
        assert_int_equal(local_fs.read_at(&file, got, sizeof(got), 0, &error), sizeof(got));
        assert_memory_equal(got, "Linux", sizeof(got));
        local_fs.close(&file, NULL);
}

static void test_names_file_and_problem(void **state)
{
        for (int direct = 0; direct < 2; direct++) {
                struct open_file file = OPEN_FILE_INIT;
                struct fst_error error = FST_ERROR_INIT;
                char got[5];
                local_fs_configure(true, direct);
                assert_int_equal(local_fs.open(&local_fs, "file:/nonexistent/x", &file, &error), -ENOENT);
                assert_string_equal(error_message(&error), "opening file:/nonexistent/x: No such file or directory");
                error_deinit(&error);
                assert_int_equal(local_fs.open(&local_fs, "file:/proc", &file, &error), -EISDIR);
                assert_string_equal(error_message(&error), "opening file:/proc: it is a directory");
                error_deinit(&error);
                file = open_test_file(FILE_SIZE);
                int good = file.fd;
                file.fd = open(local, O_WRONLY);
                assert_int_equal(local_fs.read_at(&file, got, sizeof(got), 100, &error), -EBADF);
                _cleanup_free_ char *want = mem_printf("reading %s at byte 100: Bad file descriptor", path);
                assert_string_equal(error_message(&error), want);
                error_deinit(&error);
                close(good);
                local_fs.close(&file, NULL);
        }
}

static void test_file_ends_where_it_is_truncated(void **state)
{
        char shrinking[] = "local_fs_test.XXXXXX";
        int fd = mkstemp(shrinking);
        assert_int_equal(write(fd, content, FILE_SIZE), FILE_SIZE);
        assert_int_equal(fdatasync(fd), 0);
        _cleanup_free_ char *name = mem_printf("%.*s%s", (int)(strlen(path) - strlen(local)), path, shrinking);
        unsigned char *got = malloc(FILE_SIZE);
        for (int direct = 1; direct >= 0; direct--) {
                struct open_file file = OPEN_FILE_INIT;
                struct fst_error error = FST_ERROR_INIT;
                local_fs_configure(true, direct);
                read_ahead_configure(1, READ_AHEAD_ANY);
                assert_int_equal(ftruncate(fd, FILE_SIZE), 0);
                assert_int_equal(fdatasync(fd), 0);
                posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
                assert_int_equal(local_fs.open(&local_fs, name, &file, &error), 0);
                file.wanted = FILE_SIZE;
                assert_int_equal(local_fs.read_at(&file, got, 10, 0, &error), 10);
                assert_int_equal(ftruncate(fd, 1000000), 0);
                assert_int_equal(local_fs.read_at(&file, got, FILE_SIZE, 0, &error), 1000000);
                assert_memory_equal(got, content, 1000000);
                assert_int_equal(local_fs.read_at(&file, got, 10, 1000000, &error), 0);
                local_fs.close(&file, NULL);
        }
        free(got);
        close(fd);
        unlink(shrinking);
}

static void test_configuration_is_checked(void **state)
{
        static const struct {
                const char *key, *value, *message;
        } bad[] = {
                {"spark.firesteel.io.readAhead", "-1",
                 "spark.firesteel.io.readAhead must not be negative, but was -1: use 0 to read nothing ahead"},
                {"spark.firesteel.io.readAhead", "17m",
                 "spark.firesteel.io.readAhead must be at most 16m, but was 17825792 bytes: each running task takes as "
                 "much memory"},
                {"spark.firesteel.io.direct", "yes",
                 "spark.firesteel.io.direct should be boolean, but was yes: use true or false"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
                struct fst_conf conf = {0};
                struct fst_error error = FST_ERROR_INIT;
                strmap_set(&conf.set, bad[i].key, bad[i].value);
                assert_int_equal(local_fs_read_conf(&conf, &error), -EINVAL);
                assert_string_equal(error_message(&error), bad[i].message);
                error_deinit(&error);
                strmap_deinit(&conf.set);
        }
        struct fst_conf conf = {0};
        struct fst_error error = FST_ERROR_INIT;
        strmap_set(&conf.set, "spark.firesteel.io.readAhead", "0");
        assert_int_equal(local_fs_read_conf(&conf, &error), 0);
        evict();
        struct open_file file = open_test_file(FILE_SIZE);
        check_whole(&file);
        assert_null(file.state);
        local_fs.close(&file, NULL);
        strmap_deinit(&conf.set);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup(test_cached_file_is_not_read_ahead, reset),
                cmocka_unit_test_setup(test_cold_file_is_read_ahead, reset),
                cmocka_unit_test_setup(test_nothing_is_read_ahead_without_need, reset),
                cmocka_unit_test_setup(test_direct_reads_leave_page_cache_alone, reset),
                cmocka_unit_test_setup(test_direct_is_refused_by_some_file_systems, reset),
                cmocka_unit_test_setup(test_names_file_and_problem, reset),
                cmocka_unit_test_setup(test_file_ends_where_it_is_truncated, reset),
                cmocka_unit_test_setup(test_configuration_is_checked, reset),
        };
        return cmocka_run_group_tests(tests, make_file, remove_file);
}
