/* The driver's maps (firesteel/map.h). */
#pragma once

#include "driver/context.h"
#include "rdd/aggregate/op_reduce.h"

#include <firesteel/map.h>

struct page;

/*
 * A map of the rows of @pages, pairs of @type, which it takes; of equal keys the last one's value counts. It belongs to
 * the context.
 */
fst_map *map_new(fst_context *sc, fst_type type, struct page *pages);
