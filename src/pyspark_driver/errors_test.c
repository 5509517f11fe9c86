/* The exceptions that programs of pyspark get for failures of the engine. */
#include "base/mem.h"
#include "pyspark_driver/errors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define TRACEBACK "Traceback (most recent call last):\n  File \"worker.py\", line 1, in main\nValueError: h\xc3\xa9"
#define ABORTED "Job aborted due to stage failure: Task 1 in stage 0.0 failed 1 times, most recent failure: "

static void assert_exception(const char *message, int major, int minor, const char *class, const char *expected)
{
        struct spark_exception e = spark_exception_of(message, major, minor);
        assert_string_equal(e.class, class);
        assert_string_equal(e.message, expected);
        assert_memory_equal(e.trace, class, strlen(class));
        assert_non_null(strstr(e.trace, expected));
        free(e.message);
        free(e.trace);
}

static void traceback_of_worker_stands_alone_since_4_1(void **state)
{
        (void)state;
        assert_exception(ABORTED TRACEBACK "\n", 4, 3, "org.apache.spark.api.python.PythonException",
                         "[PYTHON_EXCEPTION] An exception was thrown from the Python worker: " TRACEBACK
                         "\n SQLSTATE: 38000");
}

static void traceback_of_worker_is_in_job_failure_before(void **state)
{
        (void)state;
        assert_exception(ABORTED TRACEBACK, 3, 5, "org.apache.spark.SparkException",
                         ABORTED "org.apache.spark.api.python.PythonException: " TRACEBACK "\n");
}

static void message_decides_class(void **state)
{
        (void)state;
        static const struct {
                const char *message, *class;
        } cases[] = {
                {"Input path does not exist: file:/x", "org.apache.hadoop.mapred.InvalidInputException"},
                {"Output directory file:/x already exists", "org.apache.hadoop.mapred.FileAlreadyExistsException"},
                {ABORTED "Python worker exited unexpectedly (crashed)", "org.apache.spark.SparkException"},
                {ABORTED "the file already exists", "org.apache.spark.SparkException"},
                {"Job 3 cancelled", "org.apache.spark.SparkException"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
                assert_exception(cases[i].message, 4, 3, cases[i].class, cases[i].message);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(traceback_of_worker_stands_alone_since_4_1),
                cmocka_unit_test(traceback_of_worker_is_in_job_failure_before),
                cmocka_unit_test(message_decides_class),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
