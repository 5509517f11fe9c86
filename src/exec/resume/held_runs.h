/*
 * The batches of an executor that ended while no driver wanted their outcomes: their driver had died, and the next one has
 * not asked for them yet. Their outcomes are kept as packed statuses, up to a number of bytes.
 *
 * Pure. Callers lock it.
 */
#pragma once

#include "base/buf.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct held_run {
        int64_t first_id; /* of its tasks */
        int n;
        uint64_t job, signature; /* stage_context.journal_job */
        int shuffle;             /* that its tasks write; -1: tasks of a result stage */
        int32_t *outputs;        /* of each task; owned */
        int slot;
        bool told;         /* the driver knows that it does not run any more */
        struct buf status; /* packed StatusUpdate; owned */
};

struct held_runs {
        VEC(struct held_run) runs; /* oldest first */
        size_t bytes, limit;       /* of statuses; limit 0: unlimited */
};

void held_runs_deinit(struct held_runs *h);
void held_run_deinit(struct held_run *run);

/* Takes @run, with what it owns. Returns false, having freed it, if its status would exceed the limit. */
bool held_runs_add(struct held_runs *h, struct held_run *run);

/* Moves the run that begins with @first_id to *@run. Returns false if there is none. */
bool held_runs_take(struct held_runs *h, int64_t first_id, struct held_run *run);

/* True if one of the runs has the task. */
bool held_runs_has_task(const struct held_runs *h, int64_t task_id);
