/*
 * A queue of bytes to send, in pooled blocks. Invariant: pieces of a block are in the order of their bytes. A block
 * that is not current and has no pieces returns to the pool.
 */
#include "rpc/send_queue.h"

#include "base/mem.h"
#include "rpc/rpc.h"

#include <string.h>

#define MAX_COPY 4096 /* smaller attachments are copied, which is cheaper than a separate piece */

struct out_block {
        struct out_block *next; /* in the pool */
        size_t used, cap;
        size_t pieces; /* pieces that point into it */
        uint8_t data[];
};

static struct out_block *block_new(struct out_pool *pool, size_t n, bool is_first)
{
        bool small = is_first && n <= OUT_FIRST_BLOCK_SIZE;
        struct out_blocks *blocks = small ? &pool->first : &pool->large;
        struct out_block *b = n <= OUT_BLOCK_SIZE ? blocks->free : NULL;
        if (b) {
                blocks->free = b->next;
                blocks->count--;
        } else {
                size_t cap = small ? OUT_FIRST_BLOCK_SIZE : MAX(n, (size_t)OUT_BLOCK_SIZE);
                b = mem_alloc(sizeof(*b) + cap);
                b->cap = cap;
        }
        b->used = b->pieces = 0;
        b->next = NULL;
        return b;
}

static void send_queue_block_free(struct out_pool *pool, struct out_block *b)
{
        struct out_blocks *blocks = b->cap == OUT_FIRST_BLOCK_SIZE ? &pool->first : &pool->large;
        if ((b->cap != OUT_BLOCK_SIZE && b->cap != OUT_FIRST_BLOCK_SIZE) || blocks->count >= MAX_OUT_POOL) {
                free(b);
                return;
        }
        b->next = blocks->free;
        blocks->free = b;
        blocks->count++;
}

static void out_blocks_deinit(struct out_blocks *blocks)
{
        while (blocks->free) {
                struct out_block *b = blocks->free;
                blocks->free = b->next;
                free(b);
        }
        blocks->count = 0;
}

void out_pool_deinit(struct out_pool *pool)
{
        out_blocks_deinit(&pool->first);
        out_blocks_deinit(&pool->large);
}

void out_queue_init(struct out_queue *q, struct out_pool *pool)
{
        *q = (struct out_queue){.pool = pool};
}

static void piece_done(struct out_queue *q, struct out_piece *p)
{
        if (p->block) {
                if (--p->block->pieces == 0 && p->block != q->current)
                        send_queue_block_free(q->pool, p->block);
        } else if (p->release) {
                p->release(p->arg, p->whole);
        }
}

void out_queue_deinit(struct out_queue *q)
{
        while (q->len > 0) {
                struct out_piece p = q->pieces[q->first];
                q->first++;
                q->len--;
                piece_done(q, &p);
        }
        if (q->current)
                send_queue_block_free(q->pool, steal(q->current));
        free(steal(q->pieces));
        q->first = q->cap = q->bytes = 0;
}

static struct out_piece *send_queue_push(struct out_queue *q)
{
        if (q->first + q->len == q->cap) {
                if (q->first > 0) {
                        memmove(q->pieces, q->pieces + q->first, q->len * sizeof(*q->pieces));
                        q->first = 0;
                } else {
                        q->cap = q->cap ? q->cap * 2 : 8;
                        q->pieces = mem_grow(q->pieces, q->cap * sizeof(*q->pieces));
                }
        }
        return &q->pieces[q->first + q->len++];
}

uint8_t *out_queue_reserve(struct out_queue *q, size_t n)
{
        struct out_block *b = q->current;
        if (!b || b->cap - b->used < n) {
                q->current = block_new(q->pool, n, !b && q->len == 0);
                if (b && b->pieces == 0)
                        send_queue_block_free(q->pool, b);
                b = q->current;
        }
        return b->data + b->used;
}

void out_queue_commit(struct out_queue *q, size_t n)
{
        struct out_block *b = q->current;
        struct out_piece *last = q->len > 0 ? &q->pieces[q->first + q->len - 1] : NULL;
        if (last && last->block == b) { /* it is the newest piece of the block: extend it */
                last->len += n;
        } else {
                *send_queue_push(q) = (struct out_piece){.data = b->data + b->used, .len = n, .block = b};
                b->pieces++;
        }
        b->used += n;
        q->bytes += n;
}

void out_queue_add(struct out_queue *q, const void *data, size_t len, void (*release)(void *arg, const void *data),
                   void *arg)
{
        *send_queue_push(q) =
                (struct out_piece){.data = data, .len = len, .release = release, .arg = arg, .whole = data};
        q->bytes += len;
}

static void send_queue_put_attachment(struct out_queue *q, const struct rpc_attachment *a)
{
        if (a->len > MAX_COPY && a->release) {
                out_queue_add(q, a->data, a->len, a->release, a->arg);
                return;
        }
        for (size_t at = 0; at < a->len;) {
                size_t n = MIN(a->len - at, (size_t)OUT_BLOCK_SIZE);
                memcpy(out_queue_reserve(q, n), (const char *)a->data + at, n);
                out_queue_commit(q, n);
                at += n;
        }
        if (a->release)
                a->release(a->arg, a->data);
}

void out_queue_put_message(struct out_queue *q, struct frame_header *h, const void *body,
                           const ProtobufCMessage *packed, const struct rpc_attachment *attachment)
{
        size_t len = FRAME_HEADER_SIZE + (size_t)h->body_len;
        uint8_t *at = out_queue_reserve(q, len);
        if (packed)
                protobuf_c_message_pack(packed, at + FRAME_HEADER_SIZE);
        else if (h->body_len > 0)
                memcpy(at + FRAME_HEADER_SIZE, body, h->body_len);
        h->checksum = frame_checksum(at + FRAME_HEADER_SIZE, h->body_len, attachment ? attachment->data : NULL,
                                     attachment ? attachment->len : 0);
        frame_header_put(at, h);
        out_queue_commit(q, len);
        if (attachment)
                send_queue_put_attachment(q, attachment);
}

int out_queue_iov(const struct out_queue *q, struct iovec *iov, int max)
{
        int n = (int)MIN(q->len, (size_t)max);
        for (int i = 0; i < n; i++) {
                const struct out_piece *p = &q->pieces[q->first + (size_t)i];
                iov[i] = (struct iovec){(void *)p->data, p->len};
        }
        return n;
}

size_t out_queue_memory(const struct out_queue *q)
{
        size_t bytes = q->cap * sizeof(*q->pieces);
        const struct out_block *last = NULL; /* pieces of a block are neighbours, but for bytes that stay in place */
        for (size_t i = 0; i < q->len; i++) {
                const struct out_block *b = q->pieces[q->first + i].block;
                bytes += b && b != last ? sizeof(*b) + b->cap : 0;
                last = b ? b : last;
        }
        return q->current && q->current != last ? bytes + sizeof(*last) + q->current->cap : bytes;
}

void out_queue_sent(struct out_queue *q, size_t n)
{
        q->bytes -= n;
        while (q->len > 0) {
                struct out_piece *p = &q->pieces[q->first];
                if (n < p->len) {
                        p->data += n;
                        p->len -= n;
                        return;
                }
                struct out_piece done = *p;
                n -= p->len;
                q->first++;
                q->len--;
                piece_done(q, &done);
        }
        q->first = 0;
        if (q->current)
                send_queue_block_free(q->pool, steal(q->current));
}
