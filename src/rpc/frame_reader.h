/*
 * Frames out of a stream of bytes. It opens nothing and reads nothing: whoever holds the connection asks where the next
 * bytes should go, puts them there, and takes the frames that are complete.
 *
 *      frame_reader_room(&r, scratch, sizeof scratch, &where, &room);
 *      n = read(…, where, room);
 *      frame_reader_filled(&r, n);
 *      while (frame_reader_next(&r, &frame, &error) > 0)
 *              …
 *
 * Small frames are taken where they were read, in the scratch buffer that all connections of a loop share; only what is
 * left of an unfinished one is kept. An attachment gets memory of its own, which grows as its bytes come: announcing
 * much costs a peer nothing here.
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
        size_t max_bytes; /* body and attachment of a frame; may be changed between frames */
        struct buf kept;  /* what is unfinished and was not read into scratch */
        const uint8_t *scratch; /* where the last bytes were read to, if not into `kept` or the attachment */
        size_t scratch_len;
        size_t at; /* how far frames were taken out of scratch or kept */
        struct frame_header header;
        bool have_header;
        uint8_t *attachment;
        size_t attachment_len, attachment_cap; /* of which are filled, allocated */
        uint8_t *given; /* the attachment of the last frame, if it was not taken */
        int failed;
};

/* @max_bytes as in frame_header_get. */
void frame_reader_init(struct frame_reader *r, size_t max_bytes);
void frame_reader_deinit(struct frame_reader *r);

/*
 * Where the next bytes go, and how many at most; never 0. @scratch must hold what is put there until
 * frame_reader_next has said 0 or frame_reader_keep was called.
 */
void frame_reader_room(struct frame_reader *r, uint8_t *scratch, size_t scratch_size, uint8_t **where, size_t *room);

/* @n bytes were put there. */
void frame_reader_filled(struct frame_reader *r, size_t n);

/*
 * The next frame: 1 and *@out; 0 if more bytes are needed; -EPROTO, -EMSGSIZE, -ENOMEM with @error set if the stream
 * is none of ours, after which the reader answers nothing else.
 */
int frame_reader_next(struct frame_reader *r, struct frame *out, struct fst_error *error);

/* The attachment of the frame that was given last becomes the caller's, who frees it. */
uint8_t *frame_reader_take_attachment(struct frame_reader *r);

/* No more frames are taken now: keep what is in scratch, which others will use. frame_reader_next may be called again
 * later. */
void frame_reader_keep(struct frame_reader *r);

/* Something was begun and not finished. */
bool frame_reader_partial(const struct frame_reader *r);
