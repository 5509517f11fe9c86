/*
 * A connection to the push port of a worker: connects without waiting, sends bodies of push_core, reads answers. Bodies
 * and batches are sent from where they are.
 *
 * Threads: the one of the push_client.
 */
#pragma once

#include "base/buf.h"
#include "base/list.h"
#include "celeborn/protocol/page_batch.h"
#include "celeborn/push/push_core.h"

#include <sys/uio.h>

struct celeborn_auth;
struct celeborn_frame;
struct channel;
struct fst_error;
struct push_frame;

/* A batch as it is sent: its header, the header of the page's frame, and the rest of the frame. */
struct push_item {
        struct push_batch batch;
        unsigned char header[PAGE_BATCH_HEADER];
        const void *data;
        uint32_t data_size;
        void *bytes; /* what `data` points into, freed with the item; NULL: it is borrowed */
};

struct push_connection {
        int worker; /* of the core */
        int fd;     /* while it connects; -1 */
        struct channel *channel;
        struct celeborn_auth *auth;     /* while it authenticates */
        struct buf auth_out;            /* its request, not completely sent */
        int64_t deadline;               /* of connecting */
        LIST(struct push_frame) frames; /* not completely sent */
        struct buf in;
        bool connected;
};

/*
 * Begins to connect, and to authenticate as @app_id with @secret; NULL: without authentication. Resolving the name may
 * block. Returns 0, or negative with @error.
 */
int push_connection_start(struct push_connection *connection, struct push_worker_name name, const char *app_id,
                          const char *secret, int64_t deadline, struct fst_error *error);

/* Drops everything. It may be started again. */
void push_connection_close(struct push_connection *connection);

/* True between start and close. */
bool push_connection_is_open(const struct push_connection *connection);

/* Queues a body, which the core keeps until it is answered. @shuffle_key as celeborn_put_push. */
void push_connection_send(struct push_connection *connection, const struct push_body *body, const char *shuffle_key);

/* The descriptor, and the events (POLLIN, POLLOUT) to wait for. */
int push_connection_fd(const struct push_connection *connection);
int push_connection_events(const struct push_connection *connection);

/* Writes what can be written. Returns 0, or negative with @error: close it. */
int push_connection_write(struct push_connection *connection, int64_t now, struct fst_error *error);

/*
 * Reads what has arrived, and calls @answer with each frame. Returns 0, or negative with @error, also of @answer: close
 * it.
 */
int push_connection_read(struct push_connection *connection,
                         int (*answer)(void *owner, const struct celeborn_frame *frame, struct fst_error *error),
                         void *owner, struct fst_error *error);

/* True if the request is not completely sent, so that there can be no answer to it. */
bool push_connection_is_sending(const struct push_connection *connection, int64_t request);
