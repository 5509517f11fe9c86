/* The small side of a broadcast join (rdd/cogroup/op_broadcast_join.h). */
#pragma once

#include <firesteel/types.h>

#include <stdint.h>

enum join_side { JOIN_LEFT, JOIN_RIGHT };

/* Its rows are records (store/page.h), one after another, in a broadcast variable. */
struct broadcast_side {
        enum join_side side; /* which side it is */
        fst_type type;
        uint64_t rows;
        int64_t variable; /* the id; 0: without rows there is none */
        uint64_t size;    /* bytes */
};

/* The limit of its rows, which have numbers of 32 bits. */
#define MAX_BROADCAST_ROWS (((uint64_t)1 << 31) - 1)
