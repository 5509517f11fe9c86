/* What a backend says of an executor that has come. All of it is copied by whoever is told. */
#pragma once

#include "base/strmap.h"
#include "sched/sched.h"

struct executor_details {
        struct executor_spec spec;
        int port;                /* at which others reach it; 0: nobody does */
        int64_t memory;          /* of its pool, in bytes; -1: its block manager was announced before */
        int64_t off_heap_memory; /* beside it */
        const struct strmap *log_urls, *attributes; /* NULL: none */
};
