/*
 * A recorded trace (sched/sched_recorder.h) fed to a fresh scheduler: what it was told then is told again, and what it
 * decides now must be what it decided then.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct fst_error;

struct sched_replay_report {
        int64_t lines; /* of the trace, that came again */
        int64_t calls; /* of the scheduler */
        int64_t tasks; /* launched */
        int64_t jobs;
};

/* The trace and the scheduler part company: @error has the line, what was decided then and now. */
enum { FST_REPLAY_E_DIVERGED = 1 };

/*
 * Replay @len bytes of @text. @max_tasks bounds the partitions of one RDD and the cores of one executor, so that a
 * hostile trace cannot ask for all memory. A trace
 * that ends in the middle is replayed as far as it goes, but must end with a whole line.
 * 0; FST_REPLAY_E_DIVERGED; or -EINVAL with the line that cannot be read.
 */
int sched_replay(const char *text, size_t len, int max_tasks, struct sched_replay_report *report,
                 struct fst_error *error);
