/* Tests archives that are too large or contain paths outside of their directory. */
#include "exec/app/archive.h"

#include "base/error.h"
#include "base/fs.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "unit/temp_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static char *archive, *into;

static void shell(const char *command)
{
        _cleanup_free_ char *full = mem_printf("cd %s && %s", temp_dir, command);
        assert_int_equal(system(full), 0);
}

static int unpack(int64_t bytes, int64_t entries, struct fst_error *error)
{
        remove_tree(into);
        assert_int_equal(mkdir(into, 0700), 0);
        return archive_unpack(archive, into, &(struct archive_limits){bytes, entries}, error);
}

static bool is_there(const char *name)
{
        _cleanup_free_ char *path = mem_printf("%s/%s", into, name);
        return access(path, F_OK) == 0;
}

static void unpacks_archives_within_the_limits(void **state)
{
        struct fst_error error = FST_ERROR_INIT;
        shell("mkdir -p in/d && head -c 100000 /dev/zero > in/d/zeros && ln -sf d/zeros in/link && echo x > in/x && "
              "tar -czf a.tar in");
        if (unpack(100002, 5, &error))
                fail_msg("%s", error_message(&error));
        assert_true(is_there("in/d/zeros") && is_there("in/link") && is_there("in/x"));
}

static void rejects_more_bytes_than_allowed(void **state)
{
        struct fst_error error = FST_ERROR_INIT;
        assert_int_equal(unpack(100001, 5, &error), -EFBIG);
        assert_non_null(strstr(error_message(&error), archive));
        assert_non_null(strstr(error_message(&error), "it unpacks to more than 100001 bytes: raise "
                                                      "spark.firesteel.archives.maxSize"));
        error_deinit(&error);
        shell("head -c 200000000 /dev/zero > bomb && tar -czf a.tar bomb && rm bomb"); /* compresses to 200 kB */
        assert_int_equal(unpack(1000000, 5, &error), -EFBIG);
        struct stat st;
        _cleanup_free_ char *path = mem_printf("%s/bomb", into);
        assert_true(stat(path, &st) < 0 || st.st_blocks * 512 <= 1000000 + 4096);
        error_deinit(&error);
}

static void rejects_more_entries_than_allowed(void **state)
{
        struct fst_error error = FST_ERROR_INIT;
        shell("mkdir -p many && cd many && for i in 1 2 3 4 5 6 7 8 9; do : > $i; done && cd .. && tar -cf a.tar many");
        assert_int_equal(unpack(1000, 10, &error), 0);
        assert_int_equal(unpack(1000, 9, &error), -EFBIG);
        assert_non_null(strstr(error_message(&error), "it has more than 9 entries: raise "
                                                      "spark.firesteel.archives.maxEntries"));
        error_deinit(&error);
}

static void rejects_entries_outside_of_the_directory(void **state)
{
        static const char *const makes[] = {
                "echo x > up && tar -cPf a.tar --transform 's,^,../,' up",
                "echo x > up && tar -cPf a.tar --transform 's,^,/tmp/firesteel-absolute/,' up",
                "echo x > up && tar -cPf a.tar --transform 's,^,a/../../,' up",
        };
        for (size_t i = 0; i < ARRAY_SIZE(makes); i++) {
                struct fst_error error = FST_ERROR_INIT;
                shell(makes[i]);
                if (unpack(1000, 10, &error) == 0)
                        fail_msg("unpacked: %s", makes[i]);
                error_deinit(&error);
                shell("rm -f up && test ! -e y && test ! -e /tmp/firesteel-absolute");
        }
}

/* A link is replaced by a later directory of the same name, or refused. It is never followed. */
static void follows_no_link_of_the_archive(void **state)
{
        struct fst_error error = FST_ERROR_INIT;
        shell("mkdir -p s && ln -sfn ../.. s/out && tar -cf a.tar s/out && rm s/out && mkdir -p s/out && echo x > s/out/y "
              "&& tar -rf a.tar s/out/y && rm -r s");
        unpack(1000, 10, &error);
        error_deinit(&error);
        shell("test ! -e y");
}

static void reads_the_limits_from_the_configuration(void **state)
{
        struct fst_conf conf;
        struct archive_limits limits = {0};
        struct fst_error error = FST_ERROR_INIT;
        conf_init(&conf);
        assert_int_equal(archive_limits_read(&conf, &limits, NULL), 0);
        assert_int_equal(limits.bytes, (int64_t)16 << 30);
        assert_int_equal(limits.entries, 1000000);
        conf_set(&conf, "spark.firesteel.archives.maxSize", "5m");
        assert_int_equal(archive_limits_read(&conf, &limits, NULL), 0);
        assert_int_equal(limits.bytes, 5 << 20);
        conf_set(&conf, "spark.firesteel.archives.maxEntries", "many");
        assert_true(archive_limits_read(&conf, &limits, &error) < 0);
        error_deinit(&error);
        conf_deinit(&conf);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(unpacks_archives_within_the_limits),
                cmocka_unit_test(rejects_more_bytes_than_allowed),
                cmocka_unit_test(rejects_more_entries_than_allowed),
                cmocka_unit_test(rejects_entries_outside_of_the_directory),
                cmocka_unit_test(follows_no_link_of_the_archive),
                cmocka_unit_test(reads_the_limits_from_the_configuration),
        };
        if (temp_dir_make(NULL))
                return 1;
        archive = mem_printf("%s/a.tar", temp_dir);
        into = mem_printf("%s/into", temp_dir);
        int r = cmocka_run_group_tests(tests, NULL, NULL);
        temp_dir_remove(NULL);
        free(archive);
        free(into);
        return r;
}
