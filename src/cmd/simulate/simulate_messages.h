/*
 * Measures the messages of a simulated driver: encodes each message that the backend of a driver would send, with the
 * same encoders, into an outbox for each executor, and decodes those that executors would send. Nothing is written to a
 * socket. At the end of a turn all outboxes are sent at once.
 *
 * A stage is one of a small application, pairs that are reduced by key, with the map outputs of the simulated stage.
 */
#pragma once

#include "sched/simulator/simulator.h"

struct simulate_messages;

/* Counts, so that a caller may add them. ns: of the driver's thread, by the clock. */
struct message_costs {
        int64_t stages;                  /* stage attempts that were sent to an executor */
        int64_t stage_ns;                /* to list the inputs of stages, to encode, send and remove them */
        int64_t stage_messages;          /* one for each executor that runs tasks of the stage */
        int64_t stage_bytes;             /* encoded, once for each stage */
        int64_t stage_sent;              /* bytes that the driver sends, with replies about pieces of broadcasts */
        int64_t broadcasts;              /* stages that are broadcast */
        int64_t launch_ns, launch_sent;  /* batches of tasks, and requests to kill and remove */
        int64_t status_ns, status_bytes; /* outcomes of tasks, decoded */
        int64_t in_scheduler_ns;         /* of these, what the scheduler's calls take longer */
        int64_t peak_outboxes;           /* bytes of memory, with encoded stages; at the end of a turn */
};

/* Returns 0, or negative with @error: a context for the lineage cannot be made. */
int simulate_messages_new(struct simulate_messages **messages, struct fst_error *error);

/* For simulator_options.messages; for one run. */
const struct simulator_messages *simulate_messages_ops(struct simulate_messages *messages);

/* The costs so far. */
const struct message_costs *simulate_messages_costs(const struct simulate_messages *messages);

/* After the run. NULL is allowed. */
void simulate_messages_free(struct simulate_messages *messages);
