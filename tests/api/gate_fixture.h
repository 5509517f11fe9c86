/* A gate at which tasks wait, for tests of the public interface. It belongs to this process, which is the only
 * executor, so tasks and the test share it. */
#pragma once

#include <firesteel/firesteel.h>

#include <unistd.h>

static struct {
        int entered, open;
} gate;

/* Closes the gate: tasks that arrive from now on wait. */
static inline void gate_close(void)
{
        __atomic_store_n(&gate.entered, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&gate.open, 0, __ATOMIC_RELAXED);
}

static inline void gate_open(void)
{
        __atomic_store_n(&gate.open, 1, __ATOMIC_RELAXED);
}

/* Called by tasks: waits until the gate is open or the task should stop. */
static inline void gate_pass(fst_task *task)
{
        __atomic_add_fetch(&gate.entered, 1, __ATOMIC_RELAXED);
        while (!__atomic_load_n(&gate.open, __ATOMIC_RELAXED) && !fst_task_interrupted(task))
                usleep(500);
}

/* Waits until @n tasks have arrived. */
static inline void gate_await(int n)
{
        while (__atomic_load_n(&gate.entered, __ATOMIC_RELAXED) < n)
                usleep(500);
}
