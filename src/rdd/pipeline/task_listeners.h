/* What functions of a task want called when its attempt ends (fst_task_on_completion, fst_task_on_failure). */
#pragma once

#include "rdd/pipeline/task_run.h"

/*
 * The attempt is through, with @status of what it computed: call listeners, the latest first; of failure, if it failed,
 * and then of completion. 0, or negative: @status, or that of a listener which failed where nothing had before. Also
 * listeners that listeners add are called.
 */
int task_run_call_listeners(struct task_run *run, int status);
