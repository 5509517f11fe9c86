/*
 * The driver's side of Celeborn: the lifecycle manager (lifecycle.h) with its connections, as a remote_shuffle_driver.
 *
 * Threads. The core, its timer and all connections are on a thread of their own with a loop, so that a busy scheduler
 * delays no heartbeat: a master deletes the data of an application that is silent. Functions of the class are called on
 * the scheduler's thread and post to that thread. Answers to executors come back through `deliver`.
 *
 * Numbers. Each shuffle of the engine has a Celeborn shuffle, and another one after a loss. `begin` returns its place.
 */
#pragma once

#include "shuffle/remote_shuffle.h"

struct fst_conf;

struct celeborn_driver_options {
        const struct fst_conf *conf;               /* during the call of celeborn_driver_new */
        const char *app_id;                        /* copied */
        void (*wake)(void *owner);                 /* makes the scheduler's thread call `deliver`. Any thread */
        void (*dropped)(void *owner, void *asker); /* a question gets no answer: during `stop` */
        void *owner;
};

/*
 * Starts the thread, which announces the application to the master. Makes no connection itself. Returns 0, or negative
 * with @error, which names the key.
 */
int celeborn_driver_new(const struct celeborn_driver_options *options, struct remote_shuffle_driver **driver,
                        struct fst_error *error);
