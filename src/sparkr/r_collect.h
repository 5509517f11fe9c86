/* Collects the rows of an RDD for R. Unlike the rows of fst_collect, R's go when R drops them. */
#pragma once

#include "sparkr/r_objects.h"

struct fst_error;

/*
 * Collects partitions of @rdd (@partitions NULL: all). Returns 0 with the pages and columns of *@rows, which
 * r_object_unref frees, or a negative status with @error.
 */
int r_collect(fst_rdd *rdd, const int *partitions, int n, struct r_rows *rows, struct fst_error *error);
