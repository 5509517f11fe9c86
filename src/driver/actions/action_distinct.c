/* count_approx_distinct: merges the partitions' sketches. */
#include "driver/actions/actions.h"

#include "base/mem.h"
#include "exec/actions/action_kinds.h"
#include "rdd/aggregate/distinct_sketch.h"

#include <math.h>

struct distinct_job {
        struct distinct_action distinct;
        uint8_t *registers;
};

static int distinct_job_merge(struct action *action, int output, struct task_result *result, struct fst_error *error)
{
        struct distinct_job *self = container_of(action, struct distinct_job, distinct.action);
        distinct_merge(self->registers, self->distinct.precision, result->data);
        free(result->data);
        return 0;
}

static void distinct_reset(struct action *action)
{
        struct distinct_job *self = container_of(action, struct distinct_job, distinct.action);
        memset(self->registers, 0, (size_t)1 << self->distinct.precision);
}

static int distinct_count(fst_rdd *rdd, double deviation, int64_t *n, fst_site site, struct fst_error *error)
{
        struct distinct_job job = {.distinct = {.action = {.class = &distinct_action_class,
                                                           .type = rdd->type,
                                                           .merge = distinct_job_merge,
                                                           .reset = distinct_reset}}};
        int r = action_check(rdd, error);
        if (r == 0 && !(deviation > 0.000017))
                r = error_set(error, -EINVAL, "accuracy (%g) must be greater than 0.000017", deviation);
        if (r)
                return r;
        job.distinct.precision = distinct_precision(deviation);
        if (job.distinct.precision > MAX_DISTINCT_PRECISION)
                return error_set(
                        error, -EINVAL,
                        "accuracy (%g) takes 2^%d registers of each task, and 2^%d are allowed: ask for %g, or "
                        "count fst_distinct",
                        deviation, job.distinct.precision, MAX_DISTINCT_PRECISION,
                        1.054 / sqrt(1 << MAX_DISTINCT_PRECISION));
        job.registers = new_array(uint8_t, (size_t)1 << job.distinct.precision);
        r = action_run(rdd, &job.distinct.action, NULL, 0, site, error);
        if (r == 0)
                *n = llround(distinct_estimate(job.registers, job.distinct.precision));
        free(job.registers);
        return r;
}

FST_API int fst_count_approx_distinct_at(fst_rdd *rdd, double deviation, int64_t *n, fst_site site)
{
        rdd = rdd_given(rdd, site);
        if (action_check_place(rdd, n, "count", site))
                return -EINVAL;
        _cleanup_(context_leave) fst_context *in = context_enter(rdd->sc);
        struct fst_error error = FST_ERROR_INIT;
        int r = distinct_count(rdd, deviation, n, site, &error);
        return r ? action_failed(rdd, site, r, &error) : 0;
}
