/*
 * Joins two sides whose rows are all in memory, without sorting them: partitions both by further bits of their keys'
 * hashes, so that each partition's table fits the near caches, makes a table of the smaller side (join_table.h), and
 * searches in it for the rows of the other. Gathers the columns of matching rows and passes them on in batches.
 *
 * Rows come out in the order of the searching side's rows, partition by partition.
 */
#pragma once

#include "rdd/cogroup/join_table.h"
#include "rdd/cogroup/op_cogroup.h"
#include "rdd/pipeline/columns.h"

/*
 * Gets @n rows of a join: row i is left[i] and right[i]. @left has the keys. In an outer join a whole side may be
 * missing: its value column is NULL. Returns 0, or a status that ends the join.
 */
typedef int (*hash_join_rows_fn)(void *owner, const fst_batch *left, const fst_batch *right, uint32_t n);

/* What hash_join_start prepares. The filters pass on rows of the left side alone: @right has no columns. */
enum hash_filter {
        HASH_JOIN,      /* each row with each of the other side */
        HASH_SUBTRACT,  /* rows whose key the right side does not have */
        HASH_INTERSECT, /* one row of each key that both sides have */
};

struct hash_join {
        struct memory_consumer memory;
        struct join_partitions sides[2];
        enum join_side built;
        uint32_t preserved; /* bits of the sides whose rows without a match are passed on */
        enum hash_filter filter;
        struct columns columns[2];
        struct join_table table;
        struct join_search search;
        hash_join_rows_fn rows;
        void *owner;
        bool started;
};

struct hash_join *hash_join_new(void);

/* Frees the memory and returns its reservation. NULL is allowed. */
void hash_join_free(struct hash_join *j);

/*
 * Prepares for the rows of @left and @right, in the order in which they were added. @preserved is for HASH_JOIN.
 * Returns 0, FST_MEMORY_E_DENIED if there is no memory for the tables (the indexes have not changed), or negative.
 */
int hash_join_start(struct hash_join *j, struct memory_task *memory, struct sort_index *left, struct sort_index *right,
                    enum hash_filter filter, uint32_t preserved);

/* Passes all rows to @rows. The indexes cannot be used afterwards. Returns 0, or the status of @rows. */
int hash_join_run(struct hash_join *j, hash_join_rows_fn rows, void *owner);

/* Frees the tables and returns their reservation, for the next task. */
void hash_join_end(struct hash_join *j);
