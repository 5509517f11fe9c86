/* See end_signal.h. */
#include "process/end_signal.h"

#include "base/clock.h"
#include "process/exit_cleanup.h"

#include <signal.h>
#include <unistd.h>

bool end_signal_note(struct end_signal *e, int number)
{
        int none = 0;
        if (atomic_compare_exchange_strong(&e->number, &none, number)) {
                atomic_store(&e->ms, now_ms());
                return true;
        }
        const long long first = atomic_load(&e->ms);
        if (number == SIGINT && first && now_ms() - first >= END_SIGNAL_INTERRUPT_MS) {
                exit_cleanup_run();
                _exit(128 + number);
        }
        return false;
}
