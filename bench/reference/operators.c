/*
 * Computes the expected result of bench/apps/operators.c from the numbers of its rows.   operators OPERATOR ROWS
 *
 * Executes no operator: keys and their rows are known in advance.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "generator.h"

static uint64_t digest(int64_t seed)
{
        uint64_t words[WORDS];
        row_make(seed, words);
        return row_digest((const char *)words);
}

/* Row i of the left and row j of the right have the key number i % (n / 4) and n / 8 + j. */
static void join(int64_t n, struct total *total)
{
        for (int64_t i = 0; i < n - n / 4; i++) {
                int64_t j = i % (n / 4) - n / 8;
                if (j >= 0)
                        total_add(total, 1, (uint64_t)joined_digest(large_left_key(i, n), digest(i), digest(~j)));
        }
}

/* Sums over rows instead of keys: multiplies a key's part of the digest by the number of its rows. */
static void cogroup(int64_t n, struct total *total)
{
        for (int64_t i = 0; i < n - n / 4; i++)
                total_add(total, i < n / 4, group_digest(large_left_key(i, n), 1, digest(i)));
        for (int64_t i = 0; i < n / 4; i++)
                total_add(total, n / 8 + i >= n / 4, group_digest(large_right_key(i, n), 1, 3 * digest(~i)));
}

static void group_by_key(int64_t n, struct total *total)
{
        for (int64_t i = 0; i < n; i++)
                total_add(total, i < n / 16, group_digest(large_group_key(i, n), 1, digest(i)));
}

static void cartesian(int64_t n, struct total *total)
{
        for (int64_t i = 0; i < n; i++)
                total_add(total, FACTORS, FACTORS * (FACTORS + 1) / 2 * digest(i));
}

static void rows(int64_t n, struct total *total)
{
        for (int64_t i = 0; i < n; i++)
                total_add(total, 1, digest(i));
}

int main(int argc, char **argv)
{
        if (argc != 3)
                return fprintf(stderr, "usage: operators OPERATOR ROWS\n"), 2;
        int64_t n = atoll(argv[2]);
        struct total all = {0};
        if (strcmp(argv[1], "cogroup") == 0)
                cogroup(n, &all);
        else if (strcmp(argv[1], "join") == 0)
                join(n, &all);
        else if (strcmp(argv[1], "group_by_key") == 0)
                group_by_key(n, &all);
        else if (strcmp(argv[1], "cartesian") == 0)
                cartesian(n, &all);
        else
                rows(strcmp(argv[1], "distinct") == 0 ? n / 2 : n, &all);
        printf("total: %" PRId64 " %" PRIu64 "\n", all.rows, all.sum);
        return 0;
}
