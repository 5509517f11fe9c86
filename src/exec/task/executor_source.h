/*
 * The metrics of a process that runs tasks: Spark's sources executor, ExecutorMetrics and JVMCPU.
 *
 * Slots count a whole batch of tasks at once. Only tasks that succeeded add to the sums, as in Spark. All else is read
 * when a sink or a page asks for it.
 */
#pragma once

#include <stdbool.h>

struct exec_env;
struct executor_source;
struct metrics_snapshot;
struct task_batch;

/* @env must outlive the source. @slots: the cores. @tree: measure all descendants of the process. */
struct executor_source *executor_source_new(const struct exec_env *env, int slots, bool tree);
void executor_source_free(struct executor_source *s); /* NULL is allowed */

/* A slot begins, or has run, a batch. Any thread. Do nothing with @s NULL. */
void executor_source_began(struct executor_source *s);
void executor_source_ended(struct executor_source *s, const struct task_batch *run);

/* As metrics_source_fn: the tasks of this process, its CPU time (ns), and its memory (bytes). */
void executor_source_put_tasks(void *source, struct metrics_snapshot *out);
void executor_source_put_cpu(void *source, struct metrics_snapshot *out);
void executor_source_put_memory(void *source, struct metrics_snapshot *out);
