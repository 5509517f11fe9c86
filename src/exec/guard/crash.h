/*
 * Crashes in user code: who crashed is said before the process ends.
 *
 * While a task runs, its thread notes which task it is and which of the application's functions is being called
 * (crash_enter, crash_leave: two stores). If a deadly signal arrives, or the function calls exit() or abort(), one
 * report goes to the descriptor that crash_init was given:
 *
 *      ERROR Executor: task 3 in stage 1.0 (partition 3, attempt 0) crashed in split in wordcount.so: SIGSEGV,
 *      invalid memory access at address 0x0, code at wordcount.so+0x1139 (addr2line -e /jobs/wordcount.so 0x1139)
 *
 * then the signal gets its default action and strikes again, so that the exit status (139, …) and the core dump
 * are those of the crash. The report is written without locks and without memory from the heap, on a stack of its own.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct fst_error;
struct fst_task_info;

/* What this thread does; written by the functions below alone. Initial-exec: a handler may read it at any time. */
struct crash_call {
        const char *function;             /* NULL outside user code */
        const struct fst_task_info *task; /* NULL outside tasks */
        const char *const *watched;       /* crash_watch; NULL: nothing */
};
extern __thread struct crash_call crash_call __attribute__((tls_model("initial-exec")));

/* The exit status of a process whose user code called exit(0) in a task: Spark's for an uncaught exception. */
#define CRASH_EXIT_CODE 50

/*
 * Install the handlers (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, exit) for the whole process, and the calling
 * thread's signal stack. @descriptor stays open and the caller's. @hint is a sentence that ends every report (what
 * the crash costs, and what to do), or NULL; borrowed for ever. A report of the application's main has another one.
 * Calling it again replaces both. Before any thread runs tasks. -errno with @error.
 */
int crash_init(int descriptor, const char *hint, struct fst_error *error);

/* Tell whoever reads reports, if that is not the log, why this process ends. One line. Any thread. */
void crash_say(const char *reason);

/*
 * The id of the task that a report names, which may stand in the middle of @text; -1: none. The text may be anything.
 */
int64_t crash_report_task(const char *text);

/* A signal stack for the calling thread, so that even an overflowing stack is reported. A second call is nothing. */
void crash_thread_init(void);
void crash_thread_deinit(void);

/*
 * What ran where: an address in @start … @end is reported as @name+offset, with the command that finds its source line
 * in the file @path. Borrowed for ever; any thread.
 */
#define CRASH_LINE_COMMAND "addr2line -e "
void crash_add_module(const char *name, const char *path, uintptr_t start, uintptr_t end);

/* This thread now works on @task, borrowed until the next call; NULL: on none. */
static inline void crash_set_task(const struct fst_task_info *task)
{
        crash_call.task = task;
}

/*
 * Where this thread's engine notes the function that it is calling (struct task_run has such a place), for as long as
 * the thread lives; NULL in there outside user code. It counts before crash_enter. NULL ends it.
 */
static inline void crash_watch(const char *const *function)
{
        crash_call.watched = function;
}

/*
 * User code begins: @function is its name for the report ("split in wordcount.so", see module_describe), borrowed
 * until crash_leave. Returns what ran before, for crash_leave, so that calls nest.
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
