/* Log lines as read from the other end of a pipe. */
#include "base/log.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "unit/cases.h"

#include <fcntl.h>
#include <pthread.h>
#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>

static int real_stderr, reader;

static void capture(void)
{
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        assert_true(fcntl(ends[1], F_SETPIPE_SZ, 1 << 20) > 0);
        real_stderr = dup(STDERR_FILENO);
        dup2(ends[1], STDERR_FILENO);
        close(ends[1]);
        reader = ends[0];
}

static char *captured(void)
{
        struct buf b = BUF_INIT;
        char part[4096];
        dup2(real_stderr, STDERR_FILENO);
        close(real_stderr);
        for (ssize_t n; (n = read(reader, part, sizeof(part))) > 0;)
                buf_append(&b, part, (size_t)n);
        close(reader);
        return buf_steal(&b);
}

static void assert_matches(const char *text, const char *pattern)
{
        regex_t compiled;
        assert_int_equal(regcomp(&compiled, pattern, REG_EXTENDED | REG_NOSUB), 0);
        int r = regexec(&compiled, text, 0, NULL, 0);
        regfree(&compiled);
        if (r != 0)
                fail_msg("'%s' does not match %s", text, pattern);
}

static int reset(void **state)
{
        log_reset_levels(LOG_INFO);
        log_set_structured(false);
        log_set_context(NULL, -1, -1);
        return 0;
}

static void a_line_looks_like_sparks(void **state)
{
        capture();
        errno = EINTR;
        log_info("DAGScheduler", "Submitting %d missing tasks", 2);
        assert_int_equal(errno, EINTR);
        log_write(LOG_FATAL, "Executor", "%s", "gone");
        _cleanup_free_ char *text = captured();
        assert_matches(text, "^[0-9]{2}/[0-9]{2}/[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2} INFO DAGScheduler: "
                             "Submitting 2 missing tasks\n[0-9/]{8} [0-9:]{8} FATAL Executor: gone\n$");
}

static void escapes_control_characters_of_messages(void **state)
{
        static const struct {
                const char *label, *text, *line;
        } cases[] = {
                {"a line break", "x\n26/11/24 10:00:00 ERROR Master: forged",
                 "x\\n26/11/24 10:00:00 ERROR Master: forged"},
                {"a carriage return", "x\rforged", "x\\rforged"},
                {"colours", "x\033[2Jy", "x\\x1b[2Jy"},
                {"a bell and a delete", "x\a\177", "x\\x07\\x7f"},
                {"C1 in UTF-8",
                 "x\xc2\x9b"
                 "2J",
                 "x\\x9b2J"},
                {"plain text", "tab\t\xc3\xa4 \\n", "tab\t\xc3\xa4 \\n"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                CASE_LABEL("%zu of cases: label \"%s\", text \"%s\", line \"%s\"", i,
                           cases[i].label ? cases[i].label : "(none)", cases[i].text ? cases[i].text : "(none)",
                           cases[i].line ? cases[i].line : "(none)");
                capture();
                log_info("Master", "%s", cases[i].text);
                _cleanup_free_ char *text = captured();
                _cleanup_free_ char *line = mem_printf(" INFO Master: %s\n", cases[i].line);
                if (strcmp(text + strlen("26/11/24 10:00:00"), line) != 0)
                        fail_msg("%s: \"%s\", not \"%s\"", cases[i].label, text, line);
        }
}

static void keeps_line_breaks_of_formats(void **state)
{
        capture();
        log_info("Master", "lines:\n%s", "one\ntwo\033\n26/11/24 10:00:00 ERROR Master: forged");
        _cleanup_free_ char *text = captured();
        assert_string_equal(text + strlen("26/11/24 10:00:00"),
                            " INFO Master: lines:\none\ntwo\\x1b\n\t26/11/24 10:00:00 ERROR Master: forged\n");
}

static void log_multiline_keeps_line_breaks_of_arguments(void **state)
{
        capture();
        log_multiline(LOG_ERROR, "TaskSchedulerImpl", "Lost executor 1: %s",
                      "\nexit code 137\033\n26/11/24 10:00:00 ERROR Master: forged");
        log_multiline(LOG_DEBUG, "TaskSchedulerImpl", "%s", "not seen");
        _cleanup_free_ char *text = captured();
        assert_string_equal(text + strlen("26/11/24 10:00:00"),
                            " ERROR TaskSchedulerImpl: Lost executor 1: \nexit code 137\\x1b\n"
                            "\t26/11/24 10:00:00 ERROR Master: forged\n");
}

static void a_level_that_is_off_writes_nothing(void **state)
{
        capture();
        log_debug("DAGScheduler", "not seen");
        log_write(LOG_OFF, "DAGScheduler", "never seen");
        log_set_level(LOG_OFF);
        log_error("DAGScheduler", "not seen");
        assert_int_equal(log_threshold, LOG_OFF);
        log_set_level(LOG_WARN);
        log_info("DAGScheduler", "not seen");
        log_warn("DAGScheduler", "seen");
        _cleanup_free_ char *text = captured();
        assert_matches(text, "^[^\n]* WARN DAGScheduler: seen\n$");
}

static void the_longest_logger_that_fits_decides(void **state)
{
        assert_int_equal(log_set_logger_level("org.apache.spark", LOG_WARN), 0);
        assert_int_equal(log_set_logger_level("org.apache.spark.scheduler", LOG_ERROR), 0);
        assert_int_equal(log_set_logger_level("org.apache.spark.scheduler.TaskSetManager", LOG_DEBUG), 0);
        assert_int_equal(log_set_logger_level("SparkContext", LOG_TRACE), 0);
        assert_int_equal(log_threshold, LOG_TRACE);
        assert_true(log_enabled(LOG_TRACE, "SparkContext"));
        assert_true(log_enabled(LOG_DEBUG, "TaskSetManager"));
        assert_false(log_enabled(LOG_TRACE, "TaskSetManager"));
        assert_true(log_enabled(LOG_ERROR, "DAGScheduler"));
        assert_false(log_enabled(LOG_WARN, "DAGScheduler"));
        assert_true(log_enabled(LOG_WARN, "Executor"));
        assert_false(log_enabled(LOG_INFO, "Executor"));
        assert_false(log_enabled(LOG_INFO, "SomethingOfOurs"));
        assert_true(log_enabled(LOG_INFO, "com.example.App"));
        log_set_logger_level("org.apache.spark.scheduler", LOG_INFO); /* the last word counts */
        assert_true(log_enabled(LOG_INFO, "DAGScheduler"));
        log_set_logger_level("org.apache.spark.schedule", LOG_TRACE); /* not a package name */
        assert_false(log_enabled(LOG_DEBUG, "DAGScheduler"));
}

static void more_loggers_than_there_is_room_are_refused(void **state)
{
        char name[32];
        for (int i = 0; i < 64; i++) {
                snprintf(name, sizeof(name), "logger%d", i);
                assert_int_equal(log_set_logger_level(name, LOG_INFO), 0);
        }
        assert_int_equal(log_set_logger_level("one.more", LOG_INFO), -ENOSPC);
        assert_int_equal(log_set_logger_level("logger7", LOG_DEBUG), 0);
        assert_true(log_enabled(LOG_DEBUG, "logger7.sub"));
}

static void structured_lines_have_sparks_fields(void **state)
{
        log_set_structured(true);
        capture();
        log_info("SparkContext", "Running");
        log_set_context("local-1", -1, -1);
        log_info("SparkContext", "Running");
        log_set_context("local-1", 3, 17);
        log_warn("Executor", "quote \" back \\ tab \t nl \n uni é bell \a bad \xff\xc3");
        _cleanup_free_ char *text = captured();
        char *second = strchr(text, '\n') + 1, *third = strchr(second, '\n') + 1;
        second[-1] = third[-1] = '\0';
#define TS "^\\{\"ts\":\"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z\","
        assert_matches(text, TS "\"level\":\"INFO\",\"msg\":\"Running\",\"logger\":\"SparkContext\"\\}$");
        assert_matches(second, TS "\"level\":\"INFO\",\"msg\":\"Running\",\"context\":\\{\"app_id\":\"local-1\"\\},"
                                  "\"logger\":\"SparkContext\"\\}$");
        const char *rest = strstr(third, "\"level\"");
        assert_non_null(rest);
        assert_string_equal(rest,
                            "\"level\":\"WARN\",\"msg\":\"quote \\\" back \\\\ tab \\t nl \\n uni é bell \\u0007 bad "
                            "\xef\xbf\xbd\xef\xbf\xbd\",\"context\":{\"app_id\":\"local-1\",\"stage_id\":\"3\","
                            "\"task_id\":\"17\"},\"logger\":\"Executor\"}\n");
}

static void long_lines_are_whole(void **state)
{
        _cleanup_free_ char *big = mem_alloc(10001);
        memset(big, 'x', 10000);
        big[10000] = '\0';
        capture();
        log_info("Executor", "%s", big);
        log_set_structured(true);
        log_info("Executor", "%s", big);
        _cleanup_free_ char *text = captured();
        assert_non_null(strstr(text, big));
        assert_non_null(strstr(strchr(text, '\n'), big));
        size_t n = strlen(text);
        assert_true(n > 20000);
        assert_true(text[n - 1] == '\n');
}

static void log_lines_do_not_tear_the_status_line(void **state)
{
        capture();
        log_set_status_line("[Stage 0:>  (0 + 2) / 4]");
        log_warn("Executor", "slow");
        log_set_status_line(NULL);
        log_set_status_line(NULL);
        log_warn("Executor", "done");
        _cleanup_free_ char *text = captured();
        assert_matches(text, "^\r\033\\[K\\[Stage 0:>  \\(0 \\+ 2\\) / 4\\]"
                             "\r\033\\[K[^\n\r]* WARN Executor: slow\n\\[Stage 0:>  \\(0 \\+ 2\\) / 4\\]"
                             "\r\033\\[K[0-9][^\n\r]* WARN Executor: done\n$");
}

static void *write_many(void *number)
{
        for (int i = 0; i < 1000; i++)
                log_info("Executor", "thread %d line %d end", *(int *)number, i);
        return NULL;
}

static void lines_of_many_threads_stay_whole(void **state)
{
        pthread_t threads[4];
        int numbers[4] = {0, 1, 2, 3};
        capture();
        for (int i = 0; i < 4; i++)
                assert_int_equal(pthread_create(&threads[i], NULL, write_many, &numbers[i]), 0);
        log_set_logger_level("Executor", LOG_DEBUG);
        log_set_level(LOG_DEBUG);
        for (int i = 0; i < 4; i++)
                pthread_join(threads[i], NULL);
        _cleanup_free_ char *text = captured();
        int next[4] = {0}, lines = 0;
        for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1, lines++) {
                int thread = -1, number = -1, length = 0;
                *end = '\0';
                assert_int_equal(
                        sscanf(line, "%*s %*s INFO Executor: thread %d line %d end%n", &thread, &number, &length), 2);
                assert_int_equal(line[length], '\0');
                assert_int_equal(number, next[thread]++);
        }
        assert_int_equal(lines, 4000);
}

static void levels_are_read_in_either_case(void **state)
{
        enum log_level level = LOG_OFF;
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        assert_int_equal(log_level_parse("info", &level, NULL), 0);
        assert_int_equal(level, LOG_INFO);
        assert_int_equal(log_level_parse("All", &level, NULL), 0);
        assert_int_equal(level, LOG_TRACE);
        assert_int_equal(log_level_parse("loud", &level, &error), -EINVAL);
        assert_int_equal(level, LOG_TRACE);
        assert_non_null(strstr(error_message(&error), "'loud'"));
        assert_string_equal(log_level_name(LOG_WARN), "WARN");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup(a_line_looks_like_sparks, reset),
                cmocka_unit_test_setup(escapes_control_characters_of_messages, reset),
                cmocka_unit_test_setup(keeps_line_breaks_of_formats, reset),
                cmocka_unit_test_setup(log_multiline_keeps_line_breaks_of_arguments, reset),
                cmocka_unit_test_setup(a_level_that_is_off_writes_nothing, reset),
                cmocka_unit_test_setup(the_longest_logger_that_fits_decides, reset),
                cmocka_unit_test_setup(more_loggers_than_there_is_room_are_refused, reset),
                cmocka_unit_test_setup(structured_lines_have_sparks_fields, reset),
                cmocka_unit_test_setup(long_lines_are_whole, reset),
                cmocka_unit_test_setup(log_lines_do_not_tear_the_status_line, reset),
                cmocka_unit_test_setup(lines_of_many_threads_stay_whole, reset),
                cmocka_unit_test_setup(levels_are_read_in_either_case, reset),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
