/* The cases of Spark's PythonRunnerSuite, except those of Windows. */
#include "submit/prepare/python_path.h"

#include "base/error.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static void assert_formats(const char *list, const char *expected)
{
        char *out = NULL;
        assert_int_equal(python_paths_format(list, &out, NULL), 0);
        assert_string_equal(out, expected);
        free(out);
}

static void assert_refuses(const char *list, const char *name)
{
        struct fst_error error = FST_ERROR_INIT;
        char *out = NULL;
        _cleanup_free_ char *text = mem_printf("Launching Python applications through spark-submit is currently only "
                                               "supported for local files: %s",
                                               name);
        assert_int_equal(python_paths_format(list, &out, &error), -EINVAL);
        assert_string_equal(error_message(&error), text);
        assert_null(out);
        error_deinit(&error);
}

static void format_path(void **state)
{
        assert_formats("spark.py", "spark.py");
        assert_formats("file:/spark.py", "/spark.py");
        assert_formats("file:///spark.py", "/spark.py");
        assert_formats("local:/spark.py", "/spark.py");
        assert_formats("local:///spark.py", "/spark.py");
        assert_formats("file:/a%20b.py", "/a b.py");
        assert_refuses("one:two", "one:two");
        assert_refuses("hdfs:s3:xtremeFS", "hdfs:s3:xtremeFS");
        assert_refuses("hdfs:/path/to/some.py", "hdfs:/path/to/some.py");
        assert_refuses("C:/a/b/spark.py", "C:/a/b/spark.py");
}

static void format_paths(void **state)
{
        assert_formats("file:/app.py,local:/spark.py", "/app.py,/spark.py");
        assert_formats("me.py,file:/you.py,local:/we.py", "me.py,/you.py,/we.py");
        assert_formats("", "");
        assert_formats(",a.py,,b.py,", "a.py,b.py");
        assert_refuses("one:two,three", "one:two");
        assert_refuses("two,three,four:five:six", "four:five:six");
        assert_refuses("hdfs:/some.py,foo.py", "hdfs:/some.py");
        assert_refuses("foo.py,hdfs:/some.py", "hdfs:/some.py");
}

static void malformed(void **state)
{
        struct fst_error error = FST_ERROR_INIT;
        char *out = NULL;
        assert_int_equal(python_path_format("file:a.py", &out, &error), -EINVAL);
        assert_string_equal(error_message(&error), "Python file path is malformed: file:a.py");
        error_deinit(&error);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(format_path),
                cmocka_unit_test(format_paths),
                cmocka_unit_test(malformed),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
