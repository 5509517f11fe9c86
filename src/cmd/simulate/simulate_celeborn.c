/* The options of firesteel simulate for map outputs in Celeborn. */
#include "cmd/simulate/simulate.h"

#include "base/error.h"
#include "celeborn/lifecycle/celeborn_driver.h"
#include "conf/conf.h"
#include "sched/simulator/simulator.h"

#include <errno.h>

int simulate_read_celeborn(const struct fst_conf *conf, struct simulator_options *options, bool messages,
                           struct fst_error *error)
{
        const int workers = options->celeborn.workers;
        bool *replicate = &options->celeborn.replicate;
        int e = conf_get_bool(conf, "spark.celeborn.client.push.replicate.enabled", replicate, error);
        if (e == 0)
                e = celeborn_read_dynamic(conf, &options->celeborn.dynamic, &options->celeborn.dynamic_factor, error);
        if (e)
                return e;
        if (!workers && (*replicate || options->celeborn.deaths > 0))
                return error_set(error, -EINVAL,
                                 "--replication and --lost-workers are about Celeborn: add --celeborn WORKERS");
        if (!workers)
                return 0;
        if (workers < 1 + *replicate)
                return error_set(error, -EINVAL, "--replication needs two workers: --celeborn 2");
        if (options->stores)
                return error_set(
                        error, -EINVAL,
                        "--celeborn and spark.firesteel.shuffle.store are two places of map outputs: leave out "
                        "one of them");
        if (messages)
                return error_set(error, -EINVAL, "--celeborn does not go with --messages: leave one of them out");
        return 0;
}
