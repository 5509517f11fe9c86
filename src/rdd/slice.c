/* Rows of parallelize on the wire; see slice.h. */
#include "rdd/slice.h"

#include "base/buf.h"
#include "base/mem.h"

#include <endian.h>
#include <inttypes.h>
#include <xxhash.h>

#define SLICE_MAGIC 0x31535346u /* "FSS1" */

_Static_assert(__BYTE_ORDER == __LITTLE_ENDIAN, "rows are sent as they lie in memory");

static bool slice_has_bytes(fst_type type)
{
        return type.key == FST_KIND_BYTES;
}

size_t slice_size(const fst_rdd *rdd)
{
        size_t width = slice_has_bytes(rdd->type) ? 4 : rdd->type.key_size;
        return SLICE_HEADER + rdd->parallelize.count * width + rdd->parallelize.n_bytes;
}

static void slice_put32(unsigned char *at, uint32_t value)
{
        memcpy(at, &value, 4);
}

static void slice_put64(unsigned char *at, uint64_t value)
{
        memcpy(at, &value, 8);
}

static uint32_t slice_get32(const unsigned char *at)
{
        uint32_t value;
        memcpy(&value, at, 4);
        return value;
}

static uint64_t slice_get64(const unsigned char *at)
{
        uint64_t value;
        memcpy(&value, at, 8);
        return value;
}

/* Appends the lengths, then the bytes, which are already contiguous. */
static int slice_append_bytes(const fst_bytes *rows, size_t n, struct buf *out, struct fst_error *error)
{
        size_t total = 0;
        for (size_t i = 0; i < n; i++) {
                if (rows[i].len > UINT32_MAX)
                        return error_set(error, -E2BIG, "a row of %zu bytes is too large for parallelize", rows[i].len);
                total += rows[i].len;
        }
        buf_reserve(out, n * 4 + total);
        for (size_t i = 0; i < n; i++) {
                unsigned char length[4];
                slice_put32(length, (uint32_t)rows[i].len);
                buf_append(out, length, 4);
        }
        buf_append(out, n ? rows[0].data : NULL, total);
        return 0;
}

int slice_encode(const fst_rdd *rdd, int partition, struct buf *out, struct fst_error *error)
{
        size_t start = out->len, from = 0, end = rdd->parallelize.count;
        unsigned char header[SLICE_HEADER] = {0};
        int r = 0;
        if (partition >= rdd->lineage.partitions || partition < -1)
                return error_set(error, -EINVAL, "RDD %d has no partition %d", rdd->lineage.id, partition);
        if (end && !rdd->parallelize.data)
                return error_set(error, -EINVAL, "the rows of RDD %d are not in this process", rdd->lineage.id);
        if (partition >= 0) {
                from = slice_start(rdd->parallelize.count, partition, rdd->lineage.partitions);
                end = slice_start(rdd->parallelize.count, partition + 1, rdd->lineage.partitions);
        }
        buf_append(out, header, sizeof(header));
        if (slice_has_bytes(rdd->type)) {
                r = slice_append_bytes((const fst_bytes *)rdd->parallelize.data + from, end - from, out, error);
        } else {
                size_t width = rdd->type.key_size;
                buf_append(out, (const char *)rdd->parallelize.data + from * width, (end - from) * width);
        }
        if (r) {
                buf_truncate(out, start);
                return r;
        }
        size_t bytes = out->len - start - SLICE_HEADER;
        slice_put32(header, SLICE_MAGIC);
        slice_put32(header + 4, rdd->type.key);
        slice_put64(header + 8, end - from);
        slice_put64(header + 16, bytes);
        slice_put64(header + 24, XXH3_64bits(out->data + start + SLICE_HEADER, bytes));
        memcpy(out->data + start, header, sizeof(header));
        return 0;
}

/* True if the lengths of BYTES rows add up to their bytes. */
static bool slice_lengths_agree(const struct slice *s)
{
        uint64_t total = 0;
        for (uint64_t i = 0; i < s->rows; i++)
                total += slice_get32(s->column + i * 4);
        return total == s->heap_size;
}

int slice_open(struct slice *slice, fst_type type, uint64_t rows, const void *data, size_t len, struct fst_error *error)
{
        const unsigned char *header = data;
        size_t width = slice_has_bytes(type) ? 4 : type.key_size, columns;
        struct slice s = {.type = type, .rows = rows};
        if (len < SLICE_HEADER || slice_get32(header) != SLICE_MAGIC)
                return error_set(error, -EBADMSG, "not a slice of parallelize rows");
        size_t bytes = len - SLICE_HEADER;
        if (slice_get32(header + 4) != type.key || slice_get64(header + 8) != rows || slice_get64(header + 16) != bytes)
                return error_set(error, -EBADMSG,
                                 "unexpected rows of parallelize: %" PRIu64 " of kind %u in %" PRIu64
                                 " bytes, not %" PRIu64 " of kind %u in %zu",
                                 slice_get64(header + 8), slice_get32(header + 4), slice_get64(header + 16), rows,
                                 type.key, bytes);
        s.column = header + SLICE_HEADER;
        if (slice_get64(header + 24) != XXH3_64bits(s.column, bytes))
                return error_set(error, -EBADMSG, "rows of parallelize are damaged: the checksum does not match");
        if (__builtin_mul_overflow((size_t)rows, width, &columns) || columns > bytes)
                return error_set(error, -EBADMSG, "rows of parallelize are truncated");
        s.heap = (const char *)s.column + columns;
        s.heap_size = bytes - columns;
        if (slice_has_bytes(type) ? !slice_lengths_agree(&s) : s.heap_size != 0)
                return error_set(error, -EBADMSG, "rows of parallelize have inconsistent lengths");
        *slice = s;
        return 0;
}

uint32_t slice_next(struct slice *s, uint32_t most, fst_bytes *views, fst_column *column)
{
        uint32_t n = (uint32_t)MIN(s->rows - s->at, (uint64_t)most);
        if (!slice_has_bytes(s->type)) {
                column->fixed = (char *)s->column + s->at * s->type.key_size;
                s->at += n;
                return n;
        }
        for (uint32_t i = 0; i < n; i++) {
                views[i] = (fst_bytes){s->heap + s->heap_at, slice_get32(s->column + (s->at + i) * 4)};
                s->heap_at += views[i].len;
        }
        column->bytes = views;
        s->at += n;
        return n;
}
