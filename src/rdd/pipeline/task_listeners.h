/* Callbacks of task functions for the end of the attempt (fst_task_on_completion, fst_task_on_failure). */
#pragma once

#include "rdd/pipeline/task_run.h"

/*
 * Calls the listeners after the computation ended with @status, the latest first: those for failure if it failed, then
 * those for completion. Also calls listeners that listeners add. Returns @status or, if that is 0, the status of the
 * first listener that failed.
 */
int task_run_call_listeners(struct task_run *run, int status);
