/*
 * A join as a C program writes it that knows no more than an engine, on two threads.
 *                                                               generic_parallel_join LEFT RIGHT ROUNDS
 *
 * The rows and what it prints are those of `bench/apps/in_memory.c join`. Both sides are partitioned by hash, so that a
 * table of a partition of the right side fits the cache. Keys may repeat on both sides. A function is called through a
 * pointer for each pair of rows of equal keys.
 */
#include <inttypes.h>

#include "clock.h"
#include "generator.h"
#include "generic_rows.h"

#define CACHED_ROWS ((size_t)1 << 15)

/* Gets a key, the values of a left and a right row, and writes the row of the result. */
typedef void (*join_fn)(const uint64_t *key, const uint64_t *left, const uint64_t *right, uint64_t *out);

struct join_side {
        const struct row_type *type;
        const uint64_t *rows;
        size_t n;
};

struct join_thread {
        struct join *all;
        int number;
        struct chunk_pool pool;
        struct row_list *lists[2], result; /* lists by side and partition */
};

struct join {
        struct join_side sides[2];
        uint32_t out_words;
        join_fn call;
        unsigned bits, next;
        struct join_thread threads[GENERIC_THREADS];
};

static void *join_partition(void *closure)
{
        struct join_thread *t = closure;
        struct join *all = t->all;
        for (int s = 0; s < 2; s++) {
                struct join_side *side = &all->sides[s];
                const size_t half = side->n / GENERIC_THREADS, from = half * (size_t)t->number;
                const size_t n = t->number + 1 < GENERIC_THREADS ? half : side->n - from;
                const uint32_t words = row_words(side->type);
                rows_partition(side->type, side->rows + from * words, n, all->bits, t->lists[s], &t->pool);
                for (size_t i = 0; i < (size_t)1 << all->bits; i++)
                        row_list_close(&t->lists[s][i], words);
        }
        return NULL;
}

/* A table of the right rows of a partition: buckets of the lower bits of hashes, chains in the order of rows. */
struct join_table {
        uint32_t *heads, *next; /* a row's number plus one; 0: none */
        const uint64_t **rows;
        size_t buckets, room;
};

static void join_table_fill(struct join_table *t, struct join *all, unsigned partition)
{
        const struct row_type *type = all->sides[1].type;
        size_t n = 0, at = 0;
        for (int i = 0; i < GENERIC_THREADS; i++)
                n += all->threads[i].lists[1][partition].rows;
        for (t->buckets = 1; t->buckets < n; t->buckets *= 2)
                ;
        if (t->buckets > t->room) {
                t->room = t->buckets;
                t->heads = memory_checked(realloc(t->heads, t->room * sizeof(*t->heads)));
                t->next = memory_checked(realloc(t->next, t->room * sizeof(*t->next)));
                t->rows = memory_checked(realloc(t->rows, t->room * sizeof(*t->rows)));
        }
        memset(t->heads, 0, t->buckets * sizeof(*t->heads));
        uint64_t hashes[GENERIC_BLOCK];
        const uint32_t words = row_words(type);
        for (int i = 0; i < GENERIC_THREADS; i++)
                for (struct chunk *c = all->threads[i].lists[1][partition].chunks; c; c = c->next)
                        for (size_t from = 0; from < c->rows; from += GENERIC_BLOCK) {
                                size_t some = c->rows - from < GENERIC_BLOCK ? c->rows - from : GENERIC_BLOCK;
                                type->hash(c->words + from * words, words, some, hashes);
                                for (size_t k = 0; k < some; k++, at++) {
                                        uint32_t *head = &t->heads[hashes[k] & (t->buckets - 1)];
                                        t->rows[at] = c->words + (from + k) * words;
                                        t->next[at] = *head;
                                        *head = (uint32_t)at + 1;
                                }
                        }
}

static void join_table_probe(const struct join_table *t, struct join_thread *thread, const uint64_t *rows, size_t n)
{
        struct join *all = thread->all;
        const struct row_type *left = all->sides[0].type, *right = all->sides[1].type;
        const uint32_t words = row_words(left);
        uint64_t hashes[GENERIC_BLOCK];
        for (size_t from = 0; from < n; from += GENERIC_BLOCK) {
                size_t some = n - from < GENERIC_BLOCK ? n - from : GENERIC_BLOCK;
                const uint64_t *row = rows + from * words;
                left->hash(row, words, some, hashes);
                for (size_t i = 0; i < some; i++, row += words)
                        for (uint32_t k = t->heads[hashes[i] & (t->buckets - 1)]; k; k = t->next[k - 1]) {
                                const uint64_t *other = t->rows[k - 1];
                                if (left->equal(other, row))
                                        all->call(row, row + left->key_words, other + right->key_words,
                                                  row_list_add(&thread->result, &thread->pool, all->out_words));
                        }
        }
}

static void *join_partitions(void *closure)
{
        struct join_thread *thread = closure;
        struct join *all = thread->all;
        struct join_table table = {0};
        for (unsigned i; (i = __atomic_fetch_add(&all->next, 1, __ATOMIC_RELAXED)) < 1u << all->bits;) {
                join_table_fill(&table, all, i);
                for (int from = 0; from < GENERIC_THREADS; from++)
                        for (struct chunk *c = all->threads[from].lists[0][i].chunks; c; c = c->next)
                                join_table_probe(&table, thread, c->words, c->rows);
                for (int from = 0; from < GENERIC_THREADS; from++)
                        for (int s = 0; s < 2; s++) {
                                struct row_list *list = &all->threads[from].lists[s][i];
                                chunks_release(&thread->pool, list->chunks);
                                *list = (struct row_list){0};
                        }
        }
        row_list_close(&thread->result, all->out_words);
        free(table.heads);
        free(table.next);
        free(table.rows);
        return NULL;
}

static void join_round(struct join *all, struct total *total)
{
        all->next = 0;
        double start = now();
        for (all->bits = 1; all->sides[1].n >> all->bits > CACHED_ROWS && all->bits < 11; all->bits++)
                ;
        for (int i = 0; i < GENERIC_THREADS; i++)
                for (int s = 0; s < 2; s++)
                        all->threads[i].lists[s] =
                                memory_checked(calloc((size_t)1 << all->bits, sizeof(struct row_list)));
        threads_run(join_partition, all->threads, sizeof(*all->threads));
        threads_run(join_partitions, all->threads, sizeof(*all->threads));
        printf("round: %.3f\n", now() - start);
        *total = (struct total){0};
        for (int i = 0; i < GENERIC_THREADS; i++) {
                struct join_thread *t = &all->threads[i];
                for (struct chunk *c = t->result.chunks; c; c = c->next)
                        for (size_t row = 0; row < c->rows; row++)
                                total_add(total, 1, c->words[row * all->out_words + 1]);
                chunks_release(&t->pool, t->result.chunks);
                t->result = (struct row_list){0};
                free(t->lists[0]);
                free(t->lists[1]);
        }
}

/* ------------------------------------------------------------------------------------------------ these numbers */

static void hash_numbers(const uint64_t *rows, size_t stride, size_t n, uint64_t *hashes)
{
        for (size_t i = 0; i < n; i++)
                hashes[i] = mix(rows[i * stride]);
}

static bool numbers_equal(const uint64_t *a, const uint64_t *b)
{
        return *a == *b;
}

static void join_values(const uint64_t *key, const uint64_t *left, const uint64_t *right, uint64_t *out)
{
        out[0] = *key;
        out[1] = *left ^ *right;
}

int main(int argc, char **argv)
{
        if (argc != 4)
                return fprintf(stderr, "usage: generic_parallel_join LEFT RIGHT ROUNDS\n"), 2;
        size_t n[] = {strtoull(argv[1], NULL, 10), strtoull(argv[2], NULL, 10)};
        uint64_t *rows[] = {huge_alloc(n[0] * 16), huge_alloc(n[1] * 16)};
        for (size_t i = 0; i < n[0]; i++) {
                rows[0][2 * i] = (uint64_t)below(mix(i), (int64_t)n[1]);
                rows[0][2 * i + 1] = i;
        }
        for (size_t i = 0; i < n[1]; i++) {
                rows[1][2 * i] = i;
                rows[1][2 * i + 1] = mix(i);
        }
        const struct row_type known = {1, 1, hash_numbers, numbers_equal, NULL};
        const struct row_type *volatile type = &known; /* the compiler does not know it */
        struct join *all = memory_checked(calloc(1, sizeof(*all)));
        *all = (struct join){
                .sides = {{type, rows[0], n[0]}, {type, rows[1], n[1]}}, .out_words = 2, .call = join_values};
        for (int i = 0; i < GENERIC_THREADS; i++) {
                all->threads[i].all = all;
                all->threads[i].number = i;
        }
        struct total total = {0};
        for (int round = atoi(argv[3]); round > 0; round--)
                join_round(all, &total);
        printf("total: %" PRId64 " %" PRIu64 "\n", total.rows, total.sum);
        free(all);
        return 0;
}
