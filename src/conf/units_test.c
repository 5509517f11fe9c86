/* Tests sizes and durations against Spark's JavaUtils (observed with Spark 4.3). */
#include "conf/units.h"

#include "base/error.h"
#include "base/mem.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

static int64_t bytes(const char *text, enum unit bare, enum unit wanted)
{
        int64_t value = -77;
        assert_int_equal(units_parse_bytes(text, bare, wanted, &value, NULL), 0);
        return value;
}

static int64_t span(const char *text, enum unit bare, enum unit wanted)
{
        int64_t value = -77;
        assert_int_equal(units_parse_time(text, bare, wanted, &value, NULL), 0);
        return value;
}

static void assert_refused(int (*parse)(const char *, enum unit, enum unit, int64_t *, struct fst_error *),
                           enum unit unit, const char *text, const char *expected)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        int64_t value = 42;
        assert_int_equal(parse(text, unit, unit, &value, &error), -EINVAL);
        assert_int_equal(value, 42);
        if (!strstr(error_message(&error), expected))
                fail_msg("'%s' gave: %s", text, error_message(&error));
}

static void parses_binary_units_in_either_case(void **state)
{
        static const char *const spellings[][3] = {
                {"k", "KB", "KiB"}, {"m", "MB", "mib"}, {"g", "Gb", "gib"}, {"t", "tb", "TiB"}, {"p", "PB", "pib"}};
        for (size_t i = 0; i < ARRAY_SIZE(spellings); i++)
                for (size_t j = 0; j < 3; j++) {
                        char text[16];
                        snprintf(text, sizeof(text), "3%s", spellings[i][j]);
                        assert_int_equal(bytes(text, UNIT_B, UNIT_B), INT64_C(3) << (10 * (i + 1)));
                }
        assert_int_equal(bytes("5b", UNIT_MIB, UNIT_B), 5);
        assert_int_equal(bytes(" 1mb ", UNIT_B, UNIT_B), 1048576);
        assert_int_equal(bytes("-1m", UNIT_B, UNIT_B), -1048576);
}

static void bare_number_is_in_the_key_unit(void **state)
{
        assert_int_equal(bytes("64", UNIT_KIB, UNIT_B), 65536);
        assert_int_equal(bytes("64", UNIT_MIB, UNIT_KIB), 65536);
        assert_int_equal(span("120", UNIT_S, UNIT_MS), 120000);
        assert_int_equal(span("3", UNIT_MIN, UNIT_S), 180);
        assert_int_equal(span("-1", UNIT_MS, UNIT_MS), -1);
}

static void rounds_towards_zero(void **state)
{
        assert_int_equal(bytes("1023b", UNIT_B, UNIT_KIB), 0);
        assert_int_equal(bytes("1024b", UNIT_B, UNIT_KIB), 1);
        assert_int_equal(span("999us", UNIT_MS, UNIT_MS), 0);
        assert_int_equal(span("59999ms", UNIT_MS, UNIT_MIN), 0);
}

static void parses_every_unit_of_time(void **state)
{
        assert_int_equal(span("5", UNIT_MS, UNIT_MS), 5);
        assert_int_equal(span("5ms", UNIT_S, UNIT_MS), 5);
        assert_int_equal(span("1min", UNIT_MS, UNIT_MS), 60000);
        assert_int_equal(span("1m", UNIT_MS, UNIT_MS), 60000);
        assert_int_equal(span("2H", UNIT_MS, UNIT_MS), 7200000);
        assert_int_equal(span("3d", UNIT_MS, UNIT_MS), 259200000);
        assert_int_equal(span("600us", UNIT_MS, UNIT_US), 600);
        assert_int_equal(span(" 7S ", UNIT_MS, UNIT_MS), 7000);
        assert_int_equal(span("9223372036854775807", UNIT_MS, UNIT_MS), INT64_MAX);
}

static void rejects_fractions_and_invalid_text(void **state)
{
        static const char *const wrong[] = {"",   "k",   "1 k",  "500 b", "This breaks 600b", "600b This breaks", "--1",
                                            "+1", "1k2", "0x10", "."};
        for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
                assert_refused(units_parse_bytes, UNIT_B, wrong[i], "Failed to parse byte string: ");
                assert_refused(units_parse_bytes, UNIT_B, wrong[i], "E.g. 50b, 100k, or 250m.");
        }
        assert_refused(units_parse_bytes, UNIT_B, "0.5k", "Fractional values are not supported. Input was: 0.5k");
        assert_refused(units_parse_bytes, UNIT_B, "5zb", "Invalid suffix: \"zb\"");
        assert_refused(units_parse_time, UNIT_MS, "600l", "Invalid suffix: \"l\"");
        assert_refused(units_parse_time, UNIT_MS, "600ns", "Invalid suffix: \"ns\"");
        assert_refused(units_parse_time, UNIT_MS, "This breaks 600s", "Failed to parse time string: This breaks 600s");
        assert_refused(units_parse_time, UNIT_MS, "1 s", "E.g. 50s, 100ms, or 250us.");
        assert_refused(units_parse_time, UNIT_MS, "1.5s", "Fractional values");
        assert_refused(units_parse_time, UNIT_MS, "1abcdefghijklmnopqrstuvwxyz", "Failed to parse");
}

static void rejects_overflow(void **state)
{
        assert_refused(units_parse_bytes, UNIT_B, "8589934592g", "exceeds");
        assert_refused(units_parse_bytes, UNIT_B, "99999999999999999999", "exceeds");
        assert_refused(units_parse_bytes, UNIT_B, "-9223372036854775809", "exceeds");
        assert_int_equal(bytes("-9223372036854775808", UNIT_B, UNIT_B), INT64_MIN);
        assert_int_equal(bytes("9007199254740991k", UNIT_B, UNIT_B), INT64_C(9007199254740991) << 10);
        assert_refused(units_parse_time, UNIT_MS, "9223372036854775807d", "too long");
        assert_int_equal(span("9223372036854775807d", UNIT_MS, UNIT_D), INT64_MAX);
}

static void formats_like_spark_log(void **state)
{
        static const struct {
                int64_t value;
                const char *text;
        } sizes[] = {{10, "10.0 B"},
                     {1500, "1500.0 B"},
                     {2047, "2047.0 B"},
                     {2048, "2.0 KiB"},
                     {2000000, "1953.1 KiB"},
                     {2097152, "2.0 MiB"},
                     {2306867, "2.2 MiB"},
                     {5368709120, "5.0 GiB"},
                     {INT64_C(5) << 40, "5.0 TiB"},
                     {INT64_C(5) << 50, "5.0 PiB"},
                     {INT64_C(5) << 60, "5.0 EiB"},
                     {-1, "-1.0 B"}};
        _cleanup_(buf_deinit) struct buf b = BUF_INIT;
        for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
                CASE_LABEL("%zu of sizes: value %lld, text \"%s\"", i, (long long)sizes[i].value,
                           sizes[i].text ? sizes[i].text : "(none)");
                buf_reset(&b);
                units_put_bytes(&b, sizes[i].value);
                assert_string_equal(buf_text(&b), sizes[i].text);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(parses_binary_units_in_either_case),
                cmocka_unit_test(bare_number_is_in_the_key_unit),
                cmocka_unit_test(rounds_towards_zero),
                cmocka_unit_test(parses_every_unit_of_time),
                cmocka_unit_test(rejects_fractions_and_invalid_text),
                cmocka_unit_test(rejects_overflow),
                cmocka_unit_test(formats_like_spark_log),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
