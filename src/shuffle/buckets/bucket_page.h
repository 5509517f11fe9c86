/*
 * Pages of pairs of numbers, in segments of rows whose keys are of one bucket. Keys and values of a segment are apart,
 * and its keys take four bytes each if all are below 2^32. In memory only: pages that leave it have records
 * (store/page.h).
 *
 *      page: struct page | directory, an entry for each segment | segments, each at the start of a line of 64 bytes
 *      segment: keys, u32 or u64 | values, u64
 */
#pragma once

#include "store/page.h"

#include <stdbool.h>
#include <stdint.h>

#define SEGMENT_ROWS 64u
#define MAX_BUCKET_BITS 6

/* True if rows of @type can be in such pages. */
bool bucket_page_takes(fst_type type);

/* Makes @page, a new page of PAGE_BLOCK bytes, one with segments. */
void bucket_page_init(struct page *page);

/* Appends a segment of @n rows, 1 to SEGMENT_ROWS. Returns false (page unchanged) if it does not fit. */
bool bucket_page_add(struct page *page, uint32_t bucket, const uint64_t *keys, const uint64_t *values, uint32_t n);

/*
 * Copies the rows of @bucket in the segments of @page from *@segment on to @keys and @values, which have room for @room
 * rows. Returns their number. *@segment is the first segment that was not read, or page->segments.
 */
uint32_t bucket_page_read(const struct page *page, uint32_t bucket, uint32_t *segment, uint64_t *keys, uint64_t *values,
                          uint32_t room);

/* Makes @to, a page of PAGE_BLOCK bytes, the records of the segments of @from, of *@segment and the next ones, as many
 * as fit. Advances *@segment, and returns true if there were any. */
bool bucket_page_to_records(const struct page *from, uint32_t *segment, struct page *to);

/* So many pages of records hold the rows of a page. */
#define BUCKET_PAGE_RECORD_PAGES 2
