/* See task_outcome.h. */
#include "mesos/offers/task_outcome.h"

#include "base/mem.h"

static const enum task_outcome states[] = {
        [MESOS_TASK_STARTING] = TASK_OUTCOME_LAUNCHING,      [MESOS_TASK_RUNNING] = TASK_OUTCOME_RUNNING,
        [MESOS_TASK_FINISHED] = TASK_OUTCOME_FINISHED,       [MESOS_TASK_FAILED] = TASK_OUTCOME_FAILED,
        [MESOS_TASK_KILLED] = TASK_OUTCOME_KILLED,           [MESOS_TASK_LOST] = TASK_OUTCOME_LOST,
        [MESOS_TASK_STAGING] = TASK_OUTCOME_LAUNCHING,       [MESOS_TASK_ERROR] = TASK_OUTCOME_LOST,
        [MESOS_TASK_KILLING] = TASK_OUTCOME_RUNNING,         [MESOS_TASK_DROPPED] = TASK_OUTCOME_LOST,
        [MESOS_TASK_UNREACHABLE] = TASK_OUTCOME_LOST,        [MESOS_TASK_GONE] = TASK_OUTCOME_FAILED,
        [MESOS_TASK_GONE_BY_OPERATOR] = TASK_OUTCOME_FAILED, [MESOS_TASK_UNKNOWN] = TASK_OUTCOME_LOST,
};

static const char *const outcomes[] = {
        [TASK_OUTCOME_LAUNCHING] = "LAUNCHING", [TASK_OUTCOME_RUNNING] = "RUNNING",
        [TASK_OUTCOME_FINISHED] = "FINISHED",   [TASK_OUTCOME_FAILED] = "FAILED",
        [TASK_OUTCOME_KILLED] = "KILLED",       [TASK_OUTCOME_LOST] = "LOST",
};

enum task_outcome task_outcome_of(mesos_task_state state)
{
        return (size_t)state < ARRAY_SIZE(states) ? states[state] : TASK_OUTCOME_LOST;
}

const char *task_outcome_name(enum task_outcome outcome)
{
        return outcomes[outcome];
}
