/*
 * The driver's side of map outputs in a store (spark.firesteel.shuffle.store):
 *
 *      STORE/firesteel-shuffle-APPLICATION-1a2b3c4d/lease         rewritten while the driver lives
 *      STORE/firesteel-shuffle-APPLICATION-1a2b3c4d/shuffle-3/…   objects (shuffle/remote/object_store.h)
 *
 * The last part of the name is random, so that two drivers never share a directory. A thread renews the lease, removes
 * shuffles that are not needed any more, and sweeps: it removes the directories of drivers whose lease has expired. Age
 * is measured by the store's clock, and by the time to live that the lease itself states. A directory without a lease
 * is removed when no file in it has changed for as long.
 *
 * A driver that resumes an application goes on with the directory of the earlier driver, if it is still there. It removes
 * one whose lease is gone: the earlier driver was killed while it made or removed the directory.
 */
#pragma once

#include "shuffle/remote_shuffle.h"

struct fst_conf;

struct object_lease_options {
        const char *app_id;
        const char *earlier; /* the directory of the driver whose application this one resumes; NULL: there is none */
        /* Asked before the lease is renewed and before anything is removed. false: another driver has the application.
         * Any thread. NULL: true */
        bool (*owns_directory)(void *owner);
        /* The directory is about to be made. On the caller's thread. NULL: nothing to do */
        void (*begins)(void *owner, const char *directory);
        void *owner;
};

/*
 * Makes the application's directory in OBJECT_STORE_KEY or else OBJECT_FALLBACK_KEY, and sets OBJECT_DIRECTORY_KEY in
 * @conf for the executors. *@driver is NULL if neither is set. Blocks. Returns 0, or negative with @error, which names
 * the key, if the store cannot be used.
 */
int object_lease_new(struct fst_conf *conf, const struct object_lease_options *options,
                     struct remote_shuffle_driver **driver, struct fst_error *error);
