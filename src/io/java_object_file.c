/* See java_object_file.h. An element of a Java array is a frame as it is: its length in four bytes, then its bytes. */
#include "io/java_object_file.h"

#include "base/error.h"
#include "base/mem.h"
#include "io/java_arrays.h"
#include "io/sequence_file.h"
#include "net/byte_order.h"

/* The frame of null (firesteel/frames.h). */
static const char null_frame[] = {-1, -1, -1, -5};

/* ------------------------------------------------------------------------------------------------------ writing */

struct java_object_writer {
        struct sequence_writer *file;
        struct buf record;
        struct java_arrays_writer array;
        uint64_t rows;
};

struct java_object_writer *java_object_writer_new(void)
{
        struct java_object_writer *w = new0(struct java_object_writer);
        w->file = sequence_writer_new();
        return w;
}

void java_object_writer_abandon(struct java_object_writer *w)
{
        sequence_writer_abandon(w->file);
        buf_deinit(&w->record);
        w->array.count = 0;
}

void java_object_writer_free(struct java_object_writer *w)
{
        if (!w)
                return;
        java_object_writer_abandon(w);
        sequence_writer_free(w->file);
        free(w);
}

int java_object_writer_open(struct java_object_writer *w, const char *path, struct fst_error *error)
{
        java_object_writer_abandon(w);
        w->rows = 0;
        return sequence_writer_open(w->file, path, error);
}

/* Writes the rows that wait for their group. */
static int java_object_writer_put_group(struct java_object_writer *w, struct fst_error *error)
{
        if (w->array.count == 0)
                return 0;
        java_arrays_end(&w->array);
        int r = sequence_writer_append(w->file, (fst_bytes){w->record.data, w->record.len}, error);
        buf_reset(&w->record);
        w->array.count = 0;
        return r;
}

static bool java_object_is_frame(fst_bytes row)
{
        uint32_t len;
        if (row.len < sizeof(len))
                return false;
        memcpy(&len, row.data, sizeof(len));
        return be32toh(len) == row.len - sizeof(len);
}

int java_object_writer_write(struct java_object_writer *w, const fst_batch *batch, struct fst_error *error)
{
        for (uint32_t i = 0; i < batch->rows; i++) {
                fst_bytes row = batch->key.bytes[i];
                bool null = row.len == sizeof(null_frame) && memcmp(row.data, null_frame, sizeof(null_frame)) == 0;
                if (!null && !java_object_is_frame(row))
                        return error_set(error, -EBADMSG,
                                         "a row of %zu bytes is not one frame: pairs cannot be saved as an object file",
                                         row.len);
                if (w->array.count == 0)
                        java_arrays_begin(&w->array, &w->record);
                if (!java_arrays_put(&w->array, null ? (fst_bytes){0} : row))
                        return error_set(error, -ENOMEM, "no memory for a row of %zu bytes in a group of %d", row.len,
                                         JAVA_OBJECT_GROUP);
                w->rows++;
                int r = w->array.count == JAVA_OBJECT_GROUP ? java_object_writer_put_group(w, error) : 0;
                if (r)
                        return r;
        }
        return 0;
}

int java_object_writer_close(struct java_object_writer *w, struct fst_error *error)
{
        int r = java_object_writer_put_group(w, error);
        if (r == 0)
                r = sequence_writer_close(w->file, error);
        java_object_writer_abandon(w);
        return r;
}

uint64_t java_object_writer_bytes(const struct java_object_writer *w)
{
        return sequence_writer_bytes(w->file);
}

uint64_t java_object_writer_rows(const struct java_object_writer *w)
{
        return w->rows;
}

/* ------------------------------------------------------------------------------------------------------ reading */

struct java_object_reader {
        struct sequence_reader *file;
        java_arrays rows;
        size_t next;
        const char *path;
};

struct java_object_reader *java_object_reader_new(void)
{
        struct java_object_reader *r = new0(struct java_object_reader);
        r->file = sequence_reader_new();
        return r;
}

void java_object_reader_close(struct java_object_reader *r)
{
        sequence_reader_close(r->file);
        r->rows.len = r->next = 0;
}

void java_object_reader_free(struct java_object_reader *r)
{
        if (!r)
                return;
        sequence_reader_free(r->file);
        vec_deinit(&r->rows);
        free(r);
}

int java_object_reader_open(struct java_object_reader *r, const struct input_split *split, struct fst_error *error)
{
        r->rows.len = r->next = 0;
        r->path = split->path;
        return sequence_reader_open(r->file, split, error);
}

int java_object_reader_next(struct java_object_reader *r, fst_batch *batch, struct fst_error *error)
{
        fst_bytes value;
        batch->rows = 0;
        batch->type = FST_BYTES;
        while (r->next == r->rows.len) {
                r->rows.len = r->next = 0;
                int e = sequence_reader_next(r->file, &value, error);
                if (e <= 0)
                        return e;
                e = java_arrays_read(value, &r->rows, error);
                if (e)
                        return error_wrap(error, e, "%s", r->path);
                for (size_t i = 0; i < r->rows.len; i++)
                        if (!r->rows.data[i].data)
                                r->rows.data[i] = (fst_bytes){null_frame, sizeof(null_frame)};
        }
        batch->rows = (uint32_t)MIN(r->rows.len - r->next, (size_t)FST_BATCH_ROWS);
        batch->key.bytes = r->rows.data + r->next;
        r->next += batch->rows;
        return 0;
}

uint64_t java_object_reader_bytes(const struct java_object_reader *r)
{
        return sequence_reader_bytes(r->file);
}
