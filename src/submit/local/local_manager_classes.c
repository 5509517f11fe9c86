/* The classes of the masters local[N] and local-cluster[N,C,M], which are one manager to spark-submit. */
#include "conf/master_url.h"
#include "driver/backend/local_cluster.h"
#include "submit/options/option_table.h"
#include "submit/prepare/preparation.h"

#include "base/error.h"

static int local_check(struct preparation *p, struct fst_error *error)
{
        if (p->s->cluster_mode)
                return error_set(error, -EINVAL, "Cluster deploy mode is not compatible with master \"local\"");
        return 0;
}

static int local_executor_cores(const struct master_url *url)
{
        return url->threads;
}

static int local_cluster_executor_cores(const struct master_url *url)
{
        return url->cores;
}

static int local_cluster_total_cores(const struct master_url *url)
{
        return url->executors * url->cores;
}

const struct cluster_manager_class local_manager_class = {
        .name = "local",
        .title = "a local master",
        .example = "local, local[N], local[*], local[N,maxFailures]",
        .prefix = "local",
        .parse = local_master_parse,
        .in_process = true,
        .executor_cores = local_executor_cores,
        .option_bit = OPTIONS_LOCAL,
        .check = local_check,
};

const struct cluster_manager_class local_cluster_manager_class = {
        .name = "local-cluster",
        .title = "a local master",
        .example = "local-cluster[N,cores,MiB]",
        .prefix = "local-cluster",
        .unlisted = true,
        .parse = local_cluster_master_parse,
        .executor_cores = local_cluster_executor_cores,
        .total_cores = local_cluster_total_cores,
        .executor_manager_new = local_cluster_new,
        .option_bit = OPTIONS_LOCAL,
        .check = local_check,
};
