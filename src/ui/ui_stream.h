/*
 * The rest of a long answer, produced in pieces while the client reads. The site asks for a piece after the client has
 * taken the one before, so a client that does not read costs one piece of memory.
 */
#pragma once

#include "base/buf.h"

enum { UI_STREAM_PIECE = 32 << 10 }; /* bytes that a piece should have */

struct ui_stream {
        /*
         * Writes the next piece into @out, which is empty. Returns 1 if more follows, 0 at the end, or negative if the
         * answer cannot be completed. Threads of a pool call it, one at a time. It may block on a disk, but must not
         * wait for a client.
         */
        int (*next)(struct ui_stream *stream, struct buf *out);
        void (*free)(struct ui_stream *stream);
};
