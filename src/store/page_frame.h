/*
 * A page in files and on the wire: a frame whose header contains its length, so that frames can follow each other. A
 * shuffle block is one or more frames.
 *
 *      [payload length u32] [codec u32] page header (PAGE_WIRE_HEADER) payload
 *
 * The payload is the page's records, compressed, or uncompressed if compression saves nothing (codec 0). Only pages of
 * the pool's size are compressed. A larger one (a single record) never is, so that no frame needs more scratch memory
 * than a block. The codecs are 0 none, 1 lz4, 2 zstd.
 */
#pragma once

#include "io/codec/codec.h"
#include "store/page.h"

#define PAGE_FRAME_HEADER (8 + PAGE_WIRE_HEADER)

/* Returns the maximum size of the frame of @page. */
static inline size_t page_frame_bound(const struct page *page)
{
        return PAGE_FRAME_HEADER + (size_t)page->used;
}

/*
 * Writes the frame of @page to @out, which has room for page_frame_bound bytes. Returns the frame's length. @codec may
 * be NULL. Never fails: incompressible data is copied.
 */
size_t page_frame_encode(const struct page *page, struct codec *codec, unsigned char *out);

/* Writes the header of an uncompressed frame, for a caller that writes header and records without copying. */
void page_frame_header(const struct page *page, unsigned char header[static PAGE_FRAME_HEADER]);

/* A frame's header. page_frame_parse checks it against @type and returns -EBADMSG if it is invalid. */
struct page_frame {
        uint32_t payload; /* bytes after the header */
        enum codec_kind codec;
        uint32_t bytes, rows; /* of the page */
        uint64_t checksum;
};
int page_frame_parse(const unsigned char header[static PAGE_FRAME_HEADER], fst_type type, struct page_frame *frame,
                     struct fst_error *error);

/*
 * Decodes and verifies the page of a parsed frame from its payload. @codec must be of the frame's kind; for an
 * uncompressed frame it may be NULL or of any kind. Returns 0 and a page reserved through @c; FST_MEMORY_E_DENIED;
 * -EBADMSG for damaged bytes; -ENOMEM.
 */
int page_frame_decode(const struct page_frame *frame, fst_type type, const unsigned char *payload, struct codec *codec,
                      struct memory_consumer *c, struct page **page, struct fst_error *error);
