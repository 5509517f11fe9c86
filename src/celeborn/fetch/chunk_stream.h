/*
 * Reads one file of a Celeborn worker, batch by batch, from where it arrives: a chunk is never kept. Several chunks are
 * requested ahead, so that the worker and the network's buffers are busy while a batch is used. A worker on this host
 * may name the file, which is then read without it.
 *
 * Threads: that of the task. Functions wait, and return -ECANCELED once *stopped is nonzero. The bytes are untrusted.
 */
#pragma once

#include "base/list.h"
#include "celeborn/protocol/page_batch.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

struct channel;
struct fst_error;

#define FETCH_BUFFER ((size_t)64 << 10)

/* Idle connections to the fetch ports of workers, shared by the tasks of an executor. */
struct fetch_connections {
        pthread_mutex_t lock;
        LIST(struct fetch_idle) idle;
        int n, max;
        int64_t connect_timeout, timeout; /* ns; of a read: the time without progress */
        int no_local; /* atomic: a file that a worker named could not be opened: none is asked for any more */
};

/* Keeps at most @max idle connections. */
void fetch_connections_init(struct fetch_connections *connections, int max, int64_t connect_timeout, int64_t timeout);
void fetch_connections_deinit(struct fetch_connections *connections);

struct chunk_stream {
        struct fetch_connections *connections;
        struct channel *channel; /* NULL: closed */
        char *host;
        int port;
        const int *stopped;
        int64_t request; /* ids of requests on this connection */
        bool opened;     /* the worker has answered OpenStream */
        int64_t id;
        int32_t chunks, requested, arrived;
        int ahead;        /* chunks to request ahead */
        size_t left;      /* bytes of the current chunk */
        int64_t wait_ns;  /* spent waiting; the caller resets it */
        char *key, *name; /* of a file that may be local, until the worker has answered */
        int n_maps;
        bool is_local; /* `file` is read, the worker sends no chunks */
        int file;
        unsigned char *buffer;
        size_t from, to;     /* bytes in the buffer */
        unsigned char *head; /* of a frame, behind the buffer */
};

/* A file at a worker. Borrowed. */
struct chunk_file {
        const char *host;
        int port;
        const char *app_id, *secret; /* of a new connection; no secret: NULL */
        const char *key, *name;      /* of the shuffle, of the file */
        int n_maps; /* sorted by map, batches of maps 0 … n_maps - 1; INT32_MAX: as they were pushed */
        bool local; /* read the worker's file itself, if it is on this host and can be opened */
};

/*
 * Requests a file, and does not wait for an answer. Waits for authentication on a new
 * connection. The stream is closed. Returns 0, or negative with @error.
 */
int chunk_stream_open(struct chunk_stream *stream, struct fetch_connections *connections, const struct chunk_file *file,
                      const int *stopped, struct fst_error *error);

/* For tests: the same with a connected channel, which is stolen. */
int chunk_stream_attach(struct chunk_stream *stream, struct fetch_connections *connections, struct channel *channel,
                        const struct chunk_file *file, struct fst_error *error);

/* Status of chunk_stream_head: the file has ended. */
#define FST_CHUNK_E_END 1

/*
 * Reads the header of the next batch and that of its page, and checks them. *@left is the number of bytes behind the
 * header of the batch in its chunk; those of PAGE_BATCH_HEADER are read. Returns 0; FST_CHUNK_E_END;
 * -ENOENT if the worker does not have the file; -EBADMSG; or another negative with @error.
 */
int chunk_stream_head(struct chunk_stream *stream, unsigned char header[static PAGE_BATCH_HEADER],
                      struct celeborn_batch *batch, size_t *left, struct fst_error *error);

/* Reads @n bytes of the batch, which the chunk has. Returns 0, or negative with @error. */
int chunk_stream_read(struct chunk_stream *stream, void *data, size_t n, struct fst_error *error);

/* Leaves @n bytes of the batch behind, which the chunk has. */
int chunk_stream_skip(struct chunk_stream *stream, size_t n, struct fst_error *error);

/* Closes it. The connection is kept for others if the file has ended. A closed stream is allowed. */
void chunk_stream_close(struct chunk_stream *stream);
