/* Tests the choice of a file system, with and without an application, and fs.defaultFS for paths without a scheme. */
#include "io/fs/file_systems.h"

#include "base/error.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "base/string_prefix.h"
#include "unit/temp_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

static struct fst_error error;

static int setup(void **state)
{
        static const char *const names[] = {"SPARK_CONF_DIR",    "SPARK_HOME",        "HADOOP_CONF_DIR",
                                            "YARN_CONF_DIR",     "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY",
                                            "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL"};
        for (size_t i = 0; i < ARRAY_SIZE(names); i++)
                unsetenv(names[i]);
        return setenv("HADOOP_USER_NAME", "alice", 1);
}

static int teardown(void **state)
{
        error_deinit(&error);
        return 0;
}

static int remove_dir_and_error(void **state)
{
        teardown(state);
        return temp_dir_remove(state);
}

static void resolves_to(const char *text, const char *expected, const char *scheme)
{
        char *path = NULL;
        const struct file_system *fs = NULL;
        if (file_system_resolve(text, &path, &fs, &error) < 0)
                fail_msg("%s: %s", text, error_message(&error));
        assert_string_equal(path, expected);
        assert_string_equal(fs->scheme, scheme);
        free(path);
}

static void says(const char *text, int code, const char *words)
{
        char *path = NULL;
        const struct file_system *fs = NULL;
        assert_int_equal(file_system_resolve(text, &path, &fs, &error), code);
        if (!strstr(error_message(&error), words))
                fail_msg("%s: not \"%s\" in: %s", text, words, error_message(&error));
        assert_null(path);
        error_deinit(&error);
}

static void without_an_application_files_are_local(void **state)
{
        resolves_to("/x//y/", "file:/x/y", "file");
        says("hdfs://depot/x", -EPROTONOSUPPORT,
             "No FileSystem for scheme \"hdfs\" (of hdfs://depot/x); known schemes: file");
        says("", -EINVAL, "Can not create a Path from an empty string");
}

static void application_adds_remote_file_systems(void **state)
{
        struct strmap spark = STRMAP_INIT;
        strmap_set(&spark, "spark.app.name", "x");
        file_systems_use(&spark, &spark);
        resolves_to("/x", "file:/x", "file");
        resolves_to("hdfs://depot/x", "hdfs://depot/x", "hdfs");
        resolves_to("webhdfs://depot:1/x/", "webhdfs://depot:1/x", "hdfs");
        resolves_to("s3a://bucket", "s3a://bucket/", "s3a");
        resolves_to("s3n://bucket/x", "s3n://bucket/x", "s3a");
        says("gs://bucket/x", -EPROTONOSUPPORT, "known schemes: file, hdfs, webhdfs, swebhdfs, s3a, s3, s3n");
        file_systems_leave(&spark);
        says("s3a://bucket/x", -EPROTONOSUPPORT, "known schemes: file");
        file_systems_leave(&spark);
        strmap_deinit(&spark);
}

static void resolves_paths_by_default_file_system(void **state)
{
        struct strmap spark = STRMAP_INIT, other = STRMAP_INIT;
        strmap_set(&spark, "spark.hadoop.fs.defaultFS", "hdfs://depot:8020");
        strmap_set(&other, "spark.hadoop.fs.defaultFS", "file:///");
        file_systems_use(&spark, &spark);
        resolves_to("/x/y", "hdfs://depot:8020/x/y", "hdfs");
        resolves_to("x/y", "hdfs://depot:8020/user/alice/x/y", "hdfs");
        resolves_to("/", "hdfs://depot:8020/", "hdfs");
        resolves_to("hdfs:/x", "hdfs://depot:8020/x", "hdfs");
        resolves_to("hdfs:///x", "hdfs://depot:8020/x", "hdfs");
        resolves_to("hdfs://other/x", "hdfs://other/x", "hdfs");
        resolves_to("file:/x", "file:/x", "file");
        resolves_to("file:///x", "file:/x", "file");
        file_systems_use(&other, &other); /* the newer one applies */
        resolves_to("/x", "file:/x", "file");
        file_systems_leave(&other);
        resolves_to("/x", "hdfs://depot:8020/x", "hdfs");
        file_systems_leave(&spark);
        resolves_to("/x", "file:/x", "file");
        strmap_deinit(&spark);
        strmap_deinit(&other);
}

static void describes_hadoop_configuration_for_executors(void **state)
{
        struct strmap told = STRMAP_INIT;
        setenv("HADOOP_CONF_DIR", temp_dir, 1);
        setenv("AWS_ACCESS_KEY_ID", "me", 1);
        setenv("AWS_SECRET_ACCESS_KEY", "mine", 1);
        free(temp_dir_write(
                "core-site.xml",
                "<configuration><property><name>fs.defaultFS</name><value>hdfs://${where}</value></property>"
                "<property><name>where</name><value>depot</value></property></configuration>"));
        strmap_set(&told, "spark.hadoop.where", "elsewhere");
        assert_int_equal(file_systems_describe(&told, &error), 0);
        assert_string_equal(strmap_get(&told, "spark.hadoop.fs.defaultFS"), "hdfs://depot");
        assert_string_equal(strmap_get(&told, "spark.hadoop.where"), "elsewhere");
        assert_string_equal(strmap_get(&told, "spark.hadoop.fs.s3a.access.key"), "me");
        assert_string_equal(strmap_get(&told, "spark.hadoop.firesteel.hadoop.user"), "alice");
        free(temp_dir_write("core-site.xml", "<configuration>"));
        assert_int_equal(file_systems_describe(&told, &error), -EINVAL);
        error_deinit(&error);
        file_systems_use(&told, &told);
        says("x", -EINVAL, "core-site.xml");
        file_systems_leave(&told);
        setup(NULL);
        strmap_deinit(&told);
}

static void one_caller_creates_a_new_file(void **state)
{
        _cleanup_free_ char *path = NULL, *text = mem_printf("%s/a/b", temp_dir);
        _cleanup_(buf_deinit) struct buf content = BUF_INIT;
        const struct file_system *fs;
        assert_int_equal(file_system_resolve(text, &path, &fs, &error), 0);
        assert_int_equal(fs->put_new(fs, path, "one", 3, &error), 0);
        assert_int_equal(fs->put_new(fs, path, "other", 5, &error), -EEXIST);
        assert_int_equal(file_text_read(text, 100, &content, NULL), 0);
        assert_string_equal(buf_text(&content), "one");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_teardown(without_an_application_files_are_local, teardown),
                cmocka_unit_test_teardown(application_adds_remote_file_systems, teardown),
                cmocka_unit_test_teardown(resolves_paths_by_default_file_system, teardown),
                cmocka_unit_test_setup_teardown(one_caller_creates_a_new_file, temp_dir_make, remove_dir_and_error),
                cmocka_unit_test_setup_teardown(describes_hadoop_configuration_for_executors, temp_dir_make,
                                                remove_dir_and_error),
        };
        return cmocka_run_group_tests(tests, setup, NULL);
}
