/*
 * Kept keys of a combining table that the outputs of several map tasks share: an output then has values only, and its
 * reader finds each key once for all of these outputs (op_combine.c).
 *
 * The table shares keys that a task before this one had, too. Keys that come later are rows as before, until they are
 * so many that all keys are shared anew.
 */
#pragma once

#include "rdd/aggregate/combine_table.h"
#include "store/page.h"

struct memory_manager;
struct partitioner;

/* The bytes that are reserved for sharing. */
static inline size_t table_sharing_bytes(const struct combine_table *t)
{
        return t->shared ? t->shared->n * sizeof(*t->places) : 0;
}

/*
 * Returns the keys that an output may share, by partition of @partitioner (a HASH one), or NULL: the table has no keys
 * of an earlier task, too few for the number of partitions, or too large ones, or memory is denied. Borrowed.
 */
struct page_keys *table_share(struct combine_table *t, const struct partitioner *partitioner,
                              struct memory_manager *manager);

/* Moves the values of partition @part from the table into @page (page_new_values), and sets its `rows` and `used`.
 * After the last partition, table_read only has keys that are not shared. */
void table_take_values(struct combine_table *t, uint32_t part, struct page *page);

/* Forgets what is shared; the keys stay. The caller releases table_sharing_bytes before. */
void table_unshare(struct combine_table *t);
