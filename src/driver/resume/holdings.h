/*
 * The outputs and blocks that executors of earlier drivers brought when they registered again, until the application's
 * jobs ask for them.
 *
 *  - A map output counts if the journal names it and the executor that has it confirms it here.
 *  - Cached blocks of an RDD count if a job that the journal names has that RDD: equal signatures mean equal lineages.
 *  - A batch of tasks that an executor still runs, or whose outcome it holds, counts if the journal names its job, with
 *    its signature.
 *  - The first job that the journal does not name closes the holdings: what nobody has asked for is dropped, because the
 *    application may give its number to something else.
 *
 *  - An executor that writes to a store of map outputs keeps the number (shuffle/remote_shuffle.h) that its first driver
 *    gave it, for as long as it lives.
 *
 * Pure. One thread.
 */
#pragma once

#include "base/vec.h"
#include "driver/backend/scheduler_backend.h"

#include <stdbool.h>
#include <stdint.h>

struct held_output {
        int shuffle, partition;
        int64_t task_id;
        int executor; /* the scheduler's index */
        bool taken;
};

struct held_rdd {
        int rdd;
        bool valid;
};

struct kept_writer {
        int32_t writer;
        int executor; /* the scheduler's index */
};

struct holdings {
        VEC(struct held_output) outputs;
        VEC(struct held_rdd) rdds;
        VEC(struct held_batch) runs;
        VEC(struct kept_writer) writers; /* by writer */
        VEC(int32_t) writer_of;          /* by executor; -1: none is kept */
        size_t sorted; /* outputs up to here are in order */
        bool closed;
};

void holdings_deinit(struct holdings *h);

/* Adds what an executor brings. False if the holdings are closed. */
bool holdings_add_output(struct holdings *h, int shuffle, int partition, int64_t task_id, int executor);
bool holdings_add_rdd(struct holdings *h, int rdd);

/* The index of an executor that has the output, which is taken; -1: none has it. */
int holdings_take_output(struct holdings *h, int shuffle, int partition, int64_t task_id);

/* Adds a batch, whose outputs are copied. False if the holdings are closed. */
bool holdings_add_run(struct holdings *h, const struct held_batch *run);

/* Moves a batch of a journal's job to *@run, which the caller frees. @job 0: of any job. False: there is none. */
bool holdings_take_run(struct holdings *h, uint64_t job, struct held_batch *run);

/* The batch that begins with this task does not run any more: it takes a core until its outcome has come. */
void holdings_end_run(struct holdings *h, int64_t first_id);

/* The RDD is in a job that the journal names. */
void holdings_validate_rdd(struct holdings *h, int rdd);

/* The executor is lost, with its outputs. */
void holdings_drop_executor(struct holdings *h, int executor);

/* Closes the holdings: leaves the outputs and batches that were not taken and the RDDs that are not valid, for the caller
 * to remove. */
void holdings_close(struct holdings *h);

/* An executor keeps its number. And the number that an executor keeps, and the executor that keeps a number; -1: none. */
void holdings_keep_writer(struct holdings *h, int executor, int32_t writer);
int32_t holdings_writer(const struct holdings *h, int executor);
int holdings_executor_of_writer(const struct holdings *h, int32_t writer);
