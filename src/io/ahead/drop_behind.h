/*
 * Writes and reads files that are as a rule read once, such as spills and map outputs, so that they do not stay in the
 * page cache: data larger than the memory would evict everything else from it (spark.firesteel.io.direct).
 *
 * They pass through the page cache, unlike reads of input with O_DIRECT: frames have no alignment, and other processes
 * read the files. A writer starts the device after each 8 MiB and waits until it has the 8 MiB before, which then leave
 * the page cache.
 *
 * Any thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

/* Sets whether the functions below drop data, in the whole process. The default is no: then they do what their
 * namesakes do, or nothing. */
void drop_behind_configure(bool enabled);

/* As pwritev: returns the number of bytes written, or -1 with errno. */
ssize_t drop_behind_pwritev(int fd, const struct iovec *parts, int n, uint64_t offset);

/* Tells that the @size bytes from @offset on have been read, as have those shortly before. Drops them by the MiB. Keeps
 * errno. */
void drop_behind_was_read(int fd, uint64_t offset, uint64_t size);
