/*
 * The cluster managers that there are; see driver/backend/cluster_managers.h.
 */
#include "driver/backend/cluster_managers.h"

#include "base/error.h"
#include "conf/conf.h"
#include "kubernetes/backend/kube_cluster_manager.h"
#include "standalone/client/standalone_manager.h"
#include "driver/context.h"
#include "driver/backend/local_cluster.h"

int cluster_master_check(const struct master_url *url, const char *master, struct fst_error *error)
{
        switch (url->kind) {
        case MASTER_LOCAL:
        case MASTER_LOCAL_CLUSTER:
        case MASTER_SPARK:
        case MASTER_K8S:
                return 0;
        default:
                return error_set(error, -ENOTSUP,
                                 "master '%s': this version of Firesteel runs applications on local masters (local, "
                                 "local[N], local[*], local[N,maxFailures], local-cluster[N,cores,MiB]), on "
                                 "standalone ones (spark://host:port[,host:port...]) and on Kubernetes "
                                 "(k8s://https://host:port)",
                                 master);
        }
}

int cluster_manager_new(struct fst_context *sc, struct executor_manager **out, struct fst_error *error)
{
        const char *master = conf_get_raw(sc->conf, "spark.master");
        int r = cluster_master_check(&sc->master, master, error);
        if (r)
                return r;
        switch (sc->master.kind) {
        case MASTER_LOCAL_CLUSTER:
                *out = local_cluster_new(sc);
                return 0;
        case MASTER_K8S:
                return kube_manager_new(sc, out, error);
        default:
                return standalone_manager_new(sc, master, out, error);
        }
}
