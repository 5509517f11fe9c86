/*
 * What is to be written to a connection: small things copied one after another into blocks, large ones left where they
 * are. Blocks come from a pool that all connections of a loop share, so that a connection at rest holds none.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#define OUT_BLOCK_SIZE 65536

struct out_block;

/* Blocks that nobody uses; at most MAX_OUT_POOL are kept. */
struct out_pool {
        struct out_block *free;
        int count;
};
#define MAX_OUT_POOL 64

void out_pool_deinit(struct out_pool *pool);

/* A run of bytes in order; `block` NULL: somebody else's, given back with `release`. */
struct out_piece {
        const uint8_t *data;
        size_t len;
        struct out_block *block;
        void (*release)(void *arg, const void *data);
        void *arg;
        const void *whole; /* what is released */
};

struct out_queue {
        struct out_pool *pool;
        struct out_block *current;
        struct out_piece *pieces; /* from `first` on */
        size_t first, len, cap;
        size_t bytes; /* waiting */
};

void out_queue_init(struct out_queue *q, struct out_pool *pool);

/* Drop everything, releasing what is to be released. */
void out_queue_deinit(struct out_queue *q);

/* Room for @n bytes in one run, to be filled and then committed before anything else is done. Never NULL; aborts when
 * memory is gone, so whoever asks has checked the size. */
uint8_t *out_queue_reserve(struct out_queue *q, size_t n);
void out_queue_commit(struct out_queue *q, size_t n);

/* Bytes that stay where they are until they are sent or dropped, then @release (may be NULL) is called with @data. */
void out_queue_add(struct out_queue *q, const void *data, size_t len, void (*release)(void *arg, const void *data),
                   void *arg);

/* The first bytes as at most @max pieces: how many. */
int out_queue_iov(const struct out_queue *q, struct iovec *iov, int max);

/* @n bytes of them were taken. */
void out_queue_sent(struct out_queue *q, size_t n);
