/*
 * The answers of simulated Celeborn servers, a master and its workers, to requests of the lifecycle manager: for tests
 * and simulations. A worker's number is its RPC port less CELEBORN_SERVERS_PORT. The owner decides which workers exist
 * and what they have; this decodes requests and encodes answers. Any thread, one at a time for each owner.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CELEBORN_SERVERS_PORT = 100 };

/* A copy of a partition's file. mode: enum celeborn_mode. */
struct celeborn_servers_file {
        int shuffle, partition, epoch, mode;
};

struct celeborn_servers_class {
        /* A random number below @below. */
        uint32_t (*roll)(void *owner, uint32_t below);

        /* True if the master knows the worker and does not know of its death. */
        bool (*is_offered)(void *owner, int worker);

        /* Creates a file. Returns false if the worker refuses. */
        bool (*reserve)(void *owner, int worker, const struct celeborn_servers_file *file);

        /* Closes a file. Returns true if it has data. */
        bool (*commit)(void *owner, int worker, const struct celeborn_servers_file *file);
};

/*
 * Answers the request of @type with the body @body to @worker, or to the master if @worker is -1. @n_workers workers
 * have existed. Returns 0, the type of the answer and its body, which the caller owns; or -EPROTO if the request is not
 * valid, without an answer.
 */
int celeborn_servers_answer(const struct celeborn_servers_class *class, void *owner, int n_workers, int worker,
                            int type, const uint8_t *body, size_t len, int *answer_type, uint8_t **answer,
                            size_t *answer_len);
