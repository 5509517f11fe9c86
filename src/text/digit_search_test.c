/* Compares searches in numbers with searches in their texts. */
#include "text/digit_search.h"

#include "text/number_format.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N_VALUES = 4000 };

/* Numbers of all lengths, the borders between groups of four digits, and the extremes. */
static void digit_test_values(int64_t *values)
{
        uint64_t random = 88172645463325252u, power = 1;
        size_t n = 0;
        for (int i = 0; i < 19; i++, power *= 10)
                for (int64_t k = -2; k <= 2; k++)
                        values[n++] = (int64_t)power * (i % 2 ? -1 : 1) + k;
        values[n++] = INT64_MAX;
        values[n++] = INT64_MIN;
        for (; n < N_VALUES; n++) {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                values[n] = (int64_t)random >> random % 61;
        }
}

static void finds_what_texts_contain(void **state)
{
        static const char *const texts[] = {"0",
                                            "7",
                                            "00",
                                            "77",
                                            "777",
                                            "121",
                                            "1212",
                                            "11211",
                                            "000",
                                            "0000",
                                            "00000",
                                            "123",
                                            "998",
                                            "9999",
                                            "10000",
                                            "100000000",
                                            "1001",
                                            "-",
                                            "-1",
                                            "1-",
                                            "--",
                                            "-9",
                                            "-12",
                                            "",
                                            "9223372036854775807",
                                            "-9223372036854775808",
                                            "92233720368547758070",
                                            "123456789012345678901234567890"};
        static int64_t values[N_VALUES];
        digit_test_values(values);
        for (size_t k = 0; k < sizeof(texts) / sizeof(*texts); k++) {
                uint64_t bits[(N_VALUES + 63) / 64] = {0};
                struct digit_search *d = digit_search_new(texts[k]);
                digit_search_mark(d, values, N_VALUES, bits);
                for (size_t i = 0; i < N_VALUES; i++) {
                        char text[NUMBER_I64_SIZE + 1];
                        text[number_format_i64(text, values[i])] = '\0';
                        bool want = *texts[k] && strstr(text, texts[k]) != NULL;
                        if (digit_search_has(d, values[i]) != want || (bits[i / 64] >> i % 64 & 1) != want)
                                fail_msg("'%s' in %s: not %d", texts[k], text, want);
                }
                digit_search_free(d);
        }
}

static void keeps_bits_of_other_searches(void **state)
{
        const int64_t values[] = {5, 15, 6};
        uint64_t bits = 4;
        struct digit_search *d = digit_search_new("5");
        digit_search_mark(d, values, 3, &bits);
        assert_int_equal(bits, 7);
        digit_search_free(d);
}

/* Packs values from @least on in @width bytes and compares both searches. */
static void check_offsets(const struct digit_search *d, int64_t least, uint32_t range, uint8_t width)
{
        enum { N = 200 };
        int64_t values[N];
        uint8_t packed[N * sizeof(uint32_t)];
        uint64_t expected[(N + 63) / 64] = {1}, found[(N + 63) / 64] = {1}; /* of an earlier search */
        struct digit_offsets offsets = {.least = least, .greatest = least + range, .offsets = packed, .width = width};
        for (uint32_t i = 0; i < N; i++) {
                uint32_t offset = i == 0 ? 0 : i == 1 ? range : i * 2654435761u % (range + (uint64_t)1);
                values[i] = least + offset;
                memcpy(packed + i * width, &offset, width);
        }
        digit_search_mark(d, values, N, expected);
        digit_search_mark_offsets(d, &offsets, N, found);
        assert_memory_equal(found, expected, sizeof(found));
}

static void finds_the_same_in_packed_values(void **state)
{
        static const char *const texts[] = {"0",     "7",         "777", "0000", "00000", "1000",
                                            "99991", "123456789", "-",   "-5",   ""};
        static const int64_t leasts[] = {0,         1,         777,        9000,        9999,          10000,
                                         99990000,  99999990,  100000000,  199990000,   777777777,     999999990000,
                                         -3,        -70000,    1000000000, 99999990000, 1700000000000, 123456700000,
                                         INT64_MIN, 7700000000};
        for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
                struct digit_search *d = digit_search_new(texts[i]);
                for (size_t k = 0; k < sizeof(leasts) / sizeof(leasts[0]); k++) {
                        check_offsets(d, leasts[k], 200, 1);
                        check_offsets(d, leasts[k], 999, 2);
                        check_offsets(d, leasts[k], UINT16_MAX, 2);
                        check_offsets(d, leasts[k], 70000000, 4);
                        check_offsets(d, leasts[k], UINT32_MAX, 4);
                }
                digit_search_free(d);
        }
}

static void skips_ranges_without_the_text(void **state)
{
        static const struct {
                const char *text;
                int64_t least, greatest;
                bool may;
        } rows[] = {
                {"777", 0, 776, false},
                {"777", 400, 776, false},
                {"777", 400, 777, true},
                {"777", 778, 1776, false},
                {"777", 778, 1777, true},
                {"777", 777, 777, true},
                {"777", 78, 10000, true},
                {"777", -800, 9, true},
                {"-7", 1, 9000000, false},
                {"-7", -8, 3, true},
                {"0", 1, 9, false},
                {"0", 0, 9, true},
                {"1234567890123456789012", 0, INT64_MAX, false},
                {"12345", 12345, 12345, true},
                {"12345", 12346, 12346, false},
        };
        for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
                struct digit_search *d = digit_search_new(rows[i].text);
                assert_int_equal(digit_search_may_find(d, rows[i].least, rows[i].greatest), rows[i].may);
                digit_search_free(d);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(finds_what_texts_contain),
                cmocka_unit_test(keeps_bits_of_other_searches),
                cmocka_unit_test(finds_the_same_in_packed_values),
                cmocka_unit_test(skips_ranges_without_the_text),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
