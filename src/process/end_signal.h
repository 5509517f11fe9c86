/*
 * Decides about signals to a process that first finishes something when a signal ends it: cleans up, or takes back what
 * it has created.
 *
 * The first signal counts. Later ones do not cut the process short, as in a JVM: timeout(1) sends SIGTERM twice, and a
 * terminal that closes sends SIGHUP as well. A SIGINT at least END_SIGNAL_INTERRUPT_MS after the first signal is a user
 * who presses Ctrl-C again: it ends the process at once, with its temporary files (process/exit_cleanup.h).
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#define END_SIGNAL_INTERRUPT_MS 1000

struct end_signal {
        atomic_int number; /* of the first signal; 0: none came */
        atomic_llong ms;   /* monotonic, of its arrival; 0: not yet known */
};

/* Returns true for the first signal. May not return for a SIGINT. Async-signal-safe. */
bool end_signal_note(struct end_signal *e, int number);
