/* A job that samples the keys of an RDD. */
#pragma once

#include "exec/actions/action_kinds.h"
#include "rdd/rdd.h"

struct sample_job {
        struct sampled_keys **drawn; /* by partition; NULL: none */
        int partitions;
};

/*
 * Draws at most @per_partition keys of each partition of @rdd, uniformly. Each stands for as many rows as its weight
 * says. @quick: tasks read only some blocks of their splits; see sample_job_can_be_quick. Returns 0, or a negative
 * status with @error. The caller calls sample_job_deinit in any case.
 */
int sample_job_draw(struct sample_job *sample, fst_rdd *rdd, size_t per_partition, bool quick, fst_site site,
                    struct fst_error *error);
void sample_job_deinit(struct sample_job *sample);

/* The number of keys. */
size_t sample_job_count(const struct sample_job *sample);

/* Whether some blocks of the input files represent all of @rdd, so that a quick sample saves time. */
bool sample_job_can_be_quick(const fst_rdd *rdd);
