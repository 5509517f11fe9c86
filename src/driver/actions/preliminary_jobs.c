/*
 * See preliminary_jobs.h.
 *
 * An action whose lineage is ready takes no lock. One that needs a running preliminary job waits for it. If that job
 * fails or is cancelled, the action that started it fails with its error. One of the waiting actions then runs the job
 * again, in its own job group.
 */
#include "driver/actions/preliminary_jobs.h"

#include "driver/actions/single_flight.h"
#include "rdd/rdd_visit.h"

static bool preliminary_jobs_ready(const fst_rdd *rdd)
{
        return range_bounds_ready(rdd) && partition_offsets_ready(rdd) && sample_thresholds_ready(rdd) &&
               broadcast_rows_ready(rdd) && heavy_keys_ready(rdd);
}

static int preliminary_jobs_run_one(fst_rdd *rdd, fst_site site, struct fst_error *error)
{
        int r = 0;
        if (preliminary_jobs_ready(rdd))
                return 0;
        if (rdd->op == RDD_SHUFFLED && rdd->shuffle.like) /* it need not be an ancestor */
                r = preliminary_jobs_run(rdd->shuffle.like, site, error);
        if (r || !single_flight_begin(rdd, preliminary_jobs_ready))
                return r;
        site.operation = rdd->site.operation;
        if (!range_bounds_ready(rdd))
                r = range_bounds_compute(rdd, site, error);
        else if (!partition_offsets_ready(rdd))
                r = partition_offsets_compute(rdd, site, error);
        else if (!sample_thresholds_ready(rdd))
                r = sample_thresholds_compute(rdd, site, error);
        else if (!broadcast_rows_ready(rdd))
                r = broadcast_rows_collect(rdd, site, error);
        else
                r = heavy_keys_compute(rdd, site, error);
        single_flight_end(rdd);
        return r;
}

int preliminary_jobs_run(fst_rdd *rdd, fst_site site, struct fst_error *error)
{
        struct rdd_visit walk;
        int r = 0;
        /* Parents first, so that a thread never waits while holding an RDD. */
        rdd_visit_init(&walk, rdd, RDD_VISIT_ALL);
        for (uint32_t i = 0; i < walk.n && r == 0; i++)
                r = preliminary_jobs_run_one(walk.rdds[i], site, error);
        rdd_visit_deinit(&walk);
        return r;
}
