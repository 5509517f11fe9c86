/*
 * The side of a join whose rows are joined as they come: the other side, which came first, is small, in memory, and a
 * table. So the rows that stream are neither held nor indexed, which matters most for cached rows that are joined again
 * and again with few changing ones.
 *
 * A table for a stream does not spill, so it takes at most a quarter of what its task may hold: operators that make the
 * rows that stream need the rest.
 */
#pragma once

#include "rdd/cogroup/cogroup_mode.h"

struct join_stream;

/* Creates the stream of @join, which is a join of any kind and outlives it. */
struct join_stream *join_stream_new(struct cogroup_op *join);

/* NULL is allowed. */
void join_stream_free(struct join_stream *s);

/*
 * Makes a table of side @built, all of whose rows have come. Returns 0, and the rows of the other side go into
 * join_stream_op; or COGROUP_UNCHANGED if they must go into their side, because the table would be too large, memory is
 * short, or merging may cost less; or negative.
 */
int join_stream_start(struct join_stream *s, enum join_side built);

/* Takes the rows of the other side. Its end is that of the join. */
struct op *join_stream_op(struct join_stream *s);

/* Discards the table when the task has ended or is abandoned. */
void join_stream_end(struct join_stream *s);
