/* Calls every public function with NULL for every pointer: it reports the missing argument, or is documented to take
 * NULL, and never crashes. tests/project/guide_test.py checks that every function of the headers is here. */
#include "api/api_fixture.h"

#include <firesteel/frames.h>
#include <firesteel/python.h>
#include <firesteel/resume.h>

#define HERE FST_HERE("call")
#define NO_FN ((fst_fn){.name = "f"})
#define NO_VARIABLE ((fst_variable){.size = 8, .kind = FST_KIND_I64})
#define NO_CONSTANT ((fst_constant){.size = 8, .kind = FST_KIND_I64})
#define NO_KEY ((fst_key){.kind = FST_KIND_FIXED})
#define NO_BYTES ((fst_bytes){NULL, 0})
#define NO_BROADCAST ((fst_broadcast){0})
#define NO_ACCUMULATOR ((fst_accumulator){0})

/* Checks that the call is reported: at once or, if it returns an RDD, by the action. */
#define NOTHING(call)                                                                                                  \
        do {                                                                                                           \
                int was_ = api_listen();                                                                               \
                (void)(call);                                                                                          \
                char *heard_ = api_heard(was_);                                                                        \
                if (!strstr(heard_, "ERROR"))                                                                          \
                        print_error("nothing was said of %s\n", #call), silent++;                                      \
                free(heard_);                                                                                          \
        } while (0)
#define QUIET(call) (call)

static int silent;

static void reports_each_null_argument(void **state)
{
        fst_context *sc = api_context("local[2]", "spark.log.level", "ERROR", NULL);
        fst_context_stop(sc); /* also restores the log level */
        NOTHING(fst_count_at(NULL, NULL, HERE));
        NOTHING(fst_reduce_at(NULL, NO_FN, NO_VARIABLE, HERE));
        NOTHING(fst_fold_at(NULL, NO_CONSTANT, NO_FN, NO_VARIABLE, HERE));
        NOTHING(fst_aggregate_at(NULL, NO_CONSTANT, NO_FN, NO_FN, NO_VARIABLE, HERE));
        NOTHING(fst_tree_reduce_at(NULL, NO_FN, 2, NO_VARIABLE, HERE));
        NOTHING(fst_tree_aggregate_at(NULL, NO_CONSTANT, NO_FN, NO_FN, 2, NO_VARIABLE, HERE));
        NOTHING(fst_collect_at(NULL, NULL, HERE));
        NOTHING(fst_take_at(NULL, 2, NULL, HERE));
        NOTHING(fst_show_at(NULL, 2, HERE));
        NOTHING(fst_first_at(NULL, NO_VARIABLE, NO_VARIABLE, HERE));
        NOTHING(fst_is_empty_at(NULL, NULL, HERE));
        NOTHING(fst_min_at(NULL, NO_VARIABLE, HERE));
        NOTHING(fst_max_at(NULL, NO_VARIABLE, HERE));
        NOTHING(fst_sum_at(NULL, NO_VARIABLE, HERE));
        NOTHING(fst_mean_at(NULL, NULL, HERE));
        NOTHING(fst_stats_at(NULL, NULL, 0, HERE));
        NOTHING(fst_histogram_at(NULL, NULL, 2, NULL, 0, HERE));
        NOTHING(fst_foreach_at(NULL, NO_FN, HERE));
        NOTHING(fst_foreach_partition_at(NULL, NO_FN, HERE));
        NOTHING(fst_take_ordered_at(NULL, 2, FST_ASCENDING, NULL, HERE));
        NOTHING(fst_take_ordered_by_at(NULL, 2, NO_FN, FST_I64, FST_ASCENDING, NULL, HERE));
        NOTHING(fst_count_by_key_at(NULL, NULL, HERE));
        NOTHING(fst_count_by_value_at(NULL, NULL, HERE));
        NOTHING(fst_collect_as_map_at(NULL, NULL, HERE));
        NOTHING(fst_reduce_by_key_locally_at(NULL, NO_FN, NULL, HERE));
        NOTHING(fst_count_approx_distinct_at(NULL, 0.1, NULL, HERE));
        NOTHING(fst_lookup_at(NULL, NO_KEY, NULL, HERE));
        NOTHING(fst_take_sample_at(NULL, false, 2, 2, NULL, HERE));
        NOTHING(fst_run_job_at(NULL, NO_FN, FST_I64, NULL, 2, NULL, HERE));
        NOTHING(fst_to_local_iterator_at(NULL, NULL, HERE));
        NOTHING(fst_save_as_text_file_at(NULL, NULL, NULL, HERE));
        NOTHING(fst_save_as_object_file_at(NULL, NULL, HERE));
        NOTHING(fst_save_as_binary_records_at(NULL, NULL, HERE));
        NOTHING(fst_barrier_map_partitions_at(NULL, NO_FN, FST_I64, HERE));
        NOTHING(fst_barrier_wait(NULL));
        NOTHING(fst_barrier_all_gather(NULL, NO_BYTES, NULL, 2));
        NOTHING(fst_barrier_address(NULL, 2, NULL));
        NOTHING(fst_conf_set(NULL, NULL, NULL));
        NOTHING(fst_conf_get(NULL, NULL));
        NOTHING(fst_context_new_conf_at(NULL, HERE));
        NOTHING(fst_context_stop(NULL));
        NOTHING(fst_context_app_id(NULL));
        NOTHING(fst_context_start_time(NULL));
        NOTHING(fst_is_resumed(NULL));
        NOTHING(fst_context_user(NULL));
        NOTHING(fst_context_conf(NULL, NULL));
        NOTHING(fst_context_default_parallelism(NULL));
        NOTHING(fst_context_default_min_partitions(NULL));
        NOTHING(fst_context_set_log_level(NULL, NULL));
        NOTHING(fst_context_resource(NULL, NULL, NULL, 2));
        NOTHING(fst_set_local_property(NULL, NULL, NULL));
        NOTHING(fst_local_property(NULL, NULL));
        NOTHING(fst_set_job_group(NULL, NULL, NULL, false));
        NOTHING(fst_clear_job_group(NULL));
        NOTHING(fst_set_job_description(NULL, NULL));
        NOTHING(fst_add_job_tag(NULL, NULL));
        NOTHING(fst_remove_job_tag(NULL, NULL));
        NOTHING(fst_clear_job_tags(NULL));
        NOTHING(fst_job_tags(NULL));
        NOTHING(fst_set_interrupt_on_cancel(NULL, false));
        NOTHING(fst_cancel_jobs_with_tag(NULL, NULL));
        NOTHING(fst_cancel_job_group(NULL, NULL));
        NOTHING(fst_cancel_all_jobs(NULL));
        NOTHING(fst_cancel_job(NULL, 2));
        NOTHING(fst_cancel_stage(NULL, 2));
        NOTHING(fst_request_total_executors(NULL, 2));
        NOTHING(fst_request_executors(NULL, 2));
        NOTHING(fst_kill_executors(NULL, NULL, 2));
        NOTHING(fst_map_get_at(NULL, NO_KEY, NO_VARIABLE));
        NOTHING(fst_count_async_at(NULL, HERE));
        NOTHING(fst_collect_async_at(NULL, HERE));
        NOTHING(fst_take_async_at(NULL, 2, HERE));
        NOTHING(fst_foreach_async_at(NULL, NO_FN, HERE));
        NOTHING(fst_foreach_partition_async_at(NULL, NO_FN, HERE));
        NOTHING(fst_future_wait(NULL));
        NOTHING(fst_future_wait_for(NULL, 2));
        NOTHING(fst_future_done(NULL));
        NOTHING(fst_future_cancel(NULL));
        NOTHING(fst_future_on_complete(NULL, NULL, NULL));
        NOTHING(fst_future_job(NULL));
        NOTHING(fst_future_count_at(NULL, NULL));
        NOTHING(fst_future_rows_at(NULL, NULL));
        NOTHING(fst_map_count(NULL));
        NOTHING(fst_map_rows(NULL));
        NOTHING(fst_map_values_at(NULL, NO_FN, FST_I64, HERE));
        NOTHING(fst_flat_map_values_at(NULL, NO_FN, FST_I64, HERE));
        NOTHING(fst_keys_at(NULL, HERE));
        NOTHING(fst_values_at(NULL, HERE));
        NOTHING(fst_key_by_at(NULL, NO_FN, FST_I64, HERE));
        NOTHING(fst_reduce_by_key_at(NULL, NO_FN, 2, HERE));
        NOTHING(fst_sort_by_key_at(NULL, FST_ASCENDING, 2, HERE));
        NOTHING(fst_fold_by_key_at(NULL, NO_CONSTANT, NO_FN, 2, HERE));
        NOTHING(fst_aggregate_by_key_at(NULL, NO_CONSTANT, NO_FN, NO_FN, 2, HERE));
        NOTHING(fst_combine_by_key_at(NULL, NO_FN, NO_FN, NO_FN, FST_I64, 2, HERE));
        NOTHING(fst_group_by_key_at(NULL, 2, HERE));
        NOTHING(fst_flat_map_groups_at(NULL, NO_FN, FST_I64, 2, HERE));
        NOTHING(fst_join_at(NULL, NULL, NO_FN, FST_I64, 2, HERE));
        NOTHING(fst_left_outer_join_at(NULL, NULL, NO_FN, FST_I64, 2, HERE));
        NOTHING(fst_right_outer_join_at(NULL, NULL, NO_FN, FST_I64, 2, HERE));
        NOTHING(fst_full_outer_join_at(NULL, NULL, NO_FN, FST_I64, 2, HERE));
        NOTHING(fst_skewed_join_at(NULL, NULL, NO_FN, FST_I64, 2, HERE));
        NOTHING(fst_skewed_left_outer_join_at(NULL, NULL, NO_FN, FST_I64, 2, HERE));
        NOTHING(fst_skewed_right_outer_join_at(NULL, NULL, NO_FN, FST_I64, 2, HERE));
        NOTHING(fst_broadcast_join_at(NULL, NULL, NO_FN, FST_I64, HERE));
        NOTHING(fst_broadcast_left_outer_join_at(NULL, NULL, NO_FN, FST_I64, HERE));
        NOTHING(fst_cogroup_at(NULL, NULL, NO_FN, FST_I64, 2, HERE));
        NOTHING(fst_cogroup_all_at(NULL, NULL, 2, NO_FN, FST_I64, 2, HERE));
        NOTHING(fst_subtract_by_key_at(NULL, NULL, 2, HERE));
        NOTHING(fst_preserves_partitioning(NULL));
        NOTHING(fst_partition_by_at(NULL, 2, HERE));
        NOTHING(fst_partition_by_range_at(NULL, 2, FST_ASCENDING, HERE));
        NOTHING(fst_partition_by_function_at(NULL, 2, NO_FN, HERE));
        NOTHING(fst_sample_by_key_at(NULL, false, NULL, FST_I64, NULL, 2, 2, false, HERE));
        NOTHING(fst_filter_by_range_at(NULL, NO_KEY, NO_KEY, HERE));
        NOTHING(fst_count_approx_distinct_by_key_at(NULL, 0.1, 2, HERE));
        NOTHING(fst_persist(NULL, FST_STORAGE_MEMORY_ONLY));
        NOTHING(fst_unpersist(NULL));
        NOTHING(fst_unpersist_blocking(NULL));
        NOTHING(fst_rdd_storage_level(NULL));
        NOTHING(fst_get_storage_info_at(NULL, NULL, 0));
        NOTHING(fst_persisted_rdds(NULL, NULL, 2));
        NOTHING(fst_set_checkpoint_dir(NULL, NULL));
        NOTHING(fst_checkpoint(NULL));
        NOTHING(fst_checkpoint_dir(NULL));
        NOTHING(fst_checkpoint_file(NULL));
        NOTHING(fst_local_checkpoint(NULL));
        NOTHING(fst_is_checkpointed(NULL));
        NOTHING(fst_scope_begin(NULL));
        NOTHING(fst_scope_end(NULL, 2, NULL));
        NOTHING(fst_rdd_id(NULL));
        NOTHING(fst_to_debug_string(NULL));
        NOTHING(fst_rdd_partitions(NULL));
        NOTHING(fst_resource_profile_new_at(NULL, NULL, 2, NULL, 2, HERE));
        NOTHING(fst_resource_profile_id(NULL));
        NOTHING(fst_with_resources_at(NULL, NULL, HERE));
        NOTHING(fst_rdd_resource_profile(NULL));
        NOTHING(fst_rdd_type(NULL));
        NOTHING(fst_rdd_set_name(NULL, NULL));
        NOTHING(fst_rdd_partitioner(NULL));
        NOTHING(fst_rdd_same_partitioner(NULL, NULL));
        NOTHING(fst_broadcast_bytes(NULL, NULL, 2));
        NOTHING(fst_task_broadcast(NULL, NO_BROADCAST));
        NOTHING(fst_context_broadcast(NULL, NO_BROADCAST));
        NOTHING(fst_broadcast_unpersist(NULL, NO_BROADCAST));
        NOTHING(fst_broadcast_destroy(NULL, NO_BROADCAST));
        NOTHING(fst_accumulator_i64(NULL, NULL));
        NOTHING(fst_accumulator_f64(NULL, NULL));
        NOTHING(fst_accumulate_i64(NULL, NO_ACCUMULATOR, 2));
        NOTHING(fst_accumulate_f64(NULL, NO_ACCUMULATOR, 0.1));
        NOTHING(fst_accumulator_totals_i64(NULL, NO_ACCUMULATOR));
        NOTHING(fst_accumulator_totals_f64(NULL, NO_ACCUMULATOR));
        NOTHING(fst_accumulator_set_i64(NULL, NO_ACCUMULATOR, 2));
        NOTHING(fst_accumulator_set_f64(NULL, NO_ACCUMULATOR, 0.1));
        NOTHING(fst_accumulator_name(NULL, NO_ACCUMULATOR));
        NOTHING(fst_accumulator_own_of(NULL, NULL, NULL, 2, NO_FN));
        NOTHING(fst_accumulator_state(NULL, NO_ACCUMULATOR));
        NOTHING(fst_accumulator_read(NULL, NO_ACCUMULATOR, NULL));
        NOTHING(fst_accumulator_reset(NULL, NO_ACCUMULATOR));
        NOTHING(fst_add_file(NULL, NULL));
        NOTHING(fst_add_archive(NULL, NULL));
        NOTHING(fst_list_files(NULL, NULL, 2));
        NOTHING(fst_list_archives(NULL, NULL, 2));
        NOTHING(fst_task_file(NULL, NULL));
        NOTHING(fst_context_file(NULL, NULL));
        NOTHING(fst_text_file_at(NULL, NULL, 2, HERE));
        NOTHING(fst_whole_text_files_at(NULL, NULL, 2, HERE));
        NOTHING(fst_binary_files_at(NULL, NULL, 2, HERE));
        NOTHING(fst_binary_records_at(NULL, NULL, 2, HERE));
        NOTHING(fst_object_file_at(NULL, NULL, FST_I64, 2, HERE));
        NOTHING(fst_parallelize_at(NULL, NULL, 2, FST_I64, 2, HERE));
        NOTHING(fst_parallelize_pairs_at(NULL, NULL, NULL, 2, FST_I64, FST_I64, 2, HERE));
        NOTHING(fst_range_at(NULL, 2, 2, 2, HERE));
        NOTHING(fst_jobs_of_group(NULL, NULL, NULL, 2));
        NOTHING(fst_active_jobs(NULL, NULL, 2));
        NOTHING(fst_active_stages(NULL, NULL, 2));
        NOTHING(fst_stages_of_job(NULL, 2, NULL, 2));
        NOTHING(fst_get_job_info_at(NULL, 2, NULL, 0));
        NOTHING(fst_get_stage_info_at(NULL, 2, NULL, 0));
        NOTHING(fst_task_partitions(NULL));
        NOTHING(fst_task_cpus(NULL));
        NOTHING(fst_task_local_property(NULL, NULL));
        NOTHING(fst_task_on_completion(NULL, NULL, NULL));
        NOTHING(fst_task_on_failure(NULL, NULL, NULL));
        NOTHING(fst_task_resource(NULL, NULL, NULL, 2));
        NOTHING(fst_map_at(NULL, NO_FN, FST_I64, HERE));
        NOTHING(fst_flat_map_at(NULL, NO_FN, FST_I64, HERE));
        NOTHING(fst_filter_at(NULL, NO_FN, HERE));
        NOTHING(fst_map_partitions_at(NULL, NO_FN, FST_I64, HERE));
        NOTHING(fst_sort_by_at(NULL, NO_FN, FST_I64, FST_ASCENDING, 2, HERE));
        NOTHING(fst_union_at(NULL, NULL, HERE));
        NOTHING(fst_union_all_at(NULL, NULL, 2, HERE));
        NOTHING(fst_repartition_at(NULL, 2, HERE));
        NOTHING(fst_coalesce_at(NULL, 2, HERE));
        NOTHING(fst_map_partitions_with_index_at(NULL, NO_FN, FST_I64, HERE));
        NOTHING(fst_sample_at(NULL, false, 0.1, 2, HERE));
        NOTHING(fst_random_split_at(NULL, NULL, 2, 2, NULL, HERE));
        NOTHING(fst_zip_with_index_at(NULL, HERE));
        NOTHING(fst_zip_with_unique_id_at(NULL, HERE));
        NOTHING(fst_zip_at(NULL, NULL, HERE));
        NOTHING(fst_zip_partitions_at(NULL, NULL, NO_FN, FST_I64, HERE));
        NOTHING(fst_zip_partitions_all_at(NULL, NULL, 2, NO_FN, FST_I64, HERE));
        NOTHING(fst_cartesian_at(NULL, NULL, HERE));
        NOTHING(fst_sort_within_partitions_at(NULL, FST_ASCENDING, HERE));
        NOTHING(fst_pipe_at(NULL, NULL, HERE));
        NOTHING(fst_pipe_with_at(NULL, NULL, NULL, HERE));
        NOTHING(fst_group_by_at(NULL, NO_FN, FST_I64, 2, HERE));
        NOTHING(fst_distinct_at(NULL, 2, HERE));
        NOTHING(fst_intersection_at(NULL, NULL, 2, HERE));
        NOTHING(fst_subtract_at(NULL, NULL, 2, HERE));
        NOTHING(fst_glom_at(NULL, HERE));
        NOTHING(fst_frames_from_file_at(NULL, NULL, 2, HERE));
        NOTHING(fst_frames_from_rows_at(NULL, HERE));
        NOTHING(fst_frames_to_rows_at(NULL, HERE));
        NOTHING(fst_frames_to_pairs_at(NULL, HERE));
        NOTHING(fst_frames_partition_by_at(NULL, 2, 2, HERE));
        NOTHING(fst_frames_values_at(NULL, HERE));
        NOTHING(fst_frames_zip_at(NULL, NULL, HERE));
        NOTHING(fst_frames_cartesian_at(NULL, NULL, HERE));
        NOTHING(fst_frames_to_numbers_at(NULL, FST_I64, HERE));
        NOTHING(fst_frames_to_elements_at(NULL, FST_I64, HERE));
        NOTHING(fst_frames_from_elements_at(NULL, HERE));
        NOTHING(fst_native_call_at(NULL, NULL, NULL, 2, NULL, HERE));
        NOTHING(fst_java_object_file_at(NULL, NULL, 2, HERE));
        NOTHING(fst_save_as_java_object_file_at(NULL, NULL, HERE));
        NOTHING(fst_python_rdd_at(NULL, NULL, 0, false, false, HERE));
        NOTHING(fst_broadcast_file(NULL, NULL));
        NOTHING(fst_accumulator_list(NULL, NULL, NULL, NULL));
        NOTHING(fst_serve_rows_at(NULL, NULL, 2, NULL, HERE));
        NOTHING(fst_serve_partitions_at(NULL, true, NULL, HERE));
        NOTHING(fst_served_port(NULL));
        NOTHING(fst_served_secret(NULL));
        NOTHING(fst_served_path(NULL));
        NOTHING(fst_served_wait(NULL));
        NOTHING(fst_served_error(NULL));
        QUIET(fst_served_release(NULL));
        NOTHING(fst_struct_type(NULL));
        QUIET(fst_struct_read_at(NO_BYTES, FST_I64, NULL, 8, NULL));
        QUIET(fst_struct_write_at(NULL, 8, FST_I64, NULL, 0));
        QUIET(fst_conf_free(NULL));
        QUIET(fst_release(NULL));
        assert_int_equal(silent, 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(reports_each_null_argument),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
