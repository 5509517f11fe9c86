/* Time zones: rules, damaged files, the zone of the process. */
#include "operator/schedule/time_zone.h"

#include "base/error.h"
#include "base/mem.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static int offset_at(const char *tz, int64_t at)
{
        struct time_zone *zone = NULL;
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        int64_t until;
        setenv("TZ", tz, 1);
        int r = time_zone_load("Local", &zone, &error);
        unsetenv("TZ");
        assert_string_equal(r < 0 ? error_message(&error) : "", "");
        int offset = time_zone_at(zone, at, &until);
        assert_true(until > at);
        time_zone_free(zone);
        return offset;
}

static void reads_rules_of_tz_variable(void **state)
{
        static const struct {
                const char *tz;
                int64_t at;
                int offset;
        } cases[] = {
                {"CET-1CEST,M3.5.0,M10.5.0/3", 1774745999, 3600}, /* 2026-03-29T00:59:59Z */
                {"CET-1CEST,M3.5.0,M10.5.0/3", 1774746000, 7200},
                {"CET-1CEST,M3.5.0,M10.5.0/3", 1792889999, 7200}, /* 2026-10-25T00:59:59Z */
                {"CET-1CEST,M3.5.0,M10.5.0/3", 1792890000, 3600},
                {"NZST-12NZDT,M9.5.0,M4.1.0/3", 1767225600, 13 * 3600}, /* 2026-01-01: summer in the south */
                {"NZST-12NZDT,M9.5.0,M4.1.0/3", 1782864000, 12 * 3600},
                {"<-03>3", 0, -3 * 3600},
                {"<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", 1767225600, 11 * 3600},
                {"EST5EDT,J60,J300", 1772341200, -4 * 3600 - 3600}, /* 2026-03-01T05:00Z: before 02:00 on day 60 */
                {"EST5EDT,J60,J300", 1772352000, -4 * 3600},
                {"EST5EDT,0/0,J365/25", 1767243600, -4 * 3600}, /* summer time all year */
                {":Asia/Tokyo", 0, 9 * 3600},
                {"/usr/share/zoneinfo/Asia/Tokyo", 0, 9 * 3600},
                {"UTC", 0, 0},
                {"", 0, 0},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                CASE_LABEL("%s at %lld", cases[i].tz, (long long)cases[i].at);
                assert_int_equal(offset_at(cases[i].tz, cases[i].at), cases[i].offset);
        }
}

static void rejects_damaged_files(void **state)
{
        /* One type (UTC+1), one transition at 0, no footer. */
        unsigned char file[44 + 4 + 1 + 6 + 4] = "TZif";
        struct time_zone *zone = NULL;
        int64_t until;
        file[35] = 1;                  /* times */
        file[39] = 1;                  /* types */
        file[43] = 4;                  /* characters */
        file[44 + 5 + 2] = 3600 / 256; /* offset */
        file[44 + 5 + 3] = 3600 % 256;
        assert_int_equal(time_zone_parse(file, sizeof(file), &zone, NULL), 0);
        assert_int_equal(time_zone_at(zone, 5, &until), 3600);
        time_zone_free(zone);
        for (size_t n = 0; n < sizeof(file); n++) {
                CASE_LABEL("%zu bytes", n);
                assert_int_equal(time_zone_parse(file, n, &zone, NULL), -EINVAL);
        }
        file[48] = 1; /* the transition's type does not exist */
        assert_int_equal(time_zone_parse(file, sizeof(file), &zone, NULL), -EINVAL);
        file[48] = 0;
        file[4] = '2'; /* promises a second block */
        assert_int_equal(time_zone_parse(file, sizeof(file), &zone, NULL), -EINVAL);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(reads_rules_of_tz_variable),
                cmocka_unit_test(rejects_damaged_files),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
