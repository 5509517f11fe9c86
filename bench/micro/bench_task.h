/* Tasks of one stage for benchmarks of the status core. The caller names the executors. */
#pragma once

#include "status/status.h"

enum { EXECUTORS = 20 };

static struct executor_ref bench_executors[EXECUTORS];

/* The end of task @id: its metrics differ from task to task, and each 1,000th has failed. */
static inline struct task_end bench_task_end(int64_t id)
{
        uint64_t r = object_hash_number((uint64_t)id);
        struct task_end e = {.info = {.id = id,
                                      .launch_ms = 1700000000000 + id / 50,
                                      .executor = &bench_executors[id % EXECUTORS],
                                      .stage_id = 3,
                                      .index = (int32_t)id,
                                      .partition = (int32_t)id},
                             .state = id % 1000 == 7 ? TASK_FAILED : TASK_SUCCEEDED,
                             .metrics = {.executor_run_ms = 400 + (int64_t)(r % 200),
                                         .executor_cpu_ns = 390000000 + (int64_t)(r % 90000000),
                                         .executor_deserialize_ms = (int64_t)(r % 9),
                                         .executor_deserialize_cpu_ns = 900000 + (int64_t)(r % 100000),
                                         .result_size = 1500 + (int64_t)(r % 3),
                                         .peak_execution_memory = 16 << 20,
                                         .input_bytes = 134217728 + (int64_t)(r % 1000000),
                                         .input_records = 100000 + (int64_t)(r % 1000),
                                         .shuffle_write = {.bytes = 3000000 + (int64_t)(r % 10000),
                                                           .records = 1000,
                                                           .write_ns = 900000 + (int64_t)(r % 50000)}}};
        e.finish_ms = e.info.launch_ms + e.metrics.executor_run_ms;
        return e;
}
