/*
 * See unstopped_context.h.
 *
 * To change the status, the handler of exit() calls exit() again. glibc then runs the remaining handlers, among them
 * that of a driver on YARN, which reports the end of the application.
 */
#include "driver/unstopped_context.h"

#include "base/log.h"
#include "base/mem.h"
#include "driver/context.h"
#include "driver/context_handles.h"
#include "driver/resume/ended_journals.h"
#include "rdd/pipeline/task_run.h"

#include <stdlib.h>
#include <unistd.h>

static struct {
        pthread_mutex_t lock;
        pid_t pid;                        /* whose exit() is watched; a forked child inherits the handler; 0: none */
        const struct fst_context *failed; /* did not start and was not stopped; NULL: none */
} unstopped = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Takes the memory of the context that did not start, so that its failure is reported once. */
static bool unstopped_context_take_failed(void)
{
        pthread_mutex_lock(&unstopped.lock);
        bool failed = steal(unstopped.failed) != NULL;
        pthread_mutex_unlock(&unstopped.lock);
        return failed;
}

/* The failed action of @sc, or NULL if none failed. Owned by the caller. */
static char *unstopped_context_failure(struct fst_context *sc)
{
        pthread_mutex_lock(&sc->lock);
        char *failure = sc->first_failure ? mem_strdup(sc->failed_action ? sc->failed_action : "a call") : NULL;
        pthread_mutex_unlock(&sc->lock);
        return failure;
}

int unstopped_context_end(int status)
{
        struct fst_context *sc = context_claim_end();
        _cleanup_free_ char *failure = NULL;
        if (sc) {
                log_info("SparkContext", "Invoking stop() from shutdown hook");
                failure = unstopped_context_failure(sc); /* not of an action that this end cancels */
                context_end(sc, failure && !status ? 1 : status);
        }
        if (unstopped_context_take_failed() && !failure)
                failure = mem_strdup("starting the context");
        if (!failure || status)
                return status;
        log_error(
                "SparkContext",
                "%s failed, and main ended with status 0 without fst_context_stop. The exit status is 1. End main with "
                "\"return fst_context_stop(sc);\", which returns the first failure",
                failure);
        return 1;
}

static void unstopped_context_on_exit(int status, void *unused)
{
        if (unstopped.pid != getpid() || task_run_current()) /* the crash report handles a task that calls exit() */
                return;
        int changed = unstopped_context_end(status);
        if (changed == 0)
                ended_journals_remove_last();
        else
                ended_journals_remove(false);
        if (changed != status)
                exit(changed);
}

void unstopped_context_watch(void)
{
        pthread_mutex_lock(&unstopped.lock);
        bool watched = unstopped.pid != 0; /* a forked child inherits the handler */
        unstopped.pid = getpid();
        if (!watched)
                on_exit(unstopped_context_on_exit, NULL); /* out of memory: exit() does not end the context */
        pthread_mutex_unlock(&unstopped.lock);
}

void unstopped_context_failed(const struct fst_context *sc)
{
        pthread_mutex_lock(&unstopped.lock);
        unstopped.failed = sc;
        pthread_mutex_unlock(&unstopped.lock);
}

void unstopped_context_forget(const struct fst_context *sc)
{
        pthread_mutex_lock(&unstopped.lock);
        if (!sc || sc == unstopped.failed)
                unstopped.failed = NULL;
        pthread_mutex_unlock(&unstopped.lock);
}
