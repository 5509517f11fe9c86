/*
 * Task starts and ends as lines of Spark's event log, of which there may be millions. A pair takes well under two
 * microseconds. Only the buffer allocates memory.
 *
 * A task_json belongs to one stage attempt. It holds what Spark calls the stage's accumulables: the running sums of its
 * tasks' metrics, which each task end repeats. Fields and order are those of Spark 4.3. Accumulables that are zero are
 * left out.
 */
#pragma once

#include "events/events.h"

#include "base/buf.h"

enum { TASK_JSON_ACCUMULATORS = 37 }; /* ids of one stage */

struct task_json {
        int32_t stage_id, stage_attempt;
        bool accumulables;         /* spark.eventLog.includeTaskMetricsAccumulators */
        int64_t first_accumulator; /* id */
        int64_t sums[TASK_JSON_ACCUMULATORS];
        const struct executor_ref *executor; /* whose `executor_json` this is */
        struct buf executor_json;            /* "Executor ID" … "Host" … "Locality":" */
};

void task_json_init(struct task_json *t, int32_t stage_id, int32_t stage_attempt, int64_t first_accumulator,
                    bool accumulables);
void task_json_deinit(struct task_json *t);

/* Append one line each. The event must be of this stage attempt. */
void task_json_start(struct task_json *t, struct buf *b, const struct task_start *e);
void task_json_getting_result(struct task_json *t, struct buf *b, const struct task_getting_result *e);
void task_json_end(struct task_json *t, struct buf *b, const struct task_end *e);

/* Append the content of the completed stage's "Accumulables" array. */
void task_json_accumulables(const struct task_json *t, struct buf *b);
