/* Numbers of several distributions against the C library's sort. */
#include "rdd/sort/number_sort.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum number_distribution { RANDOM, EQUAL, TWO, SMALL, MOSTLY_ONE, FALLING, CLOSE_GROUPS, DISTRIBUTIONS };

static uint64_t number_of(enum number_distribution distribution, size_t i)
{
        uint64_t random = (i + 1) * 0x9e3779b97f4a7c15u;
        random = (random ^ random >> 31) * 0xbf58476d1ce4e5b9u;
        random ^= random >> 29;
        switch (distribution) {
        case RANDOM:
                return random;
        case EQUAL:
                return 7;
        case TWO:
                return random & UINT64_C(1) << 63;
        case SMALL:
                return random % 1000;
        case MOSTLY_ONE:
                return random % 100 ? 5 : random;
        case FALLING:
                return UINT64_MAX - i;
        default: /* numbers that share all but their lowest bits with many others, one at a time */
                return UINT64_C(1) << random % 64 | random % 3;
        }
}

static int number_compare(const void *a, const void *b)
{
        uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
        return (x > y) - (x < y);
}

static void sorts_all_distributions(void **state)
{
        static const size_t sizes[] = {0, 1, 2, 24, 25, 1000, 65536, 65537, 200000};
        for (size_t s = 0; s < ARRAY_SIZE(sizes); s++)
                for (enum number_distribution d = 0; d < DISTRIBUTIONS; d++) {
                        size_t n = sizes[s];
                        _cleanup_free_ struct sort_entry *entries = new_array(struct sort_entry, n + 1);
                        _cleanup_free_ struct sort_entry *other = new_array(struct sort_entry, n + 1);
                        _cleanup_free_ uint64_t *wanted = new_array(uint64_t, n + 1);
                        for (size_t i = 0; i < n; i++)
                                entries[i].prefix = wanted[i] = number_of(d, i);
                        qsort(wanted, n, sizeof(*wanted), number_compare);
                        entries_sort_numbers(entries, other, n);
                        for (size_t i = 0; i < n; i++)
                                if (entries[i].prefix != wanted[i])
                                        fail_msg("%zu numbers of distribution %d: place %zu", n, d, i);
                }
}

int main(void)
{
        const struct CMUnitTest tests[] = {cmocka_unit_test(sorts_all_distributions)};
        return cmocka_run_group_tests_name("number sort", tests, NULL, NULL);
}
