/*
 * Scatters pairs of numbers into buckets: parts of a partition that a hash of the key chooses. A reduce task combines
 * the rows of one bucket after another, in a table that fits its core's cache, where that of all keys of a partition
 * would not.
 *
 * Rows gather in a segment for each bucket of each partition. A full segment goes to a page of its partition.
 */
#pragma once

#include "shuffle/buckets/bucket_page.h"

struct bucket_scatter;

/* Bits of the bucket's number within each of @partitions partitions; 0: there are too many partitions. */
uint32_t bucket_bits(int partitions);

/* Bytes of a bucket_scatter, for the caller to reserve. */
size_t bucket_scatter_size(int partitions);

/* Makes an empty one for @partitions with bucket_bits. NULL if the system has no memory. */
struct bucket_scatter *bucket_scatter_new(int partitions);
void bucket_scatter_free(struct bucket_scatter *s);

/* As in page_scatter, but *@open must become an empty page after bucket_page_init. */
typedef int (*bucket_page_full_fn)(void *owner, uint32_t partition, struct page **open);

/* Appends each row of @batch, which are of a type that bucket_page_takes and have @hashes. Returns 0 or the status of
 * @full, after which the scatter must not be used. */
int bucket_scatter_rows(struct bucket_scatter *s, const fst_batch *batch, const uint64_t *hashes, struct page **open,
                        bucket_page_full_fn full, void *owner);

/* Moves the rows that still gather to pages. Returns the same. */
int bucket_scatter_flush(struct bucket_scatter *s, struct page **open, bucket_page_full_fn full, void *owner);
