/*
 * The page: the only owned form of rows. A shuffle block, a spill run, a cached partition and a transfer between
 * processes consist of pages. Records follow each other without padding, little-endian, position-independent:
 *
 *      [key length u32] [value length u32] key value
 *
 * A length is present only for kind BYTES. A type that is not a pair has no value. In memory a page is this struct and
 * its bytes in one block. Elsewhere a 32-byte header (PAGE_WIRE_HEADER) comes first:
 *
 *      magic "FSP1" u32 | type tag u32 | key size u32 | value size u32 | rows u32 | bytes u32 | xxh3 of bytes u64
 *
 * A page of a map output may also consist of values whose keys are elsewhere (page_new_values). It is read as any
 * other, but it has no wire header: it becomes records before it leaves the process' memory.
 *
 * Blocks of 256 KiB come from a process-wide pool and return to it. A larger record has its own page outside of the
 * pool. Consumers reserve the pool's memory (store/memory.h).
 */
#pragma once

#include "store/memory.h"

#include <firesteel/iter.h>

#include <stdint.h>

struct fst_error;

#define PAGE_BLOCK ((size_t)256 << 10) /* bytes of a pool block, including the struct */
#define PAGE_WIRE_HEADER 32
#define PAGE_MAGIC 0x31505346u /* "FSP1" */

struct page {
        struct page *next; /* in the list that holds it */
        uint32_t block;    /* bytes of the block, which are reserved for it */
        uint32_t capacity; /* bytes of data */
        uint32_t used;     /* bytes of data */
        uint32_t rows;
        fst_type type;
        uint32_t segments;                /* not 0: rows are not records (shuffle/buckets/bucket_page.h) */
        const struct page_key_part *keys; /* the data is the values of these keys (page_new_values); NULL: none are */
        unsigned char data[] __attribute__((aligned(16)));
};

#define PAGE_CAPACITY (PAGE_BLOCK - sizeof(struct page))

/* True if rows of @type can exist: for types from outside of the process. */
bool page_type_valid(fst_type type);

/*
 * Makes a page with room for a record of at least @record bytes. Reserves through @c (NULL: the caller accounts for
 * it). A patient consumer has one page at a time: if all other tasks wait, too, and it is denied a page of PAGE_BLOCK
 * bytes that fits into the task's share, it gets it without a reservation, because nothing else would continue.
 * Returns 0, FST_MEMORY_E_DENIED, or negative.
 */
int page_new(struct memory_consumer *c, fst_type type, size_t record, struct page **page);

/*
 * Makes the unreserved page of memory_task_share, after page_new was denied. The caller counts it. Returns as page_new.
 */
int page_new_unreserved(const struct memory_task *task, fst_type type, size_t record, struct page **page);

/*
 * Makes a page of @block bytes in all (a multiple of 16, less than PAGE_BLOCK) outside of the pool, for a caller that
 * needs more open pages than there are blocks. Returns as page_new.
 */
int page_new_small(struct memory_consumer *c, fst_type type, size_t block, struct page **page);

/* Returns the bytes that page_new reserves for a record of @record bytes; SIZE_MAX if that is too large. */
size_t page_block_size(size_t record);

/* Frees a page, or a whole list. @c is the consumer that reserved it, or NULL. NULL pages are allowed. */
void page_free(struct memory_consumer *c, struct page *page);
void page_list_free(struct memory_consumer *c, struct page *first);

/* Returns the pool's free blocks to the system. For tests, and between jobs. */
void page_pool_trim(void);

/* Returns the bytes of row @row of @batch as a record. */
size_t page_record_size(const fst_batch *batch, uint32_t row);

/* Appends rows first … of @batch while they fit. Returns their number. */
uint32_t page_append(struct page *page, const fst_batch *batch, uint32_t first);

/* Appends one row. Returns false (page unchanged) if it does not fit. */
bool page_append_row(struct page *page, const fst_batch *batch, uint32_t row);

/*
 * Provides in *@open, which is NULL or full, a page with room for a record of @record bytes. Keeps the full page.
 * Returns 0, or a status that stops the scatter with *@open unchanged or NULL.
 */
typedef int (*page_full_fn)(void *owner, uint32_t partition, size_t record, struct page **open);

/*
 * Appends each row r of @batch, from *@first on, to one of @n_open pages, open[partition[r]]. @full makes room. Returns
 * 0 with *@first == batch->rows, or the status of @full with *@first the row that was not appended, so that the call
 * can be repeated after a spill. Several times as fast as page_append_row for each row.
 */
int page_scatter(const fst_batch *batch, const uint32_t *partition, uint32_t *first, struct page **open,
                 uint32_t n_open, page_full_fn full, void *owner);

/*
 * Returns the same rows in a page of exactly their size, for pages that are kept long, and returns @page to the pool;
 * or @page itself if that would save little. The caller releases the difference to the result's `block` from its
 * reservation.
 */
struct page *page_shrink(struct page *page);

/*
 * Reads a page as batches of at most FST_BATCH_ROWS rows. Byte strings point into the page (and live as long). Fixed
 * columns are copied to arrays of the cursor.
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

/* Gets the next batch of the page, valid until the next call. Returns false at the end. */
bool page_cursor_next(struct page_cursor *cursor, fst_batch *batch);

/* Writes the wire header of @page to @header. */
void page_wire_header(const struct page *page, unsigned char header[static PAGE_WIRE_HEADER]);

/*
 * Reads a wire header and checks it against @type and @limit (bytes). *@bytes and *@rows describe the following data.
 * Returns -EBADMSG with "not a page", "another type" or "too large".
 */
int page_wire_check(const unsigned char header[static PAGE_WIRE_HEADER], fst_type type, size_t limit, uint32_t *bytes,
                    uint32_t *rows, uint64_t *checksum, struct fst_error *error);

/* Checks @page's checksum, lengths and count. Returns -EBADMSG if they do not match. */
int page_validate(const struct page *page, uint64_t checksum, struct fst_error *error);

/*
 * Keys that pages share. A page of values (page_new_values) has an I64 for each key of one part, in order, and no copy
 * of the keys: several map tasks of a slot have mostly the same ones. The value 0 says that the key has no row.
 *
 * It does not change once it is shared. Any thread.
 */
struct page_key_part {
        struct page_keys *owner;
        uint32_t number;
};

struct page_keys {
        int refs; /* atomic */
        uint32_t parts, n;
        uint32_t *start; /* by part: its first key; start[parts] is n */
        struct page_key_part *part;
        fst_bytes *keys;
        char *text; /* of the keys; 16 bytes behind it can be read */
        struct memory_manager *manager;
        size_t memory; /* storage that is reserved */
};

/* Allocates room for @n keys of @bytes bytes in all, to be filled in by the caller, with one reference. Returns NULL if
 * the manager has no fixed storage for it, or the system no memory. */
struct page_keys *page_keys_new(struct memory_manager *manager, uint32_t parts, uint32_t n, size_t bytes);

struct page_keys *page_keys_ref(struct page_keys *keys);

/* NULL is allowed. */
void page_keys_unref(struct page_keys *keys);

/* Makes a page with room for a value of each key of @part, and takes a reference to @keys. The caller sets the values,
 * and `rows` and `used` to what records of these rows would have. Returns as page_new. */
int page_new_values(struct memory_consumer *c, fst_type type, struct page_keys *keys, uint32_t part,
                    struct page **page);

/* The values of such a page, their number, and their keys. */
static inline int64_t *page_values(const struct page *page)
{
        return (int64_t *)page->data;
}

static inline uint32_t page_values_count(const struct page *page)
{
        const uint32_t *start = page->keys->owner->start + page->keys->number;
        return start[1] - start[0];
}

static inline const fst_bytes *page_values_keys(const struct page *page)
{
        return page->keys->owner->keys + page->keys->owner->start[page->keys->number];
}
