/*
 * Fetches map outputs from other executors for a reduce task: one stream from each, in rounds (see the limits in
 * shuffle_reader.h), with retries and verification. Used by shuffle_reader only, on the task's thread.
 */
#pragma once

#include "shuffle/shuffle_reader.h"

#define DEFAULT_IN_FLIGHT ((size_t)48 << 20) /* bytes, where no limit is configured */

struct shuffle_fetch;
struct memory_consumer;

/* Borrows all arguments until shuffle_fetch_free. Opens no stream yet. Never NULL. */
struct shuffle_fetch *shuffle_fetch_new(const struct shuffle_reader_env *env, const struct shuffle_inputs *inputs,
                                        int partition, fst_type type, struct task_run *run,
                                        struct memory_consumer *memory);

/*
 * Gets the next page of the output of map partition @map, which is at a location other than `here`. The caller owns the
 * page, which is reserved through the consumer; NULL after the last one. Maps are requested in ascending order, each
 * until NULL. Returns negative after task_run_fail or shuffle_fetch_lost.
 */
int shuffle_fetch_next(struct shuffle_fetch *fetch, int map, struct page **page);

/*
 * Fails the task because the output of @map is unavailable. @status is FST_MEMORY_E_DENIED, or negative with @error,
 * which is cleared. It is a fetch failure unless the cause is the task's own: it was killed, there is no memory, or its
 * spill failed. Returns the task's status.
 */
int shuffle_fetch_lost(const struct shuffle_reader_env *env, const struct shuffle_inputs *inputs, struct task_run *run,
                       int map, int status, struct fst_error *error);

/* Closes unfinished streams. NULL is allowed. */
void shuffle_fetch_free(struct shuffle_fetch *fetch);
