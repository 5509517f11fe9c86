/*
 * See lz4_blocks.h. A chunk is gathered and decompressed as a whole. Its text is then returned piece by piece.
 *
 * Invariants: a chunk belongs to a block with remaining text. `at` <= `plain_len`. Sizes in the file allocate at most
 * MAX_LZ4_BLOCKS, and for text at most 255 times the bytes received.
 */
#include "io/codec/lz4_blocks.h"

#include "base/buf.h"
#include "base/mem.h"

#include <lz4.h>
#include <stdio.h>
#include <string.h>

#define MAX_RATIO 255 /* of lz4: the most text for one byte */

struct lz4_blocks {
        unsigned char number[4]; /* of which `digits` have arrived */
        size_t digits;
        uint32_t block_left; /* remaining text of the block */
        uint32_t chunk_size; /* 0: not yet known */
        unsigned char *chunk;
        size_t chunk_len, chunk_room;
        char *plain;
        size_t at, plain_len, plain_room;
        char why[80];
};

static uint32_t lz4_blocks_number(const unsigned char *p)
{
        return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

bool lz4_blocks_begin(const unsigned char magic[4])
{
        static const unsigned char frame[] = {0x04, 0x22, 0x4d, 0x18}, legacy[] = {0x02, 0x21, 0x4c, 0x18};
        bool skipped = (magic[0] & 0xf0) == 0x50 && magic[1] == 0x2a && magic[2] == 0x4d && magic[3] == 0x18;
        return !skipped && memcmp(magic, frame, 4) != 0 && memcmp(magic, legacy, 4) != 0;
}

static void lz4_blocks_put_number(struct buf *out, size_t n)
{
        unsigned char bytes[4] = {(unsigned char)(n >> 24), (unsigned char)(n >> 16), (unsigned char)(n >> 8),
                                  (unsigned char)n};
        buf_append(out, bytes, sizeof(bytes));
}

void lz4_blocks_put(void *state, const void *data, size_t size, struct buf *out)
{
        size_t room = (size_t)LZ4_compressBound((int)size), head = out->len + 4;
        lz4_blocks_put_number(out, size);
        if (size == 0)
                return;
        lz4_blocks_put_number(out, 0);
        buf_reserve(out, room);
        int n = LZ4_compress_fast_extState(state, data, out->data + out->len, (int)size, (int)room, 1);
        out->len += (size_t)n;
        struct buf number = BUF_INIT;
        lz4_blocks_put_number(&number, (size_t)n);
        memcpy(out->data + head, number.data, 4);
        buf_deinit(&number);
}

struct lz4_blocks *lz4_blocks_new(void)
{
        return new0(struct lz4_blocks);
}

void lz4_blocks_free(struct lz4_blocks *b)
{
        if (!b)
                return;
        free(b->chunk);
        free(b->plain);
        free(b);
}

void lz4_blocks_reset(struct lz4_blocks *b)
{
        b->digits = 0;
        b->block_left = b->chunk_size = 0;
        b->chunk_len = b->at = b->plain_len = 0;
}

bool lz4_blocks_between(const struct lz4_blocks *b)
{
        return b->digits == 0 && b->block_left == 0 && b->at == b->plain_len;
}

static const char *lz4_blocks_fault(struct lz4_blocks *b, const char *what)
{
        snprintf(b->why, sizeof(b->why), "a chunk of %u bytes %s", b->chunk_size, what);
        return b->why;
}

/* Reads the next bytes of a number. True once it is complete in *@value. */
static bool lz4_blocks_take_number(struct lz4_blocks *b, const unsigned char *data, size_t len, size_t *taken,
                                   uint32_t *value)
{
        size_t n = MIN(len - *taken, 4 - b->digits);
        memcpy(b->number + b->digits, data + *taken, n);
        b->digits += n;
        *taken += n;
        if (b->digits < 4)
                return false;
        b->digits = 0;
        *value = lz4_blocks_number(b->number);
        return true;
}

static const char *lz4_blocks_unpack_chunk(struct lz4_blocks *b)
{
        size_t most = MIN((size_t)b->block_left, MAX_LZ4_BLOCKS);
        most = MIN(most, b->chunk_len * MAX_RATIO);
        if (!mem_try_reserve((void **)&b->plain, &b->plain_room, most))
                return lz4_blocks_fault(b, "needs more memory for its text");
        int n = LZ4_decompress_safe((const char *)b->chunk, b->plain, (int)b->chunk_len, (int)most);
        if (n <= 0)
                return lz4_blocks_fault(b, "cannot be decompressed");
        b->block_left -= (uint32_t)n;
        b->at = 0;
        b->plain_len = (size_t)n;
        b->chunk_size = 0;
        b->chunk_len = 0;
        return NULL;
}

/*
 * Reads a part of a chunk, and decompresses the chunk when it is complete.
 *
 */
static const char *lz4_blocks_take_chunk(struct lz4_blocks *b, const unsigned char *data, size_t len, size_t *taken)
{
        size_t n = MIN(len - *taken, b->chunk_size - b->chunk_len);
        size_t need = b->chunk_len + n, room = MAX(need, b->chunk_room * 2);
        if (need > b->chunk_room &&
            !mem_try_reserve((void **)&b->chunk, &b->chunk_room, MIN(room, (size_t)b->chunk_size)))
                return lz4_blocks_fault(b, "needs more memory");
        memcpy(b->chunk + b->chunk_len, data + *taken, n);
        b->chunk_len += n;
        *taken += n;
        return b->chunk_len == b->chunk_size ? lz4_blocks_unpack_chunk(b) : NULL;
}

const char *lz4_blocks_step(struct lz4_blocks *b, const unsigned char *data, size_t *in, void *out, size_t size,
                            size_t *got)
{
        size_t taken = 0, len = *in;
        const char *why = NULL;
        while (!why && b->at == b->plain_len && taken < len) {
                if (b->block_left == 0) {
                        lz4_blocks_take_number(b, data, len, &taken, &b->block_left);
                } else if (b->chunk_size == 0) {
                        if (lz4_blocks_take_number(b, data, len, &taken, &b->chunk_size) &&
                            (b->chunk_size == 0 || b->chunk_size > MAX_LZ4_BLOCKS))
                                why = lz4_blocks_fault(b, "is not valid");
                } else {
                        why = lz4_blocks_take_chunk(b, data, len, &taken);
                }
        }
        size_t n = why ? 0 : MIN(size, b->plain_len - b->at);
        if (n > 0)
                memcpy(out, b->plain + b->at, n);
        b->at += n;
        *in = taken;
        *got = n;
        return why;
}
