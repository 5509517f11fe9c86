/* Compares inputs and splits with Spark: the counts below are those of Spark 4.3 for the same files. */
#include "io/text_plan.h"

#include "base/buf.h"
#include "base/error.h"
#include "conf/conf.h"
#include "io/fs/file_systems.h"
#include "io/fs/glob.h"
#include "io/fs/path.h"
#include "unit/temp_dir.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void make_file(const char *name, off_t size)
{
        _cleanup_free_ char *path = mem_printf("%s/%s", temp_dir, name);
        int fd = open(path, O_CREAT | O_WRONLY, 0666);
        assert_true(fd >= 0);
        assert_int_equal(ftruncate(fd, size), 0);
        close(fd);
}

static void make_dir(const char *name)
{
        _cleanup_free_ char *path = mem_printf("%s/%s", temp_dir, name);
        assert_int_equal(mkdir(path, 0777), 0);
}

static int setup(void **state)
{
        static const char *const dirs[] = {"dir", "emp", "deep", "deep/sub", "many", "_hidden"};
        static const char *const letters[] = {"many/z", "many/b", "many/q", "many/a", "many/m"};
        if (temp_dir_make(NULL))
                return -1;
        for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++)
                make_dir(dirs[i]);
        for (size_t i = 0; i < sizeof(letters) / sizeof(*letters); i++)
                make_file(letters[i], 2);
        make_file("dir/a", 100);
        make_file("dir/_x", 3);
        make_file("dir/.y", 3);
        make_file("dir/sp ace", 100);
        make_file("dir/p%20c", 100);
        make_file("emp/e1", 0);
        make_file("emp/e2", 2);
        make_file("deep/f", 2);
        make_file("deep/sub/g", 2);
        make_file("_hidden/v", 2);
        make_file("big", 80 << 20);
        make_file("b2", 70400000);
        make_file("seven", 7);
        make_file("packed.gz", 80 << 20);
        return 0;
}

static int teardown(void **state)
{
        _cleanup_free_ char *path = mem_printf("file:%s", temp_dir);
        const struct file_system *fs;
        return file_system_of(path, &fs, NULL) < 0 || fs->remove(fs, path, NULL) < 0;
}

/* Plans a list in which '@' stands for the test's directory. Returns the number of splits or the error. */
static long plan_with(const char *list, int min, const struct input_options *options, struct input_splits *splits,
                      struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf paths = BUF_INIT;
        for (const char *p = list; *p; p++) {
                if (*p == '@')
                        buf_printf(&paths, "%s/", temp_dir);
                else
                        buf_putc(&paths, *p);
        }
        int r = text_plan(buf_text(&paths), min, options, splits, error);
        return r < 0 ? r : (long)splits->len;
}

static void test_counts(void **state)
{
        static const struct {
                const char *paths;
                int min;
                long splits;
        } cases[] = {
                {"@dir", 2, 3},
                {"@dir/sp ace", 2, 2},
                {"file:@dir/p%20c", 1, 1},
                {"file://@dir/sp%20ace", 1, -ENOENT},
                {"@missing", 2, -ENOENT},
                {"@mis*", 2, -ENOENT},
                {"@mis/*", 2, -ENOENT},
                {"@dir/_x", 2, -ENOENT},
                {"@dir/.*", 2, -ENOENT},
                {"@emp", 2, 2},
                {"@emp/e1", 2, 0},
                {"@deep", 2, -EISDIR},
                {"@big", 2, 3},
                {"@big", 1, 3},
                {"@big", 0, 3},
                {"@big", 10, 10},
                {"@b2", 1, 2},
                {"@seven", 1, 1},
                {"@seven", 5, 7},
                {"@{dir/a,emp/e2}", 1, 2},
                {"@{dir,emp}/{a,e2}", 1, 2},
                {"@{dir,d*}/{a,a*}", 1, 1},
                {"@d?r/[a-b]", 1, 1},
                {"@many", 1, 5},
                {"@many/*", 1, 5},
                {"@many/[^a-p]", 1, 2},
                {"@many/[!a]", 1, 4},
                {"@many/{a,b", 1, -EINVAL},
                {"@many/\\a", 1, 1},
                {"@many/[z", 1, -EINVAL},
                {"@many/a]", 1, -ENOENT},
                {"@[", 1, -EINVAL},
                {"", 1, -EINVAL},
                {"@emp/e2,,@seven", 1, -EINVAL},
                {"foo:/x", 1, -EPROTONOSUPPORT},
                {"file:rel", 1, -EINVAL},
                {"file://host@seven", 1, -EINVAL},
                {"/@/emp//e2/", 1, 1},
                {"@emp/../emp/./e2", 1, 1},
                {"@seven/", 1, 1},
                {"@seven/x", 1, -ENOENT},
                {"@*/e2", 1, 1},
                {"@*/_x", 1, -ENOENT},
                {"@*/v", 1, 1},
                {"@dir,@dir", 1, 6},
                {"@no}x", 1, -ENOENT},
                {"@packed.gz", 10, 1},
        };
        struct input_options options = INPUT_OPTIONS_INIT;
        for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
                struct input_splits splits = INPUT_SPLITS_INIT;
                struct fst_error error = FST_ERROR_INIT;
                long got = plan_with(cases[i].paths, cases[i].min, &options, &splits, &error);
                if (got != cases[i].splits)
                        fail_msg("%s with %d: %ld splits instead of %ld (%s)", cases[i].paths, cases[i].min, got,
                                 cases[i].splits, error_message(&error));
                uint64_t bytes = 0;
                for (size_t k = 0; k < splits.len; k++) {
                        bytes += splits.data[k].length;
                        if (splits.data[k].start > 0)
                                assert_int_equal(splits.data[k].start,
                                                 splits.data[k - 1].start + splits.data[k - 1].length);
                }
                assert_int_equal(bytes, splits.bytes);
                input_splits_deinit(&splits);
                error_deinit(&error);
        }
}

static void test_messages(void **state)
{
        struct input_options options = INPUT_OPTIONS_INIT;
        struct input_splits splits = INPUT_SPLITS_INIT;
        struct fst_error error = FST_ERROR_INIT;

        assert_int_equal(plan_with("@missing,@mis*,@seven", 1, &options, &splits, &error), -ENOENT);
        _cleanup_free_ char *want =
                mem_printf("Input path does not exist: file:%s/missing\nInput Pattern file:%s/mis* matches 0 files",
                           temp_dir, temp_dir);
        assert_string_equal(error_message(&error), want);
        assert_int_equal(plan_with("@deep", 1, &options, &splits, &error), -EISDIR);
        assert_non_null(strstr(error_message(&error), "/deep/sub is a directory"));
        assert_int_equal(plan_with("foo:/x", 1, &options, &splits, &error), -EPROTONOSUPPORT);
        assert_non_null(strstr(error_message(&error), "No FileSystem for scheme \"foo\""));
        error_deinit(&error);
}

static void test_options(void **state)
{
        struct fst_conf conf;
        struct fst_error error = FST_ERROR_INIT;
        struct input_options options;
        struct input_splits splits = INPUT_SPLITS_INIT;

        conf_init(&conf);
        conf_set(&conf, "spark.hadoop.mapreduce.input.fileinputformat.split.minsize", "50000000");
        conf_set(&conf, "spark.hadoop.mapreduce.input.fileinputformat.input.dir.recursive", "true");
        conf_set(&conf, "spark.hadoopRDD.ignoreEmptySplits", "false");
        conf_set(&conf, "spark.files.ignoreMissingFiles", "true");
        assert_int_equal(input_options_read(&conf, &options, &error), 0);
        assert_int_equal(plan_with("@big", 10, &options, &splits, &error), 2);
        input_splits_deinit(&splits);
        assert_int_equal(plan_with("@deep", 1, &options, &splits, &error), 2);
        input_splits_deinit(&splits);
        assert_int_equal(plan_with("@emp/e1", 2, &options, &splits, &error), 1);
        input_splits_deinit(&splits);
        assert_int_equal(plan_with("@missing", 2, &options, &splits, &error), 0);
        input_splits_deinit(&splits);
        conf_set(&conf, "spark.hadoop.fs.local.block.size", "8388608");
        conf_set(&conf, "spark.hadoop.mapreduce.input.fileinputformat.split.minsize", "1");
        assert_int_equal(input_options_read(&conf, &options, &error), 0);
        assert_int_equal(plan_with("@big", 1, &options, &splits, &error), 10);
        input_splits_deinit(&splits);
        conf_set(&conf, "spark.hadoop.fs.local.block.size", "32m");
        assert_int_equal(input_options_read(&conf, &options, &error), -EINVAL);
        assert_non_null(strstr(error_message(&error), "spark.hadoop.fs.local.block.size"));
        assert_non_null(strstr(error_message(&error), "32m"));
        conf_deinit(&conf);
        error_deinit(&error);
}

static void test_paths(void **state)
{
        static const char *const cases[][2] = {
                {"/x", "file:/x"},         {"file:///x//y/", "file:/x/y"},
                {"file:/", "file:/"},      {"/", "file:/"},
                {"//x", "file:/x"},        {"/a b%20c", "file:/a b%20c"},
                {"/a:b", "file:/a:b"},     {"hdfs://h:1/x/", "hdfs://h:1/x"},
                {"hdfs://h", "hdfs://h/"}, {"file:///", "file:/"},
                {"file:", "file:/"},
        };
        char *path;
        for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
                assert_int_equal(path_resolve(cases[i][0], &path, NULL), 0);
                assert_string_equal(path, cases[i][1]);
                free(path);
        }
        _cleanup_free_ char *cwd = getcwd(NULL, 0);
        _cleanup_free_ char *want = mem_printf("file:%s/a/b", cwd);
        assert_int_equal(path_resolve("a//b/", &path, NULL), 0);
        assert_string_equal(path, want);
        assert_string_equal(path_name(path), "b");
        free(path);
        assert_int_equal(path_resolve(":x", &path, NULL), -EINVAL);
        assert_int_equal(path_resolve("a:b", &path, NULL), -EINVAL);

        _cleanup_free_ char *parent = path_parent("file:/a/b"), *top = path_parent("file:/a");
        _cleanup_free_ char *none = path_parent("file:/");
        assert_string_equal(parent, "file:/a");
        assert_string_equal(top, "file:/");
        assert_null(none);
        _cleanup_free_ char *joined = path_join("file:/", "x");
        assert_string_equal(joined, "file:/x");
}

static void test_glob(void **state)
{
        static const struct {
                const char *pattern, *name;
                bool match;
        } cases[] = {
                {"*", "", true},           {"*", "abc", true},
                {"a*c", "abbc", true},     {"a*c", "abb", false},
                {"?", "\xc3\xa4", true},   {"?", "ab", false},
                {"??", "\xc3\xa4", false}, {"[\xc3\xa4-\xc3\xb6]", "\xc3\xa5", true},
                {"[a-c]x", "bx", true},    {"[^a-c]x", "bx", false},
                {"[!a-c]x", "dx", true},   {"\\*", "*", true},
                {"\\*", "a", false},       {"*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaa", false},
                {"a[-x]", "a-", true},     {"[a-]", "-", true},
                {"\xff", "\xff", true},    {"[]", "x", false},
                {"ab", "abc", false},
        };
        for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
                if (glob_match(cases[i].pattern, cases[i].name) != cases[i].match)
                        fail_msg("%s against %s", cases[i].pattern, cases[i].name);

        struct glob_words words = {0};
        assert_int_equal(glob_expand("a{b,{c,d}e,}{f,g}", false, &words, NULL), 0);
        static const char *const want[] = {"abf", "abg", "acef", "aceg", "adef", "adeg", "af", "ag"};
        assert_int_equal(words.len, 8);
        for (size_t i = 0; i < 8; i++)
                assert_string_equal(words.data[i], want[i]);
        glob_words_deinit(&words);
        assert_int_equal(glob_expand("{a,b}{c/d,e}", true, &words, NULL), 0);
        assert_int_equal(words.len, 2);
        assert_string_equal(words.data[0], "{a,b}c/d");
        glob_words_deinit(&words);
        assert_int_equal(glob_expand("{1,2,3,4,5,6,7,8}{1,2,3,4,5,6,7,8}{1,2,3,4,5,6,7,8}{1,2,3,4,5,6,7,8}{1,2,3,4,5}",
                                     false, &words, NULL),
                         -E2BIG);
        assert_int_equal(words.len, 0);
        glob_split_list("a,{b,c},d\\,e", &words);
        assert_int_equal(words.len, 3);
        assert_string_equal(words.data[1], "{b,c}");
        assert_string_equal(words.data[2], "d\\,e");
        glob_words_deinit(&words);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_counts), cmocka_unit_test(test_messages), cmocka_unit_test(test_options),
                cmocka_unit_test(test_paths),  cmocka_unit_test(test_glob),
        };
        return cmocka_run_group_tests(tests, setup, teardown);
}
