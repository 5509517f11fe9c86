/*
 * Runs the jobs that lineage needs before it can be computed: bounds of range partitioners, row offsets of partitions,
 * thresholds of exact samples, the small sides of broadcast joins, heavy keys of joins.
 */
#pragma once

#include "rdd/rdd.h"

/*
 * Run all preliminary jobs of @rdd and its ancestors; see preliminary_jobs.c. Returns 0, or a negative status with
 * @error.
 */
int preliminary_jobs_run(fst_rdd *rdd, fst_site site, struct fst_error *error);

/* Whether an RDD needs no (more) preliminary job; and that job, for an RDD whose parents are ready. */
bool range_bounds_ready(const fst_rdd *rdd);
int range_bounds_compute(fst_rdd *rdd, fst_site site, struct fst_error *error);

bool partition_offsets_ready(const fst_rdd *rdd);
int partition_offsets_compute(fst_rdd *rdd, fst_site site, struct fst_error *error);

bool sample_thresholds_ready(const fst_rdd *rdd);
int sample_thresholds_compute(fst_rdd *rdd, fst_site site, struct fst_error *error);

bool broadcast_rows_ready(const fst_rdd *rdd);
int broadcast_rows_collect(fst_rdd *rdd, fst_site site, struct fst_error *error);

bool heavy_keys_ready(const fst_rdd *rdd);
int heavy_keys_compute(fst_rdd *rdd, fst_site site, struct fst_error *error);
