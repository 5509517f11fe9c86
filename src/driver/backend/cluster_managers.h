/*
 * Which executor manager a master URL gets. Declared here for the context, which knows no cluster manager but the one
 * on this machine; implemented where all of them are (cmd/cluster_managers.c).
 */
#pragma once

struct executor_manager;
struct fst_context;
struct fst_error;
struct master_url;

/* Whether applications can run on this master, local ones included: 0, or -ENOTSUP with @error, which lists those. */
int cluster_master_check(const struct master_url *url, const char *master, struct fst_error *error);

/*
 * The manager for sc->master, which is not a local one (local, local[N], …): 0 and *@out, which the cluster backend
 * takes; or negative with @error: -ENOTSUP as cluster_master_check says, others as the manager has
 * them for a configuration that cannot be.
 */
int cluster_manager_new(struct fst_context *sc, struct executor_manager **out, struct fst_error *error);
