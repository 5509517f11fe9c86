/*
 * Rows of several columns.
 *
 * A row of numbers is best a struct (FIXED). A row with texts, with a list, or with more than two columns is one BYTES
 * row, which these functions write and read column by column. A column can be a row: append and read it as bytes.
 *
 *      // (name, age)
 *      static int person(fst_task *task, fst_bytes line, fst_out *out)
 *      {
 *              char space[256];
 *              fst_row_buffer row = fst_row_in(space, sizeof(space));
 *              …
 *              if (fst_row_append_bytes(&row, name) || fst_row_append_i64(&row, age))
 *                      return fst_fail(task, "the person \"%.*s\" is too long", FST_TEXT(name));
 *              fst_emit(out, fst_row_encoded(&row));
 *              return 0;
 *      }
 *
 *      static bool is_adult(fst_task *task, fst_bytes person)
 *      {
 *              fst_row_reader columns = fst_row_columns(person);
 *              fst_bytes name;
 *              int64_t age;
 *              return fst_row_next_bytes(&columns, &name) == 0 && fst_row_next_i64(&columns, &age) == 0 && age >= 18;
 *      }
 *
 * Each column has a byte for its kind, so that a reader which expects another kind gets an error and not a wrong value.
 * A number takes 9 bytes, a text its length and 5 more. Rows are not ordered by their columns: key.h writes keys that
 * are. Equal columns are equal bytes, except for NaNs of different bits, and -0.0 and 0.0.
 */
#pragma once

#include <firesteel/types.h>

#include <errno.h>
#include <stdint.h>
#include <string.h>

typedef struct fst_row_buffer {
        unsigned char *data;
        size_t len, room;
} fst_row_buffer;

/* The columns of a row that are not read yet. */
typedef struct fst_row_reader {
        const char *at, *end;
} fst_row_reader;

/* A row without columns that grows in @room bytes at @space, which the caller keeps. */
static inline fst_row_buffer fst_row_in(void *space, size_t room)
{
        fst_row_buffer row = {(unsigned char *)space, 0, room};
        return row;
}

/* The row so far: a view into its space. */
static inline fst_bytes fst_row_encoded(const fst_row_buffer *row)
{
        fst_bytes bytes = {(const char *)row->data, row->len};
        return bytes;
}

/* A reader of the columns of @row, which is borrowed. */
static inline fst_row_reader fst_row_columns(fst_bytes row)
{
        fst_row_reader reader = {row.data, row.len ? row.data + row.len : row.data};
        return reader;
}

#include <firesteel/detail/row_columns.h>

/* Append a column. Return 0, or -ENOSPC if the space is full: the row is then as it was. */
static inline int fst_row_append_i64(fst_row_buffer *row, int64_t x)
{
        return fst_row_put(row, 'i', &x, sizeof(x), NULL, 0);
}

static inline int fst_row_append_f64(fst_row_buffer *row, double x)
{
        return fst_row_put(row, 'f', &x, sizeof(x), NULL, 0);
}

/* The text may be another row. -ENOSPC also for 4 GiB and more. */
static inline int fst_row_append_bytes(fst_row_buffer *row, fst_bytes text)
{
        uint32_t len = (uint32_t)text.len;
        return len == text.len ? fst_row_put(row, 'b', &len, sizeof(len), text.data, text.len) : -ENOSPC;
}

/* Whether a column is left. */
static inline bool fst_row_has_next(const fst_row_reader *reader)
{
        return reader->at != reader->end;
}

/*
 * Read the next column. Return 0, or -EBADMSG if none is left, or if it has another kind: @x and the reader are then as
 * they were.
 */
static inline int fst_row_next_i64(fst_row_reader *reader, int64_t *x)
{
        return fst_row_take(reader, 'i', x, sizeof(*x));
}

static inline int fst_row_next_f64(fst_row_reader *reader, double *x)
{
        return fst_row_take(reader, 'f', x, sizeof(*x));
}

/* *@text is a view into the row, as long as that. */
static inline int fst_row_next_bytes(fst_row_reader *reader, fst_bytes *text)
{
        fst_row_reader rest = *reader;
        uint32_t len;
        if (fst_row_take(&rest, 'b', &len, sizeof(len)) || (size_t)(rest.end - rest.at) < len)
                return -EBADMSG;
        text->data = rest.at;
        text->len = len;
        reader->at = rest.at + len;
        return 0;
}
