/*
 * bench/apps/pairs.c without an engine, on one thread.         pairs join|group_by_key|distinct|reduce_by_key ROWS KEYS
 *
 * Computes the expected result. Unlike an engine, it knows that keys are small numbers, so the join uses an array, and
 * grouping is a counting sort. distinct uses a hash table.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"
#include "generator.h"

static void *room(size_t n, size_t size)
{
        void *memory = calloc(n, size);
        if (!memory) {
                perror("pairs");
                exit(1);
        }
        return memory;
}

static void join(size_t left, size_t right, struct total *total)
{
        int64_t *values = room(right, sizeof(*values));
        for (size_t i = 0; i < right; i++)
                values[i] = right_value(2 * (int64_t)i);
        for (size_t i = 0; i < left; i++) {
                int64_t key = left_key((int64_t)i, (int64_t)right);
                if (key % 2)
                        continue;
                total_add(total, 1, (uint64_t)((int64_t)i ^ values[key / 2]));
        }
        free(values);
}

static void group_by_key(size_t n, size_t keys, struct total *total)
{
        size_t *end = room(keys + 1, sizeof(*end)); /* end[k + 1] has the end of group k when all are placed */
        int64_t *values = room(n, sizeof(*values));
        for (size_t i = 0; i < n; i++)
                end[skewed_key((int64_t)i, (int64_t)keys) + 1]++;
        for (size_t k = 0, at = 0; k < keys; k++) {
                size_t rows = end[k + 1];
                end[k + 1] = at;
                at += rows;
        }
        for (size_t i = 0; i < n; i++)
                values[end[skewed_key((int64_t)i, (int64_t)keys) + 1]++] = (int64_t)i;
        for (size_t k = 0; k < keys; k++) {
                uint64_t sum = 0;
                if (end[k + 1] == end[k])
                        continue;
                for (size_t at = end[k]; at < end[k + 1]; at++)
                        sum += (uint64_t)values[at];
                total_add(total, 1, group_digest((int64_t)k, (int64_t)(end[k + 1] - end[k]), sum));
        }
        free(values);
        free(end);
}

/* Open addressing. 0 marks an empty slot and is not among the numbers. */
static void distinct(size_t n, struct total *total)
{
        size_t slots = 1;
        while (slots < n)
                slots *= 2;
        uint64_t *table = room(slots, sizeof(*table));
        for (size_t i = 0; i < n; i++) {
                uint64_t x = (uint64_t)twice((int64_t)i, (int64_t)n);
                size_t at = x & (slots - 1);
                while (table[at] && table[at] != x)
                        at = (at + 1) & (slots - 1);
                if (table[at] == x)
                        continue;
                table[at] = x;
                total_add(total, 1, x);
        }
        free(table);
}

/* Row i and row i + n / 2 have the same key, and no other row has it. */
static void reduce_by_key(size_t n, struct total *total)
{
        for (size_t i = 0; i < n / 2; i++) {
                int64_t key = twice((int64_t)i, (int64_t)n);
                total_add(total, 1, group_digest(key, 1, 2 * i + n / 2));
        }
}

int main(int argc, char **argv)
{
        if (argc != 4)
                return fprintf(stderr, "usage: pairs join|group_by_key|distinct|reduce_by_key ROWS KEYS\n"), 2;
        size_t n = strtoull(argv[2], NULL, 10), keys = strtoull(argv[3], NULL, 10);
        struct total all = {0};
        double start = now();
        if (strcmp(argv[1], "join") == 0)
                join(n, keys, &all);
        else if (strcmp(argv[1], "group_by_key") == 0)
                group_by_key(n, keys, &all);
        else if (strcmp(argv[1], "distinct") == 0)
                distinct(n, &all);
        else if (strcmp(argv[1], "reduce_by_key") == 0)
                reduce_by_key(n, &all);
        printf("job: %.4f\n", now() - start);
        printf("total: %" PRId64 " %" PRIu64 "\n", all.rows, all.sum);
        return 0;
}
