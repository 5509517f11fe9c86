/* An application as events; see scripted_application.h. Times are fixed, so that logs can be compared. */
#include "driver/events/scripted_application.h"

#include "base/mem.h"

#define T0 INT64_C(1700000000000)

static const struct executor_ref driver = {"driver", "localhost"};
static const struct block_manager_ref manager = {"driver", "localhost", 40000};

static const struct rdd_info map_rdds[] = {
        {.id = 1,
         .name = "MapPartitionsRDD",
         .call_site = "flat_map at words.c:9",
         .scope = "flat_map",
         .scope_id = 1,
         .parent_ids = (const int[]){0},
         .n_parents = 1,
         .partitions = 4},
        {.id = 0, .name = "in/*.txt", .call_site = "text_file at words.c:8", .scope = "text_file", .partitions = 4},
};
static const struct rdd_info reduce_rdds[] = {
        {.id = 3,
         .name = "counts",
         .call_site = "map at words.c:11",
         .scope = "map",
         .scope_id = 3,
         .parent_ids = (const int[]){2},
         .n_parents = 1,
         .level = FST_STORAGE_MEMORY_AND_DISK,
         .partitions = 3,
         .determinism = RDD_UNORDERED},
        {.id = 2,
         .name = "ShuffledRDD",
         .call_site = "reduce_by_key at words.c:10",
         .scope = "reduce_by_key",
         .scope_id = 2,
         .parent_ids = (const int[]){1},
         .n_parents = 1,
         .partitions = 3,
         .determinism = RDD_UNORDERED},
};

static struct stage_info scripted_application_map_stage(int id)
{
        return (struct stage_info){.id = id,
                                   .name = "reduce_by_key at words.c:10",
                                   .tasks = 4,
                                   .rdds = map_rdds,
                                   .n_rdds = 2,
                                   .details = "reduce_by_key at words.c:10\nmain at words.c:3"};
}

static struct stage_info scripted_application_result_stage(int id, const int *parents, size_t n_parents, int tasks)
{
        return (struct stage_info){.id = id,
                                   .name = "collect at words.c:12",
                                   .tasks = tasks,
                                   .rdds = reduce_rdds,
                                   .n_rdds = 2,
                                   .parent_ids = parents,
                                   .n_parents = n_parents};
}

static struct task_info scripted_application_task(int64_t id, int stage, int index, int attempt)
{
        return (struct task_info){.id = id,
                                  .launch_ms = T0 + 1000 + id,
                                  .executor = &driver,
                                  .stage_id = stage,
                                  .index = index,
                                  .attempt = attempt,
                                  .partition = index,
                                  .locality = LOCALITY_PROCESS_LOCAL};
}

static struct task_end scripted_application_ended(struct task_info info, enum task_kind kind, enum task_state state,
                                                  const struct task_detail *detail)
{
        return (struct task_end){.info = info,
                                 .finish_ms = info.launch_ms + 50,
                                 .kind = kind,
                                 .state = state,
                                 .detail = detail,
                                 .metrics = {.executor_run_ms = 40,
                                             .executor_cpu_ns = 39000000,
                                             .result_size = 1000,
                                             .executor_deserialize_ms = 1,
                                             .executor_deserialize_cpu_ns = 900000}};
}

static void scripted_application_submit(struct listener_bus *bus, struct stage_info *stage,
                                        const struct strmap *properties)
{
        stage->submission_ms = T0 + 1000;
        listener_bus_post_stage_submitted(bus, &(struct stage_submitted){*stage, properties});
}

static void scripted_application_complete(struct listener_bus *bus, struct stage_info *stage, const char *failure)
{
        stage->completion_ms = T0 + 2000;
        stage->failure_reason = failure;
        listener_bus_post_stage_completed(bus, &(struct stage_completed){*stage});
}

static void scripted_application_begin(struct listener_bus *bus)
{
        _cleanup_(strmap_deinit) struct strmap runtime = STRMAP_INIT, properties = STRMAP_INIT;
        _cleanup_(strmap_deinit) struct strmap class_path = STRMAP_INIT;
        strmap_set(&runtime, "Java Version", "none");
        strmap_set(&runtime, "Java Home", "none");
        strmap_set(&runtime, "Scala Version", "none");
        strmap_set(&properties, "spark.master", "local[2]");
        strmap_set(&properties, "spark.app.name", "scripted \"words\"");
        strmap_set(&properties, "spark.my.password", "hunter2");
        strmap_set(&class_path, "/opt/words.so", "Added By User");
        listener_bus_post_resource_profile_added(
                bus,
                &(struct resource_profile_added){.executor_cores = 1, .executor_memory_mib = 1024, .task_cpus = 1});
        listener_bus_post_executor_added(
                bus, &(struct executor_added){.id = "driver", .host = "localhost", .ms = T0 + 100, .total_cores = 2});
        listener_bus_post_block_manager_added(
                bus,
                &(struct block_manager_added){.manager = manager, .ms = T0 + 100, .max_on_heap_memory = 400 << 20});
        listener_bus_post_environment_update(bus, &(struct environment_update){.runtime = &runtime,
                                                                               .spark_properties = &properties,
                                                                               .classpath_entries = &class_path});
        listener_bus_post_application_start(
                bus, &(struct application_start){
                             .name = "scripted \"words\"", .id = SCRIPTED_APPLICATION_ID, .ms = T0, .user = "tester"});
}

static void scripted_application_play_map_stage(struct listener_bus *bus)
{
        const struct stack_frame frames[] = {{"words.so", "split", "words.c", 4}, {"words.so", "run", NULL, -1}};
        const struct task_detail broken = {.class_name = "firesteel.UserError",
                                           .description = "line 7 is not \"text\"",
                                           .full_stack_trace = "firesteel.UserError: line 7\n\tat split(words.c:4)",
                                           .stack = frames,
                                           .n_stack = 2};
        struct task_start starts[5];
        struct task_end ends[5];
        for (int i = 0; i < 5; i++) {
                bool again = i == 4;
                starts[i].info = scripted_application_task(i, 0, again ? 2 : i, again);
                bool fails = i == 2;
                enum task_state state = fails ? TASK_FAILED : TASK_SUCCEEDED;
                ends[i] = scripted_application_ended(starts[i].info, TASK_SHUFFLE_MAP, state, fails ? &broken : NULL);
                if (fails)
                        continue;
                ends[i].metrics.input_bytes = 1000;
                ends[i].metrics.input_records = 10;
                ends[i].metrics.shuffle_write.bytes = 300;
                ends[i].metrics.shuffle_write.records = 6;
                ends[i].metrics.shuffle_write.write_ns = 5000;
                ends[i].metrics.peak_execution_memory = 65536;
        }
        listener_bus_post_task_starts(bus, starts, 4);
        listener_bus_post_task_ends(bus, ends, 3);
        listener_bus_post_task_starts(bus, starts + 4, 1);
        listener_bus_post_task_ends(bus, ends + 3, 2);
}

static void scripted_application_play_result_stage(struct listener_bus *bus, int stage, int64_t first_id, bool stores)
{
        static const char *const names[] = {"rdd_3_0", "rdd_3_1", "rdd_3_2"};
        for (int i = 0; i < 3; i++) {
                struct block_update block = {
                        .block_id = names[i], .level = FST_STORAGE_MEMORY_ONLY_SER, .memory_size = 256 << 10};
                struct task_detail detail = {.updated_blocks = &block, .n_updated_blocks = 1};
                struct task_start start = {scripted_application_task(first_id + i, stage, i, 0)};
                struct task_end end =
                        scripted_application_ended(start.info, TASK_RESULT, TASK_SUCCEEDED, stores ? &detail : NULL);
                end.metrics.shuffle_read.local_blocks = 4;
                end.metrics.shuffle_read.local_bytes = 400;
                end.metrics.shuffle_read.records = 8;
                end.metrics.output_bytes = 70;
                end.metrics.output_records = 7;
                listener_bus_post_task_starts(bus, &start, 1);
                listener_bus_post_task_ends(bus, &end, 1);
                if (!stores)
                        continue;
                block.manager = manager;
                listener_bus_post_block_updated(bus, &(struct block_updated){block});
        }
}

static void scripted_application_play_failing_stage(struct listener_bus *bus)
{
        const struct task_detail crash = {.class_name = "firesteel.Crash",
                                          .description = "SIGSEGV in split (words.so)"};
        const struct task_detail kill = {.message = "Stage cancelled: job 2 aborted"};
        struct task_start starts[3];
        for (int i = 0; i < 3; i++)
                starts[i].info = scripted_application_task(11 + i, 4, i, 0);
        struct task_end ends[] = {
                scripted_application_ended(starts[0].info, TASK_RESULT, TASK_SUCCEEDED, NULL),
                scripted_application_ended(starts[1].info, TASK_RESULT, TASK_FAILED, &crash),
                scripted_application_ended(starts[2].info, TASK_RESULT, TASK_KILLED, &kill),
        };
        listener_bus_post_task_starts(bus, starts, 3);
        listener_bus_post_task_ends(bus, ends, 3);
}

void scripted_application_play(struct listener_bus *bus)
{
        static const char failure[] = "Job aborted due to stage failure: task 1 in stage 4.0 failed 1 times";
        _cleanup_(strmap_deinit) struct strmap properties = STRMAP_INIT;
        strmap_set(&properties, "spark.jobGroup.id", "words");
        strmap_set(&properties, "spark.job.description", "count \"words\"");
        scripted_application_begin(bus);

        struct stage_info first[] = {scripted_application_map_stage(0),
                                     scripted_application_result_stage(1, (const int[]){0}, 1, 3)};
        listener_bus_post_job_start(bus, &(struct job_start){0, T0 + 900, first, 2, &properties});
        scripted_application_submit(bus, &first[0], &properties);
        scripted_application_play_map_stage(bus);
        scripted_application_complete(bus, &first[0], NULL);
        scripted_application_submit(bus, &first[1], &properties);
        scripted_application_play_result_stage(bus, 1, 5, true);
        scripted_application_complete(bus, &first[1], NULL);
        listener_bus_post_job_end(bus, &(struct job_end){0, T0 + 2100, NULL});

        struct stage_info second[] = {scripted_application_map_stage(2),
                                      scripted_application_result_stage(3, (const int[]){2}, 1, 3)};
        listener_bus_post_job_start(bus, &(struct job_start){1, T0 + 2200, second, 2, NULL});
        scripted_application_submit(bus, &second[1], NULL);
        scripted_application_play_result_stage(bus, 3, 8, false);
        scripted_application_complete(bus, &second[1], NULL);
        listener_bus_post_job_end(bus, &(struct job_end){1, T0 + 2300, NULL});
        listener_bus_post_unpersist_rdd(bus, &(struct unpersist_rdd){3});

        struct stage_info third = scripted_application_result_stage(4, NULL, 0, 3);
        listener_bus_post_job_start(bus, &(struct job_start){2, T0 + 2400, &third, 1, NULL});
        scripted_application_submit(bus, &third, NULL);
        scripted_application_play_failing_stage(bus);
        scripted_application_complete(bus, &third, failure);
        listener_bus_post_job_end(bus, &(struct job_end){2, T0 + 2500, failure});
        listener_bus_post_application_end(bus, &(struct application_end){T0 + 2600, 0});
}

void scripted_application_play_rest(struct listener_bus *bus)
{
        const struct task_detail detail = {.class_name = "a\"b\\c",
                                           .description = "bytes \xff\xfe\x01\n\xed\xa0\x80 \xe2\x82\xac",
                                           .message = "tab\there",
                                           .block_manager = manager,
                                           .shuffle_id = 1,
                                           .map_id = 17,
                                           .map_index = 3,
                                           .reduce_id = 2,
                                           .executor_id = "7",
                                           .job_id = 5};
        struct task_info info = scripted_application_task(100, 9, 0, 0);
        info.speculative = true;
        info.locality = LOCALITY_ANY;
        listener_bus_post_task_starts(bus, &(struct task_start){info}, 1);
        listener_bus_post_task_getting_result(bus, &(struct task_getting_result){info, T0 + 1500});
        for (int state = TASK_SUCCEEDED; state < TASK_RUNNING; state++) {
                struct task_end with = scripted_application_ended(info, TASK_RESULT, (enum task_state)state, &detail);
                struct task_end without = scripted_application_ended(info, TASK_RESULT, (enum task_state)state, NULL);
                listener_bus_post_task_ends(bus, &with, 1);
                if (state != TASK_FETCH_FAILED) /* only a failed fetch may lack its block manager */
                        listener_bus_post_task_ends(bus, &without, 1);
        }
        struct exclusion_changed excluded = {
                .ms = T0 + 1550, .id = "7", .failures = 2, .stage_id = 9, .stage_attempt = 0};
        listener_bus_post_exclusion_changed(bus, &excluded);
        excluded.stage_id = -1;
        listener_bus_post_exclusion_changed(bus, &excluded);
        excluded.lifted = true;
        listener_bus_post_exclusion_changed(bus, &excluded);
        excluded = (struct exclusion_changed){
                .ms = T0 + 1560, .is_host = true, .id = "host\"7", .failures = 1, .stage_id = 9, .stage_attempt = 0};
        listener_bus_post_exclusion_changed(bus, &excluded);
        excluded.stage_id = -1;
        listener_bus_post_exclusion_changed(bus, &excluded);
        excluded.lifted = true;
        listener_bus_post_exclusion_changed(bus, &excluded);
        listener_bus_post_executor_removed(bus, &(struct executor_removed){"7", T0 + 1600, "lost\r\n"});
        listener_bus_post_block_manager_removed(bus, &(struct block_manager_removed){manager, T0 + 1600});
        listener_bus_post_block_updated(
                bus,
                &(struct block_updated){
                        {.manager = manager, .block_id = "rdd_1_1", .level = FST_STORAGE_DISK_ONLY, .disk_size = 5}});
}
