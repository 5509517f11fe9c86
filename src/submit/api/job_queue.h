/*
 * The jobs of a submitter by the time at which they are due; of jobs with the same time, the one that was queued first.
 * A binary heap: adding and taking cost the logarithm of the number of jobs.
 */
#pragma once

#include "base/vec.h"

#include <firesteel/submit.h>

#include <stdbool.h>
#include <stdint.h>

enum submit_job { JOB_START, JOB_POLL, JOB_REFRESH, JOB_KILL, JOB_CONFIRM };

struct queued_job {
        fst_submission *app;
        enum submit_job kind;
        int64_t due_ms; /* monotonic clock */
        uint64_t number;
};

struct job_queue {
        VEC(struct queued_job) heap;
        uint64_t last_number;
        size_t starts; /* of JOB_START in `heap` */
};

void job_queue_add(struct job_queue *q, fst_submission *app, enum submit_job kind, int64_t due_ms);

/* The first job, or NULL. Borrowed until the next call. */
const struct queued_job *job_queue_first(const struct job_queue *q);

/* Removes the first job; there is one. */
struct queued_job job_queue_take(struct job_queue *q);
void job_queue_deinit(struct job_queue *q);
