/* sample and random_split: random rows, determined by a seed. They are the rows that Spark takes
 * (rdd/aggregate/sampler.h). */
#include "rdd/rdd_build.h"
#include "rdd/rdd_registry.h"
#include "rdd/rdd_wire_class.h"

#include "base/mem.h"

#include <math.h>

static fst_rdd *sample_rdd_new(fst_rdd *parent, const struct sampling_plan *plan, fst_site site)
{
        fst_rdd *rdd = rdd_new(parent->sc, RDD_SAMPLED, parent->type, parent, site);
        rdd->sample = *plan;
        rdd_depend_narrowly(rdd, true);
        return rdd;
}

FST_API fst_rdd *fst_sample_at(fst_rdd *parent, bool with_replacement, double fraction, int64_t seed, fst_site site)
{
        parent = rdd_given(parent, site);
        struct fst_error error = FST_ERROR_INIT;
        struct sampling_plan plan = {
                .how = with_replacement ? SAMPLING_REPLACED : SAMPLING_ONCE, .fraction = fraction, .seed = seed};
        fst_rdd *rdd = sample_rdd_new(parent, &plan, site);
        int r = 0;
        if (!(fraction >= 0) || isinf(fraction))
                r = error_set(&error, -EINVAL, "Fraction must be nonnegative, but got %g", fraction);
        else if (!with_replacement && fraction > 1)
                r = error_set(&error, -EINVAL, "Sampling fraction (%g) must be on interval [0, 1] without replacement",
                              fraction);
        return r ? rdd_fail_with(rdd, r, &error) : rdd;
}

FST_API void fst_random_split_at(fst_rdd *parent, const double *weights, size_t n, int64_t seed, fst_rdd **splits,
                                 fst_site site)
{
        parent = rdd_given(parent, site);
        double total = 0, sum = 0;
        bool negative = false;
        if (n && !splits) {
                context_misused("%s was given NULL instead of an array for %zu RDDs", site.operation, n);
                return;
        }
        for (size_t i = 0; i < n && !weights; i++) {
                splits[i] = sample_rdd_new(parent, &(struct sampling_plan){.how = SAMPLING_RANGE}, site);
                rdd_fail(splits[i], -EINVAL, "random_split was given NULL instead of weights");
        }
        if (!weights)
                return;
        for (size_t i = 0; i < n; i++) {
                negative |= !(weights[i] >= 0);
                total += weights[i];
        }
        for (size_t i = 0; i < n; i++) {
                /* Adds in Spark's order, so that the bounds are equal to the last bit. */
                double lower = sum, upper = sum + weights[i] / total;
                struct sampling_plan plan = {.how = SAMPLING_RANGE, .lower = lower, .upper = upper, .seed = seed};
                splits[i] = sample_rdd_new(parent, &plan, site);
                if (negative)
                        rdd_fail(splits[i], -EINVAL, "Weights must be nonnegative");
                else if (!(total > 0) || isinf(total))
                        rdd_fail(splits[i], -EINVAL, "Sum of weights must be positive");
                sum = upper;
        }
}

/* ------------------------------------------------------------------------------------------------- on the wire */

static int sample_encode(struct rdd_wire_writer *w, const fst_rdd *rdd, Firesteel__Rdd *m, struct fst_error *error)
{
        Firesteel__Sample *sample = arena_alloc(&w->arena, sizeof(*sample));
        firesteel__sample__init(sample);
        sample->how = rdd->sample.how;
        sample->fraction = rdd->sample.fraction;
        sample->lower = rdd->sample.lower;
        sample->upper = rdd->sample.upper;
        sample->seed = rdd->sample.seed;
        m->sample = sample;
        return 0;
}

static int sample_decode(struct rdd_wire_reader *reader, const Firesteel__Rdd *message, fst_rdd *rdd,
                         struct fst_error *error)
{
        const Firesteel__Sample *m = message->sample;
        if (!m || m->how > SAMPLING_RANGE || !(m->fraction >= 0) || isinf(m->fraction))
                return rdd_wire_bad(rdd, error, "its sampling parameters are missing");
        rdd->sample = (struct sampling_plan){.how = (enum sampling)m->how,
                                             .fraction = m->fraction,
                                             .lower = m->lower,
                                             .upper = m->upper,
                                             .seed = m->seed};
        int r = rdd_wire_check_partitions(rdd, error);
        return r ? r : rdd_wire_check_type(rdd, error);
}

/* ---------------------------------------------------------------------------------------------------- in tasks */

struct sample_op {
        struct op op;
        struct sampling_plan plan;
        struct sampler sampler;
};

static int sample_begin(struct op *op)
{
        struct sample_op *self = container_of(op, struct sample_op, op);
        sampler_begin(&self->sampler, &self->plan, op->partition);
        return 0;
}

static int sample_consume(struct op *op, const struct rows *in)
{
        struct sample_op *self = container_of(op, struct sample_op, op);
        uint16_t taken[FST_BATCH_ROWS];
        uint32_t n = 0;
        if (task_run_stopped(op->run))
                return task_run_cancelled(op->run);
        for (uint32_t i = 0; i < in->batch.rows; i++)
                for (uint32_t times = sampler_next(&self->sampler); times > 0; times--) {
                        taken[n++] = (uint16_t)i;
                        if (n < FST_BATCH_ROWS)
                                continue;
                        int r = op_push_some(op, in, taken, n);
                        if (r)
                                return r;
                        n = 0;
                }
        return op_push_some(op, in, taken, n);
}

static void sample_op_free(struct op *op)
{
        op_deinit(op);
        free(container_of(op, struct sample_op, op));
}

static const struct op_class sample_op_class = {"sample", .begin = sample_begin, .consume = sample_consume,
                                                .free = sample_op_free};

static struct op *sample_op_new(const fst_rdd *rdd, struct task_run *run)
{
        struct sample_op *self = new0(struct sample_op);
        op_init(&self->op, &sample_op_class, run, rdd->type);
        op_alloc_out(&self->op, rdd->type);
        self->plan = rdd->sample;
        return &self->op;
}

const struct rdd_class rdd_sampled_class = {
        .spark = "PartitionwiseSampledRDD",
        .parents = 1,
        .encode = sample_encode,
        .decode = sample_decode,
        .op_new = sample_op_new,
};
