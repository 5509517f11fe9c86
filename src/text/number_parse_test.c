/* Parses whole texts only, with the same bits as strtod. */
#include "base/mem.h"
#include "text/number_format.h"
#include "unit/cases.h"

#include <firesteel/text.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void integers(void **state)
{
        static const struct {
                const char *text;
                int64_t n;
        } good[] = {{"0", 0},
                    {"-0", 0},
                    {"+7", 7},
                    {"0000000000000000000000012", 12},
                    {"9223372036854775807", INT64_MAX},
                    {"-9223372036854775808", INT64_MIN}};
        static const char *const bad[] = {"",
                                          "-",
                                          "+",
                                          " 1",
                                          "1 ",
                                          "1.0",
                                          "1e3",
                                          "0x1",
                                          "--1",
                                          "9223372036854775808",
                                          "-9223372036854775809",
                                          "99999999999999999999999999999"};
        int64_t n;
        for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
                CASE_LABEL("%zu of good: text \"%s\", n %lld", i, good[i].text ? good[i].text : "(none)",
                           (long long)good[i].n);
                assert_true(fst_parse_i64(fst_bytes_of(good[i].text), &n));
                assert_int_equal(n, good[i].n);
        }
        for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
                n = 5;
                assert_false(fst_parse_i64(fst_bytes_of(bad[i]), &n));
                assert_int_equal(n, 5);
        }
        assert_true(fst_parse_i64((fst_bytes){"123", 2}, &n)); /* the range ends before the NUL */
        assert_int_equal(n, 12);
        assert_false(fst_parse_i64((fst_bytes){0}, &n));
}

static void assert_as_libc(const char *text)
{
        double x = 5, wanted = strtod(text, NULL);
        if (!fst_parse_f64(fst_bytes_of(text), &x) || memcmp(&x, &wanted, sizeof(x)) != 0)
                fail_msg("%s is %a, not %a", text, x, wanted);
}

static void decimals(void **state)
{
        static const char *const good[] = {
                "0",
                "-0",
                "0.0",
                "1",
                "+1.5",
                ".5",
                "5.",
                "1e3",
                "1E-3",
                "1.0E10",
                "-2.25e+2",
                "1e22",
                "1e23",
                "1e-22",
                "1e-23",
                "9007199254740992",
                "9007199254740993",
                "9007199254740993.0000000000000000000000001",
                "18446744073709551616",
                "0.1",
                "0.30000000000000004",
                "123456789012345678901234567890",
                "1e308",
                "1e309",
                "-1e400",
                "4.9e-324",
                "2e-324",
                "1e-400",
                "1e99999999999999999999",
                "0e99999999999999999999",
                "0.000000000000000000000000000000000000000000000001e48",
                "2.2250738585072011e-308",
                "100000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
                "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000001",
                "1.00000000000000011102230246251565404236316680908203125",
                "1.00000000000000011102230246251565404236316680908203124"};
        static const char *const bad[] = {"",      "-",   ".",  "e3",  "1e",  "1e+",      " 1",  "1 ",    "1,5",
                                          "1.2.3", "0x1", "1f", "inf", "nan", "Infinite", "--1", "1e1.5", "-NaN5"};
        double x;
        for (size_t i = 0; i < ARRAY_SIZE(good); i++)
                assert_as_libc(good[i]);
        for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
                x = 5;
                if (fst_parse_f64(fst_bytes_of(bad[i]), &x) || x != 5)
                        fail_msg("\"%s\" is no number, not %a", bad[i], x);
        }
        assert_true(fst_parse_f64(fst_bytes_of("NaN"), &x));
        assert_true(isnan(x));
        assert_true(fst_parse_f64(fst_bytes_of("Infinity"), &x));
        assert_true(x == INFINITY);
        assert_true(fst_parse_f64(fst_bytes_of("-Infinity"), &x));
        assert_true(x == -INFINITY);
        assert_true(fst_parse_f64((fst_bytes){"1.25", 3}, &x));
        assert_true(x == 1.2);
}

static void several(void **state)
{
        double x[3] = {7, 7, 7};
        assert_int_equal(fst_parse_f64s(fst_bytes_of(" 1  -2.5 "), x, 3), 2);
        assert_true(x[0] == 1);
        assert_true(x[1] == -2.5);
        assert_true(x[2] == 7);
        assert_int_equal(fst_parse_f64s(fst_bytes_of("3 4 5"), x, 3), 3);
        assert_true(x[0] == 3);
        assert_true(x[1] == 4);
        assert_true(x[2] == 5);
        assert_int_equal(fst_parse_f64s(fst_bytes_of("6 7 8 9"), x, 3), -1);
        assert_int_equal(fst_parse_f64s(fst_bytes_of("6 x"), x, 3), -1);
        assert_int_equal(fst_parse_f64s(fst_bytes_of("  "), x, 3), 0);
}

/* Formatted doubles read back, and decimals of any length parse as in libc. */
static void any_number(void **state)
{
        uint64_t seed = 11;
        for (int i = 0; i < 50000; i++) {
                char text[64];
                double x, again;
                seed = seed * 6364136223846793005u + 1442695040888963407u;
                memcpy(&x, &seed, sizeof(x));
                size_t n = number_format_f64(text, x);
                assert_true(fst_parse_f64((fst_bytes){text, n}, &again));
                assert_true(isnan(x) ? isnan(again) : memcmp(&x, &again, sizeof(x)) == 0);
                snprintf(text, sizeof(text), "%s%.*f", seed & 1 ? "-" : "", (int)(seed >> 59),
                         (double)(seed >> 11) / (double)(1 + (seed >> 7 & 0xffff)));
                assert_as_libc(text);
                snprintf(text, sizeof(text), "%.*e", (int)(seed >> 59), (double)(seed >> 20) * 1e-10);
                assert_as_libc(text);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(integers),
                cmocka_unit_test(decimals),
                cmocka_unit_test(several),
                cmocka_unit_test(any_number),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
