/*
 * Frames: how a journal keeps records, so that a reader finds every record that was written completely.
 *
 * A file begins with the line JOURNAL_FIRST_LINE. Then come frames, one after another, numbers little endian:
 *
 *      offset  bytes
 *           0      4   mark: F5 'f' 'd' 'j'
 *           4      4   n, length of the body
 *           8      4   the low half of XXH3-64 of bytes 0 to 7
 *          12      8   XXH3-64 of the body, seeded with the number at 8
 *          20      n   the body: records
 *
 * A record is its kind (1 byte), the length of its content (4 bytes) and the content. A frame is what one write made
 * durable, so its records are all there or none is. Later records depend on earlier ones: reading ends at the first
 * frame that is incomplete (the interrupted last write) or damaged, and what follows counts as never written.
 *
 * Pure: no file is opened here.
 */
#pragma once

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct fst_error;

#define JOURNAL_FIRST_LINE "Firesteel driver journal, version 1. Not a text: do not edit.\n"
#define JOURNAL_FIRST_LINE_ANY_VERSION "Firesteel driver journal, version "
#define JOURNAL_FRAME_HEADER 20
#define JOURNAL_RECORD_HEADER 5
#define MAX_JOURNAL_FRAME ((size_t)1 << 30)

/* The header of a frame with @body, of at most MAX_JOURNAL_FRAME bytes. */
void journal_frame_header(const void *body, size_t size, unsigned char header[static JOURNAL_FRAME_HEADER]);

/* Begins a record: returns its place in @body for journal_record_end, before which the caller appends the content. */
size_t journal_record_begin(struct buf *body, uint8_t kind);
void journal_record_end(struct buf *body, size_t place);

/* The kind of end of a file's bytes. */
enum journal_end {
        JOURNAL_COMPLETE,
        JOURNAL_TORN,    /* in an incomplete frame: an interrupted write */
        JOURNAL_DAMAGED, /* with bytes that are not a frame, or whose checksum is wrong */
};

struct journal_extent {
        uint64_t good; /* bytes up to the end of the last good frame */
        enum journal_end end;
};

/*
 * Calls @record for each record in order. @content is a view into @bytes. A negative result ends the reading as
 * JOURNAL_DAMAGED; the earlier records of that frame count. Returns 0 with *@extent; an empty file, or a part of the
 * first line, is an empty journal. Returns -EPROTONOSUPPORT for a journal of another version, or -EBADMSG for anything
 * else, with
 * @error; @name is the file in messages.
 */
int journal_read_frames(const void *bytes, size_t size, const char *name,
                        int (*record)(void *context, uint8_t kind, const void *content, size_t size), void *context,
                        struct journal_extent *extent, struct fst_error *error);
