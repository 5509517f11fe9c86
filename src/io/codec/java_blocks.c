/*
 * See java_blocks.h. A block is gathered and decompressed as a whole. Its text is then returned piece by piece.
 *
 * Invariants: `head_len` <= `head_need`; `at` <= `plain_len`. Sizes in the file allocate at most MAX_JAVA_BLOCK, in
 * steps that follow the received bytes.
 */
#include "io/codec/java_blocks.h"

#include "base/mem.h"
#include "io/codec/snappy_library.h"

#include <lz4.h>
#include <string.h>
#include <xxhash.h>

enum { LZ4_HEAD = 21, SNAPPY_HEAD = 16, SNAPPY_NUMBER = 4, LZF_STORED_HEAD = 5, LZF_HEAD = 7 };
enum { LZ4_MAX_RATIO = 255 };
enum { LZ4_METHOD_RAW = 0x10, LZ4_METHOD_LZ4 = 0x20 };

#define LZ4_CHECKSUM_SEED 0x9747b28cu
#define LZ4_CHECKSUM_BITS 0x0fffffffu

static const unsigned char lz4_magic[] = {'L', 'Z', '4', 'B', 'l', 'o', 'c', 'k'};
static const unsigned char snappy_magic[] = {0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0};

struct java_blocks {
        enum java_blocks_kind kind;
        const struct snappy_library *snappy;
        bool has_stream; /* snappy: a header was read */
        unsigned char head[LZ4_HEAD];
        size_t head_len, head_need;
        bool in_block; /* the head of a block is complete */
        bool is_raw;
        uint32_t checksum;
        size_t packed_size, plain_size; /* of the block; plain_size of snappy is known from the block */
        unsigned char *packed;
        size_t packed_len, packed_room;
        char *plain;
        size_t at, plain_len, plain_room;
};

static void java_blocks_expect_head(struct java_blocks *b)
{
        b->head_len = 0;
        b->head_need = b->kind == JAVA_BLOCKS_LZ4   ? LZ4_HEAD
                       : b->kind == JAVA_BLOCKS_LZF ? LZF_STORED_HEAD
                       : b->has_stream              ? SNAPPY_NUMBER
                                                    : SNAPPY_HEAD;
        b->in_block = false;
        b->packed_len = 0;
}

int java_blocks_new(enum java_blocks_kind kind, struct java_blocks **out, struct fst_error *error)
{
        const struct snappy_library *snappy = NULL;
        int r = kind == JAVA_BLOCKS_SNAPPY ? snappy_library_load(&snappy, error) : 0;
        if (r < 0)
                return r;
        struct java_blocks *b = new0(struct java_blocks);
        b->kind = kind;
        b->snappy = snappy;
        java_blocks_expect_head(b);
        *out = b;
        return 0;
}

void java_blocks_free(struct java_blocks *b)
{
        if (!b)
                return;
        free(b->packed);
        free(b->plain);
        free(b);
}

bool java_blocks_between(const struct java_blocks *b)
{
        return b->head_len == 0 && !b->in_block && b->at == b->plain_len;
}

static size_t java_blocks_little(const unsigned char *p)
{
        return (size_t)p[3] << 24 | (size_t)p[2] << 16 | (size_t)p[1] << 8 | p[0];
}

static size_t java_blocks_big(const unsigned char *p)
{
        return (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];
}

static const char *java_blocks_begin_lz4(struct java_blocks *b)
{
        if (memcmp(b->head, lz4_magic, sizeof(lz4_magic)) != 0)
                return "a block does not begin with \"LZ4Block\"";
        unsigned method = b->head[8] & 0xf0u;
        b->packed_size = java_blocks_little(b->head + 9);
        b->plain_size = java_blocks_little(b->head + 13);
        b->checksum = (uint32_t)java_blocks_little(b->head + 17);
        b->is_raw = method == LZ4_METHOD_RAW;
        if (method != LZ4_METHOD_RAW && method != LZ4_METHOD_LZ4)
                return "a block has an unknown method";
        if (b->packed_size > MAX_JAVA_BLOCK || b->plain_size > MAX_JAVA_BLOCK ||
            (b->is_raw && b->packed_size != b->plain_size) || !b->packed_size != !b->plain_size ||
            b->plain_size / LZ4_MAX_RATIO > b->packed_size)
                return "a block has invalid sizes";
        if (b->packed_size == 0) /* the end of a stream */
                java_blocks_expect_head(b);
        else
                b->in_block = true;
        return NULL;
}

static const char *java_blocks_begin_snappy(struct java_blocks *b)
{
        /* A header in place of a block begins with the magic, which is no valid size. */
        bool is_header = memcmp(b->head, snappy_magic, SNAPPY_NUMBER) == 0;
        if (is_header && b->head_need < SNAPPY_HEAD) {
                b->head_need = SNAPPY_HEAD;
                return NULL;
        }
        if (!b->has_stream || b->head_need == SNAPPY_HEAD) {
                if (memcmp(b->head, snappy_magic, sizeof(snappy_magic)) != 0)
                        return "it does not begin with the header of snappy-java";
                b->has_stream = true;
                java_blocks_expect_head(b);
                return NULL;
        }
        b->packed_size = java_blocks_big(b->head);
        if (b->packed_size > MAX_JAVA_BLOCK)
                return "a block has an invalid size";
        if (b->packed_size == 0)
                java_blocks_expect_head(b);
        else
                b->in_block = true;
        return NULL;
}

static const char *java_blocks_begin_lzf(struct java_blocks *b)
{
        b->is_raw = b->head[2] == 0;
        if (b->head[0] != 'Z' || b->head[1] != 'V' || b->head[2] > 1)
                return "a block does not begin as those of lzf";
        if (!b->is_raw && b->head_need < LZF_HEAD) {
                b->head_need = LZF_HEAD;
                return NULL;
        }
        b->packed_size = (size_t)b->head[3] << 8 | b->head[4];
        b->plain_size = b->is_raw ? b->packed_size : (size_t)b->head[5] << 8 | b->head[6];
        if (!b->packed_size && b->plain_size)
                return "a block has invalid sizes";
        if (b->packed_size == 0)
                java_blocks_expect_head(b);
        else
                b->in_block = true;
        return NULL;
}

static const char *java_blocks_decompress_lz4(struct java_blocks *b)
{
        if (!mem_try_reserve((void **)&b->plain, &b->plain_room, b->plain_size))
                return "no memory for a block";
        if (b->is_raw)
                memcpy(b->plain, b->packed, b->plain_size);
        else if (LZ4_decompress_safe((const char *)b->packed, b->plain, (int)b->packed_size, (int)b->plain_size) !=
                 (int)b->plain_size)
                return "a block cannot be decompressed";
        if ((XXH32(b->plain, b->plain_size, LZ4_CHECKSUM_SEED) & LZ4_CHECKSUM_BITS) != b->checksum)
                return "a block has a wrong checksum";
        return NULL;
}

static const char *java_blocks_decompress_snappy(struct java_blocks *b)
{
        const char *packed = (const char *)b->packed;
        if (b->snappy->uncompressed_length(packed, b->packed_size, &b->plain_size) != SNAPPY_OK ||
            b->plain_size > MAX_JAVA_BLOCK)
                return "a block has an invalid size";
        if (!mem_try_reserve((void **)&b->plain, &b->plain_room, b->plain_size))
                return "no memory for a block";
        size_t n = b->plain_size;
        if (b->snappy->uncompress(packed, b->packed_size, b->plain, &n) != SNAPPY_OK || n != b->plain_size)
                return "a block cannot be decompressed";
        return NULL;
}

/*
 * A byte below 32 begins a run of literals. Others are a reference: three bits of the length and five of the distance, a
 * byte more of the length if the three bits are set, and a byte more of the distance. What a reference copies may overlap
 * what it writes. Returns whether the result has @size bytes.
 */
static bool lzf_decompress(const unsigned char *in, size_t n, char *out, size_t size)
{
        size_t at = 0, len = 0;
        while (at < n) {
                size_t code = in[at++], count = code + 1, distance;
                if (code < 32) {
                        if (count > n - at || count > size - len)
                                return false;
                        memcpy(out + len, in + at, count);
                        at += count;
                        len += count;
                        continue;
                }
                count = code >> 5;
                if (count == 7 && at < n)
                        count += in[at++];
                if (at == n)
                        return false;
                distance = ((code & 31) << 8 | in[at++]) + 1;
                count += 2;
                if (distance > len || count > size - len)
                        return false;
                for (; count > 0; count--, len++)
                        out[len] = out[len - distance];
        }
        return len == size;
}

static const char *java_blocks_decompress_lzf(struct java_blocks *b)
{
        if (!mem_try_reserve((void **)&b->plain, &b->plain_room, MAX(b->plain_size, (size_t)1)))
                return "no memory for a block";
        if (b->is_raw)
                memcpy(b->plain, b->packed, b->plain_size);
        else if (!lzf_decompress(b->packed, b->packed_size, b->plain, b->plain_size))
                return "a block cannot be decompressed";
        return NULL;
}

/* The kinds differ in these. Both return NULL or the problem. */
static const struct {
        const char *(*begin)(struct java_blocks *b); /* the head has head_need bytes */
        const char *(*decompress)(struct java_blocks *b);
} java_blocks_kinds[] = {
        [JAVA_BLOCKS_LZ4] = {java_blocks_begin_lz4, java_blocks_decompress_lz4},
        [JAVA_BLOCKS_SNAPPY] = {java_blocks_begin_snappy, java_blocks_decompress_snappy},
        [JAVA_BLOCKS_LZF] = {java_blocks_begin_lzf, java_blocks_decompress_lzf},
};

/* Gathers bytes of the block, and decompresses it once it is complete. */
static const char *java_blocks_gather(struct java_blocks *b, const unsigned char *data, size_t len, size_t *taken)
{
        size_t n = MIN(len - *taken, b->packed_size - b->packed_len);
        /* At most twice what arrived: a claimed size alone costs nothing. */
        size_t wanted = MAX(b->packed_len + n, 2 * b->packed_len), room = MIN(b->packed_size, wanted);
        if (!mem_try_reserve((void **)&b->packed, &b->packed_room, room))
                return "no memory for a block";
        memcpy(b->packed + b->packed_len, data + *taken, n);
        b->packed_len += n;
        *taken += n;
        if (b->packed_len < b->packed_size)
                return NULL;
        const char *problem = java_blocks_kinds[b->kind].decompress(b);
        if (problem)
                return problem;
        b->at = 0;
        b->plain_len = b->plain_size;
        java_blocks_expect_head(b);
        return NULL;
}

const char *java_blocks_step(struct java_blocks *b, const unsigned char *data, size_t *in, void *out, size_t size,
                             size_t *got)
{
        size_t taken = 0;
        const char *problem = NULL;
        *got = 0;
        while (!problem && b->at == b->plain_len && taken < *in) {
                if (b->in_block) {
                        problem = java_blocks_gather(b, data, *in, &taken);
                        continue;
                }
                size_t n = MIN(*in - taken, b->head_need - b->head_len);
                memcpy(b->head + b->head_len, data + taken, n);
                b->head_len += n;
                taken += n;
                if (b->head_len == b->head_need)
                        problem = java_blocks_kinds[b->kind].begin(b);
        }
        *in = taken;
        if (problem)
                return problem;
        *got = MIN(size, b->plain_len - b->at);
        if (*got > 0)
                memcpy(out, b->plain + b->at, *got);
        b->at += *got;
        return NULL;
}
