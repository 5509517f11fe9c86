/*
 * A process that this one did not start, such as an executor whose driver has died. A pidfd watches it, so that its
 * number is never taken for that of a later process. On the loop's thread.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>
#include <uv.h>

struct foreign_process;

/* When the process started, in clock ticks since the host did; 0: there is no such process. Any thread. */
uint64_t process_start_ticks(pid_t pid);

/*
 * Watches process @pid that started at @started. @ended is called once, when it has ended. Returns 0, -ESRCH if there
 * is no such process any more, or another negative errno.
 */
int foreign_process_new(uv_loop_t *loop, pid_t pid, uint64_t started, void (*ended)(void *owner), void *owner,
                        struct foreign_process **process);

/* Returns 0 or a negative errno. */
int foreign_process_kill(struct foreign_process *process, int signal);

/* Stops watching. The process goes on. NULL is allowed. The loop must run once more. */
void foreign_process_free(struct foreign_process *process);
