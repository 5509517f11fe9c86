/* Reads frames from a stream. Invariant: at most one of scratch and kept holds unconsumed bytes. */
#include "rpc/frame_reader.h"

#include "base/error.h"
#include "base/mem.h"

#define MIN_READ 16384     /* initial size of `kept` */
#define MAX_READ (1 << 20) /* and maximum growth at a time */
#define ATTACHMENT_FIRST (1 << 20)

void frame_reader_init(struct frame_reader *r, size_t max_bytes)
{
        *r = (struct frame_reader){.max_bytes = max_bytes};
}

void frame_reader_deinit(struct frame_reader *r)
{
        buf_deinit(&r->kept);
        free(r->attachment);
        free(r->given);
        *r = (struct frame_reader){.failed = -ESHUTDOWN};
}

/* Returns the unconsumed bytes. */
static const uint8_t *frame_reader_rest(const struct frame_reader *r, size_t *len)
{
        if (r->scratch) {
                *len = r->scratch_len - r->at;
                return r->scratch + r->at;
        }
        *len = r->kept.len - r->at;
        return r->kept.len ? (const uint8_t *)r->kept.data + r->at : NULL;
}

void frame_reader_keep(struct frame_reader *r)
{
        size_t len;
        const uint8_t *data = frame_reader_rest(r, &len);
        if (r->scratch) {
                if (len > 0)
                        buf_append(&r->kept, data, len);
                r->scratch = NULL;
        } else if (r->at > 0) {
                if (len > 0)
                        memmove(r->kept.data, data, len);
                r->kept.len = len;
        }
        r->scratch_len = r->at = 0;
        if (r->kept.len == 0 && r->kept.cap > 4 * MIN_READ)
                buf_deinit(&r->kept); /* there may be ten thousand connections */
}

void frame_reader_room(struct frame_reader *r, uint8_t *scratch, size_t scratch_size, uint8_t **where, size_t *room)
{
        frame_reader_keep(r);
        if (r->attachment) { /* header and body are in `kept` */
                *where = r->attachment + r->attachment_len;
                *room = r->attachment_cap - r->attachment_len;
        } else if (r->kept.len == 0) {
                r->scratch = scratch;
                *where = scratch;
                *room = scratch_size;
        } else {
                size_t want = r->have_header ? frame_header_size(r->header.kind) + (size_t)r->header.body_len - r->kept.len : 0;
                *room = MIN(MAX(want, (size_t)MIN_READ), (size_t)MAX_READ);
                buf_reserve(&r->kept, *room);
                *where = (uint8_t *)r->kept.data + r->kept.len;
        }
}

void frame_reader_filled(struct frame_reader *r, size_t n)
{
        if (r->attachment)
                r->attachment_len += n;
        else if (r->scratch)
                r->scratch_len = n;
        else
                r->kept.len += n;
}

/* Makes room for the next bytes of an attachment: twice the received ones. */
static int grow_attachment(struct frame_reader *r, struct fst_error *error)
{
        size_t cap = MIN(r->attachment_cap * 2, (size_t)r->header.attachment_len);
        uint8_t *grown = mem_try_grow(r->attachment, cap);
        if (!grown)
                return error_set(error, -ENOMEM, "no memory for a message of %llu bytes",
                                 (unsigned long long)r->header.attachment_len);
        r->attachment = grown;
        r->attachment_cap = cap;
        return 0;
}

/* Begins an attachment with its received bytes. */
static int begin_attachment(struct frame_reader *r, const uint8_t *data, size_t len, struct fst_error *error)
{
        size_t here = MIN(len, (size_t)r->header.attachment_len);
        size_t cap = MIN(MAX(here, (size_t)ATTACHMENT_FIRST), (size_t)r->header.attachment_len);
        r->attachment = mem_try(cap);
        if (!r->attachment)
                return error_set(error, -ENOMEM, "no memory for a message of %llu bytes",
                                 (unsigned long long)r->header.attachment_len);
        memcpy(r->attachment, data, here);
        r->attachment_len = here;
        r->attachment_cap = cap;
        return 0;
}

/* Delivers the complete frame at @data with its attachment. */
static int frame_reader_output(struct frame_reader *r, const uint8_t *data, size_t used, struct frame *out,
                               struct fst_error *error)
{
        const size_t header = frame_header_size(r->header.kind);
        if (header == FRAME_HEADER_SIZE &&
            r->header.checksum != frame_checksum(data + header, r->header.body_len, r->attachment, r->attachment_len))
                return error_set(error, -EBADMSG, "a frame of %u and %zu bytes with a wrong checksum: bytes were damaged on the way",
                                 r->header.body_len, r->attachment_len);
        *out = (struct frame){.header = r->header, .body = data + header, .attachment = r->attachment};
        r->given = steal(r->attachment);
        r->attachment_len = r->attachment_cap = 0;
        r->have_header = false;
        r->at += used;
        return 1;
}

static int frame_reader_parse(struct frame_reader *r, struct frame *out, struct fst_error *error)
{
        size_t len;
        const uint8_t *data = frame_reader_rest(r, &len);
        if (!r->have_header) {
                int code = frame_header_get(data, len, r->max_bytes, &r->header, error);
                if (code <= 0)
                        return code;
                r->have_header = true;
        }
        size_t until_body = frame_header_size(r->header.kind) + (size_t)r->header.body_len;
        if (len < until_body)
                return 0;
        if (r->header.attachment_len == 0)
                return frame_reader_output(r, data, until_body, out, error);
        size_t used = until_body;
        if (!r->attachment) {
                int code = begin_attachment(r, data + until_body, len - until_body, error);
                if (code < 0)
                        return code;
                used += r->attachment_len;
                if (r->attachment_len < r->header.attachment_len) {
                        /* all received bytes belong to this frame: keep only header and body */
                        if (r->scratch)
                                r->scratch_len = r->at + until_body;
                        else
                                r->kept.len = r->at + until_body;
                        return r->attachment_len == r->attachment_cap ? grow_attachment(r, error) : 0;
                }
        }
        if (r->attachment_len == r->header.attachment_len)
                return frame_reader_output(r, data, used, out, error);
        return r->attachment_len == r->attachment_cap ? grow_attachment(r, error) : 0;
}

int frame_reader_next(struct frame_reader *r, struct frame *out, struct fst_error *error)
{
        if (r->failed)
                return error_set(error, r->failed, "the stream has failed before");
        free(steal(r->given));
        int code = frame_reader_parse(r, out, error);
        if (code < 0)
                r->failed = code;
        else if (code == 0)
                frame_reader_keep(r);
        return code;
}

uint8_t *frame_reader_take_attachment(struct frame_reader *r)
{
        return steal(r->given);
}

bool frame_reader_partial(const struct frame_reader *r)
{
        return r->attachment || r->kept.len > r->at || (r->scratch && r->scratch_len > r->at);
}
