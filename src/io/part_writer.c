/*
 * Part files; see part_writer.h.
 *
 * Rows are written into one large buffer. When a row might not fit, the buffer is written out, compressed if the file
 * is to be. Large data is written directly from the memory of the rows: long contiguous runs of records, and text.
 *
 * Lines of a text file lie in the reader's buffer as they will lie in the part file, each followed by "\n". Such a
 * piece, or a long row, is written with its neighbours and the buffer before them by one writev. Smaller ones are
 * copied, because each call of the kernel costs as much as copying some 50 KB.
 *
 * Invariant: used <= BUFFER_SIZE; the buffer holds a row completely or not at all, except while a huge one is written.
 */
#include "io/part_writer.h"

#include "base/error.h"
#include "base/mem.h"
#include "io/codec/codec.h"
#include "io/fs/file_systems.h"
#include "io/row_text.h"
#include "structs/struct_type.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#define BUFFER_SIZE ((size_t)1 << 20)
#define MIN_RUN ((size_t)64 << 10)     /* shortest run of records that is written directly */
#define MIN_PIECE ((size_t)16 << 10)   /* shortest piece of text that is written directly */
#define MIN_DIRECT ((size_t)128 << 10) /* of all such pieces of a write */
#define MAX_PARTS 64

static_assert(BUFFER_SIZE >= 2 * FST_FIXED_MAX, "a record fits into the buffer");

struct part_writer {
        char *buffer;
        size_t used;
        struct open_file file;
        char *path;
        struct encoder *encoder; /* created on first use */
        bool packed;
        enum part_form form;
        uint64_t bytes, rows;
        int failed; /* status of the first failed write */
};

struct part_writer *part_writer_new(void)
{
        struct part_writer *w = new0(struct part_writer);
        w->buffer = mem_alloc(BUFFER_SIZE);
        w->file = OPEN_FILE_INIT;
        return w;
}

void part_writer_free(struct part_writer *w)
{
        if (!w)
                return;
        int saved = errno;
        part_writer_abandon(w);
        encoder_free(w->encoder);
        free(w->path);
        free(w->buffer);
        free(w);
        errno = saved;
}

void part_writer_abandon(struct part_writer *w)
{
        if (w->file.fs)
                w->file.fs->discard(&w->file);
        w->used = 0;
}

int part_writer_open(struct part_writer *w, const char *path, enum part_form form, struct fst_error *error)
{
        const struct file_system *fs;

        part_writer_abandon(w);
        int r = file_system_of(path, &fs, error);
        if (r < 0)
                return r;
        char *copy = mem_strdup(path);
        r = fs->create(fs, copy, &w->file, error);
        enum codec_kind codec = codec_of_file(copy);
        if (r == 0 && codec != CODEC_NONE) {
                w->encoder = w->encoder ? w->encoder : encoder_new();
                r = encoder_start(w->encoder, codec, &w->file, error);
        }
        if (r < 0) {
                part_writer_abandon(w);
                free(copy);
                return r;
        }
        w->packed = codec != CODEC_NONE;
        w->form = form;
        free(w->path);
        w->path = copy;
        w->bytes = w->rows = 0;
        w->failed = 0;
        return 0;
}

static int part_writer_put_bytes(struct part_writer *w, const char *data, size_t len, struct fst_error *error)
{
        w->bytes += len;
        if (w->packed)
                return encoder_write(w->encoder, data, len, error);
        return len > 0 ? w->file.fs->write(&w->file, data, len, error) : 0;
}

static int part_writer_flush(struct part_writer *w, struct fst_error *error)
{
        size_t used = w->used;
        w->used = 0;
        return part_writer_put_bytes(w, w->buffer, used, error);
}

static int part_writer_put_large(struct part_writer *w, const char *data, size_t len, struct fst_error *error)
{
        int r = w->used > 0 ? part_writer_flush(w, error) : 0;
        return r < 0 ? r : part_writer_put_bytes(w, data, len, error);
}

/* Writes a value that does not fit into the buffer: only BYTES, structs and FIXED can be that large. */
static int part_writer_put_value(struct part_writer *w, uint8_t kind, uint32_t size, const fst_column *column,
                                 uint32_t row, struct fst_error *error)
{
        size_t need = value_text_size(kind, size, column, row);
        bool text = kind == FST_KIND_BYTES && !struct_type_of_column(kind, size);
        if (text && need > BUFFER_SIZE - w->used)
                return part_writer_put_large(w, column->bytes[row].data, need, error);
        if (need > BUFFER_SIZE - w->used) {
                int r = part_writer_flush(w, error);
                if (r < 0)
                        return r;
        }
        if (need <= BUFFER_SIZE) {
                w->used = (size_t)(value_text_print(w->buffer + w->used, kind, size, column, row) - w->buffer);
                return 0;
        }
        _cleanup_free_ char *printed = mem_try(need);
        if (!printed)
                return error_set(error, -ENOMEM, "%s: no memory to print a row of %zu bytes", w->path, need);
        char *end = value_text_print(printed, kind, size, column, row);
        return part_writer_put_large(w, printed, (size_t)(end - printed), error);
}

static int part_writer_put_char(struct part_writer *w, char c, struct fst_error *error)
{
        if (w->used == BUFFER_SIZE) {
                int r = part_writer_flush(w, error);
                if (r < 0)
                        return r;
        }
        w->buffer[w->used++] = c;
        return 0;
}

/* Writes one row of any size, in pieces. */
static int part_writer_put_row(struct part_writer *w, const fst_batch *batch, uint32_t row, struct fst_error *error)
{
        const fst_type *t = &batch->type;
        bool pair = t->value != FST_KIND_NONE;
        int r = pair ? part_writer_put_char(w, '(', error) : 0;
        if (r == 0)
                r = part_writer_put_value(w, t->key, t->key_size, &batch->key, row, error);
        if (r == 0 && pair)
                r = part_writer_put_char(w, ',', error);
        if (r == 0 && pair)
                r = part_writer_put_value(w, t->value, t->value_size, &batch->value, row, error);
        if (r == 0 && pair)
                r = part_writer_put_char(w, ')', error);
        return r < 0 ? r : part_writer_put_char(w, '\n', error);
}

/* Writes the buffer and @n further parts, of which the first is free for the buffer. */
static int part_writer_put_parts(struct part_writer *w, struct iovec *parts, int n, struct fst_error *error)
{
        parts[0] = (struct iovec){w->buffer, w->used};
        w->used = 0;
        if (!w->packed && w->file.fs->write_parts) {
                for (int i = 0; i < n; i++)
                        w->bytes += parts[i].iov_len;
                return w->file.fs->write_parts(&w->file, parts, n, error);
        }
        int r = 0;
        for (int i = 0; r == 0 && i < n; i++)
                r = part_writer_put_bytes(w, parts[i].iov_base, parts[i].iov_len, error);
        return r;
}

/* Returns the end of the rows from @first on that lie one after another in memory, with a "\n" between them. */
static uint32_t part_writer_piece_end(const fst_bytes *lines, uint32_t rows, uint32_t first)
{
        uint32_t row = first + 1;
        for (; row < rows; row++) {
                uintptr_t end = (uintptr_t)lines[row - 1].data + lines[row - 1].len;
                if ((uintptr_t)lines[row].data != end + 1 || lines[row].data[-1] != '\n')
                        break;
        }
        return row;
}

static size_t part_writer_piece_size(const fst_bytes *lines, uint32_t first, uint32_t end)
{
        return (size_t)(lines[end - 1].data + lines[end - 1].len - lines[first].data);
}

/*
 * Writes rows of text from *@row on in pieces: directly if they are large, otherwise with one copy for each piece.
 * Stops before a short row without neighbours, whose end it would have to look for again and again.
 */
static int part_writer_put_pieces(struct part_writer *w, const fst_bytes *lines, uint32_t rows, uint32_t *row,
                                  struct fst_error *error)
{
        while (*row < rows) {
                struct iovec parts[MAX_PARTS];
                int n = 1;
                uint32_t next = *row, end = part_writer_piece_end(lines, rows, next), first_end = end;
                size_t size = part_writer_piece_size(lines, next, end), first_size = size, direct = 0;
                for (; next < rows && n + 2 <= MAX_PARTS; next = end) {
                        if (next != *row) {
                                end = part_writer_piece_end(lines, rows, next);
                                size = part_writer_piece_size(lines, next, end);
                        }
                        if (size < MIN_PIECE)
                                break;
                        parts[n++] = (struct iovec){(void *)lines[next].data, size};
                        parts[n++] = (struct iovec){(void *)"\n", 1};
                        direct += size + 1;
                }
                if (direct >= MIN_DIRECT) {
                        *row = next;
                        int r = part_writer_put_parts(w, parts, n, error);
                        if (r < 0)
                                return r;
                        continue;
                }
                if (first_end == *row + 1 && first_size < MIN_PIECE)
                        return 0;
                if (first_size >= BUFFER_SIZE - w->used) {
                        int r = part_writer_flush(w, error);
                        if (r < 0)
                                return r;
                }
                char *p = mempcpy(w->buffer + w->used, lines[*row].data, first_size); /* less than MIN_DIRECT */
                *p++ = '\n';
                w->used = (size_t)(p - w->buffer);
                *row = first_end;
        }
        return 0;
}

static bool part_writer_is_plain(fst_type type)
{
        return type.value == FST_KIND_NONE && type.key == FST_KIND_BYTES &&
               !struct_type_of_column(type.key, type.key_size);
}

/* Adds rows from @first on while they fit into the buffer. Returns the first row that did not fit. */
static uint32_t part_writer_fill(struct part_writer *w, const fst_batch *batch, uint32_t first)
{
        fst_type t = batch->type;
        char *p = w->buffer + w->used, *end = w->buffer + BUFFER_SIZE;
        uint32_t row = first;

        if (part_writer_is_plain(t)) {
                const fst_bytes *bytes = batch->key.bytes;
                for (; row < batch->rows && bytes[row].len < (size_t)(end - p); row++) {
                        if (bytes[row].len > 0)
                                memcpy(p, bytes[row].data, bytes[row].len);
                        p += bytes[row].len;
                        *p++ = '\n';
                }
        } else {
                for (; row < batch->rows; row++) {
                        size_t size = row_text_size(batch, row);
                        if (size >= (size_t)(end - p))
                                break;
                        p = row_text_print(p, batch, row);
                        *p++ = '\n';
                }
        }
        w->used = (size_t)(p - w->buffer);
        return row;
}

/* fill for records. */
static uint32_t part_writer_fill_records(struct part_writer *w, const fst_batch *batch, uint32_t first)
{
        size_t key = batch->type.key_size, value = batch->type.value_size;
        size_t n = MIN((BUFFER_SIZE - w->used) / (key + value), (size_t)(batch->rows - first));
        char *p = w->buffer + w->used;
        w->used += n * (key + value);
        if (value == 0) {
                memcpy(p, batch->key.fixed + first * key, n * key);
                return first + (uint32_t)n;
        }
        for (size_t row = first; row < first + n; row++) {
                p = mempcpy(p, batch->key.fixed + row * key, key);
                p = mempcpy(p, batch->value.fixed + row * value, value);
        }
        return first + (uint32_t)n;
}

static int part_writer_write_records(struct part_writer *w, const fst_batch *batch, struct fst_error *error)
{
        size_t run = (size_t)batch->rows * batch->type.key_size;
        if (batch->type.value == FST_KIND_NONE && run >= MIN_RUN)
                return part_writer_put_large(w, batch->key.fixed, run, error);
        for (uint32_t row = 0;;) {
                row = part_writer_fill_records(w, batch, row);
                if (row == batch->rows)
                        return 0;
                int r = part_writer_flush(w, error);
                if (r < 0)
                        return r;
        }
}

static int part_writer_write_text(struct part_writer *w, const fst_batch *batch, struct fst_error *error)
{
        uint32_t row = 0;
        int r = part_writer_is_plain(batch->type)
                        ? part_writer_put_pieces(w, batch->key.bytes, batch->rows, &row, error)
                        : 0;
        while (r == 0) {
                row = part_writer_fill(w, batch, row);
                if (row == batch->rows)
                        break;
                r = part_writer_flush(w, error);
                if (r == 0) {
                        uint32_t next = part_writer_fill(w, batch, row);
                        if (next == row)
                                r = part_writer_put_row(w, batch, row++, error);
                        else
                                row = next;
                }
        }
        return r;
}

int part_writer_write(struct part_writer *w, const fst_batch *batch, struct fst_error *error)
{
        if (w->failed)
                return error_set(error, w->failed, "writing %s: an earlier write failed", w->path);
        int r = w->form == PART_RECORDS ? part_writer_write_records(w, batch, error)
                                        : part_writer_write_text(w, batch, error);
        if (r == 0)
                w->rows += batch->rows;
        return w->failed = r;
}

int part_writer_close(struct part_writer *w, struct fst_error *error)
{
        if (!w->file.fs)
                return 0;
        int r = w->failed;
        if (r < 0)
                error_set(error, r, "writing %s: an earlier write failed", w->path);
        else
                r = part_writer_flush(w, error);
        if (r == 0 && w->packed) {
                r = encoder_end(w->encoder, error);
                w->bytes = encoder_bytes(w->encoder);
        }
        if (r < 0)
                w->file.fs->discard(&w->file);
        return r < 0 ? r : w->file.fs->close(&w->file, error);
}

uint64_t part_writer_bytes(const struct part_writer *w)
{
        return w->bytes + w->used;
}

uint64_t part_writer_rows(const struct part_writer *w)
{
        return w->rows;
}
