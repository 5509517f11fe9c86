/* Describes why an executor of a standalone cluster ended, and whether the application is at fault. */
#pragma once

#include <stdbool.h>

/* @message as the worker or master sends it ("Command exited with code 137"), followed by the meaning of @status if
 * known; owned by the caller. @status NULL: unknown.
 */
char *executor_exit_reason(const char *message, const int *status);

/* Spark's rule: whether a failure counts against the executor's tasks. With an exit status it does, except when the
 * executor lost its driver or its disk. Without one, it does unless the whole worker is gone (@with_worker).
 */
bool executor_exit_by_app(const int *status, bool with_worker);
