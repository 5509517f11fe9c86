/* What is known of the size of an RDD before it is computed. */
#pragma once

#include "rdd/rdd.h"

#define SIZE_UNKNOWN INT64_MAX

/* Upper bounds; SIZE_UNKNOWN if there is none. */
struct known_size {
        int64_t rows, bytes;
};

/*
 * Finds bounds from the lineage alone, so that the same program finds the same ones in each run: rows of parallelize
 * and range, and of operators that make at most one row of each. Caches, files and earlier jobs make no difference.
 */
struct known_size rdd_known_size(const fst_rdd *rdd);
