/* Rows of one side of a join, as entries of a sort index or as a batch that arrives, and their columns. */
#pragma once

#include "rdd/pipeline/columns.h"
#include "rdd/sort/sort_index.h"

/* How keys are compared. */
enum join_key {
        JOIN_KEY_I64,   /* by the prefixes of entries */
        JOIN_KEY_F64,   /* the same, where -0.0 is 0.0 */
        JOIN_KEY_BYTES, /* by the keys themselves; the prefix is the hash of the key */
};

enum join_key join_key_of(fst_type type);

struct join_rows {
        const struct sort_entry *entries;
        uint32_t n;
        fst_type type;
        const fst_batch *batch; /* the rows, if the entries have only prefixes; else NULL */
};

/* The rows of @batch, for searches. Writes their entries, without values, to @entries, which has room for them. */
struct join_rows join_rows_of_batch(const fst_batch *batch, struct sort_entry *entries);

/* The key of BYTES or FIXED of row @row. */
fst_bytes join_rows_key(const struct join_rows *rows, uint32_t row);

/* Gathers rows @at[0 … @n) into @columns, with their keys only if @keys. Views live as long as the rows. */
fst_batch join_rows_gather(const struct join_rows *rows, const struct columns *columns, bool keys, const uint32_t *at,
                           uint32_t n);
