/* The value of spark.shuffle.manager: which implementation of shuffles an application asks for. */
#pragma once

struct fst_conf;
struct fst_error;

enum shuffle_manager {
        SHUFFLE_MANAGER_SORT,     /* map outputs of pages: at executors, at shuffle services, or in a store */
        SHUFFLE_MANAGER_CELEBORN, /* in Apache Celeborn */
};

/*
 * Reads spark.shuffle.manager, whose names are compared as Spark does: short names in any case, class names exactly.
 * Returns 0 and *@manager (may be NULL), or -EINVAL with an @error that lists the names that exist.
 */
int shuffle_manager_read(const struct fst_conf *conf, enum shuffle_manager *manager, struct fst_error *error);

/*
 * Logs a warning for each setting of @conf that asks for map outputs outside of executors, for the driver of a local
 * master, which keeps them in its process: @manager Celeborn, and spark.firesteel.shuffle.store.
 */
void shuffle_manager_warn_local(const struct fst_conf *conf, enum shuffle_manager manager);
