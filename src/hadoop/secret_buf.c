/* See secret_buf.h. */
#include "hadoop/secret_buf.h"

void secret_buf_append(struct buf *b, const void *data, size_t len)
{
        if (b->data && b->cap - b->len <= len) {
                struct buf larger = BUF_INIT;
                buf_reserve(&larger, 2 * b->len + len);
                buf_append(&larger, b->data, b->len);
                buf_deinit_secret(b);
                *b = larger;
        }
        buf_append(b, data, len);
}
