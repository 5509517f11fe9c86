/* Splits a stream of bytes into frames. It does no I/O: the owner of the connection asks where to put the next bytes,
 * reads them, and takes complete frames.
 *
 *      frame_reader_room(&r, scratch, sizeof scratch, &where, &room);
 *      n = read(…, where, room);
 *      frame_reader_filled(&r, n);
 *      while (frame_reader_next(&r, &frame, &error) > 0)
 *              …
 *
 * Small frames are used in place, in the scratch buffer that all connections of a loop share. Only the rest of an
 * incomplete frame is copied. An attachment gets its own memory, which grows as its bytes arrive, so that announcing
 * a large one costs this process nothing.
 */
#pragma once

#include "base/buf.h"
#include "rpc/frame.h"

#include <stdint.h>

struct frame {
        struct frame_header header;
        const uint8_t *body; /* valid until the next call on the reader */
        uint8_t *attachment; /* likewise; NULL if none */
};

struct frame_reader {
        size_t max_bytes;       /* limit of a frame's body and attachment; may change between frames */
        struct buf kept;        /* an incomplete frame that is not in scratch */
        const uint8_t *scratch; /* the buffer of the last read, unless it was `kept` or the attachment */
        size_t scratch_len;
        size_t at; /* offset behind the last frame taken from scratch or kept */
        struct frame_header header;
        bool have_header;
        uint8_t *attachment;
        size_t attachment_len, attachment_cap; /* filled, allocated */
        uint8_t *given;                        /* the attachment of the last frame, unless it was taken */
        int failed;
};

/* @max_bytes as in frame_header_get. */
void frame_reader_init(struct frame_reader *r, size_t max_bytes);
void frame_reader_deinit(struct frame_reader *r);

/* Where the next bytes go, and the maximum, never 0. @scratch must stay unchanged until frame_reader_next has
 * returned 0 or frame_reader_keep was called.
 */
void frame_reader_room(struct frame_reader *r, uint8_t *scratch, size_t scratch_size, uint8_t **where, size_t *room);

/* @n bytes were read. */
void frame_reader_filled(struct frame_reader *r, size_t n);

/* Takes the next frame. Returns 1 and *@out; 0 if more bytes are needed; -EPROTO, -EBADMSG, -EMSGSIZE or -ENOMEM with
 * @error for an invalid stream, after which every call fails.
 */
int frame_reader_next(struct frame_reader *r, struct frame *out, struct fst_error *error);

/* Passes the attachment of the last frame to the caller, which frees it. */
uint8_t *frame_reader_take_attachment(struct frame_reader *r);

/* Copies unread bytes out of scratch, because other connections will use it. frame_reader_next may be called again
 * later.
 */
void frame_reader_keep(struct frame_reader *r);

/* Returns true if a frame is incomplete. */
bool frame_reader_partial(const struct frame_reader *r);
