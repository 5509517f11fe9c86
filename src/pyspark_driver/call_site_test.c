/* Call sites of Spark's releases. */
#include "base/mem.h"
#include "pyspark_driver/call_site.h"
#include "rdd/rdd.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void assert_text(fst_site site, const char *text)
{
        _cleanup_free_ char *made = rdd_site_text(site);
        assert_string_equal(made, text);
}

static void lines_are_those_of_the_release(void **state)
{
        (void)state;
        assert_text(call_site_in_spark(SPARK_PYTHON_RDD, "4.3.0"), "RDD at PythonRDD.scala:59");
        assert_text(call_site_in_spark(SPARK_PYTHON_RDD, "4.0.5"), "RDD at PythonRDD.scala:57");
        assert_text(call_site_in_spark(SPARK_RUN_JOB, "4.1.4"), "runJob at PythonRDD.scala:192");
        assert_text(call_site_in_spark(SPARK_VALUE_OF_PAIR, "3.5.9"), "mapPartitions at PythonRDD.scala:160");
        assert_text(call_site_in_spark(SPARK_PYTHON_TO_JAVA, "4.2.1"), "mapPartitions at SerDeUtil.scala:119");
}

static void unknown_release_has_the_newest_lines(void **state)
{
        (void)state;
        assert_text(call_site_in_spark(SPARK_RUN_JOB, "9.9.0"), "runJob at PythonRDD.scala:218");
        assert_text(call_site_in_spark(SPARK_RUN_JOB, ""), "runJob at PythonRDD.scala:218");
        assert_text(call_site_in_spark(SPARK_RUN_JOB, NULL), "runJob at PythonRDD.scala:218");
}

static void scope_may_differ_from_the_place(void **state)
{
        (void)state;
        fst_site site = call_site_in_spark(SPARK_READ_FILE, "4.3.0");
        assert_text(site, "readRDDFromFile at PythonRDD.scala:326");
        assert_string_equal(site.operation, "parallelize");
        site = call_site_in_spark(SPARK_READ_STREAM, "3.5.9");
        assert_text(site, "readRDDFromInputStream at PythonRDD.scala:296");
        assert_string_equal(site.operation, "parallelize");
        site = call_site_of_save("saveAsTextFile", "3.5.9");
        assert_text(site, "runJob at SparkHadoopWriter.scala:83");
        assert_string_equal(site.operation, "saveAsTextFile");
}

static void methods_are_called_by_reflection(void **state)
{
        (void)state;
        assert_text(call_site("union"), "union at NativeMethodAccessorImpl.java:0");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(lines_are_those_of_the_release),
                cmocka_unit_test(unknown_release_has_the_newest_lines),
                cmocka_unit_test(scope_may_differ_from_the_place),
                cmocka_unit_test(methods_are_called_by_reflection),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
