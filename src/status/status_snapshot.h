/*
 * A status core as bytes, and back: a history server keeps them, so that it need not read the log of an application
 * again.
 *
 * The bytes are in pieces, so that they need little memory beside a large status. Columns of tasks are stored as they
 * are packed in memory. A piece has a checksum, and the first one a version and the sizes of what the bytes hold. They
 * are for the same program on the same kind of machine. Others refuse them, and the log is read again.
 *
 * Only for applications whose log is complete: a restored status can be read, but takes no more events.
 */
#pragma once

#include "status/status.h"

enum { STATUS_SNAPSHOT_PIECE = 256 << 10 }; /* bytes of each piece that is written but the last */

/* Takes the next piece. Returns false on failure, and then gets no more. */
typedef bool status_snapshot_put_fn(void *owner, const void *piece, size_t size);

/* Returns the next piece, which must be there until the next call, or NULL at the end or on failure. */
typedef const void *status_snapshot_get_fn(void *owner, size_t *size);

/*
 * Returns the bytes of all pieces. Afterwards status_snapshot_write only reads @s. This function may pack open rows of
 * tasks in another way, so no other thread may read @s meanwhile.
 */
uint64_t status_snapshot_size(const struct status *s);

/* Writes @s. Returns whether all pieces are put. */
bool status_snapshot_write(const struct status *s, status_snapshot_put_fn *put, void *owner);

/* Returns the status that the pieces hold, or NULL if they are damaged or of another version. Pieces of any size will
 * do. */
struct status *status_snapshot_read(status_snapshot_get_fn *get, void *owner);
