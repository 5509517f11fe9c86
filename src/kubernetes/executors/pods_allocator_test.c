/*
 * Creations: concurrent, throttled and refused ones, lost responses, pods that appear before the response or after they
 * were given up, the driver's readiness, and recovery mode.
 */
#include "kubernetes/executors/pods_allocator_fixture.h"

static void waits_for_driver_readiness(void **state)
{
        struct pods_allocator_config c = suite_config();

        c.wait_for_driver = true;
        world_begin(c);
        allocator_target(0, 1);
        CREATED(0);
        assert_true(pods_allocator_deadline(w.a) == w.now + NS_PER_SECOND);
        pods_allocator_driver_ready(w.a, w.now);
        world_run();
        CREATED(1);
        world_end();

        world_begin(c);
        allocator_target(0, 1);
        world_advance();
        CREATED(1);
        assert_non_null(strstr(w.log, "The driver's pod is not ready after 1000 ms"));
        world_end();
}

static void pods_of_an_earlier_driver_count(void **state)
{
        world_begin(suite_config());
        pods_allocator_skip_ids(w.a, 7);
        pods_allocator_adopt(w.a, 3, 0, w.now);
        pods_allocator_adopt(w.a, 5, 0, w.now);
        pods_allocator_adopt(w.a, 6, 0, w.now);
        pods_allocator_known(w.a, 3, true, w.now); /* registers before its pod is found */
        pods_allocator_abandon(w.a, 6);            /* its pod is gone */
        assert_true(pods_allocator_is_excluded(w.a, 2) && pods_allocator_is_excluded(w.a, 6));
        assert_false(pods_allocator_is_excluded(w.a, 3) || pods_allocator_is_excluded(w.a, 5));
        assert_int_equal(pods_allocator_counts(w.a, 0).created, 2);
        assert_int_equal(pods_allocator_counts(w.a, 0).known_created, 1);
        server_update_pod(pod_in(3, 0, "Running"));
        server_update_pod(pod_in(5, 0, "Running"));
        allocator_target(0, 3);
        world_advance();
        CREATED(1);
        assert_int_equal(w.created.data[0].id, 8);
        world_end();
}

static void failed_creations_count_as_failed_executors(void **state)
{
        world_begin(suite_config());
        w.no_responses = true;
        allocator_target(0, 2);
        CREATED(2);
        create_failed(1, CREATE_REFUSED, 0, "pods \"x\" is forbidden");
        server_created(2);
        FAILURES(1);
        assert_non_null(strstr(w.log, "Failed to create the pod of executor 1: pods \"x\" is forbidden"));
        OUTSTANDING(1);
        server_update_pod(pod_in(2, 0, "Running"));
        world_advance();
        world_advance();
        created_of(3, 0);
        world_end();
}

static void runs_out_of_memory(int id)
{
        _cleanup_json_ json_t *json =
                pod_with_containers(pod_in(id, 0, "Failed"),
                                    "[{'name': 'spark-kubernetes-executor', 'state': {'terminated': {'exitCode': 137,"
                                    " 'reason': 'OOMKilled'}}}]");
        struct pod_state *pod;

        assert_int_equal(pod_state_read(json, &(struct pod_rules){.check_all = true}, &pod), 0);
        lifecycle_manager_snapshot(
                w.lifecycle,
                &(struct pods_batch){.pods = snapshots_store_pods(w.store), .changes = &pod, .n_changes = 1}, w.now);
        pod_state_unref(pod);
}

static void first_oom_starts_recovery_mode(void **state)
{
        for (int setting = -1; setting <= 1; setting++) {
                struct pods_allocator_config c = suite_config();
                c.recovery = setting;
                world_begin(c);
                allocator_target(0, 1);
                assert_int_equal(w.created.data[0].recovery, setting == 1);
                runs_out_of_memory(9);
                server_update_pod(pod_in(1, 0, "Running"));
                allocator_target(0, 2);
                world_advance();
                assert_int_equal(w.created.data[1].recovery, setting != 0);
                world_end();
        }
}

/* Deadlines of finished work pass. Then there is none. */
static void comes_to_rest(void)
{
        for (int i = 0; i < 3 && pods_allocator_deadline(w.a) != INT64_MAX; i++) {
                assert_true(pods_allocator_deadline(w.a) > w.now);
                w.now = pods_allocator_deadline(w.a);
                world_tick();
        }
        assert_true(pods_allocator_deadline(w.a) == INT64_MAX);
}

static void creates_concurrently_without_batch_size(void **state)
{
        world_begin(our_config());
        w.no_responses = true;
        allocator_target(0, 1000);
        CREATED(20);
        for (int id = 1; id <= 20; id++)
                server_created(id);
        CREATED(60); /* 40 at a time by now, without a snapshot and without time passing */
        for (int id = 21; id <= (int)w.created.len; id++)
                server_created(id);
        CREATED(1000);
        assert_int_equal(pods_allocator_counts(w.a, 0).created, 1000);
        assert_true(pods_allocator_deadline(w.a) == w.now + 600 * NS_PER_SECOND + 1);
        for (int id = 1; id <= 1000; id++)
                server_update_pod(pod_in(id, 0, "Running"));
        world_advance();
        CREATED(1000);
        assert_int_equal(pods_allocator_counts(w.a, -1).running, 1000);
        char *line = strstr(w.log, "Going to request 1000 executors");
        assert_non_null(line);
        assert_null(strstr(line + 1, "Going to request"));
        comes_to_rest();
        world_end();
}

static void throttling_slows_creations(void **state)
{
        world_begin(our_config());
        w.no_responses = true;
        allocator_target(0, 100);
        for (int id = 1; id <= 20; id++)
                create_failed(id, CREATE_SLOW_DOWN, 5 * NS_PER_SECOND, "too many requests");
        CREATED(20);
        OUTSTANDING(0);
        assert_true(pods_allocator_deadline(w.a) == w.now + 5 * NS_PER_SECOND);
        w.now += 5 * NS_PER_SECOND - 1;
        world_tick();
        CREATED(20);
        w.now += 1;
        world_tick();
        CREATED(30);
        created_of(30, 0); /* under new ids */
        FAILURES(0);
        world_end();
}

static void full_quota_is_logged_once_and_not_a_failure(void **state)
{
        world_begin(our_config());
        w.no_responses = true;
        allocator_target(0, 3);
        for (int round = 0, id = 1; round < 6; round++) {
                for (; id <= (int)w.created.len; id++)
                        create_failed(id, CREATE_QUOTA, 0, "exceeded quota: q, used: pods=10");
                assert_true(pods_allocator_deadline(w.a) > w.now);
                w.now = pods_allocator_deadline(w.a);
                world_tick();
        }
        CREATED(3 + 6);
        char *line = strstr(w.log, "exceeded quota: q, used: pods=10");
        assert_non_null(line);
        assert_null(strstr(line + 1, "exceeded quota"));
        FAILURES(0);
        server_created(9);
        assert_non_null(strstr(w.log, "creates executor pods again"));
        CREATED(11);
        world_end();
}

static void waits_for_pod_of_creation_without_response(void **state)
{
        struct pods_allocator_config c = our_config();

        world_begin(c);
        w.no_responses = true;
        allocator_target(0, 2);
        create_failed(1, CREATE_UNKNOWN, 0, "the connection broke");
        create_failed(2, CREATE_UNKNOWN, 0, "the connection broke");
        OUTSTANDING(2);
        server_update_pod(pod_in(2, 0, "Running"));
        world_advance();
        OUTSTANDING(1);
        CREATED(2);

        /* Full lists: one too early to be sure, then one late enough. */
        snapshots_store_synced(w.store, w.now);
        world_advance();
        CREATED(2);
        w.now += c.missing_delta;
        snapshots_store_synced(w.store, w.now);
        world_advance();
        CREATED(3);
        DELETED("1 ");
        assert_true(pods_allocator_is_excluded(w.a, 1));

        /* The pod appears after it was given up: it is unwanted and not counted. */
        server_created(3);
        server_update_pod(pod_in(3, 0, "Running"));
        server_update_pod(pod_in(1, 0, "Running"));
        world_advance();
        DELETED("1 ");
        assert_int_equal(pods_allocator_counts(w.a, 0).running, 2);
        assert_true(pods_allocator_is_excluded(w.a, 1));

        /* The deletion was lost. */
        w.now += 10 * NS_PER_SECOND;
        world_advance();
        DELETED("1 ");
        server_update_pod(pod_leaving(pod_in(1, 0, "Running")));
        world_advance();
        w.now += 20 * NS_PER_SECOND;
        world_advance();
        DELETED("");
        pods_gone(pod_in(1, 0, "Running"));
        world_advance();
        comes_to_rest();
        CREATED(3);
        world_end();
}

static void gives_up_only_long_missing_pods(void **state)
{
        struct pods_allocator_config c = our_config();

        world_begin(c);
        allocator_target(0, 1);
        w.now += c.missing_delta;
        allocator_target(0, 2);
        w.now += 1;
        snapshots_store_synced(w.store, w.now);
        world_advance();
        DELETED("1 ");
        w.now += c.missing_delta * 2; /* no snapshot since then could have had 2 */
        world_advance();
        DELETED("");
        CREATED(3);
        world_end();
}

static void pod_seen_before_response_counts_once(void **state)
{
        world_begin(our_config());
        w.no_responses = true;
        allocator_target(0, 2);
        server_update_pod(pod_in(1, 0, "Running"));
        server_update_pod(pod_in(2, 0, "Pending"));
        world_advance();
        assert_int_equal(pods_allocator_counts(w.a, 0).requested, 0);
        pods_gone(pod_in(2, 0, "Pending"));
        world_advance();
        CREATED(3);
        server_created(1);
        server_created(2);
        CREATED(3);
        struct pods_allocator_counts n = pods_allocator_counts(w.a, 0);
        assert_int_equal(n.running, 1);
        assert_int_equal(n.requested, 1);
        assert_int_equal(n.created + n.pending, 0);
        world_end();
}

static void ids_of_foreign_pods_are_not_reused(void **state)
{
        world_begin(our_config());
        server_update_pod(pod_in(7, 0, "Running"));
        world_advance();
        assert_false(pods_allocator_is_excluded(w.a, 7));
        allocator_target(0, 2);
        CREATED(1);
        assert_int_equal(w.created.data[0].id, 8);
        world_end();
}

static void emits_nothing_after_stop(void **state)
{
        world_begin(our_config());
        pods_allocator_stop(w.a);
        allocator_target(0, 5);
        world_advance();
        CREATED(0);
        assert_true(pods_allocator_deadline(w.a) == INT64_MAX);
        world_end();
}

static void drops_ended_records(void **state)
{
        world_begin(our_config());
        allocator_target(0, 1);
        for (int id = 1; id <= 2000; id++) {
                server_update_pod(pod_in(id, 0, "Running"));
                world_advance();
                pods_gone(pod_in(id, 0, "Running"));
                world_advance();
                w.log[0] = '\0';
        }
        CREATED(2001);
        assert_true(pods_allocator_size(w.a) < 200);
        world_end();
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(waits_for_driver_readiness),
                cmocka_unit_test(pods_of_an_earlier_driver_count),
                cmocka_unit_test(failed_creations_count_as_failed_executors),
                cmocka_unit_test(first_oom_starts_recovery_mode),
                cmocka_unit_test(creates_concurrently_without_batch_size),
                cmocka_unit_test(throttling_slows_creations),
                cmocka_unit_test(full_quota_is_logged_once_and_not_a_failure),
                cmocka_unit_test(waits_for_pod_of_creation_without_response),
                cmocka_unit_test(gives_up_only_long_missing_pods),
                cmocka_unit_test(pod_seen_before_response_counts_once),
                cmocka_unit_test(ids_of_foreign_pods_are_not_reused),
                cmocka_unit_test(emits_nothing_after_stop),
                cmocka_unit_test(drops_ended_records),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
