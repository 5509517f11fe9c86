/* What Spark makes of the states of a Mesos task. */
#pragma once

#include "mesos/protocol/task_state.h"

#include <stdbool.h>

enum task_outcome {
        TASK_OUTCOME_LAUNCHING,
        TASK_OUTCOME_RUNNING,
        TASK_OUTCOME_FINISHED,
        TASK_OUTCOME_FAILED,
        TASK_OUTCOME_KILLED,
        TASK_OUTCOME_LOST,
};

/* Spark's state for Mesos' state. A number that Mesos does not have is lost. */
enum task_outcome task_outcome_of(mesos_task_state state);

/* "LAUNCHING", "RUNNING", … as Spark writes them. */
const char *task_outcome_name(enum task_outcome outcome);

/* The task has ended. */
static inline bool task_outcome_is_final(enum task_outcome outcome)
{
        return outcome >= TASK_OUTCOME_FINISHED;
}

/* The task has ended by a failure of its own or of its agent. */
static inline bool task_outcome_is_failure(enum task_outcome outcome)
{
        return outcome == TASK_OUTCOME_FAILED || outcome == TASK_OUTCOME_LOST;
}
