/* Encodes input splits (io/input_splits.h) as the message TextSplits of rpc/stage.proto. */
#pragma once

#include "rdd/rdd_wire_class.h"

/* Encodes @splits in the writer's memory. Strings are borrowed. */
Firesteel__TextSplits *splits_encode(struct rdd_wire_writer *w, const struct input_splits *splits);

/* Decodes @n splits into the reader's memory. Returns -EBADMSG if @m has another number or is invalid, or -E2BIG. */
int splits_decode(struct rdd_wire_reader *reader, const Firesteel__TextSplits *m, size_t n, const fst_rdd *rdd,
                  struct input_splits *splits, struct fst_error *error);

/* Encodes that partition i of @n has the splits firsts[i] … firsts[i + 1] - 1. */
void splits_encode_firsts(struct rdd_wire_writer *w, Firesteel__TextSplits *text, const uint32_t *firsts, size_t n);

/* Decodes them into the reader's memory. Returns -EBADMSG if @m has them for another number of partitions or refers to
 * splits that it does not have, or -E2BIG. */
int splits_decode_firsts(struct rdd_wire_reader *reader, const Firesteel__TextSplits *m, size_t n, const fst_rdd *rdd,
                         uint32_t **firsts, struct fst_error *error);
