/* A backend's description of a new executor (Spark: ExecutorInfo). Receivers copy it. */
#pragma once

#include "base/strmap.h"
#include "sched/sched.h"

struct executor_info {
        struct executor_spec spec;
        int port;                                   /* of its transfer server; 0: none */
        int64_t pid;                                /* on its host */
        uint64_t started;                           /* as in struct earlier_executor */
        int64_t memory;                             /* of its pool, in bytes; -1: its block manager is already known */
        int64_t off_heap_memory;                    /* in bytes, added to `memory` */
        const struct strmap *log_urls, *attributes; /* NULL: none */
};
