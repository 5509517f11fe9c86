/*
 * Transformations of rows of any type. What is for pairs is in pair.h.
 */
#pragma once

#include <firesteel/function.h>
#include <firesteel/rdd.h>

FST_BEGIN_DECLS

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
 * Rows of any type in the order of a key computed from each, in as many partitions as @rdd has; @key has a form of map,
 * or is fst_fn_identity for rows that are no pairs.
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

/*
 * fst_rdd *fst_repartition(fst_rdd *rdd, int partitions): more partitions or fewer, of about equal size, by a shuffle
 * that deals out the rows of each partition in turn, from another place on for each, as Spark's does. Spark's coalesce
 * with shuffle = true is this, too.
 */
#define fst_repartition(rdd, partitions) fst_repartition_at((rdd), (partitions), FST_HERE("repartition"))
FST_API fst_rdd *fst_repartition_at(fst_rdd *rdd, int partitions, fst_site site);

/* Fewer partitions by putting neighbours together, without a shuffle. Never more than before. */
#define fst_coalesce(rdd, partitions) fst_coalesce_at((rdd), (partitions), FST_HERE("coalesce"))
FST_API fst_rdd *fst_coalesce_at(fst_rdd *rdd, int partitions, fst_site site);

/* The same by its other name, for functions that take batches. */
#define fst_map_batches(rdd, f, type) fst_map_partitions_at((rdd), FST_FN(f), (type), FST_HERE("map_batches"))

/*
 * fst_rdd *fst_map_partitions_with_index(fst_rdd *rdd, FUNCTION f, fst_type type): map_partitions whose function is
 * told which partition of @rdd it has.
 */
#define fst_map_partitions_with_index(rdd, f, type)                                                                    \
        fst_map_partitions_with_index_at((rdd), FST_FN(f), (type), FST_HERE("map_partitions_with_index"))
FST_API fst_rdd *fst_map_partitions_with_index_at(fst_rdd *rdd, fst_fn f, fst_type type, fst_site site);

/*
 * fst_rdd *fst_sample(fst_rdd *rdd, bool with_replacement, double fraction, int64_t seed)
 *
 * Some of the rows: each one or not, with the probability @fraction; or, with replacement, each as many times as a
 * Poisson distribution with that mean says. The same seed takes the same rows of the same partitions, and those that
 * Spark takes (with replacement, for a @fraction below 40). The partitioner is kept.
 */
#define fst_sample(rdd, with_replacement, fraction, seed)                                                              \
        fst_sample_at((rdd), (with_replacement), (fraction), (seed), FST_HERE("sample"))
FST_API fst_rdd *fst_sample_at(fst_rdd *rdd, bool with_replacement, double fraction, int64_t seed, fst_site site);

/*
 * void fst_random_split(fst_rdd *rdd, const double *weights, size_t n, int64_t seed, fst_rdd **splits)
 *
 * Each row into one of @n RDDs, which get shares of about @weights / (sum of the weights). @splits has room for @n. An
 * RDD that is computed anew must give its rows in the same order again: persist it before, or sort it.
 */
#define fst_random_split(rdd, weights, n, seed, splits)                                                                \
        fst_random_split_at((rdd), (weights), (n), (seed), (splits), FST_HERE("random_split"))
FST_API void fst_random_split_at(fst_rdd *rdd, const double *weights, size_t n, int64_t seed, fst_rdd **splits,
                                 fst_site site);

/*
 * fst_rdd *fst_zip_with_index(fst_rdd *rdd)
 * fst_rdd *fst_zip_with_unique_id(fst_rdd *rdd)
 *
 * Pairs of a row and its number as I64: 0, 1, … from partition to partition, for which the first action counts the
 * rows of all partitions but the last in a job of its own; or numbers that are unique, without a job: i, i + n, i + 2n
 * … in partition i of n. Rows that are pairs are BYTES there, in the form of fst_key_by.
 */
#define fst_zip_with_index(rdd) fst_zip_with_index_at((rdd), FST_HERE("zip_with_index"))
#define fst_zip_with_unique_id(rdd) fst_zip_with_unique_id_at((rdd), FST_HERE("zip_with_unique_id"))
FST_API fst_rdd *fst_zip_with_index_at(fst_rdd *rdd, fst_site site);
FST_API fst_rdd *fst_zip_with_unique_id_at(fst_rdd *rdd, fst_site site);

/*
 * fst_rdd *fst_zip(fst_rdd *a, fst_rdd *b)
 *
 * The i-th row of the one with the i-th row of the other, as pairs. Neither has pairs; both have as many partitions,
 * and as many rows in each: the job fails if they have not.
 */
#define fst_zip(a, b) fst_zip_at((a), (b), FST_HERE("zip"))
FST_API fst_rdd *fst_zip_at(fst_rdd *a, fst_rdd *b, fst_site site);

/*
 * fst_rdd *fst_zip_partitions(fst_rdd *a, fst_rdd *b, FUNCTION f, fst_type type)
 * fst_rdd *fst_zip_partitions_all(fst_context *sc, fst_rdd *const *rdds, size_t n, FUNCTION f, fst_type type)
 *
 * A function that reads partition i of all of them, through an iterator each, in whatever order, and emits rows of
 * @type. They have as many partitions, of rows of any types. The rows are set aside (on disk if need be) before the
 * function is called.
 */
#define fst_zip_partitions(a, b, f, type) fst_zip_partitions_at((a), (b), FST_FN(f), (type), FST_HERE("zip_partitions"))
#define fst_zip_partitions_all(sc, rdds, n, f, type)                                                                   \
        fst_zip_partitions_all_at((sc), (rdds), (n), FST_FN(f), (type), FST_HERE("zip_partitions"))
FST_API fst_rdd *fst_zip_partitions_at(fst_rdd *a, fst_rdd *b, fst_fn f, fst_type type, fst_site site);
FST_API fst_rdd *fst_zip_partitions_all_at(fst_context *sc, fst_rdd *const *rdds, size_t n, fst_fn f, fst_type type,
                                           fst_site site);

/*
 * fst_rdd *fst_cartesian(fst_rdd *a, fst_rdd *b)
 *
 * Pairs of every row of @a with every row of @b, neither of which has pairs. Of n and m partitions n × m are made; the
 * rows of a partition of @b are set aside, on disk if need be, and gone through for each row of @a.
 */
#define fst_cartesian(a, b) fst_cartesian_at((a), (b), FST_HERE("cartesian"))
FST_API fst_rdd *fst_cartesian_at(fst_rdd *a, fst_rdd *b, fst_site site);

/* Each partition in order (of keys, for pairs), without a shuffle. The partitioner is kept. */
#define fst_sort_within_partitions(rdd, order)                                                                         \
        fst_sort_within_partitions_at((rdd), (order), FST_HERE("sort_within_partitions"))
FST_API fst_rdd *fst_sort_within_partitions_at(fst_rdd *rdd, enum fst_order order, fst_site site);

/*
 * fst_rdd *fst_pipe(fst_rdd *rdd, const char *command)
 * fst_rdd *fst_pipe_with(fst_rdd *rdd, const char *const *words, const char *const *environment)
 *
 * The lines that a program prints, which is started for each partition and reads its rows as lines, in the form of
 * save_as_text_file. The words of @command are parted by spaces, without a shell; @words and @environment
 * ("NAME=value", besides the executor's; or NULL) end in NULL, and are copied. The task fails if the program cannot be
 * started or ends with a status that is not 0. It may stop reading before the rows end.
 */
#define fst_pipe(rdd, command) fst_pipe_at((rdd), (command), FST_HERE("pipe"))
#define fst_pipe_with(rdd, words, environment) fst_pipe_with_at((rdd), (words), (environment), FST_HERE("pipe"))
FST_API fst_rdd *fst_pipe_at(fst_rdd *rdd, const char *command, fst_site site);
FST_API fst_rdd *fst_pipe_with_at(fst_rdd *rdd, const char *const *words, const char *const *environment,
                                  fst_site site);

/*
 * fst_rdd *fst_group_by(fst_rdd *rdd, FUNCTION key, fst_type key_type)
 * fst_rdd *fst_group_by_n(fst_rdd *rdd, FUNCTION key, fst_type key_type, int partitions)
 *
 * Rows of any type by a key that a form of map computes from each: pairs of a key and a list of its rows (BYTES;
 * list.h), which must fit into memory. See fst_group_by_key.
 */
#define fst_group_by(rdd, key, key_type) fst_group_by_n(rdd, key, key_type, 0)
#define fst_group_by_n(rdd, key, key_type, partitions)                                                                 \
        fst_group_by_at((rdd), FST_FN(key), (key_type), (partitions), FST_HERE("group_by"))
FST_API fst_rdd *fst_group_by_at(fst_rdd *rdd, fst_fn key, fst_type key_type, int partitions, fst_site site);

/*
 * fst_rdd *fst_distinct(fst_rdd *rdd)              as many partitions as @rdd has
 * fst_rdd *fst_distinct_n(fst_rdd *rdd, int partitions)
 * fst_rdd *fst_intersection(fst_rdd *a, fst_rdd *b)
 * fst_rdd *fst_intersection_n(fst_rdd *a, fst_rdd *b, int partitions)
 * fst_rdd *fst_subtract(fst_rdd *a, fst_rdd *b)    as many partitions as @a has
 * fst_rdd *fst_subtract_n(fst_rdd *a, fst_rdd *b, int partitions)
 *
 * Each row once; each row that both have, once; the rows of @a that @b does not have, duplicates and all. Rows of any
 * type, pairs too, compare as a whole: as keys do (pair.h), pairs byte by byte.
 */
#define fst_distinct(rdd) fst_distinct_n(rdd, 0)
#define fst_distinct_n(rdd, partitions) fst_distinct_at((rdd), (partitions), FST_HERE("distinct"))
#define fst_intersection(a, b) fst_intersection_n(a, b, 0)
#define fst_intersection_n(a, b, partitions) fst_intersection_at((a), (b), (partitions), FST_HERE("intersection"))
#define fst_subtract(a, b) fst_subtract_n(a, b, 0)
#define fst_subtract_n(a, b, partitions) fst_subtract_at((a), (b), (partitions), FST_HERE("subtract"))
FST_API fst_rdd *fst_distinct_at(fst_rdd *rdd, int partitions, fst_site site);
FST_API fst_rdd *fst_intersection_at(fst_rdd *a, fst_rdd *b, int partitions, fst_site site);
FST_API fst_rdd *fst_subtract_at(fst_rdd *a, fst_rdd *b, int partitions, fst_site site);

/*
 * fst_rdd *fst_glom(fst_rdd *rdd): each partition as one row, the list (BYTES; list.h) of its rows; of an empty one the
 * empty list. A partition must fit into memory.
 */
#define fst_glom(rdd) fst_glom_at((rdd), FST_HERE("glom"))
FST_API fst_rdd *fst_glom_at(fst_rdd *rdd, fst_site site);

FST_END_DECLS
