/*
 * Sums values by key as a C program does that knows no more than an engine, on two threads.
 *                                                                         generic_sum ROWS KEYS ROUNDS
 *
 * The rows and what it prints are those of `bench/apps/in_memory.c sum`.
 */
#include <inttypes.h>

#include "generator.h"
#include "generic_combine.h"

static void hash_numbers(const uint64_t *rows, size_t stride, size_t n, uint64_t *hashes)
{
        for (size_t i = 0; i < n; i++)
                hashes[i] = mix(rows[i * stride]);
}

static bool numbers_equal(const uint64_t *a, const uint64_t *b)
{
        return *a == *b;
}

static void total_row(void *total, const uint64_t *row)
{
        total_add(total, 1, row[1]);
}

int main(int argc, char **argv)
{
        if (argc != 4)
                return fprintf(stderr, "usage: generic_sum ROWS KEYS ROUNDS\n"), 2;
        size_t n = strtoull(argv[1], NULL, 10);
        int64_t keys = atoll(argv[2]);
        uint64_t *rows = huge_alloc(n * 16);
        for (size_t i = 0; i < n; i++) {
                rows[2 * i] = (uint64_t)below(mix(i), keys);
                rows[2 * i + 1] = i;
        }
        const struct row_type known = {1, 1, hash_numbers, numbers_equal, add_number};
        const struct row_type *volatile type = &known; /* the compiler does not know it */
        struct total all = {0};
        combine_run(type, rows, n, atoi(argv[3]), total_row, &all);
        printf("total: %" PRId64 " %" PRIu64 "\n", all.rows, all.sum);
        return 0;
}
