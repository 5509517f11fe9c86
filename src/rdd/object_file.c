/*
 * See object_file.h. The writer fills a page, encodes it into `out` and records its offset. It writes `out` to the file
 * when it is large enough.
 *
 * Invariants: while a writer is open, written + out.len is the offset of the next frame, and `index` has the offset of
 * each earlier frame. A reader's index is ascending, within the file, and ends with the offset of the index itself.
 */
#include "rdd/object_file.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/vec.h"
#include "io/fs/file_systems.h"
#include "net/byte_order.h"
#include "rdd/pipeline/op.h"
#include "store/page_frame.h"
#include "structs/struct_type.h"

#include <inttypes.h>
#include <xxhash.h>

#define HEADER_MAGIC "FSOB"
#define FOOTER_MAGIC "FSOE"
#define FLUSH ((size_t)1 << 20)
#define MAX_STRUCTS 32768 /* bytes of the descriptions of structs */

/* ------------------------------------------------------------------------------------------------ encoding numbers */

/* What the header of a file says. */
struct object_head {
        fst_type type;
        char *structs; /* descriptions of the structs of keys and values, each ended by a newline; owned, or NULL */
        uint64_t size; /* of header and descriptions, in bytes */
};

static void object_head_deinit(struct object_head *head)
{
        free(head->structs);
        *head = (struct object_head){0};
}

static void object_file_make_header(fst_type type, size_t structs, unsigned char h[static OBJECT_FILE_HEADER])
{
        memset(h, 0, OBJECT_FILE_HEADER);
        memcpy(h, HEADER_MAGIC, 4);
        put_le32(h + 4, OBJECT_FILE_VERSION);
        put_le32(h + 20, (uint32_t)structs);
        put_le32(h + 8, (uint32_t)type.key | (uint32_t)type.value << 8);
        put_le32(h + 12, type.key_size);
        put_le32(h + 16, type.value_size);
        put_le64(h + 24, XXH3_64bits(h, 24));
}

static int object_file_damaged(const char *path, const char *what, struct fst_error *error)
{
        return error_set(error, -EBADMSG, "%s is damaged: %s", path, what);
}

/* Reads exactly @size bytes at @offset. */
static int object_file_read_exact(struct open_file *file, void *data, size_t size, uint64_t offset,
                                  struct fst_error *error)
{
        for (size_t got = 0; got < size;) {
                ssize_t n = file->fs->read_at(file, (char *)data + got, size - got, offset + got, error);
                if (n < 0)
                        return (int)n;
                if (n == 0)
                        return object_file_damaged(file->path, "it is truncated", error);
                got += (size_t)n;
        }
        return 0;
}

static int object_file_read_header(const char *path, const unsigned char h[static OBJECT_FILE_HEADER],
                                   struct object_head *head, struct fst_error *error)
{
        uint32_t version = get_le32(h + 4), kinds = get_le32(h + 8), structs = get_le32(h + 20);
        if (memcmp(h, HEADER_MAGIC, 4) != 0)
                return error_set(error, -EBADMSG, "%s is not an object file: its header is not one", path);
        if (version != OBJECT_FILE_VERSION)
                return error_set(error, -ENOTSUP,
                                 "%s is an object file of version %" PRIu32
                                 ", but this firesteel reads version 1: a newer "
                                 "firesteel wrote it",
                                 path, version);
        fst_type found = {.key = (uint8_t)kinds,
                          .value = (uint8_t)(kinds >> 8),
                          .key_size = get_le32(h + 12),
                          .value_size = get_le32(h + 16)};
        if (get_le64(h + 24) != XXH3_64bits(h, 24) || kinds > UINT16_MAX || !page_type_valid(found) ||
            structs > MAX_STRUCTS)
                return object_file_damaged(path, "its header does not match its checksum", error);
        head->type = found;
        head->size = OBJECT_FILE_HEADER + (structs ? structs + 8 : 0);
        return 0;
}

/* Reads the descriptions that follow the header. */
static int object_file_read_structs(struct open_file *file, struct object_head *head, struct fst_error *error)
{
        size_t size = (size_t)head->size - OBJECT_FILE_HEADER;
        if (size == 0)
                return 0;
        if (file->size < head->size)
                return object_file_damaged(file->path, "it is truncated", error);
        char *text = mem_alloc(size + 1);
        int r = object_file_read_exact(file, text, size, OBJECT_FILE_HEADER, error);
        if (r == 0 && get_le64((unsigned char *)text + size - 8) != XXH3_64bits(text, size - 8))
                r = object_file_damaged(file->path, "its description of structs does not match its checksum", error);
        text[size - 8] = 0;
        if (r)
                free(text);
        else
                head->structs = text;
        return r;
}

static int object_file_open_path(const char *path, struct open_file *file, struct object_head *head,
                                 struct fst_error *error)
{
        const struct file_system *fs;
        unsigned char header[OBJECT_FILE_HEADER];
        *head = (struct object_head){0};
        int r = file_system_of(path, &fs, error);
        if (r == 0)
                r = fs->open(fs, path, file, error);
        if (r < 0)
                return r;
        if (file->size < OBJECT_FILE_HEADER)
                r = error_set(error, -EBADMSG, "%s is not an object file: it has %" PRIu64 " bytes", path, file->size);
        if (r == 0)
                r = object_file_read_exact(file, header, sizeof(header), 0, error);
        if (r == 0)
                r = object_file_read_header(path, header, head, error);
        if (r == 0)
                r = object_file_read_structs(file, head, error);
        if (r < 0)
                fs->close(file, NULL);
        return r;
}

/* The descriptions of the structs of @type, for the file. Empty without structs. */
static void object_file_describe(fst_type type, struct buf *text)
{
        const struct struct_type *key = struct_type_of_column(type.key, type.key_size);
        const struct struct_type *value = struct_type_of_column(type.value, type.value_size);
        if (key || value)
                buf_printf(text, "%s\n%s\n", key ? key->text : "", value ? value->text : "");
}

/* Writes a column for messages. @structs: the lines of object_file_describe from that of the column on. */
static const char *object_file_column_text(uint8_t kind, uint32_t size, const char *structs, struct buf *text)
{
        char name[64];
        int len = (int)strcspn(structs, "\n");
        if (kind == FST_KIND_BYTES && size && len)
                buf_printf(text, "STRUCT %.*s", len, structs);
        else
                buf_puts(text, fst_type_name((fst_type){.key = kind, .key_size = size}, name));
        return structs[len] ? structs + len + 1 : structs + len;
}

static void object_file_type_text(fst_type type, const char *structs, struct buf *text)
{
        buf_puts(text, type.value ? "PAIR(" : "");
        structs = object_file_column_text(type.key, type.key_size, structs, text);
        if (!type.value)
                return;
        buf_puts(text, ", ");
        object_file_column_text(type.value, type.value_size, structs, text);
        buf_puts(text, ")");
}

static int object_file_check_head(const char *path, const struct object_head *head, fst_type type,
                                  struct fst_error *error)
{
        if (fst_type_equal(head->type, type))
                return 0;
        _cleanup_(buf_deinit) struct buf found = BUF_INIT, wanted = BUF_INIT, structs = BUF_INIT;
        object_file_type_text(head->type, head->structs ? head->structs : "", &found);
        object_file_describe(type, &structs);
        object_file_type_text(type, buf_text(&structs), &wanted);
        return error_set(error, -EINVAL, "%s has rows of %s, not of %s", path, buf_text(&found), buf_text(&wanted));
}

int object_file_check(const char *path, fst_type type, struct fst_error *error)
{
        struct open_file file = OPEN_FILE_INIT;
        struct object_head head;
        int r = object_file_open_path(path, &file, &head, error);
        if (r < 0)
                return r;
        r = object_file_check_head(path, &head, type, error);
        object_head_deinit(&head);
        int closed = file.fs->close(&file, r ? NULL : error);
        return r ? r : closed;
}

/* ------------------------------------------------------------------------------------------------------ writing */

struct object_writer {
        struct open_file file;
        char *path;
        fst_type type;
        struct page *page; /* being filled, or NULL */
        struct codec codec;
        struct buf out;
        uint64_t written, rows;
        VEC(uint64_t) index;
};

struct object_writer *object_writer_new(void)
{
        struct object_writer *w = new0(struct object_writer);
        w->file = OPEN_FILE_INIT;
        codec_init(&w->codec, CODEC_LZ4, 0);
        return w;
}

void object_writer_abandon(struct object_writer *w)
{
        if (w->file.fs)
                w->file.fs->discard(&w->file);
        page_free(NULL, steal(w->page));
        buf_reset(&w->out);
        w->index.len = 0;
}

void object_writer_free(struct object_writer *w)
{
        if (!w)
                return;
        object_writer_abandon(w);
        codec_deinit(&w->codec);
        buf_deinit(&w->out);
        vec_deinit(&w->index);
        free(w->path);
        free(w);
}

int object_writer_open(struct object_writer *w, const char *path, fst_type type, struct fst_error *error)
{
        const struct file_system *fs;
        unsigned char header[OBJECT_FILE_HEADER];
        object_writer_abandon(w);
        int r = file_system_of(path, &fs, error);
        if (r < 0)
                return r;
        char *copy = mem_strdup(path);
        r = fs->create(fs, copy, &w->file, error);
        if (r < 0) {
                free(copy);
                return r;
        }
        free(w->path);
        w->path = copy;
        w->type = type;
        w->written = w->rows = 0;
        _cleanup_(buf_deinit) struct buf structs = BUF_INIT;
        object_file_describe(type, &structs);
        object_file_make_header(type, structs.len, header);
        buf_append(&w->out, header, sizeof(header));
        if (structs.len) {
                put_le64(header, XXH3_64bits(structs.data, structs.len));
                buf_append(&w->out, structs.data, structs.len);
                buf_append(&w->out, header, 8);
        }
        return 0;
}

static int object_writer_flush(struct object_writer *w, struct fst_error *error)
{
        size_t n = w->out.len;
        w->written += n;
        int r = n > 0 ? w->file.fs->write(&w->file, w->out.data, n, error) : 0;
        buf_reset(&w->out);
        return r;
}

static int object_writer_put_page(struct object_writer *w, struct fst_error *error)
{
        struct page *page = steal(w->page);
        if (!page)
                return 0;
        size_t most = page_frame_bound(page);
        if (!buf_try_reserve(&w->out, most)) {
                page_free(NULL, page);
                return error_set(error, -ENOMEM, "%s: no memory to write a row of %zu bytes", w->path, most);
        }
        vec_push(&w->index, w->written + w->out.len);
        w->out.len += page_frame_encode(page, &w->codec, (unsigned char *)w->out.data + w->out.len);
        page_free(NULL, page);
        return w->out.len >= FLUSH ? object_writer_flush(w, error) : 0;
}

int object_writer_write(struct object_writer *w, const fst_batch *batch, struct fst_error *error)
{
        for (uint32_t row = 0; row < batch->rows;) {
                uint32_t n = w->page ? page_append(w->page, batch, row) : 0;
                row += n;
                if (row == batch->rows)
                        break;
                int r = object_writer_put_page(w, error);
                if (r < 0)
                        return r;
                size_t record = page_record_size(batch, row);
                if (page_new(NULL, w->type, record, &w->page))
                        return error_set(error, -ENOMEM, "%s: no memory for a row of %zu bytes", w->path, record);
        }
        w->rows += batch->rows;
        return 0;
}

static void object_writer_put_end(struct object_writer *w)
{
        unsigned char footer[OBJECT_FILE_FOOTER], number[8];
        size_t from = w->out.len;
        uint64_t at = w->written + from;
        for (size_t i = 0; i < w->index.len; i++) {
                put_le64(number, w->index.data[i]);
                buf_append(&w->out, number, sizeof(number));
        }
        put_le64(footer, w->rows);
        put_le64(footer + 8, w->index.len);
        put_le64(footer + 16, at);
        buf_append(&w->out, footer, 24);
        put_le64(number, XXH3_64bits(w->out.data + from, w->out.len - from));
        buf_append(&w->out, number, sizeof(number));
        buf_append(&w->out, FOOTER_MAGIC, 4);
        put_le32(number, OBJECT_FILE_VERSION);
        buf_append(&w->out, number, 4);
}

int object_writer_close(struct object_writer *w, struct fst_error *error)
{
        if (!w->file.fs)
                return 0;
        int r = object_writer_put_page(w, error);
        if (r == 0) {
                object_writer_put_end(w);
                r = object_writer_flush(w, error);
        }
        if (r == 0)
                r = w->file.fs->close(&w->file, error);
        object_writer_abandon(w);
        return r;
}

uint64_t object_writer_bytes(const struct object_writer *w)
{
        return w->written + w->out.len;
}

uint64_t object_writer_rows(const struct object_writer *w)
{
        return w->rows;
}

/* ------------------------------------------------------------------------------------------------------ reading */

struct object_reader {
        struct open_file file;
        struct object_head head;
        fst_type type;
        struct page_cursor cursor;
        bool cursor_ready;
        struct codec codecs[2]; /* lz4, zstd */
        uint64_t *index;        /* offsets of the frames, then the offset of the index */
        uint64_t frame, end;    /* entries of the index: the next frame, and the end of the split */
        struct page *page;
        unsigned char *buffer;
        size_t room;
        uint64_t bytes;
};

struct object_reader *object_reader_new(void)
{
        struct object_reader *r = new0(struct object_reader);
        r->file = OPEN_FILE_INIT;
        codec_init(&r->codecs[0], CODEC_LZ4, 0);
        codec_init(&r->codecs[1], CODEC_ZSTD, 0);
        return r;
}

void object_reader_close(struct object_reader *r)
{
        if (r->file.fs)
                r->file.fs->close(&r->file, NULL);
        if (r->cursor_ready)
                page_cursor_deinit(&r->cursor);
        r->cursor_ready = false;
        page_free(NULL, steal(r->page));
        free(steal(r->index));
        object_head_deinit(&r->head);
        r->frame = r->end = 0;
}

void object_reader_free(struct object_reader *r)
{
        if (!r)
                return;
        object_reader_close(r);
        codec_deinit(&r->codecs[0]);
        codec_deinit(&r->codecs[1]);
        free(r->buffer);
        free(r);
}

/* Reads and checks the index, which has *@frames frames. */
static int object_reader_read_index(struct object_reader *r, uint64_t *frames, struct fst_error *error)
{
        unsigned char footer[OBJECT_FILE_FOOTER];
        const char *path = r->file.path;
        uint64_t size = r->file.size, room = size - r->head.size - OBJECT_FILE_FOOTER;
        if (size < r->head.size + OBJECT_FILE_FOOTER)
                return object_file_damaged(path, "it is truncated", error);
        int e = object_file_read_exact(&r->file, footer, sizeof(footer), size - sizeof(footer), error);
        if (e < 0)
                return e;
        uint64_t n = get_le64(footer + 8), at = get_le64(footer + 16);
        if (memcmp(footer + 32, FOOTER_MAGIC, 4) != 0)
                return object_file_damaged(path, "it is truncated", error);
        if (get_le32(footer + 36) != OBJECT_FILE_VERSION || n > room / (8 + PAGE_FRAME_HEADER) ||
            at != size - sizeof(footer) - n * 8)
                return object_file_damaged(path, "its footer does not match its checksum", error);
        unsigned char *bytes = malloc((size_t)n * 8 + 24);
        r->index = malloc(((size_t)n + 1) * sizeof(*r->index));
        if (!bytes || !r->index) {
                free(bytes);
                return error_set(error, -ENOMEM, "%s: no memory for its index of %" PRIu64 " pages", path, n);
        }
        e = object_file_read_exact(&r->file, bytes, (size_t)n * 8, at, error);
        memcpy(bytes + n * 8, footer, 24);
        bool good = e == 0 && XXH3_64bits(bytes, (size_t)n * 8 + 24) == get_le64(footer + 24);
        uint64_t least = r->head.size;
        for (uint64_t i = 0; good && i <= n; i++) {
                r->index[i] = i < n ? get_le64(bytes + i * 8) : at;
                good = r->index[i] >= least && (i > 0 || r->index[i] == least) && r->index[i] <= at;
                least = r->index[i] + PAGE_FRAME_HEADER;
        }
        free(bytes);
        *frames = n;
        return e < 0 ? e : good ? 0 : object_file_damaged(path, "its index does not match its checksum", error);
}

/* The first frame that begins at or after @offset. */
static uint64_t object_reader_frame_at(const struct object_reader *r, uint64_t frames, uint64_t offset)
{
        uint64_t low = 0, high = frames;
        while (low < high) {
                uint64_t middle = low + (high - low) / 2;
                if (r->index[middle] < offset)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

static int object_reader_begin(struct object_reader *r, const struct input_split *split, fst_type type,
                               struct fst_error *error)
{
        uint64_t frames = 0;
        int e = object_file_check_head(split->path, &r->head, type, error);
        if (e == 0)
                e = object_reader_read_index(r, &frames, error);
        if (e < 0)
                return e;
        r->frame = object_reader_frame_at(r, frames, split->start);
        r->end = object_reader_frame_at(r, frames, split->start + split->length);
        r->file.wanted = r->index[r->end];
        return 0;
}

int object_reader_open(struct object_reader *r, const struct input_split *split, fst_type type, struct fst_error *error)
{
        object_reader_close(r);
        int e = object_file_open_path(split->path, &r->file, &r->head, error);
        if (e < 0)
                return e;
        e = object_reader_begin(r, split, type, error);
        if (e < 0) {
                object_reader_close(r);
                return e;
        }
        r->type = type;
        r->bytes = 0;
        page_cursor_init(&r->cursor, type);
        r->cursor_ready = true;
        return 0;
}

static int object_reader_read_page(struct object_reader *r, struct fst_error *error)
{
        uint64_t at = r->index[r->frame], size = r->index[r->frame + 1] - at;
        const char *path = r->file.path;
        struct page_frame frame;
        if (size > r->room) {
                unsigned char *grown = size < SIZE_MAX ? mem_try_grow(r->buffer, (size_t)size) : NULL;
                if (!grown)
                        return error_set(error, -ENOMEM, "%s: no memory for a page of %" PRIu64 " bytes", path, size);
                r->buffer = grown;
                r->room = (size_t)size;
        }
        int e = object_file_read_exact(&r->file, r->buffer, (size_t)size, at, error);
        if (e < 0)
                return e;
        e = page_frame_parse(r->buffer, r->type, &frame, error);
        if (e == 0 && frame.payload != size - PAGE_FRAME_HEADER)
                e = error_set(error, -EBADMSG, "its size does not match the index");
        if (e == 0)
                e = page_frame_decode(&frame, r->type, r->buffer + PAGE_FRAME_HEADER,
                                      &r->codecs[frame.codec == CODEC_ZSTD], NULL, &r->page, error);
        if (e > 0)
                e = error_set(error, -ENOMEM, "no memory");
        if (e < 0)
                return error_wrap(error, e, "%s: the page at byte %" PRIu64, path, at);
        r->frame++;
        r->bytes += size;
        page_cursor_start(&r->cursor, r->page);
        return 0;
}

int object_reader_next(struct object_reader *r, fst_batch *batch, const void **stable, size_t *stable_size,
                       struct fst_error *error)
{
        batch->rows = 0;
        while (!r->page || !page_cursor_next(&r->cursor, batch)) {
                page_free(NULL, steal(r->page));
                batch->rows = 0;
                if (r->frame == r->end)
                        return 0;
                int e = object_reader_read_page(r, error);
                if (e < 0)
                        return e;
        }
        *stable = r->page->data;
        *stable_size = r->page->used;
        return 0;
}

uint64_t object_reader_bytes(const struct object_reader *r)
{
        return r->bytes;
}
