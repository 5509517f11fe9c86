/*
 * Creations and excess pods as in Spark's ExecutorPodsAllocatorSuite: batches, limits, several profiles, rising and
 * falling targets.
 */
#include "kubernetes/executors/pods_allocator_fixture.h"
#include "unit/cases.h"

static void refused(struct pods_allocator_config c, const char *words)
{
        struct fst_error error = FST_ERROR_INIT;

        assert_int_equal(pods_allocator_config_check(&c, &error), -EINVAL);
        if (!strstr(error_message(&error), words))
                fail_msg("%s", error_message(&error));
        error_deinit(&error);
}

static void spark_49447_rejects_small_batch_delay(void **state)
{
        struct pods_allocator_config c = PODS_ALLOCATOR_DEFAULT;

        c.batch_delay = 1;
        refused(c, "Allocation batch delay must be greater than 0.1s.");
        c = PODS_ALLOCATOR_DEFAULT;
        c.batch_size = 0;
        refused(c, "Allocation batch size should be a positive integer");
        c = PODS_ALLOCATOR_DEFAULT;
        c.max_pending = 5;
        c.max_pending_per_profile = 6;
        refused(c, "Maximum pending pods per resource profile ID (6) must be less than or equal to maximum pending "
                   "pods (5).");
}

static void endless_delays_are_accepted(void **state)
{
        struct pods_allocator_config c = suite_config();

        c.batch_delay = c.idle_timeout = c.creation_timeout = ms_to_ns(INT64_MAX);
        world_begin(c);
        allocator_target(0, SIZE + 1);
        CREATED(SIZE);
        for (int id = 1; id <= SIZE; id++)
                server_update_pod(pod_in(id, 0, "Running"));
        world_advance();
        CREATED(SIZE);
        assert_true(pods_allocator_deadline(w.a) > w.now + INT64_MAX / 4);
        world_end();
}

static void spark_36052_split_slots(void **state)
{
        static const struct {
                int n, slots, out[3];
        } cases[] = {{1, 0, {0}},       {1, 1, {1}},       {1, 2, {2}},       {3, 0, {0, 0, 0}},
                     {3, 1, {1, 0, 0}}, {3, 2, {1, 1, 0}}, {3, 3, {1, 1, 1}}, {3, 4, {2, 1, 1}}};
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                CASE_LABEL("%zu of cases: n %d, slots %d", i, cases[i].n, cases[i].slots);
                int out[3] = {0};
                pods_split_slots(cases[i].n, cases[i].slots, out);
                assert_memory_equal(out, cases[i].out, sizeof(out));
        }
}

static void spark_36052_pending_limit_with_several_profiles(void **state)
{
        struct pods_allocator_config c = suite_config();

        c.max_pending = 3;
        world_begin(c);
        allocator_target(0, 2);
        allocator_target(1, 3);
        world_advance();
        OUTSTANDING(3);
        created_of(1, 0);
        created_of(2, 0);
        created_of(3, 1);
        CREATED(3);

        /* Pending and newly created pods leave no room. */
        server_update_pod(pod_in(2, 0, "Pending"));
        server_update_pod(pod_in(3, 1, "Pending"));
        world_advance();
        OUTSTANDING(3);
        CREATED(3);
        DELETED("");

        /* One less of the first profile makes room. */
        w.now += IDLE * 2;
        allocator_target(0, 1);
        world_advance();
        OUTSTANDING(3);
        assert_int_equal(w.deletions, 1);
        created_of(4, 1);

        /* So does one that runs. */
        server_update_pod(pod_in(3, 1, "Running"));
        server_update_pod(pod_in(4, 1, "Pending"));
        world_advance();
        OUTSTANDING(3);
        created_of(5, 1);
        assert_int_equal(w.deletions, 1);
        world_end();
}

static void pending_limit_of_a_profile(void **state)
{
        struct pods_allocator_config c = suite_config();

        c.max_pending = 6;
        c.max_pending_per_profile = 2;
        world_begin(c);
        allocator_target(0, 4);
        server_update_pod(pod_in(1, 0, "Pending"));
        server_update_pod(pod_in(2, 0, "Pending"));
        allocator_target(1, 4);
        world_advance();
        world_advance();
        CREATED(4);
        created_of(2, 0);
        created_of(3, 1);
        created_of(4, 1);
        server_update_pod(pod_in(1, 0, "Running"));
        server_update_pod(pod_in(3, 1, "Running"));
        server_update_pod(pod_in(4, 1, "Running"));
        world_advance();
        CREATED(7);
        created_of(5, 0);
        created_of(6, 1);
        created_of(7, 1);
        world_end();
}

static void executors_are_requested_in_batches(void **state)
{
        world_begin(suite_config());
        allocator_target(0, SIZE + 1);
        OUTSTANDING(5);
        CREATED(5);
        world_advance();
        CREATED(5); /* the first batch is in no snapshot */
        world_end();
}

static void requests_next_batch_after_first_runs(void **state)
{
        world_begin(suite_config());
        allocator_target(0, SIZE + 1);
        OUTSTANDING(5);
        for (int id = 1; id < SIZE; id++)
                server_update_pod(pod_in(id, 0, "Running"));
        assert_int_equal(pods_allocator_last_id(w.a), 5);
        world_advance();
        OUTSTANDING(1);
        CREATED(SIZE);
        server_update_pod(pod_in(SIZE, 0, "Running"));
        world_advance();
        OUTSTANDING(1);
        CREATED(SIZE + 1);
        server_update_pod(pod_in(SIZE, 0, "Running"));
        world_advance();
        OUTSTANDING(1);
        CREATED(SIZE + 1);
        world_end();
}

static void failed_pod_is_requested_in_next_batch(void **state)
{
        world_begin(suite_config());
        allocator_target(0, SIZE);
        for (int id = 1; id < SIZE; id++)
                server_update_pod(pod_in(id, 0, "Running"));
        server_update_pod(pod_failed(SIZE, 0));
        world_advance();
        OUTSTANDING(1);
        created_of(SIZE + 1, 0);
        world_end();
}

static void unreported_pod_is_requested_again(void **state)
{
        struct pods_allocator_config c = suite_config();

        world_begin(c);
        allocator_target(0, 1);
        OUTSTANDING(1);
        created_of(1, 0);
        w.now += c.creation_timeout + 1;
        world_advance();
        OUTSTANDING(1);
        DELETED("1 ");
        created_of(2, 0);
        assert_non_null(strstr(w.log, "Executors with ids 1 were not detected in the Kubernetes cluster after 600000 "
                                      "ms despite the fact that a previous allocation attempt tried to create them. "
                                      "The executors may have been deleted but the application missed the deletion "
                                      "event."));
        world_end();

        c.delete_executors = false;
        world_begin(c);
        allocator_target(0, 1);
        w.now += c.creation_timeout + 1;
        world_advance();
        DELETED("");
        created_of(2, 0);
        world_end();
}

static void spark_28487_scale_up_and_down(void **state)
{
        world_begin(suite_config());
        allocator_target(0, 1);
        OUTSTANDING(1);
        server_update_pod(pod_in(1, 0, "Running"));
        world_advance();
        OUTSTANDING(0);
        CREATED(1);
        DELETED("");

        allocator_target(0, 4);
        world_advance();
        OUTSTANDING(3);
        CREATED(4);

        server_update_pod(pod_in(2, 0, "Running"));
        server_update_pod(pod_in(3, 0, "Pending"));
        world_advance();
        OUTSTANDING(2);
        CREATED(4);
        DELETED("");

        /* Down to one: pods that do not run are deleted, seen or not. */
        w.now += IDLE * 2;
        allocator_target(0, 1);
        world_advance();
        OUTSTANDING(0);
        CREATED(4);
        DELETED("3,4p ");
        assert_true(pods_allocator_is_excluded(w.a, 3));
        assert_true(pods_allocator_is_excluded(w.a, 4));
        assert_false(pods_allocator_is_excluded(w.a, 1));
        assert_false(pods_allocator_is_excluded(w.a, 5));

        server_update_pod(pod_leaving(pod_in(3, 0, "Pending")));
        server_update_pod(pod_leaving(pod_in(4, 0, "Pending")));
        pods_gone(pod_leaving(pod_in(3, 0, "Failed")));
        pods_gone(pod_leaving(pod_in(4, 0, "Failed")));
        world_advance();
        OUTSTANDING(0);
        CREATED(4);
        assert_true(
                pods_allocator_is_excluded(w.a, 3)); /* permanently: our allocator never accepts a finished id again */
        world_end();
}

static void spark_34334_new_pods_do_not_protect_old_ones(void **state)
{
        world_begin(suite_config());
        allocator_target(0, 1);
        server_update_pod(pod_in(1, 0, "Pending"));
        world_advance();
        w.now += IDLE - 3 * NS_PER_SECOND;
        allocator_target(0, 2);
        world_advance();
        created_of(2, 0);
        allocator_target(0, 1);
        world_advance();
        DELETED("");
        w.now += IDLE - 2 * NS_PER_SECOND;
        world_advance();
        DELETED("1p ");
        world_end();
}

static void spark_33099_the_idle_timeout_protects(void **state)
{
        world_begin(suite_config());
        allocator_target(0, 5);
        OUTSTANDING(5);
        CREATED(5);
        server_update_pod(pod_in(1, 0, "Pending"));
        server_update_pod(pod_in(2, 0, "Pending"));
        allocator_target(0, 0);
        world_advance();
        OUTSTANDING(5);
        DELETED("");
        assert_true(pods_allocator_deadline(w.a) > w.now);

        /* SPARK-34361: pods that the scheduler knows are not deleted, pending or not. */
        w.now += IDLE * 2;
        allocator_report_known(" 1 3 4 ");
        world_advance();
        OUTSTANDING(0);
        DELETED("2,5p ");
        world_end();
}

static void spark_34361_known_pods_of_several_profiles_when_scaling_down(void **state)
{
        world_begin(suite_config());
        allocator_target(0, 3);
        allocator_target(1, 4);
        world_advance();
        OUTSTANDING(7);
        for (int id = 1; id <= 3; id++)
                created_of(id, 0);
        for (int id = 4; id <= 7; id++)
                created_of(id, 1);

        allocator_report_known(" 1 4 ");
        world_advance();
        OUTSTANDING(5);
        CREATED(7);

        allocator_report_known(" 1 2 4 5 ");
        server_update_pod(pod_in(2, 0, "Pending"));
        server_update_pod(pod_in(3, 0, "Pending"));
        server_update_pod(pod_in(5, 1, "Pending"));
        server_update_pod(pod_in(6, 1, "Pending"));
        world_advance();
        OUTSTANDING(3);
        CREATED(7);

        w.now += IDLE * 2;
        allocator_target(0, 1);
        allocator_target(1, 1);
        world_advance();
        OUTSTANDING(0);
        CREATED(7);
        assert_int_equal(w.deletions, 2);
        DELETED("3p 6,7p ");
        assert_true(pods_allocator_is_excluded(w.a, 3));
        assert_true(pods_allocator_is_excluded(w.a, 6));
        assert_true(pods_allocator_is_excluded(w.a, 7));

        /* Two known ones of each remain. */
        allocator_target(0, 2);
        allocator_target(1, 2);
        world_advance();
        OUTSTANDING(0);
        CREATED(7);

        allocator_target(0, 3);
        allocator_target(1, 3);
        world_advance();
        OUTSTANDING(2);
        CREATED(9);
        created_of(8, 0);
        created_of(9, 1);
        world_end();
}

static void spark_33288_several_profiles(void **state)
{
        world_begin(suite_config());
        allocator_target(0, 1);
        allocator_target(1, 2);
        world_advance();
        OUTSTANDING(3);
        created_of(1, 0);
        created_of(2, 1);
        created_of(3, 1);

        server_update_pod(pod_in(1, 0, "Running"));
        server_update_pod(pod_in(2, 1, "Running"));
        server_update_pod(pod_in(3, 1, "Running"));
        world_advance();
        OUTSTANDING(0);
        CREATED(3);
        DELETED("");

        allocator_target(0, 4);
        allocator_target(1, 3);
        world_advance();
        OUTSTANDING(4);
        for (int id = 4; id <= 6; id++)
                created_of(id, 0);
        created_of(7, 1);

        server_update_pod(pod_in(4, 0, "Running"));
        server_update_pod(pod_in(5, 0, "Pending"));
        server_update_pod(pod_in(7, 1, "Pending"));
        world_advance();
        OUTSTANDING(3);
        CREATED(7);
        DELETED("");

        w.now += IDLE * 2;
        allocator_target(0, 1);
        allocator_target(1, 1);
        world_advance();
        OUTSTANDING(0);
        CREATED(7);
        DELETED("5,6p 7p ");
        pods_gone(pod_leaving(pod_in(5, 0, "Pending")));
        pods_gone(pod_leaving(pod_in(6, 0, "Pending")));
        pods_gone(pod_leaving(pod_in(7, 1, "Pending")));
        world_advance();
        OUTSTANDING(0);
        world_end();
}

static void spark_33262_pending_pods_do_not_stall(void **state)
{
        world_begin(suite_config());
        allocator_target(0, 6);
        OUTSTANDING(5);
        CREATED(5);
        server_update_pod(pod_in(1, 0, "Pending"));
        for (int id = 2; id <= 5; id++)
                server_update_pod(pod_in(id, 0, "Running"));
        world_advance();
        OUTSTANDING(2);
        created_of(6, 0);
        world_end();
}

static void spark_allocation_maximum(void **state)
{
        struct pods_allocator_config c = suite_config();

        c.maximum = 4;
        world_begin(c);
        allocator_target(0, 5);
        CREATED(3);
        for (int i = 1; i <= 3; i++)
                server_update_pod(pod_in(i, 0, "Running"));
        world_advance();
        world_advance();
        CREATED(3);
        char *first = strstr(w.log, "Exceed the pod creation limit: 4");
        assert_non_null(first);
        assert_null(strstr(first + 1, "Exceed the pod creation limit"));
        world_end();
}

static void deletes_excess_pod_again_after_it_runs(void **state)
{
        world_begin(our_config());
        allocator_target(0, 1);
        server_update_pod(pod_in(1, 0, "Pending"));
        allocator_target(0, 0);
        w.now += IDLE;
        world_advance();
        DELETED("1p ");
        server_update_pod(pod_in(1, 0, "Running")); /* so the server found no pending pod */
        world_advance();
        DELETED("");
        assert_true(pods_allocator_is_excluded(w.a, 1));
        w.now += 10 * NS_PER_SECOND;
        world_advance();
        DELETED("1 ");
        world_end();
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(spark_49447_rejects_small_batch_delay),
                cmocka_unit_test(endless_delays_are_accepted),
                cmocka_unit_test(spark_36052_split_slots),
                cmocka_unit_test(spark_36052_pending_limit_with_several_profiles),
                cmocka_unit_test(pending_limit_of_a_profile),
                cmocka_unit_test(executors_are_requested_in_batches),
                cmocka_unit_test(requests_next_batch_after_first_runs),
                cmocka_unit_test(failed_pod_is_requested_in_next_batch),
                cmocka_unit_test(unreported_pod_is_requested_again),
                cmocka_unit_test(spark_28487_scale_up_and_down),
                cmocka_unit_test(spark_34334_new_pods_do_not_protect_old_ones),
                cmocka_unit_test(spark_33099_the_idle_timeout_protects),
                cmocka_unit_test(spark_34361_known_pods_of_several_profiles_when_scaling_down),
                cmocka_unit_test(spark_33288_several_profiles),
                cmocka_unit_test(spark_33262_pending_pods_do_not_stall),
                cmocka_unit_test(spark_allocation_maximum),
                cmocka_unit_test(deletes_excess_pod_again_after_it_runs),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
