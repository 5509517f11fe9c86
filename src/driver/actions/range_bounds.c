/*
 * Bounds of range partitioners: a preliminary job samples the keys.
 *
 * As in Spark, the sample aims at 20 keys for each output partition, at most spark.rdd.sortByKey's million, and takes
 * three times its share from each input partition. Each key is weighted by the rows that it was drawn from. If the rows
 * come from text files through element-wise operators only, tasks read some blocks of their splits. If that yields too
 * few keys, tasks read everything.
 */
#include "driver/actions/preliminary_jobs.h"

#include "driver/actions/actions.h"

#include "base/mem.h"
#include "exec/actions/action_kinds.h"
#include "rdd/partitioner.h"
#include "rdd/rdd_class.h"

#include <math.h>

#define SAMPLE_BLOCKS ((size_t)1 << 20) /* bytes of a split for a quick sample */

struct sample_job {
        struct sample_action sample;
        struct sampled_keys **drawn; /* by output */
        int n;
};

static int sample_merge(struct action *action, int output, struct task_result *result, struct fst_error *error)
{
        container_of(action, struct sample_job, sample.action)->drawn[output] = result->data;
        return 0;
}

/* ------------------------------------------------------------------------------------------------------- bounds */

/* Whether some blocks of the files represent all of them. */
static void sample_reset(struct action *action)
{
        struct sample_job *self = container_of(action, struct sample_job, sample.action);
        for (int i = 0; i < self->n; i++)
                sampled_keys_free(steal(self->drawn[i]));
}

static bool range_bounds_can_read_less(const fst_rdd *rdd)
{
        for (; rdd; rdd = rdd_parent(rdd)) {
                if (__atomic_load_n(&rdd->lineage.storage_level, __ATOMIC_RELAXED))
                        return false;
                if (rdd->class->passes_samples)
                        continue;
                /* Small files are read completely anyway. */
                return (rdd->op == RDD_TEXT_FILE || rdd->op == RDD_BINARY_RECORDS) &&
                       rdd->text.splits.bytes > rdd->text.splits.len * SAMPLE_BLOCKS;
        }
        return false;
}

static size_t range_bounds_set(struct partitioner *p, struct sample_job *job, size_t at_least)
{
        size_t n = 0;
        for (int i = 0; i < job->n; i++)
                n += job->drawn[i] ? job->drawn[i]->n : 0;
        if (n < at_least)
                return n;
        struct sample_key *keys = new_array(struct sample_key, n);
        size_t at = 0;
        for (int i = 0; i < job->n; i++) {
                struct sampled_keys *d = job->drawn[i];
                if (d && d->n)
                        memcpy(keys + at, d->keys, d->n * sizeof(*keys));
                at += d ? d->n : 0;
        }
        partitioner_set_bounds(p, keys, n);
        free(keys);
        return n;
}

static int range_bounds_sample(fst_rdd *shuffled, bool quick, fst_site site, struct fst_error *error)
{
        struct partitioner *p = &shuffled->shuffle.partitioner;
        fst_rdd *rdd = rdd_parent(shuffled);
        int inputs = MAX(rdd->lineage.partitions, 1);
        double size = MIN(20.0 * p->partitions, 1e6);
        struct sample_job job = {
                .sample = {{.class = &sample_action_class,
                            .type = rdd->type,
                            .sample_budget = quick ? SAMPLE_BLOCKS : 0,
                            .merge = sample_merge,
                            .reset = sample_reset},
                           (size_t)ceil(3.0 * size / inputs)},
                .n = rdd->lineage.partitions,
        };
        job.drawn = new_array(struct sampled_keys *, (size_t)inputs);
        int r = action_run_job(rdd, &job.sample.action, NULL, 0, site, error);
        if (r == 0)
                range_bounds_set(p, &job, quick ? (size_t)size : 0);
        for (int i = 0; i < job.n; i++)
                sampled_keys_free(job.drawn[i]);
        free(job.drawn);
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
        if (range_bounds_can_read_less(rdd_parent(rdd)))
                r = range_bounds_sample(rdd, true, site, error);
        if (r == 0 && !partitioner_ready(&rdd->shuffle.partitioner))
                r = range_bounds_sample(rdd, false, site, error);
        return r;
}
