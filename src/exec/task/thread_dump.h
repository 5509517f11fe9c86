/*
 * The threads of this process, for pages and /api/v1: names, states, CPU time, what they wait for, and their stacks.
 *
 *      struct thread_sample *threads = thread_dump_take(slots, n_slots, &n);
 *      char **functions = thread_symbols_new(threads, n);
 *      …
 *      thread_symbols_free(functions);
 *      free(threads);
 *
 * A stack is taken by a signal (the last but two of the real-time ones), whose handler walks the stack of its thread.
 * A signal ends some system calls early, such as sleep() and poll(), even with SA_RESTART. So a thread gets it only
 * - while it runs on a processor, or
 * - in a system call that starts again by itself, as far as /proc tells, or
 * - if /proc does not tell: in a thread of the engine outside of the application's functions.
 * Others are shown without a stack. A thread that blocks the signal is, too.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct slot;

enum { THREAD_MAX_FRAMES = 40, THREAD_DUMP_MAX = 1000 };

struct thread_sample {
        int64_t id; /* thread id, or process id of a task process */
        char name[32];
        char state; /* of Linux: 'R', 'S', 'D', … */
        int64_t cpu_ms;
        char wait[64];      /* system call or place in the kernel; "": unknown */
        int64_t task_id;    /* -1: none */
        char function[160]; /* the application's function that runs; "": none or unknown */
        int n_frames;
        void *frames[THREAD_MAX_FRAMES]; /* the innermost first */
};

/*
 * Returns the threads of this process and the task processes of @slots, at most THREAD_DUMP_MAX: an array that the
 * caller frees. Takes some milliseconds, at most some 0.3 s. Any thread, one at a time: others wait.
 */
struct thread_sample *thread_dump_take(struct slot *const *slots, int n_slots, size_t *n);

/*
 * Finds the functions of all frames: "split+0x1c (wordcount.so)". Returns one text for each frame of each thread, in
 * order; free it with thread_symbols_free.
 */
char **thread_symbols_new(const struct thread_sample *threads, size_t n);
void thread_symbols_free(char **symbols); /* NULL is allowed */

/* For tests: the name of a system call of this machine, or NULL if it is not among the usual ones. */
const char *thread_system_call_name(long number);
