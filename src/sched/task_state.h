/* How an attempt of a task ended: in statuses of executors, for the scheduler, and in events. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The numbers appear in messages and traces. */
enum task_state {
        TASK_SUCCEEDED,
        TASK_FAILED,        /* the task itself failed: counts towards spark.task.maxFailures */
        TASK_FAILED_FATAL,  /* the same, but a retry cannot help: the stage is aborted at once */
        TASK_FETCH_FAILED,  /* a map output could not be fetched: that map stage runs again */
        TASK_KILLED,        /* on request; does not count */
        TASK_COMMIT_DENIED, /* another attempt commits; does not count */
        TASK_EXECUTOR_LOST, /* its executor was lost through the task's fault; counts */
        TASK_PREEMPTED,     /* its executor was lost through no fault of the application; does not count */
        TASK_RUNNING,       /* query result for a task that has not ended; never in a status */
};

/* Returns true if an executor may report this state. The driver alone decides the others. */
static inline bool task_state_is_reported(uint32_t state)
{
        return state <= TASK_COMMIT_DENIED && state != TASK_FAILED_FATAL;
}
