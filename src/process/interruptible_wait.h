/*
 * Waits for a condition in a task that may be stopped. The stopping thread does not know the condition, so the task
 * checks its flag at intervals.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>

/*
 * Wait until @changed is signalled, or at most 20 ms if @stopped is given. @lock is held. @changed was created for
 * CLOCK_MONOTONIC. Returns false without waiting if *@stopped (atomic) is set. NULL: waits without a limit.
 */
bool stop_wait(pthread_cond_t *changed, pthread_mutex_t *lock, const int *stopped);
