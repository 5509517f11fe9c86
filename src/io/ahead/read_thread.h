/* A thread that reads blocks of a file in order, where io_uring is not available. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct read_thread;

/* Starts a thread without signals for at most @entries reads at a time. Returns NULL if no thread can be started. */
struct read_thread *read_thread_new(unsigned entries);
/* Ends the thread. No read may be in flight. */
void read_thread_free(struct read_thread *t);

/* Starts a read of @size bytes, after those started before. At most @entries reads may wait for read_thread_wait. */
void read_thread_read(struct read_thread *t, int fd, void *data, size_t size, uint64_t offset);
/* Waits for the oldest read. Returns its number of bytes or negative errno. */
ssize_t read_thread_wait(struct read_thread *t);
