/* See executor_exit_reason.h. The exit codes and their meanings are Spark's (ExecutorExitCode, SparkExitCode). */
#include "standalone/wire/executor_exit_reason.h"

#include "base/mem.h"
#include "exec/executor.h"

#include <signal.h>
#include <string.h>

static const char *executor_exit_reason_explain(int status)
{
        static const struct {
                int status;
                const char *words;
        } known[] = {
                {EXECUTOR_EXIT_FAILED, "it could not start, was refused, or lost its driver; its stderr says which"},
                {50, "an uncaught error"},
                {51, "an uncaught error that could not be logged"},
                {EXECUTOR_EXIT_OUT_OF_MEMORY,
                 "OutOfMemory: spark.executor.memory was exceeded, and no task could be ended for it"},
                {EXECUTOR_EXIT_DISK, "Failed to create local directory (bad spark.local.dir?)"},
                {EXECUTOR_EXIT_HEARTBEAT, "Unable to send heartbeats to driver"},
                {57, "Executor killed by TaskReaper"},
                {58, "it could not register its blocks again"},
                {126, "the program may not be executed on that worker"},
                {127, "the program was not found on that worker"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(known); i++)
                if (known[i].status == status)
                        return known[i].words;
        return NULL;
}

char *executor_exit_reason(const char *message, const int *status)
{
        if (!status || *status == EXECUTOR_EXIT_OK)
                return mem_strdup(*message ? message : "the executor has ended");
        _cleanup_free_ char *first =
                *message ? mem_strdup(message) : mem_printf("Command exited with code %d", *status);
        const char *words = executor_exit_reason_explain(*status);
        const char *signal = *status > 128 && *status < 128 + NSIG ? sigabbrev_np(*status - 128) : NULL;
        if (words)
                return mem_printf("%s: %s", first, words);
        if (!signal || strstr(first, signal))
                return steal(first);
        return mem_printf("%s (died from signal SIG%s%s)", first, signal,
                          strcmp(signal, "KILL") == 0 ? ", possibly killed by the kernel for using too much memory"
                                                      : "");
}

bool executor_exit_by_app(const int *status, bool with_worker)
{
        if (!status)
                return !with_worker;
        return *status != EXECUTOR_EXIT_HEARTBEAT && *status != EXECUTOR_EXIT_DISK;
}
