/* See object_file.h. */
#include "shuffle/remote/object_file.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "io/fs/file_system.h"
#include "net/byte_order.h"
#include "shuffle/remote_shuffle.h"
#include "shuffle/shuffle_output.h"
#include "store/page_pool.h"
#include "store/spill.h"

#include <xxhash.h>

#define MAGIC "FSTOBJ01"
#define END_MAGIC "FSTOBJE1"
#define FLAG_ENCRYPTED 1u
#define TRAILER_CHECK 24 /* offset of its checksum */
#define INDEX_OUTPUT 12  /* bytes of an output in the index */
#define WRITE_BUFFER ((size_t)1 << 20)
#define DIRECT ((size_t)16 << 10) /* bytes that are written without the buffer, unless they are encrypted */
#define RAW_PAGES 8 /* pages written uncompressed after one that did not shrink; twice as many after the next, … */
#define MAX_RAW_PAGES 64 /* … at most so many */

/* ------------------------------------------------------------------------------------------------------ writing */

struct object_encoder {
        struct open_file file;
        const struct file_key *key;
        uint8_t iv[FILE_IV];
        struct codec codec;
        bool if_cheaper;
        int raw_pages;      /* pages to write uncompressed */
        int raw_run;        /* how many of them follow the next one that does not shrink */
        uint64_t offset;    /* of the next byte */
        struct buf pending; /* bytes before it that are not written yet */
        unsigned char *block;
};

static int object_encoder_flush(struct object_encoder *w, struct fst_error *error)
{
        uint64_t from = w->offset - w->pending.len;
        size_t plain = from < OBJECT_HEADER ? MIN((size_t)(OBJECT_HEADER - from), w->pending.len) : 0;
        char *data = w->pending.data;
        int r = 0;
        if (w->key && w->pending.len > plain)
                r = file_crypt(w->key, w->iv, from + plain, data + plain, data + plain, w->pending.len - plain, error);
        if (r == 0 && w->pending.len)
                r = w->file.fs->write(&w->file, data, w->pending.len, error);
        buf_reset(&w->pending);
        return r;
}

/* Puts @n bytes that stay unchanged until the object is written. */
static int object_encoder_put_kept(struct object_encoder *w, const void *data, size_t n, struct fst_error *error)
{
        const struct file_system *fs = w->file.fs;
        int r = object_encoder_flush(w, error);
        w->offset += n;
        return r ? r : (fs->write_kept ? fs->write_kept : fs->write)(&w->file, data, n, error);
}

static int object_encoder_put(struct object_encoder *w, const void *data, size_t n, struct fst_error *error)
{
        const char *from = data;
        if (!w->key && n >= DIRECT) {
                int r = object_encoder_flush(w, error);
                w->offset += n;
                return r ? r : w->file.fs->write(&w->file, from, n, error);
        }
        while (n > 0) {
                size_t part = MIN(n, WRITE_BUFFER - w->pending.len);
                buf_append(&w->pending, from, part);
                w->offset += part;
                from += part;
                n -= part;
                int r = w->pending.len == WRITE_BUFFER ? object_encoder_flush(w, error) : 0;
                if (r)
                        return r;
        }
        return 0;
}

static uint32_t object_block_check(const unsigned char output[static 4], const unsigned char *header)
{
        unsigned char both[4 + PAGE_FRAME_HEADER];
        memcpy(both, output, 4);
        memcpy(both + 4, header, PAGE_FRAME_HEADER);
        return (uint32_t)XXH3_64bits(both, sizeof(both));
}

static int object_encoder_put_frame(struct object_encoder *w, uint32_t output, const unsigned char *frame, size_t n,
                                    struct fst_error *error)
{
        unsigned char head[8];
        put_le32(head, output);
        put_le32(head + 4, object_block_check(head, frame));
        int r = object_encoder_put(w, head, sizeof(head), error);
        return r ? r : object_encoder_put(w, frame, n, error);
}

static int object_encoder_put_page(struct object_encoder *w, uint32_t output, const struct page *page,
                                   struct fst_error *error)
{
        bool raw = w->raw_pages > 0;
        w->raw_pages -= raw;
        if (raw || page->used > PAGE_CAPACITY) { /* one large record is never compressed */
                unsigned char header[PAGE_FRAME_HEADER], head[8];
                page_frame_header(page, header);
                put_le32(head, output);
                put_le32(head + 4, object_block_check(head, header));
                int r = object_encoder_put(w, head, sizeof(head), error);
                if (r == 0)
                        r = object_encoder_put(w, header, sizeof(header), error);
                if (r || w->key || page->used < DIRECT)
                        return r ? r : object_encoder_put(w, page->data, page->used, error);
                return object_encoder_put_kept(w, page->data, page->used, error);
        }
        size_t n = page_frame_encode(page, &w->codec, w->block);
        bool shrunk = n <= page->used - page->used / 8;
        if (w->if_cheaper && !shrunk)
                w->raw_pages = w->raw_run;
        w->raw_run = shrunk ? RAW_PAGES : MIN(2 * w->raw_run, MAX_RAW_PAGES);
        return object_encoder_put_frame(w, output, w->block, n, error);
}

/* Copies a page that is on this executor's disk. */
static int object_encoder_put_extent(struct object_encoder *w, uint32_t output, const struct shuffle_output *from,
                                     const struct shuffle_extent *e, struct fst_error *error)
{
        _cleanup_free_ unsigned char *large = e->length > OBJECT_BLOCK + PAGE_BLOCK ? mem_try(e->length) : NULL;
        unsigned char *frame = e->length > OBJECT_BLOCK + PAGE_BLOCK ? large : w->block;
        if (!frame)
                return error_set(error, -ENOMEM, "no memory to copy a page of %u bytes", e->length);
        int r = spill_read_bytes(from->file, e->offset, frame, e->length, error);
        return r ? r : object_encoder_put_frame(w, output, frame, e->length, error);
}

static int object_encoder_put_partition(struct object_encoder *w, uint32_t output, const struct shuffle_output *from,
                                        int partition, struct fst_error *error)
{
        const struct shuffle_partition *at = &from->at[partition];
        int r = 0;
        for (uint32_t e = at->extents; e && r == 0; e = from->extents[e - 1].next)
                r = object_encoder_put_extent(w, output, from, &from->extents[e - 1], error);
        for (const struct page *page = at->last ? at->last->next : NULL; page && r == 0;) {
                r = object_encoder_put_page(w, output, page, error);
                page = page == at->last ? NULL : page->next;
        }
        return r;
}

/* Writes everything. @index has the outputs already. */
static int object_encoder_put_all(struct object_encoder *w, const struct remote_output *outputs, int n,
                                  struct buf *index, struct fst_error *error)
{
        unsigned char trailer[OBJECT_TRAILER] = {0};
        int r = object_encoder_put(w, MAGIC, OBJECT_HEADER, error);
        for (int p = 0; p < outputs[0].output->partitions && r == 0; p++) {
                uint64_t from = w->offset;
                for (int i = 0; i < n && r == 0; i++)
                        r = object_encoder_put_partition(w, (uint32_t)i, outputs[i].output, p, error);
                buf_put_varint(index, w->offset - from);
        }
        buf_put_le64(index, XXH3_64bits(index->data, index->len));
        if (r == 0 && index->len > OBJECT_MAX_INDEX)
                r = error_set(error, -E2BIG, "its index has %zu bytes: use fewer partitions", index->len);
        if (r == 0)
                r = object_encoder_put(w, index->data, index->len, error);
        if (r == 0)
                r = object_encoder_flush(w, error);
        if (r)
                return r;
        put_le32(trailer, (uint32_t)index->len);
        put_le32(trailer + 4, w->key ? FLAG_ENCRYPTED : 0);
        memcpy(trailer + 8, w->iv, FILE_IV);
        put_le32(trailer + TRAILER_CHECK, (uint32_t)XXH3_64bits(trailer, TRAILER_CHECK));
        memcpy(trailer + 32, END_MAGIC, 8);
        r = w->file.fs->write(&w->file, trailer, sizeof(trailer), error);
        w->offset += sizeof(trailer);
        return r;
}

static int object_compare_outputs(const void *a, const void *b)
{
        const struct remote_output *x = a, *y = b;
        if (x->map_partition != y->map_partition)
                return x->map_partition < y->map_partition ? -1 : 1;
        return x->task_id < y->task_id ? -1 : x->task_id > y->task_id;
}

int object_write(const struct file_system *fs, const char *path, const struct file_key *key,
                 const struct spill_space *space, struct remote_output *outputs, int n, uint64_t *bytes,
                 struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf index = BUF_INIT;
        struct object_encoder w = {
                .file = OPEN_FILE_INIT, .key = key, .if_cheaper = space->shuffle_if_cheaper, .raw_run = RAW_PAGES};
        int r = key ? file_iv(key, w.iv, error) : 0;
        if (r)
                return r;
        qsort(outputs, (size_t)n, sizeof(*outputs), object_compare_outputs);
        buf_put_le32(&index, (uint32_t)outputs[0].output->partitions);
        buf_put_le32(&index, (uint32_t)n);
        for (int i = 0; i < n; i++) {
                buf_put_le32(&index, (uint32_t)outputs[i].map_partition);
                buf_put_le64(&index, (uint64_t)outputs[i].task_id);
        }
        w.block = mem_try(OBJECT_BLOCK + PAGE_BLOCK);
        if (!w.block)
                return error_set(error, -ENOMEM, "no memory to write map outputs");
        codec_init(&w.codec, space->shuffle_codec, space->level);
        r = (fs->create_bulk ? fs->create_bulk : fs->create)(fs, path, &w.file, error);
        if (r == 0)
                r = object_encoder_put_all(&w, outputs, n, &index, error);
        if (r == 0)
                r = fs->close(&w.file, error);
        else if (w.file.fs)
                fs->discard(&w.file);
        *bytes = w.offset;
        codec_deinit(&w.codec);
        buf_deinit(&w.pending);
        free(w.block);
        return r;
}

/* ------------------------------------------------------------------------------------------------------ reading */

int object_trailer_read(const unsigned char data[static OBJECT_TRAILER], uint64_t size, struct object_trailer *trailer,
                        struct fst_error *error)
{
        uint64_t n = get_le32(data);
        if (memcmp(data + 32, END_MAGIC, 8) != 0 ||
            get_le32(data + TRAILER_CHECK) != (uint32_t)XXH3_64bits(data, TRAILER_CHECK) || n > OBJECT_MAX_INDEX ||
            n + OBJECT_HEADER + OBJECT_TRAILER > size)
                return error_set(error, -EBADMSG, "it is not a complete object of map outputs");
        *trailer = (struct object_trailer){.index_size = (size_t)n, .encrypted = get_le32(data + 4) & FLAG_ENCRYPTED};
        memcpy(trailer->iv, data + 8, FILE_IV);
        return 0;
}

/* Reads the ranges of the partitions. Returns false if they are not exactly the bytes between header and index. */
static bool object_index_read_ranges(struct object_index *x, const unsigned char *at, const unsigned char *end,
                                     uint64_t blocks_end)
{
        x->at[0] = OBJECT_HEADER;
        for (uint32_t p = 0; p < x->partitions; p++) {
                uint64_t length = 0;
                int shift = 0;
                do {
                        if (at == end || shift > 56)
                                return false;
                        length |= (uint64_t)(*at & 0x7f) << shift;
                        shift += 7;
                } while (*at++ & 0x80);
                if (length > blocks_end - x->at[p])
                        return false;
                x->at[p + 1] = x->at[p] + length;
        }
        return at == end && x->at[x->partitions] == blocks_end;
}

static bool object_index_read_outputs(struct object_index *x, const unsigned char *at)
{
        for (uint32_t i = 0; i < x->n_outputs; i++, at += INDEX_OUTPUT) {
                struct object_output *o = &x->outputs[i];
                uint64_t task = get_le32(at + 4) | (uint64_t)get_le32(at + 8) << 32;
                *o = (struct object_output){.map_partition = (int32_t)get_le32(at), .task_id = (int64_t)task};
                bool ascending = i == 0 || o[-1].map_partition < o->map_partition ||
                                 (o[-1].map_partition == o->map_partition && o[-1].task_id < o->task_id);
                if (o->map_partition < 0 || o->task_id < 0 || !ascending)
                        return false;
        }
        return true;
}

int object_index_read(const struct object_trailer *trailer, uint64_t size, const unsigned char *data,
                      struct object_index **index, struct fst_error *error)
{
        size_t len = trailer->index_size;
        uint32_t partitions = len >= 16 ? get_le32(data) : 0, n = len >= 16 ? get_le32(data + 4) : 0;
        size_t outputs = (size_t)n * INDEX_OUTPUT;
        uint64_t check = len >= 16 ? get_le32(data + len - 8) | (uint64_t)get_le32(data + len - 4) << 32 : 0;
        if (len < 16 || size < OBJECT_HEADER + OBJECT_TRAILER + (uint64_t)len || XXH3_64bits(data, len - 8) != check)
                return error_set(error, -EBADMSG, "its index is damaged");
        if (partitions == 0 || partitions > OBJECT_MAX_PARTITIONS || n == 0 || n > OBJECT_MAX_OUTPUTS ||
            outputs > len - 16 || partitions > len - 16 - outputs)
                return error_set(error, -EBADMSG, "its index is invalid: %u outputs of %u partitions in %zu bytes", n,
                                 partitions, len);
        struct object_index *x = new0(struct object_index);
        *x = (struct object_index){.size = size, .partitions = partitions, .n_outputs = n};
        x->encrypted = trailer->encrypted;
        memcpy(x->iv, trailer->iv, FILE_IV);
        x->at = mem_try(((size_t)partitions + 1) * sizeof(*x->at));
        x->outputs = mem_try(n * sizeof(*x->outputs));
        int r = 0;
        if (!x->at || !x->outputs)
                r = error_set(error, -ENOMEM, "no memory for its index of %u partitions", partitions);
        else if (!object_index_read_outputs(x, data + 8) ||
                 !object_index_read_ranges(x, data + 8 + outputs, data + len - 8, size - OBJECT_TRAILER - len))
                r = error_set(error, -EBADMSG, "its index is invalid");
        if (r)
                object_index_free(x);
        else
                *index = x;
        return r;
}

void object_index_free(struct object_index *index)
{
        if (!index)
                return;
        free(index->at);
        free(index->outputs);
        free(index);
}

size_t object_index_memory(const struct object_index *x)
{
        return sizeof(*x) + ((size_t)x->partitions + 1) * sizeof(*x->at) + x->n_outputs * sizeof(*x->outputs);
}

int object_index_find(const struct object_index *x, int32_t map_partition, int64_t task_id)
{
        uint32_t low = 0, high = x->n_outputs;
        while (low < high) {
                uint32_t middle = low + (high - low) / 2;
                const struct object_output *o = &x->outputs[middle];
                if (o->map_partition == map_partition && o->task_id == task_id)
                        return (int)middle;
                if (o->map_partition < map_partition || (o->map_partition == map_partition && o->task_id < task_id))
                        low = middle + 1;
                else
                        high = middle;
        }
        return -1;
}

int object_block_parse(const unsigned char *block, const struct object_index *index, fst_type type, uint32_t *output,
                       struct page_frame *frame, struct fst_error *error)
{
        uint32_t ordinal = get_le32(block);
        if (ordinal >= index->n_outputs || get_le32(block + 4) != object_block_check(block, block + 8))
                return error_set(error, -EBADMSG, "a block is damaged");
        int r = page_frame_parse(block + 8, type, frame, error);
        if (r == 0)
                *output = ordinal;
        return r;
}
