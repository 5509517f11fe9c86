/* See end_signal.h. */
#include "process/end_signal.h"

#include "process/exit_cleanup.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

static long long end_signal_now_ms(void)
{
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool end_signal_note(struct end_signal *e, int number)
{
        int none = 0;
        if (atomic_compare_exchange_strong(&e->number, &none, number)) {
                atomic_store(&e->ms, end_signal_now_ms());
                return true;
        }
        const long long first = atomic_load(&e->ms);
        if (number == SIGINT && first && end_signal_now_ms() - first >= END_SIGNAL_INTERRUPT_MS) {
                exit_cleanup_run();
                _exit(128 + number);
        }
        return false;
}
