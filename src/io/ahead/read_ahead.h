/*
 * Reads blocks of a file before its reader asks for them, so that the reader computes while the device works. The
 * kernel does the same for the page cache, but only with its window (128 KiB on most machines) in flight, and not for
 * files opened with O_DIRECT.
 *
 *      struct read_ahead *a = read_ahead_new(fd, end);
 *      while ((n = read_ahead_read(a, data, size, offset)) > 0) …
 *      read_ahead_free(a);
 *
 * Blocks are read through io_uring, or by a thread if the kernel, a container or a missing module refuses io_uring.
 * Rings, threads and blocks are kept for later files (at most MAX_IDLE of each process).
 *
 * Threads: one thread at a time uses a read_ahead. Any thread may create one. Do not fork while one exists: the child
 * must not use it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct read_ahead;

#define READ_AHEAD_BLOCK ((size_t)256 << 10) /* bytes of one read; the last one before `end` is shorter */
#define READ_AHEAD_ALIGNMENT ((size_t)4096)  /* of memory, offsets and sizes: what O_DIRECT needs */
#define READ_AHEAD_MAX_BLOCKS 64u

enum read_ahead_engine {
        READ_AHEAD_ANY, /* io_uring, else a thread */
        READ_AHEAD_URING,
        READ_AHEAD_THREAD,
};

/* Sets the number of blocks that are read ahead, between 1 and READ_AHEAD_MAX_BLOCKS, and the engine, for read_aheads
 * created afterwards. The default is 8 blocks and READ_AHEAD_ANY. */
void read_ahead_configure(unsigned blocks, enum read_ahead_engine engine);

/*
 * Begins to read @fd, which must stay open. The reader expects to read up to @end: blocks beyond it are read only once
 * it asks for them. Reads nothing before the first read_ahead_read. Returns NULL if there is no memory, or if
 * READ_AHEAD_URING was configured and is not available.
 */
struct read_ahead *read_ahead_new(int fd, uint64_t end);

/* Waits until no read is in flight. NULL is allowed. */
void read_ahead_free(struct read_ahead *a);

/* Moves the position up to which blocks are read ahead. */
void read_ahead_set_end(struct read_ahead *a, uint64_t end);

/*
 * Copies up to @size bytes from @offset on to @data, and waits for them if necessary. Returns their number, less than
 * @size only at the end of the file, 0 at or after it, or the negative errno of the read: -EINVAL if @fd is O_DIRECT
 * and the file system needs another alignment. Reading in order is fast. Any other offset drops what was read ahead.
 */
ssize_t read_ahead_read(struct read_ahead *a, void *data, size_t size, uint64_t offset);

/* Returns the engine in use: READ_AHEAD_URING or READ_AHEAD_THREAD. */
enum read_ahead_engine read_ahead_engine_of(const struct read_ahead *a);
