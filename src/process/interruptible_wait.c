/* See interruptible_wait.h. */
#include "process/interruptible_wait.h"

#include <time.h>

#define POLL_NS 20000000

bool stop_wait(pthread_cond_t *changed, pthread_mutex_t *lock, const int *stopped)
{
        if (!stopped) {
                pthread_cond_wait(changed, lock);
                return true;
        }
        if (__atomic_load_n(stopped, __ATOMIC_RELAXED))
                return false;
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += POLL_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(changed, lock, &until);
        return true;
}
