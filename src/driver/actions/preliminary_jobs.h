/*
 * What lineage needs to know before it can be computed, and a job of its own finds out: the bounds of range
 * partitioners, how many rows lie before each partition, and the thresholds of exact samples.
 */
#pragma once

#include "rdd/rdd.h"

/* Find out all that computing @rdd needs; see preparation.c. 0, or negative with @error. */
int preparation_run(fst_rdd *rdd, fst_site site, struct fst_error *error);

/* Whether an RDD needs nothing (more); and find it out, for an RDD whose parents need nothing. */
bool range_bounds_ready(const fst_rdd *rdd);
int range_bounds_compute(fst_rdd *rdd, fst_site site, struct fst_error *error);

bool row_starts_ready(const fst_rdd *rdd);
int row_starts_compute(fst_rdd *rdd, fst_site site, struct fst_error *error);

bool sample_thresholds_ready(const fst_rdd *rdd);
int sample_thresholds_compute(fst_rdd *rdd, fst_site site, struct fst_error *error);
