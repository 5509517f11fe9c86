/* Builds a lineage with the public interface. */
#pragma once

#include "plan.h"

/* Builds the RDD of node @i, whose parents are built. Writes its input files to @folder. */
void build_node(fst_context *sc, struct plan *p, int i, const char *folder);

/* The value of an operator's argument that is passed by address. */
struct build_value {
        int64_t i64;
        double f64;
        fst_bytes bytes;
        char fixed[64];
};
fst_constant build_zero(fst_type column, struct build_value *room);
