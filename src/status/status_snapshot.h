/*
 * A status core as bytes, and back: a history server keeps them, so that it need not read the log of an application
 * again.
 *
 * Only for applications whose log is complete: a restored status can be read, but takes no more events. Columns of
 * tasks are stored as they are packed in memory. The bytes begin with a version, the sizes of what they hold and a
 * checksum. They are for the same program on the same kind of machine. Others refuse them, and the log is read again.
 */
#pragma once

#include "base/buf.h"
#include "status/status.h"

/* Appends the bytes of @s to @out. */
void status_snapshot_put(const struct status *s, struct buf *out);

/* Returns the status that @data holds, or NULL if the data is damaged or of another version. */
struct status *status_snapshot_get(const void *data, size_t size);
