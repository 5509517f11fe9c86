/* See r_stream.h. */
#include "r/r_stream.h"

#include "base/buf.h"
#include "base/mem.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

/* SparkR's worker knows other modes for data frames. */
#define MODE_RDD 0

const char *const r_form_names[R_FORMS] = {
        [R_FORM_BYTE] = "byte",
        [R_FORM_STRING] = "string",
        [R_FORM_ROW] = "row",
};

#define LENGTH_TIMES (-1)
#define LENGTH_PAIR 2

static void r_stream_put_int(struct buf *out, int32_t x)
{
        uint32_t big = htobe32((uint32_t)x);
        buf_append(out, &big, sizeof(big));
}

static int32_t r_stream_get_int(const char *at)
{
        uint32_t big;
        memcpy(&big, at, sizeof(big));
        return (int32_t)be32toh(big);
}

static double r_stream_get_double(const char *at)
{
        uint64_t big;
        double x;
        memcpy(&big, at, sizeof(big));
        big = be64toh(big);
        memcpy(&x, &big, sizeof(x));
        return x;
}

static void r_stream_put_bytes(struct buf *out, fst_bytes bytes)
{
        r_stream_put_int(out, (int32_t)bytes.len);
        if (bytes.len)
                buf_append(out, bytes.data, bytes.len);
}

void r_stream_put_string(struct buf *out, const char *text)
{
        r_stream_put_bytes(out, (fst_bytes){text, strlen(text) + 1});
}

void r_stream_put_head(struct buf *out, const struct r_head *head)
{
        r_stream_put_int(out, head->partition);
        r_stream_put_string(out, r_form_names[head->deserializer]);
        r_stream_put_string(out, r_form_names[head->serializer]);
        r_stream_put_bytes(out, head->packages);
        r_stream_put_bytes(out, head->function);
        r_stream_put_int(out, (int32_t)head->n_broadcasts);
        for (size_t i = 0; i < head->n_broadcasts; i++) {
                r_stream_put_int(out, (int32_t)head->broadcasts[i].id);
                r_stream_put_bytes(out, head->broadcasts[i].value);
        }
        r_stream_put_int(out, head->buckets);
        r_stream_put_int(out, MODE_RDD);
}

void r_stream_put_flag(struct buf *out, bool rows_follow)
{
        r_stream_put_int(out, rows_follow);
}

void r_stream_put_row(struct buf *out, fst_bytes row, enum r_form form)
{
        if (form == R_FORM_BYTE)
                r_stream_put_int(out, (int32_t)row.len);
        if (row.len)
                buf_append(out, row.data, row.len);
        if (form == R_FORM_STRING)
                buf_putc(out, '\n');
}

/* An item of @size bytes, if @len bytes are all of it. */
static int r_item_of(struct r_item *item, enum r_item_kind kind, size_t size, size_t len)
{
        item->kind = len < size ? R_ITEM_PART : kind;
        item->size = size;
        return 0;
}

static int r_item_read_times(const char *data, size_t len, struct r_item *item)
{
        r_item_of(item, R_ITEM_TIMES, 4 + 8 * R_TIMES, len);
        for (int i = 0; i < R_TIMES && item->kind == R_ITEM_TIMES; i++)
                item->times[i] = r_stream_get_double(data + 4 + 8 * i);
        return 0;
}

static int r_item_read_pair(const char *data, size_t len, struct r_item *item)
{
        if (len < 12)
                return r_item_of(item, R_ITEM_PART, 12, len);
        int32_t bucket = r_stream_get_int(data + 4), n = r_stream_get_int(data + 8);
        if (bucket < 0 || n < 0)
                return -EBADMSG;
        item->bucket = bucket;
        item->row = (fst_bytes){data + 12, (size_t)n};
        return r_item_of(item, R_ITEM_ROW, 12 + (size_t)n, len);
}

int r_stream_read_item(enum r_answer answer, const char *data, size_t len, struct r_item *item)
{
        if (len < 4)
                return r_item_of(item, R_ITEM_PART, 4, len);
        int32_t n = r_stream_get_int(data);
        if (n == LENGTH_TIMES)
                return r_item_read_times(data, len, item);
        if (n == 0)
                return r_item_of(item, R_ITEM_END, 4, len);
        if (n < 0)
                return -EBADMSG;
        if (answer == R_ANSWER_SHUFFLED)
                return n == LENGTH_PAIR ? r_item_read_pair(data, len, item) : -EBADMSG;
        r_item_of(item, R_ITEM_ROW, 4 + (size_t)n, len);
        item->row = (fst_bytes){data + 4, (size_t)n};
        if (answer == R_ANSWER_LINES && item->kind == R_ITEM_ROW) {
                if (data[4 + n - 1] != '\0')
                        return -EBADMSG;
                item->row.len--;
        }
        return 0;
}
