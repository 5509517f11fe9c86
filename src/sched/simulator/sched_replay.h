/* Replays a recorded trace (sched/sched_recorder.h): a new scheduler gets the same inputs and must make the same
 * decisions.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct fst_error;

struct sched_replay_report {
        int64_t lines; /* lines of the trace that matched */
        int64_t calls; /* calls of the scheduler */
        int64_t tasks; /* launched */
        int64_t jobs;
};

/* The decisions differ from the trace: @error has the line, the recorded and the new decision. */
enum { FST_REPLAY_E_DIVERGED = 1 };

/* Replays @len bytes of @text. @max_tasks limits the partitions of one RDD and the cores of one executor, so that a
 * hostile trace cannot exhaust memory. A truncated trace is replayed as far as it goes, but must end with a whole
 * line. Returns 0; FST_REPLAY_E_DIVERGED; or -EINVAL with the malformed line.
 */
int sched_replay(const char *text, size_t len, int max_tasks, struct sched_replay_report *report,
                 struct fst_error *error);
