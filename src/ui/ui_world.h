/*
 * For tests of pages: an application that shows a little of everything, as events: jobs that ran, failed and run;
 * stages with a skewed, a failed and a running one; a cached RDD; a dead executor; names that are markup.
 */
#pragma once

#include "status/status.h"

#include <stdio.h>

#define WORLD_MARKUP "<script>document.title='owned'</script>"

static const struct executor_ref world_executors[] = {
        {.id = "1", .host = "10.0.0.1"}, {.id = "2", .host = "10.0.0.2"}, {.id = "3", .host = "10.0.0.3"}};

static int64_t world_task_id;

static inline struct stage_info world_stage(int id, const char *name, int tasks, int64_t submitted, int64_t ended)
{
        static const int parents[] = {2, 1};
        static const struct rdd_scope outer = {.id = "9", .name = "count_words"};
        static const struct rdd_info rdds[] = {{.id = 3,
                                                .name = "ShuffledRDD",
                                                .call_site = "reduce_by_key at words.c:14",
                                                .scope = "reduce_by_key",
                                                .scope_id = 3,
                                                .outer_scope = &outer,
                                                .parent_ids = &parents[0],
                                                .n_parents = 1,
                                                .partitions = 40},
                                               {.id = 2,
                                                .name = "MapPartitionsRDD",
                                                .call_site = "map at words.c:12",
                                                .scope = "map",
                                                .scope_id = 2,
                                                .outer_scope = &outer,
                                                .parent_ids = &parents[1],
                                                .n_parents = 1,
                                                .level = FST_STORAGE_MEMORY_ONLY,
                                                .partitions = 40},
                                               {.id = 1,
                                                .name = "TextFileRDD",
                                                .call_site = "text_file at words.c:11",
                                                .scope = "text_file",
                                                .scope_id = 1,
                                                .partitions = 40}};
        return (struct stage_info){.id = id,
                                   .name = name,
                                   .details = "reduce_by_key at words.c:14\nmain at words.c:20",
                                   .tasks = tasks,
                                   .rdds = rdds,
                                   .n_rdds = 3,
                                   .submission_ms = submitted,
                                   .completion_ms = ended};
}

static inline void world_task(struct status *s, int stage, int index, int64_t launch, int64_t ms,
                              const struct task_detail *failure)
{
        struct task_info info = {.id = world_task_id++,
                                 .launch_ms = launch,
                                 .executor = &world_executors[index % 3],
                                 .stage_id = stage,
                                 .index = index,
                                 .partition = index,
                                 .locality = (uint8_t)(index % 2 ? LOCALITY_NODE_LOCAL : LOCALITY_PROCESS_LOCAL)};
        status_on_task_start(s, &(struct task_start){.info = info});
        if (ms < 0)
                return;
        status_on_task_end(s, &(struct task_end){.info = info,
                                                 .finish_ms = launch + ms,
                                                 .state = failure ? TASK_FAILED : TASK_SUCCEEDED,
                                                 .detail = failure,
                                                 .metrics = {.executor_run_ms = ms - ms / 20,
                                                             .executor_cpu_ns = (ms - ms / 10) * 1000000,
                                                             .executor_deserialize_ms = ms / 40,
                                                             .result_size = 1200,
                                                             .peak_execution_memory = 16 << 20,
                                                             .input_bytes = ms * 100000,
                                                             .input_records = ms * 100,
                                                             .shuffle_write = {.bytes = ms * 10000,
                                                                               .records = ms * 10,
                                                                               .write_ns = ms * 20000},
                                                             .shuffle_read = {.local_bytes = ms * 5000,
                                                                              .remote_bytes = ms * 7000,
                                                                              .records = ms * 12,
                                                                              .fetch_wait_ms = ms / 50}}});
}

static inline void world_job(struct status *s, int id, int64_t ms, const char *group, const char *description,
                             const struct stage_info *stages, size_t n)
{
        struct strmap properties = {0};
        if (group)
                strmap_set(&properties, "spark.jobGroup.id", group);
        if (description)
                strmap_set(&properties, "spark.job.description", description);
        status_on_job_start(
                s, &(struct job_start){.id = id, .ms = ms, .stages = stages, .n_stages = n, .properties = &properties});
        strmap_deinit(&properties);
}

static inline void world_start(struct status *s, int64_t t)
{
        struct strmap spark = {0}, logs = {0};
        status_on_application_start(
                s, &(struct application_start){
                           .name = "count words " WORLD_MARKUP, .id = "app-1", .ms = t, .user = "ann"});
        strmap_set(&spark, "spark.app.name", "count words " WORLD_MARKUP);
        strmap_set(&spark, "spark.my.password", "hidden-secret");
        strmap_set(&spark, "spark.my.note", "seen");
        strmap_set(&spark, "spark.scheduler.mode", "FAIR");
        strmap_set(&logs, "stdout", "http://127.0.0.1:1/log?x=1&y=<2>");
        strmap_set(&logs, "evil", "javascript:alert(1)");
        status_on_environment_update(s, &(struct environment_update){.spark_properties = &spark});
        for (int i = 0; i < 3; i++) {
                const char *id = world_executors[i].id, *host = world_executors[i].host;
                status_on_executor_added(
                        s, &(struct executor_added){
                                   .id = id, .host = host, .ms = t + 500 * i, .total_cores = 4, .log_urls = &logs});
                status_on_block_manager_added(
                        s, &(struct block_manager_added){.manager = {id, host, i ? 7000 + i : BLOCK_MANAGER_NO_PORT},
                                                         .ms = t,
                                                         .max_on_heap_memory = 512 << 20});
        }
        strmap_deinit(&spark);
        strmap_deinit(&logs);
}

enum { WORLD_MS = 95000 }; /* from the start until now */

/* Jobs 0 and 1 succeeded, 2 failed, 3 runs. Stage 1 is skewed, 4 failed, 5 runs. The application started at @t. */
/* Heartbeats of two executors every five seconds. */
static inline void world_heartbeats(struct status *s, int64_t start, int n)
{
        for (int i = 0; i < n; i++)
                for (int k = 0; k < 2; k++)
                        status_on_executor_metrics_update(
                                s,
                                &(struct executor_metrics_update){.executor_id = world_executors[k].id,
                                                                  .node = {.ms = start + i * 5000,
                                                                           .cpu_busy_ms = i * (3000 + 4000 * (i % 3)),
                                                                           .cpu_all_ms = i * 20000,
                                                                           .process_cpu_ms = i * 2500 * (k + 1),
                                                                           .memory_total = 16 << 20,
                                                                           .memory_available = (8 - i % 4) << 20,
                                                                           .disk_read = (int64_t)i * i * 40000000,
                                                                           .net_sent = (int64_t)i * 70000000}});
}

static inline void world_fill(struct status *s, int64_t t)
{
        static const struct task_detail failure = {.class_name = "firesteel.UserError",
                                                   .description = "line 17 is not a number " WORLD_MARKUP,
                                                   .full_stack_trace =
                                                           "firesteel.UserError: line 17 is not a number " WORLD_MARKUP
                                                           "\n\tat parse (words.c:31)\n\tat main (words.c:20)"};
        world_start(s, t);
        struct stage_info stages[] = {world_stage(0, "map at words.c:12", 40, 0, 0),
                                      world_stage(1, "reduce_by_key at words.c:14", 120, 0, 0)};
        stages[1].parent_ids = (const int[]){0};
        stages[1].n_parents = 1;
        world_job(s, 0, t + 2000, "nightly", "Count the words of " WORLD_MARKUP, stages, 2);
        stages[0] = world_stage(0, "map at words.c:12", 40, t + 2100, 0);
        status_on_stage_submitted(s, &(struct stage_submitted){.stage = stages[0]});
        for (int i = 0; i < 40; i++)
                world_task(s, 0, i, t + 2200 + i / 12 * 4000, 3900 + i % 7 * 10, NULL);
        stages[0].completion_ms = t + 18500;
        status_on_stage_completed(s, &(struct stage_completed){.stage = stages[0]});
        stages[1].submission_ms = t + 18600;
        status_on_stage_submitted(s, &(struct stage_submitted){.stage = stages[1]});
        for (int i = 0; i < 120; i++)
                world_task(s, 1, i, t + 18700 + i / 12 * 700, i == 77 ? 31000 : 600 + i % 5 * 20,
                           i == 13 ? &failure : NULL);
        world_task(s, 1, 13, t + 26000, 640, NULL);
        stages[1].completion_ms = t + 54100;
        status_on_stage_completed(s, &(struct stage_completed){.stage = stages[1]});
        status_on_job_end(s, &(struct job_end){.id = 0, .ms = t + 55000});
        struct block_update block = {.manager = {"2", "10.0.0.2", 7001},
                                     .block_id = "rdd_2_0",
                                     .level = FST_STORAGE_MEMORY_ONLY,
                                     .memory_size = 3 << 20};
        for (int i = 0; i < 40; i++) {
                char id[32];
                snprintf(id, sizeof(id), "rdd_2_%d", i);
                block.block_id = id;
                block.manager.executor_id = world_executors[i % 2].id;
                status_on_block_updated(s, &(struct block_updated){.block = block});
        }
        struct stage_info again[] = {world_stage(2, "map at words.c:12", 40, 0, 0),
                                     world_stage(3, "count at words.c:18", 40, 0, 0)};
        world_job(s, 1, t + 56000, NULL, NULL, again, 2);
        again[1].submission_ms = t + 56100;
        status_on_stage_submitted(s, &(struct stage_submitted){.stage = again[1]});
        for (int i = 0; i < 40; i++)
                world_task(s, 3, i, t + 56200 + i / 12 * 500, 450, NULL);
        again[1].completion_ms = t + 58300;
        status_on_stage_completed(s, &(struct stage_completed){.stage = again[1]});
        status_on_job_end(s, &(struct job_end){.id = 1, .ms = t + 58400});
        struct stage_info bad = world_stage(4, "save_as_text_file at words.c:19", 8, 0, 0);
        world_job(s, 2, t + 60000, NULL, "Save", &bad, 1);
        bad.submission_ms = t + 60100;
        status_on_stage_submitted(s, &(struct stage_submitted){.stage = bad});
        for (int i = 0; i < 8; i++)
                world_task(s, 4, i, t + 60200, 900, i == 3 ? &failure : NULL);
        bad.completion_ms = t + 61200;
        bad.failure_reason = "Job aborted due to stage failure: Task 3 in stage 4.0 failed 4 times:\n" WORLD_MARKUP;
        status_on_stage_completed(s, &(struct stage_completed){.stage = bad});
        status_on_job_end(s, &(struct job_end){.id = 2,
                                               .ms = t + 61300,
                                               .failure = "Job aborted due to stage failure: " WORLD_MARKUP});
        status_on_executor_removed(
                s, &(struct executor_removed){
                           .id = "3", .ms = t + 62000, .reason = "Container killed by the node: memory " WORLD_MARKUP});
        struct stage_info now = world_stage(5, "group_by_key at words.c:22", 60, 0, 0);
        world_job(s, 3, t + 70000, "nightly", "Group", &now, 1);
        now.submission_ms = t + 70100;
        struct strmap properties = {0};
        strmap_set(&properties, "spark.scheduler.pool", "production");
        status_on_stage_submitted(s, &(struct stage_submitted){.stage = now, .properties = &properties});
        strmap_deinit(&properties);
        for (int i = 0; i < 20; i++)
                world_task(s, 5, i, t + 70200 + i / 8 * 8000, i < 12 ? 7900 : -1, NULL);
        world_heartbeats(s, t, 12);
}
