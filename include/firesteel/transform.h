/*
 * Transformations of rows of any type. What is for pairs is in pair.h.
 */
#pragma once

#include <firesteel/function.h>
#include <firesteel/rdd.h>

/* fst_rdd *fst_map(fst_rdd *rdd, FUNCTION f, fst_type type): one row for each; see function.h for the forms. */
#define fst_map(rdd, f, type) fst_map_at((rdd), FST_FN(f), (type), FST_HERE("map"))
FST_API fst_rdd *fst_map_at(fst_rdd *rdd, fst_fn f, fst_type type, fst_site site);

/* fst_rdd *fst_flat_map(fst_rdd *rdd, FUNCTION f, fst_type type): any number of rows for each. */
#define fst_flat_map(rdd, f, type) fst_flat_map_at((rdd), FST_FN(f), (type), FST_HERE("flat_map"))
FST_API fst_rdd *fst_flat_map_at(fst_rdd *rdd, fst_fn f, fst_type type, fst_site site);

/* fst_rdd *fst_filter(fst_rdd *rdd, FUNCTION f): the rows for which @f is true. The partitioner is kept. */
#define fst_filter(rdd, f) fst_filter_at((rdd), FST_FN(f), FST_HERE("filter"))
FST_API fst_rdd *fst_filter_at(fst_rdd *rdd, fst_fn f, fst_site site);

/*
 * fst_rdd *fst_map_partitions(fst_rdd *rdd, FUNCTION f, fst_type type): a whole partition at a time, read through
 * an iterator, or batch by batch.
 */
#define fst_map_partitions(rdd, f, type) fst_map_partitions_at((rdd), FST_FN(f), (type), FST_HERE("map_partitions"))
FST_API fst_rdd *fst_map_partitions_at(fst_rdd *rdd, fst_fn f, fst_type type, fst_site site);

/*
 * fst_rdd *fst_sort_by(fst_rdd *rdd, FUNCTION key, fst_type key_type, enum fst_order order)
 * fst_rdd *fst_sort_by_n(fst_rdd *rdd, FUNCTION key, fst_type key_type, enum fst_order order, int partitions)
 *
 * Rows of any type in the order of a key computed from each; @key has a form of map, or is fst_identity for rows
 * that are no pairs.
 */
#define fst_sort_by(rdd, key, key_type, order) fst_sort_by_n(rdd, key, key_type, order, 0)
#define fst_sort_by_n(rdd, key, key_type, order, partitions)                                                           \
        fst_sort_by_at((rdd), FST_FN(key), (key_type), (order), (partitions), FST_HERE("sort_by"))
FST_API fst_rdd *fst_sort_by_at(fst_rdd *rdd, fst_fn key, fst_type key_type, enum fst_order order, int partitions,
                                fst_site site);

/*
 * fst_rdd *fst_union(fst_rdd *a, fst_rdd *b)
 * fst_rdd *fst_union_all(fst_context *sc, fst_rdd *const *rdds, size_t n)
 *
 * The rows of RDDs of one type, duplicates and all: the partitions of the first, then those of the second, … If equal
 * keys are in the same partitions of all of them (they have one partitioner), partition i is all their partitions i,
 * and the partitioner is kept. The array is copied.
 */
#define fst_union(a, b) fst_union_at((a), (b), FST_HERE("union"))
#define fst_union_all(sc, rdds, n) fst_union_all_at((sc), (rdds), (n), FST_HERE("union"))
FST_API fst_rdd *fst_union_at(fst_rdd *a, fst_rdd *b, fst_site site);
FST_API fst_rdd *fst_union_all_at(fst_context *sc, fst_rdd *const *rdds, size_t n, fst_site site);

/* Fewer partitions by putting neighbours together, without a shuffle. Never more than before. */
#define fst_coalesce(rdd, partitions) fst_coalesce_at((rdd), (partitions), FST_HERE("coalesce"))
FST_API fst_rdd *fst_coalesce_at(fst_rdd *rdd, int partitions, fst_site site);
