/*
 * Sets RLIMIT_DATA of this process: the memory that malloc and mmap may allocate. Beyond it they return NULL, so that
 * an allocation fails where otherwise the kernel would kill the process.
 *
 * Children inherit the limit. A caller that starts a program restores the original limit for it.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

/* Allow @bytes more than the process has mapped now, but not more than its original limit. Any thread. */
void data_limit_set(int64_t bytes);

/*
 * Bytes of private writable mappings that are not resident: thread stacks, and allocated memory that was not written.
 */
int64_t data_limit_untouched(void);

/* Restore the original limit. Any thread. */
void data_limit_reset(void);

/* The same in a child between fork and exec. Makes system calls only. */
void data_limit_reset_child(void);

/* The same for a child that has already started. Does nothing if it has ended. */
void data_limit_reset_pid(pid_t pid);
