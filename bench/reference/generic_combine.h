/*
 * Combines the values of equal keys of rows in memory: the part that generic_sum.c and generic_words.c share.
 *
 * Each thread takes half of the rows. If a sample repeats keys, it combines all of them in a table of its own. It puts
 * the rows, or those of its table, into partitions by the upper bits of their hashes. Then the threads take partitions,
 * of which each fits the second-level cache.
 */
#pragma once

#include "clock.h"
#include "generic_rows.h"

/* Combines values that are one number: their sum. */
static void add_number(uint64_t *value, const uint64_t *other)
{
        *value += *other;
}

/* -------------------------------------------------------------------------------------------------------- table */

/* Rows of different keys, and slots that lead to them: half of a hash above the row's number plus one. */
struct row_table {
        const struct row_type *type;
        uint64_t *slots, *rows;
        size_t n, room; /* rows; twice as many slots, a power of 2 */
};

static inline size_t table_slot_of(const struct row_table *t, uint64_t hash)
{
        return hash & (2 * t->room - 1);
}

static void table_init(struct row_table *t, const struct row_type *type, size_t room)
{
        *t = (struct row_table){.type = type, .room = room};
        t->slots = memory_checked(calloc(2 * room, sizeof(*t->slots)));
        t->rows = memory_checked(malloc(room * row_words(type) * 8));
}

static void table_deinit(struct row_table *t)
{
        free(t->slots);
        free(t->rows);
}

static __attribute__((noinline)) void table_grow(struct row_table *t)
{
        const uint32_t words = row_words(t->type);
        t->room *= 2;
        t->rows = memory_checked(realloc(t->rows, t->room * words * 8));
        free(t->slots);
        t->slots = memory_checked(calloc(2 * t->room, sizeof(*t->slots)));
        uint64_t hashes[GENERIC_BLOCK];
        for (size_t at = 0; at < t->n; at += GENERIC_BLOCK) {
                size_t n = t->n - at < GENERIC_BLOCK ? t->n - at : GENERIC_BLOCK;
                t->type->hash(t->rows + at * words, words, n, hashes);
                for (size_t i = 0; i < n; i++) {
                        size_t slot = table_slot_of(t, hashes[i]);
                        while (t->slots[slot])
                                slot = (slot + 1) & (2 * t->room - 1);
                        t->slots[slot] = (hashes[i] >> 32 << 32) | (at + i + 1);
                }
        }
}

/* Adds a row, or combines its value with that of its key. */
static inline void table_combine(struct row_table *t, const uint64_t *row, uint64_t hash)
{
        const struct row_type *type = t->type;
        const uint32_t words = row_words(type);
        size_t slot = table_slot_of(t, hash);
        for (uint64_t s; (s = t->slots[slot]) != 0; slot = (slot + 1) & (2 * t->room - 1)) {
                uint64_t *known = t->rows + ((s & UINT32_MAX) - 1) * words;
                if (s >> 32 == hash >> 32 && type->equal(known, row)) {
                        type->combine(known + type->key_words, row + type->key_words);
                        return;
                }
        }
        if (t->n == t->room) {
                table_grow(t);
                for (slot = table_slot_of(t, hash); t->slots[slot];)
                        slot = (slot + 1) & (2 * t->room - 1);
        }
        row_copy(t->rows + t->n * words, row, words);
        t->slots[slot] = (hash >> 32 << 32) | ++t->n;
}

/* Combines @n rows. */
static void table_combine_rows(struct row_table *t, const uint64_t *rows, size_t n)
{
        const uint32_t words = row_words(t->type);
        uint64_t hashes[GENERIC_BLOCK];
        for (size_t at = 0; at < n; at += GENERIC_BLOCK) {
                const uint64_t *row = rows + at * words;
                size_t some = n - at < GENERIC_BLOCK ? n - at : GENERIC_BLOCK;
                t->type->hash(row, words, some, hashes);
                for (size_t i = 0; i < some; i++)
                        __builtin_prefetch(&t->slots[table_slot_of(t, hashes[i])]);
                for (size_t i = 0; i < some; i++, row += words)
                        table_combine(t, row, hashes[i]);
        }
}

/* ------------------------------------------------------------------------------------------------------- phases */

/* A table of the rows of a sample is worth filling if it has at most half as many keys. */
#define SAMPLE_ROWS ((size_t)1 << 17)
#define COMBINE_BITS 6 /* partitions of the second phase */

struct combine_thread {
        struct combine *all;
        const uint64_t *rows;
        size_t n;
        struct chunk_pool pool;
        struct row_list lists[1 << COMBINE_BITS];
        struct row_list results[1 << COMBINE_BITS];
};

struct combine {
        const struct row_type *type;
        struct combine_thread threads[GENERIC_THREADS];
        unsigned next; /* partition of the second phase */
};

static void *combine_first_phase(void *closure)
{
        struct combine_thread *t = closure;
        const struct row_type *type = t->all->type;
        size_t sample = t->n < SAMPLE_ROWS ? t->n : SAMPLE_ROWS;
        struct row_table table;
        table_init(&table, type, 1024);
        table_combine_rows(&table, t->rows, sample);
        bool repeats = table.n <= sample / 2;
        const uint64_t *rest = t->rows + sample * row_words(type);
        if (repeats)
                table_combine_rows(&table, rest, t->n - sample);
        rows_partition(type, table.rows, table.n, COMBINE_BITS, t->lists, &t->pool);
        if (!repeats)
                rows_partition(type, rest, t->n - sample, COMBINE_BITS, t->lists, &t->pool);
        for (unsigned i = 0; i < 1 << COMBINE_BITS; i++)
                row_list_close(&t->lists[i], row_words(type));
        table_deinit(&table);
        return NULL;
}

static void *combine_second_phase(void *closure)
{
        struct combine_thread *t = closure;
        struct combine *all = t->all;
        const uint32_t words = row_words(all->type);
        struct row_table table;
        table_init(&table, all->type, 1024);
        for (unsigned i; (i = __atomic_fetch_add(&all->next, 1, __ATOMIC_RELAXED)) < 1 << COMBINE_BITS;) {
                for (int from = 0; from < GENERIC_THREADS; from++) {
                        struct row_list *list = &all->threads[from].lists[i];
                        for (struct chunk *c = list->chunks; c; c = c->next)
                                table_combine_rows(&table, c->words, c->rows);
                        chunks_release(&t->pool, list->chunks);
                        *list = (struct row_list){0};
                }
                for (size_t row = 0; row < table.n; row++)
                        row_copy(row_list_add(&t->results[i], &t->pool, words), table.rows + row * words, words);
                row_list_close(&t->results[i], words);
                table.n = 0;
                memset(table.slots, 0, 2 * table.room * sizeof(*table.slots));
        }
        table_deinit(&table);
        return NULL;
}

/* Combines @n rows @rounds times. Prints the seconds of each round, and passes the rows of the last one to @use. */
static void combine_run(const struct row_type *type, const uint64_t *rows, size_t n, int rounds,
                        void (*use)(void *state, const uint64_t *row), void *state)
{
        struct combine *all = memory_checked(calloc(1, sizeof(*all)));
        all->type = type;
        for (int i = 0; i < GENERIC_THREADS; i++) {
                size_t from = n / GENERIC_THREADS * (size_t)i;
                all->threads[i].all = all;
                all->threads[i].rows = rows + from * row_words(type);
                all->threads[i].n = i + 1 < GENERIC_THREADS ? n / GENERIC_THREADS : n - from;
        }
        for (; rounds > 0; rounds--) {
                double start = now();
                all->next = 0;
                threads_run(combine_first_phase, all->threads, sizeof(*all->threads));
                threads_run(combine_second_phase, all->threads, sizeof(*all->threads));
                printf("round: %.3f\n", now() - start);
                for (int i = 0; i < GENERIC_THREADS; i++)
                        for (unsigned p = 0; p < 1 << COMBINE_BITS; p++) {
                                struct row_list *list = &all->threads[i].results[p];
                                for (struct chunk *c = list->chunks; c && rounds == 1; c = c->next)
                                        for (size_t row = 0; row < c->rows; row++)
                                                use(state, c->words + row * row_words(type));
                                chunks_release(&all->threads[i].pool, list->chunks);
                                *list = (struct row_list){0};
                        }
        }
        free(all);
}
