/*
 * Bounds of range partitioners: a preliminary job samples the keys.
 *
 * As in Spark, the sample aims at 20 keys for each output partition, at most spark.rdd.sortByKey's million, and takes
 * three times its share from each input partition. Each key is weighted by the rows that it was drawn from. If a quick
 * sample (driver/actions/sample_job.h) yields too few keys, tasks read everything.
 */
#include "driver/actions/preliminary_jobs.h"

#include "base/mem.h"
#include "driver/actions/sample_job.h"
#include "rdd/partitioner.h"

#include <math.h>

static void range_bounds_set(struct partitioner *p, const struct sample_job *sample, size_t n)
{
        struct sample_key *keys = new_array(struct sample_key, n);
        size_t at = 0;
        for (int i = 0; i < sample->partitions; i++) {
                struct sampled_keys *d = sample->drawn[i];
                if (d && d->n)
                        memcpy(keys + at, d->keys, d->n * sizeof(*keys));
                at += d ? d->n : 0;
        }
        partitioner_set_bounds(p, keys, n);
        free(keys);
}

static int range_bounds_sample(fst_rdd *shuffled, bool quick, fst_site site, struct fst_error *error)
{
        struct partitioner *p = &shuffled->shuffle.partitioner;
        fst_rdd *rdd = rdd_parent(shuffled);
        struct sample_job sample = {0};
        double size = MIN(20.0 * p->partitions, 1e6);
        int r = sample_job_draw(&sample, rdd, (size_t)ceil(3.0 * size / MAX(rdd->lineage.partitions, 1)), quick, site,
                                error);
        size_t n = sample_job_count(&sample);
        if (r == 0 && (!quick || n >= (size_t)size))
                range_bounds_set(p, &sample, n);
        sample_job_deinit(&sample);
        return r;
}

bool range_bounds_ready(const fst_rdd *rdd)
{
        return rdd->op != RDD_SHUFFLED || partitioner_ready(&rdd->shuffle.partitioner);
}

int range_bounds_compute(fst_rdd *rdd, fst_site site, struct fst_error *error)
{
        int r = 0;
        if (rdd->shuffle.like) {
                partitioner_copy_bounds(&rdd->shuffle.partitioner, &rdd->shuffle.like->shuffle.partitioner);
                return 0;
        }
        if (sample_job_can_be_quick(rdd_parent(rdd)))
                r = range_bounds_sample(rdd, true, site, error);
        if (r == 0 && !partitioner_ready(&rdd->shuffle.partitioner))
                r = range_bounds_sample(rdd, false, site, error);
        return r;
}
