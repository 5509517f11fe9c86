/*
 * Termination by a signal; see exit_hooks.h. The handler only stores the signal and posts a semaphore. Without hooks
 * there is no thread, and the handler ends the process itself. The time limit has a second thread, which starts with
 * the hooks. Invariant: `lock` is held from the first hook to the end of the process, so that no hook is removed while
 * it may run.
 */
#include "exec/exit_hooks.h"

#include "base/clock.h"
#include "base/error.h"
#include "process/exit_cleanup.h"
#include "base/vec.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

struct hook {
        void (*call)(void *context);
        void *context;
};

static struct {
        atomic_int status;     /* exit status; 0: the process continues */
        atomic_llong begun_ms; /* monotonic; 0: not yet */
        atomic_bool has_thread;
        int64_t timeout_ms;
        sem_t wake;
        pthread_mutex_t lock;
        VEC(struct hook) hooks;
} ending = {.timeout_ms = EXIT_HOOKS_TIMEOUT_MS, .lock = PTHREAD_MUTEX_INITIALIZER};

static void end_at_once(int status)
{
        exit_cleanup_run();
        _exit(status);
}

bool exit_hooks_exit(int status)
{
        int none = 0;
        if (!atomic_compare_exchange_strong(&ending.status, &none, status))
                return false;
        atomic_store(&ending.begun_ms, now_ms());
        if (!atomic_load(&ending.has_thread))
                end_at_once(status);
        sem_post(&ending.wake);
        return true;
}

static void exit_hooks_handle(int signal)
{
        if (exit_hooks_exit(128 + signal) || signal != SIGINT)
                return;
        int64_t begun = atomic_load(&ending.begun_ms);
        if (begun && now_ms() - begun >= EXIT_HOOKS_INTERRUPT_MS)
                end_at_once(128 + signal);
}

/* Writes without a log line's locks: a hook may hold them. */
static void *exit_hooks_limit(void *unused)
{
        static const char line[] = "The shutdown hooks did not finish in time: the process ends without them\n";
        struct timespec left = timespec_of_ns(ms_to_ns(ending.timeout_ms));
        while (nanosleep(&left, &left) != 0)
                ;
        (void)!write(STDERR_FILENO, line, sizeof(line) - 1);
        end_at_once(atomic_load(&ending.status));
        return NULL;
}

/* Called by the thread of the hooks, whose mask the new thread inherits. Without a thread the hooks have no limit. */
static void exit_hooks_start_limit(void)
{
        pthread_t thread;
        if (pthread_create(&thread, NULL, exit_hooks_limit, NULL) == 0)
                pthread_detach(thread);
}

static void *wait_for_signal(void *unused)
{
        while (sem_wait(&ending.wake) != 0)
                ;
        exit_hooks_start_limit();
        pthread_mutex_lock(&ending.lock);
        for (size_t i = ending.hooks.len; i-- > 0;)
                ending.hooks.data[i].call(ending.hooks.data[i].context);
        /* The thread that holds the lock of stdout may be stuck: then buffered output is lost, as in a JVM. */
        if (ftrylockfile(stdout) == 0)
                fflush(stdout);
        exit_cleanup_run();
        _exit(atomic_load(&ending.status));
}

void exit_hooks_init(int64_t timeout_ms)
{
        ending.timeout_ms = timeout_ms;
        static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
        for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
                struct sigaction action = {.sa_handler = exit_hooks_handle, .sa_flags = SA_RESTART}, before;
                sigfillset(&action.sa_mask);
                if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
                        sigaction(signals[i], &action, NULL);
        }
}

/* Blocks all signals in this thread, so that the application's threads receive them. */
static int start_thread(struct fst_error *error)
{
        sigset_t all, before;
        pthread_t thread;
        sem_init(&ending.wake, 0, 0);
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        int r = pthread_create(&thread, NULL, wait_for_signal, NULL);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        if (r != 0)
                return error_set(error, -r, "starting the thread that ends the process: %s", strerror(r));
        pthread_detach(thread);
        atomic_store(&ending.has_thread, true);
        return 0;
}

int exit_hooks_add(void (*hook)(void *context), void *context, struct fst_error *error)
{
        pthread_mutex_lock(&ending.lock);
        int r = atomic_load(&ending.has_thread) ? 0 : start_thread(error);
        if (r == 0)
                vec_push(&ending.hooks, (struct hook){hook, context});
        pthread_mutex_unlock(&ending.lock);
        return r;
}

int exit_hooks_status(void)
{
        return atomic_load(&ending.status);
}

void exit_hooks_remove(void (*hook)(void *context), void *context)
{
        pthread_mutex_lock(&ending.lock);
        while (atomic_load(&ending.status)) { /* the process ends before this returns, and the hook must stay */
                pthread_mutex_unlock(&ending.lock);
                pause();
                pthread_mutex_lock(&ending.lock);
        }
        for (size_t i = 0; i < ending.hooks.len; i++) {
                if (ending.hooks.data[i].call != hook || ending.hooks.data[i].context != context)
                        continue;
                memmove(&ending.hooks.data[i], &ending.hooks.data[i + 1],
                        (ending.hooks.len - i - 1) * sizeof(ending.hooks.data[0]));
                ending.hooks.len--;
                break;
        }
        pthread_mutex_unlock(&ending.lock);
}
