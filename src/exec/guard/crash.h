/*
 * Reports crashes in user code before the process ends.
 *
 * While a task runs, its thread stores the task and the application's function that it calls (crash_enter, crash_leave:
 * two stores). After a fatal signal, or if the function calls exit() or abort(), one report is written to the
 * descriptor of crash_init:
 *
 *      ERROR Executor: task 3 in stage 1.0 (partition 3, attempt 0) crashed in split in wordcount.so: SIGSEGV,
 *      invalid memory access at address 0x0, code at wordcount.so+0x1139 (addr2line -e /jobs/wordcount.so 0x1139)
 *
 * Then the signal gets its default action and is delivered again, so that exit status (139, …) and core dump are those
 * of the crash. Writing the report takes no locks and no heap memory, and uses a stack of its own.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fst_error;
struct fst_task_info;

/*
 * The thread's current task and function. Only the functions below write it. Initial-exec: a handler may read it at any
 * time.
 */
struct crash_call {
        const char *function;             /* NULL outside user code */
        const struct fst_task_info *task; /* NULL outside tasks */
        const char *const *watched;       /* set by crash_watch; NULL: not set */
};
extern __thread struct crash_call crash_call __attribute__((tls_model("initial-exec")));

/* Exit status of a process whose user code called exit(0) in a task: Spark's for an uncaught exception. */
#define CRASH_EXIT_CODE 50

/*
 * Installs the handlers (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, exit) for the process, and the calling thread's
 * signal stack. The caller keeps @descriptor open. @hint is a sentence that ends each report of a task (the cost of the
 * crash and a remedy), or NULL. Borrowed forever. A second call replaces both. Call it before any thread runs tasks.
 * Returns -errno with @error.
 */
int crash_init(int descriptor, const char *hint, struct fst_error *error);

/*
 * Writes the reason for the process's end to the descriptor of crash_init, if that is not the log. One line. Any
 * thread.
 */
void crash_say(const char *reason);

/* Sets the text of reports for SIGABRT instead of "abort() was called". Borrowed forever. Any thread. */
void crash_set_abort_reason(const char *reason);

/* Returns the task id that a crash report anywhere in @text names; -1: none. @text is untrusted. */
int64_t crash_report_task(const char *text);

/* Returns true if @text holds a crash report of an application's function that accessed invalid memory. */
bool crash_report_is_invalid_access(const char *text);

/* Sets up a signal stack for the calling thread, so that a stack overflow is reported. A second call has no effect. */
void crash_thread_init(void);
void crash_thread_deinit(void);

/*
 * Registers a module: addresses in @start … @end are reported as @name+offset, with the command that finds the source
 * line in the file @path. Borrowed forever; any thread.
 */
#define CRASH_LINE_COMMAND "addr2line -e "
void crash_add_module(const char *name, const char *path, uintptr_t start, uintptr_t end);

/* Sets the thread's task, borrowed until the next call; NULL: none. */
static inline void crash_set_task(const struct fst_task_info *task)
{
        crash_call.task = task;
}

/*
 * Sets the variable in which the thread's engine stores the current function (a field of struct task_run). It must live
 * as long as the thread. NULL in the variable: no user code runs. Takes precedence over crash_enter. @function NULL
 * ends this.
 */
static inline void crash_watch(const char *const *function)
{
        crash_call.watched = function;
}

/*
 * Enters user code: @function is its name for the report ("split in wordcount.so", see module_describe), borrowed until
 * crash_leave. Returns the previous name for crash_leave, so calls nest.
 */
static inline const char *crash_enter(const char *function)
{
        const char *before = crash_call.function;
        crash_call.function = function;
        __asm__ volatile("" ::: "memory");
        return before;
}

static inline void crash_leave(const char *before)
{
        __asm__ volatile("" ::: "memory");
        crash_call.function = before;
}
