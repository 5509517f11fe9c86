/* Files on the cluster: stored once, described to the ApplicationMaster, read there. */
#include "yarn/application/cluster_file.h"
#include "yarn/application/local_resource.h"
#include "yarn/protocol/yarn.pb-c.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "conf/conf.h"
#include "unit/cases.h"
#include "unit/temp_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The second application finds the first one's file, unchanged. */
static void stores_a_file_once(void **state)
{
        struct local_resource first = {0}, second = {0};
        struct fst_error error = FST_ERROR_INIT;
        struct stat st;
        _cleanup_free_ char *local = temp_dir_write("local", "content"), *cache = mem_printf("file:%s/cache", temp_dir);
        _cleanup_free_ char *stored = temp_dir_path("cache/abc.tar.gz"), *missing = temp_dir_path("missing");
        _cleanup_(cluster_folder_deinit) struct cluster_folder folder_of = {0};
        assert_int_equal(cluster_folder_open(cache, &folder_of, &error), 0);
        assert_int_equal(cluster_file_store(&folder_of, local, "abc", ".tar.gz", &first, &error), 0);
        assert_int_equal(stat(stored, &st), 0);
        assert_int_equal(first.size, 7);
        assert_false(first.is_public); /* the temporary directory is closed to others */
        assert_int_equal(first.modified_ms, st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000);
        assert_int_equal(cluster_file_store(&folder_of, missing, "abc", ".tar.gz", &second, &error), 0);
        assert_string_equal(first.path, second.path);
        assert_int_equal(first.modified_ms, second.modified_ms);
        local_resource_deinit(&second);
        assert_int_equal(chmod(temp_dir, 0755) || chmod(stored, 0644), 0);
        assert_int_equal(cluster_file_store(&folder_of, missing, "abc", ".tar.gz", &second, &error), 0);
        assert_true(second.is_public);
        local_resource_deinit(&second);
        assert_int_equal(cluster_file_store(&folder_of, missing, "def", ".tar.gz", &second, &error), -ENOENT);
        assert_non_null(strstr(error_message(&error), missing));
        local_resource_deinit(&first);
        error_deinit(&error);
        _cleanup_free_ char *command = mem_printf("ls %s/cache | wc -l | grep -qx 1", temp_dir);
        assert_int_equal(system(command), 0); /* no part of the failed upload is left */
}

static void reads_what_was_described(void **state)
{
        static const struct local_resource files[] = {
                {.link = (char *)"a", .path = (char *)"hdfs://nn/a", .size = 1, .modified_ms = 4},
                {.link = (char *)"b #1",
                 .path = (char *)"hdfs://nn:9000/x/b 100%.tar.gz",
                 .size = 22,
                 .modified_ms = 1700000000000,
                 .archive = true,
                 .is_public = true},
                {.link = (char *)"secret", .path = (char *)"hdfs://nn/secret", .driver_only = true},
                {.link = (char *)"ab", .path = (char *)"file:/ab", .size = 3, .modified_ms = 6}};
        struct local_resources all = {0}, found = {0};
        struct fst_conf conf;
        conf_init(&conf);
        for (size_t i = 0; i < ARRAY_SIZE(files); i++)
                local_resources_add_copy(&all, &files[i]);
        local_resources_describe(&all, "hdfs://nn/conf.zip", &conf.set);
        assert_string_equal(conf_get_raw(&conf, "spark.yarn.cache.confArchive"), "hdfs://nn/conf.zip");
        assert_int_equal(local_resources_read(&found, &conf, NULL), 0);
        assert_int_equal(found.list.len, 3); /* without the driver's */
        assert_null(local_resources_find(&found, "secret"));
        const struct local_resource *b = local_resources_find(&found, "b #1");
        assert_non_null(b);
        assert_string_equal(b->path, files[1].path);
        assert_int_equal(b->size, 22);
        assert_int_equal(b->modified_ms, 1700000000000);
        assert_true(b->is_public);
        assert_true(b->archive);
        assert_false(local_resources_find(&found, "ab")->archive);
        assert_string_equal(local_resources_find(&found, "ab")->path, "file:/ab");
        local_resources_deinit(&all);
        local_resources_deinit(&found);
        conf_deinit(&conf);
}

static void urls_have_only_the_parts_of_the_path(void **state)
{
        static const struct {
                const char *path, *scheme, *host;
                int port;
                const char *file;
        } cases[] = {
                {"hdfs://nn:9000/x y", "hdfs", "nn", 9000, "/x y"},
                {"hdfs:/x", "hdfs", NULL, -1, "/x"},
                {"/x/y", NULL, NULL, -1, "/x/y"},
                {"x/y", NULL, NULL, -1, "x/y"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_(arena_deinit) struct arena arena = ARENA_INIT;
                const struct local_resource file = {.link = (char *)"l", .path = (char *)cases[i].path};
                const Firesteel__Yarn__Url *url = local_resource_message(&file, &arena)->value->resource;
                assert_int_equal(url->port, cases[i].port);
                assert_string_equal(url->file, cases[i].file);
                assert_string_equal(url->scheme ? url->scheme : "(none)", cases[i].scheme ? cases[i].scheme : "(none)");
                assert_string_equal(url->host ? url->host : "(none)", cases[i].host ? cases[i].host : "(none)");
        }
}

static int stat_calls;

static int stat_and_count(const struct file_system *fs, const char *path, struct file_status *status,
                          struct fst_error *error)
{
        stat_calls++;
        if (strstr(path, "missing"))
                return error_set(error, -ENOENT, "%s does not exist", path);
        *status = (struct file_status){.path = mem_strdup(path),
                                       .size = 20,
                                       .modified_ms = 10,
                                       .permission = strstr(path, "closed") ? 0700 : 0755};
        return 0;
}

static void asks_for_each_status_once(void **state)
{
        static const struct file_system fs = {.scheme = "hdfs", .stat = stat_and_count};
        struct file_statuses seen = {0};
        struct local_resource a = {0}, b = {0}, c = {0}, closed = {0};
        struct fst_error error = FST_ERROR_INIT;
        stat_calls = 0;
        assert_int_equal(local_resource_look(&a, &seen, &fs, "hdfs://nn/tmp/a", &error), 0);
        assert_int_equal(stat_calls, 3); /* the file, /tmp and / */
        assert_int_equal(local_resource_look(&b, &seen, &fs, "hdfs://nn/tmp/b", &error), 0);
        assert_int_equal(stat_calls, 4);
        assert_int_equal(local_resource_look(&c, &seen, &fs, "hdfs://nn/root/c", &error), 0);
        assert_int_equal(stat_calls, 6);
        assert_int_equal(local_resource_look(&a, &seen, &fs, "hdfs://nn/tmp/a", &error), 0);
        assert_int_equal(stat_calls, 6);
        assert_int_equal(a.size, 20);
        assert_int_equal(a.modified_ms, 10);
        assert_true(a.is_public);
        assert_int_equal(local_resource_look(&closed, &seen, &fs, "hdfs://nn/closed/a", &error), 0);
        assert_false(closed.is_public);
        assert_int_equal(local_resource_look(&closed, &seen, &fs, "hdfs://nn/missing", &error), -ENOENT);
        assert_string_equal(error_message(&error), "hdfs://nn/missing does not exist");
        local_resource_deinit(&a);
        local_resource_deinit(&b);
        local_resource_deinit(&c);
        local_resource_deinit(&closed);
        file_statuses_deinit(&seen);
        error_deinit(&error);
}

static void refuses_damaged_lists(void **state)
{
        struct local_resources found = {0};
        struct fst_error error = FST_ERROR_INIT;
        struct fst_conf conf;
        conf_init(&conf);
        assert_int_equal(local_resources_read(&found, &conf, &error), 0); /* none */
        conf_set(&conf, "spark.yarn.cache.filenames", "hdfs://nn/a#a,hdfs://nn/b");
        conf_set(&conf, "spark.yarn.cache.sizes", "1");
        assert_int_equal(local_resources_read(&found, &conf, &error), -EINVAL);
        assert_string_equal(error_message(&error),
                            "spark.yarn.cache.sizes has 1 elements, but spark.yarn.cache.filenames has 2: submit the "
                            "application again");
        conf_set(&conf, "spark.yarn.cache.sizes", "1,2");
        conf_set(&conf, "spark.yarn.cache.timestamps", "1,2");
        conf_set(&conf, "spark.yarn.cache.visibilities", "PUBLIC,PUBLIC");
        conf_set(&conf, "spark.yarn.cache.types", "FILE,FILE");
        assert_int_equal(local_resources_read(&found, &conf, &error), -EINVAL);
        assert_string_equal(error_message(&error), "spark.yarn.cache.filenames: \"hdfs://nn/b\" is not a URI with a "
                                                   "link (scheme:path#link)");
        local_resources_deinit(&found);
        error_deinit(&error);
        conf_deinit(&conf);
}

static const struct CMUnitTest cases[] = {
        cmocka_unit_test(stores_a_file_once),
        cmocka_unit_test(reads_what_was_described),
        cmocka_unit_test(urls_have_only_the_parts_of_the_path),
        cmocka_unit_test(asks_for_each_status_once),
        cmocka_unit_test(refuses_damaged_lists),
};

int main(void)
{
        return cmocka_run_group_tests(cases, temp_dir_make, temp_dir_remove);
}
