/* Maps in the driver (firesteel/map.h). */
#pragma once

#include "driver/context.h"
#include "rdd/aggregate/op_reduce.h"

#include <firesteel/map.h>

struct page;

/*
 * Make a map of the rows in @pages, pairs of @type. The last of equal keys counts. Owns @pages. The context owns the
 * map.
 */
fst_map *map_new(fst_context *sc, fst_type type, struct page *pages);
