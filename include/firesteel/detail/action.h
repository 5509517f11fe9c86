/* Variables and results of actions. Private: do not use these names. */
#pragma once

#include <firesteel/iter.h>

#include <firesteel/detail/variable.h>

FST_BEGIN_DECLS

struct fst_map;
struct fst_statistics;
struct fst_buckets;

FST_REFUSE(fst_iter **, fst_refuse_rows,
           "this macro writes to an iterator: fst_iter *rows; fst_collect(rdd, &rows); see firesteel/action.h");
FST_REFUSE(struct fst_map **, fst_refuse_map,
           "this macro writes to a map: fst_map *map; fst_count_by_key(pairs, &map); see firesteel/map.h");
FST_REFUSE(struct fst_statistics *, fst_refuse_statistics,
           "fst_stats writes to a struct fst_statistics: see firesteel/action.h");
FST_REFUSE(struct fst_buckets *, fst_refuse_buckets,
           "fst_histogram writes to a struct fst_buckets: see firesteel/action.h");

#define FST_ROWS_TO(p) FST_POINTER_TO(fst_iter *, p, fst_refuse_rows)
#define FST_MAP_TO(p) FST_POINTER_TO(fst_map *, p, fst_refuse_map)
#define FST_STATISTICS_TO(p) FST_POINTER_TO(struct fst_statistics, p, fst_refuse_statistics), sizeof(*(p))
#define FST_BUCKETS_TO(p) FST_POINTER_TO(struct fst_buckets, p, fst_refuse_buckets), sizeof(*(p))

#define FST_NO_VARIABLE ((fst_variable){0})
#define FST_FIRST_1(rdd, row) fst_first_at((rdd), FST_VARIABLE(row), FST_NO_VARIABLE, FST_HERE("first"))
#define FST_FIRST_2(rdd, key, value) fst_first_at((rdd), FST_VARIABLE(key), FST_VARIABLE(value), FST_HERE("first"))
#define FST_FIRST_PICK(a, b, name, ...) name

FST_END_DECLS
