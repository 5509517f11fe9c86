/* Tests levels from log4j2.properties and from the older log4j.properties. */
#include "conf/log4j2.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "unit/temp_dir.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>

static int reset(void **state)
{
        log_reset_levels(LOG_INFO);
        log_set_structured(false);
        return 0;
}

/* Applies @text. Returns what it wrote to standard error. */
static char *apply(const char *text)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        int ends[2], saved = dup(STDERR_FILENO);
        char out[4096];
        assert_int_equal(pipe(ends), 0);
        dup2(ends[1], STDERR_FILENO);
        close(ends[1]);
        int r = log4j2_apply("x.properties", text, strlen(text), &error);
        dup2(saved, STDERR_FILENO);
        close(saved);
        ssize_t n = read(ends[0], out, sizeof(out));
        close(ends[0]);
        if (r < 0)
                fail_msg("%s", error_message(&error));
        return mem_strndup(out, n > 0 ? (size_t)n : 0);
}

static void template_of_spark_is_silent(void **state)
{
        _cleanup_free_ char *said = apply("rootLogger.level = warn\n"
                                          "rootLogger.appenderRef.stdout.ref = console\n"
                                          "appender.console.type = Console\n"
                                          "appender.console.name = console\n"
                                          "appender.console.target = SYSTEM_ERR\n"
                                          "appender.console.layout.type = PatternLayout\n"
                                          "appender.console.layout.pattern = %d{yy/MM/dd HH:mm:ss} %p %c{1}: %m%n%ex\n"
                                          "logger.repl.name = org.apache.spark.repl.Main\n"
                                          "logger.repl.level = warn\n"
                                          "logger.jetty.name = org.sparkproject.jetty\n"
                                          "logger.jetty.level = trace\n");
        assert_string_equal(said, "");
        assert_int_equal(log_threshold, LOG_WARN);
        assert_true(log_enabled(LOG_WARN, "Executor"));
        assert_false(log_enabled(LOG_INFO, "Executor"));
}

static void sets_levels_of_loggers(void **state)
{
        _cleanup_free_ char *said = apply("rootLogger.level = error\n"
                                          "logger.a.level = debug\n"
                                          "logger.a.name = org.apache.spark.scheduler.TaskSetManager\n"
                                          "logger.b.name = org.apache.spark\n"
                                          "logger.b = warn, console\n");
        assert_string_equal(said, "");
        assert_true(log_enabled(LOG_DEBUG, "TaskSetManager"));
        assert_false(log_enabled(LOG_INFO, "DAGScheduler"));
        assert_true(log_enabled(LOG_WARN, "DAGScheduler"));
}

static void reads_older_format(void **state)
{
        _cleanup_free_ char *said = apply("log4j.rootCategory=WARN, console\n"
                                          "log4j.appender.console=org.apache.log4j.ConsoleAppender\n"
                                          "log4j.appender.console.target=System.err\n"
                                          "log4j.appender.console.layout=org.apache.log4j.PatternLayout\n"
                                          "log4j.appender.console.layout.ConversionPattern="
                                          "%d{yy/MM/dd HH:mm:ss} %p %c{1}: %m%n\n"
                                          "log4j.logger.org.apache.spark.storage=TRACE\n"
                                          "log4j.category.DAGScheduler=INHERITED\n"
                                          "log4j.logger.org.apache.hadoop=FATAL\n");
        assert_string_equal(said, "");
        assert_false(log_enabled(LOG_INFO, "DAGScheduler"));
        assert_true(log_enabled(LOG_TRACE, "BlockManager"));
}

static void warns_once_of_keys_without_effect(void **state)
{
        _cleanup_free_ char *one = apply("appender.file.type = File\n");
        assert_non_null(
                strstr(one, "WARN Log4j2: x.properties: only levels are taken from this file; appender.file.type has"));
        _cleanup_free_ char *three = apply("appender.file.type = File\nlogger.a.level = info\nfilter.x = y\n");
        assert_non_null(strstr(three, "; appender.file.type and 2 other keys have no effect\n"));
        assert_ptr_equal(strchr(three, '\n'), three + strlen(three) - 1);
}

static void unknown_level_changes_nothing(void **state)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        const char *text = "rootLogger.level = debug\nlogger.a.name = org.apache.spark\nlogger.a.level = loud\n";
        assert_int_equal(log4j2_apply("x.properties", text, strlen(text), &error), -EINVAL);
        assert_string_equal(error_message(&error),
                            "x.properties: logger.a.level: unknown log level 'loud': use one of ALL, "
                            "TRACE, DEBUG, INFO, WARN, ERROR, FATAL, OFF");
        assert_int_equal(log_threshold, LOG_INFO);
}

static void configuration_overrides_file(void **state)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct fst_conf conf;
        conf_init(&conf);
        log_set_level(LOG_OFF);
        assert_int_equal(log4j2_configure(&conf, temp_dir, NULL), 0);
        assert_int_equal(log_threshold, LOG_INFO);
        free(temp_dir_write("log4j2.properties", "rootLogger.level = debug\n"));
        assert_int_equal(log4j2_configure(&conf, temp_dir, NULL), 0);
        assert_int_equal(log_threshold, LOG_DEBUG);
        conf_set(&conf, "spark.log.level", "error");
        assert_int_equal(log4j2_configure(&conf, temp_dir, NULL), 0);
        assert_int_equal(log_threshold, LOG_ERROR);
        assert_int_equal(log4j2_configure(&conf, NULL, NULL), 0);
        assert_int_equal(log_threshold, LOG_ERROR);
        conf_set(&conf, "spark.log.level", "loud");
        assert_int_equal(log4j2_configure(&conf, temp_dir, &error), -EINVAL);
        assert_int_equal(strncmp(error_message(&error), "spark.log.level: unknown log level 'loud'", 41), 0);
        conf_deinit(&conf);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup(template_of_spark_is_silent, reset),
                cmocka_unit_test_setup(sets_levels_of_loggers, reset),
                cmocka_unit_test_setup(reads_older_format, reset),
                cmocka_unit_test_setup(warns_once_of_keys_without_effect, reset),
                cmocka_unit_test_setup(unknown_level_changes_nothing, reset),
                cmocka_unit_test_setup(configuration_overrides_file, reset),
        };
        return cmocka_run_group_tests(tests, temp_dir_make, temp_dir_remove);
}
