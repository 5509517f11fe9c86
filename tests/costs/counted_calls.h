/* What count_calls.c counts in one process, in the layout of its file. */
#pragma once

#include <stdint.h>

struct counted_calls {
        int64_t slot_allocations, slot_locks;   /* of the threads of task slots */
        int64_t other_allocations, other_locks; /* of all others */
        int64_t slot_handovers; /* of slot_locks, those of a lock that another thread had last: its cache line moves */
};
