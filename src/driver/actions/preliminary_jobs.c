/*
 * See preparation.h.
 *
 * An action whose lineage is ready takes no lock. One that needs what another thread's action is finding out waits for
 * that; if its job fails or is cancelled, the action it was run for fails with its error, and one of those that waited
 * tries anew, in a job of its own group.
 */
#include "driver/actions/preliminary_jobs.h"

#include "driver/actions/single_flight.h"
#include "rdd/rdd_visit.h"

static bool preliminary_jobs_ready(const fst_rdd *rdd)
{
        return range_bounds_ready(rdd) && row_starts_ready(rdd) && sample_thresholds_ready(rdd);
}

static int preliminary_jobs_prepare(fst_rdd *rdd, fst_site site, struct fst_error *error)
{
        int r = 0;
        if (preliminary_jobs_ready(rdd))
                return 0;
        if (rdd->op == RDD_SHUFFLED && rdd->shuffle.like) /* it need not be among the ancestors of this one */
                r = preparation_run(rdd->shuffle.like, site, error);
        if (r || !claim_take(rdd, preliminary_jobs_ready))
                return r;
        site.operation = rdd->site.operation;
        if (!range_bounds_ready(rdd))
                r = range_bounds_compute(rdd, site, error);
        else if (!row_starts_ready(rdd))
                r = row_starts_compute(rdd, site, error);
        else
                r = sample_thresholds_compute(rdd, site, error);
        claim_release(rdd);
        return r;
}

int preparation_run(fst_rdd *rdd, fst_site site, struct fst_error *error)
{
        struct rdd_walk walk;
        int r = 0;
        /* Parents first, so that nobody holds a claim while waiting for another. */
        rdd_walk_init(&walk, rdd, RDD_WALK_ALL);
        for (uint32_t i = 0; i < walk.n && r == 0; i++)
                r = preliminary_jobs_prepare(walk.rdds[i], site, error);
        rdd_walk_deinit(&walk);
        return r;
}
