/* Tests the layouts of the driver's log against log4j's patterns. */
#include "driver/events/driver_log.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>
#include <cmocka.h>

static const struct log_line line = {.time = {.tv_sec = 1700000000, .tv_nsec = 7000000},
                                     .level = LOG_WARN,
                                     .component = "TaskSetManager",
                                     .message = "lost %d\nxyz",
                                     .length = 8};

static void formats_patterns_like_log4j(void **state)
{
        static const struct {
                const char *label, *layout, *expected;
        } cases[] = {
                {"default of Spark", "%d{yy/MM/dd HH:mm:ss.SSS} %p %c{1}: %m%n%ex",
                 "23/11/14 22:13:20.007 WARN TaskSetManager: lost %d\n\n"},
                {"long names", "%date{yyyy} %level %logger{1} %message%throwable",
                 "2023 WARN TaskSetManager lost %d\n"},
                {"full name of the logger", "%c", "org.apache.spark.scheduler.TaskSetManager"},
                {"widths", "[%6p|%-6p|%2p]", "[  WARN|WARN  |WARN]"},
                {"quotes in dates", "%d{HH'h'mm}", "22h13"},
                {"ISO 8601", "%d{ISO8601}", "2023-11-14T22:13:20,007"},
                {"date without a pattern", "%d", "2023-11-14 22:13:20,007"},
                {"percent sign", "100%%", "100%"},
                {"text alone", "plain", "plain"},
                {"nothing", "", ""},
        };
        setenv("TZ", "UTC", 1);
        tzset();
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_(buf_deinit) struct buf out = BUF_INIT;
                if (driver_log_format(&out, cases[i].layout, &line, NULL) ||
                    strcmp(buf_text(&out), cases[i].expected) != 0)
                        fail_msg("%s: \"%s\"", cases[i].label, buf_text(&out));
        }
}

static void rejects_unknown_patterns(void **state)
{
        static const struct {
                const char *layout, *part;
        } cases[] = {{"%m %X{id}", "%X"}, {"%d{yyyyy}", "yyyyy"}, {"%m%", "%"}, {"%99999m", "too wide"}, {"% m", "%"}};
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
                _cleanup_(buf_deinit) struct buf out = BUF_INIT;
                if (driver_log_format(&out, cases[i].layout, &line, &error) != -EINVAL ||
                    !strstr(error_message(&error), cases[i].part))
                        fail_msg("%s: %s", cases[i].layout, error_message(&error));
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {cmocka_unit_test(formats_patterns_like_log4j),
                                           cmocka_unit_test(rejects_unknown_patterns)};
        return cmocka_run_group_tests(tests, NULL, NULL);
}
