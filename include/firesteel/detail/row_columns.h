/* How fst_row_append_… and fst_row_next_… write and read columns. Nothing here is meant to be called by name. */
#pragma once

/* The kind, @size bytes at @head, and @len bytes at @data. */
static inline int fst_row_put(fst_row_buffer *row, char kind, const void *head, size_t size, const void *data,
                              size_t len)
{
        size_t left = row->room - row->len;
        if (left < 1 + size || left - 1 - size < len)
                return -ENOSPC;
        row->data[row->len++] = (unsigned char)kind;
        memcpy(row->data + row->len, head, size);
        row->len += size;
        if (len)
                memcpy(row->data + row->len, data, len);
        row->len += len;
        return 0;
}

static inline int fst_row_take(fst_row_reader *reader, char kind, void *head, size_t size)
{
        if ((size_t)(reader->end - reader->at) < 1 + size || *reader->at != kind)
                return -EBADMSG;
        memcpy(head, reader->at + 1, size);
        reader->at += 1 + size;
        return 0;
}
