/*
 * The gate (exec/task_gate.h) of an executor that a Mesos agent has started, over the agent's executor API:
 * LAUNCH lets the task with the same number start, KILL kills it, SHUTDOWN ends the executor; the end of a task becomes
 * an UPDATE.
 *
 *      r = agent_gate_new(&options, &conf, &gate, error);
 *      status = executor_run(&options);
 *      agent_gate_free(gate);
 */
#pragma once

struct agent_gate;
struct executor_options;
struct fst_conf;
struct fst_error;

/*
 * Reads the agent's environment (MESOS_AGENT_ENDPOINT, MESOS_FRAMEWORK_ID, …), sets executor_id, app_id, hostname and
 * gate of @options, and borrows it: the driver's address, host, cores and settings follow in @conf when the agent has
 * accepted the subscription. Returns 0 and *@out, or -EINVAL with @error, which names the missing variable.
 */
int agent_gate_new(struct executor_options *options, struct fst_conf *conf, struct agent_gate **out,
                   struct fst_error *error);
void agent_gate_free(struct agent_gate *gate);

/* A duration of Mesos, "15mins" or "2.5secs", in ms; -1 if it is none. */
#include <stdint.h>
int64_t mesos_duration_ms(const char *text);
