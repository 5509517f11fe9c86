/* Maps in the driver (firesteel/map.h). */
#pragma once

#include "driver/context.h"
#include "rdd/aggregate/op_reduce.h"

#include <firesteel/map.h>

struct page;

/*
 * Makes a map of the rows in @pages, pairs of @type. The last of equal keys counts. Owns @pages, also on failure. The
 * context owns the map. Returns 0, or -ENOMEM with @error.
 */
int map_new(fst_context *sc, fst_type type, struct page *pages, fst_map **map, struct fst_error *error);
