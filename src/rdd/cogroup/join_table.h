/*
 * A hash table of the rows of one side of a join, all in memory, and the search in it for the rows of the other side.
 *
 *      join_table_alloc(&t, rows)                              the maximum of all tables to come
 *      join_table_build(&t, key, built, skipped);              for each partition of the sides
 *      join_search_start(&s, &t, probing, room, lists_missing);
 *      while (join_search_next(&s)) … use s.pairs and s.missing
 *      join_table_free(&t);
 *
 * Rows are entries of a sort index (rdd/sort/sort_index.h), which need not be in order. The table has no pointers: a
 * bucket holds the number of its first row, and each row that of the next row in its bucket. A table has at least as
 * many buckets as rows, also as rows of one key: the search for another key walks past those of a frequent one only if
 * it is in the same one of many buckets.
 *
 * Keys are equal as grouping requires (rdd/aggregate/hash.h).
 */
#pragma once

#include "rdd/cogroup/join_rows.h"

#define JOIN_PAIRS 1024 /* maximal number of pairs that a search returns at a time */
#define JOIN_GROUP 256  /* rows that a search looks up together, so that their memory accesses overlap */

struct join_table {
        enum join_key key;
        struct join_rows rows;
        unsigned skipped,
                bits;    /* of a hash: upper bits that all rows share; the following ones, which give the bucket */
        uint32_t *heads; /* by bucket: a row's number plus one; 0: the bucket is empty */
        uint32_t *next;  /* by a row's number plus one: the same of the next row; 0: it is the last */
        bool *matched;   /* by a row's number; for the caller; cleared by join_table_build */
        void *memory;
};

/* The bytes that join_table_alloc takes for tables of up to @rows rows. */
size_t join_table_bytes(size_t rows);

/* Allocates memory for tables of up to @rows rows. Returns false if the system refuses it. */
bool join_table_alloc(struct join_table *t, size_t rows);
void join_table_free(struct join_table *t);

/* Makes the table of @rows, which must outlive it. All their hashes have the same @skipped upper bits. */
void join_table_build(struct join_table *t, enum join_key key, struct join_rows rows, unsigned skipped);

struct join_search {
        const struct join_table *table;
        struct join_rows rows;
        uint32_t room;      /* of the lists of pairs and of missing rows */
        bool lists_missing; /* list rows that the table does not match */
        bool first_only;    /* list only the first row of a key; set after join_search_start */

        /* The group: rows @at … @at + @n, and for those whose buckets have further rows, the next of these, plus one.
         */
        uint32_t at, n, n_open;
        uint16_t open[JOIN_GROUP];
        uint32_t candidates[JOIN_GROUP];
        bool matched[JOIN_GROUP];

        struct {
                uint32_t n;
                uint32_t probing[JOIN_PAIRS], built[JOIN_PAIRS]; /* numbers of rows */
        } pairs;
        struct {
                uint32_t n;
                uint32_t probing[JOIN_PAIRS];
        } missing;
};

/* Starts the search for @rows. The lists hold @room numbers at most, 1 … JOIN_PAIRS. */
void join_search_start(struct join_search *s, const struct join_table *table, struct join_rows rows, uint32_t room,
                       bool lists_missing);

/* Gets the next pairs and rows without one. Returns false at the end. */
bool join_search_next(struct join_search *s);

/* ------------------------------------------------------------------------------------------------- partitions */

#define MAX_JOIN_BITS 10 /* the processor tracks only so many write addresses */

/*
 * A side of a join by the upper bits of its keys' hashes, so that the table of a partition fits the near caches.
 *
 *      join_partitions_count(&p, index, bits);                 changes nothing
 *      join_partitions_place(&p);                              rearranges the index's entries
 *      rows = join_partitions_rows(&p, i)
 */
struct join_partitions {
        struct sort_index *index;
        enum join_key key;
        unsigned bits;
        bool is_hashed;   /* index->other has the hashed entries of JOIN_KEY_BYTES */
        uint32_t largest; /* rows of the largest partition */
        uint32_t ends[1 << MAX_JOIN_BITS];
        const struct sort_entry *placed;
};

/* The number of bits so that the tables of @rows rows in all fit the near caches. */
unsigned join_partitions_bits(size_t rows);

/* Counts the rows of each partition. Uses the index's other array. */
void join_partitions_count(struct join_partitions *p, struct sort_index *index, unsigned bits);

/* Places each row into its partition, in the order in which they were added. The index cannot be sorted afterwards. */
void join_partitions_place(struct join_partitions *p);

struct join_rows join_partitions_rows(const struct join_partitions *p, uint32_t partition);
