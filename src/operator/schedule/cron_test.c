/* Cron expressions: syntax, occurrences, daylight saving. Expected values are those of robfig/cron v3. */
#include "operator/schedule/cron.h"

#include "base/error.h"
#include "base/mem.h"
#include "operator/schedule/civil_time.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <cmocka.h>

/* Parses "2026-03-29T01:30:00" as UTC. */
static int64_t utc(const char *text)
{
        int year, month, day, hour, minute, second;
        assert_int_equal(sscanf(text, "%d-%d-%dT%d:%d:%d", &year, &month, &day, &hour, &minute, &second), 6);
        return ((days_of_civil(year, month, day) * 24 + hour) * 60 + minute) * 60000 + second * 1000;
}

static void format_utc(int64_t ms, char out[32])
{
        int64_t seconds = ms / 1000, year;
        int month, day;
        if (ms == CRON_NEVER) {
                snprintf(out, 32, "never");
                return;
        }
        civil_of_days(seconds / 86400, &year, &month, &day);
        snprintf(out, 32, "%04d-%02d-%02dT%02d:%02d:%02d", (int)year, month, day, (int)(seconds % 86400 / 3600),
                 (int)(seconds % 3600 / 60), (int)(seconds % 60));
}

static void finds_next_occurrence(void **state)
{
        static const struct {
                const char *schedule, *zone, *after, *next;
        } cases[] = {
                {"* * * * *", "UTC", "2012-07-09T14:45:00", "2012-07-09T14:46:00"},
                {"* * * * *", "UTC", "2012-07-09T14:59:59", "2012-07-09T15:00:00"},
                {"0/15 * * * *", "UTC", "2012-07-09T14:45:00", "2012-07-09T15:00:00"},
                {"20-35/15 * * * *", "UTC", "2012-07-09T14:45:00", "2012-07-09T15:20:00"},
                {"0 0 1 JAN ?", "", "2012-07-09T23:35:51", "2013-01-01T00:00:00"},
                {"0 0 * Feb Mon", "UTC", "2012-07-09T23:35:00", "2013-02-04T00:00:00"},
                {"0 0 29 2 ?", "UTC", "2012-07-09T23:35:00", "2016-02-29T00:00:00"},
                {"0 0 29 2 *", "UTC", "2096-03-01T00:00:00", "2104-02-29T00:00:00"},
                {"0 0 30 Feb ?", "UTC", "2012-07-09T23:35:00", "never"},
                {"0 0 31 Apr ?", "UTC", "2012-07-09T23:35:00", "never"},
                {"@yearly", "UTC", "2026-05-01T00:00:00", "2027-01-01T00:00:00"},
                {"@annually", "UTC", "2026-01-01T00:00:00", "2027-01-01T00:00:00"},
                {"@monthly", "UTC", "2026-12-31T23:59:59", "2027-01-01T00:00:00"},
                {"@weekly", "UTC", "2026-11-28T00:00:00", "2026-11-29T00:00:00"},
                {"@daily", "UTC", "2026-11-28T00:00:00", "2026-11-29T00:00:00"},
                {"@midnight", "UTC", "2026-11-28T23:00:00", "2026-11-29T00:00:00"},
                {"@hourly", "UTC", "2026-11-28T23:00:00", "2026-11-29T00:00:00"},
                {"@every 10m", "UTC", "2026-11-28T23:55:07", "2026-11-29T00:05:07"},
                {"@every 1h30m", "UTC", "2026-11-28T00:00:00", "2026-11-28T01:30:00"},
                {"@every 10ms", "UTC", "2026-11-28T00:00:00", "2026-11-28T00:00:01"},
                {"@every -5m", "UTC", "2026-11-28T00:00:00", "2026-11-28T00:00:01"},
                {"@every 1.5h", "UTC", "2026-11-28T00:00:00", "2026-11-28T01:30:00"},
                /* Both days restricted: either suffices. One of them "*": both must match. */
                {"0 0 13 * FRI", "UTC", "2026-11-01T00:00:00", "2026-11-06T00:00:00"},
                {"0 0 13 * *", "UTC", "2026-11-01T00:00:00", "2026-11-13T00:00:00"},
                {"0 0 ? * 5", "UTC", "2026-11-01T00:00:00", "2026-11-06T00:00:00"},
                /* A step makes "*" a restriction. */
                {"0 0 */2 * SUN", "UTC", "2012-07-15T00:00:00", "2012-07-17T00:00:00"},
                {"0 0 */1 * SUN", "UTC", "2012-07-15T00:00:00", "2012-07-22T00:00:00"},
                {"5,,10 * * * *", "UTC", "2026-11-28T00:06:00", "2026-11-28T00:10:00"},
                {" 5  4 * * * ", "UTC", "2026-11-28T00:06:00", "2026-11-28T04:05:00"},
                {"0 0 1 1 *", "UTC", "1969-12-31T23:59:59", "1970-01-01T00:00:00"},
                /* Zones. */
                {"0 3 * * *", "Europe/Berlin", "2026-07-01T00:30:00", "2026-07-01T01:00:00"},
                {"CRON_TZ=Asia/Tokyo 0 3 * * *", "Europe/Berlin", "2026-07-01T00:30:00", "2026-07-01T18:00:00"},
                {"TZ=America/New_York  0 3 * * *", "UTC", "2026-01-01T00:30:00", "2026-01-01T08:00:00"},
                {"CRON_TZ=Asia/Kolkata @daily", "UTC", "2026-01-01T00:30:00", "2026-01-01T18:30:00"},
                /* Spring forward (01:00 UTC on March 29): 02:30 does not occur on that day, hourly runs continue. */
                {"30 2 * * *", "Europe/Berlin", "2026-03-28T01:30:00", "2026-03-30T00:30:00"},
                {"30 * * * *", "Europe/Berlin", "2026-03-29T00:30:00", "2026-03-29T01:30:00"},
                {"0 3 * * *", "Europe/Berlin", "2026-03-29T00:00:00", "2026-03-29T01:00:00"},
                /* Fall back (01:00 UTC on October 25): 02:30 occurs twice. */
                {"30 2 * * *", "Europe/Berlin", "2026-10-24T00:30:00", "2026-10-25T00:30:00"},
                {"30 2 * * *", "Europe/Berlin", "2026-10-25T00:30:00", "2026-10-25T01:30:00"},
                {"30 2 * * *", "Europe/Berlin", "2026-10-25T01:30:00", "2026-10-26T01:30:00"},
                {"0 * * * *", "Europe/Berlin", "2026-10-25T00:00:00", "2026-10-25T01:00:00"},
                {"0 2 * * *", "America/New_York", "2026-03-07T07:00:00", "2026-03-09T06:00:00"},
                {"0 1 * * *", "America/New_York", "2026-11-01T05:00:00", "2026-11-01T06:00:00"},
                /* Midnight is skipped in Beirut: its next one is a day later. */
                {"0 0 * * *", "Asia/Beirut", "2026-03-27T22:00:00", "2026-03-29T21:00:00"},
                {"1 1 * * *", "Asia/Beirut", "2026-03-28T12:00:00", "2026-03-28T22:01:00"},
                /* Half an hour of daylight saving in Lord Howe (from +10:30 to +11:00 on October 4 at 02:00). */
                {"15 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00:00", "2026-10-04T15:15:00"},
                /* A day that does not exist: December 30, 2011, in Samoa. */
                {"0 12 30 12 *", "Pacific/Apia", "2011-01-01T00:00:00", "2012-12-29T22:00:00"},
                /* Beyond the transitions of the file, by the rule in its footer. */
                {"0 12 1 7 *", "Europe/Berlin", "2090-01-01T00:00:00", "2090-07-01T10:00:00"},
                {"0 12 1 1 *", "Australia/Sydney", "2090-02-01T00:00:00", "2091-01-01T01:00:00"},
                {"30 2 * * *", "Europe/Berlin", "2090-03-25T01:30:00", "2090-03-27T00:30:00"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                CASE_LABEL("\"%s\" %s after %s", cases[i].schedule, cases[i].zone, cases[i].after);
                _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
                struct cron *cron = NULL;
                char found[32];
                int r = cron_parse(cases[i].schedule, cases[i].zone, &cron, &error);
                assert_string_equal(r < 0 ? error_message(&error) : "", "");
                format_utc(cron_next(cron, utc(cases[i].after)), found);
                cron_free(cron);
                assert_string_equal(found, cases[i].next);
        }
}

static void rejects_invalid_expressions(void **state)
{
        static const struct {
                const char *schedule, *message;
        } cases[] = {
                {"", "empty spec string"},
                {"xyz", "expected exactly 5 fields, found 1: xyz"},
                {"* * * *", "expected exactly 5 fields, found 4: * * * *"},
                {"* * * * * *", "expected exactly 5 fields, found 6: * * * * * *"},
                {"5 j * * *", "failed to parse int from j: strconv.Atoi: parsing \"j\": invalid syntax"},
                {"99999999999 * * * *",
                 "failed to parse int from 99999999999: strconv.Atoi: parsing \"99999999999\": value out of range"},
                {"60 0 * * *", "end of range (60) above maximum (59): 60"},
                {"0 24 * * *", "end of range (24) above maximum (23): 24"},
                {"0 0 0 * *", "beginning of range (0) below minimum (1): 0"},
                {"0 0 * * 7", "end of range (7) above maximum (6): 7"},
                {"5-3 * * * *", "beginning of range (5) beyond end of range (3): 5-3"},
                {"1-2-3 * * * *", "too many hyphens: 1-2-3"},
                {"1/2/3 * * * *", "too many slashes: 1/2/3"},
                {"*/0 * * * *", "step of range should be a positive number: */0"},
                {"*/-5 * * * *", "negative number (-5) not allowed: -5"},
                {"-5 * * * *", "failed to parse int from : strconv.Atoi: parsing \"\": invalid syntax"},
                {", * * * *", "a field without a value: , * * * *"},
                {"@unrecognized", "unrecognized descriptor: @unrecognized"},
                {"@every", "unrecognized descriptor: @every"},
                {"@every 1d", "failed to parse duration @every 1d: time: unknown unit in duration \"1d\" (write, for "
                              "example, 1h30m or 90s)"},
                {"TZ=UTC", "a time zone without a schedule: TZ=UTC"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                CASE_LABEL("\"%s\"", cases[i].schedule);
                _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
                struct cron *cron = NULL;
                assert_int_equal(cron_parse(cases[i].schedule, "UTC", &cron, &error), -EINVAL);
                assert_null(cron);
                assert_string_equal(error_message(&error), cases[i].message);
        }
}

static void rejects_unknown_zones(void **state)
{
        static const char *const zones[] = {"Mars/Base", "../../etc/passwd", "/etc/passwd", "Europe"};
        for (size_t i = 0; i < ARRAY_SIZE(zones); i++) {
                CASE_LABEL("%s", zones[i]);
                _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
                _cleanup_free_ char *prefixed = mem_printf("CRON_TZ=%s @daily", zones[i]);
                struct cron *cron = NULL;
                assert_true(cron_parse("@daily", zones[i], &cron, &error) < 0);
                assert_non_null(strstr(error_message(&error), zones[i]));
                assert_true(cron_parse(prefixed, "UTC", &cron, &error) < 0);
                assert_non_null(strstr(error_message(&error), "provided bad location"));
                assert_null(cron);
        }
}

/* The definition itself: the C library's clock at each fifth minute of a year, in a process with that TZ. */
static void agrees_with_c_library(void **state)
{
        static const char *const zones[] = {"Europe/Berlin",  "America/Sao_Paulo", "Australia/Lord_Howe",
                                            "Asia/Kathmandu", "Africa/Casablanca", "Pacific/Chatham"};
        for (size_t i = 0; i < ARRAY_SIZE(zones); i++) {
                CASE_LABEL("%s", zones[i]);
                const int64_t end = utc("2019-01-01T00:00:00");
                struct cron *cron = NULL;
                setenv("TZ", zones[i], 1);
                tzset();
                assert_int_equal(cron_parse("*/20 0-3 * * *", "Local", &cron, NULL), 0);
                int64_t next = cron_next(cron, utc("2018-01-01T00:00:00"));
                for (int64_t at = utc("2018-01-01T00:05:00"); at < end; at += 300000) {
                        struct tm local;
                        time_t seconds = (time_t)(at / 1000);
                        localtime_r(&seconds, &local);
                        bool matches = local.tm_min % 20 == 0 && local.tm_hour <= 3;
                        assert_int_equal(next == at, matches);
                        if (matches)
                                next = cron_next(cron, at);
                }
                cron_free(cron);
        }
        unsetenv("TZ");
        tzset();
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(finds_next_occurrence),
                cmocka_unit_test(rejects_invalid_expressions),
                cmocka_unit_test(rejects_unknown_zones),
                cmocka_unit_test(agrees_with_c_library),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
