/* See interruptible_wait.h. */
#include "process/interruptible_wait.h"

#include "base/clock.h"

#define POLL_NS 20000000

bool stop_wait(pthread_cond_t *changed, pthread_mutex_t *lock, const int *stopped)
{
        if (!stopped) {
                pthread_cond_wait(changed, lock);
                return true;
        }
        if (__atomic_load_n(stopped, __ATOMIC_RELAXED))
                return false;
        const struct timespec until = timespec_of_ns(now_ns() + POLL_NS);
        pthread_cond_timedwait(changed, lock, &until);
        return true;
}
