/*
 * The metrics of an executor process: the sources executor, ExecutorMetrics and JVMCPU, under the names
 * NAMESPACE.EXECUTOR.SOURCE.METRIC, and the sinks of metrics.properties (instance "executor") that report them.
 */
#pragma once

struct exec_env;
struct executor_sinks;
struct executor_source;
struct fst_conf;
struct fst_error;

struct executor_sinks_options {
        const struct fst_conf *conf;
        const struct exec_env *env; /* must outlive the metrics */
        const char *app_id, *executor_id;
        int cores;
};

/* Starts the sinks. Returns 0 with *@out NULL without any, or -EINVAL with @error for an invalid sink or value. */
int executor_sinks_start(const struct executor_sinks_options *options, struct executor_sinks **out,
                         struct fst_error *error);

/* Where slots count their tasks. Returns NULL for NULL. */
struct executor_source *executor_sinks_source(const struct executor_sinks *m);

/* Reports once more, which takes at most a second, and releases. No slot may run. NULL is allowed. */
void executor_sinks_stop(struct executor_sinks *m);

/* Adds the sources to a registry: those of tasks, and of the process if the configuration has them. */
struct metrics_registry;
int executor_sinks_add_sources(struct metrics_registry *registry, const struct executor_sinks_options *options,
                               struct executor_source **out, struct fst_error *error);
