/*
 * A status core as bytes, and back: a history server keeps them, so that it need not read the log of an application
 * again.
 *
 * The bytes are in pieces, so that they need little memory beside a large status. Columns of tasks are stored as they
 * are packed in memory. Those of a large stage lie in pieces behind all others, and are read when they are needed
 * first: most pages show no tasks, or those of one stage. A piece has a checksum, and the first one a version and the
 * sizes of what the bytes hold. They are for the same program on the same kind of machine. Others refuse them, and the
 * log is read again.
 *
 * A restored status takes events as if it had not been away.
 */
#pragma once

#include "status/status.h"

enum { STATUS_SNAPSHOT_PIECE = 256 << 10 }; /* bytes of each piece that is written but the last */

/* Takes the next piece. Returns false on failure, and then gets no more. */
typedef bool status_snapshot_put_fn(void *owner, const void *piece, size_t size);

/* Returns the next piece, which must be there until the next call, or NULL at the end or on failure. */
typedef const void *status_snapshot_get_fn(void *owner, size_t *size);

/* Where the pieces are that status_snapshot_write put. */
struct status_snapshot_source {
        /* Begins to read with a piece, which is counted from 0. Returns false on failure, and then there is no close.
         */
        bool (*open)(void *owner, uint64_t piece);
        status_snapshot_get_fn *get;
        void (*close)(void *owner);
        /* Tasks of a restored status could not be read: the stage shows none. */
        void (*on_lost)(void *owner);
        void *owner;
};

/*
 * Returns the bytes of all pieces. Afterwards status_snapshot_write only reads @s. This function may pack open rows of
 * tasks in another way, so no other thread may read @s meanwhile.
 */
uint64_t status_snapshot_size(const struct status *s);

/* Writes @s. Returns whether all pieces are put. */
bool status_snapshot_write(const struct status *s, status_snapshot_put_fn *put, void *owner);

/*
 * Returns the status that the pieces hold, or NULL if they are damaged or of another version. @source must exist as
 * long as the status: functions that read its tasks call it (status/columns/task_columns.h).
 */
struct status *status_snapshot_read(const struct status_snapshot_source *source);

/* Reads all tasks that a restored status has left at its source, which may go then. */
void status_snapshot_load(struct status *s);
