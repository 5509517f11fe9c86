/* The options of firesteel simulate for map outputs in Celeborn. */
#include "cmd/simulate/simulate.h"

#include "base/error.h"
#include "conf/conf.h"
#include "sched/simulator/simulator.h"

#include <errno.h>

#define CLIENT "spark.celeborn.client."

int simulate_read_celeborn(const struct fst_conf *conf, struct simulator_options *options, bool messages,
                           bool driver_deaths, struct fst_error *error)
{
        const int workers = options->celeborn.workers;
        bool *replicate = &options->celeborn.replicate;
        double *factor = &options->celeborn.dynamic_factor;
        int e = conf_get_bool(conf, CLIENT "push.replicate.enabled", replicate, error);

        if (e ||
            (e = conf_get_bool(conf, CLIENT "shuffle.dynamicResourceEnabled", &options->celeborn.dynamic, error)) ||
            (e = conf_get_double(conf, CLIENT "shuffle.dynamicResourceFactor", factor, error)))
                return e;
        if (!(*factor >= 0 && *factor <= 1))
                return error_set(error, -EINVAL,
                                 CLIENT "shuffle.dynamicResourceFactor is %g: set it to a share from 0 to 1", *factor);
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
        if (messages || driver_deaths)
                return error_set(error, -EINVAL,
                                 "--celeborn does not go with --messages or --driver-deaths: leave these out");
        return 0;
}
