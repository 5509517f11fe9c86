/* The states of a Mesos task, by Mesos' numbers, and what Spark makes of them. */
#pragma once

#include <stdbool.h>

enum mesos_task_state {
        MESOS_TASK_STARTING = 0,
        MESOS_TASK_RUNNING = 1,
        MESOS_TASK_FINISHED = 2,
        MESOS_TASK_FAILED = 3,
        MESOS_TASK_KILLED = 4,
        MESOS_TASK_LOST = 5,
        MESOS_TASK_STAGING = 6,
        MESOS_TASK_ERROR = 7,
        MESOS_TASK_KILLING = 8,
        MESOS_TASK_DROPPED = 9,
        MESOS_TASK_UNREACHABLE = 10,
        MESOS_TASK_GONE = 11,
        MESOS_TASK_GONE_BY_OPERATOR = 12,
        MESOS_TASK_UNKNOWN = 13,
};

enum task_outcome {
        TASK_OUTCOME_LAUNCHING,
        TASK_OUTCOME_RUNNING,
        TASK_OUTCOME_FINISHED,
        TASK_OUTCOME_FAILED,
        TASK_OUTCOME_KILLED,
        TASK_OUTCOME_LOST,
};

/* Spark's state for Mesos' state. A number that Mesos does not have is lost. */
enum task_outcome task_outcome_of(enum mesos_task_state state);

/* "LAUNCHING", "RUNNING", … as Spark writes them. */
const char *task_outcome_name(enum task_outcome outcome);

/* "TASK_RUNNING", … as Mesos writes them. */
const char *mesos_state_name(enum mesos_task_state state);

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
