/* Compares formatted numbers with a table that JDK 25 made (number_format_test.inc). */
#include "text/number_format.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_i64(void **state)
{
        static const int64_t numbers[] = {0,   1,     -1,     9,          10,        -10,      99,
                                          100, 12345, -98765, 1000000007, INT64_MAX, INT64_MIN};
        char want[32], got[NUMBER_I64_SIZE + 1];
        for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
                snprintf(want, sizeof(want), "%" PRId64, numbers[i]);
                got[number_format_i64(got, numbers[i])] = '\0';
                assert_string_equal(got, want);
        }
        for (int64_t x = 1; x > 0 && x < INT64_MAX / 3; x = x * 3 + 1) {
                snprintf(want, sizeof(want), "%" PRId64, -x);
                got[number_format_i64(got, -x)] = '\0';
                assert_string_equal(got, want);
        }
}

static const struct {
        uint64_t bits;
        const char *text;
} table[] = {
#include "text/number_format_test.inc"
};

static void check(uint64_t bits, const char *want)
{
        double x;
        char got[NUMBER_F64_SIZE + 1];
        memcpy(&x, &bits, sizeof(x));
        size_t n = number_format_f64(got, x);
        assert_true(n <= NUMBER_F64_SIZE);
        got[n] = '\0';
        if (strcmp(got, want) != 0)
                fail_msg("%016" PRIx64 ": want %s, got %s", bits, want, got);
}

static void test_f64_as_java(void **state)
{
        for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
                check(table[i].bits, table[i].text);
}

/* Reads an optional larger table: lines of 16 hexadecimal digits, a space, the text. */
static void test_f64_as_larger_table(void **state)
{
        const char *name = getenv("NUMBER_FORMAT_TABLE");
        if (!name)
                skip();
        FILE *f = fopen(name, "r");
        assert_non_null(f);
        char line[128], *text;
        while (fgets(line, sizeof(line), f)) {
                uint64_t bits = strtoull(line, &text, 16);
                line[strcspn(line, "\n")] = '\0';
                check(bits, text + 1);
        }
        fclose(f);
}

/* Formatted doubles read back as the same double. */
static void test_f64_round_trip(void **state)
{
        uint64_t bits = 1;
        char got[NUMBER_F64_SIZE + 1];
        for (int i = 0; i < 200000; i++) {
                bits = bits * 6364136223846793005u + 1442695040888963407u;
                double x, y;
                memcpy(&x, &bits, sizeof(x));
                if (x != x)
                        continue;
                got[number_format_f64(got, x)] = '\0';
                y = strtod(got, NULL);
                assert_memory_equal(&x, &y, sizeof(x));
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_i64),
                cmocka_unit_test(test_f64_as_java),
                cmocka_unit_test(test_f64_as_larger_table),
                cmocka_unit_test(test_f64_round_trip),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
