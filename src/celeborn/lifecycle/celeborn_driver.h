/*
 * The driver's side of Celeborn: the lifecycle manager (lifecycle.h) with its connections, as a remote_shuffle_driver.
 *
 * Threads. The core, its timer and all connections are on a thread of their own with a loop, so that a busy scheduler
 * delays no heartbeat: a master deletes the data of an application that is silent. Functions of the class are called on
 * the scheduler's thread and post to that thread. Answers to executors come back through `deliver`.
 *
 * Numbers. Each shuffle of the engine has a Celeborn shuffle, and another one after a loss. `begin` returns its place.
 *
 * Resuming. The lifecycle manager's state goes to the journal of the application, if it has one. The next driver goes
 * on under the same id of the application at Celeborn, sends heartbeats again, and adopts shuffles whose outputs `has`
 * finds. Others are dropped when they begin again. If the earlier driver has told the master that the application ends,
 * it gets another id there. With a journal, the secret of authentication is derived from that of spark.authenticate and
 * the application's id at Celeborn, so that the next driver has it and the journal does not.
 */
#pragma once

#include "shuffle/remote_shuffle.h"

#include <firesteel/types.h>

struct fst_conf;

/* The driver sets it: the application's id at Celeborn, if it is not that of the application. */
#define CELEBORN_APP_KEY "spark.firesteel.shuffle.celeborn.appId"

struct celeborn_driver_options {
        const struct fst_conf *conf;               /* during the call of celeborn_driver_new */
        const char *app_id;                        /* copied */
        void (*wake)(void *owner);                 /* makes the scheduler's thread call `deliver`. Any thread */
        void (*dropped)(void *owner, void *asker); /* a question gets no answer: during `stop` */
        /*
         * Appends a record to the application's journal, and waits until it is durable if @strict. On the thread of the
         * lifecycle manager, during celeborn_driver_new, and, without waiting, during `begin`, so that the record of a
         * shuffle precedes those of its map outputs. NULL: no driver can resume the application.
         */
        void (*journal)(void *owner, const void *record, size_t size, bool strict);
        /* True unless another driver has the application, whose shuffles then are not touched. Any thread. */
        bool (*may_remove)(void *owner);
        const fst_bytes *earlier; /* records of earlier drivers, in order; during celeborn_driver_new */
        size_t n_earlier;
        bool other_secret; /* that of spark.authenticate is not the one of earlier drivers */
        int epoch;         /* of this driver among those of the application: 1, 2, … */
        void *owner;
};

/*
 * Starts the thread, which announces the application to the master. Makes no connection itself. Returns 0, or negative
 * with @error, which names the key.
 */
int celeborn_driver_new(const struct celeborn_driver_options *options, struct remote_shuffle_driver **driver,
                        struct fst_error *error);

/*
 * Reads whether the master names workers for open shuffles, and from which share of unusable ones on
 * (struct celeborn_config). Returns 0, or negative with @error, which names the key.
 */
int celeborn_read_dynamic(const struct fst_conf *conf, bool *enabled, double *factor, struct fst_error *error);
