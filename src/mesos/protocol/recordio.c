/* See recordio.h. A record that one piece of data holds as a whole is passed on without a copy. */
#include "mesos/protocol/recordio.h"

#include "base/error.h"

#define MAX_DIGITS 10 /* leading zeros count */

void recordio_reset(struct recordio *r)
{
        buf_reset(&r->partial);
        r->length = 0;
        r->digits = 0;
        r->in_record = false;
}

void recordio_deinit(struct recordio *r)
{
        buf_deinit(&r->partial);
        *r = RECORDIO_INIT;
}

void recordio_write(struct buf *out, const void *record, size_t len)
{
        buf_printf(out, "%zu\n", len);
        buf_append(out, record, len);
}

/* Reads one byte of the length. */
static int recordio_length_byte(struct recordio *r, uint8_t c, struct fst_error *error)
{
        if (c == '\n' && r->digits > 0) {
                r->in_record = true;
                return 0;
        }
        if (c < '0' || c > '9')
                return error_set(error, -EPROTO,
                                 "the server's stream is not RecordIO: byte 0x%02x stands where the length of a record "
                                 "is expected",
                                 c);
        r->length = 10 * r->length + (uint64_t)(c - '0');
        if (++r->digits > MAX_DIGITS || r->length > RECORDIO_MAX_RECORD)
                return error_set(error, -EMSGSIZE, "the server sends a record of more than %u MiB",
                                 RECORDIO_MAX_RECORD >> 20);
        return 0;
}

int recordio_feed(struct recordio *r, const void *data, size_t len, recordio_sink *sink, void *owner,
                  struct fst_error *error)
{
        const uint8_t *next = data, *end = next + len;

        while (next < end || (r->in_record && r->length == 0)) {
                if (!r->in_record) {
                        int status = recordio_length_byte(r, *next++, error);
                        if (status < 0)
                                return status;
                        continue;
                }

                size_t missing = r->length - r->partial.len, here = (size_t)(end - next);
                const uint8_t *record = next;
                if (r->partial.len > 0 || here < missing) {
                        size_t n = here < missing ? here : missing;
                        if (!buf_try_reserve(&r->partial, n))
                                return error_set(error, -ENOMEM, "out of memory for a record of %llu bytes",
                                                 (unsigned long long)r->length);
                        buf_append(&r->partial, next, n);
                        next += n;
                        if (n < missing)
                                return 0;
                        record = (const uint8_t *)r->partial.data;
                } else
                        next += missing;

                int status = sink(owner, record, r->length);
                recordio_reset(r);
                if (status)
                        return status;
        }
        return 0;
}
