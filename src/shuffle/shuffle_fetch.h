/*
 * What a reduce task fetches from other executors: one stream from each of them, in rounds (shuffle_reader.h says
 * what the limits mean), with retries and verification. For shuffle_reader alone; on the task's thread.
 */
#pragma once

#include "shuffle/shuffle_reader.h"

struct shuffle_fetch;
struct memory_consumer;

/* All but the return value is borrowed until shuffle_fetch_free. Opens nothing yet. Never NULL. */
struct shuffle_fetch *shuffle_fetch_new(const struct shuffle_reader_env *env, const struct shuffle_inputs *inputs,
                                        int partition, fst_type type, struct task_run *run,
                                        struct memory_consumer *memory);

/*
 * The next page of the output of map partition @map, which is at a location other than `here`: owned by the caller and
 * reserved through the consumer; NULL after its last one. Maps are asked for in ascending order, each until NULL came.
 * Negative after task_run_fail or shuffle_fetch_lost.
 */
int shuffle_fetch_next(struct shuffle_fetch *fetch, int map, struct page **page);

/*
 * The output of @map cannot be had, for @status: FST_MEMORY_E_DENIED, or negative with @error, which is cleared. That
 * is a fetch failure of the task, unless the reason is its own: it was told to stop, there is no memory, or a spill of
 * it failed. Returns its status.
 */
int shuffle_fetch_lost(const struct shuffle_reader_env *env, const struct shuffle_inputs *inputs, struct task_run *run,
                       int map, int status, struct fst_error *error);

/* Streams that are not at their end are cut. NULL is allowed. */
void shuffle_fetch_free(struct shuffle_fetch *fetch);
