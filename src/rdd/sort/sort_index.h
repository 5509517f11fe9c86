/*
 * The index of a sort: for each record, the first eight bytes of its key as a number in sort order, and the record's
 * address. Sorting moves sixteen bytes instead of the record. If an entry can hold a whole row, a number with a value
 * of at most eight bytes, it is the row: there are no records and no gathering at the end.
 *
 * The memory is two arrays of the same length, one of which is the target of the sort. Both are reserved as entries are
 * added and mapped once, so growing copies nothing. The memory is kept from task to task.
 */
#pragma once

#include "rdd/pipeline/record.h"
#include "store/page.h"

struct sort_entry {
        uint64_t prefix;
        union {
                const unsigned char *record;
                uint64_t value; /* the value of a whole row */
        };
};

/* True if entries can hold whole rows of @type. NaN keys then all become the same NaN. */
static inline bool sort_index_holds(fst_type type)
{
        return (type.key == FST_KIND_I64 || type.key == FST_KIND_F64) && type.value != FST_KIND_BYTES &&
               type.value_size <= sizeof(uint64_t);
}

struct sort_index {
        struct sort_entry *entries, *other; /* `other` is the target of the sort */
        size_t n;
        size_t room;   /* capacity in reserved entries (of 2 × 16 bytes) */
        size_t mapped; /* entries with mapped addresses */
        size_t peak;   /* the largest n since sort_index_start */
        bool whole;    /* entries are rows */
        bool in_order; /* each added entry belongs after its predecessor: no sort is needed */
        struct memory_consumer *memory;
        struct record_order order;
};

/* Starts empty. Reserves the arrays of the last task again if that task used them and memory allows. */
void sort_index_start(struct sort_index *ix, struct record_order order, struct memory_consumer *memory);

/* Reserves room for @rows further entries. Returns 0, FST_MEMORY_E_DENIED, or negative as memory_acquire. */
int sort_index_reserve(struct sort_index *ix, size_t rows);

/* Adds @rows rows of @batch from @first on to an index of whole rows. The room must be reserved. */
void sort_index_add_rows(struct sort_index *ix, const fst_batch *batch, uint32_t first, uint32_t rows);

/* Adds @rows records of @page from @record on. The room must be reserved. The page must not move until
 * sort_index_clear. Returns the address of the next record. */
const unsigned char *sort_index_add(struct sort_index *ix, const struct page *page, const unsigned char *record,
                                    uint32_t rows);

/* Sorts stably. Prefixes of byte keys are undefined afterwards. Rows added in order cost nothing: data that was sorted
 * or grouped once, and cached, may be joined many times. */
void sort_index_sort(struct sort_index *ix);

/*
 * Reads rows @first … of the sorted index, at most @room, into the columns of @batch. Views live as long as the pages.
 */
uint32_t sort_index_read(const struct sort_index *ix, size_t first, uint32_t room, fst_batch *batch);

/* The key of an entry that holds a row: the bits of its column. */
uint64_t sort_index_key(const struct sort_index *ix, const struct sort_entry *entry);

/* The same for rows apart from an index: writes the prefixes of @batch, whose keys are numbers, and reads keys from
 * prefixes. */
void sort_index_prefixes(const struct record_order *order, const fst_batch *batch, uint64_t *prefixes);
void sort_index_read_prefixes(const struct record_order *order, const uint64_t *prefixes, uint32_t rows,
                              fst_column keys);

/* Removes all entries and keeps the reservation. */
void sort_index_clear(struct sort_index *ix);

/* Shrinks an empty index to room for @entries. */
void sort_index_shrink(struct sort_index *ix, size_t entries);

/* Returns the reservation and keeps the memory mapped. */
void sort_index_release(struct sort_index *ix);

/* Unmaps an index that was released or never started. */
void sort_index_free(struct sort_index *ix);
