/*
 * A join as a C program writes it that knows no more than an engine, on one thread.          generic_join LEFT RIGHT
 *
 * bench/reference/pairs.c knows that keys are small, even and unique on one side. This one takes any keys and any
 * values and does not know how many rows come: the right rows go into a hash table that grows, with several rows of a
 * key, and a function is called through a pointer for each pair of rows of equal keys.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"
#include "generator.h"

struct row {
        int64_t key, value;
        uint32_t next; /* the next row in its bucket, plus one */
};

struct table {
        struct row *rows;
        uint32_t *buckets; /* a row's number plus one; 0: empty */
        size_t n, room;    /* rows; as many buckets as there is room for rows, a power of 2 */
};

static size_t bucket_of(int64_t key, size_t room)
{
        return (size_t)((uint64_t)key * 0x9e3779b97f4a7c15u >> (64 - __builtin_ctzll(room)));
}

static void table_link(struct table *t, uint32_t row)
{
        uint32_t *bucket = &t->buckets[bucket_of(t->rows[row].key, t->room)];
        t->rows[row].next = *bucket;
        *bucket = row + 1;
}

static void table_grow(struct table *t)
{
        t->room = t->room ? 2 * t->room : 1024;
        t->rows = realloc(t->rows, t->room * sizeof(*t->rows));
        free(t->buckets);
        t->buckets = calloc(t->room, sizeof(*t->buckets));
        if (!t->rows || !t->buckets) {
                perror("generic_join");
                exit(1);
        }
        for (size_t i = 0; i < t->n; i++)
                table_link(t, (uint32_t)i);
}

static void table_add(struct table *t, int64_t key, int64_t value)
{
        if (t->n == t->room)
                table_grow(t);
        t->rows[t->n] = (struct row){key, value, 0};
        table_link(t, (uint32_t)t->n++);
}

typedef void (*pair_fn)(void *state, int64_t key, int64_t left, int64_t right);

static void table_join(const struct table *t, int64_t key, int64_t left, pair_fn call, void *state)
{
        if (t->n == 0)
                return;
        for (uint32_t row = t->buckets[bucket_of(key, t->room)]; row; row = t->rows[row - 1].next)
                if (t->rows[row - 1].key == key)
                        call(state, key, left, t->rows[row - 1].value);
}

static void join_values(void *state, int64_t key, int64_t left, int64_t right)
{
        (void)key; /* the total is of values */
        total_add(state, 1, (uint64_t)(left ^ right));
}

int main(int argc, char **argv)
{
        if (argc != 3)
                return fprintf(stderr, "usage: generic_join LEFT RIGHT\n"), 2;
        int64_t left = atoll(argv[1]), right = atoll(argv[2]);
        struct total all = {0};
        struct table table = {0};
        pair_fn volatile call = join_values; /* a function that the compiler does not know */
        double start = now();
        for (int64_t i = 0; i < right; i++)
                table_add(&table, 2 * i, right_value(2 * i));
        for (int64_t i = 0; i < left; i++)
                table_join(&table, left_key(i, right), i, call, &all);
        printf("job: %.4f\n", now() - start);
        printf("total: %" PRId64 " %" PRIu64 "\n", all.rows, all.sum);
        free(table.rows);
        free(table.buckets);
        return 0;
}
