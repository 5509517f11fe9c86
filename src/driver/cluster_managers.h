/*
 * Which executor manager a master URL gets. Declared here for the context, which knows no cluster manager but the one
 * on this machine; implemented where all of them are (deploy/cluster_managers.c).
 */
#pragma once

struct executor_manager;
struct fst_context;
struct fst_error;

/*
 * The manager for sc->master, which is not a local one (local, local[N], …): 0 and *@out, which the cluster backend
 * takes; or negative with @error: -ENOTSUP for a kind of master that cannot be used yet, others as the manager has
 * them for a configuration that cannot be.
 */
int cluster_manager_new(struct fst_context *sc, struct executor_manager **out, struct fst_error *error);
