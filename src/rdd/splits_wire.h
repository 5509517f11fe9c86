/* Pieces of files (io/input_splits.h) as they travel in stages: a message TextSplits of rpc/stage.proto. */
#pragma once

#include "rdd/rdd_wire_class.h"

/* @splits as a message in the writer's memory; strings are borrowed. */
Firesteel__TextSplits *splits_encode(struct rdd_wire_writer *w, const struct input_splits *splits);

/* @n of them, in the reader's memory: -EBADMSG if @m has others; -E2BIG. */
int splits_decode(struct rdd_wire_reader *reader, const Firesteel__TextSplits *m, size_t n, const fst_rdd *rdd,
                  struct input_splits *splits, struct fst_error *error);
