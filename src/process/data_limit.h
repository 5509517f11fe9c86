/*
 * RLIMIT_DATA of this process: what malloc and mmap may still give it. Beyond the limit they answer NULL, so that an
 * allocation fails where otherwise the kernel would kill the process.
 *
 * Children inherit the limit: whoever starts a program gives it back what this process was started with.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

/* Allow @bytes beyond what the process has mapped now, and no more than it was started with. Any thread. */
void data_limit_set(int64_t bytes);

/* Bytes of private writable mappings that are not resident: thread stacks, and what was allocated but not written to.
 */
int64_t data_limit_untouched(void);

/* As the process was started. Any thread. */
void data_limit_reset(void);

/* The same in a child between fork and exec: system calls only. */
void data_limit_reset_child(void);

/* The same for a child that was started already; nothing if it has ended. */
void data_limit_reset_pid(pid_t pid);
