/*
 * See number_buckets.h.
 *
 * Numbers are in chunks, cut from pages; the chunks of a bucket are linked. At first there is one bucket. When it has
 * SPLIT_AT numbers, their range is divided evenly into up to ROOT_BUCKETS buckets. Numbers that come later and are
 * outside of that range go into the first or the last bucket. Each bucket gathers a cache line before it is written
 * around the caches: otherwise the processor would read each line first, and the ends of so many buckets would compete
 * for the same cache sets.
 *
 * Reading goes from bucket to bucket. One of at most NEAR numbers is copied and sorted in the cache. A larger one is
 * split by the range that its numbers have, into buckets of a new level, which are read before the next bucket. Each
 * level divides the range by at least 2, so that levels are few. A chunk is free as soon as it was read, so that a
 * split needs few further chunks.
 *
 * Invariants: the numbers of a bucket are in its chunks and, behind the last full line, in its line; `ends` points
 * behind its last number; every bucket of a level has a chunk that is not full.
 */
#include "rdd/sort/number_buckets.h"

#include "base/mem.h"
#include "rdd/sort/number_sort.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define LINE 8 /* numbers in a cache line */
#define CHUNK ((size_t)2048)
#define CHUNK_NUMBERS (CHUNK / sizeof(uint64_t) - LINE)
#define ROOT_BUCKETS 4096
#define SPLIT_BUCKETS 256 /* of a bucket that is split while it is read */
#define SPLIT_AT ((size_t)1 << 20)
#define NEAR ((size_t)1 << 14)
#define FEW_FREE 64  /* chunks: a page is wanted */
#define KEPT_FREE 32 /* chunks: for splits while reading */

/* The first cache line of a chunk; its numbers follow. */
struct chunk {
        struct chunk *previous; /* of the same bucket; in the list of free chunks, the next */
};

struct number_line {
        _Alignas(64) uint64_t numbers[LINE];
};

/* Bucket i of a level has the numbers from (first + i) << shift on. */
struct bucket_level {
        struct bucket_level *outer;
        uint64_t first;
        unsigned shift;
        uint32_t last, next;       /* buckets: the last; the next to read */
        void *memory;              /* of the lines */
        struct number_line *lines; /* by bucket: the numbers that do not fill a line yet */
        uint64_t **ends;           /* by bucket: where its next number belongs */
        uint32_t *full;            /* by bucket: its full chunks */
};

struct number_buckets {
        struct bucket_level root;
        struct bucket_level *level; /* is read; NULL: none yet, or all are read */
        bool filled, divided, reading;
        size_t count;
        struct page *pages;
        struct chunk *free, *unreserved; /* free chunks; memory that no page provides */
        size_t n_free;
        uint64_t equal;         /* is to be returned… */
        size_t equal_left;      /* … so many times */
        uint64_t *near, *other; /* NEAR numbers each */
};

/* --------------------------------------------------------------------------------------------------- chunks */

static void chunk_free(struct number_buckets *b, struct chunk *chunk)
{
        chunk->previous = b->free;
        b->free = chunk;
        b->n_free++;
}

static void number_buckets_cut(struct number_buckets *b, unsigned char *start, unsigned char *end)
{
        unsigned char *at = (unsigned char *)(((uintptr_t)start + CHUNK - 1) & -(uintptr_t)CHUNK);
        for (; at + CHUNK <= end; at += CHUNK)
                chunk_free(b, (struct chunk *)at);
}

void number_buckets_give(struct number_buckets *b, struct page *page)
{
        page->next = b->pages;
        b->pages = page;
        number_buckets_cut(b, page->data, page->data + page->capacity);
}

/* Takes memory that is not reserved if fewer than @n chunks are free. */
static void number_buckets_need(struct number_buckets *b, size_t n)
{
        while (b->n_free < n) {
                struct chunk *memory = mem_alloc(PAGE_BLOCK);
                memory->previous = b->unreserved;
                b->unreserved = memory;
                number_buckets_cut(b, (unsigned char *)(memory + 1), (unsigned char *)memory + PAGE_BLOCK);
        }
}

/* Returns where the first number belongs in a free chunk, which becomes the successor of @previous. There is one. */
static inline uint64_t *chunk_start(struct number_buckets *b, struct chunk *previous)
{
        struct chunk *chunk = b->free;
        b->free = chunk->previous;
        b->n_free--;
        chunk->previous = previous;
        return (uint64_t *)chunk + LINE;
}

static struct chunk *chunk_of(const uint64_t *number)
{
        return (struct chunk *)((uintptr_t)number & -(uintptr_t)CHUNK);
}

static const uint64_t *chunk_numbers(const struct chunk *chunk)
{
        return (const uint64_t *)chunk + LINE;
}

static void line_write(uint64_t *to, const uint64_t *line)
{
#ifdef __SSE2__
        for (int i = 0; i < LINE; i += 2)
                _mm_stream_si128((__m128i *)(to + i), _mm_load_si128((const __m128i *)(line + i)));
#else
        memcpy(to, line, LINE * sizeof(*to));
#endif
}

/* --------------------------------------------------------------------------------------------------- levels */

static void level_init(struct bucket_level *level, uint32_t buckets)
{
        level->memory = mem_alloc((buckets + 1) * sizeof(*level->lines));
        level->lines = (struct number_line *)(((uintptr_t)level->memory + 63) & -(uintptr_t)64);
        level->ends = new_array(uint64_t *, buckets);
        level->full = new_array(uint32_t, buckets);
}

static void level_deinit(struct bucket_level *level)
{
        free(level->memory);
        free(level->ends);
        free(level->full);
}

/* Divides the range @least … @largest into at most @buckets buckets. */
static void level_divide(struct bucket_level *level, uint64_t least, uint64_t largest, uint32_t buckets)
{
        unsigned shift = 0;
        while ((largest >> shift) - (least >> shift) >= buckets)
                shift++;
        level->shift = shift;
        level->first = least >> shift;
        level->last = (uint32_t)((largest >> shift) - level->first);
        level->next = 0;
}

static void level_start(struct number_buckets *b, struct bucket_level *level)
{
        for (uint32_t i = 0; i <= level->last; i++)
                level->ends[i] = chunk_start(b, NULL);
        memset(level->full, 0, (level->last + (size_t)1) * sizeof(*level->full));
}

static inline uint32_t level_place(const struct bucket_level *level, uint64_t number)
{
        uint64_t at = number >> level->shift;
        at = at < level->first ? 0 : at - level->first;
        return at > level->last ? level->last : (uint32_t)at;
}

/* Adds numbers. There are free chunks for as many as become full. */
static void level_add(struct number_buckets *b, const struct bucket_level *into, const uint64_t *numbers, size_t n)
{
        const struct bucket_level level = *into;
        for (size_t i = 0; i < n; i++) {
                const uint32_t bucket = level_place(&level, numbers[i]);
                uint64_t *end = level.ends[bucket], *line = level.lines[bucket].numbers;
                line[(uintptr_t)end / sizeof(*end) % LINE] = numbers[i];
                end++;
                if ((uintptr_t)end % sizeof(struct number_line) == 0) {
                        line_write(end - LINE, line);
                        if ((uintptr_t)end % CHUNK == 0) {
                                level.full[bucket]++;
                                end = chunk_start(b, chunk_of(end - 1));
                        }
                }
                level.ends[bucket] = end;
        }
}

/* The chunks of a bucket, last first. */
struct chunk_chain {
        struct chunk *chunk;
        size_t numbers; /* in this chunk */
        size_t total;   /* in all */
};

/* Takes the chunks of a bucket. */
static struct chunk_chain level_take(struct bucket_level *level, uint32_t bucket)
{
        uint64_t *end = level->ends[bucket];
        size_t left = (uintptr_t)end / sizeof(*end) % LINE;
        if (left)
                memcpy(end - left, level->lines[bucket].numbers, left * sizeof(*end));
        struct chunk *chunk = chunk_of(end);
        size_t numbers = (size_t)(end - chunk_numbers(chunk));
        return (struct chunk_chain){chunk, numbers, numbers + level->full[bucket] * CHUNK_NUMBERS};
}

/* Frees the chunk of a chain and goes on to the next. */
static void chunk_chain_advance(struct number_buckets *b, struct chunk_chain *chain)
{
        struct chunk *previous = chain->chunk->previous;
        chunk_free(b, chain->chunk);
        chain->chunk = previous;
        chain->numbers = CHUNK_NUMBERS;
}

static void chunk_chain_range(struct chunk_chain chain, uint64_t *least, uint64_t *largest)
{
        *least = UINT64_MAX;
        *largest = 0;
        for (; chain.chunk; chain.chunk = chain.chunk->previous, chain.numbers = CHUNK_NUMBERS) {
                const uint64_t *numbers = chunk_numbers(chain.chunk);
                for (size_t i = 0; i < chain.numbers; i++) {
                        *least = MIN(*least, numbers[i]);
                        *largest = MAX(*largest, numbers[i]);
                }
        }
}

/* Moves the numbers of @chain, which are from @least to @largest, to at most @buckets buckets of @level. There are two
 * more free chunks. */
static void level_fill(struct number_buckets *b, struct bucket_level *level, struct chunk_chain chain, uint64_t least,
                       uint64_t largest, uint32_t buckets)
{
        level_divide(level, least, largest, buckets);
        level_start(b, level);
        for (; chain.chunk; chunk_chain_advance(b, &chain))
                level_add(b, level, chunk_numbers(chain.chunk), chain.numbers);
}

/* --------------------------------------------------------------------------------------------------- adding */

struct number_buckets *number_buckets_new(void)
{
        struct number_buckets *b = new0(struct number_buckets);
        level_init(&b->root, ROOT_BUCKETS);
        b->near = mem_alloc(NEAR * sizeof(*b->near));
        b->other = mem_alloc(NEAR * sizeof(*b->other));
        return b;
}

void number_buckets_free(struct number_buckets *b)
{
        if (!b)
                return;
        level_deinit(&b->root);
        free(b->near);
        free(b->other);
        free(b);
}

size_t number_buckets_count(const struct number_buckets *b)
{
        return b->count;
}

/* Divides the first numbers. */
static void number_buckets_divide(struct number_buckets *b)
{
        uint64_t least, largest;
        struct chunk_chain chain = level_take(&b->root, 0);
        chunk_chain_range(chain, &least, &largest);
        level_fill(b, &b->root, chain, least, largest, ROOT_BUCKETS);
        b->divided = true;
}

size_t number_buckets_add(struct number_buckets *b, const uint64_t *numbers, size_t n)
{
        size_t done = 0;
        while (done < n && b->n_free >= FEW_FREE) {
                if (!b->filled) {
                        level_divide(&b->root, 0, 0, 1);
                        level_start(b, &b->root);
                        b->filled = true;
                }
                if (b->count >= SPLIT_AT && !b->divided) {
                        if (b->n_free < ROOT_BUCKETS + FEW_FREE)
                                break;
                        number_buckets_divide(b);
                        continue;
                }
                size_t some = MIN(n - done, b->n_free - KEPT_FREE);
                level_add(b, &b->root, numbers + done, some);
                b->count += some;
                done += some;
        }
        return done;
}

struct page *number_buckets_clear(struct number_buckets *b)
{
        for (struct bucket_level *level = b->level, *outer; level && level != &b->root; level = outer) {
                outer = level->outer;
                level_deinit(level);
                free(level);
        }
        for (struct chunk *memory = b->unreserved, *previous; memory; memory = previous) {
                previous = memory->previous;
                free(memory);
        }
        struct page *pages = b->pages;
        b->level = NULL;
        b->filled = b->divided = b->reading = false;
        b->count = b->n_free = b->equal_left = 0;
        b->pages = NULL;
        b->free = b->unreserved = NULL;
        return pages;
}

/* -------------------------------------------------------------------------------------------------- reading */

static const uint64_t *number_buckets_next_equal(struct number_buckets *b, size_t *n)
{
        *n = MIN(b->equal_left, NEAR);
        b->equal_left -= *n;
        for (size_t i = 0; i < *n; i++)
                b->near[i] = b->equal;
        return b->near;
}

static bool numbers_are_in_order(const uint64_t *numbers, size_t n)
{
        for (size_t i = 1; i < n; i++)
                if (numbers[i - 1] > numbers[i])
                        return false;
        return true;
}

/* Sorts the numbers of a chain in the cache. */
static const uint64_t *number_buckets_sort(struct number_buckets *b, struct chunk_chain chain, size_t *n)
{
        *n = chain.total;
        for (uint64_t *to = b->near + chain.total; chain.chunk; chunk_chain_advance(b, &chain)) {
                const char *next = (const char *)chain.chunk->previous;
                for (size_t line = 0; next && line < 8; line++)
                        __builtin_prefetch(next + line * sizeof(struct number_line));
                to -= chain.numbers;
                memcpy(to, chunk_numbers(chain.chunk), chain.numbers * sizeof(*to));
        }
        if (numbers_are_in_order(b->near, *n))
                return b->near;
        numbers_sort(b->near, b->other, *n);
        return b->other;
}

/* Splits the numbers of a chain into a new level, or notes that they are equal. */
static void number_buckets_split(struct number_buckets *b, struct chunk_chain chain)
{
        uint64_t least, largest;
        chunk_chain_range(chain, &least, &largest);
        if (least == largest) {
                b->equal = least;
                b->equal_left = chain.total;
                while (chain.chunk)
                        chunk_chain_advance(b, &chain);
                return;
        }
        number_buckets_need(b, KEPT_FREE / 2);
        size_t wanted = MIN(chain.total / (NEAR / 4), b->n_free - 2);
        uint32_t buckets = (uint32_t)MIN(wanted, (size_t)SPLIT_BUCKETS);
        struct bucket_level *level = new0(struct bucket_level);
        level_init(level, buckets);
        level_fill(b, level, chain, least, largest, buckets);
        level->outer = b->level;
        b->level = level;
}

/* Leaves a level whose buckets are read. */
static void number_buckets_leave(struct number_buckets *b)
{
        struct bucket_level *level = b->level;
        b->level = level->outer;
        if (level == &b->root)
                return;
        level_deinit(level);
        free(level);
}

const uint64_t *number_buckets_next(struct number_buckets *b, size_t *n)
{
        if (!b->reading && b->filled)
                b->level = &b->root;
        b->reading = true;
        while (!b->equal_left) {
                struct bucket_level *level = b->level;
                if (!level)
                        return NULL;
                if (level->next > level->last) {
                        number_buckets_leave(b);
                        continue;
                }
                struct chunk_chain chain = level_take(level, level->next++);
                if (level->next <= level->last)
                        __builtin_prefetch(chunk_of(level->ends[level->next]));
                if (chain.total > NEAR)
                        number_buckets_split(b, chain);
                else if (chain.total > 0)
                        return number_buckets_sort(b, chain, n);
                else
                        chunk_free(b, chain.chunk);
        }
        return number_buckets_next_equal(b, n);
}
