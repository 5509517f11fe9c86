/* A lineage with the public interface. */
#pragma once

#include "plan.h"

/* The RDD of node @i, whose parents have theirs; files that it is read from are made in @folder. */
void build_node(fst_context *sc, struct plan *p, int i, const char *folder);

/* A value for operators that take one by address. */
struct build_value {
        int64_t i64;
        double f64;
        fst_bytes bytes;
        char fixed[64];
};
fst_constant build_zero(fst_type column, struct build_value *room);
