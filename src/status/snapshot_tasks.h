/*
 * The tasks of stages in a snapshot (status/status_snapshot.h). The columns of a stage with few tasks lie beside the
 * stage; those of a larger one lie behind all entities, in a part of their own that is read when a page needs it.
 */
#pragma once

#include "status/snapshot_stream.h"

struct task_columns;

/* Writes, counts or reads the columns, or the place of their part. */
void snapshot_columns(struct snapshot_stream *p, struct task_columns *t);

/* Writes the chunks of each stage that the stream before has placed in a part. Sets p->is_bad if that fails. */
void snapshot_write_parts(struct snapshot_stream *p);
