/*
 * The page: the one owned form of rows. A shuffle block, a spill run, a cached partition and a hand-over between
 * processes are pages. Records follow each other without padding, little-endian, position-independent:
 *
 *      [key length u32] [value length u32] key value
 *
 * a length stands only where the kind is BYTES; a type that is no pair has no value. In memory a page is this
 * struct and its bytes in one block; written anywhere, a 32-byte header (PAGE_WIRE_HEADER) goes first:
 *
 *      magic "FSP1" u32 | type tag u32 | key size u32 | value size u32 | rows u32 | bytes u32 | xxh3 of bytes u64
 *
 * Blocks come from a process-wide pool of 256 KiB blocks and go back to it; a record that is larger has a page to
 * itself, outside the pool. The pool's memory is what consumers have reserved (store/memory.h), no more.
 */
#pragma once

#include "store/memory.h"

#include <firesteel/iter.h>

#include <stdint.h>

struct fst_error;

#define PAGE_BLOCK ((size_t)256 << 10) /* bytes of a pool block, the struct included */
#define PAGE_WIRE_HEADER 32
#define PAGE_MAGIC 0x31505346u /* "FSP1" */

struct page {
        struct page *next; /* in whatever list holds it */
        uint32_t block;    /* bytes of the whole block: what is reserved for it */
        uint32_t capacity; /* of data */
        uint32_t used;     /* of data */
        uint32_t rows;
        fst_type type;
        unsigned char data[] __attribute__((aligned(16)));
};

#define PAGE_CAPACITY (PAGE_BLOCK - sizeof(struct page))

/* Whether there can be rows of @type: for types that come from elsewhere. */
bool page_type_valid(fst_type type);

/*
 * A page with room for a record of @record bytes at least. Reserves through @c (NULL: accounted by the caller).
 * 0; FST_MEMORY_E_DENIED; or negative.
 */
int page_new(struct memory_consumer *c, fst_type type, size_t record, struct page **page);

/*
 * The page without which there is no way on (memory_task_share): where page_new was refused, one that is not
 * reserved, for who counts it himself. As page_new.
 */
int page_new_unreserved(const struct memory_task *task, fst_type type, size_t record, struct page **page);

/*
 * A page of @block bytes in all (a multiple of 16, less than PAGE_BLOCK), outside the pool: for who must keep more
 * pages open at a time than blocks of the pool are to be had. As page_new.
 */
int page_new_small(struct memory_consumer *c, fst_type type, size_t block, struct page **page);

/* What page_new reserves for a record of @record bytes; SIZE_MAX if there can be no such page. */
size_t page_block_size(size_t record);

/* Give a page, or a whole list of them, back; @c is who reserved it, or NULL. NULL pages are allowed. */
void page_free(struct memory_consumer *c, struct page *page);
void page_list_free(struct memory_consumer *c, struct page *first);

/* Return the pool's free blocks to the system. For tests, and between jobs. */
void page_pool_trim(void);

/* Bytes that row @row of @batch takes as a record. */
size_t page_record_size(const fst_batch *batch, uint32_t row);

/* Append rows first … of @batch while they fit; returns how many did. */
uint32_t page_append(struct page *page, const fst_batch *batch, uint32_t first);

/* Append one row; false (page unchanged) if it does not fit. */
bool page_append_row(struct page *page, const fst_batch *batch, uint32_t row);

/*
 * A page with room for a record of @record bytes is needed in *@open, which is NULL or full; the callback keeps the
 * full one. 0, or a status that stops the scatter with *@open as it was or NULL.
 */
typedef int (*page_full_fn)(void *owner, uint32_t partition, size_t record, struct page **open);

/*
 * Append each row r of @batch, from *@first on, to open[partition[r]]; @full makes room. 0 with *@first ==
 * batch->rows, or what @full answered, with *@first the row that was not appended, so that the call can be
 * repeated after a spill. Several times as quick as page_append_row row by row.
 */
int page_scatter(const fst_batch *batch, const uint32_t *partition, uint32_t *first, struct page **open,
                 page_full_fn full, void *owner);

/*
 * The same rows in a page of exactly their size, for pages that are kept long: returns it and gives @page back to
 * the pool, or returns @page itself if little would be saved. The caller's reservation becomes the result's
 * `block`: release the difference.
 */
struct page *page_shrink(struct page *page);

/*
 * Reading a page as batches: at most FST_BATCH_ROWS rows at a time, bytes as views into the page (valid as long
 * as the page), fixed columns copied into arrays of the cursor.
 */
struct page_cursor {
        const struct page *page;
        uint32_t at; /* offset of the next record */
        uint32_t row;
        fst_column key, value; /* the cursor's own arrays */
        fst_type type;
};

void page_cursor_init(struct page_cursor *cursor, fst_type type);
void page_cursor_deinit(struct page_cursor *cursor);
void page_cursor_start(struct page_cursor *cursor, const struct page *page);

/* The next batch of the page; false at its end. @batch is valid until the next call. */
bool page_cursor_next(struct page_cursor *cursor, fst_batch *batch);

/* Wire form: the header of @page into @header. */
void page_wire_header(const struct page *page, unsigned char header[static PAGE_WIRE_HEADER]);

/*
 * Read a wire header, checked against @type and @limit (bytes): *@bytes and *@rows are what follows. Errors:
 * -EBADMSG "not a page", "another type", "too large".
 */
int page_wire_check(const unsigned char header[static PAGE_WIRE_HEADER], fst_type type, size_t limit, uint32_t *bytes,
                    uint32_t *rows, uint64_t *checksum, struct fst_error *error);

/* Whether @page's records are whole: checksum, lengths and count. -EBADMSG otherwise. */
int page_validate(const struct page *page, uint64_t checksum, struct fst_error *error);
