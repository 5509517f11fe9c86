/*
 * A page as it stands in files and on the wire: a frame that can be told from its first bytes how long it is, so that
 * frames can follow each other. A shuffle block is one or more of these.
 *
 *      [payload length u32] [codec u32] page header (PAGE_WIRE_HEADER) payload
 *
 * The payload is the page's records, compressed or, if that saves nothing, as they are (codec 0). Only pages of the
 * pool's size are compressed: a larger one (a single record) is always written as it is, so that no frame needs more
 * scratch memory than a block. The codec numbers are 0 none, 1 lz4, 2 zstd.
 */
#pragma once

#include "io/codec/codec.h"
#include "store/page.h"

#define PAGE_FRAME_HEADER (8 + PAGE_WIRE_HEADER)

/* Bytes that the frame of @page takes at most. */
static inline size_t page_frame_bound(const struct page *page)
{
        return PAGE_FRAME_HEADER + (size_t)page->used;
}

/*
 * Write the frame of @page to @out, which has room for page_frame_bound of it; returns the frame's length. @codec may
 * be NULL. Never fails: what cannot be compressed is copied.
 */
size_t page_frame_encode(const struct page *page, struct codec *codec, unsigned char *out);

/* Only the header of an uncompressed frame, for who writes header and records without copying. */
void page_frame_header(const struct page *page, unsigned char header[static PAGE_FRAME_HEADER]);

/* What a frame's header says, checked against @type: -EBADMSG if it cannot be. */
struct page_frame {
        uint32_t payload; /* bytes that follow the header */
        enum codec_kind codec;
        uint32_t bytes, rows; /* of the page */
        uint64_t checksum;
};
int page_frame_parse(const unsigned char header[static PAGE_FRAME_HEADER], fst_type type, struct page_frame *frame,
                     struct fst_error *error);

/*
 * The page of a parsed frame from its payload, verified. @codec is of the frame's kind (it may be NULL, or of
 * another kind, for a frame that is not compressed). 0 and a page reserved through @c; FST_MEMORY_E_DENIED; -EBADMSG
 * for damaged bytes; -ENOMEM.
 */
int page_frame_decode(const struct page_frame *frame, fst_type type, const unsigned char *payload, struct codec *codec,
                      struct memory_consumer *c, struct page **page, struct fst_error *error);
