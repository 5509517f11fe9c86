/*
 * Rows whose types are known only at run time, as an engine knows them, and their partitions, on two threads.
 *
 * A row is a key and a value, each of a whole number of words of 8 bytes. A struct row_type tells how to hash, compare
 * and combine them, through pointers to functions. Keys are hashed a block at a time. Nothing is known about the
 * number, the range or the frequency of keys. Memory is in huge pages and is kept for the next round, so that only the
 * first round pays for new pages.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define GENERIC_THREADS 2
#define GENERIC_BLOCK 256 /* rows that are hashed, and whose memory is fetched, together */

struct row_type {
        uint32_t key_words, value_words;
        /* Hashes the keys of @n rows that are @stride words apart. */
        void (*hash)(const uint64_t *rows, size_t stride, size_t n, uint64_t *hashes);
        bool (*equal)(const uint64_t *key, const uint64_t *other);
        void (*combine)(uint64_t *value, const uint64_t *other);
};

static inline uint32_t row_words(const struct row_type *type)
{
        return type->key_words + type->value_words;
}

/* Copies a row without a call for the usual sizes. */
static inline void row_copy(uint64_t *to, const uint64_t *from, uint32_t words)
{
        switch (words) {
        case 2:
                memcpy(to, from, 16);
                break;
        case 3:
                memcpy(to, from, 24);
                break;
        default:
                memcpy(to, from, (size_t)words * 8);
        }
}

static inline void *memory_checked(void *memory)
{
        if (!memory || memory == MAP_FAILED) {
                perror("memory");
                exit(1);
        }
        return memory;
}

/* Anonymous memory in huge pages. */
static inline void *huge_alloc(size_t bytes)
{
        bytes = (bytes + (2 << 20) - 1) & ~(size_t)((2 << 20) - 1);
        void *memory = memory_checked(mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        madvise(memory, bytes, MADV_HUGEPAGE);
        return memory;
}

/* ------------------------------------------------------------------------------------------------------- chunks */

#define CHUNK_BYTES (64 << 10)

/* Rows, in a list of chunks. */
struct chunk {
        struct chunk *next;
        size_t rows;
        uint64_t words[];
};

#define CHUNK_WORDS ((CHUNK_BYTES - sizeof(struct chunk)) / 8)

/* The free chunks of a thread. */
struct chunk_pool {
        struct chunk *free;
        char *fresh, *end; /* never used yet */
};

static inline struct chunk *chunk_take(struct chunk_pool *pool)
{
        struct chunk *c = pool->free;
        if (c) {
                pool->free = c->next;
        } else {
                if (pool->fresh == pool->end) {
                        pool->fresh = huge_alloc(32 << 20);
                        pool->end = pool->fresh + (32 << 20);
                }
                c = (struct chunk *)pool->fresh;
                pool->fresh += CHUNK_BYTES;
        }
        c->next = NULL;
        c->rows = 0;
        return c;
}

static inline void chunks_release(struct chunk_pool *pool, struct chunk *c)
{
        while (c) {
                struct chunk *next = c->next;
                c->next = pool->free;
                pool->free = c;
                c = next;
        }
}

/* Rows in chunks, the last first. */
struct row_list {
        struct chunk *chunks;
        uint64_t *at, *end; /* room in the first chunk */
        size_t rows;        /* in the other chunks */
};

static __attribute__((noinline)) void row_list_grow(struct row_list *list, struct chunk_pool *pool, uint32_t words)
{
        if (list->chunks)
                list->rows += list->chunks->rows = (size_t)(list->at - list->chunks->words) / words;
        struct chunk *c = chunk_take(pool);
        c->next = list->chunks;
        list->chunks = c;
        list->at = c->words;
        list->end = c->words + CHUNK_WORDS / words * words;
}

/* Returns where to write the next row. */
static inline uint64_t *row_list_add(struct row_list *list, struct chunk_pool *pool, uint32_t words)
{
        if (list->at == list->end)
                row_list_grow(list, pool, words);
        uint64_t *row = list->at;
        list->at += words;
        return row;
}

/* Ends the writing: `rows` is the number of all rows then. */
static inline void row_list_close(struct row_list *list, uint32_t words)
{
        if (list->chunks)
                list->rows += list->chunks->rows = (size_t)(list->at - list->chunks->words) / words;
        list->at = list->end = NULL;
}

/* --------------------------------------------------------------------------------------------------- partitions */

/* Copies rows to lists by the upper @bits (at least 1) of their hashes. */
static void rows_partition(const struct row_type *type, const uint64_t *rows, size_t n, unsigned bits,
                           struct row_list *lists, struct chunk_pool *pool)
{
        const uint32_t words = row_words(type);
        uint64_t hashes[GENERIC_BLOCK];
        for (size_t at = 0; at < n; at += GENERIC_BLOCK) {
                const uint64_t *row = rows + at * words;
                size_t some = n - at < GENERIC_BLOCK ? n - at : GENERIC_BLOCK;
                type->hash(row, words, some, hashes);
                for (size_t i = 0; i < some; i++, row += words)
                        row_copy(row_list_add(&lists[hashes[i] >> (64 - bits)], pool, words), row, words);
        }
}

/* Runs @body with each thread's number. */
static void threads_run(void *(*body)(void *), void *threads, size_t size)
{
        pthread_t others[GENERIC_THREADS];
        for (size_t i = 1; i < GENERIC_THREADS; i++)
                if (pthread_create(&others[i], NULL, body, (char *)threads + i * size) != 0) {
                        perror("thread");
                        exit(1);
                }
        body(threads);
        for (size_t i = 1; i < GENERIC_THREADS; i++)
                pthread_join(others[i], NULL);
}
