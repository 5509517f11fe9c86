/* Numbers of several distributions against the C library's sort. */
#include "rdd/sort/number_sort.h"

#include "base/mem.h"
#include "rdd/sort/number_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

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
                                entries[i].prefix = wanted[i] = number_of(d, i, n);
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
