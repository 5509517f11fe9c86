/* Tests configurations: the cases of Spark's SparkConfSuite, ConfigEntrySuite and ConfigReaderSuite. */
#include "conf/conf.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/deprecated.h"

#include <setjmp.h>
#include <stdarg.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static struct fst_conf conf;

static int setup(void **state)
{
        conf_init(&conf);
        return 0;
}

static int teardown(void **state)
{
        conf_deinit(&conf);
        conf_set_prepared(NULL);
        return 0;
}

static int64_t get_int(const char *key)
{
        int64_t value;
        assert_int_equal(conf_get_int(&conf, key, &value, NULL), 0);
        return value;
}

static int64_t get_bytes(const char *key)
{
        int64_t value;
        assert_int_equal(conf_get_bytes(&conf, key, &value, NULL), 0);
        return value;
}

static int64_t get_ms(const char *key)
{
        int64_t value;
        assert_int_equal(conf_get_ms(&conf, key, &value, NULL), 0);
        return value;
}

static bool get_bool(const char *key)
{
        bool value;
        assert_int_equal(conf_get_bool(&conf, key, &value, NULL), 0);
        return value;
}

static double get_double(const char *key)
{
        double value;
        assert_int_equal(conf_get_double(&conf, key, &value, NULL), 0);
        return value;
}

static char *get_string(const char *key)
{
        char *value = NULL;
        assert_int_equal(conf_get_string(&conf, key, &value, NULL), 0);
        return value;
}

static void assert_string(const char *key, const char *expected)
{
        _cleanup_free_ char *value = get_string(key);
        assert_string_equal(value, expected);
}

static void reads_defaults_of_spark(void **state)
{
        assert_int_equal(get_int("spark.task.maxFailures"), 4);
        assert_int_equal(get_ms("spark.locality.wait"), 3000);
        assert_int_equal(get_ms("spark.network.timeout"), 120000);
        assert_int_equal(get_bytes("spark.driver.memory"), INT64_C(1) << 30);
        assert_int_equal(get_bytes("spark.shuffle.file.buffer"), 32 << 10);
        assert_int_equal(get_bytes("spark.reducer.maxSizeInFlight"), 48 << 20);
        assert_true(get_double("spark.memory.fraction") == 0.6);
        assert_false(get_bool("spark.eventLog.enabled"));
        assert_true(get_bool("spark.shuffle.compress"));
        assert_string("spark.io.compression.codec", "lz4");
        assert_null(get_string("spark.master"));
        assert_string("spark.files", "");
}

static void reads_set_value_in_its_unit(void **state)
{
        conf_set(&conf, "spark.network.timeout", "7");
        conf_set(&conf, "spark.locality.wait", "7");
        conf_set(&conf, "spark.driver.memory", "512");
        conf_set(&conf, "spark.shuffle.file.buffer", "64");
        conf_set(&conf, "spark.shuffle.accurateBlockThreshold", "64");
        conf_set(&conf, "spark.eventLog.enabled", " TRUE ");
        conf_set(&conf, "spark.task.maxFailures", " +8 ");
        conf_set(&conf, "spark.memory.fraction", "1e-1");
        assert_int_equal(get_ms("spark.network.timeout"), 7000);
        assert_int_equal(get_ms("spark.locality.wait"), 7);
        assert_int_equal(get_bytes("spark.driver.memory"), 512 << 20);
        assert_int_equal(get_bytes("spark.shuffle.file.buffer"), 64 << 10);
        assert_int_equal(get_bytes("spark.shuffle.accurateBlockThreshold"), 64);
        assert_true(get_bool("spark.eventLog.enabled"));
        assert_int_equal(get_int("spark.task.maxFailures"), 8);
        assert_true(get_double("spark.memory.fraction") == 0.1);
        conf_set_if_missing(&conf, "spark.task.maxFailures", "9");
        assert_int_equal(get_int("spark.task.maxFailures"), 8);
        conf_set(&conf, "spark.task.maxFailures", "9");
        assert_int_equal(get_int("spark.task.maxFailures"), 9);
        assert_string_equal(conf_get_raw(&conf, "spark.task.maxFailures"), "9");
        assert_null(conf_get_raw(&conf, "spark.task.cpus"));
        assert_string_equal(conf_get_value(&conf, "spark.task.cpus"), "1");
        assert_true(conf_contains(&conf, "spark.task.maxFailures"));
        assert_false(conf_contains(&conf, "spark.task.cpus"));
}

static void key_follows_another_until_set(void **state)
{
        assert_int_equal(get_ms("spark.locality.wait.node"), 3000);
        conf_set(&conf, "spark.locality.wait", "1s");
        assert_int_equal(get_ms("spark.locality.wait.node"), 1000);
        conf_set(&conf, "spark.locality.wait.node", "0");
        assert_int_equal(get_ms("spark.locality.wait.node"), 0);
        assert_int_equal(get_ms("spark.locality.wait.rack"), 1000);
        assert_false(conf_contains(&conf, "spark.locality.wait.rack"));
}

static void reads_older_spelling_until_new_one_is_set(void **state)
{
        log_set_level(LOG_OFF);
        conf_set(&conf, "spark.yarn.max.worker.failures", "5");
        assert_int_equal(get_int("spark.executor.maxNumFailures"), 5);
        conf_set(&conf, "spark.yarn.max.executor.failures", "6");
        assert_int_equal(get_int("spark.executor.maxNumFailures"), 6);
        assert_true(conf_contains(&conf, "spark.executor.maxNumFailures"));
        conf_set(&conf, "spark.executor.maxNumFailures", "7");
        assert_int_equal(get_int("spark.executor.maxNumFailures"), 7);
        conf_set(&conf, "spark.blacklist.enabled", "true");
        assert_true(get_bool("spark.excludeOnFailure.enabled"));
        conf_set(&conf, "spark.shuffle.file.buffer.kb", "16");
        assert_int_equal(get_bytes("spark.shuffle.file.buffer"), 16 << 10);
        log_set_level(LOG_WARN);
}

static void warns_once_for_deprecated_keys(void **state)
{
        _cleanup_(buf_deinit) struct buf b = BUF_INIT;
        deprecated_put_warning(&b, "spark.reducer.maxMbInFlight");
        assert_string_equal(buf_text(&b),
                            "The configuration key 'spark.reducer.maxMbInFlight' has been deprecated as of Spark 1.4 "
                            "and may be removed in the future. Please use the new key "
                            "'spark.reducer.maxSizeInFlight' instead.");
        buf_reset(&b);
        deprecated_put_warning(&b, "spark.akka.heartbeat.pauses");
        assert_string_equal(buf_text(&b),
                            "The configuration key spark.akka.heartbeat.pauses is not supported any more because "
                            "Spark doesn't use Akka since 2.0");
        buf_reset(&b);
        deprecated_put_warning(&b, "spark.task.cpus");
        assert_string_equal(buf_text(&b), "");

        int ends[2], saved = dup(STDERR_FILENO);
        char said[1024];
        assert_int_equal(pipe(ends), 0);
        dup2(ends[1], STDERR_FILENO);
        close(ends[1]);
        conf_set(&conf, "spark.rpc.numRetries", "1");
        conf_set(&conf, "spark.rpc.numRetries", "2");
        conf_set_if_missing(&conf, "spark.rpc.numRetries", "3");
        dup2(saved, STDERR_FILENO);
        close(saved);
        ssize_t n = read(ends[0], said, sizeof(said) - 1);
        close(ends[0]);
        assert_true(n > 0);
        said[n] = '\0';
        assert_non_null(strstr(said, "WARN SparkConf: The configuration key 'spark.rpc.numRetries'"));
        assert_ptr_equal(strchr(said, '\n'), said + n - 1);
}

static void assert_refused(int result, struct fst_error *error, const char *expected)
{
        assert_int_equal(result, -EINVAL);
        if (!strstr(error_message(error), expected))
                fail_msg("got: %s", error_message(error));
        error_deinit(error);
}

static void invalid_value_names_key_value_and_unit(void **state)
{
        struct fst_error error = FST_ERROR_INIT;
        int64_t number = 42;
        double fraction = 4.2;
        bool yes = true;
        conf_set(&conf, "spark.eventLog.enabled", "maybe");
        conf_set(&conf, "spark.task.maxFailures", "3000000000");
        conf_set(&conf, "spark.task.cpus", "1.0");
        conf_set(&conf, "spark.storage.unrollMemoryCheckPeriod", "x");
        conf_set(&conf, "spark.memory.fraction", "0x1p3");
        conf_set(&conf, "spark.locality.wait", "5x");
        conf_set(&conf, "spark.driver.memory", "1.5g");
        assert_refused(conf_get_bool(&conf, "spark.eventLog.enabled", &yes, &error), &error,
                       "spark.eventLog.enabled should be boolean, but was maybe");
        assert_refused(conf_get_int(&conf, "spark.task.maxFailures", &number, &error), &error,
                       "spark.task.maxFailures should be int, but was 3000000000");
        assert_refused(conf_get_int(&conf, "spark.task.cpus", &number, &error), &error,
                       "spark.task.cpus should be int, but was 1.0");
        assert_refused(conf_get_int(&conf, "spark.storage.unrollMemoryCheckPeriod", &number, &error), &error,
                       "should be long, but was x");
        assert_refused(conf_get_double(&conf, "spark.memory.fraction", &fraction, &error), &error,
                       "spark.memory.fraction should be double, but was 0x1p3");
        assert_refused(conf_get_ms(&conf, "spark.locality.wait", &number, &error), &error,
                       "spark.locality.wait=5x (a number without unit counts in ms): Time must be specified as");
        conf_set(&conf, "spark.mesos.rejectOfferDuration", "x");
        assert_refused(conf_get_ms(&conf, "spark.mesos.rejectOfferDurationForUnmetConstraints", &number, &error),
                       &error, "spark.mesos.rejectOfferDuration=x (a number without unit counts in s): Time must be");
        assert_refused(conf_get_bytes(&conf, "spark.driver.memory", &number, &error), &error,
                       "spark.driver.memory=1.5g (a number without unit counts in MiB): Size must be specified as");
        assert_refused(conf_get_int(&conf, "spark.cores.max", &number, &error), &error, "spark.cores.max is not set");
        assert_int_equal(number, 42);
        assert_true(yes);
        assert_true(fraction == 4.2);
}

static void replaces_references(void **state)
{
        setenv("CONF_TEST", "from the environment", 1);
        setenv("HOME", "/home/x", 1);
        unsetenv("CONF_TEST_UNSET");
        conf_set(&conf, "spark.a", "A");
        conf_set(&conf, "spark.b", "b${spark.a}${spark.a}");
        conf_set(&conf, "spark.app.name", "${spark.b}-${env:CONF_TEST}-${system:user.home}-${system:spark.a}");
        assert_string("spark.app.name", "bAA-from the environment-/home/x-A");
        conf_set(&conf, "spark.app.name", "${spark.task.maxFailures} ${spark.locality.wait.node}");
        assert_string("spark.app.name", "4 3s");
        conf_set(&conf, "spark.app.name",
                 "${spark.none} ${env:CONF_TEST_UNSET} ${other} ${x:y} ${} ${ spark.a} ${spark.a $");
        assert_string("spark.app.name",
                      "${spark.none} ${env:CONF_TEST_UNSET} ${other} ${x:y} ${} ${ spark.a} ${spark.a $");
        conf_set(&conf, "spark.app.name", "$${spark.a} ${spark.a}} ${${spark.a}");
        assert_string("spark.app.name", "$A A} ${${spark.a}");
        assert_string_equal(conf_get_value(&conf, "spark.b"), "b${spark.a}${spark.a}");
        conf_set(&conf, "spark.failures", "6");
        conf_set(&conf, "spark.task.maxFailures", "${spark.failures}");
        assert_int_equal(get_int("spark.task.maxFailures"), 6);
}

static void rejects_circular_and_huge_references(void **state)
{
        struct fst_error error = FST_ERROR_INIT;
        char *value = NULL;
        conf_set(&conf, "spark.a", "${spark.b}");
        conf_set(&conf, "spark.b", "${spark.a}");
        conf_set(&conf, "spark.app.name", "${spark.a}");
        assert_refused(conf_get_string(&conf, "spark.app.name", &value, &error), &error,
                       "Circular reference in ${spark.b}: spark.a");
        for (int i = 0; i < 63; i++) {
                _cleanup_free_ char *key = mem_printf("spark.x%d", i);
                _cleanup_free_ char *text = mem_printf("${spark.x%d}${spark.x%d}", i + 1, i + 1);
                conf_set(&conf, key, text);
        }
        conf_set(&conf, "spark.x63", "0123456789012345678901234567890123456789012345678901234567890123");
        conf_set(&conf, "spark.app.name", "${spark.x0}");
        assert_refused(conf_get_string(&conf, "spark.app.name", &value, &error), &error, "longer than 1 MiB");
        conf_set(&conf, "spark.x63", "${spark.x64}");
        conf_set(&conf, "spark.x64", "deep");
        assert_refused(conf_get_string(&conf, "spark.app.name", &value, &error), &error, "nested deeper than 64");
        assert_null(value);
}

static void new_configuration_starts_from_prepared_one(void **state)
{
        fst_conf *fresh = fst_conf_new();
        assert_null(fst_conf_get(fresh, "spark.master"));
        assert_string_equal(fst_conf_get(fresh, "spark.task.maxFailures"), "4");
        assert_null(fst_conf_get(fresh, "spark.no.such.key"));
        conf_free(fresh);
        conf_set(&conf, "spark.master", "local[3]");
        conf_set_prepared(&conf);
        assert_ptr_equal(conf_prepared(), &conf);
        fresh = fst_conf_new();
        assert_string_equal(fst_conf_get(fresh, "spark.master"), "local[3]");
        fst_conf_set(fresh, "spark.master", "local[4]");
        assert_string_equal(fst_conf_get(fresh, "spark.master"), "local[4]");
        assert_string_equal(conf_get_raw(&conf, "spark.master"), "local[3]");
        conf_free(fresh);
        conf_free(NULL);
}

static void reads_int_unless_it_is_absent_or_too_large(void **state)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        int value = 7;
        assert_int_equal(conf_read_int(&conf, "spark.cores.max", &value, NULL), 0);
        assert_int_equal(value, 7);
        conf_set(&conf, "spark.cores.max", " -5 ");
        assert_int_equal(conf_read_int(&conf, "spark.cores.max", &value, NULL), 0);
        assert_int_equal(value, -5);
        conf_set(&conf, "spark.kubernetes.configMap.maxSize", "2147483648");
        assert_refused(conf_read_int(&conf, "spark.kubernetes.configMap.maxSize", &value, &error), &error,
                       "spark.kubernetes.configMap.maxSize is 2147483648, but must be at most 2147483647");
        assert_int_equal(value, -5);
}

static void reads_bool_unless_it_is_absent(void **state)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        bool value = true;
        assert_int_equal(conf_read_bool(&conf, "spark.hadoop.not.in.the.table", &value, NULL), 0);
        assert_true(value);
        conf_set(&conf, "spark.hadoop.not.in.the.table", " False ");
        assert_int_equal(conf_read_bool(&conf, "spark.hadoop.not.in.the.table", &value, NULL), 0);
        assert_false(value);
        conf_set(&conf, "spark.eventLog.enabled", "true");
        assert_int_equal(conf_read_bool(&conf, "spark.eventLog.enabled", &value, NULL), 0);
        assert_true(value);
        conf_set(&conf, "spark.hadoop.not.in.the.table", "yes");
        assert_refused(conf_read_bool(&conf, "spark.hadoop.not.in.the.table", &value, &error), &error,
                       "spark.hadoop.not.in.the.table should be boolean, but was yes: use true or false");
        assert_true(value);
}

static void unknown_key_or_type_aborts(void **state)
{
        for (int wrong_type = 0; wrong_type < 2; wrong_type++) {
                pid_t child = fork();
                if (child == 0) {
                        bool value;
                        close(STDERR_FILENO);
                        signal(SIGABRT, SIG_DFL);
                        conf_get_bool(&conf, wrong_type ? "spark.task.maxFailures" : "spark.no.such.key", &value, NULL);
                        _exit(0);
                }
                int status;
                assert_int_equal(waitpid(child, &status, 0), child);
                assert_true(WIFSIGNALED(status));
                assert_true(WTERMSIG(status) == SIGABRT);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(reads_defaults_of_spark, setup, teardown),
                cmocka_unit_test_setup_teardown(reads_set_value_in_its_unit, setup, teardown),
                cmocka_unit_test_setup_teardown(key_follows_another_until_set, setup, teardown),
                cmocka_unit_test_setup_teardown(reads_older_spelling_until_new_one_is_set, setup, teardown),
                cmocka_unit_test_setup_teardown(warns_once_for_deprecated_keys, setup, teardown),
                cmocka_unit_test_setup_teardown(invalid_value_names_key_value_and_unit, setup, teardown),
                cmocka_unit_test_setup_teardown(reads_int_unless_it_is_absent_or_too_large, setup, teardown),
                cmocka_unit_test_setup_teardown(reads_bool_unless_it_is_absent, setup, teardown),
                cmocka_unit_test_setup_teardown(replaces_references, setup, teardown),
                cmocka_unit_test_setup_teardown(rejects_circular_and_huge_references, setup, teardown),
                cmocka_unit_test_setup_teardown(new_configuration_starts_from_prepared_one, setup, teardown),
                cmocka_unit_test_setup_teardown(unknown_key_or_type_aborts, setup, teardown),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
