/*
 * Waiting for a condition as a task that may be told to stop: who stops it does not know what it waits for, so the
 * task looks by itself now and then.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>

/*
 * Wait until @changed is signalled, or for 20 ms at most if there is a flag to look at; @lock is held. @changed was
 * made for CLOCK_MONOTONIC. False, without waiting, if *@stopped (atomic) is set. NULL: nobody stops this task, wait.
 */
bool stop_wait(pthread_cond_t *changed, pthread_mutex_t *lock, const int *stopped);
