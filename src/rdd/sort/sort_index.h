/*
 * The index of a sort: for each record the first eight bytes of its key, as a number that sorts as the key does,
 * and where the record is. Sixteen bytes move instead of the record. Where these can hold all of a row, a number with
 * a value of at most eight bytes beside it, they are the row: there are no records then, and nothing to gather in the end.
 *
 * The memory is two arrays of the same length, one of them for the sort to write into; both are reserved as entries
 * are added and mapped once, so that growing copies nothing. It is kept from task to task.
 */
#pragma once

#include "rdd/pipeline/record.h"
#include "store/page.h"

struct sort_entry {
        uint64_t prefix;
        union {
                const unsigned char *record;
                uint64_t value; /* of a whole row */
        };
};

/* Whether entries can hold whole rows of @type. NaNs as keys are all the same one then. */
static inline bool sort_index_holds(fst_type type)
{
        return (type.key == FST_KIND_I64 || type.key == FST_KIND_F64) && type.value != FST_KIND_BYTES &&
               type.value_size <= sizeof(uint64_t);
}

struct sort_index {
        struct sort_entry *entries, *other; /* `other`: what the sort writes into */
        size_t n;
        size_t room;   /* entries that are reserved (twice 16 bytes each) */
        size_t mapped; /* entries for which there are addresses */
        size_t peak;   /* the largest n since sort_index_start */
        bool whole;    /* entries are rows */
        bool in_order; /* each entry that was added belongs behind the one before: there is nothing to sort */
        struct memory_consumer *memory;
        struct record_order order;
};

/* Begin empty; what is left of the last time is reserved if it was put to use and memory allows. */
void sort_index_start(struct sort_index *ix, struct record_order order, struct memory_consumer *memory);

/* Make room for @rows further entries: 0; FST_MEMORY_E_DENIED; negative as memory_acquire. */
int sort_index_reserve(struct sort_index *ix, size_t rows);

/* Add rows @first … of @batch, @rows of them, for which room was made, to an index of whole rows. */
void sort_index_add_rows(struct sort_index *ix, const fst_batch *batch, uint32_t first, uint32_t rows);

/*
 * Add @rows records of @page from @record on, for which room was made; the page stays where it is until
 * sort_index_clear. Returns where the next record is.
 */
const unsigned char *sort_index_add(struct sort_index *ix, const struct page *page, const unsigned char *record,
                                    uint32_t rows);

/*
 * Sort; equal keys keep their order. Prefixes mean nothing afterwards where keys are bytes. Rows that came in order
 * cost nothing here: what is sorted once, or grouped and cached, may be joined again and again.
 */
void sort_index_sort(struct sort_index *ix);

/* Rows @first … of the sorted index, @room at most, into the columns of @batch; views last as long as the pages. */
uint32_t sort_index_read(const struct sort_index *ix, size_t first, uint32_t room, fst_batch *batch);

/* The key of an entry that is a row: the bits of its column. */
uint64_t sort_index_key(const struct sort_index *ix, const struct sort_entry *entry);

/* No entries any more; the reservation stays. */
void sort_index_clear(struct sort_index *ix);

/* Give back what an index without entries has beyond room for @entries. */
void sort_index_shrink(struct sort_index *ix, size_t entries);

/* Give the reservation back, keep the memory. */
void sort_index_release(struct sort_index *ix);

/* Unmap an index that was released or never started. */
void sort_index_free(struct sort_index *ix);
