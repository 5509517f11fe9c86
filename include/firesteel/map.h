/*
 * Maps at the driver: the results of count_by_key, count_by_value, collect_as_map and reduce_by_key_locally.
 *
 *      fst_map *counts;
 *      int64_t n;
 *      fst_count_by_value(words, &counts);
 *      if (fst_map_get(counts, "spark", &n))
 *              printf("%" PRId64 " times\n", n);
 *
 * A map and the bytes in it belong to the context. A map does not change, and any thread may read it.
 */
#pragma once

#include <firesteel/iter.h>

FST_BEGIN_DECLS

typedef struct fst_map fst_map;

/* The number of keys. */
FST_API int64_t fst_map_count(const fst_map *map);

/*
 * bool fst_map_get(const fst_map *map, K key, V *value)
 *
 * Look up @key, and write its value to *@value. Returns false if the map does not have the key. Keys have the types of
 * fst_emit (integers of any width, doubles, fst_bytes or C strings, a pointer to a struct). Values have those of
 * fst_reduce (int64_t *, double *, fst_bytes *, a struct). If a type is not the map's, fst_map_get logs an error and
 * returns false.
 */
#define fst_map_get(map, key, value) fst_map_get_at((map), FST_KEY(key), FST_VARIABLE(value))

/* Iterate over keys and values, from the first. Each call starts again. */
FST_API fst_iter *fst_map_rows(fst_map *map);

FST_END_DECLS

#include <firesteel/detail/map.h>
