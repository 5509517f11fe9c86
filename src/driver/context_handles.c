/*
 * Checks contexts that the application passes to public functions; see rdd/rdd_registry.h.
 *
 * A process has one running context at a time, as in Spark (SPARK-2243). A second context, or an invalid handle, stands
 * for a context that never started.
 *
 * Invariant: `running` is set from before a context starts until it has stopped. NULL: no context is running.
 */
#include "driver/context_handles.h"

#include "base/live_handles.h"
#include "base/log.h"
#include "base/mem.h"
#include "driver/context.h"
#include "process/failure_reason.h"
#include "rdd/pipeline/task_run.h"
#include "rdd/rdd.h"

#include <stdarg.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
        const fst_context *context;
        char *call_site;
        bool started;
} running; /* under the lock */

int context_claim(const fst_context *sc, fst_site site, struct fst_error *error)
{
        int r = 0;
        pthread_mutex_lock(&lock);
        if (running.context) {
                r = error_set(error, -EALREADY,
                              "Only one SparkContext should be running in this process (see SPARK-2243). The currently "
                              "running SparkContext was created at: %s. Stop it with fst_context_stop before you make "
                              "another one",
                              running.call_site);
        } else {
                running.context = sc;
                running.call_site = rdd_site_text(site);
                running.started = false;
        }
        pthread_mutex_unlock(&lock);
        return r;
}

void context_yield(const fst_context *sc)
{
        pthread_mutex_lock(&lock);
        if (running.context == sc) {
                running.context = NULL;
                running.started = false;
                free(steal(running.call_site));
        }
        pthread_mutex_unlock(&lock);
}

void context_started(const fst_context *sc)
{
        pthread_mutex_lock(&lock);
        if (running.context == sc)
                running.started = true;
        pthread_mutex_unlock(&lock);
}

fst_context *context_claim_end(void)
{
        pthread_mutex_lock(&lock);
        fst_context *sc = NULL;
        if (running.started)
                sc = (fst_context *)running.context; /* not freed before it yields, under the lock */
        if (sc && __atomic_exchange_n(&sc->stopping, true, __ATOMIC_ACQ_REL))
                sc = NULL;
        pthread_mutex_unlock(&lock);
        return sc;
}

/* ---------------------------------------------------------------------------------------------------- checks */

static fst_context *refused;

static void context_refused_make(void)
{
        struct fst_conf *conf = new0(struct fst_conf);
        conf_init(conf);
        refused = context_alloc(conf);
        refused->status = error_set(&refused->error, -EINVAL, "the context does not exist");
}

fst_context *context_refused(void)
{
        static pthread_once_t once = PTHREAD_ONCE_INIT;
        pthread_once(&once, context_refused_make);
        return refused;
}

bool context_is_refused(const fst_context *sc)
{
        return sc == context_refused();
}

fst_context *context_given(const fst_context *sc, fst_site site)
{
        bool in_task = task_run_current() != NULL;
        if (likely(!in_task && live_handle_has(HANDLE_CONTEXT, sc)))
                return (fst_context *)sc;
        _cleanup_free_ char *call = rdd_site_text(site);
        if (in_task)
                task_run_refuses(call);
        else if (sc && sc == context_refused())
                ; /* the call that returned it has reported the reason */
        else if (sc)
                context_misused("Cannot call methods on a stopped SparkContext: %s was given a context that "
                                "fst_context_stop has ended, or a variable that was never set",
                                call);
        else
                context_misused("%s was given NULL instead of a context: fst_context_new makes one", call);
        return context_refused();
}

void context_misused(const char *format, ...)
{
        char *message = NULL;
        va_list args;
        va_start(args, format);
        if (vasprintf(&message, format, args) < 0)
                message = NULL;
        va_end(args);
        log_error("SparkContext", "%s", message ? message : "out of memory");
        failure_reason_add(message ? message : "out of memory");
        free(message);
        fst_context *sc = rdd_registry_running();
        if (!sc)
                return;
        pthread_mutex_lock(&sc->lock);
        if (!sc->first_failure)
                sc->first_failure = -EINVAL;
        pthread_mutex_unlock(&sc->lock);
}

bool context_missing(const void *given, const char *function, const char *what)
{
        if (likely(given != NULL))
                return false;
        context_misused("%s was given NULL instead of %s", function, what);
        return true;
}

void *handle_given(enum handle_kind kind, const void *handle, const char *function)
{
        static const char *const nouns[HANDLE_KINDS] = {
                [HANDLE_CONF] = "a configuration", [HANDLE_FUTURE] = "a future", [HANDLE_MAP] = "a map",
                [HANDLE_SERVED] = "a served socket"};
        if (task_run_refuses(function))
                return NULL;
        if (likely(live_handle_has(kind, handle)))
                return (void *)handle;
        if (handle)
                context_misused("%s was given %s that does not exist: its context was stopped, or its variable was "
                                "never set",
                                function, nouns[kind]);
        else
                context_missing(handle, function, nouns[kind]);
        return NULL;
}
