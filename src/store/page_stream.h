/*
 * Frames (store/page_frame.h) kept in memory: their bytes one after another, in as many pages of the pool as they take,
 * so that compressed rows waste none of it. A frame may begin in one page and go on in the next.
 *
 * Threads: appending is for one; of what is complete any number may read.
 */
#pragma once

#include "store/page.h"

struct packed_pages {
        struct page *first, *last; /* their `used` bytes are no records; `rows` are 0 */
};

/* Bytes that must be reserved before @length more are appended; a multiple of what page_new takes. */
size_t packed_pages_need(const struct packed_pages *packed, size_t length);

/* Append a frame: 0, or -ENOMEM and nothing was appended. */
int packed_pages_append(struct packed_pages *packed, fst_type type, const unsigned char *frame, size_t length);

/* Frame after frame, from the first. */
struct packed_reader {
        const struct page *page;
        uint32_t at;
        unsigned char *scratch; /* for frames that go over an end */
        size_t room;
};
void packed_reader_init(struct packed_reader *reader, const struct page *first);
void packed_reader_deinit(struct packed_reader *reader);

/* *@frame is NULL at the end, otherwise @length bytes that are valid until the next call. 0 or -ENOMEM. */
int packed_reader_next(struct packed_reader *reader, const unsigned char **frame, uint32_t *length);
