/*
 * Transformations of rows of any type. Those of pairs are in pair.h.
 */
#pragma once

#include <firesteel/function.h>
#include <firesteel/rdd.h>

FST_BEGIN_DECLS

/* fst_rdd *fst_map(fst_rdd *rdd, FUNCTION f, fst_type type): one row for each row. function.h lists the forms. */
#define fst_map(rdd, f, type) fst_map_at((rdd), FST_FN(f), (type), FST_HERE("map"))
FST_API fst_rdd *fst_map_at(fst_rdd *rdd, fst_fn f, fst_type type, fst_site site);

/* fst_rdd *fst_flat_map(fst_rdd *rdd, FUNCTION f, fst_type type): any number of rows for each row. */
#define fst_flat_map(rdd, f, type) fst_flat_map_at((rdd), FST_FN(f), (type), FST_HERE("flat_map"))
FST_API fst_rdd *fst_flat_map_at(fst_rdd *rdd, fst_fn f, fst_type type, fst_site site);

/* fst_rdd *fst_filter(fst_rdd *rdd, FUNCTION f): the rows for which @f returns true. Keeps the partitioner. */
#define fst_filter(rdd, f) fst_filter_at((rdd), FST_FN(f), FST_HERE("filter"))
FST_API fst_rdd *fst_filter_at(fst_rdd *rdd, fst_fn f, fst_site site);

/*
 * fst_rdd *fst_map_partitions(fst_rdd *rdd, FUNCTION f, fst_type type)
 *
 * Call @f once for each partition, with an iterator of its rows; or for each batch of rows, in the form that takes a
 * batch.
 */
#define fst_map_partitions(rdd, f, type) fst_map_partitions_at((rdd), FST_FN(f), (type), FST_HERE("map_partitions"))
FST_API fst_rdd *fst_map_partitions_at(fst_rdd *rdd, fst_fn f, fst_type type, fst_site site);

/*
 * fst_rdd *fst_sort_by(fst_rdd *rdd, FUNCTION key, fst_type key_type, enum fst_order order)
 * fst_rdd *fst_sort_by_n(fst_rdd *rdd, FUNCTION key, fst_type key_type, enum fst_order order, int partitions)
 *
 * Sort rows of any type by a key that @key computes from each, into as many partitions as @rdd has. @key has a form of
 * map, or is fst_fn_identity for rows that are not pairs.
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
 * All rows of RDDs of one type, including duplicates: the partitions of the first, then those of the second, and so on.
 * If all of them have the same partitioner, partition i is made of all their partitions i, and the partitioner is kept.
 * The array is copied. A union of no RDDs has no partitions and no rows, of type BYTES.
 */
#define fst_union(a, b) fst_union_at((a), (b), FST_HERE("union"))
#define fst_union_all(sc, rdds, n) fst_union_all_at((sc), (rdds), (n), FST_HERE("union"))
FST_API fst_rdd *fst_union_at(fst_rdd *a, fst_rdd *b, fst_site site);
FST_API fst_rdd *fst_union_all_at(fst_context *sc, fst_rdd *const *rdds, size_t n, fst_site site);

/*
 * fst_rdd *fst_repartition(fst_rdd *rdd, int partitions)
 *
 * Change the number of partitions by a shuffle into partitions of about equal size. Each partition deals out its rows
 * in turn, starting at another target, as in Spark. This is also Spark's coalesce with shuffle = true.
 */
#define fst_repartition(rdd, partitions) fst_repartition_at((rdd), (partitions), FST_HERE("repartition"))
FST_API fst_rdd *fst_repartition_at(fst_rdd *rdd, int partitions, fst_site site);

/* Reduce the number of partitions by merging neighbours, without a shuffle. Never increases the number. */
#define fst_coalesce(rdd, partitions) fst_coalesce_at((rdd), (partitions), FST_HERE("coalesce"))
FST_API fst_rdd *fst_coalesce_at(fst_rdd *rdd, int partitions, fst_site site);

/* Another name of map_partitions, for functions that take batches. */
#define fst_map_batches(rdd, f, type) fst_map_partitions_at((rdd), FST_FN(f), (type), FST_HERE("map_batches"))

/*
 * fst_rdd *fst_map_partitions_with_index(fst_rdd *rdd, FUNCTION f, fst_type type): map_partitions whose function also
 * gets the index of the partition in @rdd.
 */
#define fst_map_partitions_with_index(rdd, f, type)                                                                    \
        fst_map_partitions_with_index_at((rdd), FST_FN(f), (type), FST_HERE("map_partitions_with_index"))
FST_API fst_rdd *fst_map_partitions_with_index_at(fst_rdd *rdd, fst_fn f, fst_type type, fst_site site);

/*
 * fst_rdd *fst_sample(fst_rdd *rdd, bool with_replacement, double fraction, int64_t seed)
 *
 * A random sample. Without replacement, each row is taken with probability @fraction; with replacement, each row is
 * taken a number of times that follows a Poisson distribution with that mean. The same seed takes the same rows of the
 * same partitions, which are the rows that Spark takes (with replacement, for a @fraction below 40). Keeps the
 * partitioner.
 */
#define fst_sample(rdd, with_replacement, fraction, seed)                                                              \
        fst_sample_at((rdd), (with_replacement), (fraction), (seed), FST_HERE("sample"))
FST_API fst_rdd *fst_sample_at(fst_rdd *rdd, bool with_replacement, double fraction, int64_t seed, fst_site site);

/*
 * void fst_random_split(fst_rdd *rdd, const double *weights, size_t n, int64_t seed, fst_rdd **splits)
 *
 * Split the rows at random into @n RDDs, with shares of about @weights / (sum of the weights). @splits has room for @n.
 * Each recomputation of @rdd must produce its rows in the same order: persist or sort it first.
 */
#define fst_random_split(rdd, weights, n, seed, splits)                                                                \
        fst_random_split_at((rdd), (weights), (n), (seed), (splits), FST_HERE("random_split"))
FST_API void fst_random_split_at(fst_rdd *rdd, const double *weights, size_t n, int64_t seed, fst_rdd **splits,
                                 fst_site site);

/*
 * fst_rdd *fst_zip_with_index(fst_rdd *rdd)
 * fst_rdd *fst_zip_with_unique_id(fst_rdd *rdd)
 *
 * Pairs of a row and a number, I64. zip_with_index numbers the rows 0, 1, … across partitions. Its first action runs
 * a job that counts the rows of all partitions but the last. zip_with_unique_id needs no job: rows of partition i of
 * n get i, i + n, i + 2n, …. Rows that are pairs become BYTES, in the form of fst_key_by.
 */
#define fst_zip_with_index(rdd) fst_zip_with_index_at((rdd), FST_HERE("zip_with_index"))
#define fst_zip_with_unique_id(rdd) fst_zip_with_unique_id_at((rdd), FST_HERE("zip_with_unique_id"))
FST_API fst_rdd *fst_zip_with_index_at(fst_rdd *rdd, fst_site site);
FST_API fst_rdd *fst_zip_with_unique_id_at(fst_rdd *rdd, fst_site site);

/*
 * fst_rdd *fst_zip(fst_rdd *a, fst_rdd *b)
 *
 * Pairs of the i-th row of @a and the i-th row of @b. Neither RDD may have pairs. Both must have the same number of
 * partitions, and of rows in each partition. Otherwise the job fails.
 */
#define fst_zip(a, b) fst_zip_at((a), (b), FST_HERE("zip"))
FST_API fst_rdd *fst_zip_at(fst_rdd *a, fst_rdd *b, fst_site site);

/*
 * fst_rdd *fst_zip_partitions(fst_rdd *a, fst_rdd *b, FUNCTION f, fst_type type)
 * fst_rdd *fst_zip_partitions_all(fst_context *sc, fst_rdd *const *rdds, size_t n, FUNCTION f, fst_type type)
 *
 * Call @f with an iterator for partition i of each RDD. @f reads them in any order and emits rows of @type. The RDDs
 * must have the same number of partitions. Their types may differ. Rows are buffered before the call, on disk if
 * necessary.
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
 * All pairs of a row of @a and a row of @b. Neither RDD may have pairs. n and m partitions become n × m. The rows of a
 * partition of @b are buffered, on disk if necessary, and read again for each row of @a.
 */
#define fst_cartesian(a, b) fst_cartesian_at((a), (b), FST_HERE("cartesian"))
FST_API fst_rdd *fst_cartesian_at(fst_rdd *a, fst_rdd *b, fst_site site);

/* Sort each partition (of pairs: by key) without a shuffle. Keeps the partitioner. */
#define fst_sort_within_partitions(rdd, order)                                                                         \
        fst_sort_within_partitions_at((rdd), (order), FST_HERE("sort_within_partitions"))
FST_API fst_rdd *fst_sort_within_partitions_at(fst_rdd *rdd, enum fst_order order, fst_site site);

/*
 * fst_rdd *fst_pipe(fst_rdd *rdd, const char *command)
 * fst_rdd *fst_pipe_with(fst_rdd *rdd, const char *const *words, const char *const *environment)
 *
 * The output lines of a program. Each partition starts the program, which reads the rows as lines in the form of
 * save_as_text_file. @command is split at spaces. No shell is involved. @words and @environment ("NAME=value", in
 * addition to the executor's; or NULL) end in NULL and are copied. The task fails if the program cannot be started or
 * exits with a status other than 0. The program may stop reading before the rows end.
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
 * Group rows of any type by a key, which @key, a form of map, computes from each. Returns pairs of a key and the list
 * of its rows (BYTES; list.h), which must fit into memory. See fst_group_by_key.
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
 * Each row once; each row that both RDDs have, once; the rows of @a that @b does not have, including duplicates. Rows
 * of any type, also pairs, compare as a whole: as keys do (pair.h), and pairs byte by byte.
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
 * fst_rdd *fst_glom(fst_rdd *rdd)
 *
 * One row for each partition: the list of its rows (BYTES; list.h), which is empty for an empty partition. A partition
 * must fit into memory.
 */
#define fst_glom(rdd) fst_glom_at((rdd), FST_HERE("glom"))
FST_API fst_rdd *fst_glom_at(fst_rdd *rdd, fst_site site);

FST_END_DECLS
