/*
 * Why an executor of a standalone cluster is gone, in words and as a matter of whose fault it is.
 */
#pragma once

#include <stdbool.h>

/*
 * @message as the worker or master has it ("Command exited with code 137"), with what its status means, if that is
 * known: owned by the caller. @status NULL: none is known.
 */
char *executor_exit_reason(const char *message, const int *status);

/*
 * Whether its tasks are charged a failure: Spark's rule. An exit status speaks against them, but for those of an
 * executor that lost its driver or its disk; without one it is the worker that is gone (@with_worker) or not.
 */
bool executor_exit_by_app(const int *status, bool with_worker);
