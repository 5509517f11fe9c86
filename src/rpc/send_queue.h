/* Queued output of a connection: small data is copied into blocks, large data stays in place. Blocks come from a pool
 * that all connections of a loop share, so that an idle connection holds none. The first block of a queue is small:
 * 10,000 connections with a few messages each take 10 MB.
 */
#pragma once

#include "rpc/frame.h"

#include <protobuf-c/protobuf-c.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct rpc_attachment;

#define OUT_BLOCK_SIZE 65536
#define OUT_FIRST_BLOCK_SIZE 1024

struct out_block;

/* Unused blocks of each size; at most MAX_OUT_POOL are kept. */
struct out_pool {
        struct out_blocks {
                struct out_block *free;
                int count;
        } first, large;
};
#define MAX_OUT_POOL 64

void out_pool_deinit(struct out_pool *pool);

/* A run of bytes; `block` NULL: the caller's, returned with `release`. */
struct out_piece {
        const uint8_t *data;
        size_t len;
        struct out_block *block;
        void (*release)(void *arg, const void *data);
        void *arg;
        const void *whole; /* argument of release */
};

struct out_queue {
        struct out_pool *pool;
        struct out_block *current;
        struct out_piece *pieces; /* from `first` on */
        size_t first, len, cap;
        size_t bytes; /* waiting */
};

void out_queue_init(struct out_queue *q, struct out_pool *pool);

/* Drops everything and releases the callers' data. */
void out_queue_deinit(struct out_queue *q);

/* Reserves @n contiguous bytes, to be filled and committed before any other call. Never NULL; aborts when memory is
 * exhausted, so callers must check the size.
 */
uint8_t *out_queue_reserve(struct out_queue *q, size_t n);
void out_queue_commit(struct out_queue *q, size_t n);

/* Adds bytes that stay in place until they are sent or dropped. Then @release (may be NULL) is called with @data. */
void out_queue_add(struct out_queue *q, const void *data, size_t len, void (*release)(void *arg, const void *data),
                   void *arg);

/*
 * Adds a message: its frame @h, whose lengths are set and whose checksum is not, the body, of which @packed (NULL: none) is packed or else @body
 * copied, and the attachment (NULL: none) as struct rpc_attachment tells.
 */
void out_queue_put_message(struct out_queue *q, struct frame_header *h, const void *body,
                           const ProtobufCMessage *packed, const struct rpc_attachment *attachment);

/* Returns the first bytes as at most @max pieces, and their number. */
int out_queue_iov(const struct out_queue *q, struct iovec *iov, int max);

/* The memory of a queue, without bytes that stay in place. */
size_t out_queue_memory(const struct out_queue *q);

/* @n bytes were sent. */
void out_queue_sent(struct out_queue *q, size_t n);
