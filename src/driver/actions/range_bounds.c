/*
 * Bounds of range partitioners: a sample of the keys, taken by a job of its own before the job that needs them.
 *
 * As in Spark the sample aims at 20 keys a partition (spark.rdd.sortByKey's million at most), three times as many
 * from each input partition as its share, and each key stands for the rows that it was drawn from. Where the rows
 * come from text files through element-wise operators only, a task reads some blocks of its split instead of all of
 * it; if that gives too little, everything is read.
 */
#include "driver/actions/preliminary_jobs.h"

#include "driver/actions/actions.h"

#include "base/mem.h"
#include "exec/actions/action_kinds.h"
#include "rdd/partitioner.h"
#include "rdd/rdd_class.h"

#include <math.h>

#define SAMPLE_BLOCKS ((size_t)1 << 20) /* bytes of a split that a quick sample reads */

struct sample_job {
        struct sample_action sample;
        struct drawn **drawn; /* by output */
        int n;
};

static int sample_merge(struct action *action, int output, struct task_result *result, struct fst_error *error)
{
        container_of(action, struct sample_job, sample.action)->drawn[output] = result->data;
        return 0;
}

/* ------------------------------------------------------------------------------------------------------- bounds */

/* Whether some blocks of the files say as much as all of them. */
static void sample_reset(struct action *action)
{
        struct sample_job *self = container_of(action, struct sample_job, sample.action);
        for (int i = 0; i < self->n; i++)
                drawn_free(steal(self->drawn[i]));
}

static bool can_read_less(const fst_rdd *rdd)
{
        for (; rdd; rdd = rdd_parent(rdd)) {
                if (__atomic_load_n(&rdd->lineage.storage_level, __ATOMIC_RELAXED))
                        return false;
                if (rdd->class->passes_samples)
                        continue;
                /* Small files are read whole anyway. */
                return (rdd->op == RDD_TEXT_FILE || rdd->op == RDD_BINARY_RECORDS) &&
                       rdd->text.splits.bytes > rdd->text.splits.len * SAMPLE_BLOCKS;
        }
        return false;
}

static size_t set_bounds(struct partitioner *p, struct sample_job *job, size_t at_least)
{
        size_t n = 0;
        for (int i = 0; i < job->n; i++)
                n += job->drawn[i] ? job->drawn[i]->n : 0;
        if (n < at_least)
                return n;
        struct sample_key *keys = new_array(struct sample_key, n);
        size_t at = 0;
        for (int i = 0; i < job->n; i++) {
                struct drawn *d = job->drawn[i];
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
        job.drawn = new_array(struct drawn *, (size_t)inputs);
        int r = action_run_job(rdd, &job.sample.action, NULL, 0, site, error);
        if (r == 0)
                set_bounds(p, &job, quick ? (size_t)size : 0);
        for (int i = 0; i < job.n; i++)
                drawn_free(job.drawn[i]);
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
        if (can_read_less(rdd_parent(rdd)))
                r = range_bounds_sample(rdd, true, site, error);
        if (r == 0 && !partitioner_ready(&rdd->shuffle.partitioner))
                r = range_bounds_sample(rdd, false, site, error);
        return r;
}
