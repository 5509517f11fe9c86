/* The parts together. Their own tests and executor_pods_sim_test.c cover their behaviour. */
#include "kubernetes/executors/executor_pods.h"

#include "base/error.h"
#include "kubernetes/api/pod_fixture.h"

#include <string.h>

static struct {
        struct executor_pods p;
        int64_t now;
        int created, recovering, removed, stops, deletions;
} w;

static void run(void)
{
        for (const struct pod_action *action; (action = executor_pods_next_action(&w.p));) {
                w.created += action->kind == POD_ACTION_CREATE;
                w.recovering += action->kind == POD_ACTION_CREATE && action->create.recovery;
                w.deletions += action->kind == POD_ACTION_DELETE_MANY ? action->delete_many.n
                                                                      : action->kind == POD_ACTION_DELETE;
                w.removed += action->kind == POD_ACTION_REMOVE_EXECUTOR;
                if (action->kind == POD_ACTION_STOP_APPLICATION) {
                        assert_int_equal(action->stop.exit_code, LIFECYCLE_EXIT_FAILURES);
                        w.stops++;
                }
        }
}

static void begin(struct executor_pods_config config)
{
        memset(&w, 0, sizeof(w));
        w.now = NS_PER_SECOND;
        executor_pods_init(&w.p, &config);
        pods_allocator_start(w.p.allocator, w.now);
}

static void tell(json_t *pod)
{
        snapshots_store_update(w.p.store, pod, w.now);
        json_decref(pod);
}

static void pass(int64_t time)
{
        w.now += time;
        executor_pods_tick(&w.p, w.now);
        run();
}

static void created(int first, int last)
{
        for (int id = first; id <= last; id++)
                pods_allocator_created(w.p.allocator, id, w.now);
        run();
}

static void rejects_invalid_configuration(void **state)
{
        struct executor_pods_config config = EXECUTOR_PODS_DEFAULT;
        struct fst_error error = FST_ERROR_INIT;

        assert_int_equal(executor_pods_config_check(&config, &error), 0);
        config.event_interval = 0;
        assert_int_equal(executor_pods_config_check(&config, &error), -EINVAL);
        assert_non_null(strstr(error_message(&error), "eventProcessingInterval"));
        error_deinit(&error);
}

static void acts_on_pod_changes_in_ticks(void **state)
{
        begin(EXECUTOR_PODS_DEFAULT);
        pods_allocator_set_target(w.p.allocator, 0, 2, w.now);
        run();
        assert_int_equal(w.created, 2);
        assert_int_equal(pods_allocator_in_flight(w.p.allocator), 2);
        created(1, 2);
        executor_pods_tick(&w.p, w.now);
        run();
        tell(pod_in(1, 0, "Running"));
        tell(pod_in(2, 0, "Running"));
        executor_pods_registered(&w.p, 1, w.now);
        assert_int_equal(pods_allocator_counts(w.p.allocator, 0).running, 0);
        assert_true(executor_pods_deadline(&w.p) <= w.now + 100 * NS_PER_MS);
        pass(100 * NS_PER_MS);
        assert_int_equal(pods_allocator_counts(w.p.allocator, 0).running, 2);
        assert_string_equal(pods_snapshot_get(snapshots_store_pods(w.p.store), 1)->name, "app-exec-1");

        /* A pod ends: its executor is removed, the pod deleted, a new one requested. */
        tell(pod_failed(1, 0));
        pass(NS_PER_SECOND);
        assert_int_equal(w.removed, 1);
        assert_int_equal(w.deletions, 1);
        assert_int_equal(w.created, 3);
        assert_int_equal(lifecycle_manager_failures(w.p.lifecycle, w.now), 1);
        executor_pods_unregistered(&w.p, 1, w.now);
        run();
        assert_false(pods_allocator_is_excluded(w.p.allocator, 2));
        executor_pods_deinit(&w.p);
}

static void running_out_of_memory_begins_recovery(void **state)
{
        begin(EXECUTOR_PODS_DEFAULT);
        pods_allocator_set_target(w.p.allocator, 0, 2, w.now);
        run();
        created(1, 2);
        executor_pods_tick(&w.p, w.now);
        run();
        tell(pod_with_containers(pod_in(1, 0, "Failed"),
                                 "[{'name': 'spark-kubernetes-executor', 'state': {'terminated': {'exitCode': 137,"
                                 " 'reason': 'OOMKilled'}}}]"));
        pass(NS_PER_SECOND);
        assert_int_equal(w.created, 3);
        assert_int_equal(w.recovering, 1);
        created(3, 3);
        tell(pod_failed(2, 0));
        pass(NS_PER_SECOND);
        assert_int_equal(w.created, 4);
        assert_int_equal(w.recovering, 2);
        executor_pods_deinit(&w.p);
}

static void too_many_failures_stop_application(void **state)
{
        struct executor_pods_config config = EXECUTOR_PODS_DEFAULT;

        config.lifecycle.max_failures = 3;
        begin(config);
        pods_allocator_set_target(w.p.allocator, 0, 10, w.now);
        run();
        for (int id = 1; id <= 10; id++)
                pods_allocator_create_failed(w.p.allocator, id, CREATE_REFUSED, 0,
                                             "admission webhook denied the request", w.now);
        run();
        assert_int_equal(w.stops, 1);
        int n = w.created;
        pass(60 * NS_PER_SECOND);
        assert_int_equal(w.created, n);
        executor_pods_deinit(&w.p);
}

static void emits_nothing_after_stop(void **state)
{
        begin(EXECUTOR_PODS_DEFAULT);
        pods_allocator_set_target(w.p.allocator, 0, 2, w.now);
        run();
        executor_pods_stop(&w.p);
        created(1, 1);
        pods_allocator_create_failed(w.p.allocator, 2, CREATE_UNKNOWN, 0, NULL, w.now);
        tell(pod_failed(1, 0));
        pass(600 * NS_PER_SECOND);
        assert_int_equal(w.created, 2);
        assert_int_equal(w.removed + w.deletions, 0);
        assert_int_equal(pods_allocator_in_flight(w.p.allocator), 0);
        assert_true(executor_pods_deadline(&w.p) == INT64_MAX);
        executor_pods_deinit(&w.p);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(rejects_invalid_configuration),
                cmocka_unit_test(acts_on_pod_changes_in_ticks),
                cmocka_unit_test(running_out_of_memory_begins_recovery),
                cmocka_unit_test(too_many_failures_stop_application),
                cmocka_unit_test(emits_nothing_after_stop),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
