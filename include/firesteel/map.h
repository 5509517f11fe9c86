/*
 * Maps at the driver: what count_by_key, count_by_value, collect_as_map and reduce_by_key_locally answer.
 *
 *      fst_map *counts;
 *      int64_t n;
 *      fst_count_by_value(words, &counts);
 *      if (fst_map_get(counts, "spark", &n))
 *              printf("%ld times\n", n);
 *
 * A map belongs to its context, and so do the bytes that it gives; it does not change, and any thread may read it.
 */
#pragma once

#include <firesteel/iter.h>

FST_BEGIN_DECLS

typedef struct fst_map fst_map;

/* How many keys it has. */
FST_API int64_t fst_map_count(const fst_map *map);

/*
 * bool fst_map_get(const fst_map *map, K key, V *value)
 *
 * Whether @key is there; then *@value is its value. A key is given as to fst_emit (integers of any width, doubles,
 * fst_bytes or C strings, a pointer to a struct), a value as to fst_reduce (int64_t *, double *, fst_bytes *, a
 * struct). Of other types than the map's: false, and that is logged.
 */
#define fst_map_get(map, key, value) fst_map_get_at((map), FST_KEY(key), FST_VARIABLE(value))

/* Its keys and values one after another, from the first; each call begins anew. */
FST_API fst_iter *fst_map_rows(fst_map *map);

FST_END_DECLS

#include <firesteel/detail/map.h>
