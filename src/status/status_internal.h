/* Shared by the files of the status core. */
#pragma once

#include "status/status.h"

/* Returns a copy of a text that lives as long as the status, and is the same pointer for equal texts. NULL for NULL. */
const char *status_text(struct status *s, const char *text);

/* Returns the executor with this id. Adds it if it is new. */
struct status_executor *status_get_executor(struct status *s, const char *id, int64_t ms);

/* Returns the executor of a task. */
struct status_executor *status_executor_of_task(struct status *s, const struct task_info *info);

/* Notes the time of an event. */
static inline void status_see_time(struct status *s, int64_t ms)
{
        s->last_event_ms = MAX(s->last_event_ms, ms);
}

/* Returns how many of @n to remove, so that @limit remain: at least a tenth of the limit. */
static inline size_t status_excess(size_t n, size_t limit)
{
        return n > limit ? MAX(limit / 10, n - limit) : 0;
}

/* Raises each of @peaks to at least that of @with. */
void status_raise_peaks(struct executor_peaks *peaks, const struct executor_peaks *with);

/* False for the peaks of an executor that has reported none: the first one is -1 in logs of Spark. */
static inline bool status_peaks_are_known(const struct executor_peaks *peaks)
{
        return peaks->values[0] >= 0;
}

static inline void status_raise_executor_peaks(struct status_executor *x, const struct executor_peaks *peaks)
{
        if (!status_peaks_are_known(peaks))
                return;
        status_raise_peaks(&x->peaks, peaks);
        x->has_peaks = true;
}

void status_copy_map(struct strmap *to, const struct strmap *from);

/* Fills what is private and follows from the jobs and stages, of a status that was read from bytes. */
void status_index(struct status *s);

void status_job_free(struct status_job *job);
void status_stage_free(struct status_stage *stage);
enum { STATUS_MAX_PARTITIONS = 1 << 24 }; /* of an RDD; blocks of others are not shown */

void status_rdd_free(struct status_rdd *rdd);

/* Fills the places of an RDD that was read from bytes. */
void status_rdd_index(struct status_rdd *rdd);

/* Adds the RDDs of a submitted stage that are persisted. */
void status_add_rdds(struct status *s, const struct stage_info *stage);

/* Removes what an executor held. */
void status_forget_executor_blocks(struct status *s, uint32_t executor);

/* Corrects the counts of ended stages when the application has ended. */
void status_close_stages(struct status *s);

/* Sets whether an executor is excluded in a stage. */
void status_exclude_in_stage(struct status *s, struct status_executor *x, int stage_id, int attempt, bool excluded);
