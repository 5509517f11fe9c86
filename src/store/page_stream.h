/*
 * Frames (store/page_frame.h) in memory: their bytes one after another in pages of the pool, so that compressed rows
 * waste no memory. A frame may span pages.
 *
 * Threads: one thread appends. Any number may read complete frames.
 */
#pragma once

#include "store/page.h"

struct packed_pages {
        struct page *first, *last; /* their `used` bytes are not records; `rows` are 0 */
};

/* Returns the bytes to reserve before @length more are appended. A multiple of a page_new reservation. */
size_t packed_pages_need(const struct packed_pages *packed, size_t length);

/* Appends a frame. Returns 0, or -ENOMEM with nothing appended. */
int packed_pages_append(struct packed_pages *packed, fst_type type, const unsigned char *frame, size_t length);

/* Reads the frames from the first one on. */
struct packed_reader {
        const struct page *page;
        uint32_t at;
        unsigned char *scratch; /* for frames that span pages */
        size_t room;
};
void packed_reader_init(struct packed_reader *reader, const struct page *first);
void packed_reader_deinit(struct packed_reader *reader);

/* Gets the next frame: @length bytes, valid until the next call; *@frame is NULL at the end. Returns 0 or -ENOMEM. */
int packed_reader_next(struct packed_reader *reader, const unsigned char **frame, uint32_t *length);
