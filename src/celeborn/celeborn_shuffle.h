/*
 * Map outputs in Apache Celeborn: the executor's side, as a remote_shuffle. The driver names the Celeborn shuffle of a
 * map stage as the `place` of its outputs (celeborn_wire.h), before they are published.
 *
 * Pages are pushed as they are, when they are full, while the map task computes, and the rest of them at its end.
 * publish returns once the workers have acknowledged all of them. Outputs of task processes are pushed by publish. The
 * attempt of a map in Celeborn is the id of its task, so that readers take the batches of the attempt that the driver
 * counts.
 */
#pragma once

#include "shuffle/remote_shuffle.h"

#include <stdint.h>

struct celeborn_answer;
struct celeborn_question;
struct fst_conf;
struct fst_error;
struct map_push;

struct celeborn_shuffle_options {
        const struct fst_conf *conf; /* during the call of celeborn_shuffle_new */
        const char *app_id;          /* copied */
        int cores;
        /* Asks the driver, as in struct push_client_options. */
        int (*ask)(void *owner, const struct celeborn_question *question, const int *stopped,
                   struct celeborn_answer *answer, struct fst_error *error);
        void *owner;
};

/* Returns 0, or negative with @error, which names the key. Asks nothing yet. */
int celeborn_shuffle_new(const struct celeborn_shuffle_options *options, struct remote_shuffle **remote,
                         struct fst_error *error);
